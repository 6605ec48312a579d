//! The providers that need no more than their secret: how each signs, and where it tells type and id.
//!
//! Taken from the providers' own pages; the tests hold them against published vectors where there are any.

use super::challenge::Challenge;
use super::scheme::{Algorithm, Encoding, Scheme};
use super::template::Template;
use super::timestamp::{TimestampPlace, TimestampRule, TimestampUnit};
use http::HeaderName;
use postrider_store::FieldPlace;
use std::borrow::Cow;
use std::time::Duration;

/// What a provider's signatures are checked with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// A secret that is sent as it is.
    Token,
    /// A secret that both sides know and nobody sends.
    Secret,
    /// The provider's public key.
    PublicKey,
    /// Either.
    SecretOrPublicKey,
}

/// A provider.
#[derive(Debug)]
pub struct Preset {
    /// Its name as the API knows it.
    pub name: &'static str,
    /// The header with the signature.
    pub header: &'static str,
    /// What is signed and how, in words.
    pub signed: &'static str,
    /// What it is checked with.
    pub needs: Needs,
    /// How far the time of a signature may be from now, when there is one.
    pub tolerance_seconds: Option<u64>,
    /// Where the type stands, when the provider tells one.
    pub event_type_from: Option<FieldPlace>,
    /// Where the id stands by which a repetition is known, when the provider tells one.
    pub idempotency_key_from: Option<FieldPlace>,
    /// Questions of the provider that are answered.
    pub challenge: Option<Challenge>,
    /// How to set it up, in a sentence.
    pub setup: &'static str,
    schemes: fn() -> Vec<Scheme>,
}

impl Preset {
    /// The preset of this name, in whatever case.
    pub fn by_name(name: &str) -> Option<&'static Preset> {
        PRESETS.iter().find(|preset| preset.name.eq_ignore_ascii_case(name))
    }

    pub(super) fn by_header(name: &str) -> Option<&'static Preset> {
        PRESETS.iter().find(|preset| preset.header.eq_ignore_ascii_case(name))
    }

    /// Whether a header is a provider's secret itself, which is sent as it is.
    pub(crate) fn is_secret_header(name: &str) -> bool {
        PRESETS.iter().any(|preset| preset.needs == Needs::Token && preset.header.eq_ignore_ascii_case(name))
    }

    pub(super) fn schemes(&self) -> Vec<Scheme> {
        (self.schemes)()
    }
}

const fn header(name: &'static str) -> Option<FieldPlace> {
    Some(FieldPlace::Header(Cow::Borrowed(name)))
}

const fn pointer(pointer: &'static str) -> Option<FieldPlace> {
    Some(FieldPlace::JsonPointer(Cow::Borrowed(pointer)))
}

