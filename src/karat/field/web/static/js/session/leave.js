/**
 * Go to another page of the study: by address or, in a frame without cookies, by a form with the token.
 */

import { element } from "../page.js";

/**
 * @param {string} address
 * @param {string | null} token
 */
export function leaveFor(address, token) {
  if (token === null) {
    window.location.assign(address);
    return;
  }
  const field = element("input", { type: "hidden", name: "token", value: token });
  const form = /** @type {HTMLFormElement} */ (element("form", { method: "post", action: address, hidden: true }, field));
  document.body.append(form);
  form.submit();
}
