// A client of GetHook's API in Node, as its SDK speaks: fetch, the data of the envelope, an error with the status and the
// sentence. Every answer is held against a model: a field that is missing or of another kind fails. Prints how many it has read.
const { GETHOOK_API_BASE: base, GETHOOK_RECEIVER: receiver } = process.env;
let key = "";
let answers = 0;

// By kind, with `?` where a field may be missing; `[…]` is a list, an object another model.
const account = { id: "string", name: "string", plan: "string", email: "string?", created_at: "time" };
const apiKey = {
  id: "string", account_id: "string", name: "string", key_prefix: "string", created_at: "time", revoked_at: "time?",
};
const newKey = { ...apiKey, key: "string" };
const newAccount = { account, api_key: { ...newKey, plain_key: "string" } };
const preset = { name: "string" };
const source = {
  id: "string", account_id: "string", name: "string", path_token: "string", ingest_url: "string", auth_mode: "string",
  provider: "string?", verification_config: "map?", status: "string", created_at: "time",
};
const destination = {
  id: "string", account_id: "string", name: "string", url: "string", timeout_seconds: "integer", active: "boolean",
  auth_config: "map?", custom_headers: "map?", preset: "string?", max_concurrency: "integer", created_at: "time",
};
const route = {
  id: "string", account_id: "string", source_id: "string?", destination_id: "string", event_type_pattern: "string?",
  retry_policy: {}, active: "boolean", priority: "integer", created_at: "time",
};
const event = {
  id: "string", account_id: "string", direction: "string", source_id: "string?", event_type: "string?",
  external_event_id: "string?", headers: "map", body: "string", payload_hash: "string?", status: "string",
  attempts_count: "integer", next_attempt_at: "time?", final_state: "string?", received_at: "time", created_at: "time",
  created_by: "string?",
};
const attempt = {
  id: "string", event_id: "string", destination_id: "string", attempt_number: "integer", started_at: "time",
  finished_at: "time?", response_status: "integer?", response_body: "string?", error_message: "string?",
  latency_ms: "integer?", outcome: "string",
};
const eventPage = { items: [event], total: "integer" };
const eventDetail = { event, attempts: [attempt] };
const ingested = { id: "string", status: "string", note: "string?" };
const replay = { original_event_id: "string", replay_event_id: "string", status: "string" };
const stats = {
  by_status: [{ status: "string", count: "integer" }],
  daily: [{ date: "string", inbound: "integer", outbound: "integer", delivered: "integer", failed: "integer" }],
};
const platformStats = {
  events_processed: "integer", events_delivered: "integer", delivery_attempts: "integer", success_rate_pct: "number",
};
const brand = {
  id: "string", account_id: "string", company_name: "string", docs_title: "string?", logo_url: "string?",
  primary_color: "string?", support_email: "string?", created_at: "time", updated_at: "time",
};

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const kinds = {
  string: (value) => typeof value === "string",
  integer: Number.isInteger,
  number: Number.isFinite,
  boolean: (value) => typeof value === "boolean",
  map: (value) => isObject(value) && Object.values(value).every((text) => typeof text === "string"),
  time: (value) => typeof value === "string" && /^\d{4}-\d\d-\d\dT.*Z$/.test(value) && !Number.isNaN(Date.parse(value)),
};

function expect(holds, sentence) {
  if (!holds) throw new Error(sentence);
}

function check(value, model, place) {
  if (Array.isArray(model)) {
    expect(Array.isArray(value), `${place} is no list: ${JSON.stringify(value)}`);
    value.forEach((one, index) => check(one, model[0], `${place}[${index}]`));
  } else if (isObject(model)) {
    expect(isObject(value), `${place} is no object: ${JSON.stringify(value)}`);
    for (const [field, kind] of Object.entries(model)) check(value[field], kind, `${place}.${field}`);
  } else if (!(model.endsWith("?") && value === undefined)) {
    expect(kinds[model.replace("?", "")](value), `${place} is no ${model}: ${JSON.stringify(value)}`);
  }
}

async function send(method, url, body, headers = {}) {
  const all = { "content-type": "application/json", ...headers };
  if (key) all.authorization = `Bearer ${key}`;
  const answer = await fetch(url, { method, headers: all, body: body && JSON.stringify(body) });
  answers += 1;
  return { status: answer.status, text: await answer.text() };
}

async function call(method, path, body, status, model, headers) {
  const answer = await send(method, path.startsWith("http") ? path : base + path, body, headers);
  expect(answer.status === status, `${method} ${path} answered ${answer.status}: ${answer.text}`);
  if (status === 204) return expect(answer.text === "", `${path}: a 204 has a body`);
  const { data } = JSON.parse(answer.text);
  check(data, model, path);
  return data;
}

