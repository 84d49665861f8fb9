/**
 * What is judged, as people see it: the context, the sentence or picture, its gloss.
 */

import { glossed } from "./gloss.js";
import { picture } from "./images.js";
import { element, page } from "./page.js";
import { write } from "./runs.js";

/** @returns {Record<string, string>} the attributes of text in the language of the study */
function spoken() {
  return { lang: page.language, dir: page.direction };
}

/**
 * The context of a trial, or null.
 *
 * @param {import("./client.js").Trial} trial
 * @returns {HTMLElement | null}
 */
export function context(trial) {
  if (!trial.context) return null;
  const label = element("span", { class: "visually-hidden" }, `${page.word("context")}: `);
  return write(element("p", { class: "context", ...spoken() }, label), trial.context);
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
    whole.dir = page.direction;
  } else if (shown.text) {
    whole.append(write(element("span", { class: "sentence", ...spoken() }), shown.text));
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
 * The sentence that numbers are compared with, and its number.
 *
 * @param {{text: any, value: string}} modulus
 * @returns {HTMLElement}
 */
export function modulus(modulus) {
  const label = element("span", { class: "quiet" }, page.word("modulus"));
  const sentence = write(element("span", { class: "sentence", ...spoken() }), modulus.text);
  const value = element("span", { class: "modulus-value" }, page.word("modulus_value", { value: modulus.value }));
  return element("p", { class: "modulus", id: "modulus" }, label, sentence, value);
}
