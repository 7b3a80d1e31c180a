(elements, [index, scroll]) => {
  // include parts/elements.js
  const e = elements[index];
  if (!e.isConnected) return null;
  const show = () => e.scrollIntoView({block: 'center', inline: 'nearest', behavior: 'instant'});
  if (scroll) show();
  let at = middleOf(e);
  if (!scroll && !(at && reachedAt(e, at))) {
    show();
    at = middleOf(e);
  }
  return at || [];
}
