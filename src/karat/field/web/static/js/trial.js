/**
 * The base of all tasks: a page is built, painted, takes input and closes with a record.
 *
 * Input in the first 150 ms after the onset cannot be an answer to the stimulus, and neither can the second half of a
 * double click. Both are ignored and reported.
 */

import { epoch, paint } from "./clock.js";
import { element, page } from "./page.js";
import { context } from "./stimulus.js";

const TOO_SOON = 150;
const DOUBLE_CLICK = 400;
/** How long the chosen answer stays in view, in milliseconds. */
const SHOWN_CHOICE = 120;

export class TrialPage {
  /**
   * @param {HTMLElement} display
   * @param {import("./session/client.js").Trial} trial
   */
  constructor(display, trial) {
    this.display = display;
    this.trial = trial;
    this.onset = NaN;
    this.open = false;
    /** @type {string | null} */
    this.first = null;
    /** @type {number | null} */
    this.firstTime = null;
    /** @type {string | null} */
    this.last = null;
    this.lastTime = NaN;
    this.changes = 0;
    this.finished = new Promise((resolve) => (this.resolve = resolve));
    this.keys = new AbortController();
    this.heading = element("h1", { class: "visually-hidden", tabindex: -1 }, headingOf(trial));
    this.section = element("section", { class: `trial task-${trial.task ?? trial.kind}` }, this.heading);
    this.section.addEventListener("pointermove", (event) => this.pointed(event));
    if (trial.practice) this.section.append(element("p", { class: "quiet practice" }, page.word("practice")));
    const before = context(trial);
    if (before) this.section.append(before);
    // Text for programs only: invisible, not focusable or selectable, and not in the accessibility tree.
    if (trial.aside) this.section.append(element("span", { class: "aside", "aria-hidden": "true", inert: "" }, trial.aside));
    this.next = button(page.word("next"), "next");
    this.next.hidden = true;
    this.actions = element("div", { class: "actions" }, this.next);
    if (page.goingBack && page.hasPrevious()) {
      const back = button(page.word("back"), "secondary back");
      back.addEventListener("click", (event) => this.accepts(event) && this.close({ back: true }));
      this.actions.prepend(back);
    }
  }

  /**
   * Highlight what is under the pointer, but only from its first movement on.
   *
   * @param {PointerEvent} event
   */
  pointed(event) {
    if (event.movementX || event.movementY) this.section.classList.add("pointed");
  }

  /** Whether a choice is the answer; otherwise the button confirms it. */
  get advances() {
    return !page.goingBack;
  }

  /** Paint the page and take input from then on. */
  async show() {
    this.section.append(this.actions);
    this.onset = await paint(() => {
      this.display.append(this.section);
      this.heading.focus({ preventScroll: true });
      window.scrollTo(0, 0);
      page.watch?.begin();
    });
    this.open = true;
  }

  /**
   * Whether an event may act on this page.
   *
   * @param {UIEvent} event
   * @returns {boolean}
   */
  accepts(event) {
    if (!this.open || /** @type {KeyboardEvent} */ (event).repeat) return false;
    const after = event.timeStamp - this.onset;
    const soon = after < TOO_SOON || (event.detail > 1 && this.first === null && after < DOUBLE_CLICK);
    if (soon) page.watch?.fast(after / 1000, true);
    return !soon;
  }

  /**
   * Handle keys while this page is shown and has the focus outside of text fields.
   *
   * @param {(event: KeyboardEvent) => void} act
   */
  onKey(act) {
    const listener = (event) => {
      const { target } = event;
      const elsewhere = target !== document.body && !document.getElementById("trials")?.contains(target);
      const writing = target.matches?.("input[type=text], textarea, select");
      if (elsewhere || writing || event.ctrlKey || event.altKey || event.metaKey) return;
      act(event);
    };
    document.addEventListener("keydown", listener, { signal: this.keys.signal });
  }

  /**
   * Record a choice, which may still change.
   *
   * @param {string} response
   * @param {Event} event
   */
  choose(response, event) {
    if (this.first === null) {
      this.first = response;
      this.firstTime = event.timeStamp;
      page.watch?.fast((event.timeStamp - this.onset) / 1000, false);
    } else if (response !== this.last) {
      this.changes += 1;
    }
    this.last = response;
    this.lastTime = event.timeStamp;
  }

  /**
   * On a page to which the participant went back, show the answer and offer to confirm it.
   *
   * @param {{preset: (value: string | null | undefined) => boolean}} control
   */
  restore(control) {
    if (!control.preset(this.trial.response)) return;
    this.last = this.trial.response;
    this.offerNext();
  }

  /** Offer the button that confirms. */
  offerNext() {
    this.next.hidden = false;
  }

  /**
   * Confirm the choice and close the page.
   *
   * @param {Event} event
   * @param {object} [more]  further fields of the answer
   */
  confirm(event, more = {}) {
    this.close({ answer: this.record(event, more) });
  }

  /**
   * The answer for the server.
   *
   * @param {Event} event
   * @param {object} more
   */
  record(event, more) {
    const time = Number.isNaN(this.lastTime) ? event.timeStamp : this.lastTime;
    return {
      trial: this.trial.id,
      response: this.last,
      responses: null,
      rt: seconds(time - this.onset),
      rts: null,
      first_response: this.first,
      first_rt: this.firstTime === null ? null : seconds(this.firstTime - this.onset),
      changes: this.changes,
      shown_at: epoch(this.onset),
      answered_at: epoch(event.timeStamp),
      ...page.watch?.end(),
      ...more,
    };
  }

  /** @param {object} result */
  async close(result) {
    if (!this.open) return;
    this.open = false;
    this.keys.abort();
    if (!result.back && this.advances) await new Promise((resolve) => setTimeout(resolve, SHOWN_CHOICE));
    this.resolve(result);
  }
}

/**
 * Milliseconds as seconds, to the tenth of a millisecond; at most a day, because a computer may sleep meanwhile.
 *
 * @param {number} milliseconds
 * @returns {number}
 */
export function seconds(milliseconds) {
  return Math.min(86_400, Math.max(0, Math.round(milliseconds * 10) / 10_000));
}

/**
 * @param {string} text
 * @param {string} [kind]
 * @returns {HTMLButtonElement}
 */
export function button(text, kind = "") {
  return /** @type {HTMLButtonElement} */ (element("button", { type: "button", class: `button ${kind}` }, text));
}

/** @param {import("./session/client.js").Trial} trial */
function headingOf(trial) {
  if (trial.kind === "break") return page.word("break");
  if (trial.kind === "text") return page.word("text");
  if (trial.number && trial.of) return page.word("heading_number", { number: trial.number, of: trial.of });
  return page.word("heading");
}
