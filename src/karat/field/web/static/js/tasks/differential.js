/**
 * A semantic differential: one sentence, several pairs of opposite words, each a line of its own.
 */

import { element, page } from "../page.js";
import { legend, pointRow } from "../points.js";
import { plain, write } from "../runs.js";
import { Slider } from "../slider.js";
import { stimulus } from "../stimulus.js";
import { seconds } from "../trial.js";
import { plural } from "../words.js";

/** The longest sentence that takes at most a quarter of a small screen. */
const LONGEST_TO_STAY = 120;

/**
 * Build one line.
 *
 * @param {{id: string, left: any, right: any}} question
 * @param {any} scale
 * @param {import("../trial.js").TrialPage} trialPage
 */
function line(question, scale, trialPage) {
  const ends = [plain(question.left), plain(question.right)];
  const name = page.word("pair", { left: ends[0], right: ends[1] });
  const pole = (runs, side) =>
    write(element("span", { class: `pole ${side}`, "aria-hidden": "true", lang: page.language }), runs);
  const [left, right] = [pole(question.left, "start"), pole(question.right, "end")];
  const legendOfLine = element("legend", { class: "visually-hidden" }, name);
  const fieldset = element("fieldset", { class: "pair" }, legendOfLine);
  if (scale.slider) {
    const line = new Slider(scale, trialPage, name, ends);
    fieldset.append(element("div", { class: "pair-line" }, left, line.row, right));
    return { id: question.id, control: line, fieldset, first: line.input, keys: null };
  }
  const { radios, row } = pointRow(scale, trialPage, ends, false);
  fieldset.append(element("div", { class: "pair-line" }, left, row, right));
  return { id: question.id, control: radios, fieldset, first: radios.inputs[0], keys: radios };
}

/**
 * Build the page of a differential.
 *
 * @param {import("../trial.js").TrialPage} trialPage
 * @param {import("../session/client.js").Trial} trial
 * @param {any} scale
 */
export default async function differential(trialPage, trial, scale) {
  const judged = await stimulus(trial.stimuli[0]);
  judged.id = "stimulus";
  // A long text or a picture would cover the pairs on a phone.
  judged.classList.toggle("stays", !trial.stimuli[0].image && (judged.textContent ?? "").length <= LONGEST_TO_STAY);
  const lines = trial.questions.map((question) => line(question, scale, trialPage));
  const error = element("p", { class: "error", id: "missing", role: "alert" });
  const pairs = element("div", { class: "pairs" }, ...lines.map(({ fieldset }) => fieldset));
  const group = element("fieldset", { class: "scale", "aria-describedby": "stimulus" }, legend(trial), pairs, error);
  trialPage.section.append(judged, group);
  trialPage.offerNext();
  wire(trialPage, lines, error);
}

/**
 * @param {import("../trial.js").TrialPage} trialPage
 * @param {ReturnType<typeof line>[]} lines
 * @param {HTMLElement} error
 */
function wire(trialPage, lines, error) {
  /** The choice on each line, and its time after the onset. */
  const chosen = new Map();
  const times = new Map();
  const confirm = (event) => {
    if (!trialPage.accepts(event)) return;
    const missing = lines.filter(({ id }) => !chosen.has(id));
    lines.forEach(({ id, fieldset }) => fieldset.classList.toggle("missing", !chosen.has(id)));
    if (missing.length > 0) {
      const key = plural("missing_one", "missing_many", missing.length, page.word);
      error.textContent = page.word(key, { count: missing.length });
      missing[0].first.focus();
      return;
    }
    const responses = Object.fromEntries(chosen);
    trialPage.confirm(event, { response: null, first_response: null, responses, rts: Object.fromEntries(times) });
  };
  lines.forEach((one, index) => {
    const before = trialPage.trial.responses?.[one.id]; // on a page to which the participant went back
    if (one.control.preset(before)) chosen.set(one.id, before);
    one.control.onChoice = (value, event) => {
      if (chosen.has(one.id) && chosen.get(one.id) !== value) trialPage.changes += 1;
      chosen.set(one.id, value);
      times.set(one.id, seconds(event.timeStamp - trialPage.onset));
      note(trialPage, event);
      one.fieldset.classList.remove("missing");
      if (error.textContent && chosen.size === lines.length) error.textContent = "";
      if (event.type === "keydown") lines[index + 1]?.first.focus(); // A digit goes on to the next line.
    };
    one.control.onConfirm = confirm;
  });
  trialPage.next.addEventListener("click", confirm);
  trialPage.onKey((event) => {
    const here = lines.find(({ fieldset }) => fieldset.contains(document.activeElement));
    const line = here ?? lines.find(({ id }) => !chosen.has(id));
    line?.keys?.key(event);
  });
}

/**
 * Record the times of the first and the last choice on the page.
 *
 * @param {import("../trial.js").TrialPage} trialPage
 * @param {Event} event
 */
function note(trialPage, event) {
  if (trialPage.firstTime === null) {
    trialPage.firstTime = event.timeStamp;
    page.watch?.fast((event.timeStamp - trialPage.onset) / 1000, false);
  }
  trialPage.lastTime = event.timeStamp;
}
