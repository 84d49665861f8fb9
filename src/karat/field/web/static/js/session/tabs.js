/**
 * One tab at a time: the tab that was opened last continues, and earlier ones stop with a message.
 *
 * Each tab announces itself with a stamp; a tab that receives a later stamp than its own stops.
 */

/**
 * Claim the study for this tab.
 *
 * @param {string} name  of the study and session
 * @param {() => void} lost  called when another tab has taken over
 */
export function claim(name, lost) {
  if (!("BroadcastChannel" in globalThis)) return;
  const channel = new BroadcastChannel(`karat/${name}`);
  const mine = [Date.now(), crypto.randomUUID()];
  channel.onmessage = ({ data }) => {
    if (!later(data, mine)) return;
    channel.close();
    lost();
  };
  channel.postMessage(mine);
}

/**
 * Whether one stamp is later than another; equal times are settled by the random part.
 *
 * @param {[number, string]} one
 * @param {[number, string]} other
 * @returns {boolean}
 */
export function later(one, other) {
  return one[0] === other[0] ? one[1] > other[1] : one[0] > other[0];
}
