// Passes on what `person.js` tells.
addEventListener('webdojo-input', (event) => webdojoInput(String(event.detail).slice(0, 1e6)));
