// Keeps what is marked as live fresh, and asks in a box what a page asks without it. Pages work without it.
"use strict";

const EVERY_MS = 2000;

async function refresh() {
  // Nobody is disturbed: not in a hidden tab, not in a part with something open, selected or in focus.
  const busy = (part) => part.querySelector("details[open]") || part.contains(document.activeElement);
  const live = [...document.querySelectorAll("[data-live]")].filter((part) => !busy(part));
  if (document.hidden || live.length === 0 || String(getSelection())) return;
  const answer = await fetch(location.href, { credentials: "same-origin", redirect: "manual" });
  if (!answer.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const part of live) {
    const fresh = page.getElementById(part.id);
    // It may have become busy meanwhile.
    if (fresh && !busy(part) && fresh.innerHTML !== part.innerHTML) part.replaceChildren(...fresh.childNodes);
  }
}

async function keepFresh() {
  try { await refresh(); } catch { /* The gateway is away; the next time may be better. */ }
  setTimeout(keepFresh, EVERY_MS);
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
  const text = document.getElementById(event.target.dataset.copy) ?? event.target.parentElement.querySelector("pre");
  // Only a page that came by https or from this machine may copy by itself.
  try {
    await navigator.clipboard.writeText(text.textContent);
    event.target.textContent = "Copied";
  } catch {
    getSelection().selectAllChildren(text);
    event.target.textContent = "Selected";
  }
});
setTimeout(keepFresh, EVERY_MS);
