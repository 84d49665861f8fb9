/**
 * Events around the answers: lost focus, resizing, and how the answer is given (`hand.js`).
 *
 * All of this is sent with the answers as evidence and never stops a participant. If the study has `traces = false`,
 * pointer and keys are not watched.
 */

import { Hand } from "./hand.js";

const FAST = 0.3;
const POINTERS = ["mouse", "touch", "pen"];

/**
 * The class of a device from its screen and its pointers.
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

export class Watch {
  /**
   * @param {import("./client.js").Client} client
   * @param {boolean} traces  whether pointer and keys are watched
   */
  constructor(client, traces = true) {
    this.client = client;
    this.hand = traces ? new Hand() : null;
    this.device = thisDevice();
    /** @type {number | null} */
    this.frameRate = null;
    this.pointer = "";
    this.blurs = 0;
    this.away = 0;
    /** @type {number | null} when the window lost the focus, if it has */
    this.left = null;
    this.listen();
    if (traces) this.listenToHands();
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
    on(document, "pointerdown", (event) => (this.pointer = POINTERS.includes(event.pointerType) ? event.pointerType : ""));
    on(document, "keydown", (event) => event.repeat || (this.pointer = "key"));
  }

  listenToHands() {
    const on = (kind, act) => document.addEventListener(kind, act, { capture: true, passive: true });
    const { hand, client } = this;
    on("pointermove", (event) => hand.move(event));
    on("pointerdown", (event) => hand.press(event));
    on("pointerup", (event) => hand.release(event));
    on("keydown", (event) => hand.key(event));
    on("keyup", (event) => hand.letGo(event));
    on("scroll", (event) => hand.scroll(event));
    on("paste", () => {
      hand.paste();
      client.event("paste");
    });
    if (navigator.webdriver) client.event("webdriver");
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
    return {
      ...(this.hand && { trace: this.hand.end() }),
      blurs: this.blurs,
      away: rounded(this.away),
      pointer: this.pointer,
      window: size(),
      device: this.device,
      isolated: window.crossOriginIsolated === true,
      frame_rate: this.frameRate,
    };
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
