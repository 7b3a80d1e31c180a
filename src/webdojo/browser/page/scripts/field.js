// The focused text field: what it holds before and after its selection, and its middle, where these can be told; null
// where keys go to something else.
() => {
  // include parts/plain.js
  // include parts/kept.js
  // include parts/read.js
  const field = focused(), element = field && plain(field);
  if (!element || editableBy(element) !== 'type' || takesForOthers(element) || mayHide(element)) return null;
  const sides = () => {
    const {value, selectionStart, selectionEnd} = element;
    if (element.isContentEditable) return element.innerText.trim() ? null : ['', ''];
    if (value === '' || value === undefined) return value === '' ? ['', ''] : null;
    return typeof selectionStart === 'number' ? [value.slice(0, selectionStart), value.slice(selectionEnd)] : null;
  };
  const middle = element.ownerDocument === document ? middleOf(element) : null;
  return {sides: sides(), value: String(element.value ?? ''), middle, secret: element.type === 'password'};
}
