//! `postrider chaos`: a receiver that misbehaves as its URL asks it to, and tells at `/report` what it saw.

mod answer;
mod behaviour;
mod chance;
mod connection;
mod report;

use self::chance::Chance;
pub(crate) use self::report::Report;
use crate::terminal::say;
use anyhow::Context as _;
use clap::Args;
use postrider_engine::verify::Verifier;
use serde_json::Map;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::net::TcpListener;

/// One more is closed at once, as any server does that has no room.
const CONNECTIONS_MAX: usize = 4096;

#[derive(Args)]
pub(crate) struct ChaosArgs {
    /// Address to listen on
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:9000")]
    listen: SocketAddr,
    /// Verify signatures with this secret, whsec_… [default: POSTRIDER_CHAOS_SECRET, or no verification]
    #[arg(long, value_name = "SECRET")]
    secret: Option<String>,
    /// Random seed, to repeat a run [default: random]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
}

/// The receiver, as its connections share it.
pub(crate) struct Chaos {
    report: Mutex<Report>,
    chance: Mutex<Chance>,
    verifier: Option<Verifier>,
}

impl Chaos {
    pub(crate) fn new(secret: Option<&str>, seed: u64) -> anyhow::Result<Arc<Self>> {
        let by = |secret: &str| Verifier::new(Some("standard"), &Map::new(), &[secret.to_owned()]);
        let verifier = secret.map(by).transpose();
        let verifier = verifier.map_err(|_| anyhow::anyhow!("the secret must be whsec_ and base64"))?;
        Ok(Arc::new(Chaos { report: Mutex::default(), chance: Mutex::new(Chance::new(seed)), verifier }))
    }

    /// What was seen so far. Nobody panics while holding it, and if so it is still the best there is.
    pub(crate) fn report(&self) -> MutexGuard<'_, Report> {
        self.report.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From 0 to 99.
    fn percent(&self) -> u64 {
        self.chance.lock().unwrap_or_else(PoisonError::into_inner).next() % 100
    }

    /// Serves until it is dropped.
    pub(crate) async fn serve(self: Arc<Self>, listener: TcpListener) -> anyhow::Result<()> {
        let room = Arc::new(tokio::sync::Semaphore::new(CONNECTIONS_MAX));
        loop {
            let (stream, _) = listener.accept().await.context("take a connection")?;
            let Ok(place) = Arc::clone(&room).try_acquire_owned() else { continue };
            let chaos = Arc::clone(&self);
            tokio::spawn(async move {
                let _ = connection::serve(chaos, stream).await;
                drop(place);
            });
        }
    }
}

pub(crate) fn run(args: &ChaosArgs) -> anyhow::Result<()> {
    let seed = args.seed.map_or_else(chance::by_chance, Ok)?;
    let given = std::env::var("POSTRIDER_CHAOS_SECRET").ok().filter(|secret| !secret.is_empty());
    let chaos = Chaos::new(args.secret.as_deref().or(given.as_deref()), seed)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind(args.listen).await;
        let listener = listener.with_context(|| format!("cannot listen on {}", args.listen))?;
        let url = format!("http://{}", listener.local_addr()?);
        say(&format!(
            "misbehaving on {url} (seed {seed})\n  {url}/slow?delay_ms=500   {url}/mix   {url}/a?status=503&percent=30\n  \
             what it saw: {url}/report\n"
        ))?;
        tokio::select! {
            served = chaos.serve(listener) => served,
            stopped = tokio::signal::ctrl_c() => stopped.context("listen for Ctrl-C"),
        }
    })
}
