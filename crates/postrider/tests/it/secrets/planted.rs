//! A marker in every field that takes a secret, then everything that the gateway does, then a search of all that came
//! out: answers, standard output, the log at its finest, every file of the data directory.

use super::witness::Witness;
use crate::rig::api::text;
use crate::rig::contract::DOCUMENT;
use crate::rig::stream::that_ends;
use crate::rig::{Gateway, Reply, Sink, Site};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rcgen::{CertificateParams, KeyPair};
use serde_json::{Value, json};
use std::path::Path;

/// By the field that takes it. `fields` keeps this list whole.
pub(super) const PLANTED: &[(&str, &str)] = &[
    ("signing_secret", "whsec_cGxhbnRlZC1zaWduaW5nLXNlY3JldC0xMjM0NQ=="),
    (
        "private_key",
        "whsk_6Xb/dCcHpPea21PS1N9VY/NZW723CEc77N4rJCubMbfVKIDij2HKpMKkioLlX0dRqSKJp4AJ6p9lMicMFs6Kvg==",
    ),
    ("auth_config.token", "planted-bearer-token"),
    ("auth_config.value", "planted-header-value"),
    ("auth_config.password", "planted-basic-password"),
    ("custom_headers", "planted-custom-value"),
    ("verification_config.secret", "planted-shared-secret"),
    ("verification_config.secrets", "planted-rotated-secret"),
];
/// What goes over the wire of the one above.
const BASIC: &str = "cGxhbnRlZDpwbGFudGVkLWJhc2ljLXBhc3N3b3Jk";
/// Of settings and of requests.
pub(super) const ADMIN_KEY: &str = "planted-admin-key-0123456789";
const SECRET_KEY: &str = "cGxhbnRlZC1zZWNyZXQta2V5LTAxMjM0NTY3ODktMDE=";
const WEBHOOKS_SECRET: &str = "planted-webhooks-secret";
const AUTHORIZATION: &str = "planted-authorization";
const COOKIE: &str = "planted-cookie";
/// In the wrong place, so that a refusal might repeat it.
const MISPLACED: &str = "planted-in-a-wrong-place";

fn planted(field: &str) -> &'static str {
    PLANTED.iter().find(|(known, _)| *known == field).map(|(_, marker)| *marker).unwrap()
}

/// A certificate with its key in PEM, and the part of the key that is looked for.
fn certificate() -> (Value, String) {
    let key = KeyPair::generate().unwrap();
    let certificate =
        CertificateParams::new(vec!["gateway.test".to_owned()]).unwrap().self_signed(&key).unwrap();
    let pem = |kind: &str, der: &[u8]| {
        format!("-----BEGIN {kind}-----\n{}\n-----END {kind}-----\n", STANDARD.encode(der))
    };
    let private = STANDARD.encode(key.serialize_der());
    let given = json!({
        "certificate_pem": pem("CERTIFICATE", certificate.der()),
        "private_key_pem": pem("PRIVATE KEY", &key.serialize_der()),
    });
    (given, private[60..120].to_owned())
}

/// What was made: the secrets that the gateway chose itself, and the ids by which things are asked for.
pub(super) struct Garden {
    pub(super) markers: Vec<String>,
    /// The tokens of sources, which their account may see.
    pub(super) tokens: Vec<String>,
    ids: Vec<(&'static str, String)>,
}

impl Garden {
    /// All that there is, and what befalls it.
    pub(super) fn grown(witness: &Witness, sink: &Sink) -> Self {
        let mut garden = Garden::plant(witness, sink);
        garden.plant_sources(witness);
        garden.send(witness);
        garden
    }

