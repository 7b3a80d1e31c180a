() => {
  // include parts/plain.js
  // include parts/size.js
  // Whether the page may have fewer than 2000 characters to be seen; the text as it is seen costs a layout to read.
  const holdsLittle = () => {
    const texts = page.createTreeWalker(page.documentElement || document, NodeFilter.SHOW_TEXT);
    let left = 20000;
    while (left > 0 && texts.nextNode()) {
      const {parentElement, data} = texts.currentNode;
      if (!/^(SCRIPT|STYLE|NOSCRIPT|TEMPLATE)$/i.test(parentElement?.tagName)) left -= data.trim().length;
    }
    return left > 0;
  };
  // Marks that bot checks leave on a page. A page that shows its usual content is not blocked just because its
  // forms have a captcha: only marks that replace the content count.
  const blockMarks = () => {
    const found = [];
    const has = (selector) => page.querySelector(selector) !== null;
    const all = holdsLittle() ? page.body?.innerText || '' : '';
    const text = all.length < 2000 ? all.toLowerCase() : '';
    if (has('#challenge-form,#challenge-running,#cf-challenge-running,script[src*="/cdn-cgi/challenge-platform/"]') &&
        /just a moment|checking your browser|verif|attention required/.test(page.title.toLowerCase() + ' ' + text))
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
  return {title: page.title, page: pageSize(), scroll: [scrollX, scrollY], marks: blockMarks(),
    loading: page.readyState !== 'complete' || !page.body};
}