async function refused(method, path, body, status) {
  const answer = await send(method, base + path, body);
  expect(answer.status === status, `${method} ${path} answered ${answer.status}: ${answer.text}`);
  const { error } = JSON.parse(answer.text);
  expect(typeof error === "string" && error !== "", `${path}: no error in ${answer.text}`);
}

async function delivered(path) {
  for (const began = Date.now(); Date.now() - began < 60_000; ) {
    const found = await call("GET", path, undefined, 200, eventDetail);
    if (found.event.status === "delivered") return found;
    await new Promise((after) => setTimeout(after, 20));
  }
  throw new Error(`${path} was not delivered`);
}

await refused("GET", "/v1/sources", undefined, 401);
await call("GET", "/v1/provider-presets", undefined, 200, [preset]);
await call("GET", "/v1/destination-presets", undefined, 200, [preset]);
await refused("POST", "/v1/accounts", {}, 400);
key = (await call("POST", "/v1/accounts", { name: "shop" }, 201, newAccount)).api_key.key;
const another = await call("POST", "/v1/api-keys", { name: "ci" }, 201, newKey);
await call("GET", "/v1/api-keys", undefined, 200, [apiKey]);
await call("DELETE", `/v1/api-keys/${another.id}`, undefined, 204);

const into = await call("POST", "/v1/sources", { name: "in" }, 201, source);
await call("GET", `/v1/sources/${into.id}`, undefined, 200, source);
await call("GET", "/v1/sources", undefined, 200, [source]);
const verified = { name: "signed", provider: "stripe", verification_config: { secret: "whsec_test" } };
const signed = await call("POST", "/v1/sources", verified, 201, source);
expect(signed.auth_mode === "shared_secret", "a provider with a secret verifies");
await call("DELETE", `/v1/sources/${signed.id}`, undefined, 204);

const wanted = { name: "out", url: receiver, custom_headers: { "X-Team": "shop" }, timeout_seconds: 30 };
const out = await call("POST", "/v1/destinations", wanted, 201, destination);
const place = `/v1/destinations/${out.id}`;
const changed = await call("PATCH", place, { name: "renamed" }, 200, destination);
expect(changed.name === "renamed" && changed.timeout_seconds === 30, "the change is not there");
await call("GET", place, undefined, 200, destination);
await call("GET", "/v1/destinations", undefined, 200, [destination]);
await call("POST", `${place}/rotate-secret`, undefined, 200, { signing_secret: "string" });
const made = await call("POST", "/v1/routes", { destination_id: out.id, event_type_pattern: "*" }, 201, route);
await call("GET", "/v1/routes", undefined, 200, [route]);

const headers = { "x-event-type": "order.paid", "idempotency-key": "once" };
const event1 = await call("POST", into.ingest_url, { order: 7 }, 202, ingested, headers);
expect(event1.status === "queued", `it is ${event1.status}`);
const again = await call("POST", into.ingest_url, { order: 7 }, 202, ingested, headers);
expect(again.status === "accepted" && again.note === "duplicate", "it is no duplicate");
const seen = await delivered(`/v1/events/${event1.id}`);
expect(seen.event.body === '{"order":7}' && seen.attempts.length > 0, "the event is not as it was sent");
const query = `/v1/events?direction=inbound&status=delivered&limit=10&offset=0&source_id=${into.id}`;
expect((await call("GET", query, undefined, 200, eventPage)).total === 1, "there is one");
const replayed = await call("POST", `/v1/events/${event1.id}/replay`, undefined, 202, replay);
await delivered(`/v1/events/${replayed.replay_event_id}`);
const outbound = { event_type: "invoice.sent", external_event_id: "inv_1", payload: '{"invoice":1}' };
const sent = await call("POST", "/v1/outbound-events", outbound, 201, ingested);
await delivered(`/v1/outbound-events/${sent.id}`);
await call("GET", "/v1/outbound-events", undefined, 200, eventPage);
await call("POST", `/v1/outbound-events/${sent.id}/replay`, undefined, 202, replay);

await call("GET", "/v1/stats", undefined, 200, stats);
await call("GET", "/v1/platform-stats", undefined, 200, platformStats);
await call("POST", "/v1/brand-settings", { company_name: "Shop", primary_color: "#112233" }, 200, brand);
await call("GET", "/v1/brand-settings", undefined, 200, brand);
await refused("POST", "/v1/routes", {}, 400);
await refused("POST", "/v1/destinations", { name: "a", url: receiver, auth_config: { type: "header", header: "X-Key" } }, 400);
await refused("POST", "/v1/sources", { name: "a", provider: "stripe", verification_config: {} }, 400);
await refused("GET", "/v1/events/evt_0000000000000", undefined, 404);
for (const path of [`/v1/routes/${made.id}`, place, `/v1/sources/${into.id}`]) await call("DELETE", path, undefined, 204);
console.log(`${answers} answers read`);
