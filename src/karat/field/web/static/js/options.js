/**
 * A few options to choose from: yes or no, one of several labels, or one of two sentences.
 */

import { element, page } from "./page.js";
import { legend } from "./points.js";
import { Radios, answerBy } from "./radios.js";
import { plain } from "./runs.js";
import { stimulus } from "./stimulus.js";

/**
 * An option with the key that chooses it.
 *
 * @param {{value: string, label: string, key?: string}} option
 * @param {Node} content
 * @param {string} className
 */
function tile(option, content, className) {
  const hint = option.key ? [element("kbd", { "aria-hidden": "true" }, option.key)] : [];
  const mark = element("span", { class: "mark", "aria-hidden": "true" });
  return {
    value: option.value,
    name: "",
    keys: option.key ? [option.key.toLowerCase()] : [],
    children: [mark, content, ...hint],
    className: `option ${className}`,
  };
}

/** @param {{label: string}} option */
function worded(option) {
  return element("span", { class: "option-label" }, option.label);
}

/**
 * Build the page of a yes/no or label trial.
 *
 * @param {import("./trial.js").TrialPage} trialPage
 * @param {import("./client.js").Trial} trial
 * @param {any} scale
 */
export async function options(trialPage, trial, scale) {
  const judged = await stimulus(trial.stimuli[0]);
  judged.id = "stimulus";
  const radios = new Radios(
    scale.points.map((option) => tile(option, worded(option), "")),
    trialPage,
  );
  const group = element("div", { class: scale.points.length > 3 ? "options many" : "options" }, ...radios.labels);
  const fieldset = element("fieldset", { class: "scale", "aria-describedby": "stimulus" }, legend(trial), group);
  answerBy(radios, trialPage);
  trialPage.section.append(judged, fieldset);
}

/**
 * Build the page of a choice between two sentences; the first stands left (on a narrow screen above).
 *
 * @param {import("./trial.js").TrialPage} trialPage
 * @param {import("./client.js").Trial} trial
 * @param {any} scale
 */
export async function choice(trialPage, trial, scale) {
  const sides = { left: 0, right: 1 };
  const tiles = [];
  for (const option of scale.points) {
    const side = trial.stimuli[sides[option.value]];
    if (side) {
      const made = tile(option, await stimulus(side, "span"), "side");
      // A sentence names its own button; a picture has no words, so the side names it.
      tiles.push({ ...made, name: plain(side.text) ? "" : `${page.word("picture")}, ${option.label}` });
    } else {
      tiles.push(tile(option, worded(option), "neither"));
    }
  }
  const radios = new Radios(tiles, trialPage);
  // Left is left in every language, for the sides are data.
  const group = element("div", { class: "options sides", dir: "ltr" }, ...radios.labels);
  for (const label of radios.labels) label.dir = page.direction;
  trialPage.section.append(element("fieldset", { class: "scale" }, legend(trial), group));
  answerBy(radios, trialPage);
}
