// What all pages share. Text becomes text nodes only, so nothing that an agent or a page wrote can become markup, and
// what would hide or turn text is shown by its number, as by `visible` of `view/page.py`.

export const $ = (selector, within = document) => within.querySelector(selector);

const HIDDEN = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;
const visible = (text) =>
  String(text).replace(HIDDEN, (hidden) => `⟦U+${hidden.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}⟧`);

/** An element with attributes and children; a child that is no element is text. */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  const there = children.flat().filter((child) => child !== null && child !== undefined);
  element.append(...there.map((child) => (child instanceof Node ? child : visible(child))));
  return element;
}

/** The JSON at an address; an error says what the server said. */
export async function json(address, options) {
  const answer = await fetch(address, options);
  const found = await answer.json();
  if (!answer.ok) throw new Error(found.error);
  return found;
}

export const address = (run, rest) => `/runs/${encodeURIComponent(run)}${rest}`;

/** Whether a key belongs to what is being typed. */
export const typing = (event) =>
  event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select") !== null;

/** A click on a screenshot shows it large; Escape or another click closes it. */
export function enlarge() {
  const dialog = $("dialog");
  document.addEventListener("click", (event) => {
    const screen = event.target.closest(".screen");
    if (dialog.open) dialog.close();
    else if (screen) {
      const { width, height } = $("img", screen);
      const large = screen.cloneNode(true);
      large.style.maxWidth = `${(92 * width) / height}vh`;
      dialog.replaceChildren(large);
      dialog.showModal();
    }
  });
}

/** Call `then` at each event of a live run, with pauses while nobody looks. */
export function follow(run, then) {
  let source = null;
  const look = () => {
    if (document.hidden) {
      source?.close();
      source = null;
    } else if (source === null) {
      source = new EventSource(address(run, "/events"));
      source.onmessage = then;
    }
  };
  document.addEventListener("visibilitychange", look);
  look();
}
