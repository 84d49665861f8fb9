/**
 * Runs the trial page of a study without a server. The trials are in the page, answers stay in memory, and nothing is
 * stored or sent. At the end, the answers are shown beside those of simulated participants.
 */

import { element } from "./js/page.js";

/** @type {any} */
const demo = JSON.parse(document.getElementById("karat-demo").textContent);
const main = document.getElementById("trials");
const labels = demo.scales.s1.points.map((point) => point.label);
/** The answers by trial. @type {Map<string, {response: string, rt: number}>} */
const given = new Map();

/** The trials that are not answered yet, as the server would send them. @param {string[]} have */
function ahead(have) {
  const left = demo.trials.filter((trial) => !given.has(trial.id));
  const trials = left.filter((trial) => !have.includes(trial.id));
  return { step: left.length > 0 ? "trials" : "comment", trials, scales: demo.scales, going_back: false, previous: null };
}

/** Stands in for the server. */
globalThis.fetch = async (_address, { body = null } = {}) => {
  const asked = body ? JSON.parse(body) : { answers: [], have: [] };
  for (const answer of asked.answers) given.set(answer.trial, answer);
  const saved = asked.answers.map((answer) => answer.key);
  return new Response(JSON.stringify({ saved, refused: [], ...ahead(asked.have) }));
};
Object.defineProperty(window, "localStorage", { value: null });

/** @param {string} label @param {() => void} act */
function button(label, act) {
  const made = element("button", { type: "button", class: "button" }, label);
  made.addEventListener("click", act);
  return element("div", { class: "actions" }, made);
}

function welcome() {
  const start = async () => {
    main.replaceChildren();
    main.dataset.session = crypto.randomUUID();
    await import("./js/main.js");
  };
  main.append(
    element("h1", {}, "Take part in a study"),
    element("p", {}, "Rate six sentences. There are no right or wrong answers: give your first impression."),
    element("p", { class: "quiet" }, "Your answers stay on this page. Nothing is stored or sent."),
    button("Start", start),
  );
}

/** How one sentence was answered: a bar for each point of the scale, and yours marked. @param {any} trial */
function sentence(trial) {
  const counts = demo.counts[trial.id];
  const mine = Number(given.get(trial.id).response);
  const most = Math.max(...counts);
  const bars = counts.map((count, place) => {
    const bar = element("span", { class: "bar" });
    bar.style.setProperty("block-size", `${(4 * count) / most}rem`);
    const own = place + 1 === mine;
    const point = element("span", { class: "point" }, own ? "you" : String(place + 1));
    return element("li", { class: own ? "own" : "", title: labels[place] }, element("span", {}, String(count)), bar, point);
  });
  const near = counts.filter((_, place) => Math.abs(place + 1 - mine) <= 1).reduce((sum, count) => sum + count, 0);
  const text = trial.stimuli[0].text.flat().map((run) => run.t).join("");
  return element(
    "section",
    { class: "beside" },
    element("h2", { class: "sentence" }, text),
    element("ol", { class: "bars" }, ...bars),
    element("p", { class: "quiet" }, `You: ${labels[mine - 1]}. ${near} of ${demo.participants} were within one point of you.`),
  );
}

function answers() {
  const times = [...given.values()].map((answer) => answer.rt).sort((a, b) => a - b);
  const median = (times[2] + times[3]) / 2;
  const heading = element("h1", { tabindex: -1 }, `Your answers and those of ${demo.participants} simulated participants`);
  document.querySelector(".trial-header")?.remove();
  main.replaceChildren(
    heading,
    element(
      "p",
      {},
      `Each bar counts the simulated participants who chose that point, from 1 (${labels[0]}) to 5 (${labels.at(-1)}). ` +
        `You took ${median.toFixed(1)} s per sentence, they took ${demo.seconds.toFixed(1)} s (medians). ` +
        `${demo.careless} of the ${demo.participants} answer carelessly. The report shows which of them karat finds.`,
    ),
    ...demo.trials.map(sentence),
    button("Start again", () => {
      history.replaceState(null, "", location.pathname);
      location.reload();
    }),
  );
  heading.focus();
}

window.addEventListener("hashchange", () => location.hash === "#answers" && given.size === demo.trials.length && answers());
if (location.hash) history.replaceState(null, "", location.pathname);
welcome();
