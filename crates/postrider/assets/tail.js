// The live tail: a row for each thing that happens, the newest first. All that is shown goes in as text.
"use strict";

const ROWS_MAX = 200;
const table = document.getElementById("tail");
const rows = table.tBodies[0];
const state = document.getElementById("tail-state");
const pause = document.getElementById("tail-pause");
const names = new Map([...document.querySelectorAll("select[name=destination_id] option")].map((known) => [known.value, known.textContent]));
const tones = { delivered: "good", dead_letter: "bad", retry_scheduled: "warn", open: "bad", closed: "good", half_open: "warn", disabled: "bad", paused: "warn", active: "good" };

let paused = false;
// What came while nobody wanted to see it, as much of it as there is room for.
let waiting = [];
let left = 0;
let connection = "Waits for the gateway.";

// What would not be seen and changes how the rest is read, as pages show it.
const unseen = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu;
const visible = (text) => String(text).replace(unseen, (character) => `\\u{${character.codePointAt(0).toString(16)}}`);
const words = (text) => String(text).replaceAll("_", " ");
const clock = (time) => String(time ?? "").slice(11, 23);

function say() {
  const held = waiting.length + left;
  state.textContent = paused ? `Paused; ${held} more since then.` : connection;
}

function link(path, text) {
  const anchor = document.createElement("a");
  anchor.href = path;
  anchor.textContent = visible(text);
  return anchor;
}

function tag(word) {
  const span = document.createElement("span");
  span.className = `tag ${tones[word] ?? "plain"}`;
  span.textContent = visible(words(word));
  return span;
}

function details(kind, data) {
  switch (kind) {
    case "accepted": return [`${data.body_bytes} bytes, ${data.deliveries_count} deliveries${data.replay_of ? ", again" : ""}`];
    case "attempt": return [tag(data.status), ` attempt ${data.attempt_number}: ${data.response_status ? `responded ${data.response_status}` : data.error_message ?? ""} after ${data.latency_ms} ms`];
    case "dead_letter": return [tag("dead_letter"), ` ${words(data.reason)}: ${data.last_error ?? ""}`];
    case "circuit": return [tag(data.circuit_state)];
    case "destination": return [tag(data.status), ` ${data.disabled_reason ?? ""}`];
    default: return [];
  }
}

function row(kind, data) {
  const line = document.createElement("tr");
  const cell = (...parts) => {
    const made = document.createElement("td");
    made.append(...parts.map((part) => typeof part === "string" ? visible(part) : part));
    made.className = "break";
    line.append(made);
  };
  const event = kind === "accepted" ? data.id : data.event_id;
  const destination = data.destination_id;
  cell(clock(data.received_at ?? data.started_at ?? data.died_at ?? data.at));
  cell(words(kind));
  cell(data.event_type ?? "–");
  cell(destination ? link(`/destinations/${encodeURIComponent(destination)}`, names.get(destination) ?? destination) : "–");
  cell(...details(kind, data));
  cell(event ? link(`/events/${encodeURIComponent(event)}`, event) : "–");
  return line;
}

function show(lines) {
  rows.prepend(...lines);
  while (rows.rows.length > ROWS_MAX) rows.deleteRow(-1);
}

// Many in a moment are drawn together, and what would not stay is not drawn at all.
function draw() {
  if (!paused && waiting.length > 0) {
    show(waiting.reverse().map(([kind, data]) => row(kind, data)));
    waiting = [];
    left = 0;
  }
  say();
}

function take(kind, message) {
  if (waiting.length === 0) requestAnimationFrame(draw);
  waiting.push([kind, JSON.parse(message.data)]);
  if (waiting.length > ROWS_MAX) {
    waiting.shift();
    left += 1;
  }
  if (paused) say();
}

pause.hidden = false;
pause.addEventListener("click", () => {
  paused = !paused;
  pause.textContent = paused ? "Resume" : "Pause";
  pause.setAttribute("aria-pressed", String(paused));
  draw();
});

const stream = new EventSource(table.dataset.stream);
stream.addEventListener("open", () => { connection = "Watching."; say(); });
stream.addEventListener("error", () => {
  connection = stream.readyState === EventSource.CLOSED ? "The gateway does not let this go on; load the page again." : "The gateway is away; trying again.";
  say();
});
stream.addEventListener("lagged", (message) => { connection = `Watching; ${JSON.parse(message.data).missed ?? "some"} arrived too fast to show.`; say(); });
for (const kind of ["accepted", "attempt", "dead_letter", "circuit", "destination"]) stream.addEventListener(kind, (message) => take(kind, message));
say();
