"use strict";
// Sorting, finding, exclusion rules, participants one by one, copying, printing; without this script all can be read.
for (const table of document.querySelectorAll("table")) {
  const body = table.tBodies[0];
  if (!table.tHead || body.rows.length < 3) continue;
  Array.from(table.tHead.rows[0].cells).forEach((head, column) => {
    if (head.classList.contains("picture")) return;
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const number = head.classList.contains("number");
      const key = (row) => {
        const cell = row.cells[column];
        if (!number) return cell.textContent;
        return cell.dataset.v === undefined ? NaN : Number(cell.dataset.v);
      };
      const compare = (a, b) => {
        if (!number) return a.localeCompare(b, document.documentElement.lang, { numeric: true });
        // What is not known stands last, whichever way it is sorted.
        if (Number.isNaN(a) || Number.isNaN(b)) return (Number.isNaN(a) - Number.isNaN(b)) * (down ? -1 : 1);
        return a - b;
      };
      const rows = Array.from(body.rows, (row) => [key(row), row]);
      rows.sort((a, b) => compare(a[0], b[0]) * (down ? -1 : 1));
      body.append(...rows.map((row) => row[1]));
    });
  });
}

// Find words, and show those who are kept or excluded.
for (const box of document.querySelectorAll(".table")) {
  const labels = Array.from(box.querySelectorAll(".filter"));
  if (!labels.length) continue;
  const rows = Array.from(box.querySelectorAll("tbody tr"), (row) => [row, row.textContent.toLowerCase()]);
  const count = box.querySelector(".count");
  const input = box.querySelector("input[type=search]");
  const select = box.querySelector("select");
  const apply = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    const verdict = select ? select.value : "";
    let shown = 0;
    for (const [row, text] of rows) {
      const wanted = !verdict || row.cells[1].textContent === verdict;
      row.hidden = !wanted || !words.every((word) => text.includes(word));
      shown += !row.hidden;
    }
    count.textContent = words.length || verdict ? `${shown} of ${rows.length}` : "";
  };
  for (const label of labels) label.hidden = false;
  input.addEventListener("input", apply);
  if (select) select.addEventListener("input", apply);
}

for (const link of document.querySelectorAll("a.svg")) {
  link.addEventListener("click", () => {
    const drawn = link.closest("figure").querySelector("svg").cloneNode(true);
    drawn.setAttribute("xmlns", "http://www.w3.org/2000/svg");
    link.href = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(new XMLSerializer().serializeToString(drawn));
  });
}

const read = (id) => {
  const found = document.getElementById(id);
  return found ? JSON.parse(found.textContent) : null;
};

