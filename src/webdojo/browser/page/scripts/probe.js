(point) => {
  // include parts/plain.js
  // include parts/kept.js
  // include parts/watch.js
  // include parts/read.js
  const state = readPage(point);
  startWatch();
  return {...state, changes: 0};
}
