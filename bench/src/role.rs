//! The roles as their parent sees them: the receiver, the forwarder and the load, each a child process.

mod load;
mod receiver;

pub(crate) use load::{LoadOrder, run_load};
pub(crate) use receiver::Receiver;

use crate::args::Role;
use crate::child::Child;
use crate::http::ANNOUNCEMENT;
use anyhow::Context as _;
use std::net::SocketAddr;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, BufReader};

/// A role listens within milliseconds of its start.
const START_WAIT_MAX: Duration = Duration::from_secs(10);

/// A role that listens.
#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
    address: SocketAddr,
}

impl Server {
    pub(crate) async fn start(role: Role, urls: &[String]) -> anyhow::Result<Server> {
        let mut child = spawn(role, urls, &[])?;
        let mut line = String::new();
        let mut output = BufReader::new(child.take_stdout()?);
        let announced = tokio::time::timeout(START_WAIT_MAX, output.read_line(&mut line)).await;
        announced
            .with_context(|| format!("the {} does not listen", role.name()))?
            .context("read its address")?;
        let address = line.trim().strip_prefix(ANNOUNCEMENT.trim_end()).map(str::trim);
        let address = address.with_context(|| format!("the {} gave no address", role.name()))?;
        Ok(Server { child, address: address.parse().context("not an address")? })
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.pid()
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }
}

fn spawn(role: Role, urls: &[String], options: &[String]) -> anyhow::Result<Child> {
    let mut command = Child::this_program()?;
    command.args(["bench", "--role", role.name()]).args(options).stdout(Stdio::piped());
    for url in urls {
        command.args(["--url", url]);
    }
    Child::spawn(&mut command).with_context(|| format!("start the {}", role.name()))
}
