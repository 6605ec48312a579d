//! The command line of `postrider bench`, and of the children it starts.

use crate::database::DatabaseArgs;
use crate::load::{LoadPlan, Refused, Target};
use crate::scenario::ScenarioName;
use anyhow::Context as _;
use clap::{Args, ValueEnum, value_parser};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

/// Healthy traffic of the backlog scenario where `--rate` is not given: far below the limit of any machine
/// that runs the gateway, so that latency and not throughput is measured.
const RATE_PER_S_DEFAULT: u32 = 500;

/// Measures this gateway against a bare forwarder on this machine.
#[derive(Debug, Clone, Args)]
pub struct BenchArgs {
    /// Scenario to run; may be repeated [default: throughput by --rounds, and backlog by --pending]
    #[arg(long = "scenario", value_name = "NAME", value_delimiter = ',')]
    pub(crate) scenarios: Vec<ScenarioName>,
    /// Rounds of the throughput scenario, forwarder and gateway in turn, and of each other that compares; 0 skips the throughput
    #[arg(long, default_value_t = 3, value_parser = value_parser!(u32).range(0..=100))]
    pub(crate) rounds: u32,
    /// Events in each run
    #[arg(long, default_value_t = 100_000, value_parser = value_parser!(u64).range(1..=crate::event::EVENTS_MAX))]
    pub(crate) events: u64,
    /// Bytes of one event's body
    #[arg(long, default_value_t = 1024, value_parser = value_parser!(u32).range(128..=5_000_000))]
    pub(crate) size: u32,
    /// Keep-alive connections that send events
    #[arg(long, default_value_t = 64, value_parser = value_parser!(u16).range(1..=1024))]
    pub(crate) connections: u16,
    /// Destinations that the throughput load is spread over
    #[arg(long, default_value_t = 4, value_parser = value_parser!(u8).range(1..=26))]
    pub(crate) destinations: u8,
    /// Pending deliveries in the backlog scenario, such as 1000000; 0 skips it
    #[arg(long, default_value_t = 0, value_parser = value_parser!(u64).range(0..=crate::event::EVENTS_MAX))]
    pub(crate) pending: u64,
    /// Events per second to healthy destinations, where their latency is measured [default: 500]
    #[arg(long, value_parser = value_parser!(u32).range(1..=1_000_000))]
    pub(crate) rate: Option<u32>,
    /// Seconds of healthy traffic for each such measurement
    #[arg(long, default_value_t = 10, value_parser = value_parser!(u32).range(1..=3600))]
    pub(crate) rate_seconds: u32,
    /// The longest that one load, or one wait for its events, may take
    #[arg(long, default_value_t = 600, value_parser = value_parser!(u64).range(1..=86_400))]
    pub(crate) deadline_seconds: u64,
    /// Also writes every figure as JSON to this file; - is the standard output, without the table
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Also puts the tables into this page, each between `<!-- bench NAME -->` and `<!-- end -->`
    #[arg(long, value_name = "FILE")]
    pub(crate) page: Option<PathBuf>,
    /// Ends with an error when a goal was missed, and names it
    #[arg(long)]
    pub(crate) enforce: bool,
    /// Where the gateway's data goes while it is measured [default: the system's temporary directory]
    #[arg(long, value_name = "DIR")]
    pub(crate) work_dir: Option<PathBuf>,
    /// A further argument for the gateway under test, as in --gateway-arg=--config=FILE; may be repeated
    #[arg(long = "gateway-arg", value_name = "ARG", allow_hyphen_values = true)]
    pub(crate) gateway_args: Vec<String>,
    #[command(flatten)]
    pub(crate) isolation: IsolationArgs,
    #[command(flatten)]
    pub(crate) database: DatabaseArgs,
    #[command(flatten)]
    pub(crate) role: RoleArgs,
}

/// What only the isolation scenarios look at.
#[derive(Debug, Clone, Args)]
pub(crate) struct IsolationArgs {
    /// Few events and short times, to see that the isolation scenarios run; their figures then mean little
    #[arg(long)]
    pub(crate) quick: bool,
    /// Sends the chaos scenario's events with `hey`, which has to be installed
    #[arg(long)]
    pub(crate) hey: bool,
    /// Where the chaos scenario's events go in, such as /ingress, its destinations then being listed in a config
    /// file [default: the ingest URL of a source]
    #[arg(long, value_name = "PATH", value_parser = absolute_path)]
    pub(crate) path: Option<String>,
}

/// What only children are given.
#[derive(Debug, Clone, Args)]
pub(crate) struct RoleArgs {
    #[arg(long, hide = true)]
    pub(crate) role: Option<Role>,
    #[arg(long, hide = true, default_value_t = SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))]
    pub(crate) listen: SocketAddr,
    #[arg(long = "url", hide = true)]
    pub(crate) urls: Vec<String>,
    #[arg(long, hide = true, default_value_t = 0)]
    pub(crate) load: u8,
    #[arg(long, hide = true, value_enum, default_value_t = Refused::Again)]
    pub(crate) refused: Refused,
}

/// What a child process is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Role {
    Receiver,
    Load,
    Forwarder,
    Gateway,
}

impl Role {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Role::Receiver => "receiver",
            Role::Load => "load",
            Role::Forwarder => "forwarder",
            Role::Gateway => "gateway",
        }
    }
}

impl BenchArgs {
    pub(crate) fn deadline(&self) -> Duration {
        Duration::from_secs(self.deadline_seconds)
    }

    pub(crate) fn rate_per_s(&self) -> u32 {
        self.rate.unwrap_or(RATE_PER_S_DEFAULT)
    }

    /// Of the two sizes of a scenario, the one that was asked for.
    pub(crate) fn size_of<T>(&self, full: T, quick: T) -> T {
        if self.isolation.quick { quick } else { full }
    }

    /// What the load role is to do.
    pub(crate) fn load_plan(&self) -> anyhow::Result<LoadPlan> {
        Ok(LoadPlan {
            target: Target::parse(&self.role.urls)?,
            load: self.role.load,
            events: self.events,
            size_bytes: usize::try_from(self.size).context("event size")?,
            connections: self.connections,
            rate_per_s: self.rate,
            refused: self.role.refused,
            deadline: self.deadline(),
        })
    }

    /// Where the forwarder role forwards to, if anywhere.
    pub(crate) fn receiver(&self) -> anyhow::Result<Option<SocketAddr>> {
        if self.role.urls.is_empty() {
            return Ok(None);
        }
        Ok(Some(Target::parse(&self.role.urls)?.address()))
    }
}

fn absolute_path(text: &str) -> Result<String, String> {
    match text.parse::<hyper::http::uri::PathAndQuery>() {
        Ok(path) if path.path().starts_with('/') && text.starts_with('/') => Ok(text.to_owned()),
        _ => Err("must be the path of a URL and begin with /".to_owned()),
    }
}
