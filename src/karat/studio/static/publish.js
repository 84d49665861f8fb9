/** Publish: build the folder for a server, and look at the server from outside. */

import { act, address } from "./actions.js";
import { ask, attempt } from "./studio.js";

const form = document.querySelector("#publish-form");
const wish = () => JSON.stringify({ address: form.elements.address.value });

form.addEventListener("submit", (event) => {
  event.preventDefault();
  attempt(() => act("publish", wish(), { button: event.submitter, wait: "Building …" }));
});

document.querySelector("#look")?.addEventListener("click", (event) => {
  const button = event.target;
  const seen = document.querySelector("#seen");
  attempt(async () => {
    button.disabled = true;
    seen.replaceChildren();
    try {
      const { found } = await (await ask("POST", `${address}/publish/look`, wish())).json();
      for (const { good, text } of found) {
        const line = document.createElement("li");
        const mark = document.createElement("b");
        mark.className = good ? "grade good" : "grade error";
        mark.textContent = good ? "good" : "to fix";
        const words = document.createElement("span");
        words.textContent = text;
        line.append(mark, words);
        seen.append(line);
      }
    } finally {
      button.disabled = false;
    }
  });
});
