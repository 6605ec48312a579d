//! Which gateway a command speaks to, and as whom.

use super::Client;
use super::profile::Profile;
use anyhow::bail;
use clap::Args;
use std::path::Path;
use url::{Host, Url};

const URL_DEFAULT: &str = "http://127.0.0.1:8080";
/// Where `postrider serve` leaves the key unless it is told another directory.
const KEY_FILE: &str = "postrider-data/admin.key";

/// Flags stand over variables, which stand over the profile.
#[derive(Args)]
pub(crate) struct GatewayArgs {
    /// URL of the gateway [default: POSTRIDER_URL, the profile's, or http://127.0.0.1:8080]
    #[arg(long, global = true, help_heading = "Gateway")]
    url: Option<String>,
    /// API key of the account, or the admin key [default: POSTRIDER_KEY, POSTRIDER_ADMIN_KEY, or the profile's]
    #[arg(long, global = true, help_heading = "Gateway")]
    key: Option<String>,
    /// Account to act on with the admin key, acc_… [default: the profile's, or the first]
    #[arg(long, value_name = "ID", global = true, help_heading = "Gateway")]
    account: Option<String>,
    /// Profile in ~/.config/postrider/config.toml [default: POSTRIDER_PROFILE, or default]
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
        let url = url.or(profile_url).unwrap_or_else(|| URL_DEFAULT.to_owned());
        let known = self.key.clone().or_else(|| variable("POSTRIDER_KEY"));
        let known = known.or_else(|| variable("POSTRIDER_ADMIN_KEY")).or(profile_key);
        let Some(key) = known.or_else(|| local_key().filter(|_| is_on_this_machine(&url))) else {
            bail!(
                "there is no key for {url}: give one with --key, POSTRIDER_KEY or a profile, \
                 or, for a gateway on this machine, run this where {KEY_FILE} is"
            )
        };
        Ok(Access { url, key, account: self.account.clone().or(profile.account) })
    }
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// The key file is only for a gateway on this machine: no other host is ever sent its key.
fn is_on_this_machine(url: &str) -> bool {
    let parsed = Url::parse(url).ok();
    parsed.is_some_and(|url| match url.host() {
        Some(Host::Domain(name)) => name.eq_ignore_ascii_case("localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    })
}

/// Of the gateway that was started in this directory.
fn local_key() -> Option<String> {
    let key = std::fs::read_to_string(Path::new(KEY_FILE)).ok()?;
    Some(key.trim().to_owned()).filter(|key| !key.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_file_is_for_loopback_addresses_alone() {
        for (url, expected) in [
            (URL_DEFAULT, true),
            ("http://localhost", true),
            ("http://LOCALHOST:9000/base", true),
            ("https://localhost", true),
            ("http://127.9.9.9:8080", true),
            ("http://[::1]:8080", true),
            ("http://localhost.example.com", false),
            ("http://127.0.0.1.example.com", false),
            ("http://localhost@example.com", false),
            ("http://10.0.0.1", false),
            ("http://[fe80::1]", false),
            ("no url", false),
        ] {
            assert_eq!(is_on_this_machine(url), expected, "{url}");
        }
    }
}
