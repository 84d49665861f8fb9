/**
 * Answers that the server has not confirmed yet. They are in the browser's storage, one entry per answer, so that neither
 * a reload nor a closed tab loses them and two tabs do not overwrite each other.
 *
 * If the browser forbids storage (some frames of other sites), they are only in memory.
 */

export class Outbox {
  /**
   * @param {string} study
   * @param {string} session  differs between participants, so that a shared computer mixes nobody's answers
   * @param {Storage | null} storage
   */
  constructor(study, session, storage) {
    this.prefix = `karat/${study}/${session}/`;
    this.storage = storage;
    /** @type {Map<string, object>} */
    this.answers = new Map();
    this.read();
  }

  /** Load the answers that an earlier page or another tab has left. */
  read() {
    for (const name of this.names()) {
      try {
        const answer = JSON.parse(this.storage.getItem(name));
        this.answers.set(answer.key, answer);
      } catch {
        this.storage.removeItem(name);
      }
    }
  }

  /** @returns {string[]} the names of our entries in the storage */
  names() {
    if (!this.storage) return [];
    return Array.from({ length: this.storage.length }, (_, index) => this.storage.key(index)).filter((name) =>
      name.startsWith(this.prefix),
    );
  }

  /** @returns {number} */
  get size() {
    return this.answers.size;
  }

  /** @returns {any[]} the answers in the order in which they were given */
  all() {
    return [...this.answers.values()].sort((a, b) => a.answered_at - b.answered_at);
  }

  /** @param {{key: string}} answer */
  add(answer) {
    this.answers.set(answer.key, answer);
    try {
      this.storage?.setItem(this.prefix + answer.key, JSON.stringify(answer));
    } catch {
      // The storage is full or closed. The answer stays in memory and is sent anyway.
    }
  }

  /** @param {string} key */
  remove(key) {
    this.answers.delete(key);
    this.storage?.removeItem(this.prefix + key);
  }
}

/** @returns {Storage | null} the browser's storage, if it may be used */
export function storage() {
  try {
    const local = window.localStorage;
    local.setItem("karat/try", "");
    local.removeItem("karat/try");
    return local;
  } catch {
    return null;
  }
}
