/** The page of a drop: accepts files, sends corrections, and shows the progress and the results. */

import { chosen, dropped } from "./files.js";
import { stay } from "./presence.js";

export const base = document.documentElement.dataset.base;
const CLOSED = "karat is closed. Saved studies are still in their folder; dropped results are deleted. Start it again with karat open.";
const UNSAVED = "Copy what you have not saved from this page first.";
const EVERY = 500;

/** A number with its word. */
export const counted = (number, word) => `${number.toLocaleString("en")} ${word}${number === 1 ? "" : "s"}`;

/** Make an element with properties and children. */
export function make(kind, properties = {}, ...children) {
  const node = Object.assign(document.createElement(kind), properties);
  node.append(...children);
  return node;
}

/** Show an error at the top of the page. */
export function complain(sentence) {
  const problem = document.querySelector("#problem");
  const unsaved = sentence === CLOSED && document.querySelector("#save:enabled");
  problem.hidden = !sentence;
  problem.querySelector("p").textContent = unsaved ? `${sentence} ${UNSAVED}` : (sentence ?? "");
  if (sentence) problem.scrollIntoView({ block: "nearest" });
}

/** Send a request; a refusal becomes an error with the server's sentence. */
export async function ask(method, address, body, type = "application/json") {
  const headers = body === undefined ? {} : { "Content-Type": type };
  let answer;
  try {
    answer = await fetch(address, { method, headers, body });
  } catch {
    throw new Error(CLOSED);
  }
  if (!answer.ok) {
    const data = await answer.json().catch(() => ({}));
    throw Object.assign(new Error(data.error ?? CLOSED), { conflict: data.conflict });
  }
  return answer;
}

/** Run a function and show its error. */
export async function attempt(work) {
  complain();
  try {
    await work();
  } catch (error) {
    complain(error.message);
  }
}

/** Send files to their case, or to a new one, and have them read with these choices. */
async function take(drop, files, wanted) {
  if (!files.length) return;
  const paths = new Set();
  for (const { path } of files) {
    // One would silently replace the other.
    if (paths.has(path)) throw new Error(`Two of these files are called ${path}. Drop their folders, or rename one.`);
    paths.add(path);
  }
  const status = drop.querySelector("[data-status]");
  let address = drop.dataset.address;
  if (!address) address = (await (await ask("POST", `${base}/cases`)).json()).address;
  try {
    for (const [number, { path, file }] of files.entries()) {
      status.textContent = `Copying ${number + 1} of ${files.length}: ${path}`;
      const name = path.split("/").map(encodeURIComponent).join("/");
      await ask("PUT", `${address}/files/${name}`, file, "application/octet-stream");
    }
  } catch (error) {
    status.textContent = "";
    if (!drop.dataset.address) await ask("POST", `${address}/delete`);
    throw error;
  }
  await ask("POST", `${address}/look`, wanted && JSON.stringify(wanted));
  if (drop.dataset.address) await refresh();
  else location.assign(address);
}

/** The values of the form for the server. */
function choices(form) {
  const data = { mapping: {}, scales: {} };
  for (const select of form.querySelectorAll("[data-map]")) data.mapping[select.dataset.map] = select.value;
  for (const { dataset, value } of form.querySelectorAll("[data-upto]")) {
    const ends = [data.mapping[dataset.upto], value].filter(Boolean);
    data.mapping[dataset.upto] = ends.join("..");
  }
  for (const row of form.querySelectorAll("[data-question]")) {
    const kind = row.querySelector("[data-kind]").value;
    const rest = row.querySelector("[data-rest]").value.trim();
    if (kind) data.scales[row.dataset.question] = rest ? `${kind}:${rest}` : kind;
  }
  const column = document.querySelector("#sentence-column");
  if (column) data.sentence = column.value;
  for (const field of form.querySelectorAll("[data-choice]")) {
    data[field.dataset.choice] = field.type === "checkbox" ? field.checked : field.value.trim();
  }
  return data;
}

/** The answers to karat's questions: the chosen proposals or other columns. */
function answers(form) {
  const data = { answered: {} };
  for (const question of form.querySelectorAll("[data-asked]")) {
    const chosen = question.querySelector("input:checked");
    if ("other" in chosen.dataset) {
      data.answered[question.dataset.asked] = question.querySelector("[data-column]").value;
    } else {
      Object.assign(data.answered, JSON.parse(chosen.dataset.mapping));
      Object.assign(data, JSON.parse(chosen.dataset.options));
    }
  }
  return data;
}

/** Replace the page of the case by its current state. */
async function refresh() {
  const shown = document.querySelector("#case");
  const answer = await fetch(shown.dataset.address, { headers: { Accept: "text/html" } });
  if (!answer.ok) throw new Error(CLOSED);
  const wanted = new DOMParser().parseFromString(await answer.text(), "text/html");
  shown.replaceWith(document.adoptNode(wanted.querySelector("#case")));
  document.title = wanted.title;
  prepare();
  const heading = document.querySelector("#case h1");
  heading.focus({ preventScroll: true });
  heading.scrollIntoView({ block: "nearest" });
}

