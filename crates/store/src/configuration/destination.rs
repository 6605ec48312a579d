//! Where events go.

use super::destination_tls::DestinationTls;
use super::handshake::Handshake;
use super::signing::Signing;
use crate::headers::Headers;
use postrider_core::destination::{
    CircuitPolicy, MaxConcurrency, OnDeadLetter, Ordering, RateLimit, TimeoutSeconds,
};
use postrider_core::id::{AccountId, DestinationId};
use postrider_core::retry::RetryPolicy;
use postrider_core::scheduler::Settings;
use postrider_core::time::Timestamp;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Where events go.
#[derive(Clone, PartialEq)]
pub struct Destination {
    /// Its id.
    pub id: DestinationId,
    /// Whose it is.
    pub account: AccountId,
    /// Its name.
    pub name: String,
    /// The URL that is posted to.
    pub url: String,
    /// Attempts in flight at once.
    pub max_concurrency: MaxConcurrency,
    /// The one deadline of an attempt.
    pub timeout: TimeoutSeconds,
    /// When failed deliveries are due again; a route's own policy stands above it.
    pub retry_policy: Option<RetryPolicy>,
    /// How often it may be sent to; as often as there is something when `None`.
    pub rate_limit: Option<RateLimit>,
    /// In which order it gets its events.
    pub ordering: Ordering,
    /// The CEL expression for the key of [`Ordering::ByKey`].
    pub ordering_key: Option<String>,
    /// What becomes of an ordered line when its head is given up on.
    pub on_dead_letter: OnDeadLetter,
    /// Whether fewer attempts than `max_concurrency` are made at once while it struggles.
    pub adaptive: bool,
    /// When it is left alone, and for how long.
    pub circuit: CircuitPolicy,
    /// An operator has stopped it for a while; it keeps what it is owed and is sent nothing.
    pub paused: bool,
    /// An inactive destination keeps what it is owed and is sent nothing.
    pub active: bool,
    /// Why it is not active, when the gateway knows.
    pub disabled_reason: Option<String>,
    /// Credentials that the receiver wants.
    pub auth: Option<DestinationAuth>,
    /// Further headers.
    pub custom_headers: Headers,
    /// What seals the headers that single events carry for it.
    pub event_headers_key: Option<String>,
    /// The Standard Webhooks secret, `whsec_…`.
    pub signing_secret: String,
    /// With what else its deliveries are signed.
    pub signing: Signing,
    /// What it asks of TLS.
    pub tls: DestinationTls,
    /// The preset its settings were copied from.
    pub preset: Option<String>,
    /// Whether its receiver must agree first, and has.
    pub handshake: Handshake,
    /// When it was made.
    pub created_at: Timestamp,
}

/// Whether a destination is sent to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DestinationStatus {
    /// It is.
    Active,
    /// Not for a while: an operator has paused it, or its receiver has not agreed yet.
    Paused,
    /// Not until somebody makes it active.
    Disabled,
}

impl DestinationStatus {
    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            DestinationStatus::Active => "active",
            DestinationStatus::Paused => "paused",
            DestinationStatus::Disabled => "disabled",
        }
    }
}

impl Destination {
    /// Whether it is sent to.
    pub fn status(&self) -> DestinationStatus {
        match (self.active, self.paused || self.handshake.is_missing()) {
            (false, _) => DestinationStatus::Disabled,
            (true, true) => DestinationStatus::Paused,
            (true, false) => DestinationStatus::Active,
        }
    }

    /// What the scheduler must know of it.
    pub fn settings(&self, hold_until: Timestamp) -> Settings {
        Settings {
            account: self.account,
            max_concurrency: self.max_concurrency,
            adaptive: self.adaptive,
            target: self.target(),
            rate_limit: self.rate_limit,
            ordering: self.ordering,
            circuit: self.circuit,
            paused: self.status() != DestinationStatus::Active,
            hold_until,
        }
    }

    /// Compared within this process alone.
    fn target(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (&self.url, &self.auth, self.custom_headers.as_text(), &self.tls).hash(&mut hasher);
        hasher.finish()
    }

    /// One that is active, with every setting at its default.
    pub fn new(
        id: DestinationId,
        account: AccountId,
        name: String,
        url: String,
        signing_secret: String,
        created_at: Timestamp,
    ) -> Self {
        Destination {
            id,
            account,
            name,
            url,
            max_concurrency: MaxConcurrency::default(),
            timeout: TimeoutSeconds::default(),
            retry_policy: None,
            rate_limit: None,
            ordering: Ordering::default(),
            ordering_key: None,
            on_dead_letter: OnDeadLetter::default(),
            adaptive: true,
            circuit: CircuitPolicy::default(),
            paused: false,
            active: true,
            disabled_reason: None,
            auth: None,
            custom_headers: Headers::default(),
            event_headers_key: None,
            signing_secret,
            signing: Signing::default(),
            tls: DestinationTls::default(),
            preset: None,
            handshake: Handshake::Off,
            created_at,
        }
    }
}

/// Credentials that a receiver wants.
#[derive(Clone, PartialEq, Eq, Hash)]
pub enum DestinationAuth {
    /// `Authorization: Bearer …`.
    Bearer {
        /// The token.
        token: String,
    },
    /// A header of the receiver's choice.
    Header {
        /// Header name.
        header: String,
        /// Its value.
        value: String,
    },
    /// `Authorization: Basic …`.
    Basic {
        /// Without a colon.
        username: String,
        /// The password.
        password: String,
    },
}

// Secrets never reach a log, not even by way of `{:?}`.

impl fmt::Debug for DestinationAuth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DestinationAuth::Bearer { .. } => f.write_str("Bearer(redacted)"),
            DestinationAuth::Header { header, .. } => write!(f, "Header({header}: redacted)"),
            DestinationAuth::Basic { .. } => f.write_str("Basic(redacted)"),
        }
    }
}

impl fmt::Debug for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Destination")
            .field("id", &self.id)
            .field("name", &self.name)
            .field("active", &self.active)
            .finish_non_exhaustive()
    }
}
