// Keeps the page from the clipboard that all sessions of a browser share; runs in every document before the scripts of
// the page. What the page copies is told to `told.js`, and so is a paste that a person asked for, whatever the keys.
(() => {
  const {apply} = Reflect, {preventDefault, stopImmediatePropagation} = Event.prototype;
  const {addEventListener, dispatchEvent, removeEventListener} = EventTarget.prototype;
  const {getData, clearData} = DataTransfer.prototype;
  const {toString} = Selection.prototype, {execCommand, getSelection} = Document.prototype, Told = CustomEvent;
  const tell = (kind, text) => apply(dispatchEvent, window, [new Told(`webdojo-${kind}`, {detail: text})]);

  addEventListener('paste', (event) => {
    if (!event.isTrusted) return;
    apply(stopImmediatePropagation, event, []);
    apply(preventDefault, event, []);
    tell('paste', '');
  }, true);
  const copied = (event) => {
    if (!event.isTrusted) return;
    const data = event.clipboardData, ready = event.defaultPrevented;
    const text = ready ? apply(getData, data, ['text/plain']) : apply(toString, apply(getSelection, document, []), []);
    apply(preventDefault, event, []);
    apply(clearData, data, []);
    if (event.type === 'cut' && !ready) apply(execCommand, document, ['delete']);
    if (text) tell('copy', text);
  };
  for (const kind of ['copy', 'cut']) addEventListener(kind, () => {
    // Each time anew, so that it comes after all that the page does, also on the window.
    apply(removeEventListener, window, [kind, copied]);
    apply(addEventListener, window, [kind, copied]);
  }, true);

  if (!window.Clipboard) return;  // a page without https has none
  Clipboard.prototype.writeText = async function writeText(text) { tell('copy', `${text}`); };
  Clipboard.prototype.write = async function write(items) {
    for (const item of items)
      if (item.types.includes('text/plain')) tell('copy', await (await item.getType('text/plain')).text());
  };
})()
