// The list: only the rows in view are in the page, and the filters stand in its address.
import { $, address, follow, h, json, typing } from "./dom.js";

const PAGE = 100;
const form = $("#filters");
const list = $("#list");
const rows = $("#rows");
const { run } = form.dataset;
let query = new URLSearchParams(location.search);
let total = 0;
let all = 0;
let pages = new Map();
let waiting = 0;
let current = 0;
let drawnShape = "";
let first = JSON.parse(form.dataset.first); // which has come with the page

const rowHeight = () => (matchMedia("(max-width: 720px)").matches ? 76 : 34);
const shape = () => `${rowHeight()} ${list.clientHeight}`; // what the rows in view depend on
const asked = (more = {}) => `?${new URLSearchParams([...query, ...Object.entries(more)])}`;
const plain = (name) => name.replaceAll("_", " ");

/** Filters of the address that have no field, such as a group. */
const others = () => [...new URLSearchParams(location.search)].filter(([name]) => !form.elements[name]);

/** Read a part of the list, once. */
async function load(page) {
  if (pages.has(page)) return;
  const mine = pages;
  pages.set(page, null);
  const found = first ?? (await json(address(run, `/rows${asked({ offset: page * PAGE, limit: PAGE })}`)));
  first = null;
  if (mine !== pages) return; // other filters meanwhile
  pages.set(page, found.rows);
  if (page === 0) heading(found);
  draw();
}

function heading(found) {
  total = found.total;
  all = found.all;
  const reading = found.reading === null ? "" : `, ${found.reading.toLocaleString("en")} of them read so far`;
  $("#total").textContent = `${total.toLocaleString("en")} of ${all.toLocaleString("en")}${reading}`;
  list.setAttribute("aria-rowcount", total + 1);
  for (const select of form.querySelectorAll("[data-facet]")) {
    const values = Object.entries(found.facets[select.name] ?? {});
    const chosen = query.get(select.name) ?? "";
    if (chosen && !values.some(([value]) => value === chosen)) values.unshift([chosen, 0]);
    choices(select, values.map(([value, count]) => [value, `${plain(value) || "none"} (${count.toLocaleString("en")})`]), chosen);
  }
  choices(form.elements.tag, found.tags.map((tag) => [tag, tag]), query.get("tag") ?? "");
  $("#export").href = address(run, `/export${asked()}`);
  clearTimeout(waiting);
  if (found.reading !== null) waiting = setTimeout(reload, 500);
}

function choices(select, values, chosen) {
  if (select === document.activeElement && select.options.length > 1) return; // it is open
  select.replaceChildren(h("option", { value: "" }, "any"), ...values.map(([value, text]) => h("option", { value }, text)));
  select.value = chosen;
}

function row(index) {
  const each = pages.get(Math.floor(index / PAGE))?.[index % PAGE];
  const cells = each ? content(each, index) : [h("span", { role: "cell" }, "…")];
  const out = h("div", { class: `row${index === current ? " current" : ""}`, role: "row", "aria-rowindex": index + 2 }, cells);
  out.style.top = `${index * rowHeight()}px`;
  return out;
}

function content(each, index) {
  const link = address(run, `/trajectory${asked({ id: each.id })}`);
  const marks = [...each.tags.map((tag) => h("span", { class: "tag" }, tag)), each.noted ? h("span", { class: "tag" }, "note") : null];
  const cell = (name, ...children) => h("span", { role: "cell", class: name }, ...children);
  return [
    cell(`outcome ${each.outcome}`, each.outcome),
    cell("task", h("a", { href: link, tabindex: index === current ? 0 : -1, "data-index": index }, each.instruction || each.task_id), ...marks),
    cell("site", each.website),
    cell("phase", `${each.phase} ${each.iteration}`),
    cell("number", each.steps),
    cell("number", each.response_tokens.toLocaleString("en")),
    cell("number", each.reward === null || each.outcome === "invalid" ? "" : Number(each.reward.toPrecision(3))),
    cell("ended", plain(each.termination)),
  ];
}

