//! `postrider serve`: opens the store, starts engine and threads, and stops them in order.

pub(crate) mod admin_key;
mod banner;
pub(crate) mod bootstrap;
pub(crate) mod client;
mod connections;
mod descriptors;
mod door;
mod framing;
mod front;
mod guarded_stream;
mod guide;
mod inbound;
mod key_file;
mod last_use;
mod lent_body;
mod lingering;
pub(crate) mod log;
mod memory_image;
mod metrics;
mod otlp;
mod panics;
mod patience;
mod read_buffer;
mod reload;
pub(crate) mod room;
pub(crate) mod secret_key;
mod storage;
pub(crate) mod subkeys;

use crate::api;
use crate::cli::ServeArgs;
use crate::config::Config;
use crate::dashboard;
use crate::own_memory;
use anyhow::{Context, anyhow, bail};
use banner::Audience;
use front::Front;
use patience::Patience;
use postrider_core::limits::{KEPT_BYTES_MAX, KEPT_PART};
use postrider_core::scheduler::{Floors, SchedulerOptions};
use postrider_engine::send::{AddressGuard, Connector, SendWorker, tls_config};
use postrider_engine::{DeadLetterFile, Engine, EngineOptions, Limits, StopReport, keep_beating};
use postrider_store::Store;
use std::collections::HashMap;
use std::ffi::OsString;
use std::io::{IsTerminal as _, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use storage::Storage;
use subkeys::Subkeys;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::{mpsc, watch};

/// Connections waiting for a worker to take them.
const HANDOVER_MAX: usize = 128;

pub(crate) fn run(args: &ServeArgs) -> anyhow::Result<()> {
    let config = Config::read(args, &environment())?;
    log::start(&config)?;
    panics::start();
    memory_image::seal();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(serve(descriptors::share_out(config), args.clone()))
}

/// Variables as text. One that is none keeps its name, so that ours are refused by it and others are ignored.
pub(crate) fn environment() -> HashMap<String, String> {
    let text = |value: OsString| value.to_string_lossy().into_owned();
    std::env::vars_os().map(|(name, value)| (text(name), text(value))).collect()
}

fn engine_options(config: &Config) -> EngineOptions {
    let defaults = EngineOptions::new(config.slots, config.workers);
    let SchedulerOptions { floors, promotion_age, .. } = scheduler_options(config);
    EngineOptions {
        idle_connections: config.idle_connections,
        floors,
        promotion_age,
        bytes: config.bytes,
        kept_bytes: usize::try_from(own_memory::bytes())
            .map_or(KEPT_BYTES_MAX, |bytes| KEPT_BYTES_MAX.min(bytes / KEPT_PART)),
        backlog: config.backlog,
        operational_destination: config.operational_destination,
        ..defaults
    }
}

/// What of it can be changed while the engine runs.
fn engine_limits(config: &Config) -> Limits {
    let attempts = scheduler_options(config);
    Limits { attempts, backlog: config.backlog, idle_connections: config.idle_connections }
}

fn scheduler_options(config: &Config) -> SchedulerOptions {
    let floors = config.floors.unwrap_or_else(|| Floors::of_slots(config.slots));
    SchedulerOptions { slots: config.slots, floors, promotion_age: config.promotion_age, bytes: config.bytes }
}

fn address_guard(config: &Config, address: SocketAddr, metrics: Option<SocketAddr>) -> AddressGuard {
    let guard = AddressGuard::new(config.egress_allow.clone()).listening_on(address);
    let guard = metrics.into_iter().fold(guard, AddressGuard::listening_on);
    if config.https_only { guard.https_only() } else { guard }
}

/// What a start makes of the settings.
struct Started {
    engine: Arc<Engine>,
    senders: Vec<SendWorker>,
    first: bootstrap::FirstThings,
    key: admin_key::AdminKey,
    store: Arc<dyn Store>,
    subkeys: Subkeys,
    place: String,
    appending: Option<JoinHandle<()>>,
    exporter: Option<otlp::Exporter>,
}

async fn start(config: &Config, guard: AddressGuard, patience: &mut Patience<'_>) -> anyhow::Result<Started> {
    let Storage { store, key, place } = patience.keep_trying(|| storage::open(config)).await?;
    let connector = Arc::new(Connector::new(guard, tls_config()));
    let (dead_letter_file, appending) = dead_letter_file(config, &store)?.unzip();
    let traces = config.traces.as_ref().map(|to| otlp::start(to, &config.node_name)).transpose()?;
    let (spans, exporter) = traces.unzip();
    let options = EngineOptions { dead_letter_file, spans, ..engine_options(config) };
    let begin =
        || async { Ok(Engine::start(Arc::clone(&store), Arc::clone(&connector), options.clone()).await?) };
    let (engine, senders) = patience.keep_trying(begin).await?;
    let subkeys = patience.keep_trying(|| async { Ok(Subkeys::open(&*store).await?) }).await?;
    let first = patience.keep_trying(|| bootstrap::first_things(&engine, config)).await?;
    Ok(Started { engine, senders, first, key, store, subkeys, place, appending, exporter })
}

async fn serve(config: Config, args: ServeArgs) -> anyhow::Result<()> {
    let (mut signals, mut hangup) = (Signals::new()?, reload::Hangup::new()?);
    let listener = listen(config.listen, "--listen")?;
    let address = listener.local_addr()?;
    warn_of_no_name(&config, address);
    let metrics = metrics::Listening::start(config.metrics_listen)?;
    let guard = address_guard(&config, address, metrics.as_ref().map(|metrics| metrics.address));
    let listeners = std::iter::once(&listener).chain(metrics.as_ref().map(|metrics| &metrics.listener));
    let mut patience = Patience::new(&config, listeners.collect(), &mut signals);
    let started = match start(&config, guard, &mut patience).await {
        Err(error) if patience.was_stopped() => {
            tracing::info!("{error}");
            return Ok(());
        }
        started => started?,
    };
    let Started { engine, senders, first, key, store, subkeys, place, appending, exporter } = started;

    let app = api::App::new(Arc::clone(&engine), &config, address, (key.hash, &subkeys), first.clone());
    let (stop, stopping) = watch::channel(false);
    if let Some(metrics) = metrics {
        metrics.serve(Arc::clone(&app), config.connections, &stopping);
    }
    let (mut reload, connection_limits) = reload::Reload::new(args, &config, &engine, &app);
    let front = Front::with_door(site(&app, &store, &subkeys), app);
    let (handovers, threads) = start_workers(senders, &front, &stopping)?;
    let last_use = tokio::spawn(last_use::write_down(Arc::clone(&engine), stopping.clone()));
    let mut accepting = tokio::spawn(connections::accept(listener, connection_limits, handovers, stopping));

    let audience = if std::io::stdout().is_terminal() { Audience::Terminal } else { Audience::Log };
    let open = !config.egress_allow.is_empty();
    let banner = banner::text(audience, address, (&place, &key.place), &first, open);
    // Whoever started it may not be listening any more; the gateway serves all the same.
    let _ = std::io::stdout().lock().write_all(banner.as_bytes());

    tokio::spawn(keep_beating("main".to_owned()));
    tokio::spawn(give_back_room());
    loop {
        tokio::select! {
            () = signals.stop() => break,
            () = hangup.recv() => reload.reload().await,
            failed = store_failure(&engine) => return Err(failed),
            ended = &mut accepting => {
                ended.context("the acceptor broke")??;
                bail!("stopped because a thread that serves connections has ended");
            }
        }
    }
    tracing::info!("stopping; waiting for attempts in flight");
    stop.send_replace(true);
    tokio::select! {
        biased;
        // What broke while attempts were waited for must not look like an end in order.
        failed = store_failure(&engine) => Err(failed),
        done = stop_in_order(&engine, &config, (accepting, last_use), threads, appending) => {
            if let Some(exporter) = exporter {
                exporter.finish();
            }
            done
        }
        () = signals.stop() => bail!("stopped at once by a second signal; what was in flight will be sent again"),
    }
}

/// Waits for the store to fail, which it seldom does.
async fn store_failure(engine: &Engine) -> anyhow::Error {
    let mut fault = engine.fault();
    let fault = fault.wait_for(Option::is_some).await.map(|fault| fault.clone());
    let cause = fault.ok().flatten().map_or_else(|| "the engine ended".to_owned(), |fault| fault.0);
    anyhow!("stopped because the store failed: {cause}")
}

/// An address that stands for all of a machine's is a good one to listen on, and leads nobody there.
fn warn_of_no_name(config: &Config, address: SocketAddr) {
    if address.ip().is_unspecified() && config.public_url.is_none() {
        tracing::warn!(%address, "public_url is not set; ingest URLs and portal links may not be reachable");
    }
}

/// Starting takes room that is not needed again. The allocator gives it back to the system a second later, but only when
/// it is asked for something large, which an idle gateway never does.
async fn give_back_room() {
    tokio::time::sleep(Duration::from_secs(2)).await;
    drop(std::hint::black_box(Vec::<u8>::with_capacity(8 << 20)));
}

/// The API, the dashboard that asks it, and the documentation.
fn site(app: &Arc<api::App>, store: &Arc<dyn Store>, subkeys: &Subkeys) -> axum::Router {
    let api = api::router(Arc::clone(app));
    api.clone().merge(dashboard::router(api, app, store, subkeys)).merge(guide::router())
}

async fn stop_in_order(
    engine: &Engine,
    config: &Config,
    (accepting, last_use): (tokio::task::JoinHandle<std::io::Result<()>>, tokio::task::JoinHandle<()>),
    threads: Vec<JoinHandle<()>>,
    appending: Option<JoinHandle<()>>,
) -> anyhow::Result<()> {
    // The acceptor holds the way to the workers: once it is gone they serve what they have and end.
    accepting.await.context("the acceptor broke")??;
    // A store that hangs has until then, and what it has not written is the last use of keys.
    let began = Instant::now();
    if let Ok(written) = tokio::time::timeout(config.grace, last_use).await {
        written.context("the last use of keys was not written")?;
    }
    match engine.stop(config.grace.saturating_sub(began.elapsed())).await? {
        // The dispatcher is gone, so no more lines come and the file's thread ends when all are written.
        StopReport::Clean => drop(appending.map(JoinHandle::join)),
        StopReport::Cut => tracing::warn!("grace period over; attempts in flight will be sent again"),
    }
    drop(threads);
    if engine.fault().borrow().is_some() {
        return Err(store_failure(engine).await);
    }
    tracing::info!("stopped");
    Ok(())
}

fn listen(address: SocketAddr, flag: &str) -> anyhow::Result<TcpListener> {
    let listener = TcpListener::bind(address)
        .with_context(|| format!("cannot listen on {address} ({flag} chooses another address)"))?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

type DeadLetterLog = (DeadLetterFile, JoinHandle<()>);

fn dead_letter_file(config: &Config, store: &Arc<dyn Store>) -> anyhow::Result<Option<DeadLetterLog>> {
    let Some(path) = &config.dead_letter_file else { return Ok(None) };
    let started = DeadLetterFile::start(path, config.dead_letter_file_bytes_max, Arc::clone(store));
    let refused = || format!("cannot append to {} (--dead-letter-file chooses another file)", path.display());
    started.map(Some).with_context(refused)
}

type Workers = (Vec<mpsc::Sender<connections::Incoming>>, Vec<JoinHandle<()>>);

/// One thread a core, each with its own runtime that both serves and sends: on two cores this beat the
/// multi-threaded runtime by 10 to 40 %.
fn start_workers(
    senders: Vec<SendWorker>,
    front: &Front,
    stopping: &watch::Receiver<bool>,
) -> anyhow::Result<Workers> {
    let (mut handovers, mut threads) = (Vec::new(), Vec::new());
    for (number, sender) in senders.into_iter().enumerate() {
        let (handover, incoming) = mpsc::channel(HANDOVER_MAX);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (front, stopping) = (front.clone(), stopping.clone());
        let name = format!("worker-{number}");
        let thread = std::thread::Builder::new().name(name.clone()).spawn(move || {
            runtime.block_on(async move {
                tokio::spawn(keep_beating(name));
                let sending = tokio::spawn(sender.run());
                connections::serve(incoming, front, stopping).await;
                let _ = sending.await;
            });
        });
        threads.push(thread.map_err(|error| anyhow!(error).context("a worker could not be started"))?);
        handovers.push(handover);
    }
    Ok((handovers, threads))
}

struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    fn new() -> anyhow::Result<Self> {
        Ok(Signals {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    async fn stop(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}
