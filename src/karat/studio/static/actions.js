/** The buttons of the pages that start and stop jobs: preview, rehearsal, run, results, history. */

import { ask, attempt } from "./studio.js";

const work = document.querySelector("#work");
export const address = work.dataset.address;
const EVERY = 1000;

export async function act(path, body, { follow, wait, button } = {}) {
  const words = button?.textContent;
  if (button) button.disabled = true;
  if (button && wait) button.textContent = wait;
  try {
    const answer = await ask("POST", `${address}/${path}`, body);
    if (follow) location.assign((await answer.json()).address);
    else location.reload();
  } catch (error) {
    if (button) Object.assign(button, { disabled: false, textContent: words });
    throw error;
  }
}

for (const button of document.querySelectorAll("[data-act]")) {
  const { act: path, body, follow, wait, confirm: question } = button.dataset;
  button.addEventListener("click", () => {
    if (question && !confirm(question)) return;
    attempt(() => act(path, body, { follow: follow !== undefined, wait, button }));
  });
}
for (const form of document.querySelectorAll("[data-form-act]")) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const values = Object.fromEntries([...form.querySelectorAll("[data-number], [data-text]")].map((one) => [
      one.name,
      "number" in one.dataset ? Number(one.value) : one.value,
    ]));
    attempt(() => act(form.dataset.formAct, JSON.stringify(values), { button: event.submitter }));
  });
}

for (const button of document.querySelectorAll("[data-copy]")) {
  button.addEventListener("click", () => attempt(async () => {
    await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
    button.textContent = "Copied";
  }));
}

/** Wait for a rehearsal to end, then show its result. */
async function watch() {
  const job = await (await ask("GET", `${address}/rehearse/progress`)).json();
  if (!job.working) return location.reload();
  document.querySelector("#seconds").textContent = job.seconds;
  return setTimeout(() => attempt(watch), EVERY);
}
if (work.dataset.page === "rehearse" && "working" in work.dataset) attempt(watch);

/** Show the progress of a job of this page, and its result when it has ended. */
async function follow(box) {
  const job = await (await ask("GET", `${address}/jobs/${box.dataset.job}/progress`)).json();
  if (!job.working) return location.reload();
  box.querySelector("[data-seconds]").textContent = job.seconds;
  const percent = /(\d+) %/.exec(job.step);
  if (percent) box.querySelector("progress").value = Number(percent[1]);
  return setTimeout(() => attempt(() => follow(box)), EVERY);
}
for (const box of document.querySelectorAll("[data-job]")) attempt(() => follow(box));

const frame = document.querySelector("#frame");
for (const button of document.querySelectorAll("[data-frame]")) {
  button.addEventListener("click", () => {
    frame.className = `frame ${button.dataset.frame}-frame`;
    for (const other of document.querySelectorAll("[data-frame]")) other.setAttribute("aria-pressed", String(other === button));
  });
}
