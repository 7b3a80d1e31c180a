// The dashboard: one chart for each figure, drawn again when the run has written something.
import uPlot from "./vendor/uPlot.esm.js";
import { $, address, follow, h, json } from "./dom.js";

const COLORS = ["--rl", "--sft", "--tone1", "--tone2", "--tone3", "--base"];
const box = $("#charts");
const { run } = box.dataset;
const plots = new Map();
const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const sync = uPlot.sync("steps");

function shown(value, unit) {
  if (value === null || value === undefined) return "–";
  if (unit === "%") return `${Number((100 * value).toPrecision(3))} %`;
  return Math.abs(value) >= 1000 ? Math.round(value).toLocaleString("en") : Number(value.toPrecision(3)).toString();
}

function options(chart, width) {
  const axis = { stroke: color("--soft"), grid: { stroke: color("--line"), width: 1 }, ticks: { show: false } };
  const faint = { stroke: "transparent", width: 0, points: { show: false } };
  const lines = chart.lines.map((line, k) => ({
    label: line.name,
    stroke: color(COLORS[k % COLORS.length]),
    width: 2,
    points: { show: line.y.length <= 40 },
  }));
  const first = chart.lines.length + 1;
  return {
    width,
    height: 190,
    legend: { show: false },
    cursor: { sync: { key: sync.key }, drag: { x: true, y: false } },
    padding: [8, 10, 0, 0],
    scales: { x: { time: false }, y: { range: (plot, low, high) => (low === high ? [Math.min(0, low), high || 1] : uPlot.rangeNum(low, high, 0.1, true)) } },
    axes: [{ ...axis, size: 30 }, { ...axis, size: 56, values: (plot, values) => values.map((value) => shown(value, chart.unit)) }],
    series: [{}, ...lines, ...(chart.low ? [faint, faint] : [])],
    bands: chart.low ? [{ series: [first + 1, first], fill: `color-mix(in srgb, ${color("--rl")} 18%, transparent)` }] : [],
    hooks: { setCursor: [(plot) => legend(chart.title, plot.cursor.idx)] },
  };
}

/** The last figures of a chart, or those under the pointer. */
function legend(title, index) {
  const { chart, key } = plots.get(title) ?? {};
  if (!chart) return;
  const at = index ?? chart.x.length - 1;
  key.replaceChildren(
    h("span", {}, `step ${chart.x[at]}`),
    ...chart.lines.map((line, k) => {
      const interval = k === 0 && chart.low && chart.low[at] !== null;
      const range = interval ? ` (${shown(chart.low[at], chart.unit)} – ${shown(chart.high[at], chart.unit)})` : "";
      const item = h("span", { class: "key" }, `${line.name} `, h("b", {}, shown(line.y[at], chart.unit)), range);
      item.style.setProperty("--c", `var(${COLORS[k % COLORS.length]})`);
      return item;
    }),
  );
}

const data = (chart) => [chart.x, ...chart.lines.map((line) => line.y), ...(chart.low ? [chart.low, chart.high] : [])];

function draw(chart) {
  const known = plots.get(chart.title);
  if (known && known.chart.lines.length === chart.lines.length && !known.chart.low === !chart.low) {
    known.chart = chart;
    known.plot.setData(data(chart));
  } else {
    known?.figure.remove();
    const key = h("p", { class: "legend" });
    const canvas = h("div", { class: "plot-box", role: "img", "aria-label": `${chart.title}: ${chart.meaning}` });
    const figure = h("figure", {}, h("figcaption", {}, chart.title, h("small", {}, chart.meaning)), key, canvas);
    box.append(figure);
    const plot = new uPlot(options(chart, canvas.clientWidth || 320), data(chart), canvas);
    plots.set(chart.title, { chart, figure, key, canvas, plot });
  }
  legend(chart.title, null);
}

function stages(rows) {
  $("#stages").hidden = !rows.length;
  const head = h("tr", {}, h("th", { scope: "col" }, "stage"), ["success", "95 % interval", "tasks"].map((name) => h("th", { scope: "col", class: "number" }, name)));
  const body = rows.map((stage) =>
    h("tr", {},
      h("th", { scope: "row" }, h("span", { class: `key ${stage.css}` }, stage.label)),
      [stage.success, stage.interval, stage.tasks].map((text) => h("td", { class: "number" }, text)),
    ),
  );
  $("#stages .wide").replaceChildren(h("table", { class: "list" }, h("thead", {}, head), h("tbody", {}, body)));
}

function failures(sites) {
  const place = $("#hosts .wide");
  if (!sites.length) {
    place.replaceChildren(h("p", { class: "note" }, "No episode was failed by the web or the system."));
    return;
  }
  const head = ["web site", "invalid", "episodes", "ended by"];
  const rows = sites.map((site) =>
    h("tr", {},
      h("th", { scope: "row" }, h("a", { href: address(run, `/trajectories?outcome=invalid&website=${encodeURIComponent(site.website)}`) }, site.website)),
      h("td", { class: "number" }, site.invalid.toLocaleString("en")),
      h("td", { class: "number" }, site.episodes.toLocaleString("en")),
      h("td", {}, Object.entries(site.ended).map(([name, count]) => `${name.replaceAll("_", " ")} ${count}`).join(", ")),
    ),
  );
  place.replaceChildren(
    h("table", { class: "list" }, h("thead", {}, h("tr", {}, head.map((name) => h("th", { scope: "col" }, name)))), h("tbody", {}, rows)),
  );
}

async function update() {
  const found = await json(address(run, "/dashboard"));
  $("#episodes").textContent = found.episodes.toLocaleString("en");
  $("#state").textContent = found.state;
  $("#live").textContent = found.state === "running" ? "live" : "";
  $("#iteration").textContent = $("#iteration").textContent.replace(/^\d+/, found.iteration);
  if (!found.charts.length) box.replaceChildren(h("p", { class: "missing" }, "No iteration has finished yet."));
  else $(".missing", box)?.remove();
  found.charts.forEach(draw);
  stages(found.stages);
  failures(found.failures);
}

new ResizeObserver(() => {
  for (const { plot, canvas } of plots.values()) plot.setSize({ width: canvas.clientWidth, height: 190 });
}).observe(box);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  for (const { figure } of plots.values()) figure.remove();
  plots.clear();
  update();
});
await update();
follow(run, update);
