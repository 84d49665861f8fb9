/**
 * The forms of the steps. On a phone, background questions appear a few at a time, so that no page is long; the form is
 * sent once, after the last of them. Without JavaScript, on wide screens and after mistakes, all questions are on one
 * page.
 */

import { element } from "./page.js";

/** Questions and answers that fit on a page of a phone. */
const LINES = 12;

/**
 * @param {HTMLElement} question
 * @returns {number}
 */
const lines = (question) => 1 + Math.max(1, question.querySelectorAll("input[type=radio]").length);

/**
 * @param {HTMLElement[]} questions
 * @returns {HTMLElement[][]}
 */
export function inPages(questions) {
  /** @type {HTMLElement[][]} */
  const pages = [];
  let room = 0;
  for (const question of questions) {
    room -= lines(question);
    if (room < 0 || pages.length === 0) {
      pages.push([]);
      room = LINES - lines(question);
    }
    pages[pages.length - 1].push(question);
  }
  return pages;
}

/**
 * @param {HTMLElement} question
 * @returns {boolean}
 */
function isAnswered(question) {
  const fields = /** @type {HTMLInputElement[]} */ ([...question.querySelectorAll("input")]);
  return fields.some((field) => (field.type === "radio" ? field.checked : field.value.trim() !== ""));
}

/**
 * Show an error below a question until it is answered.
 *
 * @param {HTMLElement} question
 * @param {string} words
 */
function complain(question, words) {
  if (question.querySelector(".error")) return;
  const field = /** @type {HTMLInputElement} */ (question.querySelector("input"));
  const error = element("p", { class: "error", id: `error-${field.name}` }, words);
  question.classList.add("invalid");
  question.setAttribute("aria-describedby", error.id);
  (question.querySelector("legend, label") ?? field).after(error);
  question.addEventListener("input", () => {
    error.remove();
    question.classList.remove("invalid");
    question.removeAttribute("aria-describedby");
  }, { once: true });
}

/** @param {HTMLFormElement} form */
function divide(form) {
  const narrow = window.matchMedia("(max-width: 30rem)");
  const pages = inPages([...form.querySelectorAll(":scope > .choices, :scope > .field")].map((one) => /** @type {HTMLElement} */ (one)));
  if (pages.length < 2) return;
  let at = 0;
  const place = element("p", { class: "quiet", role: "status" });
  const back = element("button", { class: "button secondary", type: "button" }, form.dataset.back ?? "");
  form.prepend(place);
  form.querySelector(".actions")?.append(back);

  const show = () => {
    pages.forEach((page, number) => page.forEach((one) => (one.hidden = narrow.matches && number !== at)));
    place.hidden = !narrow.matches;
    place.textContent = (form.dataset.count ?? "").replace("{number}", `${at + 1}`).replace("{of}", `${pages.length}`);
    back.hidden = !narrow.matches || at === 0;
  };
  /** @param {number} number */
  const turnTo = (number) => {
    at = number;
    show();
    window.scrollTo(0, 0);
    pages[at][0].querySelector("input")?.focus({ preventScroll: true });
  };
  narrow.addEventListener("change", show);
  back.addEventListener("click", () => turnTo(at - 1));
  form.addEventListener("submit", (event) => {
    if (!narrow.matches) return;
    const missing = pages[at].filter((one) => "required" in one.dataset && !isAnswered(one));
    missing.forEach((one) => complain(one, form.dataset.missing ?? ""));
    if (missing.length > 0 || at < pages.length - 1) event.preventDefault();
    if (missing.length > 0) missing[0].querySelector("input")?.focus();
    else if (at < pages.length - 1) turnTo(at + 1);
  });
  show();
}

const form = /** @type {HTMLFormElement | null} */ (document.querySelector("form.background"));
const mistakes = document.querySelector(".error-summary");
if (form && !mistakes) divide(form);
// A page with mistakes is the reply to a form, so going back to it would send that form again.
if (mistakes && window.top === window) history.replaceState(null, "", "../go");
