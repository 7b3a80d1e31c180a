// Keeps from the page what a person does in its window, and tells it to `person_told.js`; runs in every document before
// all other scripts. What the session is about to do itself is let through: so many presses and turns of the wheel, and
// keys by their names, and no more. So a page gets a press as often as it is recorded, whoever makes it meanwhile.
(() => {
  const {apply} = Reflect, {parse, stringify} = JSON, Told = CustomEvent;
  const {preventDefault, stopImmediatePropagation, composedPath} = Event.prototype;
  const {addEventListener: addListener, dispatchEvent, removeEventListener} = EventTarget.prototype;
  const {getData} = DataTransfer.prototype;
  const MODIFIERS = /^(Control|Shift|Alt|AltGraph|Meta)$/, COMPOSES = /^(Process|Dead|Unidentified)$/;
  let through = {presses: 0, wheels: 0, keys: {}, moves: false, text: false};
  let pressed = false, typed = false;  // whether the session made the last press, and the last stroke of a key
  let held = {}, at = [0, 0], tapped = false, field = null;

  addEventListener('webdojo-through', (event) => {
    through = parse(event.detail);
    pressed = typed = false;
  });
  const tell = (input) => apply(dispatchEvent, window, [new Told('webdojo-input', {detail: stringify(input)})]);
  const stop = (event) => apply(stopImmediatePropagation, event, []);
  const keep = (event) => {
    stop(event);
    apply(preventDefault, event, []);
  };
  const on = (types, listen) => {
    const trusted = (event) => { if (event.isTrusted) listen(event); };
    for (const type of types.split(' ')) addEventListener(type, trusted, {capture: true, passive: false});
  };
  const place = ({clientX, clientY}) => ({x: clientX, y: clientY});

  on('pointerdown', (event) => {
    pressed = through.presses > 0;
    if (pressed) through.presses--;
    else stop(event);  // to prevent it would prevent the events of the mouse, too
  });
  on('mousedown', (event) => {
    tapped = false;
    if (pressed) return;
    keep(event);
    tell({kind: 'press', ...place(event), button: event.button, count: event.detail});
  });
  on('mouseup', (event) => {
    if (pressed) return;
    keep(event);
    tell({kind: 'release', ...place(event), button: event.button});
  });
  // A click without a count comes of a key or a label, and those of the person get that far in no page.
  on('click', (event) => { if (!pressed && event.detail) keep(event); });
  on('pointerup dblclick auxclick', (event) => { if (!pressed) keep(event); });
  // A menu of the window would take the person's next press, and agents have none.
  const noMenu = (event) => apply(preventDefault, event, []);
  on('contextmenu', (event) => {
    if (!pressed && !typed) keep(event);
    apply(removeEventListener, window, ['contextmenu', noMenu]);
    apply(addListener, window, ['contextmenu', noMenu]);  // each time anew, so that it comes after all of the page
  });
  on('mousemove', (event) => { at = [event.clientX, event.clientY]; });
  on('mousemove mouseover mouseout mouseenter mouseleave pointermove pointerrawupdate pointerover pointerout ' +
    'pointerenter pointerleave dragenter dragover drop touchmove', (event) => { if (!through.moves) keep(event); });
  on('touchstart touchend touchcancel', stop);  // a tap then comes as a press
  on('wheel', (event) => {
    if (through.wheels > 0) {
      through.wheels--;
      return;
    }
    keep(event);
    // Chromium lets nobody prevent a turn right after one that was let through: it has scrolled the page already.
    const {cancelable, ctrlKey, deltaX: dx, deltaY: dy} = event;
    if (cancelable && !ctrlKey && (dx || dy)) tell({kind: 'wheel', ...place(event), dx, dy});
  });

  const take = (name) => {
    const taken = through.keys[name] > 0 ? name : '*';
    if (!(through.keys[taken] > 0)) return false;
    through.keys[taken]--;
    return true;
  };
  on('keydown', (event) => {
    const {key, ctrlKey: ctrl, altKey: alt, shiftKey: shift, metaKey: meta} = event, name = key.toLowerCase();
    typed = take(name);
    if (typed) {
      held[name] = true;
      return;
    }
    tapped = key === 'Control' && (tapped || !event.repeat);
    const pastes = ((ctrl || meta) && !alt && name === 'v') || (shift && key === 'Insert');
    if (pastes || event.isComposing || COMPOSES.test(key)) {
      stop(event);  // what comes of it is told
      return;
    }
    keep(event);
    if (MODIFIERS.test(key)) return;
    const types = [...key].length === 1 && (event.getModifierState('AltGraph') || !(ctrl || alt || meta));
    tell({kind: 'key', key, types, modifiers: Object.keys({ctrl, alt, shift, meta}).filter(
      (each) => ({ctrl, alt, shift, meta})[each])});
  });
  on('keyup', (event) => {
    const name = event.key.toLowerCase();
    if (held[name]) {
      held[name] = false;
      return;
    }
    keep(event);
    if (event.key === 'Control' && tapped) tell({kind: 'hover', x: at[0], y: at[1]});
    tapped = false;
  });
  on('keypress copy cut', (event) => { if (!typed) keep(event); });
  on('paste', (event) => {
    if (typed) return;
    keep(event);
    tell({kind: 'paste', text: apply(getData, event.clipboardData, ['text/plain'])});
  });
  on('beforeinput', (event) => {
    if (typed || through.text) return;
    keep(event);
    if (event.cancelable && event.data) tell({kind: 'text', text: event.data});
  });

  // What an input method composes cannot be kept from a field, so it is taken back from it in the end.
  const setters = [HTMLInputElement, HTMLTextAreaElement].map(({prototype}) =>
    [prototype, Object.getOwnPropertyDescriptor(prototype, 'value').set]);
  on('compositionstart', (event) => {
    stop(event);
    const [element] = apply(composedPath, event, []), {value, selectionStart, selectionEnd} = element;
    const setter = setters.find(([prototype]) => prototype.isPrototypeOf(element))?.[1];
    field = {element, value, setter, range: [selectionStart, selectionEnd]};
  });
  on('compositionupdate', stop);
  on('input', (event) => { if (field && event.isComposing) stop(event); });
  addEventListener('compositionend', (event) => {  // Chromium does not trust all of its own
    if (!field) return;
    stop(event);
    const {element, value, setter, range} = field;
    field = null;
    if (!setter) {
      tell({kind: 'lost'});
      return;
    }
    apply(setter, element, [value]);
    if (range[0] !== null && range[0] !== undefined) element.setSelectionRange(...range);
    if (event.data) tell({kind: 'text', text: event.data});
  }, true);
})()
