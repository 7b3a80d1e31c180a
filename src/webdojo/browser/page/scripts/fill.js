// Gives the focused field a whole value (dates, sliders, colours); returns whether the field took it.
(text) => {
  // include parts/plain.js
  // include parts/focus.js
  const field = focused(), before = field?.value;
  if (before === undefined) return null;
  const wanted = field.type === 'color' ? text.trim().toLowerCase() : text.trim();
  field.value = wanted;
  if (field.value !== wanted) {
    field.value = before;
    return false;
  }
  field.dispatchEvent(new Event('input', {bubbles: true, composed: true}));
  field.dispatchEvent(new Event('change', {bubbles: true}));
  return true;
}
