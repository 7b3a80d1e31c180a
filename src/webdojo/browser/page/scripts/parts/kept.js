// What our scripts keep of this document from one call to the next. No element can have a symbol for a name.
const keptKey = Symbol.for('webdojo');
const kept = globalThis[keptKey] ||= {};
