/**
 * A slider that starts unset: a hollow thumb in the middle, which is no answer until it is moved, clicked or set by key.
 */

import { element, page } from "./page.js";
import { pointName } from "./point_name.js";

export class Slider {
  /**
   * @param {any} scale
   * @param {import("./trial.js").TrialPage} trialPage
   * @param {string} name
   * @param {string[]} ends
   */
  constructor(scale, trialPage, name, ends) {
    this.scale = scale;
    this.page = trialPage;
    const last = scale.points.length - 1;
    this.input = /** @type {HTMLInputElement} */ (
      element("input", { type: "range", class: "slider unset", min: 0, max: last, step: 1, "aria-label": name })
    );
    this.input.value = String(last / 2);
    this.input.setAttribute("aria-valuetext", page.word("slider_unset"));
    this.row = element("div", { class: "slider-row" }, this.input);
    this.set = false;
    /** @type {string | null} the last reported value */
    this.chosen = null;
    this.input.addEventListener("input", (event) => this.moved(event));
    this.input.addEventListener("click", (event) => this.moved(event)); // A click on the thumb moves nothing.
    this.input.addEventListener("keydown", (event) => this.pressed(event));
    /** The name of a point for screen readers. */
    this.say = (/** @type {number} */ index) => pointName(index, scale, ends);
    this.onChoice = (/** @type {string} */ _value, /** @type {Event} */ _event) => {};
    this.onConfirm = (/** @type {Event} */ _event) => {};
  }

  /** @returns {string | null} */
  get value() {
    return this.set ? this.scale.points[Math.round(Number(this.input.value))].value : null;
  }

  /** @param {Event} event */
  moved(event) {
    if (!this.page.accepts(/** @type {any} */ (event))) {
      if (!this.set) this.input.value = String((this.scale.points.length - 1) / 2);
      return;
    }
    this.show();
    if (this.value === this.chosen) return;
    this.chosen = this.value;
    this.onChoice(this.value, event);
  }

  /** Show that the position of the thumb is the answer. */
  show() {
    this.set = true;
    this.input.classList.remove("unset");
    this.input.setAttribute("aria-valuetext", this.say(Math.round(Number(this.input.value))));
  }

  /**
   * Show the earlier answer on a page to which the participant went back.
   *
   * @param {string | null | undefined} value
   * @returns {boolean} whether there is one
   */
  preset(value) {
    const index = this.scale.points.findIndex((point) => point.value === value);
    if (index < 0) return false;
    this.input.value = String(index);
    this.chosen = value;
    this.show();
    return true;
  }

  /** @param {KeyboardEvent} event */
  pressed(event) {
    if (event.key === " " || event.key === "Enter") {
      event.preventDefault();
      if (this.set) this.onConfirm(event);
      else if (event.key === " ") this.moved(event);
    }
  }
}
