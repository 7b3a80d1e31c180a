// A map that is dragged, zoomed by its buttons or the wheel, and whose markers open a card beside it.

document.querySelectorAll('[data-map]').forEach(map);

function map(place) {
  const sheet = place.querySelector('.sheet'), layer = place.querySelector('.layer'), svg = layer.querySelector('svg');
  const markers = [...layer.querySelectorAll('[data-marker]')].map(el => ({
    el, x: +el.dataset.x, y: +el.dataset.y, kind: el.dataset.kind, wide: el.firstElementChild.offsetWidth,
  }));
  const scales = place.dataset.scales.split(' ').map(Number);
  const [width, height] = place.dataset.size.split(' ').map(Number);
  const kinds = place.querySelector('select');
  let x = +place.dataset.x, y = +place.dataset.y, level = +place.dataset.level, turned = 0;

  const pan = () => {
    x = Math.max(0, Math.min(width, x));
    y = Math.max(0, Math.min(height, y));
    const scale = scales[level];
    layer.style.transform = `translate(${sheet.clientWidth / 2 - x * scale}px, ${sheet.clientHeight / 2 - y * scale}px)`;
  };

  const meet = (one, other) => one[0] < other[2] && other[0] < one[2] && one[1] < other[3] && other[1] < one[3];

  // Each name goes to where there is room around its marker: it lies on no other marker and on no other name.
  const spread = scale => {
    const shown = markers.filter(({el}) => el.style.visibility !== 'hidden');
    const pins = shown.map(({x, y}) => [x * scale - 10, y * scale - 10, x * scale + 10, y * scale + 10]), names = [];
    shown.forEach(({el, x, y, wide}, at) => {
      const [before, middle] = [-12 - wide, -wide / 2], [above, below] = [-31, 11];
      const places = [[12, -10], [before, -10], [middle, below], [middle, above],
        [8, below], [8, above], [before + 4, below], [before + 4, above]];
      const box = ([left, top]) => [x * scale + left, y * scale + top, x * scale + left + wide, y * scale + top + 20];
      const others = [...pins.filter((_, i) => i !== at), ...names];
      const free = places.find(there => !others.some(other => meet(box(there), other)));
      el.classList.toggle('bare', !free);
      if (!free) return;
      names.push(box(free));
      Object.assign(el.firstElementChild.style, {left: `${free[0] + 8}px`, top: `${free[1] + 8}px`});
    });
  };

  // Markers come in the order of importance; one whose name would lie on that of another waits for a nearer view.
  const lay = () => {
    const scale = scales[level], taken = [], nearest = level === scales.length - 1;
    svg.style.width = `${width * scale}px`;
    svg.style.height = `${height * scale}px`;
    svg.style.setProperty('--px', 1 / scale);
    for (const {el, x, y, kind, wide} of markers) {
      const left = x * scale, top = y * scale;
      el.firstElementChild.removeAttribute('style');
      el.style.left = `${left}px`;
      el.style.top = `${top}px`;
      const box = [left - 12, top - 12, left + 20 + wide, top + 12];
      const wanted = !kinds.value || kinds.value === kind;
      const free = !taken.some(other => meet(box, other));
      el.style.visibility = wanted && (free || nearest) ? '' : 'hidden';
      el.classList.toggle('bare', !free);
      if (wanted && free) taken.push(box);
    }
    if (nearest && 'spread' in place.dataset) spread(scale);
    place.querySelector('[data-zoom=in]').disabled = nearest;
    place.querySelector('[data-zoom=out]').disabled = level === 0;
    pan();
  };

  const zoom = (by, at) => {
    const next = Math.max(0, Math.min(scales.length - 1, level + by));
    const frame = sheet.getBoundingClientRect();
    const dx = at ? at.clientX - frame.left - frame.width / 2 : 0, dy = at ? at.clientY - frame.top - frame.height / 2 : 0;
    x += dx / scales[level] - dx / scales[next];
    y += dy / scales[level] - dy / scales[next];
    level = next;
    lay();
  };

  const open = async slug => {
    const address = `/map/card/${slug}`;
    let text;
    try {
      text = await (await fetch(address)).text();
    } catch {
      location.assign(address);
      return;
    }
    const page = new DOMParser().parseFromString(text, 'text/html');
    const card = page.querySelector('.map-card');
    if (!card) return;
    place.querySelector('.shown').replaceChildren(card);
    layer.querySelector('.chosen')?.classList.remove('chosen');
    layer.querySelector(`[data-marker="${slug}"]`).classList.add('chosen');
    place.dataset.opened = slug;
  };

  let from = null, moved = false;
  sheet.addEventListener('pointerdown', event => {
    from = {px: event.clientX, py: event.clientY, x, y};
    moved = false;
  });
  addEventListener('pointermove', event => {
    if (!from) return;
    const dx = event.clientX - from.px, dy = event.clientY - from.py;
    moved ||= Math.hypot(dx, dy) > 4;
    if (!moved) return;
    x = from.x - dx / scales[level];
    y = from.y - dy / scales[level];
    pan();
  });
  addEventListener('pointerup', () => { from = null; });
  sheet.addEventListener('dragstart', event => event.preventDefault());
  sheet.addEventListener('click', event => {
    const marker = event.target.closest('[data-marker]');
    if (marker && !moved) open(marker.dataset.marker);
  });
  sheet.addEventListener('dblclick', event => zoom(1, event));
  sheet.addEventListener('wheel', event => {
    event.preventDefault();
    if (event.timeStamp - turned < 150) return;
    turned = event.timeStamp;
    zoom(event.deltaY < 0 ? 1 : -1, event);
  }, {passive: false});
  place.querySelectorAll('[data-zoom]').forEach(button =>
    button.addEventListener('click', () => zoom(button.dataset.zoom === 'in' ? 1 : -1)));
  kinds.addEventListener('change', lay);
  addEventListener('resize', pan);
  lay();
}
