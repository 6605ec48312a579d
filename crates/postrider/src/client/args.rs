//! Which gateway a command speaks to, and as whom.

use super::Client;
use super::profile::Profile;
use anyhow::bail;
use clap::Args;
use std::path::Path;

const URL_DEFAULT: &str = "http://127.0.0.1:8080";
/// Where `postrider serve` leaves the key unless it is told another directory.
const KEY_FILE: &str = "postrider-data/admin.key";

/// Flags stand over variables, which stand over the profile.
#[derive(Args)]
pub(crate) struct GatewayArgs {
    /// Where the gateway is [default: POSTRIDER_URL, that of the profile, or http://127.0.0.1:8080]
    #[arg(long, global = true, help_heading = "Gateway")]
    url: Option<String>,
    /// A key of the account, or the admin key [default: POSTRIDER_KEY, POSTRIDER_ADMIN_KEY, that of the profile]
    #[arg(long, global = true, help_heading = "Gateway")]
    key: Option<String>,
    /// With the admin key: the account, acc_… [default: that of the profile, or the first]
    #[arg(long, value_name = "ID", global = true, help_heading = "Gateway")]
    account: Option<String>,
    /// A table of ~/.config/postrider/config.toml [default: POSTRIDER_PROFILE, or default]
    #[arg(long, value_name = "NAME", global = true, help_heading = "Gateway")]
    profile: Option<String>,
}

/// What is known of the gateway.
pub(crate) struct Access {
    pub(crate) url: String,
    pub(crate) key: String,
    account: Option<String>,
}

impl Access {
    /// In the name of another account, which an operator may choose.
    pub(crate) fn client_of(&self, account: &str) -> anyhow::Result<Client> {
        Client::new(&self.url, &self.key, Some(account))
    }

    /// Whether an account was chosen.
    pub(crate) const fn names_account(&self) -> bool {
        self.account.is_some()
    }

    pub(crate) fn client(&self) -> anyhow::Result<Client> {
        Client::new(&self.url, &self.key, self.account.as_deref())
    }
}

impl GatewayArgs {
    pub(crate) fn client(&self) -> anyhow::Result<Client> {
        self.access()?.client()
    }

    pub(crate) fn access(&self) -> anyhow::Result<Access> {
        let profile = Profile::read(self.profile.clone().or_else(|| variable("POSTRIDER_PROFILE")))?;
        let url = self.url.clone().or_else(|| variable("POSTRIDER_URL"));
        // A key is for the gateway that it stands beside, and is shown to no other.
        let (profile_url, profile_key) = match &url {
            Some(url) if profile.url.as_ref() != Some(url) => (None, None),
            _ => (profile.url, profile.key),
        };
        let is_local = url.is_none() && profile_url.is_none();
        let known = self.key.clone().or_else(|| variable("POSTRIDER_KEY"));
        let known = known.or_else(|| variable("POSTRIDER_ADMIN_KEY")).or(profile_key);
        let Some(key) = known.or_else(|| local_key().filter(|_| is_local)) else {
            bail!(
                "there is no key: give one with --key, POSTRIDER_KEY or a profile, \
                 or run this where {KEY_FILE} is"
            )
        };
        let url = url.or(profile_url).unwrap_or_else(|| URL_DEFAULT.to_owned());
        Ok(Access { url, key, account: self.account.clone().or(profile.account) })
    }
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Of the gateway that was started in this directory.
fn local_key() -> Option<String> {
    let key = std::fs::read_to_string(Path::new(KEY_FILE)).ok()?;
    Some(key.trim().to_owned()).filter(|key| !key.is_empty())
}