/// All of them, in the order of their names.
pub static PRESETS: [Preset; 14] = [
    Preset {
        name: "discord",
        header: "X-Signature-Ed25519",
        signed: "X-Signature-Timestamp and the body, by Ed25519, in hex",
        needs: Needs::PublicKey,
        tolerance_seconds: Some(300),
        event_type_from: None,
        idempotency_key_from: pointer("/id"),
        challenge: Some(Challenge::Discord),
        setup: "Give the public key of the application as secret, then paste ingest_url as its interactions endpoint; PING is answered.",
        schemes: || {
            let scheme = Scheme::of("x-signature-ed25519", Algorithm::Ed25519, Encoding::Hex);
            vec![scheme.over("{timestamp}{body}").timed_by(
                "x-signature-timestamp",
                TimestampUnit::Seconds,
                300,
            )]
        },
    },
    Preset {
        name: "github",
        header: "X-Hub-Signature-256",
        signed: "the body, by HMAC-SHA256, in hex after sha256=",
        needs: Needs::Secret,
        tolerance_seconds: None,
        event_type_from: header("x-github-event"),
        idempotency_key_from: header("x-github-delivery"),
        challenge: None,
        setup: "Paste ingest_url as the payload URL of the webhook and give its secret here.",
        schemes: || {
            let scheme = Scheme::of("x-hub-signature-256", Algorithm::HmacSha256, Encoding::Hex);
            vec![scheme.prefixed("sha256=")]
        },
    },
    Preset {
        name: "gitlab",
        header: "X-Gitlab-Token",
        signed: "nothing; the token itself is sent, and is not kept with the event",
        needs: Needs::Token,
        tolerance_seconds: None,
        event_type_from: header("x-gitlab-event"),
        idempotency_key_from: header("idempotency-key"),
        challenge: None,
        setup: "Paste ingest_url as the URL of the webhook and give its secret token here.",
        schemes: || vec![Scheme::of("x-gitlab-token", Algorithm::Token, Encoding::Hex)],
    },
    Preset {
        name: "hubspot",
        header: "X-HubSpot-Signature-v3",
        signed: "method, public URL, body and X-HubSpot-Request-Timestamp, by HMAC-SHA256, in base64",
        needs: Needs::Secret,
        tolerance_seconds: Some(300),
        event_type_from: pointer("/0/subscriptionType"),
        idempotency_key_from: None,
        challenge: None,
        setup: "Set public_url to how the outside reaches the gateway, paste ingest_url as the target URL of the app, and give its client secret here.",
        schemes: || {
            let scheme = Scheme::of("x-hubspot-signature-v3", Algorithm::HmacSha256, Encoding::Base64);
            let scheme = scheme.over("{method}{url_unescaped}{body}{timestamp}");
            vec![scheme.timed_by("x-hubspot-request-timestamp", TimestampUnit::Milliseconds, 300)]
        },
    },
    Preset {
        name: "linear",
        header: "Linear-Signature",
        signed: "the body with its webhookTimestamp, by HMAC-SHA256, in hex",
        needs: Needs::Secret,
        tolerance_seconds: Some(60),
        event_type_from: header("linear-event"),
        idempotency_key_from: header("linear-delivery"),
        challenge: None,
        setup: "Paste ingest_url as the URL of the webhook and give its signing secret here.",
        schemes: || {
            let scheme = Scheme::of("linear-signature", Algorithm::HmacSha256, Encoding::Hex);
            let place = TimestampPlace::JsonPointer("/webhookTimestamp".into());
            vec![scheme.timed(place, TimestampUnit::Milliseconds, 60)]
        },
    },
    Preset {
        name: "paddle",
        header: "Paddle-Signature",
        signed: "ts, a colon and the body, by HMAC-SHA256, in hex as h1 (there may be several)",
        needs: Needs::Secret,
        tolerance_seconds: Some(5),
        event_type_from: pointer("/event_type"),
        idempotency_key_from: pointer("/event_id"),
        challenge: None,
        setup: "Paste ingest_url as the URL of the notification destination and give its secret key here; tolerance_seconds widens Paddle's 5 s.",
        schemes: || {
            let scheme = Scheme::of("paddle-signature", Algorithm::HmacSha256, Encoding::Hex);
            let scheme = scheme.listed(';', "h1=").over("{timestamp}:{body}");
            vec![scheme.timed(TimestampPlace::Entry("ts=".into()), TimestampUnit::Seconds, 5)]
        },
    },
    Preset {
        name: "sendgrid",
        header: "X-Twilio-Email-Event-Webhook-Signature",
        signed: "X-Twilio-Email-Event-Webhook-Timestamp and the body, by ECDSA on P-256 with SHA-256, in base64",
        needs: Needs::PublicKey,
        // SendGrid repeats for a day and does not say whether it signs anew.
        tolerance_seconds: Some(86_400),
        event_type_from: pointer("/0/event"),
        idempotency_key_from: None,
        challenge: None,
        setup: "Paste ingest_url as the post URL of the event webhook, switch signature verification on, and give its verification key as secret.",
        schemes: || {
            let header = "x-twilio-email-event-webhook-signature";
            let scheme = Scheme::of(header, Algorithm::EcdsaP256Sha256, Encoding::Base64);
            let timestamp = "x-twilio-email-event-webhook-timestamp";
            vec![scheme.over("{timestamp}{body}").timed_by(timestamp, TimestampUnit::Seconds, 86_400)]
        },
    },
    Preset {
        name: "shopify",
        header: "X-Shopify-Hmac-Sha256",
        signed: "the body, by HMAC-SHA256, in base64",
        needs: Needs::Secret,
        tolerance_seconds: None,
        event_type_from: header("x-shopify-topic"),
        idempotency_key_from: header("x-shopify-webhook-id"),
        challenge: None,
        setup: "Subscribe to topics with ingest_url as the address and give the client secret of the app here.",
        schemes: || vec![Scheme::of("x-shopify-hmac-sha256", Algorithm::HmacSha256, Encoding::Base64)],
    },
    Preset {
        name: "slack",
        header: "X-Slack-Signature",
        signed: "v0, X-Slack-Request-Timestamp and the body with colons between, by HMAC-SHA256, in hex after v0=",
        needs: Needs::Secret,
        tolerance_seconds: Some(300),
        event_type_from: pointer("/event/type"),
        idempotency_key_from: pointer("/event_id"),
        challenge: Some(Challenge::Slack),
        setup: "Give the signing secret of the app here, then paste ingest_url as its request URL; url_verification is answered.",
        schemes: || {
            let scheme = Scheme::of("x-slack-signature", Algorithm::HmacSha256, Encoding::Hex);
            let scheme = scheme.prefixed("v0=").over("v0:{timestamp}:{body}");
            vec![scheme.timed_by("x-slack-request-timestamp", TimestampUnit::Seconds, 300)]
        },
    },
    Preset {
        name: "standard",
        header: "webhook-signature",
        signed: "webhook-id, webhook-timestamp and the body with dots between (or the same of svix-*), by HMAC-SHA256 as v1 or Ed25519 as v1a, in base64",
        needs: Needs::SecretOrPublicKey,
        tolerance_seconds: Some(300),
        event_type_from: pointer("/type"),
        idempotency_key_from: header("webhook-id"),
        challenge: None,
        setup: "Paste ingest_url where the sender asks for an endpoint and give its whsec_ secret or whpk_ public key here.",
        schemes: || {
            let v1 = |family| standard(family, Algorithm::StandardHmac, "v1,");
            let v1a = |family| standard(family, Algorithm::StandardEd25519, "v1a,");
            vec![v1("webhook"), v1a("webhook"), v1("svix"), v1a("svix")]
        },
    },
    Preset {
        name: "stripe",
        header: "Stripe-Signature",
        signed: "t, a dot and the body, by HMAC-SHA256, in hex as v1 (there may be several)",
        needs: Needs::Secret,
        tolerance_seconds: Some(300),
        event_type_from: pointer("/type"),
        idempotency_key_from: pointer("/id"),
        challenge: None,
        setup: "Add ingest_url as a webhook endpoint and give its whsec_ signing secret here.",
        schemes: || {
            let scheme = Scheme::of("stripe-signature", Algorithm::HmacSha256, Encoding::Hex);
            let scheme = scheme.listed(',', "v1=").over("{timestamp}.{body}");
            vec![scheme.timed(TimestampPlace::Entry("t=".into()), TimestampUnit::Seconds, 300)]
        },
    },
    Preset {
        name: "twilio",
        header: "X-Twilio-Signature",
        signed: "the public URL and the form's parameters by name (or the URL with bodySHA256), by HMAC-SHA1, in base64",
        needs: Needs::Secret,
        tolerance_seconds: None,
        event_type_from: None,
        idempotency_key_from: header("i-twilio-idempotency-token"),
        challenge: None,
        setup: "Set public_url to how the outside reaches the gateway, paste ingest_url as the webhook of the number or service, and give the auth token here.",
        schemes: || {
            let scheme = || Scheme::of("x-twilio-signature", Algorithm::HmacSha1, Encoding::Base64);
            vec![scheme().over("{url}{form}"), scheme().over("{url_with_sha256:bodySHA256}")]
        },
    },
    Preset {
        name: "woocommerce",
        header: "X-WC-Webhook-Signature",
        signed: "the body, by HMAC-SHA256, in base64",
        needs: Needs::Secret,
        tolerance_seconds: None,
        event_type_from: header("x-wc-webhook-topic"),
        idempotency_key_from: header("x-wc-webhook-delivery-id"),
        challenge: None,
        setup: "Paste ingest_url as the delivery URL of the webhook and give its secret here.",
        schemes: || vec![Scheme::of("x-wc-webhook-signature", Algorithm::HmacSha256, Encoding::Base64)],
    },
    Preset {
        name: "zendesk",
        header: "X-Zendesk-Webhook-Signature",
        signed: "X-Zendesk-Webhook-Signature-Timestamp and the body, by HMAC-SHA256, in base64",
        needs: Needs::Secret,
        tolerance_seconds: Some(300),
        event_type_from: pointer("/type"),
        idempotency_key_from: header("x-zendesk-webhook-invocation-id"),
        challenge: None,
        setup: "Paste ingest_url as the endpoint URL of the webhook and give its signing secret here.",
        schemes: || {
            let scheme = Scheme::of("x-zendesk-webhook-signature", Algorithm::HmacSha256, Encoding::Base64);
            let timestamp = "x-zendesk-webhook-signature-timestamp";
            vec![scheme.over("{timestamp}{body}").timed_by(timestamp, TimestampUnit::Rfc3339, 300)]
        },
    },
];

