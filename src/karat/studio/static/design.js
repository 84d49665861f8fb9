/** The design of a study: the changes of the form, key by key, and the findings beside the fields. */

import { Editing, attempt, livePreview } from "./editing.js";
import { ask, make } from "./studio.js";

const form = document.querySelector("#design");
const settings = JSON.parse(document.querySelector("#study-settings")?.textContent ?? "{}");
const same = (one, other) => JSON.stringify(one ?? null) === JSON.stringify(other ?? null);
const lines = (text) => text.split("\n").map((one) => one.trim()).filter(Boolean);
const at = (path, from = settings) => path.reduce((value, part) => value?.[part], from);
let count = 0;

/** Note a value that was saved. */
function put(path, value) {
  const parts = [...path];
  const last = parts.pop();
  const table = parts.reduce((inner, part, place) => (inner[part] ??= typeof path[place + 1] === "number" ? [] : {}), settings);
  table[last] = value ?? undefined;
}


function labelled(words, control, hint = "") {
  control.id ||= `made-${(count += 1)}`;
  const label = make("label", { htmlFor: control.id, textContent: words });
  return make("div", { className: "field" }, label, ...(hint ? [make("p", { className: "hint", textContent: hint })] : []), control);
}

const button = (words, act) =>
  make("button", { type: "button", className: "button secondary", textContent: words, onclick: act });

/** The value of a field for the study file: nothing, text, a number or a list. */
function valueOf(field) {
  const text = field.value;
  if (field.dataset.kind === "lines") return lines(text).length ? lines(text) : null;
  if (!text.trim()) return null;
  if (field.dataset.kind === "bool") return text === "yes";
  if (field.dataset.kind === "pairs") return pairs(text);
  if (field.dataset.kind === "number") return Number.isNaN(Number(text)) ? text : Number(text);
  if (field.dataset.path === '["screening", "exclude"]' && /^\d+$/.test(text)) return Number(text);
  return text;
}

/** Lines such as "order = 2" as a table. */
function pairs(text) {
  return Object.fromEntries(lines(text).map((line) => {
    const place = line.lastIndexOf("=");
    const value = place < 0 ? "" : line.slice(place + 1).trim();
    return [(place < 0 ? line : line.slice(0, place)).trim(), /^\d+$/.test(value) ? Number(value) : value];
  }));
}

/* Factors: a row each, with one level per line. */
const factorLists = [...form.querySelectorAll("[data-factors]")].map((root) => {
  const path = JSON.parse(root.dataset.factors);
  const list = { root, path, original: at(path), rows: [] };
  for (const [name, own] of Object.entries(list.original ?? {})) addFactor(list, name, own);
  root.querySelector("[data-add]").addEventListener("click", () => {
    addFactor(list, "", []).name.focus();
    changedFactors();
  });
  return list;
});

function addFactor(list, name, own) {
  const name_ = make("input", { type: "text", value: name });
  const levels = make("textarea", { rows: 2, value: (Array.isArray(own) ? own : (own.levels ?? [])).join("\n") });
  const row = { name: name_, levels, own, was: { name, levels: lines(levels.value) } };
  row.element = make("div", { className: "listed factor" }, labelled("Factor", name_), labelled("Levels, one per line", levels), button("Remove", () => {
    list.rows.splice(list.rows.indexOf(row), 1);
    row.element.remove();
    changedFactors();
  }));
  for (const one of [name_, levels]) one.addEventListener("input", changedFactors);
  list.rows.push(row);
  list.root.querySelector("[data-rows]").append(row.element);
  return row;
}

const factorOf = (row) => ({ name: row.name.value.trim(), levels: lines(row.levels.value) });

function factorsOf(list) {
  const entries = list.rows.map((row) => [factorOf(row).name, row]).filter(([name]) => name);
  return Object.fromEntries(entries.map(([name, row]) => {
    const { levels } = factorOf(row);
    return [name, Array.isArray(row.own) ? levels : { ...row.own, levels }];
  }));
}

/** The columns of a wide sheet with the current names of the levels, if the factors are still the same. */
function wideOf(list) {
  const wide = at([...list.path.slice(0, -1), "wide"]);
  if (!wide || list.rows.length !== Object.keys(list.original ?? {}).length) return wide;
  const renamed = (level, place) => {
    const row = list.rows[place];
    const before = row?.was.levels.indexOf(level) ?? -1;
    return before < 0 ? level : (factorOf(row).levels[before] ?? level);
  };
  return Object.fromEntries(Object.entries(wide).map(([column, levels]) => [column, [levels].flat().map(renamed)]));
}

