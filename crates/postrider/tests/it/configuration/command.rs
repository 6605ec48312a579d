//! Runs `plan`, `apply` and `export` as a person would, against a gateway of the test's own.

use crate::rig::{Gateway, Site};
use serde_json::Value;
use std::io::Write;
use std::process::{Command, Output, Stdio};

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

/// A gateway, and a person with its key and a file.
pub(super) struct Desk {
    pub(super) site: Site,
    pub(super) gateway: Gateway,
    /// Where calls go; another address when something stands between.
    pub(super) url: String,
    pub(super) variables: Vec<(String, String)>,
}

/// How a command ended.
#[derive(Debug)]
pub(super) struct Ran {
    pub(super) code: i32,
    pub(super) out: String,
    pub(super) err: String,
}

impl Ran {
    /// What was printed by one that ended so.
    pub(super) fn out(&self, code: i32) -> &str {
        assert_eq!(self.code, code, "{self:#?}");
        &self.out
    }

    /// What was complained about.
    pub(super) fn err(&self) -> &str {
        assert_eq!(self.code, 1, "{self:#?}");
        &self.err
    }

    pub(super) fn json(&self, code: i32) -> Value {
        serde_json::from_str(self.out(code)).expect("JSON alone on the standard output")
    }
}

impl Desk {
    pub(super) fn new() -> Self {
        let site = Site::new();
        let gateway = site.start();
        let own = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        Desk {
            url: format!("http://{}", site.address()),
            site,
            gateway,
            variables: SECRETS.map(own).to_vec(),
        }
    }

    /// Runs a command with this text as its file, on the standard input.
    pub(super) fn run(&self, args: &[&str], file: &str) -> Ran {
        let mut command = Command::new(env!("CARGO_BIN_EXE_postrider"));
        let mut child = command
            .env_clear()
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .env("POSTRIDER_URL", &self.url)
            .env("POSTRIDER_KEY", self.gateway.api().key)
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary was built with this test");
        let mut input = child.stdin.take().expect("it is piped");
        // One that needs no file ends without reading it.
        let _ = input.write_all(file.as_bytes());
        drop(input);
        let Output { status, stdout, stderr } = child.wait_with_output().expect("the child is ours");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("it speaks UTF-8");
        Ran { code: status.code().unwrap_or(-1), out: text(stdout), err: text(stderr) }
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
