//! Nodes that send from an address of their own: `sends_from.c`. So the sink knows who sent what, also of one that is dead.

use crate::rig::preload;
use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/fleet/sends_from.c");

/// Makes what nodes of this home are started with.
pub(super) fn compile(home: &Path) {
    preload::compile(Path::new(SOURCE), &library(home));
}

/// What a node is started with that sends from where it listens.
pub(super) fn variables(home: &Path, address: SocketAddr) -> [(&'static str, OsString); 2] {
    [("LD_PRELOAD", library(home).into()), ("SENDS_FROM", address.ip().to_string().into())]
}

fn library(home: &Path) -> PathBuf {
    home.join("sends_from.so")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rig::loopback;
    use std::net::TcpListener;
    use std::process::Command;

    #[test]
    fn what_a_process_sends_comes_from_its_own_address() {
        let home = tempfile::tempdir().unwrap();
        compile(home.path());
        let (to, own) = (TcpListener::bind(loopback::fresh()).unwrap(), loopback::fresh());
        let SocketAddr::V4(address) = to.local_addr().unwrap() else { panic!("it is of 127.0.0.0/8") };
        let connect = format!("exec 3<>/dev/tcp/{}/{}", address.ip(), address.port());
        let status = Command::new("bash").args(["-c", &connect]).envs(variables(home.path(), own)).status();
        assert!(status.unwrap().success());
        assert_eq!(to.accept().unwrap().1.ip(), own.ip());
    }
}
