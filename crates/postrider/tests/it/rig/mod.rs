//! What the tests stand on: a gateway process, a client that can also speak badly, a sink that remembers, and a ledger.
//!
//! What the fault suite stands on too is there (`postrider_torture::rig`).

pub(crate) mod answer;
pub(crate) mod api;
pub(crate) mod audit;
pub(crate) mod certificate;
pub(crate) mod chromium;
pub(crate) mod client;
pub(crate) mod contract;
pub(crate) mod desk;
pub(crate) mod foreign_program;
pub(crate) mod gateway;
pub(crate) mod load;
pub(crate) mod other_store;
pub(crate) mod otlp;
pub(crate) mod preload;
pub(crate) mod prometheus;
pub(crate) mod reply;
pub(crate) mod sink;
pub(crate) mod site;
pub(crate) mod size;
pub(crate) mod small_disk;
pub(crate) mod stream;
pub(crate) mod usage;
pub(crate) mod wall_clock;

pub(crate) use answer::Answer;
pub(crate) use api::Api;
pub(crate) use desk::{Desk, Ran};
pub(crate) use gateway::Gateway;
pub(crate) use postrider_torture::rig::{loopback, proxy, random, wait, wire};
pub(crate) use reply::Reply;
pub(crate) use sink::Sink;
pub(crate) use site::Site;
pub(crate) use wait::{wait_until, wait_while_growing, wait_within};
