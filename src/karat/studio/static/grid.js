/**
 * A table that can be edited like a spreadsheet. Only the visible rows are in the page, all of the same height, so that
 * thousands of rows cost as much as thirty. The grid has the focus and names its active cell (aria-activedescendant).
 */

import { counted, make } from "./studio.js";

const ROW = 52;
const SPARE = 8;
const NARROW = 72;
const WIDE = 340;
const CHECK = 260;
const MOST_UNDO = 500;

/** Parse text with tabs from a spreadsheet's clipboard, in which cells with a line break are quoted. */
export function cellsOf(text) {
  const rows = [[]];
  let cell = "";
  let quoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const sign = text[at];
    if (quoted) {
      if (sign !== '"') cell += sign;
      else if (text[at + 1] === '"') {
        cell += '"';
        at += 1;
      } else quoted = false;
    } else if (sign === '"' && cell === "" && closes(text, at)) quoted = true;
    else if (sign === "\t" || sign === "\n") {
      rows[rows.length - 1].push(cell);
      cell = "";
      if (sign === "\n") rows.push([]);
    } else if (sign !== "\r") cell += sign;
  }
  rows[rows.length - 1].push(cell);
  const last = rows[rows.length - 1];
  if (rows.length > 1 && last.length === 1 && last[0] === "") rows.pop();
  return rows;
}

/** Whether a quotation mark opens a quoted cell: the closing mark is before a tab, a line end or the end. */
function closes(text, from) {
  for (let at = from + 1; at < text.length; at += 1) {
    if (text[at] !== '"') continue;
    if (text[at + 1] === '"') at += 1;
    else return at + 1 === text.length || "\t\r\n".includes(text[at + 1]);
  }
  return false;
}

