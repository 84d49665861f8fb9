/**
 * A group of radio buttons for pointer, digit or arrow keys.
 *
 * A pointer or a shortcut key chooses and, if the page allows it, answers at once. Arrow keys choose; Enter, or the space
 * bar on the chosen button, confirms. Each input covers its whole target, so that every click is an event of the input,
 * which shows whether a pointer or a key made it.
 */

import { element } from "./page.js";

let groups = 0;

export class Radios {
  /**
   * @param {{value: string, name: string, keys: string[], children: (Node | string)[], className: string}[]} options
   * @param {import("./trial.js").TrialPage} trialPage
   */
  constructor(options, trialPage) {
    this.page = trialPage;
    this.options = options;
    groups += 1;
    this.inputs = options.map(({ value, name }) => {
      const input = element("input", { type: "radio", name: `answer-${groups}`, value });
      if (name) input.setAttribute("aria-label", name);
      return /** @type {HTMLInputElement} */ (input);
    });
    this.labels = options.map(({ children, className }, index) =>
      element("label", { class: className }, this.inputs[index], ...children),
    );
    for (const input of this.inputs) {
      input.addEventListener("click", (event) => this.clicked(event, input));
      input.addEventListener("change", (event) => this.changed(event, input));
      input.addEventListener("keydown", (event) => this.pressed(event, input));
    }
    /** Called when an answer is chosen; `sure` if it needs no confirmation. */
    this.onChoice = (/** @type {string} */ _value, /** @type {Event} */ _event, /** @type {boolean} */ _sure) => {};
    /** Called when the choice is confirmed. */
    this.onConfirm = (/** @type {Event} */ _event) => {};
  }

  /** @returns {string | null} */
  get value() {
    return this.inputs.find((input) => input.checked)?.value ?? null;
  }

  /**
   * Show the earlier answer on a page to which the participant went back.
   *
   * @param {string | null | undefined} value
   * @returns {boolean} whether there is one
   */
  preset(value) {
    const before = this.inputs.find((input) => input.value === value);
    if (before) before.checked = true;
    return Boolean(before);
  }

  /** @param {MouseEvent} event @param {HTMLInputElement} input */
  clicked(event, input) {
    if (!this.page.accepts(event)) {
      event.preventDefault(); // This restores the earlier state of the button.
      return;
    }
    const byPointer = event.detail > 0 || Boolean(/** @type {PointerEvent} */ (event).pointerType);
    if (byPointer) this.onChoice(input.value, event, true);
    else this.chosen = event;
  }

  /** @param {Event} event @param {HTMLInputElement} input */
  changed(event, input) {
    if (this.chosen) this.onChoice(input.value, event, false);
    this.chosen = null;
  }

  /** @param {KeyboardEvent} event @param {HTMLInputElement} input */
  pressed(event, input) {
    const confirms = event.key === "Enter" ? this.value !== null : event.key === " " && input.checked;
    if (!confirms) return;
    event.preventDefault();
    if (this.page.accepts(event)) this.onConfirm(event);
  }

  /**
   * Answer by a shortcut key.
   *
   * @param {KeyboardEvent} event
   * @returns {boolean} whether the key means one of the options
   */
  key(event) {
    const index = this.options.findIndex((option) => option.keys.includes(event.key.toLowerCase()));
    if (index < 0 || event.shiftKey) return false;
    event.preventDefault();
    if (this.page.accepts(event)) {
      this.inputs[index].checked = true;
      this.onChoice(this.inputs[index].value, event, true);
    }
    return true;
  }

  /**
   * Enter the group by an arrow key that was pressed outside it.
   *
   * @param {KeyboardEvent} event
   */
  enter(event) {
    if (this.inputs.includes(/** @type {any} */ (document.activeElement))) return;
    const forwards = getComputedStyle(this.inputs[0]).direction === "rtl" ? "ArrowLeft" : "ArrowRight";
    if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
    event.preventDefault();
    if (!this.page.accepts(event)) return;
    const inputs = event.key === forwards ? this.inputs : [...this.inputs].reverse();
    const input = this.inputs.find((one) => one.checked) ?? inputs[0];
    input.focus();
    input.checked = true;
    this.onChoice(input.value, event, false);
  }
}

/**
 * Connect a single group to its page: sure choices answer at once, others wait for confirmation.
 *
 * @param {Radios} radios
 * @param {import("./trial.js").TrialPage} trialPage
 */
export function answerBy(radios, trialPage) {
  const confirm = (event) => radios.value !== null && trialPage.accepts(event) && trialPage.confirm(event);
  radios.onChoice = (value, event, sure) => {
    trialPage.choose(value, event);
    if (sure && trialPage.advances) trialPage.confirm(event);
    else trialPage.offerNext();
  };
  radios.onConfirm = confirm;
  trialPage.section.classList.toggle("advances", trialPage.advances);
  trialPage.next.addEventListener("click", confirm);
  trialPage.onKey((event) => radios.key(event) || radios.enter(event));
  trialPage.restore(radios);
}

/**
 * The keys of points: their values if all are digits, else their places.
 *
 * @param {string[]} values
 * @returns {string[][]}
 */
export function digits(values) {
  const digitsOnly = values.every((value) => /^(\d|10)$/.test(value));
  return values.map((value, index) => {
    const digit = digitsOnly ? value : String(index + 1);
    if (digit === "10") return values.includes("0") ? [] : ["0"];
    return digit.length === 1 ? [digit] : [];
  });
}
