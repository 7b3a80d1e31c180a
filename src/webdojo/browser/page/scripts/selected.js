() => {
  // include parts/focus.js
  return (focused()?.ownerDocument || document).getSelection().toString();
}
