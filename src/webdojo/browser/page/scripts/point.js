// The middle of what is visible of an element of the last snapshot: null if it is gone, empty if it is out of view.
(id, index, scroll) => {
  // include parts/plain.js
  // include parts/kept.js
  // include parts/elements.js
  const element = kept.shown?.id === id ? kept.shown.elements[index] : null;
  if (!element || !plain(element).isConnected) return null;
  const show = () => plain(element).scrollIntoView({block: 'center', inline: 'nearest', behavior: 'instant'});
  if (scroll) show();
  let at = middleOf(element);
  if (!scroll && !(at && reachedAt(element, at))) {
    show();
    at = middleOf(element);
  }
  return at || [];
}
