// Chooses an option of the focused list; an open list may have handed the focus to one of its options.
(text) => {
  // include parts/plain.js
  // include parts/focus.js
  const list = focused()?.closest('select'), wanted = text.trim().toLowerCase();
  if (!list) return null;
  const usable = [...list.options].filter(o => !o.disabled);
  const labels = usable.map(o => o.label.trim().toLowerCase());
  let at = labels.indexOf(wanted);
  if (at < 0) at = labels.findIndex(label => wanted && label.startsWith(wanted));
  if (at < 0) return {options: usable.slice(0, 20).map(o => o.label.trim())};
  const open = CSS.supports('selector(:open)') && list.matches(':open');
  usable[at].selected = true;
  list.dispatchEvent(new Event('input', {bubbles: true, composed: true}));
  list.dispatchEvent(new Event('change', {bubbles: true}));
  return {options: null, open};
}
