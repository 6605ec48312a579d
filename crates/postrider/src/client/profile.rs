//! Profiles: what a person uses again and again, in `~/.config/postrider/config.toml`. A table for each gateway.

use anyhow::{Context as _, bail, ensure};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// The one that is taken when none is named.
const DEFAULT: &str = "default";
/// Read or write by the group or by others.
const OTHERS: u32 = 0o066;

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Profile {
    pub(super) url: Option<String>,
    pub(super) key: Option<String>,
    pub(super) account: Option<String>,
}

impl Profile {
    /// The one of this name, which must be there; without a name the default, which need not.
    pub(super) fn read(name: Option<String>) -> anyhow::Result<Profile> {
        let found = path().map(|path| anyhow::Ok((all(&path)?, path))).transpose();
        let Some((mut profiles, path)) = found? else {
            return name.map_or_else(
                || Ok(Profile::default()),
                |name| bail!("no profile {name:?}: HOME is not set"),
            );
        };
        let wanted = name.as_deref().unwrap_or(DEFAULT);
        let profile = profiles.remove(wanted);
        if profile.is_none() && name.is_some() {
            let known: Vec<String> = profiles.into_keys().collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            bail!("no profile {wanted:?} in {}; available: {known}", path.display());
        }
        let profile = profile.unwrap_or_default();
        if profile.key.is_some() {
            only_ours(&path)?;
        }
        Ok(profile)
    }
}

fn path() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let directory = set("XDG_CONFIG_HOME").or_else(|| Some(set("HOME")?.join(".config")))?;
    Some(directory.join("postrider/config.toml"))
}

fn all(path: &Path) -> anyhow::Result<BTreeMap<String, Profile>> {
    match std::fs::read_to_string(path) {
        Ok(text) => parse(&text).with_context(|| format!("cannot use {}", path.display())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(BTreeMap::new()),
        Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
    }
}

/// In words of our own: those of the parser quote what they stumbled over, which may be a key.
fn parse(text: &str) -> anyhow::Result<BTreeMap<String, Profile>> {
    toml::from_str(text).map_err(|error| {
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        anyhow::anyhow!(
            "line {line} is invalid; a profile is a TOML table with the strings url, key and account"
        )
    })
}

/// As ssh has it with its keys: what others can read is no secret.
fn only_ours(path: &Path) -> anyhow::Result<()> {
    let mode = std::fs::metadata(path).with_context(|| format!("cannot read {}", path.display()))?;
    ensure!(
        mode.permissions().mode() & OTHERS == 0,
        "{0} holds a key and other users can read it; run `chmod 600 {0}`",
        path.display()
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistake_is_told_by_its_line_and_never_shows_a_key() {
        let check = |text: &str, wanted: &str| {
            let said = parse(text).err().expect("there is a mistake").to_string();
            assert!(said.contains(wanted), "{said}");
            assert!(!said.contains("hk_secret"), "{said}");
        };
        check(
            "[default]\nkey = \"hk_secret\"\nurll = \"x\"\n",
            "line 3 is invalid; a profile is a TOML table",
        );
        check("[default]\nkey = hk_secret\n", "line 2");
        check("key = \"hk_secret\"\n", "line 1");
        assert!(parse("[a]\nurl = \"http://a\"\n[b]\nkey = \"k\"\naccount = \"acc_1\"\n").is_ok());
    }
}
