// The line to the server, against a server that fails as it likes: nothing is lost, nothing is saved twice.

import assert from "node:assert/strict";
import test from "node:test";

const modules = new URL("../../../../src/karat/field/web/static/js/", import.meta.url);
const { Client } = await import(new URL("session/client.js", modules));
const { Outbox } = await import(new URL("session/outbox.js", modules));

class Storage {
  entries = new Map();
  get length() {
    return this.entries.size;
  }
  key(index) {
    return [...this.entries.keys()][index] ?? null;
  }
  getItem(name) {
    return this.entries.get(name) ?? null;
  }
  setItem(name, value) {
    this.entries.set(name, value);
  }
  removeItem(name) {
    this.entries.delete(name);
  }
}

/** A server with a number of trials; `fault(number of the post)` says how each post fails, if it does. */
function server(count, fault = () => "") {
  const trials = Array.from({ length: count }, (_, index) => ({ id: `t${index}`, kind: "trial", scale: "s" }));
  const saved = new Map();
  const state = { posts: 0, saved, all: [], keys: new Map(), events: [] };
  const ahead = (have) => {
    const left = trials.filter((trial) => !saved.has(trial.id));
    const sent = left.slice(0, 3).filter((trial) => !have.includes(trial.id));
    return { step: left.length ? "trials" : "comment", trials: sent, scales: { s: {} }, left: left.length };
  };
  const reply = (status, body) => ({ ok: status === 200, status, json: async () => body });
  state.fetch = async (address, options) => {
    await null;
    if (options.method === "GET") return reply(200, { ...ahead([]), going_back: false, previous: null });
    const how = fault(state.posts++, JSON.parse(options.body));
    if (how === "down") throw new TypeError("no line");
    if (typeof how === "number") return reply(how, {});
    const { answers, events, have } = JSON.parse(options.body);
    const refused = [];
    for (const answer of answers) {
      if (state.keys.has(answer.key)) continue;
      if (saved.has(answer.trial)) refused.push({ key: answer.key, reason: "already answered" });
      else {
        saved.set(answer.trial, answer.response);
        state.keys.set(answer.key, answer.trial);
        state.all.push(answer);
      }
    }
    state.events.push(...events);
    if (how === "reply lost") throw new TypeError("no line");
    return reply(200, { saved: answers.map((a) => a.key), refused, ...ahead(have) });
  };
  return state;
}

function participant(state, storage = new Storage()) {
  const outbox = new Outbox("study", "p-1", storage);
  const client = new Client({ study: "study", token: null, outbox, fetch: state.fetch, wait: async () => {} });
  client.run();
  return client;
}

/** Answer all trials; gives the ids in the order in which they were shown. */
async function answerAll(client) {
  const shown = [];
  for (let trial; (trial = await client.next()); ) {
    shown.push(trial.id);
    client.answer({ trial: trial.id, response: String(shown.length), answered_at: shown.length });
  }
  return shown;
}

const expected = (count) => Array.from({ length: count }, (_, index) => `t${index}`);

test("all trials come once and in order", async () => {
  const state = server(12);
  assert.deepEqual(await answerAll(participant(state)), expected(12));
  assert.deepEqual([...state.saved.keys()], expected(12));
});

for (const how of ["down", "reply lost", 500, 503, 429]) {
  test(`every second post fails: ${how}`, async () => {
    const state = server(12, (number) => (number % 2 ? how : ""));
    const client = participant(state);
    const states = [];
    client.onState = (said) => states.push(said);
    assert.deepEqual(await answerAll(client), expected(12));
    assert.equal(state.all.length, 12);
    assert.equal(client.outbox.size, 0);
    assert.ok(states.includes("offline") && states.at(-1) === "online");
  });
}

test("random faults", async () => {
  let seed = 7;
  const random = () => (seed = (seed * 16807) % 2147483647) / 2147483647;
  for (let round = 0; round < 30; round += 1) {
    const state = server(20, () => ["", "down", "reply lost", 500][Math.floor(random() * 4)]);
    assert.deepEqual(await answerAll(participant(state)), expected(20));
    assert.equal(state.all.length, 20);
  }
});

test("what was unsent when the page went is sent by the next one", async () => {
  const storage = new Storage();
  const state = server(4, (number) => (number < 50 ? "down" : ""));
  const first = participant(state, storage);
  const trial = await first.next();
  first.answer({ trial: trial.id, response: "5", answered_at: 1 });
  first.stop();
  assert.equal(storage.length, 1);
  state.posts = 50;
  assert.deepEqual(await answerAll(participant(state, storage)), ["t1", "t2", "t3"]);
  assert.equal(state.saved.get("t0"), "5");
  assert.equal(storage.length, 0);
});

test("the answers of another participant are left alone", () => {
  const storage = new Storage();
  new Outbox("study", "p-1", storage).add({ key: "k", answered_at: 1 });
  assert.equal(new Outbox("study", "p-2", storage).size, 0);
  assert.equal(new Outbox("study", "p-1", storage).size, 1);
});

test("a storage that is broken or forbidden loses nothing", () => {
  const storage = new Storage();
  storage.setItem("karat/study/p-1/x", "{not json");
  assert.equal(new Outbox("study", "p-1", storage).size, 0);
  storage.setItem = () => {
    throw new Error("full");
  };
  for (const kept of [storage, null]) {
    const outbox = new Outbox("study", "p-1", kept);
    outbox.add({ key: "k", answered_at: 1 });
    assert.equal(outbox.size, 1);
    outbox.remove("k");
    assert.equal(outbox.size, 0);
  }
});

test("an answer that the server cannot read holds up no other, nor do events", async () => {
  const unreadable = (_, body) => (body.events.length || body.answers.some((a) => a.trial === "t1") ? 422 : "");
  const state = server(4, unreadable);
  const client = participant(state);
  client.event("odd");
  // The server sends the unreadable one again, for it has no answer to it.
  for (let trial; state.saved.size < 3 && (trial = await client.next()); ) {
    client.answer({ trial: trial.id, response: "1", answered_at: Date.now() });
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  client.stop();
  assert.deepEqual([...state.saved.keys()].sort(), ["t0", "t2", "t3"]);
});

for (const [status, said] of [[401, "lost"], [409, "ended"]]) {
  test(`${status} ends the conversation and keeps the answers`, async () => {
    const state = server(4, () => status);
    const client = participant(state);
    const states = [];
    client.onState = (one) => states.push(one);
    const trial = await client.next();
    client.answer({ trial: trial.id, response: "1", answered_at: 1 });
    await new Promise((resolve) => setTimeout(resolve, 10));
    assert.deepEqual(states, [said]);
    assert.equal(client.outbox.size, 1);
  });
}

test("the wait doubles up to half a minute", () => {
  const client = new Client({ study: "s", token: null, outbox: new Outbox("s", "p", null), fetch: () => {} });
  for (const [failures, most] of [[1, 500], [2, 1000], [3, 2000], [20, 30_000]]) {
    client.failures = failures;
    for (let turn = 0; turn < 20; turn += 1) {
      const wait = client.delay();
      assert.ok(wait <= most && wait >= 0.75 * most);
    }
  }
});
