/**
 * A sentence above its gloss, word by word, as in linguistic examples.
 *
 * The first paragraph of the gloss is below the words of the sentence; a further paragraph is the free translation. If
 * the words cannot be matched one to one, the gloss is a separate line below.
 */

import { element } from "./page.js";
import { piece, wordsOf, write } from "./runs.js";

/**
 * The sentence with its gloss.
 *
 * @param {import("./runs.js").Runs} text
 * @param {import("./runs.js").Runs} gloss
 * @param {string} language  of the sentence
 * @returns {HTMLElement}
 */
export function glossed(text, gloss, language) {
  const above = wordsOf(text.flat());
  const below = wordsOf(gloss[0] ?? []);
  const whole = element("div", { class: "glossed" });
  if (above.length === below.length) {
    const columns = above.map((word, index) => column(word, below[index], language));
    whole.append(element("div", { class: "gloss-words" }, ...columns));
  } else {
    whole.append(write(element("p", { lang: language }), text), line([gloss[0] ?? []]));
  }
  if (gloss.length > 1) whole.append(line(gloss.slice(1)));
  return whole;
}

/**
 * A word over its gloss.
 *
 * @param {import("./runs.js").Piece[]} word
 * @param {import("./runs.js").Piece[]} gloss
 * @param {string} language
 */
function column(word, gloss, language) {
  const above = element("span", { lang: language }, ...word.map(piece));
  const below = element("span", { class: "gloss" }, ...gloss.map(piece));
  // A space separates the two for screen readers and in copied text.
  return element("span", { class: "gloss-column" }, above, " ", below);
}

/** @param {import("./runs.js").Runs} runs */
function line(runs) {
  return write(element("p", { class: "gloss" }), runs);
}
