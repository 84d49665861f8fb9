/**
 * Shared by the pages that edit a study: check while somebody types, save, notice changes by others, and show findings.
 * A page passes `collect`, which returns its changes; optionally `dirty`, a faster test for changes; `place`, which marks
 * findings; and `saving` and `saved`, called before saving and after it with the response and the changes that it is about.
 */

import { ask, attempt, complain, make } from "./studio.js";

const SOON = 500;
const OFTEN = 5000;
const GRADES = ["error", "warning", "hint"];

export class Editing {
  constructor({ collect, dirty, place, saving, saved }) {
    Object.assign(this, { collect, place, saved, saving: saving ?? (() => {}) });
    const some = ({ changes, tables }) => changes.length > 0 || Object.keys(tables).length > 0;
    this.changed = dirty ?? (() => some(collect()));
    this.work = document.querySelector("#work");
    this.address = this.work.dataset.address;
    this.button = document.querySelector("#save");
    this.status = document.querySelector("#saved");
    // Of the files that the page shows: a change between then and the first look must not go unnoticed.
    this.versions = JSON.parse(document.querySelector("#study-versions").textContent);
    this.button.addEventListener("click", () => this.save());
    addEventListener("keydown", (event) => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "s") {
        event.preventDefault();
        this.save();
      }
    });
    addEventListener("beforeunload", (event) => this.dirty && !this.leaving && event.preventDefault());
    for (const button of document.querySelectorAll("[data-resolve]")) {
      button.addEventListener("click", () => this.resolve(button.dataset.resolve));
    }
    document.querySelector("#reload").addEventListener("click", () => this.resolve("theirs"));
    setInterval(() => this.look(), OFTEN);
    addEventListener("focus", () => this.look());
    this.check();
    this.look();
  }

  /** React to a change on the page. */
  touched() {
    this.dirty = this.changed();
    this.button.disabled = !this.dirty;
    this.status.textContent = this.dirty ? "not saved yet" : "";
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.check(), SOON);
  }

  /** Check the current state of the page; one check at a time, and always the last state. */
  async check() {
    if (this.checking) {
      this.again = true;
      return;
    }
    this.checking = true;
    try {
      const answer = await ask("POST", `${this.address}/check`, JSON.stringify(this.collect()));
      this.show(await answer.json());
    } catch (error) {
      complain(error.message);
    } finally {
      this.checking = false;
      if (this.again) {
        this.again = false;
        this.check();
      }
    }
  }

  /** Show the findings: in a list, at the tabs, and in their places. */
  show({ head, findings, counts }) {
    document.querySelector("#check-head").textContent = head || "The study cannot be read as it is.";
    const list = document.querySelector("#found");
    list.replaceChildren();
    if (!findings.length) list.append(line("good", "", "Nothing to fix.", null));
    for (const finding of findings.slice(0, 100)) list.append(line(finding.grade, finding.rule, sentence(finding), this.way(finding)));
    if (findings.length > 100) list.append(line("hint", "", `and ${findings.length - 100} more`, null));
    const inTables = findings.filter((one) => one.table && one.grade !== "hint").length;
    count("design", findings.filter((one) => one.grade !== "hint").length - inTables);
    count("items", inTables);
    for (const mark of document.querySelectorAll("[data-table-count]")) {
      put(mark, findings.filter((one) => one.table === mark.dataset.tableCount && one.grade !== "hint").length);
    }
    this.work.dataset.errors = counts.error;
    this.work.dataset.checked = Number(this.work.dataset.checked ?? 0) + 1;
    this.place(findings);
  }

  /** The way to a finding: a function on this page, or the address of another one. */
  way(finding) {
    const here = this.goto?.(finding);
    if (here) return here;
    if (finding.table) return `${this.address}/items?table=${encodeURIComponent(finding.table)}#row-${finding.row}`;
    if (finding.path && this.work.dataset.page !== "design") return `${this.address}/design#${finding.path.join("-")}`;
    return null;
  }

  /** Save, one request at a time; returns whether nothing is left to save. */
  save(conflict = "ask") {
    const saved = (this.lastSave ?? Promise.resolve()).then(() => this.send(conflict));
    this.lastSave = saved;
    return saved;
  }

  async send(conflict) {
    if (this.leaving || !this.changed()) return true;
    complain();
    const wanted = this.collect();
    this.saving();
    this.busy = true;
    try {
      const answer = await (await ask("POST", `${this.address}/save`, JSON.stringify({ ...wanted, conflict }))).json();
      // Changes by others to other files are still to be noticed.
      const own = answer.written.map((name) => [name, answer.versions[name]]);
      this.versions = { ...this.versions, ...Object.fromEntries(own) };
      document.querySelector("#conflict").hidden = true;
      this.dirty = false;
      this.button.disabled = true;
      this.saved(answer, wanted);
      if (this.leaving) return true;
      this.touched();
      if (!this.dirty) this.status.textContent = answer.written.length ? `saved: ${answer.written.join(", ")}` : "saved";
      return true;
    } catch (error) {
      if (!error.conflict) {
        complain(error.message);
        return false;
      }
      const box = document.querySelector("#conflict");
      box.querySelector("p").textContent = error.message;
      box.hidden = false;
      box.scrollIntoView({ block: "nearest" });
      box.querySelector("button").focus();
      return false;
    } finally {
      this.busy = false;
    }
  }

  /** Show the files as they are now. */
  reload() {
    this.leaving = true;
    location.reload();
  }

  /** Resolve a conflict. With "theirs", unsaved changes go to the history. */
  async resolve(how) {
    if (!(await this.save(how))) return;
    if (how === "theirs") this.reload();
    else await this.look();
  }

  /** Notice changes by others, but not the page's own save. */
  async look() {
    if (document.hidden || this.busy || this.leaving) return;
    const known = this.versions;
    const state = await ask("GET", `${this.address}/state`).then((answer) => answer.json(), () => null);
    if (!state || this.busy || this.leaving || this.versions !== known) return;
    const names = Object.keys({ ...known, ...state.versions });
    if (names.every((name) => known[name] === state.versions[name])) return;
    // Text in the cell editor is not among the changes yet.
    if (this.dirty || document.querySelector(".grid-editor")) document.querySelector("#outside").hidden = false;
    else this.reload();
  }
}

