// What needs no page: numbers, words, keys, clocks, devices, tabs.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import test from "node:test";

const modules = new URL("../../../../src/karat/field/web/static/js/", import.meta.url);
const load = (name) => import(new URL(name, modules));

const { readNumber } = await load("number.js");
const { digits } = await load("radios.js");
const { plain, wordsOf } = await load("runs.js");
const { rateOf } = await load("clock.js");
const { deviceClass } = await load("session/watch.js");
const { later } = await load("session/tabs.js");
const { ENGLISH, fill, words } = await load("words.js");
const { endOf, labelOf } = await load("point_name.js");
const { seconds } = await load("trial.js");

test("numbers are read as people write them", () => {
  const good = { 25: "25", "2,5": "2.5", " 0.125 ": "0.125", ".5": "0.5", "7.": "7", "+3": "3", "007": "7", "1000": "1000" };
  for (const [text, value] of Object.entries(good)) assert.deepEqual(readNumber(text), { value }, text);
  assert.deepEqual(readNumber("٢٥"), { value: "25" });
  assert.deepEqual(readNumber("१०"), { value: "10" });
  assert.deepEqual(readNumber("0000001"), { value: "1" });
});

test("what is no positive number is said to be none", () => {
  const bad = { "": "empty", "  ": "empty", abc: "invalid", "1e5": "invalid", "1/2": "invalid", "1,2,3": "invalid" };
  const more = { 0: "positive", "-4": "positive", "0,0": "positive", "1.000": "separator", "12,345": "separator" };
  for (const [text, error] of Object.entries({ ...bad, ...more, "1 000": "separator" })) {
    assert.deepEqual(readNumber(text), { error }, text);
  }
});

test("a point is chosen by its own digit, else by its place", () => {
  assert.deepEqual(digits(["1", "2", "3"]), [["1"], ["2"], ["3"]]);
  assert.deepEqual(digits(["-1", "0", "1"]), [["1"], ["2"], ["3"]]);
  assert.deepEqual(digits(["0", "1"]), [["0"], ["1"]]);
  assert.deepEqual(digits([..."123456789", "10"])[9], ["0"]);
  assert.deepEqual(digits([..."0123456789", "10"])[10], []);
  assert.deepEqual(digits(["a", "b"]), [["1"], ["2"]]);
});

test("words keep how they are set", () => {
  const pieces = [{ t: "un " }, { t: "mot", i: true }, { t: "s  très" }, { t: " long" }];
  assert.deepEqual(wordsOf(pieces), [
    [{ t: "un" }],
    [{ t: "mot", i: true }, { t: "s" }],
    [{ t: "très" }],
    [{ t: "long" }],
  ]);
  assert.equal(plain([[{ t: "a" }, { t: "b" }], [{ t: "c" }]]), "ab c");
  assert.equal(plain(null), "");
});

test("the frame rate is that of the median interval", () => {
  assert.equal(rateOf([0, 16.7, 33.4, 50, 250, 266.7]), 59.9);
  assert.equal(rateOf([5]), null);
});

test("devices are told by pointers and screen", () => {
  assert.equal(deviceClass({ coarse: false, fine: true, shortSide: 400 }), "desktop");
  assert.equal(deviceClass({ coarse: true, fine: true, shortSide: 800 }), "desktop");
  assert.equal(deviceClass({ coarse: true, fine: false, shortSide: 390 }), "phone");
  assert.equal(deviceClass({ coarse: true, fine: false, shortSide: 820 }), "tablet");
});

test("of two tabs exactly one is later", () => {
  assert.ok(later([2, "a"], [1, "b"]));
  assert.ok(!later([1, "b"], [2, "a"]));
  assert.ok(later([1, "b"], [1, "a"]) && !later([1, "a"], [1, "b"]));
});

test("texts are filled, and English stands in", () => {
  assert.equal(fill("{a} of {b} {c}", { a: 1, b: 2 }), "1 of 2 {c}");
  const word = words({ next: "Weiter" });
  assert.equal(word("next"), "Weiter");
  assert.equal(word("count", { number: 3, of: 9 }), "3 of 9");
});

test("every word is used, and every word that is used is there", () => {
  const sources = readdirSync(modules, { recursive: true }).filter((name) => name.endsWith(".js") && name !== "words.js" && name !== "admin.js");
  const text = sources.map((name) => readFileSync(new URL(name, modules), "utf8")).join("\n");
  const used = new Set([...text.matchAll(/"([a-z_]+)"/g)].map((match) => match[1]));
  for (const [, key] of text.matchAll(/page\.word\("([a-z_]+)"/g)) assert.ok(key in ENGLISH, key);
  for (const error of ["empty", "invalid", "positive", "separator"]) used.add(`number_${error}`);
  for (const key of Object.keys(ENGLISH)) assert.ok(used.has(key), key);
});

test("ends, labels and times", () => {
  const scale = { points: [{ value: "1", label: "" }, { value: "2", label: "" }, { value: "3", label: "" }] };
  assert.deepEqual([0, 1, 2].map((index) => endOf(index, scale, ["bad", "good"])), ["bad", "", "good"]);
  assert.equal(labelOf({ value: "-3", label: "" }), "");
  assert.equal(labelOf({ value: "odd", label: "" }), "odd");
  assert.equal(seconds(1234.56), 1.2346);
  assert.equal(seconds(-5), 0);
  assert.equal(seconds(1e12), 86_400);
});
