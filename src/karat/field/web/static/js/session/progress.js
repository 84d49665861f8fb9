/**
 * The progress bar at the top, and the count of trials if the study asks for it.
 */

import { element, page } from "../page.js";

export class Progress {
  /** @param {string} kind "line", "count" or "none" */
  constructor(kind) {
    this.kind = kind;
    if (kind === "none") return;
    this.bar = element("span", { class: "progress-bar" });
    const range = { role: "progressbar", "aria-valuemin": 0, "aria-valuemax": 100 };
    this.line = element("div", { class: "progress", "aria-label": page.word("progress"), ...range }, this.bar);
    this.count = element("p", { class: "progress-count quiet" });
    const header = element("header", { class: "trial-header" }, this.line);
    if (kind === "count") header.append(this.count);
    document.getElementById("trials").before(header);
  }

  /** @param {import("./client.js").Trial} trial */
  show(trial) {
    if (this.kind === "none") return;
    const percent = Math.round(100 * (trial.done ?? 0));
    this.bar.style.setProperty("inline-size", `${percent}%`);
    this.line.setAttribute("aria-valuenow", String(percent));
    this.count.textContent = trial.number ? page.word("count", { number: trial.number, of: trial.of }) : "";
  }
}
