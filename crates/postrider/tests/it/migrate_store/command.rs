//! Runs `migrate-store` as a person would.

use crate::rig::Site;
use crate::rig::wait::PATIENCE;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

/// How it ended.
#[derive(Debug)]
pub(super) struct Moved {
    pub(super) code: Option<i32>,
    pub(super) out: String,
    pub(super) err: String,
}

pub(super) fn sqlite(site: &Site) -> String {
    format!("sqlite:{}", site.data_dir().display())
}

fn start(from: &str, to: &str) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_postrider"));
    for (name, _) in std::env::vars_os() {
        if name.as_encoded_bytes().starts_with(b"POSTRIDER_") {
            command.env_remove(name);
        }
    }
    command.args(["migrate-store", "--from", from, "--to", to]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("the program starts")
}

pub(super) fn migrate(from: &str, to: &str) -> Moved {
    let output = start(from, to).wait_with_output().expect("it ends");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Moved { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

/// Runs it until it says this, and kills it then.
pub(super) fn migrate_until(from: &str, to: &str, said: &str) {
    let (mut child, begun) = (start(from, to), Instant::now());
    let err = BufReader::new(child.stderr.take().expect("it is piped"));
    for line in err.lines().map_while(Result::ok) {
        assert!(begun.elapsed() < PATIENCE, "it never said {said:?}");
        if line.contains(said) {
            child.kill().expect("it runs");
            child.wait().expect("it ends");
            return;
        }
    }
    let mut out = String::new();
    let _ = child.stdout.take().map(|mut rest| rest.read_to_string(&mut out));
    panic!("it ended without having said {said:?}: {out}");
}
