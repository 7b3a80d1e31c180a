// What has the focus, inside open shadow trees and frames of the same origin, too.
const focused = () => {
  let element = document.activeElement;
  for (;;) {
    const inner = element && (element.shadowRoot || element.contentDocument);
    if (!inner || !inner.activeElement) return element;
    element = inner.activeElement;
  }
};
