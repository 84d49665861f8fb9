/** Publish: build the folder for a server, and check the server from outside. */

import { act, address } from "./actions.js";
import { ask, attempt, make } from "./studio.js";

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
        const mark = make("b", { className: good ? "grade good" : "grade error", textContent: good ? "good" : "to fix" });
        seen.append(make("li", {}, mark, make("span", { textContent: text })));
      }
    } finally {
      button.disabled = false;
    }
  });
});
