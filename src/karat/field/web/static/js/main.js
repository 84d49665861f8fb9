/**
 * The trial page: jsPsych runs the trials one at a time as they arrive, and each answer goes to the server at once.
 *
 * The browser has no rules of the study. It shows the trials in the order in which they arrive, and reports what happened
 * and when.
 */

import { Client } from "./session/client.js";
import { frameRate } from "./clock.js";
import { preload } from "./images.js";
import { leaveFor } from "./session/leave.js";
import { Notice, replace } from "./session/notice.js";
import { Outbox, storage } from "./session/outbox.js";
import { element, page } from "./page.js";
import { feedback, pause } from "./session/pause.js";
import { plugin } from "./plugins.js";
import { Progress } from "./session/progress.js";
import { claim } from "./session/tabs.js";
import { Watch } from "./session/watch.js";
import { words } from "./words.js";

const main = document.getElementById("trials");
const { study, session = "", language, direction, progress: progressKind = "line", next: nextPage } = main.dataset;
const token = document.querySelector("meta[name=karat-token]")?.getAttribute("content") ?? null;

/** The plugin for each task, filled before the first trial. @type {Record<string, any>} */
const plugins = {};
const PAUSE = plugin("pause", pause);
const FEEDBACK = plugin("feedback", feedback);

page.word = words(JSON.parse(document.getElementById("karat-words")?.textContent || "{}"));
page.language = language ?? "";
page.direction = direction ?? "ltr";

const client = new Client({ study, token, outbox: new Outbox(study, session, storage()) });
const watch = new Watch(client, main.dataset.traces !== "off");
page.watch = watch;
const notice = new Notice();
const progress = new Progress(progressKind);
/** Trials that were answered on this page, with their answers. @type {import("./session/client.js").Trial[]} */
const past = [];
page.hasPrevious = () => past.length > 0;

/** Load the scripts of the study's tasks from the addresses that the server sends. */
async function loadTasks() {
  const scripts = JSON.parse(document.getElementById("karat-tasks")?.textContent || "{}");
  const load = async ([task, address]) => (plugins[task] = plugin(task, (await import(address)).default));
  await Promise.all(Object.entries(scripts).map(load));
}

/**
 * The description of a trial for jsPsych. When it ends, its answer is stored and the next description follows.
 *
 * @param {import("./session/client.js").Trial} trial
 * @param {object[]} timeline
 */
function describe(trial, timeline) {
  return {
    type: trial.kind === "trial" ? plugins[trial.task] : PAUSE,
    trial,
    scale: client.scales[trial.scale] ?? null,
    on_start: () => progress.show(trial),
    on_finish: async ({ answer, back }) => {
      if (back) {
        client.queue.unshift(past.pop(), trial);
      } else {
        client.answer(answer);
        if (page.goingBack && trial.kind === "trial") past.push({ ...trial, response: answer.response, responses: answer.responses });
        if (trial.feedback) timeline.push({ type: FEEDBACK, trial, on_finish: () => follow(timeline) });
      }
      if (back || !trial.feedback) await follow(timeline);
    },
  };
}

/** Add the next trial to the timeline of jsPsych. @param {object[]} timeline */
async function follow(timeline) {
  const trial = await notice.during(client.next());
  if (trial) timeline.push(describe(trial, timeline));
}

/** Stop, because the session continues in another tab or has ended. @param {string} message */
function stop(message) {
  client.stop();
  const here = { label: page.word("here"), act: () => leaveFor(nextPage, token) };
  replace(page.word(message), message === "other_tab" ? here : null);
}

client.onState = (state) => {
  if (state === "lost") stop("lost");
  else if (state === "ended") leaveFor(nextPage, token);
  else notice.setOffline(state === "offline");
};
client.onTrials = preload;
claim(`${study}/${session}`, () => stop("other_tab"));
window.addEventListener("pagehide", () => client.farewell());

async function run() {
  frameRate().then((rate) => (watch.frameRate = rate));
  client.run();
  const [first] = await notice.during(Promise.all([client.next(), loadTasks()]));
  if (first) {
    page.goingBack = client.setting.going_back;
    if (page.goingBack && client.setting.previous) past.push(client.setting.previous);
    const display = element("div", { class: "display" });
    main.append(display);
    const timeline = [];
    timeline.push(describe(first, timeline));
    const jsPsych = globalThis.initJsPsych({
      display_element: display,
      use_webaudio: false,
      // jsPsych makes its display a tab stop, but the answers are enough.
      on_trial_start: () => (display.tabIndex = -1),
    });
    await jsPsych.run(timeline);
  }
  client.farewell();
  leaveFor(nextPage, token);
}

run();
