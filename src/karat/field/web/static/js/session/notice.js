/**
 * Messages besides the trials: that the connection is lost, that answers are being saved, that the page has stopped.
 *
 * The status line has a reserved place above the trial, so that nothing moves or is covered when it appears.
 */

import { element, page } from "../page.js";

const PATIENCE = 1000;

export class Notice {
  constructor() {
    this.line = element("p", { class: "state-line", role: "status" });
    document.body.append(this.line);
    this.offline = false;
    this.waiting = false;
  }

  /** @param {boolean} offline */
  setOffline(offline) {
    this.offline = offline;
    this.speak();
  }

  /**
   * Show a message if a promise takes longer than a moment.
   *
   * @template T
   * @param {Promise<T>} promise
   * @returns {Promise<T>}
   */
  async during(promise) {
    const timer = setTimeout(() => {
      this.waiting = true;
      this.speak();
    }, PATIENCE);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      this.waiting = false;
      this.speak();
    }
  }

  speak() {
    const offline = this.waiting ? "offline_wait" : "offline";
    const text = this.offline ? page.word(offline) : this.waiting ? page.word("saving") : "";
    if (this.line.textContent !== text) this.line.textContent = text;
    this.line.classList.toggle("shown", text !== "");
  }
}

/**
 * Replace the trials by a message.
 *
 * @param {string} text
 * @param {{label: string, act: () => void} | null} [button]
 */
export function replace(text, button = null) {
  const heading = element("h1", { class: "message", tabindex: -1 }, text);
  const parts = [heading];
  if (button) {
    const control = element("button", { type: "button", class: "button" }, button.label);
    control.addEventListener("click", button.act);
    parts.push(element("div", { class: "actions" }, control));
  }
  document.getElementById("trials").replaceChildren(...parts);
  heading.focus();
}