/** Show the progress of the job, then its result. */
async function watch(shown) {
  const data = await (await ask("GET", `${shown.dataset.address}/progress`)).json();
  if (!data.working) return refresh();
  const step = shown.querySelector("#step");
  if (step.textContent !== data.step) step.textContent = data.step;
  shown.querySelector("#seconds").textContent = data.seconds;
  const done = shown.querySelector("#done");
  for (const { step: words, seconds } of data.done.slice(done.children.length)) {
    done.append(make("li", { textContent: seconds ? `${words}: ${seconds} s` : words }));
  }
  return setTimeout(() => shown.isConnected && attempt(() => watch(shown)), EVERY);
}

const SENDS = {
  stop: (address) => ask("POST", `${address}/stop`),
  delete: async (address) => {
    await ask("POST", `${address}/delete`);
    location.assign(`${base}/`);
  },
  keep: async (address) => {
    const { folder } = await (await ask("POST", `${address}/keep`)).json();
    document.querySelector("#kept").textContent = `Kept in ${folder}.`;
    document.querySelector("[data-send=keep]").hidden = true;
  },
};

/** Accept files that are dropped or chosen in an element. */
export function prepareDrop(drop, wanted) {
  const takeIn = (files) => attempt(async () => take(drop, await files, wanted));
  for (const input of drop.querySelectorAll("input")) input.addEventListener("change", () => takeIn(chosen(input.files)));
  for (const kind of ["dragenter", "dragover"]) {
    drop.addEventListener(kind, (event) => {
      event.preventDefault();
      drop.classList.add("over");
    });
  }
  drop.addEventListener("dragleave", () => drop.classList.remove("over"));
  drop.addEventListener("drop", (event) => {
    event.preventDefault();
    drop.classList.remove("over");
    takeIn(dropped(event.dataTransfer));
  });
}

/** The items of results, and the form for a study from them. */
function prepareNewStudy(shown, address, form) {
  const look = (more) => attempt(async () => {
    await ask("POST", `${address}/look`, JSON.stringify({ ...choices(form), ...more }));
    await refresh();
  });
  shown.querySelector("[data-new-study]")?.addEventListener("click", () => look({ new_study: true }));
  const column = shown.querySelector("#sentence-column");
  column?.addEventListener("change", () => look({ sentence: column.value }));
  const make = shown.querySelector("#make-study");
  make?.addEventListener("submit", (event) => {
    event.preventDefault();
    const [name, task, language] = ["name", "task", "language"].map((one) => make.querySelector(`#study-${one}`).value);
    const factors = [...make.querySelectorAll("[data-factor]")].map((one) => one.value.trim());
    const wanted = { name, task, language, factors, source: "results", case: make.dataset.case };
    attempt(async () => location.assign((await (await ask("POST", `${base}/studies`, JSON.stringify(wanted))).json()).address));
  });
}

/** Connect the page with its clicks and drops. */
function prepare() {
  const shown = document.querySelector("#case");
  const drop = document.querySelector("#drop");
  if (drop) prepareDrop(drop);
  if (!shown) return;
  const address = shown.dataset.address;
  for (const button of shown.querySelectorAll("[data-send]")) {
    button.addEventListener("click", () => attempt(() => SENDS[button.dataset.send](address)));
  }
  const form = shown.querySelector("#choices");
  form?.addEventListener("submit", (event) => {
    event.preventDefault();
    attempt(async () => {
      await ask("POST", `${address}/${event.submitter.dataset.form}`, JSON.stringify(choices(form)));
      await refresh();
    });
  });
  const questions = shown.querySelector("#questions");
  questions?.addEventListener("submit", (event) => {
    event.preventDefault();
    attempt(async () => {
      await ask("POST", `${address}/look`, JSON.stringify(answers(questions)));
      await refresh();
    });
  });
  prepareNewStudy(shown, address, form);
  for (const select of shown.querySelectorAll("[data-column]")) {
    // Choosing a column is an answer.
    const other = select.closest("[data-asked]").querySelector("[data-other]");
    select.addEventListener("change", () => (other.checked = true));
  }
  for (const row of shown.querySelectorAll("[data-question]")) {
    // Writing other answers replaces "as karat reads it".
    const kind = row.querySelector("[data-kind]");
    row.querySelector("[data-rest]").addEventListener("input", () => (kind.value ||= kind.dataset.guess));
  }
  if ("working" in shown.dataset) attempt(() => watch(shown));
}

// A file that is dropped elsewhere must not replace the page.
for (const kind of ["dragover", "drop"]) addEventListener(kind, (event) => event.preventDefault());
let closed = false;
stay(
  base,
  () => {
    closed = true;
    complain(CLOSED);
  },
  () => {
    if (closed) complain();
    closed = false;
  },
);
prepare();
document.querySelector(".study-tabs [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
