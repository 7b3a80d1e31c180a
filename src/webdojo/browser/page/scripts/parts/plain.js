// The name of a form hides a property of its document, and that of a field one of its form: after `<form name=title>`
// `document.title` is the form. Read through `plain`, documents and forms have the properties of their kind.
const plain = (node) => {
  const kind = Object.prototype.toString.call(node);
  if (!node || !(kind === '[object HTMLFormElement]' || kind.endsWith('Document]'))) return node;
  const properties = Object.getPrototypeOf(node);
  return new Proxy({}, {get: (_, name) => {
    const value = Reflect.get(properties, name, node);
    return typeof value === 'function' ? value.bind(node) : value;
  }});
};
const page = plain(document);
// In XHTML names of tags are small.
const tagOf = (element) => element.tagName.toUpperCase();
