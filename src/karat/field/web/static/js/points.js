/**
 * Points from one end to the other: a Likert scale, or one line of a semantic differential, as radio buttons.
 */

import { element, page } from "./page.js";
import { endOf, labelOf, pointName } from "./point_name.js";
import { Radios, digits } from "./radios.js";
import { write } from "./runs.js";

/**
 * Radio buttons for the points of a scale.
 *
 * @param {any} scale
 * @param {import("./trial.js").TrialPage} trialPage
 * @param {string[]} ends  as text, for the names
 * @param {boolean} numbered  whether the button shows the value
 * @returns {{radios: Radios, row: HTMLElement}}
 */
export function pointRow(scale, trialPage, ends, numbered) {
  const keys = digits(scale.points.map((point) => point.value));
  const labels = scale.points.map(labelOf);
  const labelled = labels.every(Boolean);
  const options = scale.points.map((point, index) => {
    const mark = element("span", { class: "mark", "aria-hidden": "true" }, numbered && !labelled ? point.value : "");
    const end = labels[index] ? "" : endOf(index, scale, ends);
    const texts = [wording("point-label", labels[index]), wording("end-label", end)];
    return {
      value: point.value,
      name: pointName(index, scale, ends),
      keys: keys[index],
      children: [mark, ...texts].filter(Boolean),
      className: "point",
    };
  });
  const radios = new Radios(options, trialPage);
  const row = element("div", { class: labelled ? "points labelled" : "points" }, ...radios.labels);
  row.style.setProperty("--count", String(scale.points.length));
  if (scale.colours) tint(row, radios.labels);
  return { radios, row };
}

/**
 * A visible label of a point; screen readers read it in the name of the point.
 *
 * @param {string} className
 * @param {string} text
 */
function wording(className, text) {
  return text ? element("span", { class: className, "aria-hidden": "true" }, text) : null;
}

/**
 * Set the share of each point's colour between the ends; CSS mixes the colours.
 *
 * @param {HTMLElement} row
 * @param {HTMLElement[]} labels
 */
function tint(row, labels) {
  row.classList.add("coloured");
  labels.forEach((label, index) => label.style.setProperty("--share", `${(100 * index) / (labels.length - 1)}%`));
}

/**
 * The labels of both ends of a scale, above or below it. Screen readers read them with the points.
 *
 * @param {string[]} ends
 * @returns {HTMLElement}
 */
export function endLabels(ends) {
  const side = (text) => element("span", {}, text);
  return element("div", { class: "ends", "aria-hidden": "true" }, ...ends.map(side));
}

/**
 * The question of a trial as the legend of its answers.
 *
 * @param {import("./session/client.js").Trial} trial
 * @returns {HTMLElement}
 */
export function legend(trial) {
  if (trial.prompt) return write(element("legend", { class: "prompt" }), trial.prompt);
  return element("legend", { class: "visually-hidden" }, page.word("judgment"));
}
