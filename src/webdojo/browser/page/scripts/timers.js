// Notes which short timers, frames and idle callbacks the page waits for, and tells `ready.js` when it asks; runs in
// every document before the scripts of the page.
(() => {
  const {apply} = Reflect, {dispatchEvent} = EventTarget.prototype, Told = CustomEvent;
  const now = performance.now.bind(performance), SHORT_MS = 300;
  let due = 0;
  // Counts turns, of frames or of idle callbacks, for which the page waits. What is asked for by `next` runs after what
  // the page has asked for in the same turn.
  const counted = (next) => {
    let waiting = false, again = false, turns = 0;
    const wait = () => {
      waiting = true;
      again = false;
      next(() => {
        waiting = false;
        turns++;
        if (again) wait();
      });
    };
    return {
      asked: () => {
        if (waiting) again = true;
        else wait();
      },
      said: () => `${+waiting} ${turns}`,
    };
  };
  const frames = counted(requestAnimationFrame), idle = counted(requestIdleCallback);
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
  around('requestAnimationFrame', frames.asked);
  around('requestIdleCallback', idle.asked);
  addEventListener('webdojo-ask', () =>
    apply(dispatchEvent, window, [new Told('webdojo-due', {detail: `${due - now()} ${frames.said()} ${idle.said()}`})]));
})()
