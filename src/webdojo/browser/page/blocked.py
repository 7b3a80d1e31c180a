"""Detection of pages that a site shows to robots instead of its content.

The HTTP status of the document and the marks that bot checks leave in it decide. A page that shows its usual content
is not blocked just because its forms have a captcha: only marks that replace the content count.
"""

from __future__ import annotations

from collections.abc import Sequence

STATUSES = {
    401: "log-in required",
    403: "access denied",
    407: "proxy log-in required",
    429: "too many requests",
    451: "unavailable for legal reasons",
    503: "service unavailable",
}
"""Status codes of documents with which sites turn robots away. 404 and 500 are errors, not blocks."""

MARKS_JS = """
const blockMarks = () => {
  const found = [];
  const has = (selector) => document.querySelector(selector) !== null;
  const all = document.body ? document.body.innerText : '';  // costs a layout
  const text = all.length < 2000 ? all.toLowerCase() : '';
  if (has('#challenge-form,#challenge-running,#cf-challenge-running,script[src*="/cdn-cgi/challenge-platform/"]') &&
      /just a moment|checking your browser|verif|attention required/.test(document.title.toLowerCase() + ' ' + text))
    found.push('Cloudflare challenge');
  if (has('#px-captcha')) found.push('PerimeterX challenge');
  if (has('iframe[src*="captcha-delivery.com"]')) found.push('DataDome challenge');
  if (text && has('iframe[src*="recaptcha/api2"],iframe[src*="recaptcha/enterprise"],.g-recaptcha,#recaptcha'))
    found.push('reCAPTCHA');
  if (text && has('iframe[src*="hcaptcha.com"],.h-captcha')) found.push('hCaptcha');
  if (text && has('form[action*="/errors/validateCaptcha"]')) found.push('Amazon captcha');
  for (const phrase of ['unusual traffic', 'are you a robot', 'verify you are human', 'verify that you are human',
      'prove you are human', 'automated access', 'bot detection', 'access to this page has been denied'])
    if (text.includes(phrase)) { found.push(`"${phrase}"`); break; }
  return found;
};
"""
"""Defines `blockMarks()`, which lists the marks of bot checks on a page."""


def blocked_by(status: int, marks: Sequence[str]) -> str:
    """Return why a page counts as blocked, in a few words, or an empty string if it does not.

    Args:
        status: the HTTP status of the document; 0 if it is not known.
        marks: the marks that `MARKS_JS` found.
    """
    reasons = [f"HTTP {status} ({STATUSES[status]})"] if status in STATUSES else []
    return ", ".join([*reasons, *marks])
