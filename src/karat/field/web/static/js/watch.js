/**
 * What happens around the answers: the window loses the focus, is resized, something is pasted, how the pointer moves.
 *
 * All of it is evidence that travels with the answers; nothing here ever stops a participant. The movements are only
 * counted and summed, never recorded.
 */

const TRACE_EVERY = 20;
const FAST = 0.3;
const POINTERS = ["mouse", "touch", "pen"];

/**
 * The class of a device from what its screen and its pointers are.
 *
 * @param {{coarse: boolean, fine: boolean, shortSide: number}} facts
 * @returns {"phone" | "tablet" | "desktop"}
 */
export function deviceClass({ coarse, fine, shortSide }) {
  if (!coarse || fine) return "desktop";
  return shortSide < 600 ? "phone" : "tablet";
}

/** @returns {"phone" | "tablet" | "desktop"} */
function thisDevice() {
  const is = (query) => window.matchMedia(query).matches;
  const shortSide = Math.min(window.screen.width, window.screen.height);
  return deviceClass({ coarse: is("(any-pointer: coarse)"), fine: is("(any-pointer: fine)"), shortSide });
}

function noTrace() {
  return { trials: 0, moves: 0, distance: 0, clicks: 0, keys: 0, jumps: 0, untrusted: 0 };
}

export class Watch {
  /** @param {import("./client.js").Client} client */
  constructor(client) {
    this.client = client;
    this.device = thisDevice();
    /** @type {number | null} */
    this.frameRate = null;
    this.pointer = "";
    this.blurs = 0;
    this.away = 0;
    /** @type {number | null} when the window lost the focus, where it has */
    this.left = null;
    /** @type {[number, number] | null} where the pointer was last */
    this.place = null;
    this.movedSince = false;
    this.trace = noTrace();
    this.listen();
    if (navigator.webdriver) client.event("webdriver");
    const [visit] = performance.getEntriesByType("navigation");
    if (visit?.type === "reload") client.event("reload");
  }

  listen() {
    const on = (target, kind, act) => target.addEventListener(kind, act, { capture: true, passive: true });
    on(window, "blur", (event) => event.target === window && this.leave());
    on(window, "focus", (event) => event.target === window && this.comeBack());
    on(document, "visibilitychange", () => (document.hidden ? this.leave() : this.comeBack()));
    on(window, "offline", () => this.client.event("offline"));
    on(window, "online", () => this.client.event("online"));
    on(window, "resize", () => this.resized());
    on(document, "paste", () => this.client.event("paste"));
    on(document, "pointermove", (event) => this.moved(event));
    on(document, "pointerdown", (event) => this.pressed(event));
    on(document, "keydown", (event) => this.typed(event));
  }

  leave() {
    if (this.left !== null) return;
    this.left = performance.now();
    this.blurs += 1;
    this.client.event("blur");
  }

  comeBack() {
    if (this.left === null || document.hidden) return;
    const seconds = (performance.now() - this.left) / 1000;
    this.left = null;
    this.away += seconds;
    this.client.event("focus", { away: rounded(seconds) });
  }

  resized() {
    clearTimeout(this.resizing);
    this.resizing = setTimeout(() => this.client.event("resize", { width: size()[0], height: size()[1] }), 500);
  }

  /** @param {PointerEvent} event */
  moved(event) {
    this.trace.moves += 1;
    if (this.place) this.trace.distance += Math.hypot(event.clientX - this.place[0], event.clientY - this.place[1]);
    this.place = [event.clientX, event.clientY];
    this.movedSince = true;
  }

  /** @param {PointerEvent} event */
  pressed(event) {
    this.pointer = POINTERS.includes(event.pointerType) ? event.pointerType : "";
    this.trace.clicks += 1;
    if (!event.isTrusted) this.trace.untrusted += 1;
    // A mouse has to travel to its next target; a finger has not.
    const elsewhere = this.place && Math.hypot(event.clientX - this.place[0], event.clientY - this.place[1]) > 2;
    if (event.pointerType === "mouse" && elsewhere && !this.movedSince) this.trace.jumps += 1;
    this.place = [event.clientX, event.clientY];
    this.movedSince = false;
  }

  /** @param {KeyboardEvent} event */
  typed(event) {
    if (event.repeat) return;
    this.pointer = "key";
    this.trace.keys += 1;
    if (!event.isTrusted) this.trace.untrusted += 1;
  }

  /** A trial begins: count from zero. */
  begin() {
    this.blurs = 0;
    this.away = 0;
    if (this.left !== null) this.left = performance.now();
  }

  /**
   * Input came so soon after the onset that it cannot be an answer to what was shown.
   *
   * @param {number} after  seconds
   * @param {boolean} ignored
   */
  fast(after, ignored) {
    if (ignored || after < FAST) this.client.event("fast", { after: rounded(after), ignored });
  }

  /** A trial ends. @returns {object} what is known of its circumstances */
  end() {
    this.trace.trials += 1;
    if (this.trace.trials >= TRACE_EVERY) this.report();
    return {
      blurs: this.blurs,
      away: rounded(this.away),
      pointer: this.pointer,
      window: size(),
      device: this.device,
      isolated: window.crossOriginIsolated === true,
      frame_rate: this.frameRate,
    };
  }

  /** Send the summary of movements since the last one. */
  report() {
    if (this.trace.trials === 0) return;
    this.client.event("trace", { ...this.trace, distance: Math.round(this.trace.distance) });
    this.trace = noTrace();
  }
}

/** @returns {[number, number]} of the window in CSS pixels */
function size() {
  return [window.innerWidth, window.innerHeight];
}

/** @param {number} seconds to the millisecond, a day at most */
function rounded(seconds) {
  return Math.min(86_400, Math.round(seconds * 1000) / 1000);
}
