/**
 * Pages without an answer: a break, a text to read, and the feedback on a practice trial.
 */

import { element, page } from "../page.js";
import { write } from "../runs.js";

/**
 * Build a page of text that is left by its button or by Enter.
 *
 * @param {import("../trial.js").TrialPage} trialPage
 * @param {import("./client.js").Trial} trial
 */
export function pause(trialPage, trial) {
  trialPage.heading.classList.remove("visually-hidden");
  trialPage.section.append(write(element("div", { class: "prose" }), trial.text));
  trialPage.next.textContent = page.word("continue");
  trialPage.offerNext();
  const leave = (event) => trialPage.accepts(event) && trialPage.confirm(event);
  trialPage.next.addEventListener("click", leave);
  trialPage.onKey((event) => {
    if (event.key !== "Enter" || event.target.matches?.("button, a")) return;
    event.preventDefault();
    leave(event);
  });
}

/**
 * Build the page with the feedback on a practice trial. It is no trial, so nothing is sent.
 *
 * @param {import("../trial.js").TrialPage} trialPage
 * @param {import("./client.js").Trial} trial
 */
export function feedback(trialPage, trial) {
  trialPage.heading.textContent = page.word("feedback");
  pause(trialPage, { ...trial, text: trial.feedback });
}
