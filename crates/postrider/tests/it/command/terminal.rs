//! On a terminal: tables fit, and words have colours. In a pipe: neither.

use crate::rig::Desk;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use serde_json::json;
use std::fs::File;
use std::io::Read as _;
use std::process::{Command, Stdio};

/// Runs a command on a terminal of this width, and gives what it wrote there.
fn on_terminal(mut command: Command, columns: u16) -> String {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    tcsetwinsize(&master, Winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
    let slave = File::options().read(true).write(true).open(name).unwrap();
    let other = |slave: &File| Stdio::from(slave.try_clone().unwrap());
    let mut child = command.stdin(other(&slave)).stdout(other(&slave)).stderr(slave).spawn().unwrap();
    // The command holds copies of our ends of the terminal too.
    drop(command);
    let mut bytes = Vec::new();
    // Once the last end is closed, a read of the other side fails with EIO: that is how a terminal ends.
    let _ = File::from(master).read_to_end(&mut bytes);
    assert!(child.wait().unwrap().success());
    String::from_utf8(bytes).unwrap()
}

#[test]
fn a_table_fits_the_terminal_and_has_colours_there_alone() {
    let desk = Desk::new();
    let long = json!({ "name": "a name that is longer than it needs to be" });
    desk.gateway.api().destination("https://example.com/a/path/that/is/long/enough/to/be/cut", &long);
    let text = on_terminal(desk.command(&["destinations", "list"]), 72);
    assert!(text.contains("\x1b[32mactive\x1b[0m") && text.contains('…'), "{text:?}");
    for line in text.lines() {
        let plain: String =
            line.split('\x1b').map(|part| part.split_once('m').map_or(part, |(_, rest)| rest)).collect();
        assert!(plain.trim_end().chars().count() <= 72, "{plain:?}");
    }
    let mut quiet = desk.command(&["destinations", "list"]);
    quiet.env("NO_COLOR", "1");
    assert!(!on_terminal(quiet, 72).contains('\x1b'));
    let piped = desk.said(&["destinations", "list"]);
    assert!(piped.out(0).contains("/to/be/cut") && !piped.out.contains('\x1b'), "{piped:?}");
}
