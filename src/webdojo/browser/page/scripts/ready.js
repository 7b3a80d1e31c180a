async (quietMs, capMs, loadMs, animationMs, timerMs, turnsMs, blankMs, decode, point) => {
  // include parts/plain.js
  // include parts/kept.js
  // include parts/watch.js
  // include parts/read.js
  const TURNS = 14;
  const end = performance.now() + capMs;
  const watch = kept.watch || startWatch();
  // The page can clear every timer of its window by number, but no task.
  const sleep = (ms) => scheduler.postTask(() => {}, {delay: ms});
  const frame = () => Promise.race([new Promise(done => requestAnimationFrame(done)), sleep(50)]);
  const before = (work) => Promise.race([work, sleep(Math.max(0, end - performance.now()))]);
  if (page.readyState === 'loading')
    await before(new Promise(done => page.addEventListener('DOMContentLoaded', done, {once: true})));
  // Many pages come to life on `load`; a page that keeps loading is waited for only once.
  if (page.readyState !== 'complete' && !kept.loadAwaited) {
    kept.loadAwaited = true;
    await before(Promise.race([sleep(loadMs), new Promise(done => addEventListener('load', done, {once: true}))]));
  }
  // Without scripts nothing moves by itself: two frames let scrolls and styles land.
  const quiet = page.scripts.length ? quietMs : 0;
  const shapeOf = () => [...pageSize(), scrollX, scrollY].join();
  const decoded = kept.decoded ||= new WeakMap();
  const imagesInView = () => [...page.images].filter(image => {
    if (image.complete && (!decode || decoded.get(image) === image.currentSrc)) return false;
    const box = image.getBoundingClientRect();
    return box.width > 1 && box.height > 1 && box.bottom > 0 && box.right > 0 &&
      box.top < innerHeight && box.left < innerWidth;
  });
  // Decoding keeps the whole picture in memory, where drawing needs one of the size that is shown.
  const arrival = (image) => decode
    ? image.decode().catch(() => {}).then(() => { decoded.set(image, image.currentSrc); })
    : new Promise(done => ['load', 'error'].forEach(end => image.addEventListener(end, done, {once: true})));
  // How long short animations will still run; endless and long ones are not waited for.
  const moving = () => Math.max(0, ...page.getAnimations().filter(each => each.playState === 'running')
    .map(each => each.effect?.getComputedTiming()).filter(time => time && typeof time.localTime === 'number')
    .map(time => time.endTime - time.localTime).filter(rest => rest <= animationMs));
  // How long short timers, frames and idle callbacks of the page will still run, as far as they could be asked for by
  // what was just done. A busy machine draws slowly and is seldom idle: both are counted, and time counts from the first
  // look.
  let first;
  const pending = () => {
    let said = '';
    const told = (event) => { said = String(event.detail); };
    addEventListener('webdojo-due', told);
    dispatchEvent(new CustomEvent('webdojo-ask'));
    removeEventListener('webdojo-due', told);
    const [ms, framed, frames, idling, idle] = said.split(' ').map(Number), now = performance.now();
    first ??= {now, frames, idle};
    const gone = now - first.now;
    const more = framed && frames - first.frames < TURNS || idling && idle - first.idle < TURNS;
    const chain = more && page.visibilityState === 'visible' && gone < turnsMs;
    return Math.max(ms > 0 ? Math.min(ms + 10, timerMs - gone) : 0, chain ? 16 : 0);
  };
  await before(frame());
  await before(frame());
  let shape = shapeOf();
  while (performance.now() < end) {
    const images = imagesInView();
    if (images.length) await before(Promise.all(images.map(arrival)));
    if (page.fonts.status !== 'loaded') await before(page.fonts.ready);
    watch.take(watch.observer.takeRecords());
    const now = performance.now();
    const current = shapeOf();
    if (current !== shape) { shape = current; watch.last = now; }
    const left = Math.max(quiet - (now - watch.last), moving(), pending());
    if (left <= 0) break;
    await sleep(Math.min(left, 25));
  }
  // How long the scripts of a page that has drawn nothing may still take; frames draw for themselves.
  const drawn = !page.scripts.length || window.length || performance.getEntriesByType('paint').length;
  return {...readPage(point), changes: watch.changes, blankMs: drawn ? 0 : Math.max(0, blankMs - performance.now())};
}
