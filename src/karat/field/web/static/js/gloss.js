/**
 * A sentence above its gloss, word by word, as in linguistic examples.
 *
 * The first paragraph of the gloss is below the words of the sentence; a further paragraph is the free translation. If
 * the words cannot be matched one to one, the gloss is a separate line below.
 */

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
  const whole = document.createElement("div");
  whole.className = "glossed";
  if (above.length === below.length) {
    const words = document.createElement("div");
    words.className = "gloss-words";
    above.forEach((word, index) => words.append(column(word, below[index], language)));
    whole.append(words);
  } else {
    const sentence = write(document.createElement("p"), text);
    sentence.lang = language;
    whole.append(sentence, line([gloss[0] ?? []]));
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
  const both = document.createElement("span");
  both.className = "gloss-column";
  const above = document.createElement("span");
  above.lang = language;
  above.append(...word.map(piece));
  const below = document.createElement("span");
  below.className = "gloss";
  below.append(...gloss.map(piece));
  // A space separates the two for screen readers and in copied text.
  both.append(above, " ", below);
  return both;
}

/** @param {import("./runs.js").Runs} runs */
function line(runs) {
  const paragraph = document.createElement("p");
  paragraph.className = "gloss";
  return write(paragraph, runs);
}
