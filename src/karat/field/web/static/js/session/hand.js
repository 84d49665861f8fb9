/**
 * A few numbers about how a trial was answered: movements, presses and keys are counted and summed, never recorded.
 *
 * The numbers do not depend on what was answered or typed. Those of a trial begin at the end of the one before, so that a
 * key that closes a page is timed when it is released. Path, speed and dwell are those of the movement to the last press;
 * `karat.simulate.hands.summary` computes the same.
 */

const STILL = 100;
const SOONEST = 4;
const TARGETS = "button, label, input, select, textarea, [role=radio], [role=slider], [role=button]";
const GLOBALS = [
  "__playwright", "__pwInitScripts", "__puppeteer_evaluation_script__", "_phantom", "callPhantom", "__nightmare",
  "domAutomation", "domAutomationController", "_selenium", "__selenium_unwrapped", "__webdriver_evaluate",
  "__driver_evaluate", "__webdriver_script_fn",
];

/** @returns {number} how many marks of an automated browser there are */
export function flags(scope = globalThis) {
  const named = GLOBALS.filter((name) => name in scope).length;
  const driver = Object.keys(scope.document ?? {}).some((name) => /^\$?cdc_/.test(name));
  return Number(scope.navigator?.webdriver === true) + named + Number(driver);
}

/** @returns {number | null} the smallest step of the page's clock in seconds, where it has one of a few milliseconds */
export function grain(now = () => performance.now()) {
  let smallest = Infinity;
  let last = now();
  for (let tries = 0, steps = 0; tries < 20_000 && steps < 5; tries += 1) {
    const next = now();
    if (next > last) {
      smallest = Math.min(smallest, next - last);
      steps += 1;
    }
    last = next;
  }
  return Number.isFinite(smallest) ? Math.round(smallest * 1000) / 1e6 : null;
}

/** Whether the window has a size and is not larger than the screen, as 1 or 0. Zoom changes neither. */
export function fits({ outerWidth, outerHeight, screen } = window) {
  const within = outerWidth <= screen.width + 50 && outerHeight <= screen.height + 50;
  return Number(outerWidth > 0 && outerHeight > 0 && within);
}

/** @param {number[]} values */
function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}

/** @param {number} value @param {number} digits */
function rounded(value, digits) {
  return Math.min(1e6, Math.max(0, Math.round(value * 10 ** digits) / 10 ** digits));
}

export class Hand {
  constructor() {
    /** @type {[number, number] | null} where the pointer is */
    this.place = null;
    /** @type {Map<string, number>} keys that are down, since when */
    this.down = new Map();
    this.pressed = NaN;
    this.about = { flags: flags(), fits: fits(), grain: grain() };
    this.clear();
    this.segment();
  }

  /** Reset the counts. */
  clear() {
    this.count = { moves: 0, keys: 0, scrolls: 0, paste: 0, untrusted: 0 };
    this.holds = [];
    this.sizes = new Set();
    this.last = {};
    this.scrolled = -Infinity;
  }

  /** Begin the movement to the next press. */
  segment() {
    this.way = { start: this.place, path: 0, active: 0, peak: 0, first: NaN, at: NaN };
  }

  /** @param {PointerEvent} event */
  move(event) {
    this.count.moves += 1;
    if (event.pointerType === "touch") {
      this.size(event);
      return;
    }
    const { way } = this;
    const here = [event.clientX, event.clientY];
    if (this.place) {
      const step = Math.hypot(here[0] - this.place[0], here[1] - this.place[1]);
      const wait = event.timeStamp - way.at;
      way.path += step;
      // The first step has no duration, because the pointer may have rested before.
      if (wait <= STILL) {
        way.active += wait;
        way.peak = Math.max(way.peak, step / Math.max(wait, SOONEST));
      }
    }
    way.start ??= here;
    if (Number.isNaN(way.first)) way.first = event.timeStamp;
    way.at = event.timeStamp;
    this.place = here;
  }

  /** @param {PointerEvent} event */
  press(event) {
    if (!event.isTrusted) this.count.untrusted += 1;
    this.pressed = event.timeStamp;
    const target = event.target.closest?.(TARGETS);
    const last = {};
    if (target) {
      const { left, top, width, height } = target.getBoundingClientRect();
      const x = Math.abs(event.clientX - left - width / 2) / Math.max(1, width / 2);
      const y = Math.abs(event.clientY - top - height / 2) / Math.max(1, height / 2);
      last.off = rounded(Math.max(x, y), 3);
    }
    if (event.pointerType === "touch") this.size(event);
    else {
      const { start, path, active, peak, first, at } = this.way;
      const here = [event.clientX, event.clientY];
      if (start && path > 0) {
        last.straight = rounded(Math.hypot(here[0] - start[0], here[1] - start[1]) / path, 4);
        last.moving = rounded((at - first) / 1000, 3);
        last.dwell = rounded((event.timeStamp - at) / 1000, 3);
      }
      Object.assign(last, { path: rounded(path, 0), active: rounded(active / 1000, 3), peak: rounded(peak * 1000, 0) });
      this.place = here;
    }
    this.last = last;
    this.segment();
  }

  /** @param {PointerEvent} event */
  release(event) {
    if (!Number.isNaN(this.pressed)) this.last.press = rounded((event.timeStamp - this.pressed) / 1000, 4);
    this.pressed = NaN;
    if (event.pointerType === "touch") this.size(event);
  }

  /** @param {PointerEvent} event */
  size(event) {
    if (this.sizes.size < 20) this.sizes.add(`${Math.round(event.width)} ${Math.round(event.height)}`);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.repeat) return;
    if (!event.isTrusted) this.count.untrusted += 1;
    this.count.keys += 1;
    if (this.down.size < 10) this.down.set(event.code, event.timeStamp);
  }

  /** @param {KeyboardEvent} event */
  letGo(event) {
    const since = this.down.get(event.code);
    this.down.delete(event.code);
    if (since !== undefined && this.holds.length < 50) this.holds.push((event.timeStamp - since) / 1000);
  }

  /** @param {Event} event */
  scroll(event) {
    if (event.timeStamp - this.scrolled > 200) this.count.scrolls += 1;
    this.scrolled = event.timeStamp;
  }

  paste() {
    this.count.paste += 1;
  }

  /** A trial ends. @returns {Record<string, number>} its numbers; those that are zero or unknown are left out */
  end() {
    const numbers = { ...this.count, ...this.last, ...this.about };
    if (this.holds.length > 0) numbers.hold = rounded(median(this.holds), 4);
    if (this.sizes.size > 0) numbers.sizes = this.sizes.size;
    const always = new Set(["flags", "fits", ...Object.keys(this.last)]);
    const entries = Object.entries(numbers).filter(([name, value]) => value !== null && (value !== 0 || always.has(name)));
    this.about = {};
    this.clear();
    return Object.fromEntries(entries);
  }
}
