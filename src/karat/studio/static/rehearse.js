/** The rehearsal, and the power curve with its slider. Only sizes that were simulated can be chosen. */

import { act, address } from "./actions.js";
import { ask, attempt } from "./studio.js";

const json = (id) => JSON.parse(document.querySelector(id)?.textContent ?? "null");
const share = (value) => value.toFixed(2).replace(/^0/, "");
const form = document.querySelector("#power-form");

function wish(more = {}) {
  const { contrast, effect, exclude } = form.elements;
  return JSON.stringify({ contrast: contrast.value, effect: Number(effect.value), exclude: Number(exclude.value) / 100, ...more });
}

form?.addEventListener("submit", (event) => {
  event.preventDefault();
  attempt(() => act("power", wish(), { button: event.submitter }));
});

const rows = json("#power-rows");
const slider = document.querySelector("#power-slider");
const chosen = () => rows[Number(slider.value)];

function show() {
  const row = chosen();
  const place = document.querySelectorAll(".power-figure .point")[Number(slider.value)];
  const [x, y] = [place.getAttribute("cx"), place.getAttribute("cy")];
  for (const end of ["x1", "x2"]) document.querySelector("#power-line").setAttribute(end, x);
  document.querySelector("#power-point").setAttribute("cx", x);
  document.querySelector("#power-point").setAttribute("cy", y);
  slider.setAttribute("aria-valuetext", `${row.participants} participants, power ${share(row.power)}`);
  document.querySelector("#power-said").textContent = `${row.participants} participants: power ${share(row.power)} (${share(row.lower)} to ${share(row.upper)})`;
}

if (slider) {
  slider.addEventListener("input", show);
  show();
  document.querySelector("#power-confirm")?.addEventListener("click", (event) => {
    attempt(() => act("power", wish({ participants: chosen().participants }), { button: event.target }));
  });
  document.querySelector("#power-use")?.addEventListener("click", (event) => {
    attempt(async () => {
      const { participants, record } = chosen();
      const now = json("#planned");
      const changes = [
        { path: ["recruitment", "participants"], before: now.participants, after: participants },
        { path: ["power"], before: now.power, after: record },
      ];
      await ask("POST", `${address}/save`, JSON.stringify({ changes }));
      event.target.textContent = `${participants} participants are planned`;
      event.target.disabled = true;
    });
  });
}
