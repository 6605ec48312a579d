//! A start waits for a database that is not there yet: it tries again for a while, and tells whoever asks meanwhile that
//! it lives and is not ready.

use super::room::ConnectionLimits;
use super::{HANDOVER_MAX, Signals, connections};
use crate::api;
use crate::config::Config;
use anyhow::Context;
use postrider_core::pauses::Pauses;
use postrider_core::retry::Chance;
use postrider_postgres::OpenError;
use postrider_store::StoreError;
use std::net::TcpListener;
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};

/// The waits between tries, which nodes that start together must not make together.
const PAUSE_FIRST: Duration = Duration::from_millis(200);
const PAUSE_LONGEST: Duration = Duration::from_secs(2);

/// What is left of the time that a start may wait.
pub(super) struct Patience<'a> {
    listeners: Vec<&'a TcpListener>,
    limits: ConnectionLimits,
    signals: &'a mut Signals,
    most: Duration,
    until: Instant,
    pauses: Pauses,
    was_stopped: bool,
}

impl<'a> Patience<'a> {
    /// None at all with a store of the gateway's own: nobody else will mend it.
    pub(super) fn new(config: &Config, listeners: Vec<&'a TcpListener>, signals: &'a mut Signals) -> Self {
        let most = config.database_url.as_ref().map_or(Duration::ZERO, |_| config.database_wait);
        let pauses = Pauses::new(PAUSE_FIRST, PAUSE_LONGEST);
        let (limits, until) = (config.connections, Instant::now() + most);
        Patience { listeners, limits, signals, most, until, pauses, was_stopped: false }
    }

    /// Whether it was a signal that ended the wait.
    pub(super) const fn was_stopped(&self) -> bool {
        self.was_stopped
    }

    /// Tries until it works, what is wrong would not pass, the time is over, or a signal says to stop.
    pub(super) async fn keep_trying<T, F>(&mut self, mut attempt: impl FnMut() -> F) -> anyhow::Result<T>
    where
        F: Future<Output = anyhow::Result<T>>,
    {
        let error = match attempt().await {
            Err(error) if may_pass(&error) && self.most > Duration::ZERO => error,
            done => return done,
        };
        tracing::warn!(error = format!("{error:#}"), "waiting for the database");
        let doors = Doors::open(&self.listeners, self.limits)?;
        let began = Instant::now();
        let done = tokio::select! {
            done = try_again(error, self.pauses, self.until, attempt) => done,
            () = self.signals.stop() => {
                self.was_stopped = true;
                Err(anyhow::anyhow!("it was stopped while it waited for the database"))
            }
        };
        doors.close().await;
        if done.is_ok() {
            tracing::info!(waited_ms = began.elapsed().as_millis(), "the database is available");
        }
        let (most, waited_out) = (self.most.as_secs(), Instant::now() >= self.until);
        let why = || format!("gave up after the {most} seconds of --database-wait-seconds");
        if waited_out { done.with_context(why) } else { done }
    }
}

async fn try_again<T, F>(
    mut error: anyhow::Error,
    mut pauses: Pauses,
    until: Instant,
    mut attempt: impl FnMut() -> F,
) -> anyhow::Result<T>
where
    F: Future<Output = anyhow::Result<T>>,
{
    while Instant::now() < until {
        let pause = pauses.next(Chance::new(getrandom::u64().unwrap_or(u64::MAX / 2)));
        sleep(pause.min(until - Instant::now())).await;
        error = match attempt().await {
            Err(error) if may_pass(&error) => error,
            done => return done,
        };
    }
    Err(error)
}

/// Whether trying again may work with nothing changed by a person.
fn may_pass(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.downcast_ref::<OpenError>().is_some_and(OpenError::may_pass)
            || matches!(cause.downcast_ref::<StoreError>(), Some(StoreError::Unavailable(_)))
    })
}

/// Answer in place of the gateway, on all its addresses.
struct Doors {
    stop: watch::Sender<bool>,
    accepting: Vec<JoinHandle<std::io::Result<()>>>,
}

impl Doors {
    fn open(listeners: &[&TcpListener], limits: ConnectionLimits) -> anyhow::Result<Self> {
        let (stop, stopping) = watch::channel(false);
        let mut accepting = Vec::new();
        for listener in listeners {
            let listener = listener.try_clone().context("answer while waiting for the database")?;
            let (handover, incoming) = mpsc::channel(HANDOVER_MAX);
            tokio::spawn(connections::serve(incoming, api::waiting::router().into(), stopping.clone()));
            accepting.push(tokio::spawn(connections::accept(
                listener,
                watch::channel(limits).1,
                vec![handover],
                stopping.clone(),
            )));
        }
        Ok(Doors { stop, accepting })
    }

    /// From here on connections wait for the gateway; those that are being served end by themselves.
    async fn close(self) {
        self.stop.send_replace(true);
        for accepting in self.accepting {
            let _ = accepting.await;
        }
    }
}
