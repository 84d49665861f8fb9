/** The first page: another studies folder, and a new study from a sheet, results, an example or a copy. */

import { ask, attempt, base, complain, counted, make, prepareDrop } from "./studio.js";

const form = document.querySelector("#new-study");
const paste = document.querySelector("#paste");
const status = document.querySelector("#sheet-read");
const rows = document.querySelector("#factor-rows");
const SOON = 400;
let sheet = "";
let failed;
let turn = 0;
let guessed = "";
let reading = Promise.resolve();
let timer;

document.querySelector("#folder-form").addEventListener("submit", (event) => {
  event.preventDefault();
  attempt(async () => {
    await ask("POST", `${base}/folder`, JSON.stringify({ folder: document.querySelector("#studies-folder").value }));
    location.reload();
  });
});

/** Load the list of formats when it is opened, so that the page does not wait for it. */
document.querySelector("#formats").addEventListener("toggle", (event) => attempt(async () => {
  const list = event.target.querySelector("ul");
  if (!event.target.open || list.children.length) return;
  const { formats } = await (await ask("GET", `${base}/formats`)).json();
  list.replaceChildren(...formats.map((words) => make("li", { textContent: words })));
}));

/** Show the fields of the chosen source. */
function showWay() {
  const way = form.elements.source.value;
  for (const part of form.querySelectorAll("[data-way]")) part.hidden = !part.dataset.way.split(" ").includes(way);
}

/** The stated factors, as for the command line. */
function factors() {
  return [...rows.children].map((row) => {
    const levels = row.querySelector("[data-levels]").value.split(",").map((one) => one.trim());
    return `${row.querySelector("[data-name]").value.trim()}=${levels.filter(Boolean).join(",")}`;
  });
}

/** Drop the last sheet; the response to an earlier one may still arrive. */
function forget() {
  turn += 1;
  sheet = "";
  failed = undefined;
  status.textContent = "";
  document.querySelector("#sheet-factors").hidden = true;
}

/** Send a sheet, and show its sets and factors. */
async function read(name, content) {
  forget();
  const own = turn;
  status.textContent = "Reading …";
  try {
    const answer = await ask("POST", `${base}/sheets?name=${encodeURIComponent(name)}`, content, "application/octet-stream");
    const result = await answer.json();
    if (own !== turn) return;
    sheet = result.sheet;
    if (result.language) document.querySelector("#new-language").value = result.language;
    const fillers = result.fillers ? `, ${counted(result.fillers, "filler")}` : "";
    status.textContent = `${counted(result.sets, "set")} in ${counted(result.conditions.length, "condition")}${fillers}: ${result.conditions.join("; ")}. ${result.notes.join(" ")}`;
    rows.replaceChildren(
      ...result.factors.map((factor) => {
        const row = document.querySelector("#factor-row").content.cloneNode(true);
        row.querySelector("[data-name]").value = factor.name;
        row.querySelector("[data-levels]").value = factor.levels.join(", ");
        return row;
      }),
    );
    guessed = JSON.stringify(factors());
    document.querySelector("#sheet-factors").hidden = false;
  } catch (error) {
    if (own !== turn) return;
    forget();
    failed = error;
    throw error;
  }
}

const begin = (name, content) => (reading = attempt(() => read(name, content)));
paste.addEventListener("input", () => {
  clearTimeout(timer);
  timer = setTimeout(() => (paste.value.trim() ? begin("items.csv", paste.value) : (forget(), complain())), SOON);
});
document.querySelector("#sheet-file").addEventListener("change", (event) => {
  const [file] = event.target.files;
  if (file) begin(file.name, file);
});
paste.addEventListener("drop", (event) => {
  const [file] = event.dataTransfer.files;
  if (!file) return;
  event.preventDefault();
  event.stopPropagation();
  begin(file.name, file);
});
form.addEventListener("change", (event) => event.target.name === "source" && showWay());
form.addEventListener("submit", (event) => {
  event.preventDefault();
  attempt(async () => {
    const source = form.elements.source.value;
    const wanted = { name: document.querySelector("#new-name").value, source };
    if (source === "copy") wanted.study = document.querySelector("#copy-of").value;
    else wanted.language = document.querySelector("#new-language").value;
    if (source === "template") wanted.task = form.elements.template.value;
    if (source === "sheet") {
      await reading;
      if (!sheet) throw failed ?? new Error("Paste the cells of your sheet first, or choose a file.");
      Object.assign(wanted, { task: document.querySelector("#new-task").value, sheet });
      if (JSON.stringify(factors()) !== guessed) wanted.factors = factors();
    }
    const answer = await ask("POST", `${base}/studies`, JSON.stringify(wanted));
    location.assign((await answer.json()).address);
  });
});
prepareDrop(document.querySelector("#result-drop"), { new_study: true });
showWay();
if (paste.value.trim()) begin("items.csv", paste.value); // pasted before this script was there
