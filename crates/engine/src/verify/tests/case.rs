//! A request that a preset must let in, with one row for each provider.

use crate::verify::{Incoming, Passed, Refusal, Verifier};
use http::{HeaderMap, HeaderName, HeaderValue};
use postrider_core::time::Timestamp;
use serde_json::Map;

#[derive(Clone)]
pub(super) struct Case {
    pub(super) provider: &'static str,
    pub(super) secrets: Vec<String>,
    pub(super) url: String,
    pub(super) headers: HeaderMap,
    pub(super) body: Vec<u8>,
    pub(super) now: Timestamp,
}

impl Case {
    pub(super) fn new(
        provider: &'static str,
        secret: &str,
        headers: &[(&'static str, &str)],
        body: &str,
    ) -> Self {
        let pair = |(name, value): &(&'static str, &str)| {
            (HeaderName::from_static(name), HeaderValue::from_str(value).unwrap())
        };
        Case {
            provider,
            secrets: vec![secret.to_owned()],
            url: "https://hooks.example.com/ingest/src_1".into(),
            headers: headers.iter().map(pair).collect(),
            body: body.as_bytes().to_vec(),
            now: Timestamp::from_unix_ms(1_700_000_001_000),
        }
    }

    pub(super) fn to(self, url: &str) -> Self {
        Case { url: url.to_owned(), ..self }
    }

    pub(super) fn at_seconds(self, seconds: u64) -> Self {
        Case { now: Timestamp::from_unix_ms(seconds * 1000), ..self }
    }

    pub(super) fn verify(&self) -> Result<Passed, Refusal> {
        let verifier = Verifier::new(Some(self.provider), &Map::new(), &self.secrets).unwrap();
        let (url, headers, body) = (self.url.as_str(), &self.headers, &self.body[..]);
        verifier.verify(&Incoming { method: "POST", url, headers, body }, self.now)
    }
}

/// Published by the providers where they publish one, else computed once with Python's `hmac` and `cryptography`.
pub(super) fn cases() -> Vec<Case> {
    [by_headers(), by_body(), by_url(), with_public_keys()].concat()
}

fn by_headers() -> Vec<Case> {
    let slack_body = "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c";
    vec![
        Case::new(
            "stripe",
            "whsec_test_secret",
            &[(
                "stripe-signature",
                "t=1700000000,v1=c0475716eb2200f1fe97fcf35a3c05d1fd4f8ba9a07a596730c8d18bb87c0672",
            )],
            r#"{"id":"evt_1","type":"charge.succeeded"}"#,
        ),
        Case::new(
            "github",
            "It's a Secret to Everybody",
            &[(
                "x-hub-signature-256",
                "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17",
            )],
            "Hello, World!",
        ),
        Case::new(
            "shopify",
            "hush",
            &[("x-shopify-hmac-sha256", "D0UMXmhjwBRi4y66TmhJrDlhQABD7zI2fm3p6/QLMo8=")],
            r#"{"id":820982911946154508,"email":"jon@example.com"}"#,
        ),
        Case::new(
            "slack",
            "8f742231b10e8888abcd99yyyzzz85a5",
            &[
                ("x-slack-signature", "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503"),
                ("x-slack-request-timestamp", "1531420618"),
            ],
            slack_body,
        )
        .at_seconds(1_531_420_700),
    ]
}

fn by_body() -> Vec<Case> {
    vec![
        Case::new(
            "paddle",
            "pdl_ntfset_secret",
            &[(
                "paddle-signature",
                "ts=1700000000;h1=30fca59b0a1ac6fe4f56ab0bc8a0978e096e8fec99125d7d2344e3eec98e87e2",
            )],
            r#"{"event_id":"evt_01","event_type":"transaction.completed"}"#,
        ),
        Case::new(
            "linear",
            "lin_wh_secret",
            &[("linear-signature", "4ff58c16bddf3142f867243ebe039e306fcc4206e60072da0c5497bdde40248b")],
            r#"{"action":"create","type":"Issue","webhookTimestamp":1700000000123}"#,
        ),
        Case::new(
            "woocommerce",
            "woo-secret",
            &[("x-wc-webhook-signature", "yaCKrl+W7bH7uK4kTY3QHabhkZ6lqvBpskV6mRajzng=")],
            r#"{"id":7,"status":"processing"}"#,
        ),
        Case::new("gitlab", "glt-1234", &[("x-gitlab-token", "glt-1234")], r#"{"object_kind":"push"}"#),
        Case::new(
            "zendesk",
            "dGhpc19zZWNyZXRfaXNfZm9yX3Rlc3Rpbmdfb25seQ==",
            &[
                ("x-zendesk-webhook-signature", "SI9g6lzKBJgXNoi/XZIjI3YFiJEqf6r6kgyKCnTgoLw="),
                ("x-zendesk-webhook-signature-timestamp", "2021-03-25T05:09:27Z"),
            ],
            r#"{"ticket":{"id":35436}}"#,
        )
        .at_seconds(1_616_648_967),
        standard(
            "webhook",
            "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
            "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
        ),
        standard(
            "svix",
            "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
            "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
        ),
    ]
}

fn by_url() -> Vec<Case> {
    let hash = "2499358d3b73660dd38ee30338a37045ae22062c41f1be9df142285a615a6ae9";
    vec![
        Case::new(
            "twilio",
            "12345",
            &[
                ("x-twilio-signature", "RSOYDt4T1cUTdK1PDd93/VVr8B8="),
                ("content-type", "application/x-www-form-urlencoded; charset=utf-8"),
            ],
            "To=%2B18005551212&CallSid=CA1234567890ABCDE&Digits=1234&From=%2B14158675309&Caller=%2B14158675309",
        )
        .to("https://mycompany.com/myapp.php?foo=1&bar=2"),
        Case::new(
            "twilio",
            "12345",
            &[("x-twilio-signature", "q67VJ6A+Z93XtGV39cLqcIVtDrI="), ("content-type", "application/json")],
            r#"{"status":"delivered"}"#,
        )
        .to(&format!("https://hooks.example.com/ingest/src_1?bodySHA256={hash}")),
        Case::new(
            "hubspot",
            "hub-secret",
            &[
                ("x-hubspot-signature-v3", "E2aJCWu5p1Y64VrOfFOfATg0ObI/mdyA6nMLZxpT39k="),
                ("x-hubspot-request-timestamp", "1700000000123"),
            ],
            r#"[{"eventId":1,"subscriptionType":"contact.creation"}]"#,
        )
        .to("https://hooks.example.com/ingest/src_1?to=a%2Fb%20c"),
    ]
}

fn with_public_keys() -> Vec<Case> {
    let sendgrid = "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE83T4O/n84iotIvIW4mdBgQ/7dAfSmpqIM8kF9mN1flpVKS3GRqe62gw+2fNNRaINXvVpiglSI8eNEc6wEA3F+g==";
    vec![
        Case::new(
            "sendgrid",
            sendgrid,
            &[
                ("x-twilio-email-event-webhook-signature", "MEUCIGHQVtGj+Y3LkG9fLcxf3qfI10QysgDWmMOVmxG0u6ZUAiEAyBiXDWzM+uOe5W0JuG+luQAbPIqHh89M15TluLtEZtM="),
                ("x-twilio-email-event-webhook-timestamp", "1600112502"),
            ],
            "[{\"email\":\"hello@world.com\",\"event\":\"dropped\",\"reason\":\"Bounced Address\",\"sg_event_id\":\"ZHJvcC0xMDk5NDkxOS1MUnpYbF9OSFN0T0doUTRrb2ZTbV9BLTA\",\"sg_message_id\":\"LRzXl_NHStOGhQ4kofSm_A.filterdrecv-p3mdw1-756b745b58-kmzbl-18-5F5FC76C-9.0\",\"smtp-id\":\"<LRzXl_NHStOGhQ4kofSm_A@ismtpd0039p1iad1.sendgrid.net>\",\"timestamp\":1600112492}]\r\n",
        )
        .at_seconds(1_600_112_503),
        Case::new(
            "discord",
            "03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8",
            &[
                ("x-signature-ed25519", "1363a4323b4e52f7f7d7b063c6979a643a6e23970df86ac9776c83cfd204d98e069986c953aa002ef14eb69585a2b9f9edfd5ca9c8defee34016458f83fd4b06"),
                ("x-signature-timestamp", "1700000000"),
            ],
            r#"{"id":"9","type":2}"#,
        ),
        standard("webhook", "whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4=", "v1a,hnO3f9T8Ytu9HwrXslvumlUpqtNVqkhqw/enGzPCXe5BdqzCInXqYXFymVJaA7AZdpXwVLPo3mNl8EM+m7TBAg=="),
    ]
}

fn standard(family: &str, secret: &str, signature: &str) -> Case {
    let names = match family {
        "svix" => ["svix-id", "svix-timestamp", "svix-signature"],
        _ => ["webhook-id", "webhook-timestamp", "webhook-signature"],
    };
    let values = ["msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", signature];
    let headers: Vec<_> = names.into_iter().zip(values).collect();
    Case::new("standard", secret, &headers, r#"{"test": 2432232314}"#).at_seconds(1_614_265_331)
}
