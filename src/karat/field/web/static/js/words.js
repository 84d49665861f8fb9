/**
 * The interface texts of the trial page, in English; the server sends them in the language of the study.
 *
 * A text may have slots in braces, filled by `fill`. A key that the server does not send keeps the English text.
 */

/** @type {Record<string, string>} */
export const ENGLISH = {
  next: "Next",
  back: "Back",
  continue: "Continue",
  confirm: "Confirm",
  change: "Change",
  heading: "Next item",
  heading_number: "Item {number} of {of}",
  practice: "Practice",
  feedback: "About this practice item",
  break: "Time for a break",
  text: "Please read",
  count: "{number} of {of}",
  progress: "Progress",
  judgment: "Your answer",
  point: "{number} of {count}",
  point_label: "{number} of {count}, {label}",
  picture: "Picture",
  context: "Context",
  modulus: "Compare with",
  modulus_value: "Its number is {value}.",
  number: "Your number",
  number_hint: "Any number above zero, for example 25 or 0.5.",
  number_empty: "Please enter a number.",
  number_invalid: "Please enter a number such as 25 or 0.5.",
  number_positive: "Please enter a number above zero.",
  number_separator: "Please write the number without a thousands separator, for example 1000.",
  number_check: "You entered {value}. Press Enter to confirm it, or change it.",
  slider_unset: "not set",
  pair: "{left} to {right}",
  missing_one: "One line has no answer yet.",
  missing_many: "{count} lines have no answer yet.",
  saving: "Your answers are being saved. Please keep this page open.",
  offline: "No connection. You can continue.",
  offline_wait: "No connection. Your answers are stored on this device. Please keep this page open: it continues by itself once you are back online.",
  other_tab: "This study was opened in another tab or window. Please continue there.",
  here: "Continue here",
  lost: "Your session was not found. Please open the study again with the link that brought you here.",
  picture_missing: "This picture could not be loaded.",
};

/**
 * Fill the slots of a text.
 *
 * @param {string} text
 * @param {Record<string, string | number>} values
 * @returns {string}
 */
export function fill(text, values) {
  return text.replace(/\{(\w+)\}/g, (slot, name) => (name in values ? String(values[name]) : slot));
}

/**
 * The key of a text in the plural form for a number. A language may have more forms (`_two`, `_few`) than English.
 *
 * @param {string} one  the key of the form for one
 * @param {string} many  the key of the form that every language has
 * @param {number} count
 * @param {(key: string) => string | undefined} text
 * @returns {string}
 */
export function plural(one, many, count, text) {
  const form = new Intl.PluralRules(document.documentElement.lang || "en").select(count);
  const key = one.replace(/one$/, form);
  return text(key) === undefined ? many : key;
}

/**
 * The words of the page: those of the server, and English for the rest.
 *
 * @param {Record<string, string>} sent
 * @returns {(key: string, values?: Record<string, string | number>) => string}
 */
export function words(sent) {
  const texts = { ...ENGLISH, ...sent };
  return (key, values = {}) => (texts[key] === undefined ? undefined : fill(texts[key], values));
}
