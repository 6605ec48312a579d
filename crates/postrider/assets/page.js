// Puts in place what the gateway sends of a page that changes, and asks in a box what a page asks without it. Pages work
// without it.
"use strict";

// Parts that were sent and are not in their place yet.
const late = new Map();
let followed;

// Nobody is disturbed: a part stays while something in it is open, ticked or in focus or the pointer is at a button, and
// all do while text is selected.
const busy = (part) => part.querySelector("details[open], input:checked, form:hover") || part.contains(document.activeElement);

function place() {
  if (String(getSelection())) return;
  for (const [id, html] of late) {
    const part = document.getElementById(id);
    if (part && busy(part)) continue;
    late.delete(id);
    const fresh = document.createElement("template");
    fresh.innerHTML = html;
    if (part && fresh.innerHTML !== part.innerHTML) part.replaceChildren(fresh.content);
  }
}

// Whoever was busy may be so no longer; not before what they go to has the focus.
const placeLate = () => { if (late.size > 0) requestAnimationFrame(place); };

// Says that what is shown may be old; with no sentence, that it is not.
function stale(sentence) {
  document.getElementById("stale")?.remove();
  if (!sentence) return;
  const notice = Object.assign(document.createElement("p"), { id: "stale", className: "notice", textContent: sentence });
  notice.setAttribute("role", "status");
  document.getElementById("main").prepend(notice);
}

// The page's own address, asked for as a stream. A page that nobody sees costs nothing.
function follow() {
  const isLive = !document.hidden && document.querySelector("[data-live]");
  if (isLive && followed && followed.readyState !== EventSource.CLOSED) return;
  followed?.close();
  followed = isLive ? new EventSource(location.href) : undefined;
  followed?.addEventListener("full", (message) => stale(message.data));
  followed?.addEventListener("changed", (message) => {
    stale("");
    for (const [id, html] of Object.entries(JSON.parse(message.data))) late.set(id, html);
    place();
  });
}

document.addEventListener("submit", (event) => {
  const question = event.target.dataset.confirm;
  if (!question) return;
  if (!confirm(question)) return event.preventDefault();
  // Whoever has agreed here is not asked again by a page.
  event.target.append(Object.assign(document.createElement("input"), { type: "hidden", name: "confirmed", value: "yes" }));
});
document.addEventListener("click", async (event) => {
  if (!(event.target instanceof HTMLButtonElement) || !("copy" in event.target.dataset)) return;
  // A button names what it copies, or stands beside it.
  const text = document.getElementById(event.target.dataset.copy) ?? event.target.parentElement.querySelector("pre, code");
  // Only a page that came by https or from this machine may copy by itself.
  try {
    await navigator.clipboard.writeText(text.textContent);
    event.target.textContent = "Copied";
  } catch {
    getSelection().selectAllChildren(text);
    event.target.textContent = "Selected";
  }
});
for (const kind of ["change", "focusout", "mouseout", "selectionchange", "toggle"]) document.addEventListener(kind, placeLate, true);
document.addEventListener("visibilitychange", follow);
addEventListener("pageshow", follow);
