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
  const labelled = by && by.split(/\s+/).map(id => document.getElementById(id)).filter(Boolean)
    .map(label => label.textContent).join(' ');
  const label = element.labels && element.labels[0] && element.labels[0].textContent;
  const pressed = element.tagName === 'INPUT' && ['button', 'submit', 'reset'].includes(element.type) && element.value;
  const field = ['INPUT', 'SELECT', 'TEXTAREA'].includes(element.tagName);
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
  if (element.tagName === 'SELECT') return squeeze([...element.selectedOptions].map(o => o.label).join(', '), 200);
  if (element.tagName === 'INPUT' || element.tagName === 'TEXTAREA') return element.value.slice(0, 10000);
  return element.isContentEditable ? element.innerText.slice(0, 10000) : null;
};
const editableBy = (element) => {
  if (element.disabled || element.readOnly) return '';
  if (element.tagName === 'INPUT')
    return NOT_TYPED.includes(element.type) ? '' : FILLED.includes(element.type) ? 'fill' : 'type';
  // A foreign frame hides what has the focus inside it: let the keys through.
  return element.tagName === 'TEXTAREA' || element.tagName === 'IFRAME' || element.isContentEditable ? 'type' : '';
};
const expandedOf = (element) => {
  if (element.tagName === 'SELECT') return CSS.supports('selector(:open)') ? element.matches(':open') : null;
  const said = element.getAttribute('aria-expanded');
  if (said) return said === 'true';
  return element.tagName === 'SUMMARY' && element.parentElement ? element.parentElement.open === true : null;
};
const describe = (element, interactive) => ({
  tag: element.tagName.toLowerCase(),
  role: element.getAttribute('role') || '',
  name: nameOf(element, interactive),
  value: valueOf(element),
  secret: element.type === 'password',
  checked: ['checkbox', 'radio'].includes(element.type) ? element.checked : null,
  expanded: expandedOf(element),
  editable: editableBy(element),
  takes: element.tagName === 'INPUT' && TAKES[element.type] || '',
});
const scrollerAt = (element) => {
  const page = [document.body, document.documentElement];
  for (; element && !page.includes(element); element = element.parentElement) {
    const room = [element.scrollWidth - element.clientWidth, element.scrollHeight - element.clientHeight];
    if (room[0] < 2 && room[1] < 2) continue;
    const style = getComputedStyle(element);
    if (/auto|scroll/.test(style.overflowX + style.overflowY))
      return [element.scrollLeft, element.scrollTop, room[0], room[1]];
  }
  return null;
};
const readPage = (point) => {
  const [width, height] = pageSize();
  const under = point && elementAt(point[0], point[1]);
  const target = under && (under.closest(INTERACTIVE) || under);
  const focus = focused();
  const hasFocus = focus && focus !== document.body && focus !== document.documentElement;
  return {
    scroll: [scrollX, scrollY, width - innerWidth, height - innerHeight],
    box: under ? scrollerAt(under) : null,
    target: target ? describe(target, target.matches(INTERACTIVE)) : null,
    focus: hasFocus || (focus && focus.isContentEditable) ? describe(focus, true) : null,
  };
};