// The rule switch: flow, first figure and comparisons, from what was computed beforehand.
const ruled = read("rule-data");
const fieldset = document.querySelector(".switch");
if (ruled && fieldset) {
  const svg = document.getElementById("first-figure");
  const flow = document.getElementById("flow");
  const note = document.querySelector(".rule-note");
  const stay = document.querySelector("#figure-first .stay");
  const started = { flow: flow.innerHTML, rule: fieldset.querySelector(":checked").value };
  const begun = flow.querySelector("small").textContent.split(" → ")[0];
  const across = svg.dataset.kind === "rows";
  const [start, end] = [Number(svg.dataset.start), Number(svg.dataset.end)];
  const at = (value) => {
    const share = (Math.min(Math.max(value, ruled.low), ruled.high) - ruled.low) / (ruled.high - ruled.low);
    return start + share * (end - start);
  };
  const said = ([mean, low, high]) => {
    if (mean === null) return "no answers";
    const text = (value) => value.toFixed(ruled.digits).replace("-", "−");
    return text(mean) + (low === null ? "" : ` [${text(low)}, ${text(high)}]`);
  };
  const choose = (key) => {
    const rule = ruled.rules[key];
    const spot = {};
    for (const point of svg.querySelectorAll(".pt[data-cell]")) {
      const cell = Number(point.dataset.cell);
      const [mean, low, high] = rule.cells[cell];
      point.setAttribute("visibility", mean === null ? "hidden" : "visible");
      if (mean === null) continue;
      const [x, y] = point.getAttribute("transform").match(/-?[\d.]+/g).map(Number);
      const place = at(mean);
      spot[cell] = across ? [place, y] : [x, place];
      point.setAttribute("transform", `translate(${spot[cell].map((value) => value.toFixed(1)).join(" ")})`);
      const whisker = point.querySelector("line");
      whisker.setAttribute(across ? "x1" : "y1", low === null ? 0 : at(low) - place);
      whisker.setAttribute(across ? "x2" : "y2", high === null ? 0 : at(high) - place);
      const example = ruled.examples[cell];
      const label = `${ruled.cells[cell]}: ${said(rule.cells[cell])}` + (example ? `. ${example}` : "");
      point.setAttribute("aria-label", label);
      point.querySelector("title").textContent = label;
    }
    for (const dot of svg.querySelectorAll("[data-person]")) {
      dot.classList.toggle("out", rule.gone.includes(Number(dot.dataset.person)));
    }
    for (const line of svg.querySelectorAll("polyline")) {
      const cells = line.dataset.cells.split(" ").filter((cell) => spot[cell]);
      line.setAttribute("points", cells.map((cell) => spot[cell].join(",")).join(" "));
    }
    const whole = rule.kept + rule.excluded;
    stay.textContent = `${rule.answering.toLocaleString("en")} participant${rule.answering === 1 ? "" : "s"}`;
    if (key === started.rule) {
      flow.innerHTML = started.flow;
    } else {
      const keep = whole ? (100 * rule.kept) / whole : 0;
      flow.querySelector(".bar").setAttribute("aria-label", `${rule.kept} kept, ${rule.excluded} excluded`);
      flow.querySelector(".bar").replaceChildren(
        ...[["keep", keep], ["gone", 100 - keep]].filter((one) => one[1] > 0).map(([name, width]) => {
          const part = document.createElement("i");
          part.className = name;
          part.style.width = `${width}%`;
          return part;
        }),
      );
      flow.querySelector("small").textContent = `${begun} → ${rule.kept} in the analysis (${rule.name})`;
    }
    const compared = ruled.comparisons.map((name, place) => `${name}: ${said(rule.comparisons[place])}`);
    const stated = key === started.rule ? "The rule of this report" : `If the rule were “${rule.name}”`;
    note.textContent = `${stated}, ${rule.kept} of ${whole} stay. ${compared.join("; ")}`;
  };
  fieldset.hidden = false;
  fieldset.addEventListener("change", () => choose(fieldset.querySelector(":checked").value));
}

