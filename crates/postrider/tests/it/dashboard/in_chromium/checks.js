// What is wrong with a page for people who cannot see it as its author does. Gives sentences; none is good.
(() => {
  const faults = [];
  const name = (element) => `<${element.tagName.toLowerCase()}> ${element.outerHTML.slice(0, 120)}`;
  const visible = (element) => element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  const all = (selector) => [...document.querySelectorAll(selector)].filter(visible);

  // Words for everything that can be used or seen.
  const label = (element) =>
    element.getAttribute("aria-label") || [...(element.labels || [])].map((found) => found.innerText).join("") || element.innerText || "";
  for (const element of all("input, select, textarea")) {
    const words = element.getAttribute("aria-label") || [...element.labels].map((found) => found.innerText).join("");
    if (!words.trim()) faults.push(`no label: ${name(element)}`);
  }
  for (const element of all("a, button, summary, th, [role=img], progress")) {
    if (!label(element).trim()) faults.push(`no words: ${name(element)}`);
  }
  if (!document.documentElement.lang) faults.push("the page does not say its language");
  if (!document.title.trim()) faults.push("the page has no title");
  if (all("h1").length !== 1) faults.push(`${all("h1").length} headings of the first level`);
  all("h1, h2, h3, h4").reduce((before, heading) => {
    const level = Number(heading.tagName[1]);
    if (level > before + 1) faults.push(`a level is left out before ${name(heading)}`);
    return level;
  }, 0);
  const ids = [...document.querySelectorAll("[id]")].map((element) => element.id);
  for (const id of ids.filter((found, place) => ids.indexOf(found) !== place)) faults.push(`two have the id ${id}`);
  for (const element of all("[tabindex]")) if (element.tabIndex > 0) faults.push(`out of order: ${name(element)}`);

  // The keyboard goes through the head of a page as the eye does: from the top, and from the left.
  const place = (element) => ({ element, box: element.getBoundingClientRect() });
  [...document.querySelectorAll("header > *")].filter(visible).map(place).reduce((before, after) => {
    const isBehind = after.box.top >= before.box.bottom || (after.box.bottom > before.box.top && after.box.left >= before.box.left);
    if (!isBehind) faults.push(`seen before ${name(before.element)}: ${name(after.element)}`);
    return after;
  });
  // What is cut off at the side shows that there is more.
  for (const element of all(".scroll")) {
    const isCut = element.scrollWidth > element.clientWidth;
    if (isCut && getComputedStyle(element).backgroundImage === "none") faults.push(`nothing says that it goes on: ${name(element)}`);
  }

  // Contrast by WCAG 2.2 AA, from the colours as they were drawn.
  const colour = (text) => {
    const [red, green, blue, alpha = 1] = text.match(/[\d.]+/g).map(Number);
    return { red, green, blue, alpha };
  };
  const over = (top, below) => {
    const mix = (part) => top[part] * top.alpha + below[part] * (1 - top.alpha);
    return { red: mix("red"), green: mix("green"), blue: mix("blue"), alpha: 1 };
  };
  const ground = (element) => {
    if (!element) return colour(matchMedia("(prefers-color-scheme: dark)").matches ? "rgb(18,18,18)" : "rgb(255,255,255)");
    const own = colour(getComputedStyle(element).backgroundColor);
    return own.alpha === 1 ? own : over(own, ground(element.parentElement));
  };
  const light = ({ red, green, blue }) => {
    const linear = (part) => ((part /= 255) <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
  };
  const ratio = (one, other) => {
    const [low, high] = [light(one), light(other)].sort((left, right) => left - right);
    return (high + 0.05) / (low + 0.05);
  };
  const check = (element, style, what) => {
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    const behind = ground(element);
    const found = ratio(over(colour(style.color), behind), behind);
    if (found < (large ? 3 : 4.5)) faults.push(`contrast ${found.toFixed(2)} of ${what}: ${name(element)}`);
  };
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const seen = new Set();
  while (texts.nextNode()) {
    const element = texts.currentNode.parentElement;
    if (!texts.currentNode.data.trim() || seen.has(element) || !visible(element) || element.closest(":disabled, script, title, .skip")) continue;
    seen.add(element);
    check(element, getComputedStyle(element), "text");
  }
  for (const element of all("input[placeholder]")) check(element, getComputedStyle(element, "::placeholder"), "a hint");

  if (document.documentElement.scrollWidth > innerWidth) faults.push(`${document.documentElement.scrollWidth} pixels wide in ${innerWidth}`);
  return faults;
})()
