// include parts/size.js
// include parts/focus.js
// include parts/elements.js

const INTERACTIVE = 'a[href],button,input,select,textarea,label,option,summary,[onclick],[contenteditable=""],' +
  '[contenteditable=true],' + ['button', 'link', 'tab', 'option', 'menuitem', 'checkbox', 'radio', 'switch',
  'combobox', 'textbox', 'searchbox', 'slider', 'treeitem'].map(role => `[role=${role}]`).join(',');
const NOT_TYPED = ['button', 'submit', 'reset', 'image', 'checkbox', 'radio', 'file', 'hidden'];
const FILLED = ['date', 'time', 'month', 'week', 'datetime-local', 'range', 'color'];
const TAKES = {date: '2026-05-17', time: '13:45', month: '2026-05', week: '2026-W20',
  'datetime-local': '2026-05-17T13:45', color: '#ff8800'};
const ownText = (element) =>
  [...element.childNodes].filter(node => node.nodeType === 3).map(node => node.data).join(' ');
const nameOf = (element, interactive) => {
  const by = element.getAttribute('aria-labelledby');
  const labelled = by && by.split(/\s+/).map(id => page.getElementById(id)).filter(Boolean)
    .map(label => label.textContent).join(' ');
  const label = element.labels && element.labels[0] && element.labels[0].textContent;
  const pressed = tagOf(element) === 'INPUT' && ['button', 'submit', 'reset'].includes(element.type) && element.value;
  const field = ['INPUT', 'SELECT', 'TEXTAREA'].includes(tagOf(element));
  const inside = field ? '' : interactive ? element.textContent : ownText(element);
  const image = interactive && !field && element.querySelector('img[alt]');
  for (const candidate of [element.getAttribute('aria-label'), labelled, label, pressed, element.getAttribute('alt'),
      element.getAttribute('placeholder'), inside, image && image.alt, element.getAttribute('title'),
      field && element.name]) {
    const name = squeeze(candidate, 40);
    if (name) return name;
  }
  return '';
};
const valueOf = (element) => {
  if (tagOf(element) === 'SELECT') return squeeze([...element.selectedOptions].map(o => o.label).join(', '), 200);
  if (tagOf(element) === 'INPUT' && element.type === 'file')  // its own value names a folder that does not exist
    return [...element.files].map(file => file.name).join(', ').slice(0, 10000);
  if (tagOf(element) === 'INPUT' || tagOf(element) === 'TEXTAREA') return String(element.value ?? '').slice(0, 10000);
  return element.isContentEditable ? element.innerText.slice(0, 10000) : null;
};
const editableBy = (element) => {
  if (element.disabled || element.readOnly) return '';
  if (tagOf(element) === 'INPUT')
    return NOT_TYPED.includes(element.type) ? '' : FILLED.includes(element.type) ? 'fill' : 'type';
  // What cannot be read hides what has the focus inside it: let the keys through.
  const hides = tagOf(element) === 'IFRAME' || mayHide(element);
  return tagOf(element) === 'TEXTAREA' || hides || element.isContentEditable ? 'type' : '';
};
const expandedOf = (element) => {
  if (tagOf(element) === 'SELECT') return CSS.supports('selector(:open)') ? element.matches(':open') : null;
  const said = element.getAttribute('aria-expanded');
  if (said) return said === 'true';
  return tagOf(element) === 'SUMMARY' && element.parentElement ? element.parentElement.open === true : null;
};
// A number of its own, by which a later reading knows an element again.
const idOf = (node) => {
  const ids = kept.ids ||= new WeakMap();
  if (!ids.has(node)) ids.set(node, kept.count = (kept.count || 0) + 1);
  return ids.get(node);
};
// Whether an element may have a shadow tree that nobody outside can read.
const HOSTS = /^(ARTICLE|ASIDE|BLOCKQUOTE|DIV|FOOTER|H[1-6]|HEADER|MAIN|NAV|P|SECTION|SPAN)$/;
const mayHide = (element) => !element.shadowRoot &&
  (tagOf(element).includes('-') || (HOSTS.test(tagOf(element)) && !element.childNodes.length));
// What an element is shown in, past the borders of shadow trees and of frames of the same origin.
const around = (node) => {
  const element = plain(node), {ownerDocument} = element;
  return element.assignedSlot || element.parentElement || element.getRootNode().host ||
    (ownerDocument !== document && plain(ownerDocument).defaultView?.frameElement) || null;
};
// Editors and terminals take keys by a field that nobody sees, keep what they like of its text, and draw it elsewhere.
const takesForOthers = (element) => {
  if (editableBy(element) !== 'type' || !['TEXTAREA', 'INPUT'].includes(tagOf(element))) return false;
  if (!element.checkVisibility({checkOpacity: true})) return true;
  for (let up = element; up; up = around(up)) {
    const {width, height} = plain(up).getBoundingClientRect(), whole = /^(BODY|HTML)$/.test(tagOf(plain(up)));
    if (Math.min(width, height) < 4 && !whole &&
        (up === element || /hidden|clip/.test(getComputedStyle(up).overflow))) return true;
  }
  return false;
};
const describe = (node, interactive) => {
  const element = plain(node), {type} = element, forOthers = takesForOthers(element);
  return {
    id: idOf(node),
    opaque: forOthers || mayHide(element),
    maxlength: Math.max(0, element.maxLength) || 0,
    tag: tagOf(element).toLowerCase(),
    role: element.getAttribute('role') || '',
    name: nameOf(element, interactive),
    value: forOthers ? null : valueOf(element),
    secret: type === 'password',
    checked: ['checkbox', 'radio'].includes(type) ? element.checked === true : null,
    expanded: expandedOf(element),
    editable: editableBy(element),
    takes: tagOf(element) === 'INPUT' && TAKES[type] || '',
  };
};
// What scrolls at an element, and whether something there is cut off for good.
const scrollerAt = (node) => {
  let clipped = false;
  const whole = [page.body, page.documentElement];
  for (; node && !whole.includes(node); node = around(node)) {
    const element = plain(node);
    const room = [element.scrollWidth - element.clientWidth, element.scrollHeight - element.clientHeight];
    if (room[0] < 2 && room[1] < 2) continue;
    const style = getComputedStyle(node);
    if (node === plain(element.ownerDocument).scrollingElement || /auto|scroll/.test(style.overflowX + style.overflowY))
      return {box: [element.scrollLeft, element.scrollTop, room[0], room[1]], clipped};
    clipped ||= /hidden|clip/.test(style.overflowX + style.overflowY);
  }
  return {box: null, clipped};
};
const readPage = (point) => {
  const [width, height] = pageSize();
  const under = point && elementAt(point[0], point[1]);
  const target = under && (plain(under).closest(INTERACTIVE) || under);
  const focus = focused();
  const hasFocus = focus && focus !== page.body && focus !== page.documentElement;
  return {
    loading: page.readyState !== 'complete',
    scroll: [scrollX, scrollY, width - innerWidth, height - innerHeight],
    ...(under ? scrollerAt(under) : {box: null}),
    target: target ? describe(target, plain(target).matches(INTERACTIVE)) : null,
    focus: hasFocus || (focus && plain(focus).isContentEditable) ? describe(focus, true) : null,
  };
};
