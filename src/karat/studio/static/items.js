/** The items of a study: a grid with tools, and findings beside every row. */

import { Editing, livePreview } from "./editing.js";
import { Grid } from "./grid.js";
import { ask, attempt, counted } from "./studio.js";

const work = document.querySelector("#work");
const name = work.dataset.table;
const settings = JSON.parse(document.querySelector("#study-settings").textContent);
const block = (settings.block ?? []).find((one) => JSON.stringify(one).includes(JSON.stringify(name))) ?? settings.block?.[0] ?? {};
const known = JSON.parse(document.querySelector("#choices")?.textContent ?? "{}");
const counts = document.querySelector("#grid-count");
const filter = document.querySelector("#filter");

/** The columns of a factor take its levels. */
function choices() {
  const levels = Object.entries(block.factors ?? {}).map(([factor, own]) => [factor, Array.isArray(own) ? own : (own.levels ?? [])]);
  return { ...known, ...Object.fromEntries(levels) };
}

const say = (words) => (counts.textContent = words);

async function begin() {
  const table = await (await ask("GET", `${work.dataset.address}/tables/${name.split("/").map(encodeURIComponent).join("/")}`)).json();
  let version = table.version;
  let sent; // the last step when the table was sent
  let editing;
  const grid = new Grid(document.querySelector("#grid"), {
    ...table, label: name, choices: choices(), say,
    changed: () => {
      sums();
      buttons();
      editing.touched();
    },
    moved: (row) => shown(row),
  });
  let last; // the last step when the table was saved

  function sums() {
    const at = grid.columns.indexOf("function");
    const kinds = new Map();
    for (const row of grid.rows) {
      const kind = (at < 0 ? "test" : row.cells[at]?.trim().toLowerCase()) || "test";
      kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
    }
    say(`${counted(grid.rows.length, "row")}: ${[...kinds].map(([kind, number]) => `${number.toLocaleString("en")} ${kind}`).join(", ")}`);
    const chosen = filter.value;
    filter.replaceChildren(new Option("all rows", ""), new Option("rows with findings", "!"), ...[...kinds.keys()].map((kind) => new Option(kind, kind)));
    filter.value = [...filter.options].some((one) => one.value === chosen) ? chosen : "";
  }

  function buttons() {
    document.querySelector("[data-do=undo]").disabled = !grid.done.length;
    document.querySelector("[data-do=redo]").disabled = !grid.undone.length;
    for (const one of ["insert", "remove", "column", "replace", "replace-all"]) document.querySelector(`[data-do=${one}]`).disabled = !grid.editable;
  }

  function shown(row) {
    const wide = Object.keys(block.wide ?? {});
    const here = grid.columns[grid.at.c];
    const column = wide.includes(here) ? here : grid.columns.includes("sentence") ? "sentence" : (wide[0] ?? here);
    const scale = block.scale ?? {};
    livePreview({ sentence: row?.cells[grid.columns.indexOf(column)], prompt: block.prompt, task: block.task, points: scale.points, labels: scale.labels });
  }

  const dirty = () => grid.editable && grid.done.at(-1) !== last;

  function collect() {
    return { changes: [], tables: dirty() ? { [name]: { version, ...grid.table() } } : {} };
  }

  editing = new Editing({
    collect,
    dirty,
    place: (findings) => grid.mark(findings.filter((one) => one.table === name).map((one) => ({ ...one, message: [one.message, one.fix].filter(Boolean).join(" ") }))),
    saving: () => (sent = grid.done.at(-1)),
    saved: (answer) => {
      version = answer.versions[name];
      last = sent;
    },
  });
  editing.goto = (finding) => finding.table === name && (() => grid.goToRow(finding.row));
  if (!grid.editable) say("This is a workbook. Edit it in a spreadsheet program.");

  const bar = document.querySelector("#find-bar");
  const [text, other, same] = ["#find-text", "#replace-text", "#find-case"].map((one) => document.querySelector(one));
  const message = document.querySelector("#find-said");
  function find() {
    bar.hidden = false;
    document.querySelector("[data-do=find]").setAttribute("aria-expanded", "true");
    text.focus();
    text.select();
  }
  const DO = {
    undo: () => grid.undo(),
    redo: () => grid.redo(),
    insert: () => grid.insert(),
    remove: () => grid.remove(),
    column: () => grid.addColumn(prompt("Name of the new column")?.trim()),
    find,
    replace: () => {
      grid.replace(text.value, other.value, same.checked, false);
      grid.find(text.value, same.checked);
    },
    "replace-all": () => (message.textContent = `${counted(grid.replace(text.value, other.value, same.checked, true), "cell")} changed.`),
  };
  for (const button of document.querySelectorAll("[data-do]")) button.addEventListener("click", () => DO[button.dataset.do]());
  bar.addEventListener("submit", (event) => {
    event.preventDefault();
    message.textContent = text.value && grid.find(text.value, same.checked) ? "" : "Not found.";
  });
  bar.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    bar.hidden = true;
    document.querySelector("[data-do=find]").setAttribute("aria-expanded", "false");
    grid.scroll.focus();
  });
  document.querySelector("#grid").addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "f") {
      event.preventDefault();
      find();
    }
  });
  filter.addEventListener("change", () => {
    const at = grid.columns.indexOf("function");
    const wanted = filter.value;
    if (!wanted) grid.show(null);
    else if (wanted === "!") grid.show((row) => grid.errors.has(row));
    else grid.show((row) => ((at < 0 ? "test" : row.cells[at]?.trim().toLowerCase()) || "test") === wanted);
  });
  sums();
  buttons();
  shown(grid.rows[0] ?? null);
  const row = /^#row-(\d+)$/.exec(location.hash);
  if (row) grid.goToRow(Number(row[1]));
  document.querySelector("#grid").dataset.ready = "yes";
  window.karatGrid = grid;
}

if (name) attempt(begin);