// One participant: every trial in order, with what the others said.
const played = read("playback-data");
const dialog = document.getElementById("playback");
if (played && dialog) {
  const names = Object.keys(played.participants);
  const part = (name) => dialog.querySelector(name);
  const cell = (row, text, number) => {
    const made = row.insertCell();
    made.textContent = text;
    if (number) made.className = "number";
    return made;
  };
  const others = (one, stimulus) => {
    const own = one.answers.filter((answer, place) => answer >= 0 && one.shown[place] === stimulus);
    const [, , given, number] = played.stimuli[stimulus];
    if (played.values) {
      const left = number - own.length;
      const mean = own.reduce((sum, answer) => sum - played.values[answer], given) / left;
      return left ? `${played.mean} ${(played.mean === "geometric mean" ? Math.exp(mean) : mean).toFixed(1)}` : "";
    }
    const left = { ...given };
    for (const answer of own) left[answer] -= 1;
    const whole = Object.values(left).reduce((sum, count) => sum + count, 0);
    const [most, count] = Object.entries(left).reduce((best, other) => (other[1] > best[1] ? other : best), ["", 0]);
    return whole ? `${Math.round((100 * count) / whole)} % ${played.answers[most]}` : "";
  };
  const show = (name) => {
    const one = played.participants[name];
    if (!one) return;
    part("h2").textContent = name;
    const change = one.switch ? `, changed at trial ${one.switch}` : "";
    part(".about").textContent = `${one.verdict}, ${one.shown.length} trials${change}`;
    part(".reasons").replaceChildren(
      ...one.reasons.map((text) => Object.assign(document.createElement("li"), { textContent: text })),
    );
    const body = part("tbody");
    body.replaceChildren();
    one.shown.forEach((stimulus, place) => {
      const [text, about] = played.stimuli[stimulus];
      const row = body.insertRow();
      cell(row, place + 1, true);
      const shown = cell(row, text);
      if (about) shown.append(Object.assign(document.createElement("small"), { textContent: ` ${about}` }));
      cell(row, one.answers[place] < 0 ? "–" : played.answers[one.answers[place]]);
      cell(row, others(one, stimulus));
      cell(row, one.times.length && one.times[place] !== null ? (one.times[place] / 100).toFixed(2) : "", true);
      cell(row, (one.flags[place] || []).map((flag) => played.flags[flag]).join(", "));
      if (one.flags[place]) row.className = "flagged";
      if (one.switch === place + 1) row.classList.add("change");
    });
    if (!dialog.open) dialog.showModal();
    const hash = `#participant=${encodeURIComponent(name)}`;
    if (location.hash !== hash) history.replaceState(null, "", hash);
  };
  const step = (by) => {
    const here = names.indexOf(part("h2").textContent);
    show(names[(here + by + names.length) % names.length]);
  };
  const follow = () => {
    const found = location.hash.match(/^#participant=(.*)$/);
    if (found) show(decodeURIComponent(found[1]));
  };
  part(".previous").addEventListener("click", () => step(-1));
  part(".next").addEventListener("click", () => step(1));
  part(".close").addEventListener("click", () => dialog.close());
  dialog.addEventListener("keydown", (event) => {
    if (event.key === "ArrowLeft") step(-1);
    if (event.key === "ArrowRight") step(1);
  });
  dialog.addEventListener("close", () => history.replaceState(null, "", location.pathname + location.search));
  for (const head of document.querySelectorAll(".people tbody th")) {
    const name = head.textContent;
    if (!played.participants[name]) continue;
    const link = document.createElement("a");
    link.href = `#participant=${encodeURIComponent(name)}`;
    link.textContent = name;
    link.addEventListener("click", (event) => {
      event.preventDefault();
      show(name);
    });
    head.replaceChildren(link);
    for (const picture of head.parentElement.querySelectorAll(".picture")) {
      picture.addEventListener("click", () => show(name));
    }
  }
  const dots = Array.from(document.querySelectorAll("#first-figure a"));
  dots.forEach((dot, place) => {
    dot.addEventListener("keydown", (event) => {
      const steps = { ArrowLeft: -1, ArrowRight: 1, Home: -place, End: dots.length - 1 - place };
      const next = dots[place + steps[event.key]];
      if (!next) return;
      event.preventDefault();
      dot.tabIndex = -1;
      next.tabIndex = 0;
      next.focus();
    });
  });
  window.addEventListener("hashchange", follow);
  follow();
}

// Copy buttons beside the paragraphs and listings that go into a paper.
for (const text of document.querySelectorAll(".copied")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    const copied = text.innerText.trim();
    try {
      await navigator.clipboard.writeText(copied);
    } catch {
      const area = Object.assign(document.createElement("textarea"), { value: copied });
      text.after(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });
  text.before(button);
}

// A link to a folded part opens it; the part on screen is marked in the contents.
const unfold = () => {
  if (location.hash.length < 2 || location.hash.includes("=")) return;
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let one = target; one; one = one.parentElement) if (one.tagName === "DETAILS") one.open = true;
  if (target) target.scrollIntoView();
};
window.addEventListener("hashchange", unfold);
for (const link of document.querySelectorAll('nav a[href^="#"]')) {
  link.addEventListener("click", () => setTimeout(unfold));
}
unfold();
const entries = new Map(Array.from(document.querySelectorAll("nav a"), (link) => [link.hash.slice(1), link]));
const mark = () => {
  let current = null;
  for (const one of document.querySelectorAll("main > .fold")) {
    if (one.getBoundingClientRect().top < innerHeight / 3) current = one.id;
  }
  for (const [id, link] of entries) {
    if (id === current) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
};
document.addEventListener("scroll", mark, { passive: true });
mark();

// Print two pages, or everything where the reader asks for the appendix.
const appendix = document.getElementById("appendix");
appendix.closest("label").hidden = false;
let changed = [];
window.addEventListener("beforeprint", () => {
  document.body.classList.toggle("with-appendix", appendix.checked);
  const wanted = appendix.checked ? "details:not([open])" : "details[data-print]:not([open])";
  const unwanted = appendix.checked ? [] : document.querySelectorAll("details[open]:not([data-print])");
  changed = [...document.querySelectorAll(wanted), ...unwanted];
  for (const one of changed) one.open = !one.open;
});
window.addEventListener("afterprint", () => {
  for (const one of changed) one.open = !one.open;
});
