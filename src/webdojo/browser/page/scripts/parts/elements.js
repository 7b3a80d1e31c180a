const squeeze = (text, limit) => {
  const line = (text || '').slice(0, Math.max(400, 4 * limit)).replace(/\s+/g, ' ').trim();
  return line.length > limit ? line.slice(0, limit - 1) + '…' : line;
};
const elementAt = (x, y) => {
  let element = page.elementFromPoint(x, y);
  while (element) {
    const {shadowRoot, contentDocument} = plain(element);
    let inner = null;
    if (shadowRoot) {
      inner = shadowRoot.elementFromPoint(x, y);
    } else if (contentDocument) {
      const box = element.getBoundingClientRect();
      x -= box.left + element.clientLeft;
      y -= box.top + element.clientTop;
      inner = plain(contentDocument).elementFromPoint(x, y);
    }
    if (!inner || inner === element) break;
    element = inner;
  }
  return element;
};
// The middle of the largest piece of an element inside a box: a link may go over two lines.
const middleOf = (element, clip = [0, 0, innerWidth, innerHeight]) => {
  let best = null, most = 0;
  for (const box of plain(element).getClientRects()) {
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
  for (let up = hit; up; up = plain(up).parentNode || up.host) if (up === element) return true;
  const {labels} = plain(element);
  return !!hit && !!labels && [...labels].some(label => label.contains(hit));
};
