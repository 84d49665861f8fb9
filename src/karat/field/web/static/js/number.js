/**
 * Read numbers as people write them.
 */

/**
 * Read a number with a decimal comma or point, in the digits of any script.
 *
 * A group of three digits after a separator (1.000 or 1,000) is ambiguous and must be entered again.
 *
 * @param {string} text
 * @returns {{value: string} | {error: "empty" | "invalid" | "positive" | "separator"}}
 */
export function readNumber(text) {
  const latin = text.trim().replace(/\p{Nd}/gu, digitOf).replace(/٫/g, ".");
  if (latin === "") return { error: "empty" };
  if (/^[1-9]\d{0,2}([.,٬' \u00a0\u202f]\d{3})+([.,]\d+)?$/.test(latin)) return { error: "separator" };
  if (!/^[+-]?(\d+([.,]\d*)?|[.,]\d+)$/.test(latin)) return { error: "invalid" };
  const value = Number(latin.replace(",", "."));
  if (!(value > 0)) return { error: "positive" };
  // Plain digits and never an exponent, as the server expects.
  const plainly = latin.replace(",", ".").replace(/^\+/, "").replace(/\.$/, "").replace(/^\./, "0.");
  return { value: plainly.replace(/^0+(?=\d)/, "") };
}

/** @param {string} character a decimal digit of any script */
function digitOf(character) {
  if (/[0-9]/.test(character)) return character;
  // The digits of a script are consecutive in Unicode, so zero is the lowest of them.
  let code = character.codePointAt(0);
  let digit = 0;
  while (digit < 9 && /\p{Nd}/u.test(String.fromCodePoint(code - 1))) {
    code -= 1;
    digit += 1;
  }
  return String(digit);
}
