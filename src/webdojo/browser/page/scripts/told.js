// Passes on what `clipboard.js` tells.
for (const kind of ['copy', 'paste'])
  addEventListener(`webdojo-${kind}`, (event) =>
    webdojoTold(JSON.stringify([kind, String(event.detail).slice(0, 1e6)])));
