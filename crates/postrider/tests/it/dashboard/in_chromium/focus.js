// Where the keyboard has come to, and at the end what it has left out. What is out of order is left out, since it goes from
// the beginning of the page to its end.
(() => {
  const usable = "a[href], button:enabled, input:enabled:not([type=hidden]), select:enabled, textarea:enabled, summary";
  const at = document.activeElement;
  window.keyboardSaw ??= new Set();
  if (!at || at === document.body) {
    const all = [...document.querySelectorAll(usable)].filter((element) => element.checkVisibility());
    const missed = all.filter((element) => !window.keyboardSaw.has(element)).map((element) => `never reached: ${element.outerHTML.slice(0, 120)}`);
    return { over: true, faults: missed };
  }
  window.keyboardSaw.add(at);
  const style = getComputedStyle(at);
  const unseen = style.outlineStyle === "none" || parseFloat(style.outlineWidth) === 0;
  return { over: false, faults: unseen ? [`not seen: ${at.outerHTML.slice(0, 120)}`] : [] };
})()
