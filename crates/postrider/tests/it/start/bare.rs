//! `postrider` without a command explains itself and starts nothing.

use std::fs::read_dir;
use std::process::{Command, Output};

/// Runs the binary in an empty directory; also gives how many files it left there.
fn run(args: &[&str]) -> (Output, usize) {
    let directory = tempfile::tempdir().unwrap();
    // A gateway would never end.
    let mut command = Command::new("timeout");
    command.args(["60", env!("CARGO_BIN_EXE_postrider")]).args(args).current_dir(directory.path());
    let ran = command.env("POSTRIDER_LISTEN", "127.0.0.1:0").output().expect("there is a timeout command");
    (ran, read_dir(directory.path()).unwrap().count())
}

#[test]
fn without_a_command_it_prints_the_help_and_starts_nothing() {
    let (ran, files) = run(&[]);
    let help = String::from_utf8(ran.stdout).unwrap();
    assert_eq!((ran.status.code(), files), (Some(0), 0), "{help}");
    for part in ["Usage: postrider", "serve", "doctor", "Exit codes"] {
        assert!(help.contains(part), "{part:?} is not in\n{help}");
    }
}

#[test]
fn settings_without_a_command_are_refused() {
    let (ran, files) = run(&["--listen", "127.0.0.1:0"]);
    let error = String::from_utf8(ran.stderr).unwrap();
    assert_eq!((ran.status.code(), files), (Some(1), 0), "{error}");
    assert!(error.contains("--listen") && error.contains("postrider"), "{error}");
}
