/**
 * Report that the page is open, because the server deletes the files when all pages are closed. `fetch` with keepalive is
 * used instead of a beacon, because it sends the origin.
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
 * Begin to report; calls `gone` when the server no longer answers, and `back` when it does again.
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
