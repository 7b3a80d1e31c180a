() => {
  // include parts/size.js
  // Marks that bot checks leave on a page. A page that shows its usual content is not blocked just because its
  // forms have a captcha: only marks that replace the content count.
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
  return {title: document.title, page: pageSize(), scroll: [scrollX, scrollY], marks: blockMarks()};
}
