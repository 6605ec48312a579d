//! What is in memory stays there.

use crate::rig::Site;
use std::fs::read_to_string;

#[test]
fn a_gateway_that_crashes_writes_no_core_file() {
    let gateway = Site::new().start();
    let limits = read_to_string(format!("/proc/{}/limits", gateway.id())).expect("Linux tells of a process");
    let core = limits.lines().find_map(|line| line.strip_prefix("Max core file size"));
    let core: Vec<&str> = core.unwrap_or_default().split_whitespace().collect();
    assert_eq!(core, ["0", "0", "bytes"]);
}