/** Put the rows in view, and some around them, into the page. */
function draw() {
  const height = rowHeight();
  drawnShape = shape();
  rows.style.height = `${total * height}px`;
  const first = Math.max(0, Math.floor(list.scrollTop / height) - 10);
  const last = Math.min(total, first + Math.ceil(list.clientHeight / height) + 20);
  const focused = document.activeElement?.dataset?.index;
  rows.replaceChildren(...Array.from({ length: Math.max(0, last - first) }, (_, k) => row(first + k)));
  if (focused !== undefined) $(`[data-index="${focused}"]`, rows)?.focus({ preventScroll: true });
  if (last > first) for (let page = Math.floor(first / PAGE); page <= Math.floor((last - 1) / PAGE); page++) load(page);
}

async function reload() {
  const before = pages;
  pages = new Map();
  try {
    await load(0);
  } catch (error) {
    pages = before;
    $("#total").textContent = error.message;
  }
}

function filtered() {
  const given = [...new FormData(form)].filter(([name, value]) => value !== "" && !(name === "sort" && value === "-added"));
  query = new URLSearchParams([...given, ...others()]);
  history.replaceState(null, "", location.pathname + (query.size ? asked() : ""));
  current = 0;
  list.scrollTop = 0;
  $("#fresh").hidden = true;
  reload();
}

/** Move to another row, and bring it into view. */
function go(index) {
  current = Math.max(0, Math.min(total - 1, index));
  const height = rowHeight();
  const [top, bottom] = [current * height, (current + 1) * height - list.clientHeight + height];
  if (list.scrollTop > top) list.scrollTop = top;
  else if (list.scrollTop < bottom) list.scrollTop = bottom;
  draw();
  $(`[data-index="${current}"]`, rows)?.focus({ preventScroll: true });
}

const STEPS = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, PageDown: 20, PageUp: -20, Home: -Infinity, End: Infinity };
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && !typing(event)) {
    event.preventDefault();
    form.elements.q.focus();
  } else if (event.key in STEPS && !typing(event)) {
    event.preventDefault();
    go(document.activeElement?.dataset?.index === undefined ? current : current + STEPS[event.key]);
  }
});
let pause = 0;
form.addEventListener("input", (event) => {
  clearTimeout(pause);
  pause = setTimeout(filtered, event.target.matches("input:not([type=checkbox])") ? 200 : 0);
});
form.addEventListener("submit", (event) => event.preventDefault());
let drawn = 0;
list.addEventListener("scroll", () => {
  cancelAnimationFrame(drawn);
  drawn = requestAnimationFrame(draw);
});
new ResizeObserver(() => drawnShape !== shape() && draw()).observe(list);

for (const [name, value] of query) {
  const field = form.elements[name];
  if (field?.type === "checkbox") field.checked = value === "1";
  else if (field && !field.dataset.facet) field.value = value;
}
form.elements.sort.value = query.get("sort") ?? "-added";
const fresh = $("#fresh button");
fresh.addEventListener("click", () => {
  $("#fresh").hidden = true;
  list.scrollTop = 0;
  reload();
});
$("#others").replaceChildren(
  ...others().map(([name, value]) => {
    const rest = [...query].filter(([other]) => other !== name);
    return h("a", { class: "chip", href: `?${new URLSearchParams(rest)}`, title: "all others, too" }, `${name} ${value} ×`);
  }),
);
await reload();
follow(run, async () => {
  const now = (await json(address(run, "/rows?limit=0"))).all;
  if (now === all) return;
  if (list.scrollTop === 0 && !typing({ target: document.activeElement ?? document.body })) {
    reload();
  } else {
    fresh.textContent = `show ${Math.abs(now - all).toLocaleString("en")} ${now > all ? "new" : "fewer"}`;
    $("#fresh").hidden = false;
  }
});
