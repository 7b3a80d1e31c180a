const squeeze = (text, limit) => {
  const line = (text || '').slice(0, Math.max(400, 4 * limit)).replace(/\s+/g, ' ').trim();
  return line.length > limit ? line.slice(0, limit - 1) + '…' : line;
};
const elementAt = (x, y) => {
  let element = document.elementFromPoint(x, y);
  while (element) {
    let inner = null;
    if (element.shadowRoot) {
      inner = element.shadowRoot.elementFromPoint(x, y);
    } else if (element.contentDocument) {
      const box = element.getBoundingClientRect();
      x -= box.left + element.clientLeft;
      y -= box.top + element.clientTop;
      inner = element.contentDocument.elementFromPoint(x, y);
    }
    if (!inner || inner === element) break;
    element = inner;
  }
  return element;
};
// The middle of the largest piece of an element inside a box: a link may go over two lines.
const middleOf = (element, clip = [0, 0, innerWidth, innerHeight]) => {
  let best = null, most = 0;
  for (const box of element.getClientRects()) {
    const left = Math.max(box.left, clip[0]), right = Math.min(box.right, clip[2]);
    const top = Math.max(box.top, clip[1]), bottom = Math.min(box.bottom, clip[3]);
    if (right - left < 1 || bottom - top < 1 || (right - left) * (bottom - top) <= most) continue;
    most = (right - left) * (bottom - top);
    best = [(left + right) / 2, (top + bottom) / 2];
  }
  return best;
};
// Whether a click at a point lands on an element, its insides or its label.
const reachedAt = (element, point) => {
  const hit = point && elementAt(point[0], point[1]);
  for (let up = hit; up; up = up.parentNode || up.host) if (up === element) return true;
  return !!hit && !!element.labels && [...element.labels].some(label => label.contains(hit));
};
