/**
 * Magnitude estimation: a positive number, beside the sentence that numbers are compared with.
 *
 * A number is entered, shown once more and then confirmed or changed, so that a slip of the finger can be undone.
 */

import { element, page } from "./page.js";
import { legend } from "./points.js";
import { modulus, stimulus } from "./stimulus.js";
import { button } from "./trial.js";

/**
 * Read a number as people write it: with a decimal comma or point, in any script's digits.
 *
 * A group of three digits after a separator (1.000 or 1,000) may be a thousand or one, and is asked for again.
 *
 * @param {string} text
 * @returns {{value: string} | {error: "empty" | "invalid" | "positive" | "separator"}}
 */
export function readNumber(text) {
  const latin = text.trim().replace(/\p{Nd}/gu, digitOf).replace(/٫/g, ".");
  if (latin === "") return { error: "empty" };
  if (/^[1-9]\d{0,2}([.,٬' \u00a0\u202f]\d{3})+([.,]\d+)?$/.test(latin)) return { error: "separator" };
  if (!/^[+-]?(\d+([.,]\d*)?|[.,]\d+)$/.test(latin)) return { error: "invalid" };
  const value = Number(latin.replace(",", "."));
  if (!(value > 0)) return { error: "positive" };
  // Plain digits, never an exponent: the server reads what a person would write.
  const plainly = latin.replace(",", ".").replace(/^\+/, "").replace(/\.$/, "").replace(/^\./, "0.");
  return { value: plainly.replace(/^0+(?=\d)/, "") };
}

/** @param {string} character a decimal digit of any script */
function digitOf(character) {
  if (/[0-9]/.test(character)) return character;
  // The digits of a script stand in a row in Unicode, so that the zero is the last of its kind going down.
  let code = character.codePointAt(0);
  let digit = 0;
  while (digit < 9 && /\p{Nd}/u.test(String.fromCodePoint(code - 1))) {
    code -= 1;
    digit += 1;
  }
  return String(digit);
}

/**
 * Build the page of a magnitude trial.
 *
 * @param {import("./trial.js").TrialPage} trialPage
 * @param {import("./client.js").Trial} trial
 */
export async function number(trialPage, trial) {
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
  const entry = { input, error, check, change, trialPage };
  wire(entry);
}

/**
 * Enter reads the number, Enter again confirms it; the other button goes back to writing.
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
  // Who begins to type has read the sentence and need not look for the field.
  trialPage.onKey((event) => {
    if (/^[\d.,]$/.test(event.key) && !checking && trialPage.accepts(event)) input.focus();
  });
}
