//! What the isolation scenarios stand on: a gateway of their own, the receiver, and fresh events whose way through
//! is measured.

use super::super::run::all_accepted;
use super::Figure;
use crate::args::BenchArgs;
use crate::event::EVENTS_MAX;
use crate::gateway::Gateway;
use crate::receiver::{PathReport, Question};
use crate::role::{LoadOrder, Receiver, run_load};
use crate::scratch::Scratch;
use crate::units::{float, milliseconds};
use crate::verdict::ratio;
use anyhow::Context as _;
use std::time::Duration;

pub(super) struct Stage<'a> {
    pub(super) args: &'a BenchArgs,
    pub(super) receiver: &'a Receiver,
    pub(super) gateway: Gateway,
    /// Declared after the gateway and so dropped after it: it must be gone before its directory is.
    _home: Scratch,
}

impl<'a> Stage<'a> {
    /// What the operator gives the gateway stands behind what the scenario does, and so over it.
    pub(super) async fn set(
        args: &'a BenchArgs,
        receiver: &'a Receiver,
        gateway_args: &[String],
    ) -> anyhow::Result<Stage<'a>> {
        let home = Scratch::create(args.work_dir.as_deref())?;
        let gateway = Gateway::start(home.path(), &[gateway_args, &args.gateway_args].concat()).await?;
        Ok(Stage { args, receiver, gateway, _home: home })
    }

    /// The same with a config file.
    pub(super) async fn with_config(
        args: &'a BenchArgs,
        receiver: &'a Receiver,
        config: &str,
    ) -> anyhow::Result<Stage<'a>> {
        let home = Scratch::create(args.work_dir.as_deref())?;
        let file = home.path().join("postrider.toml");
        std::fs::write(&file, config).with_context(|| format!("write {}", file.display()))?;
        let config = [format!("--config={}", file.display())];
        let gateway = Gateway::start(home.path(), &[&config, &args.gateway_args[..]].concat()).await?;
        Ok(Stage { args, receiver, gateway, _home: home })
    }

    /// Fresh events at the rate of the command line, which also says for how long.
    pub(super) fn fresh_order(&self) -> anyhow::Result<LoadOrder> {
        let rate_per_s = self.args.rate_per_s();
        let events = u64::from(rate_per_s) * u64::from(self.args.rate_seconds);
        anyhow::ensure!(events <= EVENTS_MAX, "--rate and --rate-seconds make more than {EVENTS_MAX} events");
        Ok(LoadOrder::paced(events, rate_per_s))
    }

    /// A tenth of the events, unmeasured: what a gateway does once, at its first events, would make the run without
    /// the trouble look slow and the one with it good.
    pub(super) async fn warm_up(
        &self,
        order: &LoadOrder,
        urls: &[String],
        question: &Question,
    ) -> anyhow::Result<()> {
        let few = LoadOrder { events: (order.events / 10).max(1), ..order.clone() };
        self.fresh(&few, urls, question).await?;
        self.receiver.reset().await
    }

    /// Sends, and waits until everything has come where the question looks.
    pub(super) async fn fresh(
        &self,
        order: &LoadOrder,
        urls: &[String],
        question: &Question,
    ) -> anyhow::Result<PathReport> {
        all_accepted(&run_load(self.args, order, urls).await?, order.events)?;
        let received = self.receiver.wait_for_all_of(question, order.events, self.deadline()).await?;
        Ok(received.all)
    }

    pub(super) fn deadline(&self) -> Duration {
        self.args.deadline()
    }
}

/// Receipt p50 and p99 of the same traffic, without the trouble and with it.
pub(super) fn receipts(names: [&'static str; 2], without: &PathReport, with: &PathReport) -> [Figure; 2] {
    let [p50, p99] = names;
    [
        Figure::both(p50, milliseconds(without.p50_us), milliseconds(with.p50_us)),
        Figure::both(p99, milliseconds(without.p99_us), milliseconds(with.p99_us)),
    ]
}

/// Receipt p99, with the trouble by without.
pub(super) fn p99_ratio(without: &PathReport, with: &PathReport) -> f64 {
    ratio(float(with.p99_us), float(without.p99_us))
}

pub(super) fn p50_ratio(without: &PathReport, with: &PathReport) -> f64 {
    ratio(float(with.p50_us), float(without.p50_us))
}
