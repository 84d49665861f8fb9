/**
 * A few options to choose from: yes or no, or one of several labels.
 */

import { element } from "./page.js";
import { legend } from "./points.js";
import { Radios, answerBy } from "./radios.js";
import { stimulus } from "./stimulus.js";

/**
 * An option with the key that chooses it.
 *
 * @param {{value: string, label: string, key?: string}} option
 * @param {Node} content
 * @param {string} className
 */
export function tile(option, content, className) {
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
export function worded(option) {
  return element("span", { class: "option-label" }, option.label);
}

/**
 * Build the page of a yes/no or label trial.
 *
 * @param {import("./trial.js").TrialPage} trialPage
 * @param {import("./session/client.js").Trial} trial
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
