/**
 * Says that the page is there, as long as it is: the server deletes the files when nobody is left. `fetch` with
 * keepalive rather than a beacon, because it says where it comes from.
 */

const SECONDS = 10;
const page = crypto.randomUUID();

/** Tell the server: here, asleep or left. */
function tell(base, state) {
  return fetch(`${base}/here`, {
    method: "POST",
    keepalive: true,
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ page, state }),
  });
}

/**
 * Begin to say so; calls `gone` when the server does not answer any more, and `back` when it does again.
 * @param {string} base
 * @param {() => void} gone
 * @param {() => void} back
 */
export function stay(base, gone, back) {
  const here = () => tell(base, "here").then((answer) => (answer.ok ? back() : gone()), gone);
  here();
  setInterval(here, SECONDS * 1000);
  addEventListener("pagehide", () => tell(base, "left").catch(() => {}));
  addEventListener("pageshow", (event) => event.persisted && here());
  document.addEventListener("freeze", () => tell(base, "asleep").catch(() => {}));
  document.addEventListener("resume", here);
}