/** Cells as text with tabs. */
export function textOf(rows) {
  const quote = (cell) => (/[\t\n"]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
  return rows.map((row) => row.map(quote).join("\t")).join("\n");
}

const element = (role, name) => {
  const node = make("div", name ? { className: name } : {});
  node.setAttribute("role", role);
  return node;
};

export class Grid {
  /**
   * @param {HTMLElement} root
   * @param {{ columns: string[], rows: string[][], label: string, editable: boolean, choices: Record<string, string[]>,
   *   changed: () => void, moved: (row: object | null) => void, say: (words: string) => void }} settings
   */
  constructor(root, settings) {
    this.root = root;
    this.columns = [...settings.columns];
    this.rows = settings.rows.map((cells) => ({ cells: [...cells] }));
    this.view = this.rows;
    Object.assign(this, { editable: settings.editable, choices: settings.choices, changed: settings.changed, moved: settings.moved, say: settings.say });
    this.errors = new Map();
    this.done = [];
    this.undone = [];
    this.filter = null;
    this.at = { r: 0, c: 0 };
    this.anchor = { r: 0, c: 0 };
    this.build(settings.label);
    this.layout();
  }

  build(label) {
    this.scroll = element("grid", "grid-scroll");
    this.scroll.tabIndex = 0;
    this.scroll.setAttribute("aria-label", label);
    this.scroll.setAttribute("aria-multiselectable", "true");
    if (!this.editable) this.scroll.setAttribute("aria-readonly", "true");
    this.head = element("rowgroup", "grid-head");
    this.body = element("rowgroup", "grid-body");
    this.scroll.append(this.head, this.body);
    this.root.replaceChildren(this.scroll);
    this.pool = [];
    this.scroll.addEventListener("scroll", () => this.soon());
    this.scroll.addEventListener("keydown", (event) => this.key(event));
    this.scroll.addEventListener("mousedown", (event) => this.press(event));
    this.scroll.addEventListener("mousemove", (event) => event.buttons === 1 && this.drag(event));
    this.scroll.addEventListener("dblclick", (event) => this.place(event.target) && this.edit());
    this.scroll.addEventListener("copy", (event) => this.copy(event));
    this.scroll.addEventListener("cut", (event) => this.copy(event) && this.clear());
    this.scroll.addEventListener("paste", (event) => {
      event.preventDefault();
      this.paste(cellsOf(event.clipboardData.getData("text/plain")));
    });
    this.scroll.addEventListener("focus", () => this.render());
    new ResizeObserver(() => this.soon()).observe(this.scroll);
  }

  /** Set the widths of the columns by their content, and draw the head. */
  layout() {
    const sample = this.rows.slice(0, 200);
    this.widths = this.columns.map((name, at) => {
      const longest = sample.reduce((most, row) => Math.max(most, (row.cells[at] ?? "").length), name.length);
      return Math.min(WIDE, Math.max(NARROW, longest > 40 ? WIDE : 24 + longest * 9));
    });
    this.spread();
    this.scroll.setAttribute("aria-colcount", this.columns.length + 2);
    const row = element("row", "grid-row");
    row.setAttribute("aria-rowindex", 1);
    const names = ["row", ...this.columns, "check"];
    row.append(
      ...names.map((name, at) => {
        const cell = element("columnheader");
        cell.setAttribute("aria-colindex", at + 1);
        cell.dataset.c = at - 1;
        cell.dataset.r = -1;
        cell.textContent = name;
        if (at === names.length - 1) cell.className = "check-cell";
        if (this.sorted && this.sorted.c === at - 1) cell.setAttribute("aria-sort", this.sorted.up ? "ascending" : "descending");
        return cell;
      }),
    );
    this.head.replaceChildren(row);
    this.pool = [];
    this.body.replaceChildren();
    this.refresh();
  }

  /** Apply the widths of all columns; the check column is narrow if there are no findings. */
  spread() {
    const check = this.errors.size ? CHECK : NARROW;
    this.scroll.style.setProperty("--columns", `48px ${this.widths.map((one) => `${one}px`).join(" ")} ${check}px`);
    this.scroll.style.setProperty("--wide", `${48 + check + this.widths.reduce((a, b) => a + b, 0)}px`);
  }

  /** Update the visible rows after a change of the rows or of the filter. */
  refresh() {
    this.view = this.filter ? this.rows.filter(this.filter) : this.rows;
    this.body.style.blockSize = `${Math.max(this.view.length, 1) * ROW}px`;
    this.scroll.setAttribute("aria-rowcount", this.view.length + 1);
    this.at = this.within(this.at);
    this.anchor = this.within(this.anchor);
    this.render();
  }

  within({ r, c }) {
    return { r: Math.max(-1, Math.min(r, this.view.length - 1)), c: Math.max(0, Math.min(c, this.columns.length)) };
  }

  soon() {
    this.waiting ??= requestAnimationFrame(() => {
      this.waiting = null;
      this.render();
    });
  }

  render() {
    const first = Math.max(0, Math.floor(this.scroll.scrollTop / ROW) - SPARE);
    const many = Math.ceil((this.scroll.clientHeight || 600) / ROW) + 2 * SPARE;
    const last = Math.min(this.view.length, first + many);
    while (this.pool.length < Math.min(many, this.view.length)) this.pool.push(this.newRow());
    const size = this.pool.length;
    const shown = new Set();
    document.querySelector("#active-cell")?.removeAttribute("id");
    for (let r = first; r < last; r += 1) {
      this.fill(this.pool[r % size], r);
      shown.add(r % size);
    }
    this.pool.forEach((row, at) => (row.hidden = !shown.has(at)));
    const active = this.cellAt(this.at);
    if (active) {
      active.id = "active-cell";
      this.scroll.setAttribute("aria-activedescendant", "active-cell");
    } else this.scroll.removeAttribute("aria-activedescendant");
    for (const cell of this.head.firstChild.children) cell.classList.toggle("active", this.at.r === -1 && Number(cell.dataset.c) === this.at.c);
  }

  newRow() {
    const row = element("row", "grid-row body-row");
    const number = element("rowheader", "number");
    number.setAttribute("aria-colindex", 1);
    row.append(number);
    for (let c = 0; c <= this.columns.length; c += 1) {
      const cell = element("gridcell", c === this.columns.length ? "check-cell" : "");
      cell.setAttribute("aria-colindex", c + 2);
      cell.dataset.c = c;
      if (c === this.columns.length) cell.setAttribute("aria-readonly", "true");
      row.append(cell);
    }
    this.body.append(row);
    return row;
  }

  fill(row, r) {
    const { cells } = this.view[r];
    const wrong = this.errors.get(this.view[r]) ?? [];
    row.setAttribute("aria-rowindex", r + 2);
    row.style.transform = `translateY(${r * ROW}px)`;
    row.classList.toggle("bad", wrong.some((one) => one.grade === "error"));
    row.classList.toggle("doubtful", wrong.length > 0);
    const { top, bottom, left, right } = this.range();
    for (let at = 0; at < row.children.length; at += 1) {
      const cell = row.children[at];
      const c = at - 1;
      const text = at === 0 ? String(this.filter ? this.rows.indexOf(this.view[r]) + 1 : r + 1) : c === this.columns.length ? wrong.map((one) => one.message).join(" ") : (cells[c] ?? "");
      if (cell.textContent !== text) cell.textContent = text;
      if (cell.dataset.r !== String(r)) cell.dataset.r = r;
      if (at === 0) continue;
      const chosen = r >= top && r <= bottom && c >= left && c <= right;
      cell.setAttribute("aria-selected", String(chosen));
      cell.classList.toggle("chosen", chosen && (top !== bottom || left !== right));
      cell.classList.toggle("active", r === this.at.r && c === this.at.c);
      cell.title = c === this.columns.length ? text : "";
    }
  }

  cellAt({ r, c }) {
    if (r === -1) return this.head.firstChild.children[c + 1];
    const row = this.pool[r % (this.pool.length || 1)];
    return row && !row.hidden && row.getAttribute("aria-rowindex") === String(r + 2) ? row.children[c + 1] : null;
  }

  range() {
    return {
      top: Math.min(this.at.r, this.anchor.r),
      bottom: Math.max(this.at.r, this.anchor.r),
      left: Math.min(this.at.c, this.anchor.c),
      right: Math.max(this.at.c, this.anchor.c),
    };
  }

  /** Go to a cell, and show it. */
  go(r, c, extend = false) {
    this.at = this.within({ r, c });
    if (!extend) this.anchor = { ...this.at };
    this.reveal();
    this.render();
    this.moved(this.view[this.at.r] ?? null);
  }

  reveal() {
    const { r, c } = this.at;
    const head = this.head.offsetHeight;
    if (r >= 0) {
      const top = r * ROW;
      if (top < this.scroll.scrollTop) this.scroll.scrollTop = top;
      else if (top + ROW + head > this.scroll.scrollTop + this.scroll.clientHeight) this.scroll.scrollTop = top + ROW + head - this.scroll.clientHeight;
    }
    const left = 48 + this.widths.slice(0, c).reduce((a, b) => a + b, 0);
    const width = this.widths[c] ?? CHECK;
    if (left - 48 < this.scroll.scrollLeft) this.scroll.scrollLeft = left - 48;
    else if (left + width > this.scroll.scrollLeft + this.scroll.clientWidth) this.scroll.scrollLeft = left + width - this.scroll.clientWidth;
  }

  /** Go to a row by its number among all rows. */
  goToRow(number, column = 0) {
    const row = this.rows[number];
    if (!row) return;
    if (!this.view.includes(row)) this.show(null);
    this.scroll.focus();
    this.go(this.view.indexOf(row), column);
  }

  place(target) {
    const cell = target.closest("[data-c]");
    if (!cell || cell.dataset.r === undefined) return null;
    return { r: Number(cell.dataset.r), c: Math.max(0, Number(cell.dataset.c)) };
  }

  press(event) {
    const place = this.place(event.target);
    if (!place || event.button !== 0) return;
    if (place.r === -1) {
      event.preventDefault();
      this.scroll.focus();
      this.go(-1, place.c);
      if (place.c < this.columns.length) this.sort(place.c);
      return;
    }
    if (event.target.getAttribute("role") !== "columnheader") event.preventDefault();
    this.scroll.focus();
    this.go(place.r, place.c, event.shiftKey);
  }

  drag(event) {
    const place = this.place(event.target);
    if (place && place.r >= 0 && (place.r !== this.at.r || place.c !== this.at.c)) this.go(place.r, place.c, true);
  }

  key(event) {
    const command = event.ctrlKey || event.metaKey;
    const { r, c } = this.at;
    const page = Math.max(1, Math.floor(this.scroll.clientHeight / ROW) - 2);
    const moves = {
      ArrowUp: [command ? 0 : r - 1, c], ArrowDown: [command ? this.view.length - 1 : r + 1, c],
      ArrowLeft: [r, command ? 0 : c - 1], ArrowRight: [r, command ? this.columns.length : c + 1],
      Home: [command ? 0 : r, 0], End: [command ? this.view.length - 1 : r, this.columns.length - 1],
      PageUp: [Math.max(0, r - page), c], PageDown: [Math.min(this.view.length - 1, r + page), c],
    };
    if (moves[event.key] && !event.altKey) {
      event.preventDefault();
      this.go(...moves[event.key], event.shiftKey);
    } else if (command && event.key.toLowerCase() === "a") {
      event.preventDefault();
      this.anchor = { r: 0, c: 0 };
      this.at = this.within({ r: this.view.length - 1, c: this.columns.length - 1 });
      this.render();
    } else if (command && event.key.toLowerCase() === "z") {
      event.preventDefault();
      if (event.shiftKey) this.redo();
      else this.undo();
    } else if (command && event.key.toLowerCase() === "y") {
      event.preventDefault();
      this.redo();
    } else if (command || event.altKey) return;
    else if (event.key === "Enter" || event.key === "F2") {
      event.preventDefault();
      if (r === -1 && event.key === "Enter" && c < this.columns.length) this.sort(c);
      else if (r === -1) this.rename(c);
      else this.edit();
    } else if (event.key === "Delete" || event.key === "Backspace") {
      event.preventDefault();
      this.clear();
    } else if ([...event.key].length === 1 || event.key === "Process") this.edit("");
  }

  /** Edit the active cell; `text` replaces what is in it. The key that was pressed goes into the editor. */
  edit(text) {
    const { r, c } = this.at;
    if (!this.editable || r < 0 || c >= this.columns.length || !this.view[r]) return;
    this.reveal();
    this.render();
    const cell = this.cellAt(this.at);
    if (!cell) return;
    const known = this.choices[this.columns[c]];
    const editor = make(known ? "input" : "textarea", { className: "grid-editor" });
    editor.setAttribute("aria-label", `${this.columns[c]}, row ${r + 1}`);
    if (known) {
      this.root.append(make("datalist", { id: "grid-choices" }, ...known.map((value) => make("option", { value }))));
      editor.setAttribute("list", "grid-choices");
    }
    editor.value = text ?? this.view[r].cells[c] ?? "";
    const [inner, outer] = [cell.getBoundingClientRect(), this.root.getBoundingClientRect()];
    editor.style.insetInlineStart = `${inner.left - outer.left}px`;
    editor.style.insetBlockStart = `${inner.top - outer.top}px`;
    editor.style.inlineSize = `${Math.max(inner.width, 160)}px`;
    editor.style.minBlockSize = `${inner.height}px`;
    this.root.append(editor);
    editor.focus();
    let open = true;
    const close = (keep, dr = 0, dc = 0) => {
      if (!open) return;
      open = false;
      const value = editor.value;
      editor.remove();
      this.root.querySelector("#grid-choices")?.remove();
      if (keep) this.put([[this.view[r], c, value]]);
      this.scroll.focus({ preventScroll: true });
      if (dr || dc) this.go(r + dr, c + dc);
    };
    editor.addEventListener("keydown", (event) => {
      event.stopPropagation();
      if (event.isComposing) return;
      if (event.key === "Escape") close(false);
      else if (event.key === "Enter" && !event.altKey && !event.shiftKey) {
        event.preventDefault();
        close(true, 1);
      } else if (event.key === "Tab") {
        event.preventDefault();
        close(true, 0, event.shiftKey ? -1 : 1);
      } else if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "s") {
        event.preventDefault();
        close(true);
        editor.dispatchEvent(new Event("saved"));
        document.querySelector("#save")?.click();
      }
    });
    editor.addEventListener("blur", () => close(true));
  }

  /** Change cells: [row, column, text] each. */
  put(wanted, extra = {}) {
    const cells = wanted.filter(([row, c, text]) => (row.cells[c] ?? "") !== text).map(([row, c, text]) => [row, c, row.cells[c] ?? "", text]);
    if (!cells.length && !extra.rows && !extra.columns) return;
    this.perform({ cells, ...extra });
  }

  perform(step) {
    this.apply(step, true);
    this.done.push(step);
    if (this.done.length > MOST_UNDO) this.done.shift();
    this.undone = [];
    this.changed();
  }

  apply(step, forward) {
    if (step.columns) this.columns = step.columns[forward ? 1 : 0];
    if (step.rows) this.rows = step.rows[forward ? 1 : 0];
    for (const [row, c, old, text] of step.cells ?? []) row.cells[c] = forward ? text : old;
    if (step.columns) this.layout();
    else this.refresh();
  }

  undo() {
    const step = this.done.pop();
    if (!step) return;
    this.apply(step, false);
    this.undone.push(step);
    this.changed();
  }

  redo() {
    const step = this.undone.pop();
    if (!step) return;
    this.apply(step, true);
    this.done.push(step);
    this.changed();
  }

  chosenRows() {
    const { top, bottom } = this.range();
    return this.view.slice(Math.max(top, 0), bottom + 1);
  }

  clear() {
    if (!this.editable) return;
    const { left, right } = this.range();
    const wanted = [];
    for (const row of this.chosenRows()) for (let c = left; c <= Math.min(right, this.columns.length - 1); c += 1) wanted.push([row, c, ""]);
    this.put(wanted);
  }

  copy(event) {
    event.preventDefault();
    const { left, right } = this.range();
    const cells = this.chosenRows().map((row) => Array.from({ length: Math.min(right, this.columns.length - 1) - left + 1 }, (_, at) => row.cells[left + at] ?? ""));
    event.clipboardData.setData("text/plain", textOf(cells));
    return this.editable;
  }

  /** Paste cells at the selection. Missing rows are added; a first row that repeats the names is left out. */
  paste(block) {
    if (!this.editable || this.at.r < -1) return;
    const { top, bottom, left, right } = this.range();
    const from = Math.max(top, 0);
    const names = this.columns.slice(left, left + block[0].length);
    if (block.length > 1 && names.length === block[0].length && names.every((name, at) => name.toLowerCase() === block[0][at].trim().toLowerCase())) block = block.slice(1);
    const single = block.length === 1 && block[0].length === 1;
    const added = [];
    const wanted = [];
    const high = single ? bottom - from + 1 : block.length;
    for (let at = 0; at < high; at += 1) {
      let row = this.view[from + at];
      if (!row) {
        row = { cells: this.columns.map(() => "") };
        added.push(row);
      }
      const cells = single ? Array.from({ length: right - left + 1 }, () => block[0][0]) : block[at];
      cells.forEach((text, offset) => left + offset < this.columns.length && wanted.push([row, left + offset, text]));
    }
    const lost = single ? 0 : Math.max(...block.map((row) => row.length)) + left - this.columns.length;
    this.put(wanted, added.length ? { rows: [this.rows, [...this.rows, ...added]] } : {});
    this.anchor = { r: from, c: left };
    this.at = this.within({ r: from + high - 1, c: Math.min(left + (single ? right - left : block[0].length - 1), this.columns.length - 1) });
    this.render();
    this.say(lost > 0 ? `${counted(lost, "column")} did not fit. Add columns first, then paste again.` : `${counted(high, "row")} pasted.`);
  }

  insert() {
    if (!this.editable) return;
    const row = { cells: this.columns.map(() => "") };
    const after = this.view[Math.max(this.at.r, 0)];
    const place = after ? this.rows.indexOf(after) + 1 : this.rows.length;
    if (this.filter) this.show(null);
    this.perform({ cells: [], rows: [this.rows, this.rows.toSpliced(place, 0, row)] });
    this.scroll.focus();
    this.go(this.view.indexOf(row), 0);
  }

  remove() {
    const gone = new Set(this.chosenRows());
    if (!this.editable || !gone.size) return;
    this.perform({ cells: [], rows: [this.rows, this.rows.filter((row) => !gone.has(row))] });
    this.say(`${counted(gone.size, "row")} deleted. Ctrl+Z brings them back.`);
    this.scroll.focus();
    this.go(this.range().top, this.at.c);
  }

  addColumn(name) {
    if (!this.editable || !name || this.columns.includes(name)) return;
    this.perform({ cells: [], columns: [this.columns, [...this.columns, name]] });
    this.scroll.focus();
    this.go(this.at.r, this.columns.length - 1);
  }

  rename(c) {
    if (!this.editable || c >= this.columns.length) return;
    const name = prompt("Name of the column", this.columns[c])?.trim();
    if (name && !this.columns.includes(name)) this.perform({ cells: [], columns: [this.columns, this.columns.with(c, name)] });
  }

  sort(c) {
    const up = !(this.sorted?.c === c && this.sorted.up);
    const order = new Intl.Collator(undefined, { numeric: true });
    const sorted = this.rows.toSorted((one, other) => (up ? 1 : -1) * order.compare(one.cells[c] ?? "", other.cells[c] ?? ""));
    this.sorted = { c, up };
    this.perform({ cells: [], rows: [this.rows, sorted] });
    this.layout();
    this.say(`Sorted by ${this.columns[c]}, ${up ? "ascending" : "descending"}.`);
  }

  /** Show the rows that pass a test, or all. */
  show(filter) {
    this.filter = filter;
    this.refresh();
  }

  /** Go to the next cell with a text after the active one, starting again at the end. */
  find(text, sameCase) {
    const has = this.matcher(text, sameCase);
    const wide = this.columns.length;
    const total = this.view.length * wide;
    const start = Math.max(this.at.r, 0) * wide + Math.min(this.at.c, wide - 1);
    for (let step = 1; step <= total; step += 1) {
      const at = (start + step) % total;
      if (has(this.view[Math.floor(at / wide)].cells[at % wide] ?? "")) {
        this.go(Math.floor(at / wide), at % wide);
        return true;
      }
    }
    return false;
  }

  matcher(text, sameCase) {
    return sameCase ? (cell) => cell.includes(text) : (cell) => cell.toLowerCase().includes(text.toLowerCase());
  }

  /** Replace a text in some cells; returns how many were changed. */
  replace(text, other, sameCase, all) {
    if (!this.editable || !text) return 0;
    const has = this.matcher(text, sameCase);
    const pattern = new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), sameCase ? "g" : "gi");
    const rows = all ? this.view : [this.view[this.at.r]].filter(Boolean);
    const wanted = [];
    for (const row of rows) {
      row.cells.forEach((cell, c) => {
        if ((all || c === this.at.c) && has(cell)) wanted.push([row, c, cell.replace(pattern, () => other)]);
      });
    }
    this.put(wanted);
    return wanted.length;
  }

  /** Mark rows with findings, by their numbers. */
  mark(found) {
    this.errors = new Map();
    for (const one of found) {
      const row = this.rows[one.row];
      if (row) this.errors.set(row, [...(this.errors.get(row) ?? []), one]);
    }
    this.spread();
    this.render();
  }

  /** The current table. */
  table() {
    return { columns: this.columns, rows: this.rows.map((row) => this.columns.map((_, c) => row.cells[c] ?? "")) };
  }
}
