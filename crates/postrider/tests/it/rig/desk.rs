//! A gateway, and a person who runs commands against it as from a shell.

use super::{Gateway, Site};
use serde_json::Value;
use std::io::Write;
use std::process::{Child, Command, Output, Stdio};

/// A gateway, and a person with its key and a file.
pub(crate) struct Desk {
    pub(crate) site: Site,
    pub(crate) gateway: Gateway,
    /// Where calls go; another address when something stands between.
    pub(crate) url: String,
    pub(crate) variables: Vec<(String, String)>,
}

/// How a command ended.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    /// What was printed by one that ended so.
    pub(crate) fn out(&self, code: i32) -> &str {
        assert_eq!(self.code, code, "{self:#?}");
        &self.out
    }

    /// What was complained about.
    pub(crate) fn err(&self) -> &str {
        assert_eq!(self.code, 1, "{self:#?}");
        &self.err
    }

    pub(crate) fn json(&self, code: i32) -> Value {
        serde_json::from_str(self.out(code)).expect("JSON alone on the standard output")
    }
}

impl Desk {
    pub(crate) fn new() -> Self {
        Desk::with(&[])
    }

    /// With these flags of the gateway.
    pub(crate) fn with(args: &[&str]) -> Self {
        Desk::at(Site::new().with(args))
    }

    /// At a site of one's own.
    pub(crate) fn at(site: Site) -> Self {
        let gateway = site.start();
        Desk { url: format!("http://{}", site.address()), site, gateway, variables: Vec::new() }
    }

    /// Runs a command that reads nothing.
    pub(crate) fn said(&self, args: &[&str]) -> Ran {
        self.run(args, "")
    }

    /// Runs a command with this text as its file, on the standard input.
    pub(crate) fn run(&self, args: &[&str], file: &str) -> Ran {
        let mut child = self.start(args);
        let mut input = child.stdin.take().expect("it is piped");
        // One that needs no file ends without reading it.
        let _ = input.write_all(file.as_bytes());
        drop(input);
        let Output { status, stdout, stderr } = child.wait_with_output().expect("the child is ours");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("it speaks UTF-8");
        let (out, err) = (text(stdout), text(stderr));
        assert!(!err.contains("panicked"), "{args:?}: {err}");
        Ran { code: status.code().unwrap_or(-1), out, err }
    }

    /// Starts a command and leaves it running.
    pub(crate) fn start(&self, args: &[&str]) -> Child {
        let mut command = self.command(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().expect("the binary was built with this test")
    }

    /// With what this desk has set, and nothing that the person who runs the tests has.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_postrider"));
        command
            .env_clear()
            .env("POSTRIDER_URL", &self.url)
            .env("POSTRIDER_KEY", self.gateway.api().key)
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .current_dir(self.site.path())
            .args(args);
        command
    }
}
