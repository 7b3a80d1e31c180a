// What has the focus, inside open shadow trees and frames of the same origin, too.
const focused = () => {
  let element = page.activeElement;
  for (;;) {
    const around = plain(element), inner = around && plain(around.shadowRoot || around.contentDocument);
    if (!inner || !inner.activeElement) return element;
    element = inner.activeElement;
  }
};
