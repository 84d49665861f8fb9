/**
 * The onset of a stimulus, and the frame rate of the screen.
 *
 * Changes in the call-back of an animation frame are painted at the end of that frame. The time stamp of the next frame
 * is the earliest moment at which they can be seen; this is the onset. An answer has the time stamp of its event, which
 * the browser takes when the input arrives and not when a script runs. Both are on the clock of `performance.now()`.
 */

/** @returns {Promise<number>} the time stamp of the next animation frame, in milliseconds */
export function frame() {
  return new Promise((resolve) => requestAnimationFrame(resolve));
}

/**
 * Draw within one frame; resolves to the onset.
 *
 * A page in the background has no frames, so a stimulus does not count as shown before it can be seen.
 *
 * @param {() => void} draw
 * @returns {Promise<number>}
 */
export async function paint(draw) {
  await frame();
  draw();
  return frame();
}

/**
 * Milliseconds on the page's clock as milliseconds since 1970.
 *
 * @param {number} time
 * @returns {number}
 */
export function epoch(time) {
  return Math.round(performance.timeOrigin + time);
}

/**
 * The frames per second from the time stamps of successive frames: one over the median interval.
 *
 * @param {number[]} stamps
 * @returns {number | null}
 */
export function rateOf(stamps) {
  const intervals = stamps.slice(1).map((stamp, index) => stamp - stamps[index]);
  if (intervals.length === 0) return null;
  intervals.sort((a, b) => a - b);
  const median = intervals[Math.floor(intervals.length / 2)];
  return median > 0 ? Math.round(10_000 / median) / 10 : null;
}

/**
 * Measure the frame rate of this screen over some frames.
 *
 * @param {number} [frames]
 * @returns {Promise<number | null>}
 */
export async function frameRate(frames = 30) {
  const stamps = [];
  for (let count = 0; count <= frames; count += 1) stamps.push(await frame());
  return rateOf(stamps);
}