    /// One answer shows a secret that is chosen by the gateway; the answer itself is not remembered.
    fn plant(witness: &Witness, sink: &Sink) -> Self {
        let api = &witness.api;
        let (client_certificate, key_part) = certificate();
        let mut markers: Vec<String> = PLANTED.iter().map(|(_, marker)| (*marker).to_owned()).collect();
        markers.extend(
            [ADMIN_KEY, SECRET_KEY, WEBHOOKS_SECRET, AUTHORIZATION, COOKIE, MISPLACED, BASIC]
                .map(String::from),
        );
        markers.push(key_part);
        let bearer = json!({
            "signing_secret": planted("signing_secret"), "private_key": planted("private_key"),
            "signature_versions": ["v1", "v1a"], "client_certificate": client_certificate,
            "auth_config": { "type": "bearer", "token": planted("auth_config.token") },
            "custom_headers": { "X-Custom": planted("custom_headers") },
        });
        let header = json!({ "auth_config": { "type": "header", "header": "X-Key", "value": planted("auth_config.value") } });
        let basic = json!({ "auth_config": { "type": "basic", "username": "planted", "password": planted("auth_config.password") } });
        sink.next("/bearer", [Reply::status(500)]);
        sink.always("/header", Reply::status(404));
        let mut ids = Vec::new();
        for (path, mut settings) in [("/bearer", bearer), ("/header", header), ("/basic", basic)] {
            settings["retry_policy"] =
                json!({ "delays_seconds": [0.05], "max_attempts": 2, "jitter": "none" });
            ids.push(("/v1/destinations/", api.destination(&sink.url(path), &settings)));
        }
        let rotated = format!("/v1/destinations/{}/rotate-secret", ids[2].1);
        markers.push(text(&api.post(&rotated, &json!({})).data(200)["signing_secret"]));
        let account = api.post("/v1/accounts", &json!({ "name": "tenant" })).data(201);
        let key = api.post("/v1/api-keys", &json!({ "name": "deploy", "scope": "read" })).data(201);
        let session = api.post("/v1/portal-sessions", &json!({})).data(201);
        markers.extend([text(&account["api_key"]["key"]), text(&key["key"]), text(&session["token"])]);
        ids.extend([("/v1/accounts/", text(&account["account"]["id"])), ("/v1/api-keys/", text(&key["id"]))]);
        Garden { markers, tokens: Vec::new(), ids }
    }

    /// Sources that ask for each kind of secret.
    fn plant_sources(&mut self, witness: &Witness) {
        let secrets = json!([planted("verification_config.secrets"), "another of the two"]);
        let configs = [
            json!({ "header": "X-Shop-Secret", "secret": planted("verification_config.secret") }),
            json!({ "header": "X-Shop-Secret", "secrets": secrets, "scheme": "hmac_sha256" }),
        ];
        for config in configs {
            let source =
                json!({ "name": "shop", "auth_mode": "shared_secret", "verification_config": config });
            let made = witness.post("/v1/sources", &source).data(201);
            self.tokens.push(text(&made["path_token"]));
            self.ids.push(("/v1/sources/", text(&made["id"])));
        }
    }

