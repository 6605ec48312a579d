//! Configuration as code: `plan`, `apply` and `export` against a running gateway.

mod apply;
mod command;
mod documented;
mod export;
mod gateway_url;
mod interrupted;
mod meanwhile;
mod mistakes;
mod prune;
mod secrets;

/// A file with something of everything. `SINK` stands for the address of a receiver.
const EVERYTHING: &str = r#"
sources:
  - name: shop
    verification_config:
      header: X-Shop-Signature
      scheme: hmac_sha256
      secret: {env: SHOP_SECRET}
    event_type_from: {json_pointer: /type}
    rate_limit: {per_second: 1000, burst: 100}
  - name: plain
  - name: asleep
    status: inactive

destinations:
  - name: billing
    url: SINK/billing
    max_concurrency: 7
    signing_secret: {env: BILLING_SECRET}
    auth_config: {type: bearer, token: {env: BILLING_TOKEN}}
    custom_headers: {X-Stage: {env: BILLING_STAGE}}
    retry_policy: {preset: waford, jitter: none}
    circuit: {threshold: 9}
  - name: archive
    url: SINK/archive
    ordering: by_key
    ordering_key: payload.customer
    on_dead_letter: skip
    adaptive: false
    rate_limit: {per_second: 50}
  - name: bank
    url: SINK/bank
    preset: third_party
    timeout_seconds: 33
    signature_versions: [v1a, v1]
    private_key: {env: BANK_PRIVATE_KEY}
    auth_config: {type: basic, username: me, password: {env: BANK_PASSWORD}}

routes:
  - source: plain
    destination: billing
    event_type_pattern: payment.*
    filter: payload.amount > 10
    transform: "{'body': payload, 'headers': {'x-kind': event.type}}"
    priority: 2
    priority_rules: [{when: payload.amount > 1000, priority: 1}, {header: X-Urgency}]
    retry_policy: {delays_seconds: [1, 2.5]}
  - source: shop
    destination: archive

event_types:
  - event_type: order.created
    description: What a shop sells.
    schema: {type: object, required: [id], properties: {id: {type: integer}}}

api_keys:
  - name: ci
    scope: read
  - name: till
    scope: ingest
    rate_limit: {per_second: 2.5}
    expires_at: 2036-01-01T00:00:00Z
"#;
