/**
 * Fetch and decode pictures when their trial arrives, before its turn, so that they are painted with the rest.
 */

const ATTEMPTS = 5;

/** @type {Map<string, Promise<HTMLImageElement | null>>} */
const pictures = new Map();

/**
 * The decoded picture at an address; null if it cannot be loaded.
 *
 * @param {string} address
 * @returns {Promise<HTMLImageElement | null>}
 */
export function picture(address) {
  if (!pictures.has(address)) pictures.set(address, fetched(address));
  return pictures.get(address);
}

/**
 * Fetch the pictures of trials ahead.
 *
 * @param {import("./session/client.js").Trial[]} trials
 */
export function preload(trials) {
  for (const trial of trials) for (const stimulus of trial.stimuli ?? []) if (stimulus.image) picture(stimulus.image);
}

/**
 * @param {string} address
 * @returns {Promise<HTMLImageElement | null>}
 */
async function fetched(address) {
  for (let attempt = 0; attempt < ATTEMPTS; ) {
    const image = new Image();
    image.src = address;
    try {
      await image.decode();
      return image;
    } catch {
      // Offline, wait as long as it takes; online, give up after five failures.
      if (navigator.onLine) attempt += 1;
      await new Promise((resolve) => setTimeout(resolve, 500 * 2 ** attempt));
    }
  }
  return null;
}
