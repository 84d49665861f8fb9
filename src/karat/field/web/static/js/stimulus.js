/**
 * The stimulus of a trial: its context, sentence or picture, and gloss.
 */

import { glossed } from "./gloss.js";
import { picture } from "./images.js";
import { element, page } from "./page.js";
import { plain, write } from "./runs.js";

const LEFTWARD = /[\p{Script=Arab}\p{Script=Hebr}\p{Script=Syrc}\p{Script=Thaa}\p{Script=Nkoo}\p{Script=Adlm}]/gu;

/**
 * The direction of most letters of a text, since sentences of a study may be in another script than its pages.
 *
 * @param {import("./runs.js").Runs} runs
 * @returns {string}
 */
function directionOf(runs) {
  const letters = plain(runs).match(/\p{L}/gu)?.length ?? 0;
  const leftward = plain(runs).match(LEFTWARD)?.length ?? 0;
  if (2 * leftward === letters) return page.direction;
  return 2 * leftward > letters ? "rtl" : "ltr";
}

/**
 * Put a text in the language of the study into an element.
 *
 * @param {HTMLElement} element
 * @param {import("./runs.js").Runs} runs
 * @returns {HTMLElement}
 */
function say(element, runs) {
  element.lang = page.language;
  element.dir = directionOf(runs);
  return write(element, runs);
}

/**
 * The context of a trial, or null.
 *
 * @param {import("./session/client.js").Trial} trial
 * @returns {HTMLElement | null}
 */
export function context(trial) {
  if (!trial.context) return null;
  const label = element("span", { class: "visually-hidden" }, `${page.word("context")}: `);
  return say(element("p", { class: "context" }, label), trial.context);
}

/**
 * One stimulus: a sentence, a picture, or both.
 *
 * @param {{text: any, gloss: any, image: string | null}} shown
 * @param {string} [name]  the element
 * @returns {Promise<HTMLElement>}
 */
export async function stimulus(shown, name = "div") {
  const whole = element(name, { class: "stimulus" });
  if (shown.image) whole.append(await painted(shown.image));
  if (shown.text && shown.gloss) {
    whole.append(glossed(shown.text, shown.gloss, page.language));
    whole.dir = directionOf(shown.text);
  } else if (shown.text) {
    whole.append(say(element("span", { class: "sentence" }), shown.text));
  }
  return whole;
}

/** @param {string} address */
async function painted(address) {
  const image = await picture(address);
  if (image === null) {
    page.watch?.client.event("picture", { address });
    return element("p", { class: "notice bad" }, page.word("picture_missing"));
  }
  image.alt = page.word("picture");
  image.className = "picture";
  return image;
}

/**
 * The reference sentence for numbers, and its number.
 *
 * @param {{text: any, value: string}} modulus
 * @returns {HTMLElement}
 */
export function modulus(modulus) {
  const label = element("span", { class: "quiet" }, page.word("modulus"));
  const sentence = say(element("span", { class: "sentence" }), modulus.text);
  const value = element("span", { class: "modulus-value" }, page.word("modulus_value", { value: modulus.value }));
  return element("p", { class: "modulus", id: "modulus" }, label, sentence, value);
}
