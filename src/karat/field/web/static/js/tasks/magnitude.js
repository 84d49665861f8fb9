/**
 * Magnitude estimation: a positive number, beside the reference sentence.
 *
 * A number is entered, shown again and then confirmed or changed, so that typing errors can be corrected.
 */

import { readNumber } from "../number.js";
import { element, page } from "../page.js";
import { legend } from "../points.js";
import { modulus, stimulus } from "../stimulus.js";
import { button } from "../trial.js";

/**
 * Build the page of a magnitude trial.
 *
 * @param {import("../trial.js").TrialPage} trialPage
 * @param {import("../session/client.js").Trial} trial
 */
export default async function magnitude(trialPage, trial) {
  const judged = await stimulus(trial.stimuli[0]);
  judged.id = "stimulus";
  const hint = element("p", { class: "hint", id: "hint" }, page.word("number_hint"));
  const error = element("p", { class: "error", id: "error", role: "alert" });
  const input = /** @type {HTMLInputElement} */ (
    element("input", {
      type: "text",
      id: "number",
      class: "number",
      inputmode: "decimal",
      autocomplete: "off",
      spellcheck: "false",
      maxlength: 20,
      dir: "ltr",
      "aria-describedby": "stimulus hint error",
    })
  );
  const label = element("label", { for: "number" }, page.word("number"));
  const check = element("p", { class: "check", role: "status" });
  const change = button(page.word("change"), "secondary");
  change.hidden = true;
  const fieldset = element("fieldset", { class: "scale" }, legend(trial), label, hint, input, error, check);
  if (trial.modulus) trialPage.section.append(modulus(trial.modulus));
  trialPage.section.append(judged, fieldset);
  trialPage.actions.append(change);
  input.value = trial.response ?? ""; // on a page to which the participant went back
  const entry = { input, error, check, change, trialPage };
  wire(entry);
}

/**
 * Enter reads the number, Enter again confirms it; the other button allows a change.
 *
 * @param {{input: HTMLInputElement, error: HTMLElement, check: HTMLElement, change: HTMLElement, trialPage: any}} entry
 */
function wire({ input, error, check, change, trialPage }) {
  const { next } = trialPage;
  next.hidden = false;
  let checking = false;
  const write = () => {
    checking = false;
    input.readOnly = false;
    change.hidden = true;
    check.textContent = "";
    next.textContent = page.word("next");
    input.focus();
    input.select();
  };
  const read = (event) => {
    const got = readNumber(input.value);
    error.textContent = "error" in got ? page.word(`number_${got.error}`) : "";
    input.setAttribute("aria-invalid", String("error" in got));
    if ("error" in got) {
      input.focus();
      return;
    }
    trialPage.choose(got.value, event);
    checking = true;
    input.readOnly = true;
    change.hidden = false;
    check.textContent = page.word("number_check", { value: got.value });
    next.textContent = page.word("confirm");
    next.focus();
  };
  const go = (event) => {
    if (!trialPage.accepts(event)) return;
    if (checking) trialPage.confirm(event);
    else read(event);
  };
  next.addEventListener("click", go);
  change.addEventListener("click", (event) => trialPage.accepts(event) && write());
  input.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    go(event);
  });
  // Participants can begin to type without focusing the field.
  trialPage.onKey((event) => {
    if (/^[\d.,]$/.test(event.key) && !checking && trialPage.accepts(event)) input.focus();
  });
}
