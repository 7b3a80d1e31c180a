"""Is this page what the site shows to people, or what it shows to robots?

Told from the status of the document and from marks that bot checks leave in it. A page that shows
its usual content is not blocked because it also holds a captcha for its forms: only marks that take
the page's place count.
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
"""Status codes of a document by which sites turn robots away. 404 and 500 are errors, not blocks."""

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
"""Adds `blockMarks()`, which names the marks of bot checks on the page at hand, to a script."""


def blocked_by(status: int, marks: Sequence[str]) -> str:
    """Why a page counts as blocked, in a few words; empty where it does not.

    Args:
        status: HTTP status of the document; 0 where none is known.
        marks: what `MARKS_JS` found.
    """
    reasons = [f"HTTP {status} ({STATUSES[status]})"] if status in STATUSES else []
    return ", ".join([*reasons, *marks])