function changedFactors() {
  for (const row of contrasts.rows) row.draw();
  editing.touched();
}

/* Planned comparisons: a name, and two levels of each compared factor. */
const allFactors = () => factorLists.flatMap((list) => list.rows);
const contrasts = { root: form.querySelector("[data-contrasts]"), rows: [] };

function addContrast(original) {
  const name = make("input", { type: "text", value: original.name ?? "" });
  const box = make("div", { className: "picks" });
  const row = { original, picks: new Map(), touched: false };
  const stated = original.factor ? { [original.factor]: original.levels ?? [] } : Array.isArray(original.factors) ? Object.fromEntries(original.factors.map((one) => [one, []])) : (original.factors ?? {});
  for (const [factor, levels] of Object.entries(stated)) {
    const own = allFactors().find((one) => one.was.name === factor);
    if (own) row.picks.set(own, [0, 1].map((place) => Math.max(place === 0 ? 0 : 0, levels.length ? own.was.levels.indexOf(levels[place]) : place)));
  }
  const fixed = Boolean(original.weights);
  const touch = () => {
    row.touched = true;
    editing.touched();
  };
  row.draw = () => {
    for (const factor of [...row.picks.keys()]) if (!allFactors().includes(factor)) row.picks.delete(factor);
    // A comparison that is named after its factors stays so.
    const usual = [...row.picks.keys()].map((factor) => factorOf(factor).name).join(" x ");
    if (!fixed && (!name.value || name.value === row.usual)) name.value = usual;
    row.usual = usual;
    box.replaceChildren(...allFactors().filter((factor) => factorOf(factor).name).map((factor) => {
      const check = make("input", { type: "checkbox", checked: row.picks.has(factor), disabled: fixed });
      check.addEventListener("change", () => {
        if (check.checked) row.picks.set(factor, [0, 1]);
        else row.picks.delete(factor);
        row.draw();
        touch();
      });
      const label = make("label", { className: "choice small" }, check, make("span", { textContent: factorOf(factor).name }));
      const parts = [label];
      if (row.picks.has(factor) && !fixed) {
        const pick = (place) => {
          const chosen = make("select", { ariaLabel: `${factorOf(factor).name}, ${place ? "second" : "first"} level` });
          chosen.append(...factorOf(factor).levels.map((level, number) => make("option", { value: number, textContent: level, selected: row.picks.get(factor)[place] === number })));
          chosen.addEventListener("change", () => {
            row.picks.get(factor)[place] = Number(chosen.value);
            touch();
          });
          return chosen;
        };
        parts.push(pick(0), make("span", { className: "quiet", textContent: "minus" }), pick(1));
      }
      return make("div", { className: "pick" }, ...parts);
    }));
    if (fixed) box.append(make("p", { className: "quiet", textContent: "This comparison has weights of its own, which are edited in study.toml." }));
    kind.textContent = fixed ? "weights" : row.picks.size > 1 ? "interaction" : "difference";
  };
  const kind = make("span", { className: "quiet kind" });
  name.addEventListener("input", touch);
  row.value = () => {
    const renamed = [...row.picks.keys()].some((factor) => !same(factorOf(factor), factor.was));
    if (fixed || (!row.touched && !renamed)) return original;
    const { factor, factors, levels, name: _, ...rest } = original;
    const picked = [...row.picks].map(([own, places]) => [factorOf(own).name, places.map((place) => factorOf(own).levels[place]).filter((level) => level !== undefined)]);
    if (picked.length === 1) return { name: name.value.trim(), factor: picked[0][0], levels: picked[0][1], ...rest };
    return { name: name.value.trim(), factors: Object.fromEntries(picked), ...rest };
  };
  row.element = make("div", { className: "listed contrast" }, labelled("Name", name), make("div", { className: "field" }, make("span", { className: "label", textContent: "Compared " }), kind, box), button("Remove", () => {
    contrasts.rows.splice(contrasts.rows.indexOf(row), 1);
    row.element.remove();
    editing.touched();
  }));
  contrasts.rows.push(row);
  contrasts.root.querySelector("[data-rows]").append(row.element);
  row.draw();
  row.name = name;
  return row;
}
for (const original of settings.contrast ?? []) addContrast(original);
contrasts.root.querySelector("[data-add]").addEventListener("click", () => {
  const row = addContrast({ name: "" });
  row.touched = true;
  row.name.focus();
  editing.touched();
});

