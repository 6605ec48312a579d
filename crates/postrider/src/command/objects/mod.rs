//! `postrider destinations`, `sources`, `routes`, `accounts` and `keys`: one set of verbs for all.

mod example;
mod kind;
mod named;
mod verb;

pub(super) use self::kind::Kind;
pub(super) use self::named::{ids_in, names_in};
use self::verb::Verb;
use super::{Reading, Run, id, text};
use crate::client::Client;
use crate::terminal::{clean, say, say_json};
use anyhow::ensure;
use clap::{Args, Subcommand, ValueEnum};
use serde_json::{Value, json};

/// A command for the objects of one kind, with nothing but what all kinds have.
macro_rules! plain_objects {
    ($($args:ident $kind:expr,)*) => {$(
        #[derive(Args)]
        #[command(mut_subcommands(|verb| example::shown(verb, $kind)))]
        pub(crate) struct $args {
            #[command(subcommand)]
            verb: Verb,
            #[command(flatten)]
            reading: Reading,
        }

        impl Run for $args {
            fn run(&self) -> anyhow::Result<()> {
                self.verb.run(&self.reading, $kind)
            }
        }
    )*};
}

plain_objects! {
    SourceArgs Kind::Source,
    RouteArgs Kind::Route,
    AccountArgs Kind::Account,
    KeyArgs Kind::Key,
}

#[derive(Args)]
#[command(mut_subcommands(|verb| example::shown(verb, Kind::Destination)))]
pub(crate) struct DestinationArgs {
    #[command(subcommand)]
    verb: DestinationVerb,
    #[command(flatten)]
    reading: Reading,
}

#[derive(Subcommand)]
enum DestinationVerb {
    #[command(flatten)]
    Any(Verb),
    /// Stop sending to it; its deliveries stay pending.
    Pause {
        /// ID or name
        destination: String,
    },
    /// Resume sending to it, also after it was disabled.
    Resume {
        /// ID or name
        destination: String,
    },
    /// Override its circuit.
    #[command(after_help = "Example:\n  postrider destinations circuit billing half-open")]
    Circuit {
        /// ID or name
        destination: String,
        /// open stops sending, half-open sends one probe now, closed resumes sending, slowly at first
        state: CircuitState,
    },
    /// Send one signed test event now and show the attempt.
    Test {
        /// ID or name
        destination: String,
    },
}

#[derive(Clone, Copy, ValueEnum)]
enum CircuitState {
    Open,
    HalfOpen,
    Closed,
}

impl CircuitState {
    fn word(self) -> &'static str {
        match self {
            CircuitState::Open => "open",
            CircuitState::HalfOpen => "half_open",
            CircuitState::Closed => "closed",
        }
    }
}

impl Run for DestinationArgs {
    fn run(&self) -> anyhow::Result<()> {
        match &self.verb {
            DestinationVerb::Any(verb) => verb.run(&self.reading, Kind::Destination),
            DestinationVerb::Pause { destination } => self.tell(destination, "pause", &json!({})),
            DestinationVerb::Resume { destination } => self.tell(destination, "resume", &json!({})),
            DestinationVerb::Circuit { destination, state } => {
                self.tell(destination, "circuit", &json!({ "state": state.word() }))
            }
            DestinationVerb::Test { destination } => self.test(destination),
        }
    }
}

impl DestinationArgs {
    fn tell(&self, destination: &str, what: &str, body: &Value) -> anyhow::Result<()> {
        let client = self.reading.client()?;
        let of = Kind::Destination.find(&client, destination)?;
        let now = client.post(&format!("/v1/destinations/{of}/{what}"), body)?.data()?;
        if self.reading.json {
            return say_json(&now);
        }
        let [name, status, circuit] =
            ["name", "status", "circuit_state"].map(|field| clean(text(&now[field])));
        say(&format!("{name} ({of}) is {status}, its circuit {circuit}\n"))
    }

    fn test(&self, destination: &str) -> anyhow::Result<()> {
        let client = self.reading.client()?;
        let of = Kind::Destination.find(&client, destination)?;
        let attempt = client.post(&format!("/v1/destinations/{of}/test"), &json!({}))?.data()?;
        if self.reading.json {
            say_json(&attempt)?;
        } else {
            let screen = crate::terminal::Screen::of_stdout();
            say(&super::readable::attempt(&attempt, super::readable::Detail::Headers, screen))?;
        }
        ensure!(attempt["outcome"] == "success", "{} did not accept it", clean(destination));
        Ok(())
    }
}

/// Whether a person means an object by its id.
fn is_id_of(kind: Kind, text: &str) -> bool {
    text.starts_with(kind.prefix()) && id(text).is_ok()
}

/// All of a kind.
fn all(client: &Client, kind: Kind) -> anyhow::Result<Value> {
    client.read(kind.path(), &[])
}
