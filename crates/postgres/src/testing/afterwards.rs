//! What is to be done when this process is gone, however it ended: one that is killed does nothing any more.

use std::path::Path;
use std::process::{Command, Stdio};

/// Removes a directory then, if it is still there.
pub fn remove_afterwards(directory: &Path) {
    afterwards(Command::new("env"), r#"rm -rf "$1""#, &[directory]);
}

/// Has a shell run a script then, as whom the command before it makes it be.
pub(super) fn afterwards(mut shell: Command, script: &str, arguments: &[&Path]) {
    // In a session of its own: Ctrl-C is for this process, and not for what comes after it.
    shell.args(["setsid", "sh", "-c", &format!("read -r _; {script}"), "afterwards"]).args(arguments);
    shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    // Nothing is ever written, so the shell reads until the last who could is gone, which is this process: those that it
    // starts do not get this end of the pipe.
    std::mem::forget(shell.spawn().unwrap());
}
