/**
 * The names of points for screen readers.
 */

import { page } from "./page.js";

/**
 * The label of a point; an answer that is a word is its own label.
 *
 * @param {{value: string, label: string}} point
 * @returns {string}
 */
export function labelOf({ value, label }) {
  return label || (/^-?\d{1,3}$/.test(value) ? "" : value);
}

/**
 * The label of the end of a scale for its first or last point.
 *
 * @param {number} index
 * @param {any} scale
 * @param {string[]} ends
 * @returns {string}
 */
export function endOf(index, scale, ends) {
  if (index === 0) return ends[0];
  return index === scale.points.length - 1 ? ends[1] : "";
}

/**
 * The name of a point for screen readers: its place, and its label or that of its end.
 *
 * @param {number} index
 * @param {any} scale
 * @param {string[]} ends
 * @returns {string}
 */
export function pointName(index, scale, ends) {
  const count = scale.points.length;
  const label = labelOf(scale.points[index]) || endOf(index, scale, ends);
  const values = { number: index + 1, count, label };
  return page.word(label ? "point_label" : "point", values);
}
