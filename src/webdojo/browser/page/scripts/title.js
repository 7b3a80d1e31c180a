() => {
  // include parts/plain.js
  return page.title;
}
