async ([quietMs, capMs, loadMs, decode, point]) => {
  // include parts/watch.js
  // include parts/read.js
  const end = performance.now() + capMs;
  const watch = window[watchKey] || startWatch();
  const sleep = (ms) => new Promise(done => setTimeout(done, ms));
  const frame = () => new Promise(done => { requestAnimationFrame(done); setTimeout(done, 50); });
  const before = (work) => Promise.race([work, sleep(Math.max(0, end - performance.now()))]);
  if (document.readyState === 'loading')
    await before(new Promise(done => document.addEventListener('DOMContentLoaded', done, {once: true})));
  // Many pages come to life on `load`; a page that keeps loading is waited for only once.
  if (document.readyState !== 'complete' && !document.webdojoLoadAwaited) {
    Object.defineProperty(document, 'webdojoLoadAwaited', {value: true});
    await before(Promise.race([sleep(loadMs), new Promise(done => addEventListener('load', done, {once: true}))]));
  }
  // Without scripts nothing moves by itself: two frames let scrolls and styles land.
  const quiet = document.scripts.length ? quietMs : 0;
  const shapeOf = () => [...pageSize(), scrollX, scrollY].join();
  const imagesInView = () => [...document.images].filter(image => {
    if (image.complete && (!decode || image.webdojoDecoded === image.currentSrc)) return false;
    const box = image.getBoundingClientRect();
    return box.width > 1 && box.height > 1 && box.bottom > 0 && box.right > 0 &&
      box.top < innerHeight && box.left < innerWidth;
  });
  // Decoding keeps the whole picture in memory, where drawing needs one of the size that is shown.
  const arrival = (image) => decode
    ? image.decode().catch(() => {}).then(() => {
        Object.defineProperty(image, 'webdojoDecoded', {value: image.currentSrc, writable: true, configurable: true});
      })
    : new Promise(done => ['load', 'error'].forEach(end => image.addEventListener(end, done, {once: true})));
  await before(frame());
  await before(frame());
  let shape = shapeOf();
  while (performance.now() < end) {
    const images = imagesInView();
    if (images.length) await before(Promise.all(images.map(arrival)));
    if (document.fonts.status !== 'loaded') await before(document.fonts.ready);
    watch.take(watch.observer.takeRecords());
    const now = performance.now();
    const current = shapeOf();
    if (current !== shape) { shape = current; watch.last = now; }
    const left = quiet - (now - watch.last);
    if (left <= 0) break;
    await sleep(Math.min(left, 25));
  }
  return {...readPage(point), changes: watch.changes};
}