    /// An event past all of them: one delivery at the second try, one in vain, one at once.
    fn send(&mut self, witness: &Witness) {
        let headers = [
            ("x-shop-secret", planted("verification_config.secret")),
            ("cookie", COOKIE),
            ("authorization", AUTHORIZATION),
        ];
        let api = &witness.api;
        let path = format!("/ingest/{}", self.tokens[0]);
        let event = api.with_key("").send(&path, &headers, b"{}");
        api.event_once(&event, "dead_letter");
        let letter = text(&api.get("/v1/dead-letters").data(200)["items"][0]["delivery_id"]);
        self.ids.extend([
            ("/v1/events/", event),
            ("/v1/dead-letters/", letter.clone()),
            ("/v1/deliveries/", letter),
        ]);
        let sent = api.post("/v1/outbound-events", &json!({ "event_type": "a.b", "payload": {} })).data(201);
        api.event_once(&text(&sent["id"]), "dead_letter");
        self.ids.push(("/v1/outbound-events/", text(&sent["id"])));
        self.ids.push(("/v1/replays/", text(&api.post("/v1/replays", &json!({})).data(202)["id"])));
        let event_type = json!({ "event_type": "order.paid", "schema": {} });
        self.ids.push(("/v1/event-types/", api.make("/v1/event-types", &event_type)));
        self.ids.push(("/v1/routes/", text(&api.get("/v1/routes").data(200)[0]["id"])));
    }
}

/// Everything that can be asked for is asked for.
pub(super) fn ask_for_everything(witness: &Witness, garden: &Garden) {
    for path in DOCUMENT["paths"].as_object().unwrap().keys() {
        if DOCUMENT["paths"][path]["get"].is_null() {
            continue;
        }
        let Some((before, after)) = path.split_once("{id}") else {
            witness.get(&that_ends(path));
            continue;
        };
        let known = garden.ids.iter().filter(|(noun, _)| *noun == before);
        let asked = known.map(|(_, id)| witness.get(&format!("{before}{id}{after}"))).count();
        assert!(asked > 0, "give the garden an id for {path}");
    }
}

/// Changes and tests, whose answers show what was changed or sent.
pub(super) fn tend(witness: &Witness, garden: &Garden) {
    for (noun, id) in &garden.ids {
        match *noun {
            "/v1/destinations/" => {
                witness.patch(&format!("{noun}{id}"), &json!({ "name": "changed" })).data(200);
                witness.post(&format!("{noun}{id}/test"), &json!({})).data(200);
                let sample = json!({ "event_type": "a.b", "payload": {}, "route": { "destination_id": id } });
                witness.post("/v1/routes/test", &sample).data(200);
            }
            "/v1/sources/" | "/v1/api-keys/" => {
                witness.patch(&format!("{noun}{id}"), &json!({ "name": "changed" })).data(200);
            }
            "/v1/events/" => drop(witness.post(&format!("{noun}{id}/replay"), &json!({})).data(202)),
            _ => {}
        }
    }
}

/// Refusals of something that holds a secret do not repeat it.
pub(super) fn misplace(witness: &Witness, garden: &Garden) {
    let with =
        |secret: Value| json!({ "name": "a", "url": "https://example.com/", "signing_secret": secret });
    let broken = format!("{MISPLACED}\n");
    for settings in [
        with(json!(MISPLACED)),
        with(json!([MISPLACED])),
        json!({ "private_key": MISPLACED }),
        json!({ "auth_config": { "type": "bearer", "token": broken } }),
        json!({ "auth_config": { "type": "bearer", "token": [MISPLACED] } }),
        json!({ "auth_config": { "type": MISPLACED } }),
        json!({ "auth_config": MISPLACED }),
        json!({ "custom_headers": { "x-key": broken } }),
        json!({ "custom_headers": [MISPLACED] }),
        json!({ "client_certificate": { "certificate_pem": MISPLACED, "private_key_pem": MISPLACED } }),
        json!({ "url": format!("https://user:{MISPLACED}@example.com/") }),
    ] {
        let mut settings = settings;
        settings["name"] = json!("a");
        settings["url"] = settings.get("url").cloned().unwrap_or(json!("https://example.com/"));
        witness.post("/v1/destinations", &settings).refusal(422);
    }
    for config in [
        json!({ "header": "x y", "secret": MISPLACED }),
        json!({ "header": "x-secret", "secret": [MISPLACED] }),
        json!({ "header": "x-secret", "secret": MISPLACED, "scheme": "ed25519" }),
        json!({ "header": "x-secret", "secret": MISPLACED, "secrets": [MISPLACED] }),
        json!(MISPLACED),
    ] {
        let source = json!({ "name": "s", "auth_mode": "shared_secret", "verification_config": config });
        witness.post("/v1/sources", &source).refusal(422);
    }
    let stranger = Witness::new(witness.api.with_key(""));
    let token = &garden.tokens[1];
    for (name, value) in
        [("authorization", format!("Basic {MISPLACED}")), ("authorization", format!("Bearer {MISPLACED}"))]
    {
        stranger.call("GET", "/v1/sources", &[(name, &value)], b"").refusal(401);
    }
    stranger.call("POST", &format!("/ingest/{token}"), &[("x-shop-secret", MISPLACED)], b"{}").refusal(401);
    stranger.call("POST", "/webhooks", &[("x-signature", MISPLACED)], b"{}").refusal(401);
    stranger.get(&format!("/v1/destinations/{MISPLACED}")).refusal(401);
    witness.get(&format!("/v1/destinations/{MISPLACED}")).refusal(404);
    witness
        .call("POST", "/v1/destinations", &[], format!("{{\"signing_secret\": \"{MISPLACED}").as_bytes())
        .refusal(400);
    assert_eq!(stranger.answers_with(MISPLACED), [""; 0]);
}

/// The files below a folder that have these bytes.
pub(crate) fn files_with(directory: &Path, bytes: &[u8]) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap().map(Result::unwrap) {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        if path.is_dir() {
            found.extend(files_with(&path, bytes));
        } else if std::fs::read(&path).unwrap().windows(bytes.len()).any(|window| window == bytes) {
            found.push(name);
        }
    }
    found
}

