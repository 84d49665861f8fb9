/**
 * The connection to the server: trials arrive in advance, and answers stay in the outbox until they are confirmed.
 *
 * One request runs at a time. Each answer has a key, so that a repeated request saves it once. A failed request is repeated
 * after half a second, then after twice as long each time up to half a minute, and at once when the browser is online
 * again.
 *
 * @typedef {{id: string, kind: string, task?: string, [more: string]: any}} Trial
 */

const BATCH = 50;
const FIRST_WAIT = 500;
const LONGEST_WAIT = 30_000;
const TIMEOUT = 20_000;

/** A response that ends the session on this page: "lost" (no session) or "ended" (the session is over). */
export class Ended extends Error {}

/** A response that would be the same if the request were repeated. */
export class Refused extends Error {}

export class Client {
  /**
   * @param {object} parts
   * @param {string} parts.study
   * @param {string | null} parts.token  only if the page is framed and has no cookie
   * @param {import("./outbox.js").Outbox} parts.outbox
   * @param {typeof fetch} [parts.fetch]
   * @param {(milliseconds: number) => Promise<void>} [parts.wait]
   */
  constructor({ study, token, outbox, fetch = globalThis.fetch.bind(globalThis), wait = pause }) {
    this.address = `/api/${study}`;
    this.token = token;
    this.outbox = outbox;
    this.fetch = fetch;
    this.wait = wait;
    /** @type {Trial[]} */
    this.queue = [];
    /** @type {Trial | null} */
    this.current = null;
    /** @type {Record<string, any>} */
    this.scales = {};
    /** @type {any} the first response of the server */
    this.setting = null;
    this.step = "trials";
    /** @type {object[]} */
    this.events = [];
    this.failures = 0;
    this.narrow = false;
    this.stopped = false;
    this.busy = false;
    /** @type {(() => void)[]} */
    this.waiting = [];
    /** Called with "online", "offline", "lost" or "ended" when that changes. @type {(state: string) => void} */
    this.onState = () => {};
    /** Called with trials that have just come. @type {(trials: Trial[]) => void} */
    this.onTrials = () => {};
  }

  /** Exchange trials and answers with the server until everything is done or `stop` is called. */
  async run() {
    while (!this.stopped) {
      if (this.idle()) {
        await this.change();
        continue;
      }
      try {
        this.busy = true;
        await (this.outbox.size > 0 ? this.send() : this.load());
        this.line(true);
      } catch (problem) {
        if (problem instanceof Ended) {
          this.stop();
          this.onState(problem.message);
        } else {
          this.line(false);
          await Promise.race([this.wait(this.delay()), this.back()]);
        }
      } finally {
        this.busy = false;
        this.wake();
      }
    }
  }

  /** @returns {boolean} whether there is nothing to load or to send */
  idle() {
    if (this.setting === null || this.outbox.size > 0) return false;
    return this.step !== "trials" || this.queue.length > 0 || this.current !== null;
  }

  /** Stop, because another tab has taken over or the session is over. */
  stop() {
    this.stopped = true;
    this.wake();
  }

  /**
   * The next trial, as soon as there is one; null when all are answered and saved.
   *
   * @returns {Promise<Trial | null>}
   */
  async next() {
    this.current = null;
    this.wake();
    while (!this.stopped) {
      const trial = this.setting === null ? null : this.queue.shift();
      if (trial) {
        this.current = trial;
        return trial;
      }
      if (this.setting !== null && this.step !== "trials" && this.outbox.size === 0 && !this.busy) return null;
      await this.change();
    }
    return new Promise(() => {}); // The page says elsewhere why it has stopped.
  }

  /**
   * Store an answer and send it; on a page that has stopped, it is ignored.
   *
   * @param {object} answer
   */
  answer(answer) {
    if (this.stopped) return;
    this.outbox.add({ ...answer, key: crypto.randomUUID() });
    this.wake();
  }

  /**
   * Record an event; it is sent with the next answers.
   *
   * @param {string} kind
   * @param {object} [details]
   */
  event(kind, details = {}) {
    if (this.events.length < 100) this.events.push({ kind, at: Date.now(), trial: this.current?.id ?? null, details });
  }