fn standard(family: &'static str, algorithm: Algorithm, prefix: &str) -> Scheme {
    let names = match family {
        "svix" => ["svix-signature", "svix-timestamp", "svix-id"],
        _ => ["webhook-signature", "webhook-timestamp", "webhook-id"],
    };
    let scheme = Scheme::of(names[0], algorithm, Encoding::Base64).listed(' ', prefix);
    let scheme = scheme.over("{id}.{timestamp}.{body}").timed_by(names[1], TimestampUnit::Seconds, 300);
    Scheme { id_header: Some(HeaderName::from_static(names[2])), ..scheme }
}

impl Scheme {
    /// A signature that stands alone in its header and covers the body.
    fn of(header: &'static str, algorithm: Algorithm, encoding: Encoding) -> Self {
        let header = HeaderName::from_static(header);
        let signed = Template::parse("{body}").expect("a known place");
        let prefix = String::new();
        Scheme {
            header,
            separator: None,
            prefix,
            algorithm,
            encoding,
            signed,
            timestamp: None,
            id_header: None,
        }
    }

    fn prefixed(self, prefix: &str) -> Self {
        Scheme { prefix: prefix.to_owned(), ..self }
    }

    fn listed(self, separator: char, prefix: &str) -> Self {
        Scheme { separator: Some(separator), ..self.prefixed(prefix) }
    }

    fn over(self, signed: &'static str) -> Self {
        Scheme { signed: Template::parse(signed).expect("the tests read all presets"), ..self }
    }

    fn timed(self, place: TimestampPlace, unit: TimestampUnit, tolerance_seconds: u64) -> Self {
        let tolerance = Duration::from_secs(tolerance_seconds);
        Scheme { timestamp: Some(TimestampRule { place, unit, tolerance }), ..self }
    }

    fn timed_by(self, header: &'static str, unit: TimestampUnit, tolerance_seconds: u64) -> Self {
        self.timed(TimestampPlace::Header(HeaderName::from_static(header)), unit, tolerance_seconds)
    }
}
