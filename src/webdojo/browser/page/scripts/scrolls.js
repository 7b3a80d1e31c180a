// Whether a turn of the wheel at a point goes to the page itself, and to no part of it or frame that may scroll alone.
(point) => {
  // include parts/plain.js
  // include parts/kept.js
  // include parts/read.js
  const under = page.elementFromPoint(...point);
  return !under || (!/^(IFRAME|FRAME|OBJECT|EMBED)$/.test(tagOf(under)) && !scrollerAt(elementAt(...point)).box);
}
