"""What Chromium would draw in windows of its own is drawn inside the page or stays shut.

Synthetic clicks reach no such window, and one that opens while a page is drawn on demand (`frames.py`)
stops its frames for ever. So drop-downs get the look that Chromium draws in the page, with options that
can be seen and clicked. Calendars, clocks and colour pickers have no such look and never open: their
fields take keys and `write`, and feedback gives an example of what (`probe.Element.takes`). Out of reach
is only a list in a closed shadow root that stands in the HTML itself.
"""

from __future__ import annotations

POPUPS_JS = """(() => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(`select:not([multiple]):is(:not([size]), [size="0"], [size="1"]), ::picker(select) {
    appearance: base-select !important }`);
  const dress = (root) => {
    if (root.adoptedStyleSheets && !root.adoptedStyleSheets.includes(sheet)) root.adoptedStyleSheets.push(sheet);
  };
  dress(document);

  // The page may have drawn the list in a shadow root, dropped our sheet, or given the list a look of its own.
  const drawInside = (list) => {
    if (list.multiple || list.size > 1) return;
    dress(list.getRootNode());
    if (getComputedStyle(list).appearance !== 'base-select')
      list.style.setProperty('appearance', 'base-select', 'important');
  };
  const PICKERS = ['date', 'time', 'month', 'week', 'datetime-local', 'color'];
  const picks = (element) => element instanceof HTMLInputElement && PICKERS.includes(element.type);
  const under = (event, is) => event.composedPath().find(is);
  const list = (event) => under(event, (node) => node instanceof HTMLSelectElement);

  // On Enter nobody can tell the field, which submits its form, from its button, which opens the picker.
  const submit = (form) => {
    const button = [...form.elements].find((element) => element.type === 'submit');
    if (button) button.click(); else form.requestSubmit();
  };
  const watch = (root) => {
    const on = (type, listen) => root.addEventListener(type, listen, true);
    for (const type of ['pointerdown', 'keydown']) on(type, (event) => list(event) && drawInside(list(event)));
    on('click', (event) => under(event, picks) && event.preventDefault());
    on('keydown', (event) => {
      const opens = event.key === 'F4' || event.key === ' ' || (event.altKey && event.key.startsWith('Arrow'));
      if (opens && under(event, picks)) event.preventDefault();
    });
    on('keypress', (event) => {
      const field = under(event, picks);
      if (!field || event.key !== 'Enter' || field.type === 'color') return;
      event.preventDefault();
      if (field.form) submit(field.form);
    });
  };
  watch(window);
  const around = (prototype, name, apply) => { prototype[name] = new Proxy(prototype[name], {apply}); };
  around(Element.prototype, 'attachShadow', (attach, host, given) => {
    const root = Reflect.apply(attach, host, given);
    if (root.mode === 'closed') watch(root);
    return root;
  });
  around(HTMLInputElement.prototype, 'showPicker', (show, field, given) =>
    picks(field) ? field.focus() : Reflect.apply(show, field, given));
  around(HTMLSelectElement.prototype, 'showPicker', (show, field, given) => {
    drawInside(field);
    return Reflect.apply(show, field, given);
  });
})()"""
"""Runs in every document before its own scripts."""
