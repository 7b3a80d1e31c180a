// Notes which short timers and frames the page waits for, and tells `ready.js` when it asks; runs in every document
// before the scripts of the page.
(() => {
  const {apply} = Reflect, {dispatchEvent} = EventTarget.prototype, Told = CustomEvent;
  const now = performance.now.bind(performance), nextFrame = requestAnimationFrame, SHORT_MS = 300;
  let due = 0, waiting = false, again = false, frames = 0;
  // Runs after what the page has asked for in the same frame.
  const wait = () => {
    waiting = true;
    again = false;
    nextFrame(() => {
      waiting = false;
      frames++;
      if (again) wait();
    });
  };
  const around = (name, note) => {
    window[name] = new Proxy(window[name], {apply: (begin, at, given) => {
      const id = apply(begin, at, given);
      note(given);
      return id;
    }});
  };
  around('setTimeout', ([, given]) => {
    const ms = +given || 0;
    if (ms <= SHORT_MS) due = Math.max(due, now() + ms);
  });
  around('requestAnimationFrame', () => {
    if (waiting) again = true;
    else wait();
  });
  addEventListener('webdojo-ask', () =>
    apply(dispatchEvent, window, [new Told('webdojo-due', {detail: `${due - now()} ${+waiting} ${frames}`})]));
})()
