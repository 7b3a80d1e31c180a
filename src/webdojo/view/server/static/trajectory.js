// One trajectory: keys, tokens and prompts on demand, and the reader's notes.
import { $, address, enlarge, h, json, typing } from "./dom.js";

const { run, id, advantage } = $("#trajectory").dataset;
const steps = [...document.querySelectorAll(".step")];
const COLOURS = { logprob: "log-probability", gap: "engine–learner gap", advantage: "advantage", version: "version of the weights", none: "no colour" };

const turnAddress = (step, more = "") => address(run, `/turn?id=${encodeURIComponent(id)}&turn=${step.dataset.turn}${more}`);

/** Load what a closed part holds when it is opened for the first time. */
function onDemand(part, load) {
  part.addEventListener("toggle", async () => {
    if (!part.open || part.dataset.loaded) return;
    part.dataset.loaded = "1";
    try {
      part.append(...(await load(part.closest(".step"))));
    } catch (error) {
      part.append(h("p", { class: "said bad" }, error.message));
    }
  });
}

/** The tokens of a response, each with what is stored about it, in colours of the reader's choice. */
async function tokens(step) {
  const found = await json(turnAddress(step));
  const spans = found.map((token) => {
    const about = [`id ${token.id}`, token.logprob === null ? null : `log-probability ${token.logprob.toFixed(3)}`, token.version === null ? null : `version ${token.version}`, token.gap === null ? null : `learner less engine ${token.gap.toExponential(1)}`];
    return h("span", { class: "token", title: about.filter(Boolean).join(", ") }, token.text);
  });
  const versions = [...new Set(found.map((token) => token.version))].sort((a, b) => a - b);
  const gaps = found.map((token) => Math.abs(token.gap ?? 0));
  const widest = Math.max(...gaps) || 1;
  const compared = found.some((token) => token.gap !== null);
  const paint = (by) => {
    found.forEach((token, k) => {
      let share = 0;
      if (by === "logprob" && token.logprob !== null) share = Math.min(1, -token.logprob / 4);
      if (by === "gap" && token.gap !== null) share = Math.min(1, Math.abs(token.gap) / widest);
      if (by === "advantage" && advantage) share = Math.min(1, Math.abs(advantage) / 2);
      if (by === "version" && versions.length > 1) share = 0.25 + (0.75 * versions.indexOf(token.version)) / (versions.length - 1);
      spans[k].style.setProperty("--share", `${Math.round(70 * share)}%`);
      spans[k].classList.toggle("against", by === "advantage" && advantage < 0);
    });
    const total = found.reduce((sum, token) => sum + (token.logprob ?? 0), 0);
    note.textContent = {
      logprob: `the more colour, the less likely; the sum is ${total.toFixed(2)} nats`,
      gap: compared ? `the more colour, the further learner and engine are apart, at most ${Math.max(...gaps).toExponential(1)} nats` : "the learner did not compare this turn",
      advantage: advantage ? `every token has the ${advantage} of its trajectory; 2 and more have the full colour` : "nothing to compare with",
      version: `versions ${versions.join(", ")}; the more colour, the newer`,
      none: "",
    }[by];
  };
  const choice = h("select", { "aria-label": "Colour tokens by" }, Object.entries(COLOURS).map(([value, text]) => h("option", { value }, text)));
  const note = h("span", { class: "note" });
  choice.addEventListener("change", () => paint(choice.value));
  paint("logprob");
  return [h("p", { class: "tools" }, choice, " ", note), h("pre", { class: "tokens", tabindex: 0 }, spans)];
}

/** The exact prompt: its text with the chat's own markers, and its images. */
async function prompt(step) {
  const parts = await json(turnAddress(step, "&prompt=1"));
  return parts.map((part) =>
    part.image
      ? h("p", { class: "prompt-image" }, h("img", { src: part.image, alt: "Screenshot in the prompt", loading: "lazy", decoding: "async" }), ` ${part.tokens} tokens`)
      : h("pre", { tabindex: 0 }, part.text.length > 20000 ? `${part.text.slice(0, 20000)} … (${part.text.length - 20000} more characters)` : part.text),
  );
}

for (const part of document.querySelectorAll("[data-tokens]")) onDemand(part, tokens);
for (const part of document.querySelectorAll("[data-prompt]")) onDemand(part, prompt);

/** The number of the step that the reader is at. */
const at = () => Math.max(0, steps.findIndex((step) => step.getBoundingClientRect().bottom > 120));

function go(index) {
  const step = steps[Math.max(0, Math.min(steps.length - 1, index))];
  if (!step) return;
  step.scrollIntoView({ block: "start" });
  step.focus({ preventScroll: true });
  history.replaceState(null, "", `#${step.id}`);
}

const KEYS = {
  j: () => go(at() + 1),
  k: () => go(at() - 1),
  n: () => $("a[rel=next]")?.click(),
  p: () => $("a[rel=prev]")?.click(),
  t: () => {
    const part = $("[data-tokens]", steps[at()]);
    if (part) part.open = !part.open;
  },
};
document.addEventListener("keydown", (event) => {
  if (!typing(event) && event.key in KEYS) {
    event.preventDefault();
    KEYS[event.key]();
  }
});
const links = new Map([...document.querySelectorAll(".filmstrip a")].map((link) => [link.hash.slice(1), link]));
const seen = new Set();
let here = null;
const watch = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting } of entries) isIntersecting ? seen.add(target) : seen.delete(target);
    const now = links.get(steps.find((step) => seen.has(step))?.id);
    if (!now || now === here) return;
    here?.removeAttribute("aria-current");
    now.setAttribute("aria-current", "step");
    now.parentElement.scrollLeft = now.offsetLeft - now.parentElement.clientWidth / 2;
    here = now;
  },
  { rootMargin: "-100px 0px -50% 0px" },
);
steps.forEach((step) => watch.observe(step));

const form = $("#note");
form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const said = $("[role=status]", form);
  try {
    const note = { text: form.elements.text.value, tags: form.elements.tags.value.split(",") };
    const kept = await json(address(run, `/note?id=${encodeURIComponent(id)}`), { method: "PUT", body: JSON.stringify(note) });
    form.elements.tags.value = kept.tags.join(", ");
    said.textContent = "kept";
  } catch (error) {
    said.textContent = error.message;
  }
});
enlarge();