/* Questions about the participant. */
const background = { root: form.querySelector("[data-background]"), rows: [] };

function addQuestion(original) {
  const field = (words, kind, value, hint) => {
    const control = make(kind, kind === "input" ? { type: "text", value } : { rows: 4, value });
    control.addEventListener("input", () => {
      row.touched = true;
      editing.touched();
    });
    return [control, labelled(words, control, hint)];
  };
  const row = { original, touched: false };
  const [question, one] = field("Question", "input", original.question ?? "");
  const [name, two] = field("Column name in the results", "input", original.name ?? "");
  const [answers, three] = field("Answers, one per line", "textarea", (original.answers ?? []).join("\n"), "Leave empty for a text field.");
  const [eligible, four] = field("Eligible answers, one per line", "textarea", (original.eligible ?? []).join("\n"), "Leave empty if all answers are eligible.");
  row.value = () => {
    if (!row.touched) return original;
    const value = { ...original, name: name.value.trim(), question: question.value.trim(), answers: lines(answers.value), eligible: lines(eligible.value) };
    for (const key of ["answers", "eligible"]) if (!value[key].length) delete value[key];
    return value;
  };
  const summary = make("summary", { textContent: original.question ?? "A new question" });
  question.addEventListener("input", () => (summary.textContent = question.value));
  row.element = make("details", { className: "folded", open: !original.question }, summary, make("div", { className: "pair" }, one, two, three, four), button("Remove", () => {
    background.rows.splice(background.rows.indexOf(row), 1);
    row.element.remove();
    editing.touched();
  }));
  row.first = question;
  background.rows.push(row);
  background.root.querySelector("[data-rows]").append(row.element);
  return row;
}
for (const original of settings.background ?? []) addQuestion(original);
background.root.querySelector("[data-add]").addEventListener("click", () => {
  const row = addQuestion({});
  row.touched = true;
  row.first.focus();
  editing.touched();
});

/* Screening rules that were left out or added. */
const left = new Set();
const added = new Set();
for (const one of form.querySelectorAll("[data-remove-criterion]")) {
  one.addEventListener("click", () => {
    const criterion = one.closest("[data-criterion]");
    left.add(criterion.dataset.criterion);
    criterion.remove();
    editing.touched();
  });
}
document.querySelector("#add-criterion-now").addEventListener("click", () => {
  const chosen = document.querySelector("#add-criterion");
  if (!chosen.value) return;
  added.add(chosen.value);
  document.querySelector("[data-screening] .inline-form").before(make("p", { textContent: `${chosen.value} will be added with its default settings when you save.` }));
  chosen.selectedOptions[0].remove();
  editing.touched();
});

function collect() {
  const changes = [];
  const note = (path, after) => {
    const before = at(path) ?? null;
    if (!same(before, after)) changes.push({ path, before, after: after ?? null });
  };
  for (const field of form.querySelectorAll("[data-path]")) {
    const path = JSON.parse(field.dataset.path);
    const value = valueOf(field);
    const before = at(path);
    // A text area drops the line break at the end that the file has, and a number may be written as 12.50.
    if (typeof before === "string" && typeof value === "string" && before.trim() === value.trim()) continue;
    if (path.join() === "recruitment,platform" && before === undefined && value === "link") continue;
    note(path, typeof before === "string" && before.endsWith("\n") && value ? `${value.trimEnd()}\n` : value);
  }
  for (const list of factorLists) {
    const now = factorsOf(list);
    if (!same(now, list.original ?? {})) note(list.path, now);
    note([...list.path.slice(0, -1), "wide"], wideOf(list) ?? null);
  }
  note(["contrast"], contrasts.rows.length ? contrasts.rows.map((row) => row.value()) : null);
  note(["background"], background.rows.length ? background.rows.map((row) => row.value()) : null);
  for (const name of left) note(["screening", name], null);
  for (const name of added) note(["screening", name], {});
  return { changes, tables: {} };
}

