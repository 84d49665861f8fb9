/**
 * Make a page a plugin of jsPsych, with its parameters and a `trial` that resolves to the result.
 *
 * jsPsych runs the timeline, clears the display between trials and records the times of the run; the pages are ours.
 */

import { TrialPage } from "./trial.js";

/** The version of our plugins, which jsPsych records with each trial. */
const VERSION = "1.0.0";

/**
 * A plugin from the function that builds its page.
 *
 * @param {string} name
 * @param {(trialPage: TrialPage, trial: import("./session/client.js").Trial, scale: any) => Promise<void> | void} build
 */
export function plugin(name, build) {
  const { ParameterType } = globalThis.jsPsychModule;
  return class {
    static info = {
      name: `karat-${name}`,
      version: VERSION,
      parameters: {
        /** The trial as the server sent it. */
        trial: { type: ParameterType.OBJECT },
        /** Its scale; null for a page without one. */
        scale: { type: ParameterType.OBJECT, default: null },
      },
      data: {
        answer: { type: ParameterType.OBJECT },
        back: { type: ParameterType.BOOL },
      },
    };

    /**
     * @param {HTMLElement} display
     * @param {{trial: import("./session/client.js").Trial, scale: any}} parameters
     * @param {() => void} loaded
     */
    async trial(display, { trial, scale }, loaded) {
      const trialPage = new TrialPage(display, trial);
      await build(trialPage, trial, scale);
      await trialPage.show();
      loaded();
      return trialPage.finished;
    }
  };
}
