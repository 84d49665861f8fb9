/**
 * Keep the page of a study up to date. The server sends the changing parts as escaped markup. They are compared with the
 * page, and only differences are changed, so that nothing flickers and no focus is lost.
 */

const SECONDS = 5;

/**
 * Make one element like another, changing as little as possible.
 * @param {Element} shown
 * @param {Element} wanted
 */
export function become(shown, wanted) {
  for (const { name } of [...shown.attributes]) {
    if (!wanted.hasAttribute(name) && name !== "open") shown.removeAttribute(name);
  }
  for (const { name, value } of [...wanted.attributes]) {
    if (shown.getAttribute(name) !== value) shown.setAttribute(name, value);
  }
  const known = new Map([...shown.children].filter((child) => child.id).map((child) => [child.id, child]));
  let place = shown.firstChild;
  for (const node of [...wanted.childNodes]) {
    const existing = node.nodeType === Node.ELEMENT_NODE && node.id ? known.get(node.id) : undefined;
    if (existing && existing !== place) {
      shown.insertBefore(existing, place);
      place = existing;
    }
    if (place === null || !alike(place, node)) {
      shown.insertBefore(document.importNode(node, true), place);
      continue;
    }
    if (place.nodeType === Node.ELEMENT_NODE) become(place, node);
    else if (place.nodeValue !== node.nodeValue) place.nodeValue = node.nodeValue;
    place = place.nextSibling;
  }
  while (place) {
    const next = place.nextSibling;
    place.remove();
    place = next;
  }
}

/** Whether one node can become another. */
function alike(shown, wanted) {
  return shown.nodeType === wanted.nodeType && shown.nodeName === wanted.nodeName && (shown.id || "") === (wanted.id || "");
}

/** Ask for the parts that have changed, and show them. */
async function look(live, state) {
  const query = new URLSearchParams({ show: live.dataset.show, page: live.dataset.page, have: state.version });
  const offline = live.querySelector("[data-offline]");
  try {
    const response = await fetch(`${live.dataset.live}?${query}`, { headers: { Accept: "application/json" } });
    if (response.status === 401) {
      location.reload();
      return;
    }
    if (!response.ok) throw new Error(String(response.status));
    const update = await response.json();
    offline.hidden = true;
    state.version = update.version;
    for (const [name, text] of Object.entries(update.parts ?? {})) {
      const shown = live.querySelector(`[data-part="${name}"]`);
      if (!shown) continue; // It is on another page of the study.
      const wanted = shown.cloneNode(false);
      wanted.append(...new DOMParser().parseFromString(text, "text/html").body.childNodes);
      become(shown, wanted);
    }
  } catch {
    offline.hidden = false;
  }
}

const live = document.querySelector("[data-live]");
if (live) {
  const state = { version: "" };
  const again = async () => {
    if (!document.hidden) await look(live, state);
    setTimeout(again, SECONDS * 1000);
  };
  setTimeout(again, SECONDS * 1000);
  document.addEventListener("visibilitychange", () => document.hidden || look(live, state));
}
