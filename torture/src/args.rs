//! The command line of `scripts/torture`.

use crate::page::SECONDS_MIN;
use clap::{Parser, ValueEnum};
use postrider_torture::fleet::Store;
use postrider_torture::load;
use std::path::PathBuf;

/// A gateway under faults, and a judge of what came of it.
#[derive(Debug, Parser)]
#[command(name = "scripts/torture")]
pub(crate) struct Args {
    /// How long there are load and faults; 60, 300 with --guarantees, and 1800 with --soak.
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    seconds: Option<u64>,
    /// Of all chance; a new one when absent. It is printed.
    #[arg(long)]
    pub(crate) seed: Option<u64>,
    /// Where events are kept.
    #[arg(long, value_enum, default_value_t = Stores::Both)]
    pub(crate) store: Stores,
    /// Events a second.
    #[arg(long, default_value_t = load::USUAL, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) rate: u32,
    /// Load without faults: nothing may come twice.
    #[arg(long)]
    pub(crate) calm: bool,
    /// For half an hour, and a report of memory, descriptors, store and latency over time.
    #[arg(long)]
    pub(crate) soak: bool,
    /// Writes the page of promises with the results of this run, which must be green and of 300 s at least; those of a run
    /// without faults have a place of their own there.
    #[arg(long, value_name = "FILE")]
    pub(crate) guarantees: Option<PathBuf>,
    /// With --guarantees: runs nothing, and leaves the results that are there.
    #[arg(long, requires = "guarantees")]
    pub(crate) keep_results: bool,
    /// Where reports go.
    #[arg(long, hide = true, default_value = "target/torture")]
    pub(crate) reports: PathBuf,
    /// The gateway to doubt.
    #[arg(long, hide = true)]
    pub(crate) binary: PathBuf,
}

impl Args {
    pub(crate) fn seconds(&self) -> u64 {
        let usual = match (self.soak, &self.guarantees) {
            (true, _) => 1800,
            (false, Some(_)) => SECONDS_MIN,
            (false, None) => 60,
        };
        self.seconds.unwrap_or(usual)
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Stores {
    Embedded,
    Postgres,
    Both,
}

impl Stores {
    pub(crate) fn all(self) -> Vec<Store> {
        match self {
            Stores::Embedded => vec![Store::Embedded],
            Stores::Postgres => vec![Store::Postgres],
            Stores::Both => vec![Store::Embedded, Store::Postgres],
        }
    }
}
