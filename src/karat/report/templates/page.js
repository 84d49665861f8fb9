"use strict";
// Sort by a click on a heading, find by words, SVG files from the page itself; without this script all can be read.
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

for (const label of document.querySelectorAll(".filter")) {
  const box = label.closest(".table");
  const rows = Array.from(box.querySelectorAll("tbody tr"), (row) => [row, row.textContent.toLowerCase()]);
  const count = box.querySelector(".count");
  const input = label.querySelector("input");
  label.hidden = false;
  input.addEventListener("input", () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const [row, text] of rows) {
      row.hidden = !words.every((word) => text.includes(word));
      shown += !row.hidden;
    }
    count.textContent = words.length ? `${shown} of ${rows.length}` : "";
  });
}

for (const link of document.querySelectorAll("a.svg")) {
  link.addEventListener("click", () => {
    const drawn = link.closest("figure").querySelector("svg");
    link.href = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(new XMLSerializer().serializeToString(drawn));
  });
}

let closed = [];
window.addEventListener("beforeprint", () => {
  closed = Array.from(document.querySelectorAll("details:not([open])"));
  for (const one of closed) one.open = true;
});
window.addEventListener("afterprint", () => {
  for (const one of closed) one.open = false;
});