  /** @returns {Promise<void>} */
  async load() {
    const got = await this.request("GET", "/trials");
    this.setting ??= got;
    this.take(got);
    if (got.step === "trials" && this.queue.length === 0 && this.current === null) throw new Error("no trials came");
  }

  /** @returns {Promise<void>} */
  async send() {
    const batch = this.outbox.all().slice(0, this.narrow ? 1 : BATCH);
    const events = this.events.slice(0, BATCH);
    try {
      const got = await this.request("POST", "/answers", { answers: batch, events, have: this.held(batch) });
      this.events.splice(0, events.length);
      for (const key of [...got.saved, ...got.refused.map((refused) => refused.key)]) this.outbox.remove(key);
      for (const refused of got.refused) console.warn(`An answer was refused: ${refused.reason}`);
      this.narrow = false;
      this.take(got);
    } catch (problem) {
      if (!(problem instanceof Refused)) throw problem;
      console.warn(problem.message);
      // The server cannot read a part of it: first leave out the events, then send the answers one by one, so that one
      // answer does not block the others.
      if (this.events.splice(0, events.length).length > 0) return;
      if (batch.length === 1) this.outbox.remove(batch[0].key);
      this.narrow = true;
    }
  }

  /**
   * The ids of the trials that the browser has, or whose answers it has not sent yet.
   *
   * @param {{key: string}[]} batch
   */
  held(batch) {
    const keys = new Set(batch.map((answer) => answer.key));
    const unsent = this.outbox.all().filter((answer) => !keys.has(answer.key));
    const shown = this.current ? [this.current.id] : [];
    return [...new Set([...shown, ...this.queue.map((trial) => trial.id), ...unsent.map((answer) => answer.trial)])];
  }

  /** @param {any} got */
  take(got) {
    Object.assign(this.scales, got.scales);
    this.step = got.step;
    const known = new Set(this.held([]));
    const fresh = got.trials.filter((trial) => !known.has(trial.id));
    this.queue.push(...fresh);
    this.onTrials(fresh);
  }

  /**
   * @param {string} method
   * @param {string} path
   * @param {object} [body]
   * @returns {Promise<any>}
   */
  async request(method, path, body) {
    const options = { ...this.options(method, body), cache: "no-store", signal: AbortSignal.timeout(TIMEOUT) };
    const response = await this.fetch(this.address + path, options);
    if (response.ok) return response.json();
    if (response.status === 401) throw new Ended("lost");
    if (response.status === 409) throw new Ended("ended");
    if (response.status === 413 || response.status === 422) throw new Refused(`The server said ${response.status}.`);
    throw new Error(`The server said ${response.status}.`);
  }

  /** Send the rest while the page is closing; the outbox keeps it until a later page gets the confirmation. */
  farewell() {
    if (this.stopped || (this.outbox.size === 0 && this.events.length === 0)) return;
    const body = { answers: this.outbox.all().slice(0, BATCH), events: this.events.splice(0), have: this.held([]) };
    this.fetch(`${this.address}/answers`, { ...this.options("POST", body), keepalive: true }).catch(() => {});
  }

  /**
   * @param {string} method
   * @param {object} [body]
   * @returns {RequestInit} the options of a request
   */
  options(method, body) {
    const headers = { "X-Karat": "1", Accept: "application/json" };
    if (this.token) headers.Authorization = `Bearer ${this.token}`;
    if (body) headers["Content-Type"] = "application/json";
    return { method, headers, credentials: "same-origin", ...(body && { body: JSON.stringify(body) }) };
  }

  /** @param {boolean} good */
  line(good) {
    if (good !== (this.failures === 0)) this.onState(good ? "online" : "offline");
    this.failures = good ? 0 : this.failures + 1;
  }

  /** @returns {number} how long to wait after this many failures, in milliseconds */
  delay() {
    const longest = Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** (this.failures - 1));
    return longest * (0.75 + 0.25 * Math.random());
  }

  /** @returns {Promise<void>} until the browser says that the line is back */
  back() {
    return new Promise((resolve) => globalThis.addEventListener?.("online", () => resolve(), { once: true }));
  }

  /** @returns {Promise<void>} until something has changed */
  change() {
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  wake() {
    for (const resolve of this.waiting.splice(0)) resolve();
  }
}

/** @param {number} milliseconds @returns {Promise<void>} */
function pause(milliseconds) {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
