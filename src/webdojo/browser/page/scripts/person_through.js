// Says to `person.js` what it is to let through.
(through) => { dispatchEvent(new CustomEvent('webdojo-through', {detail: through})); }
