// Keeps Chromium from opening native pop-ups for drop-downs and pickers; runs in every document before the scripts of
// the page. Synthetic clicks do not reach native windows, and one that opens while a page is drawn on demand
// (`begin_frame.py`) stops its frames for ever. So drop-downs get the appearance that Chromium draws inside the page,
// with options that can be seen and clicked. Calendars, clocks and colour pickers have no such appearance and never
// open: their fields take keys and `write`, and the feedback gives an example of a value (`probe.Element.takes`). The
// only drop-down that is not covered is one in a closed shadow root that is declared in the HTML itself.
(() => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(`select:not([multiple]):is(:not([size]), [size="0"], [size="1"]), ::picker(select) {
    appearance: base-select !important }`);
  const adopt = (root) => {
    if (root.adoptedStyleSheets && !root.adoptedStyleSheets.includes(sheet)) root.adoptedStyleSheets.push(sheet);
  };
  adopt(document);

  // The page may have drawn the list in a shadow root, dropped our sheet, or given the list a look of its own.
  const drawInside = (list) => {
    if (list.multiple || list.size > 1) return;
    adopt(list.getRootNode());
    if (getComputedStyle(list).appearance !== 'base-select')
      list.style.setProperty('appearance', 'base-select', 'important');
  };
  const PICKERS = ['date', 'time', 'month', 'week', 'datetime-local', 'color'];
  const picks = (element) => element instanceof HTMLInputElement && PICKERS.includes(element.type);
  const under = (event, is) => event.composedPath().find(is);
  const list = (event) => under(event, (node) => node instanceof HTMLSelectElement);

  // In a native list that is closed the arrows choose; one that is drawn inside the page would open.
  const isClosed = (list) => !list.multiple && list.size < 2 && !list.matches(':open');
  const choose = (list, by) => {
    let at = list.selectedIndex + by;
    while (list.options[at]?.disabled) at += by;
    if (!list.options[at]) return;
    list.selectedIndex = at;
    for (const type of ['input', 'change']) list.dispatchEvent(new Event(type, {bubbles: true, composed: true}));
  };

  // On Enter nobody can tell the field, which submits its form, from its button, which opens the picker.
  const submit = (form) => {
    const button = [...form.elements].find((element) => element.type === 'submit');
    if (button) button.click(); else form.requestSubmit();
  };
  const watch = (root) => {
    const on = (type, listen) => root.addEventListener(type, listen, true);
    for (const type of ['pointerdown', 'keydown']) on(type, (event) => list(event) && drawInside(list(event)));
    on('keydown', (event) => {
      const by = {ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1}[event.key], at = list(event);
      if (by && at && !(event.altKey || event.ctrlKey || event.metaKey) && isClosed(at)) {
        event.preventDefault();
        choose(at, by);
      }
    });
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
})()
