/**
 * A choice between two sentences, side by side, with "no difference" if the study offers it.
 */

import { tile, worded } from "../options.js";
import { element, page } from "../page.js";
import { legend } from "../points.js";
import { Radios, answerBy } from "../radios.js";
import { plain } from "../runs.js";
import { stimulus } from "../stimulus.js";

/**
 * Build the page of a choice between two sentences; the first is on the left (above on a narrow screen).
 *
 * @param {import("../trial.js").TrialPage} trialPage
 * @param {import("../session/client.js").Trial} trial
 * @param {any} scale
 */
export default async function choice(trialPage, trial, scale) {
  const sides = { left: 0, right: 1 };
  const tiles = [];
  for (const option of scale.points) {
    const side = trial.stimuli[sides[option.value]];
    if (side) {
      const sideTile = tile(option, await stimulus(side, "span"), "side");
      // A sentence names its button; a picture has no words, so its side does.
      tiles.push({ ...sideTile, name: plain(side.text) ? "" : `${page.word("picture")}, ${option.label}` });
    } else {
      tiles.push(tile(option, worded(option), "neither"));
    }
  }
  const radios = new Radios(tiles, trialPage);
  // Left is left in every language, because the sides are data.
  const group = element("div", { class: "options sides", dir: "ltr" }, ...radios.labels);
  for (const label of radios.labels) label.dir = page.direction;
  trialPage.section.append(element("fieldset", { class: "scale" }, legend(trial), group));
  answerBy(radios, trialPage);
}
