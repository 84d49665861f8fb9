/**
 * A Likert scale: points from one end to the other, or a slider over them.
 */

import { element, page } from "../page.js";
import { endLabels, legend, pointRow } from "../points.js";
import { answerBy } from "../radios.js";
import { Slider } from "../slider.js";
import { stimulus } from "../stimulus.js";

/**
 * Build the page of a Likert trial.
 *
 * @param {import("../trial.js").TrialPage} trialPage
 * @param {import("../session/client.js").Trial} trial
 * @param {any} scale
 */
export default async function likert(trialPage, trial, scale) {
  const judged = await stimulus(trial.stimuli[0]);
  judged.id = "stimulus";
  const fieldset = element("fieldset", { class: "scale", "aria-describedby": "stimulus" }, legend(trial));
  const ends = scale.ends ?? ["", ""];
  if (scale.slider) {
    const name = scale.ends ? page.word("pair", { left: ends[0], right: ends[1] }) : page.word("judgment");
    const line = new Slider(scale, trialPage, name, ends);
    fieldset.append(line.row);
    line.onChoice = (value, event) => {
      trialPage.choose(value, event);
      trialPage.offerNext();
    };
    const confirm = (event) => line.value !== null && trialPage.accepts(event) && trialPage.confirm(event);
    line.onConfirm = confirm;
    trialPage.restore(line);
    trialPage.next.addEventListener("click", confirm);
  } else {
    const { radios, row } = pointRow(scale, trialPage, ends, true);
    fieldset.append(row);
    answerBy(radios, trialPage);
  }
  if (scale.ends) fieldset.append(endLabels(ends));
  trialPage.section.append(judged, fieldset);
}
