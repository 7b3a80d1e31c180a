const startWatch = () => {
  kept.watch?.observer.disconnect();
  const watch = kept.watch = {changes: 0, last: performance.now(), seen: new WeakMap()};
  watch.take = (records) => {
    for (const record of records) {
      watch.changes++;
      // Animations rewrite the same few nodes for ever: style changes and the ninth rewrite of a
      // node do not keep a page from being ready, but growth always does.
      if (record.type === 'attributes' && record.attributeName === 'style') continue;
      const times = (watch.seen.get(record.target) || 0) + 1;
      watch.seen.set(record.target, times);
      if (times <= 8 || record.addedNodes.length > record.removedNodes.length) watch.last = performance.now();
    }
  };
  watch.observer = new MutationObserver(watch.take);
  watch.observer.observe(document, {childList: true, subtree: true, attributes: true, characterData: true});
  return watch;
};
