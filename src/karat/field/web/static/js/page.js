/**
 * The shared state of the trial page: words, language, watch. Filled once by main.js.
 */

export const page = {
  /** @type {(key: string, values?: Record<string, string | number>) => string} */
  word: (key) => key,
  /** The language of the stimuli. */
  language: "",
  direction: "ltr",
  /** Whether participants may go back, so that a button confirms each answer. */
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
