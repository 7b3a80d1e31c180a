// Returns whether the page handled the pasted text itself.
(text) => {
  // include parts/plain.js
  // include parts/focus.js
  const data = new DataTransfer();
  data.setData('text/plain', text);
  return !plain(focused() || document).dispatchEvent(
    new ClipboardEvent('paste', {clipboardData: data, bubbles: true, cancelable: true, composed: true}));
}