/// Around where a text stands in another.
pub(super) fn around<'a>(text: &'a str, word: &str) -> &'a str {
    let Some(at) = text.find(word) else { return "" };
    text.get(at.saturating_sub(150)..(at + 150).min(text.len())).unwrap_or_default()
}

fn said(gateway: Gateway) -> String {
    let ended = gateway.stop();
    format!("{}\n{}", ended.out, ended.err)
}

/// What a sender proves itself with is not for receivers, nor is what one receiver's signatures are made with.
fn check_passed_on(sink: &Sink) {
    let arrivals = sink.arrivals();
    assert!(arrivals.len() >= 4, "only {} deliveries were looked at", arrivals.len());
    let shared = planted("verification_config.secret");
    for arrival in arrivals {
        let sent = format!("{:?}", arrival.headers);
        for secret in [shared, AUTHORIZATION, COOKIE, planted("signing_secret"), planted("private_key")] {
            assert!(!sent.contains(secret), "{} was sent {secret}: {sent}", arrival.path);
        }
    }
}

/// With secrets in its settings too.
pub(super) fn site() -> Site {
    Site::new()
        .with(&["--log", "trace"])
        .variable("POSTRIDER_ADMIN_KEY", ADMIN_KEY)
        .variable("POSTRIDER_SECRET_KEY", SECRET_KEY)
        .variable("POSTRIDER_WEBHOOKS_SECRET", WEBHOOKS_SECRET)
}

#[test]
fn no_secret_is_found_anywhere_after_everything_was_done() {
    let (sink, site) = (Sink::start(), site());
    let gateway = site.start();
    let witness = Witness::new(crate::rig::Api { address: site.address(), key: ADMIN_KEY.to_owned() });
    let garden = Garden::grown(&witness, &sink);
    ask_for_everything(&witness, &garden);
    tend(&witness, &garden);
    misplace(&witness, &garden);
    check_passed_on(&sink);
    let first = said(gateway);
    let gateway = site.start();
    ask_for_everything(&witness, &garden);
    let logged = format!("{first}\n{}", said(gateway));
    assert!(witness.count() > 80, "only {} answers were looked at", witness.count());
    assert!(logged.contains("its signature does not match the source"), "the log is looked at");
    for marker in &garden.markers {
        assert_eq!(witness.answers_with(marker), [""; 0], "{marker} is shown");
    }
    for marker in garden.markers.iter().chain(&garden.tokens) {
        assert!(!logged.contains(marker.as_str()), "{marker} is logged: {}", around(&logged, marker));
        assert_eq!(files_with(site.data_dir(), marker.as_bytes()), [""; 0], "{marker} is in a file");
    }
    assert!(!files_with(site.data_dir(), sink.url("/bearer").as_bytes()).is_empty(), "files are looked at");
}
