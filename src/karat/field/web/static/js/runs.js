/**
 * Convert runs, the text of a stimulus from the server, to nodes of the page.
 *
 * Runs are paragraphs of pieces; a piece has a text and its marks (italic, bold, sub, sup, small caps). Only text nodes and
 * a few fixed elements are made, so nothing in an item can become markup.
 *
 * @typedef {{t: string, i?: boolean, b?: boolean, sub?: boolean, sup?: boolean, sc?: boolean}} Piece
 * @typedef {Piece[][]} Runs
 */

import { element } from "./page.js";

/** The elements for the marks of a piece. */
const ELEMENTS = { i: "em", b: "strong", sub: "sub", sup: "sup", sc: "span" };

/**
 * The plain text of runs, paragraphs joined by a space.
 *
 * @param {Runs | null} runs
 * @returns {string}
 */
export function plain(runs) {
  return (runs ?? []).map((paragraph) => paragraph.map((piece) => piece.t).join("")).join(" ");
}

/**
 * One piece of text as a node.
 *
 * @param {Piece} piece
 * @returns {Node}
 */
export function piece(piece) {
  /** @type {Node} */
  let node = document.createTextNode(piece.t);
  for (const [mark, name] of Object.entries(ELEMENTS)) {
    if (piece[mark]) node = element(name, { class: mark === "sc" && "small-caps" }, node);
  }
  return node;
}

/**
 * Put runs into an element: one paragraph inline, several as block elements.
 *
 * @template {Element} E
 * @param {E} target
 * @param {Runs | null} runs
 * @returns {E}
 */
export function write(target, runs) {
  const paragraphs = (runs ?? []).map((paragraph) => paragraph.map(piece));
  if (paragraphs.length === 1) target.append(...paragraphs[0]);
  else target.append(...paragraphs.map((pieces) => element("span", { class: "paragraph" }, ...pieces)));
  return target;
}

/**
 * The words of pieces, split at spaces; each word keeps the marks of its parts.
 *
 * @param {Piece[]} pieces
 * @returns {Piece[][]}
 */
export function wordsOf(pieces) {
  /** @type {Piece[][]} */
  const words = [];
  let open = false;
  for (const { t, ...set } of pieces) {
    for (const part of t.split(/(\s+)/)) {
      if (part === "") continue;
      if (/^\s+$/.test(part)) {
        open = false;
      } else if (open) {
        words[words.length - 1].push({ t: part, ...set });
      } else {
        words.push([{ t: part, ...set }]);
        open = true;
      }
    }
  }
  return words;
}
