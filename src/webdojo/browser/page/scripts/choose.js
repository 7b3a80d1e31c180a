(focused, text) => {
  const list = focused.closest('select'), wanted = text.trim().toLowerCase();
  const usable = [...list.options].filter(o => !o.disabled);
  const labels = usable.map(o => o.label.trim().toLowerCase());
  let at = labels.indexOf(wanted);
  if (at < 0) at = labels.findIndex(label => wanted && label.startsWith(wanted));
  if (at < 0) return {options: usable.slice(0, 20).map(o => o.label.trim())};
  const open = CSS.supports('selector(:open)') && list.matches(':open');
  usable[at].selected = true;
  list.dispatchEvent(new Event('input', {bubbles: true}));
  list.dispatchEvent(new Event('change', {bubbles: true}));
  return {options: null, open};
}
