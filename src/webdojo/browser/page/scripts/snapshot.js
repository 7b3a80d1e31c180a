(limit, id) => {
  // include parts/plain.js
  // include parts/kept.js
  // include parts/elements.js
  const ROLES = {A: 'link', BUTTON: 'button', SUMMARY: 'button', SELECT: 'combobox', TEXTAREA: 'textbox',
    OPTION: 'option', IMG: 'image', SVG: 'image', CANVAS: 'image', VIDEO: 'video', H1: 'heading', H2: 'heading',
    H3: 'heading', H4: 'heading', H5: 'heading', H6: 'heading', NAV: 'navigation', MAIN: 'main', FORM: 'form',
    TABLE: 'table', TR: 'row', TD: 'cell', TH: 'columnheader', UL: 'list', OL: 'list', LI: 'listitem',
    DIALOG: 'dialog', PROGRESS: 'progressbar', IFRAME: 'iframe'};
  const INPUTS = {checkbox: 'checkbox', radio: 'radio', range: 'slider', number: 'spinbutton', search: 'searchbox',
    button: 'button', submit: 'button', reset: 'button', image: 'button', file: 'button', color: 'button'};
  const CONTROLS = ['link', 'button', 'combobox', 'textbox', 'searchbox', 'checkbox', 'radio', 'slider', 'spinbutton',
    'option', 'menuitem', 'menuitemcheckbox', 'menuitemradio', 'tab', 'switch', 'treeitem', 'listbox'];
  const GROUPS = ['navigation', 'main', 'form', 'table', 'row', 'list', 'listitem', 'dialog', 'cell', 'columnheader',
    'alert', 'menu', 'tablist', 'radiogroup', 'grid', 'tree', 'iframe'];
  const OPEN = CSS.supports('selector(:open)');
  const whole = [0, 0, innerWidth, innerHeight], nowhere = [0, 0, -1, -1];
  const nodes = [], elements = [];
  let omitted = 0;
  const roleOf = (e) => {
    const said = e.getAttribute('role');
    if (said && said !== 'presentation' && said !== 'none') return said.split(' ')[0];
    if (tagOf(e) === 'INPUT') return INPUTS[e.type] || 'textbox';
    if (tagOf(e) === 'A' && !e.hasAttribute('href')) return '';
    if (e.isContentEditable && !(e.parentElement && e.parentElement.isContentEditable)) return 'textbox';
    return ROLES[tagOf(e)] || '';
  };
  const labelOf = (e) => {
    const by = (e.getAttribute('aria-labelledby') || '').split(/\s+/).filter(Boolean)
      .map(id => e.getRootNode().getElementById && e.getRootNode().getElementById(id)).filter(Boolean)
      .map(other => other.textContent).join(' ');
    const label = e.labels && e.labels.length ? [...e.labels].map(l => l.textContent).join(' ') : '';
    const pressed = tagOf(e) === 'INPUT' && ['button', 'submit', 'reset'].includes(e.type) ? e.value : '';
    for (const name of [by, e.getAttribute('aria-label'), label, pressed, e.getAttribute('alt'),
        e.getAttribute('placeholder')]) {
      const line = squeeze(name, 120);
      if (line) return line;
    }
    return '';
  };
  const contentOf = (e) => {
    const text = squeeze(e.innerText === undefined ? e.textContent : e.innerText, 120);
    if (text) return text;
    const image = e.querySelector('img[alt], svg title, [aria-label]');
    if (!image) return '';
    return squeeze(image.getAttribute('alt') || image.getAttribute('aria-label') || image.textContent, 120);
  };
  const cut = (box, clip) => {
    const left = Math.max(box.left, clip[0]), top = Math.max(box.top, clip[1]);
    const right = Math.min(box.right, clip[2]), bottom = Math.min(box.bottom, clip[3]);
    return right - left > 1 && bottom - top > 1 ? [left, top, right, bottom] : null;
  };
  const place = (box, clip) => {
    const seen = cut(box, clip);
    return {box_px: seen || [box.left, box.top, box.right, box.bottom], in_view: seen !== null};
  };
  const add = (node, e) => { nodes.push(node); elements.push(e); };
  const walk = (parent, depth, clip, within, silent) => {
    const around = plain(parent);
    for (const child of around.childNodes) {
      const e = plain(child);
      if (nodes.length >= limit) {
        omitted += e.nodeType === Node.ELEMENT_NODE ? 1 + e.getElementsByTagName('*').length : 0;
        continue;
      }
      if (e.nodeType === Node.TEXT_NODE) {
        const text = squeeze(child.data, 300);
        if (!text || within || silent) continue;
        const range = page.createRange();
        range.selectNodeContents(child);
        const box = range.getBoundingClientRect();
        if (box.width < 1 || box.height < 1) continue;
        add({depth, tag: '#text', role: 'text', name: text, ...place(box, clip)}, child);
        continue;
      }
      if (e.nodeType !== Node.ELEMENT_NODE) continue;
      if (['SCRIPT', 'STYLE', 'NOSCRIPT', 'TEMPLATE', 'HEAD'].includes(tagOf(e))) continue;
      const style = getComputedStyle(child);
      if (style.display === 'none' || e.getAttribute('aria-hidden') === 'true' || e.inert) continue;
      const box = e.getBoundingClientRect();
      const hidden = style.visibility !== 'visible' || style.opacity === '0';
      let role = roleOf(e);
      const clickable = e.hasAttribute('onclick') || (style.cursor === 'pointer' && around.nodeType === 1 &&
        getComputedStyle(parent).cursor !== 'pointer');
      const control = CONTROLS.includes(role) || (!role && clickable && !e.querySelector('a,button,input,select'));
      if (control && !role) role = 'clickable';
      let inner = depth, leaf = within;
      const shown = !hidden && box.width > 1 && box.height > 1;
      if (shown && (control || (!within && (['heading', 'image', 'video'].includes(role) || GROUPS.includes(role))))) {
        const group = GROUPS.includes(role);
        const name = labelOf(e) || (group ? '' : contentOf(e)) || squeeze(e.getAttribute('title'), 120);
        if (!group || role !== 'listitem' || e.children.length) {
          const node = {depth, tag: tagOf(e).toLowerCase(), role, name, control, ...place(box, clip)};
          if (role === 'heading') node.level = +(e.getAttribute('aria-level') || tagOf(e)[1]) || 2;
          if (['INPUT', 'TEXTAREA'].includes(tagOf(e)) && !['checkbox', 'radio', 'password'].includes(e.type))
            node.value = squeeze(e.value, 120);
          if (tagOf(e) === 'INPUT' && e.type === 'password') node.value = '*'.repeat(e.value.length);
          if (tagOf(e) === 'SELECT') {
            node.value = squeeze([...e.selectedOptions].map(o => o.label).join(', '), 120);
            node.options = [...e.options].slice(0, 50).map(o => squeeze(o.label, 60));
          }
          if (['checkbox', 'radio'].includes(e.type)) node.checked = e.checked;
          else if (e.hasAttribute('aria-checked')) node.checked = e.getAttribute('aria-checked') === 'true';
          if (e.hasAttribute('aria-selected')) node.selected = e.getAttribute('aria-selected') === 'true';
          if (e.hasAttribute('aria-expanded')) node.expanded = e.getAttribute('aria-expanded') === 'true';
          if (e.disabled || e.getAttribute('aria-disabled') === 'true') node.disabled = true;
          if (child === page.activeElement) node.focused = true;
          if (tagOf(e) === 'INPUT' && role === 'textbox' && e.type !== 'text') node.type = e.type;
          if (control && node.in_view && !reachedAt(child, middleOf(e, clip))) node.covered = true;
          if (group || control || name) add(node, child);
          inner = depth + 1;
          leaf = within || ((control || role === 'heading') && !['listbox', 'treeitem'].includes(role));
        }
      }
      if (tagOf(e) === 'SELECT' && OPEN && e.matches(':open')) {
        for (const o of e.options) {
          const at = o.getBoundingClientRect();
          if (at.width > 1 && at.height > 1) {
            const node = {depth: inner, tag: 'option', role: 'option', name: squeeze(o.label, 60), control: true,
              selected: o.selected, ...place(at, whole)};
            node.in_view = node.in_view && reachedAt(o, middleOf(o));  // the list may be shorter than its options
            add(node, o);
          }
        }
      }
      if (tagOf(e) === 'SELECT' || tagOf(e) === 'TEXTAREA' || tagOf(e) === 'IFRAME' || tagOf(e) === 'SVG') continue;
      let shows = clip;
      if (style.position === 'fixed') shows = whole;
      if (/hidden|auto|scroll|clip/.test(style.overflowX + style.overflowY)) shows = cut(box, shows) || nowhere;
      if (tagOf(e) === 'SLOT') walk({childNodes: e.assignedNodes()}, inner, shows, leaf, hidden);
      walk(e.shadowRoot || child, inner, shows, leaf, hidden);
    }
  };
  if (page.body) walk(page.body, 0, whole, false, false);
  kept.shown = {id, elements};
  return JSON.stringify({nodes, omitted});  // as one text, which Chromium passes on ten times as fast
}