function shown() {
  const path = ["block", 0];
  const field = (...more) => form.querySelector(`[data-path='${JSON.stringify([...path, ...more]).replaceAll(",", ", ")}']`);
  const labels = field("scale", "labels");
  livePreview({ prompt: field("prompt")?.value, task: field("task")?.value, points: field("scale", "points")?.value, labels: labels ? lines(labels.value) : [] });
}

/** The field that a finding is about: the one with the longest path in common. */
function fieldOf(finding) {
  if (!finding.path) return null;
  let best = null;
  for (const field of form.querySelectorAll("[data-field]")) {
    const path = JSON.parse(field.dataset.field);
    const common = path.filter((part, place) => part === finding.path[place]).length;
    const prefix = path.slice(0, Math.min(path.length, finding.path.length)).every((part, place) => part === finding.path[place]);
    if (prefix && (!best || common > best.common)) best = { field, common };
  }
  return best?.field ?? null;
}

const editing = new Editing({
  collect,
  place: (findings) => {
    for (const field of form.querySelectorAll("[data-field].invalid")) {
      field.classList.remove("invalid");
      Object.assign(field.querySelector(".error"), { hidden: true, textContent: "" });
      field.querySelector("[data-path]")?.removeAttribute("aria-invalid");
    }
    for (const finding of findings) {
      const field = finding.grade === "error" ? fieldOf(finding) : null;
      const error = field?.querySelector(".error");
      if (!error) continue;
      field.classList.add("invalid");
      error.hidden = false;
      field.querySelector("[data-path]")?.setAttribute("aria-invalid", "true");
      error.textContent = [error.textContent, finding.message, finding.fix].filter(Boolean).join(" ");
    }
  },
  saved: ({ values }, wanted) => {
    if (same(collect(), wanted)) return editing.reload();
    // Somebody went on typing: keep that, and compare it with what is saved now.
    for (const { path, value } of values) put(path, value);
    for (const list of factorLists) list.original = at(list.path);
  },
});
editing.goto = (finding) => {
  const field = fieldOf(finding);
  return field && (() => {
    field.closest("details")?.setAttribute("open", "");
    field.scrollIntoView({ block: "center" });
    field.querySelector("input, textarea, select, button")?.focus();
  });
};
/* The effect of the current rules on simulated participants. */
const rulesSaid = document.querySelector("#rules-said");

function tried({ kinds, rows, excluded }) {
  const cell = (words, scope) => make(scope ? "th" : "td", { textContent: words, ...(scope ? { scope } : {}) });
  const counts = (numbers) => numbers.map((number, place) => cell(`${number} of ${kinds[place][1]}`));
  const table = make("table", { className: "sizes" },
    make("thead", {}, make("tr", {}, cell("Flagged by", "col"), ...kinds.map(([kind]) => cell(kind, "col")))),
    make("tbody", {},
      ...rows.map((row) => make("tr", {}, cell(row.title, "row"), ...(row.skipped ? [make("td", { colSpan: kinds.length, className: "why", textContent: row.skipped })] : counts(row.flagged)))),
      make("tr", { className: "total" }, cell("Excluded", "row"), ...counts(excluded))));
  const box = document.querySelector("#rules-tried");
  box.replaceChildren(table);
  box.hidden = false;
}

async function watchRules() {
  const job = await (await ask("GET", `${editing.address}/rules`)).json();
  if (job.working) {
    rulesSaid.textContent = `${job.step} …`;
    setTimeout(() => attempt(watchRules), 1000);
    return;
  }
  document.querySelector("#try-rules").disabled = false;
  if (job.failure) throw new Error(job.failure);
  const all = job.result.kinds.reduce((sum, [, number]) => sum + number, 0);
  rulesSaid.textContent = `${all} simulated participants, each with a known behaviour. Good rules flag the careless ones and keep the attentive ones.`;
  tried(job.result);
}
document.querySelector("#try-rules").addEventListener("click", (event) => attempt(async () => {
  await ask("POST", `${editing.address}/rules`, JSON.stringify(editing.collect()));
  event.target.disabled = true;
  await watchRules();
}));

form.addEventListener("input", (event) => {
  shown();
  if (event.target.dataset.path) editing.touched();
});
form.addEventListener("change", (event) => event.target.dataset.path && editing.touched());
form.addEventListener("submit", (event) => event.preventDefault());
shown();