function sentence(finding) {
  return [finding.message, finding.fix].filter(Boolean).join(" ");
}

function line(grade, rule, words, way) {
  const mark = make("b", { className: `grade ${grade}`, textContent: GRADES.includes(grade) ? grade : "" });
  const item = make("li", {}, mark, " ", words);
  if (rule && !words.includes(rule)) item.append(" ", make("code", { textContent: rule }));
  const textContent = "Go to it";
  if (typeof way === "string") item.append(" ", make("a", { href: way, textContent }));
  else if (way) item.append(" ", make("button", { type: "button", className: "link-button", textContent, onclick: way }));
  return item;
}

function count(name, number) {
  put(document.querySelector(`[data-count=${name}]`), number);
}

function put(mark, number) {
  if (!mark) return;
  mark.hidden = !number;
  mark.textContent = number || "";
}

/** Preview the scale and the question while they are being written. */
export function livePreview({ sentence, prompt, task, points, labels }) {
  const live = document.querySelector("#live");
  live.querySelector(".live-sentence").textContent = sentence || live.dataset.sample || "The sentence that participants judge.";
  live.querySelector(".live-prompt").textContent = prompt || "";
  const scale = live.querySelector(".live-scale");
  const words = (labels ?? []).filter(Boolean);
  const rated = task === "likert" || task === "differential";
  const number = rated ? Math.min(Math.max(Number(points) || (words.length > 2 ? words.length : 5), 2), 11) : words.length || 2;
  const each = rated && words.length === number && number > 2;
  scale.classList.toggle("words", !rated);
  scale.classList.toggle("each", each);
  scale.replaceChildren(
    ...Array.from({ length: number }, (_, at) =>
      make("span", { textContent: rated && !each ? at + 1 : (words[at] ?? ["no", "yes"][at] ?? "") }),
    ),
  );
  const ends = live.querySelector(".live-ends");
  ends.hidden = !rated || each || !words.length;
  ends.children[0].textContent = words[0] ?? "";
  ends.children[1].textContent = words.length > 1 ? words[words.length - 1] : "";
}

export { attempt };
