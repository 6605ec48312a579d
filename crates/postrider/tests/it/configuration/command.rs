//! Runs `plan`, `apply` and `export` as a person would, against a gateway of the test's own.

pub(super) use crate::rig::{Desk, Ran};
use serde_json::Value;

pub(super) const PRIVATE_KEY: &str = "whsk_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=";

/// What the variables of the file hold; each is unlike anything else in an output.
pub(super) const SECRETS: [(&str, &str); 6] = [
    ("SHOP_SECRET", "shop-5f1c0d6e"),
    ("BILLING_SECRET", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo="),
    ("BILLING_TOKEN", "token-93b1fe20"),
    ("BILLING_STAGE", "stage-07aa4c11"),
    ("BANK_PRIVATE_KEY", PRIVATE_KEY),
    ("BANK_PASSWORD", "password-c04b7d5a"),
];

impl Desk {
    /// With the variables that files refer to.
    pub(super) fn with_secrets() -> Self {
        let own = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        Desk { variables: SECRETS.map(own).to_vec(), ..Desk::new() }
    }

    pub(super) fn plan(&self, file: &str) -> Ran {
        self.run(&["plan", "-f", "-"], file)
    }

    pub(super) fn apply(&self, file: &str) -> Ran {
        self.run(&["apply", "-f", "-", "--yes"], file)
    }

    pub(super) fn export(&self) -> String {
        self.run(&["export"], "").out(0).to_owned()
    }

    /// The one object of this name.
    pub(super) fn object(&self, path: &str, name: &str) -> Value {
        let listed = self.gateway.api().get(path).data(200);
        let mut named = listed.as_array().unwrap().iter().filter(|object| object["name"] == name);
        let found = named.next().unwrap_or_else(|| panic!("no {name} in {listed}")).clone();
        assert!(named.next().is_none(), "{name} is there twice");
        found
    }
}
