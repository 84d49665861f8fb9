/**
 * What every part of the trial page shares: the words, the language, the watch. Filled once by main.js.
 */

export const page = {
  /** @type {(key: string, values?: Record<string, string | number>) => string} */
  word: (key) => key,
  /** The language of what is judged. */
  language: "",
  direction: "ltr",
  /** Whether one may go back, so that an answer is confirmed by a button. */
  goingBack: false,
  /** Whether there is a trial to go back to. */
  hasPrevious: () => false,
  /** @type {import("./session/watch.js").Watch | null} */
  watch: null,
};

/**
 * Make an element.
 *
 * @param {string} name
 * @param {Record<string, string | number | boolean>} [attributes]  false leaves one out
 * @param {...(Node | string | null)} children
 * @returns {HTMLElement}
 */
export function element(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes)) {
    if (value !== false && value !== null) node.setAttribute(attribute, value === true ? "" : String(value));
  }
  node.append(...children.filter((child) => child !== null));
  return node;
}
