// Notes when the short timers and the frames that the page waits for are due, and tells `ready.js` when it asks; runs
// in every document before the scripts of the page.
(() => {
  const {apply} = Reflect, {dispatchEvent} = EventTarget.prototype, Told = CustomEvent;
  const now = performance.now.bind(performance), SHORT_MS = 300, FRAME_MS = 20;
  let due = 0;
  const around = (name, wait) => {
    window[name] = new Proxy(window[name], {apply: (begin, at, given) => {
      const ms = wait(given);
      if (ms <= SHORT_MS) due = Math.max(due, now() + ms);
      return apply(begin, at, given);
    }});
  };
  around('setTimeout', ([, ms]) => Number(ms) || 0);
  around('requestAnimationFrame', () => FRAME_MS);
  addEventListener('webdojo-ask', () => apply(dispatchEvent, window, [new Told('webdojo-due', {detail: due - now()})]));
})()
