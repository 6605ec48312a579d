//! The command line. Values are taken as text here and checked with those of the environment and the file.

use crate::chaos::ChaosArgs;
use crate::command::{
    AccountArgs, BackupArgs, ClusterArgs, CompletionArgs, DeadLetterArgs, DestinationArgs, EventsArgs,
    InspectArgs, KeyArgs, ListenArgs, ManArgs, QueueArgs, ReplayArgs, RestoreArgs, RouteArgs, SendArgs,
    SourceArgs, TopArgs, TriggerArgs, VerifyArgs,
};
use crate::configuration::{ApplyArgs, ExportArgs, PlanArgs};
use crate::demo::DemoArgs;
use crate::doctor::DoctorArgs;
use crate::migrate_store::MigrateStoreArgs;
use clap::{Args, Parser, Subcommand};

const EXIT_CODES: &str = "Exit codes: 0 done; 1 refused or failed; 2 a plan with something to change, or the doctor's warning; 3 the gateway cannot be reached, or is in a critical state.";

/// A webhook gateway in one binary: takes events over HTTP and delivers each at least once.
///
/// `postrider serve` runs it on 127.0.0.1:8080 with its data in ./postrider-data.
#[derive(Parser)]
#[command(version, after_help = EXIT_CODES)]
pub(crate) struct Cli {
    /// Without one, the help is printed: nothing starts in whatever directory one stands in.
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Run the gateway.
    #[command(after_help = "Example:\n  postrider serve --listen 127.0.0.1:8080 --egress-allow 127.0.0.0/8")]
    Serve(Box<ServeArgs>),
    /// Measure this machine: the gateway beside a bare forwarder, in one run.
    #[command(
        after_help = "Examples:\n  postrider bench --events 100000 --rounds 3\n  postrider bench --scenario hanging --scenario storm\n  postrider bench --database-url postgres://postrider@127.0.0.1/bench --events 200000"
    )]
    Bench(Box<postrider_bench::BenchArgs>),
    /// Say what apply would change at a gateway; exit 0 for nothing, 2 for something, 1 for an error.
    #[command(
        after_help = "Examples:\n  postrider plan -f gateway.yaml\n  postrider plan -f gateway.yaml --prune --json\n  postrider export | postrider plan -f -"
    )]
    Plan(Box<PlanArgs>),
    /// Bring a gateway in line with a file.
    #[command(
        after_help = "Examples:\n  postrider apply -f gateway.yaml\n  postrider apply -f gateway.toml --yes --url https://hooks.example.com --account acc_…"
    )]
    Apply(Box<ApplyArgs>),
    /// Write the file that declares what a gateway has, without its secrets.
    #[command(after_help = "Example:\n  postrider export --format toml > gateway.toml")]
    Export(Box<ExportArgs>),
    /// See it work: a gateway, five receivers of which four misbehave, and a load, gone afterwards.
    #[command(after_help = "Examples:\n  postrider demo\n  postrider demo --seconds 20 --json")]
    Demo(DemoArgs),
    /// Send events, one by one or a file of them.
    #[command(
        after_help = "Examples:\n  postrider send --type order.created --data '{\"id\": 1}'\n  postrider send order.json --type order.created\n  postrider send --ndjson events.ndjson --rate 100"
    )]
    Send(Box<SendArgs>),
    /// Send a sample event as a provider would, signature included.
    #[command(
        after_help = "Examples:\n  postrider trigger\n  POSTRIDER_TRIGGER_SECRET=whsec_… postrider trigger stripe payment_intent.succeeded --source shop\n  postrider trigger github push --to http://localhost:3000/hook"
    )]
    Trigger(Box<TriggerArgs>),
    /// List what came in, or follow it.
    #[command(
        after_help = "Examples:\n  postrider events --status dead_letter --since 1h\n  postrider events --tail --type 'payment.*'"
    )]
    Events(Box<EventsArgs>),
    /// Send what comes in on to a program on this machine.
    #[command(
        after_help = "Example:\n  postrider listen --forward-to http://localhost:3000/hook --type 'payment.*'"
    )]
    Listen(Box<ListenArgs>),
    /// Show an event with its payload and every attempt.
    #[command(after_help = "Example:\n  postrider inspect evt_01hz3k8q2v4xw")]
    Inspect(Box<InspectArgs>),
    /// Send an event again.
    #[command(
        after_help = "Examples:\n  postrider replay evt_01hz3k8q2v4xw\n  postrider replay evt_01hz3k8q2v4xw --dry-run\n  postrider replay evt_01hz3k8q2v4xw --to http://localhost:3000/hook"
    )]
    Replay(Box<ReplayArgs>),
    /// Look at dead letters, send them again or let them go.
    #[command(
        after_help = "Examples:\n  postrider dlq list --since 1d\n  postrider dlq replay --destination dst_01hz3k8q2v4xw"
    )]
    Dlq(Box<DeadLetterArgs>),
    /// Say what is owed, and what it waits for.
    #[command(after_help = "Example:\n  postrider queue")]
    Queue(Box<QueueArgs>),
    /// Watch destinations by their backlog, with keys to pause and resume them.
    #[command(after_help = "Example:\n  postrider top")]
    Top(Box<TopArgs>),
    /// Prove that every delivery of a data directory or a database is delivered, dead or owed.
    #[command(
        after_help = "Examples:\n  postrider verify --data-dir ./postrider-data\n  postrider verify --database-url postgres://postrider@db.example.com/postrider"
    )]
    Verify(VerifyArgs),
    /// Copy a data directory, also while a gateway runs on it.
    #[command(after_help = "Example:\n  postrider backup backup-of-today --data-dir ./postrider-data")]
    Backup(BackupArgs),
    /// Put a backup in place.
    #[command(after_help = "Example:\n  postrider restore backup-of-today --data-dir ./postrider-data")]
    Restore(RestoreArgs),
    /// Say what is wrong with a gateway, and which command comes next.
    #[command(
        after_help = "Exit codes: 0 nothing is wrong; 2 something is to be looked at; 3 critical, or not to be reached; 1 refused or failed.\n\nExamples:\n  postrider doctor\n  postrider doctor --json\n  postrider doctor --watch"
    )]
    Doctor(Box<DoctorArgs>),
    /// Where events go: list, make, change, pause, resume.
    #[command(
        after_help = "Examples:\n  postrider destinations create name=billing url=https://billing.example.com/hooks max_concurrency:=10\n  postrider destinations pause billing"
    )]
    Destinations(Box<DestinationArgs>),
    /// Where events come in.
    #[command(
        after_help = "Example:\n  postrider sources create name=shop provider=stripe verification_config.secret=@stripe-secret"
    )]
    Sources(Box<SourceArgs>),
    /// Which events go where.
    #[command(
        after_help = "Example:\n  postrider routes create destination_id=dst_01hz3k8q2v4xw 'event_type_pattern=payment.*' priority:=1"
    )]
    Routes(Box<RouteArgs>),
    /// Tenants.
    #[command(after_help = "Example:\n  postrider accounts create name=acme weight:=2")]
    Accounts(Box<AccountArgs>),
    /// API keys.
    #[command(after_help = "Example:\n  postrider keys create name=ci scope=read expires_in_seconds:=86400")]
    Keys(Box<KeyArgs>),
    /// A receiver that misbehaves as its URL asks it to.
    #[command(
        after_help = "Examples:\n  postrider chaos --listen 127.0.0.1:9000\n  curl -d '{}' 'http://127.0.0.1:9000/billing?status=503&percent=30'\n  curl http://127.0.0.1:9000/report"
    )]
    Chaos(ChaosArgs),
    /// Print the script that completes commands in a shell.
    #[command(after_help = "Example:\n  postrider completions bash > /etc/bash_completion.d/postrider")]
    Completions(CompletionArgs),
    /// Print the manual, or write a page for each command.
    #[command(after_help = "Example:\n  postrider man /usr/local/share/man/man1")]
    Man(ManArgs),
    /// Show the nodes that share a store, with their leases and shards; needs the admin key.
    #[command(
        after_help = "Examples:\n  postrider cluster\n  postrider cluster --json --url https://node-b.example.com"
    )]
    Cluster(Box<ClusterArgs>),
    /// Move everything from one store to another: a data directory to a PostgreSQL database, or back.
    #[command(
        after_help = "Examples:\n  postrider migrate-store --from sqlite:postrider-data --to postgres://postrider@db.example.com/postrider\n  postrider migrate-store --from postgres://postrider@db.example.com/postrider --to sqlite:postrider-data"
    )]
    MigrateStore(Box<MigrateStoreArgs>),
    /// Print the description of the API by OpenAPI 3.1, as a gateway serves it at /openapi.json.
    #[command(after_help = "Example:\n  postrider openapi > postrider.json")]
    Openapi,
}

/// Flags stand over the environment (POSTRIDER_LISTEN and so on), which stands over the file.
#[derive(Args, Clone, Default)]
pub(crate) struct ServeArgs {
    /// Address to listen on [default: 127.0.0.1:8080]
    #[arg(long, value_name = "ADDR")]
    pub(crate) listen: Option<String>,
    /// An address of its own for /metrics [default: none, it is on LISTEN alone]
    #[arg(long, value_name = "ADDR")]
    pub(crate) metrics_listen: Option<String>,
    /// Where events, configuration and keys are kept [default: ./postrider-data]
    #[arg(long, value_name = "DIR")]
    pub(crate) data_dir: Option<String>,
    /// A PostgreSQL database that nodes share, instead of a data directory
    #[arg(long, value_name = "URL")]
    pub(crate) database_url: Option<String>,
    /// What this node is called among those that share a database [default: the machine's name]
    #[arg(long, value_name = "NAME")]
    pub(crate) node_name: Option<String>,
    /// Not heard of for so long, a node is taken for dead by the others [default: 10]
    #[arg(long, value_name = "SECONDS")]
    pub(crate) lease_seconds: Option<String>,
    /// How long a start waits for the database to be there [default: 60]
    #[arg(long, value_name = "SECONDS")]
    pub(crate) database_wait_seconds: Option<String>,
    /// Settings in TOML
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<String>,
    /// Open a private range to deliveries, for example 10.0.0.0/8 (repeatable, or several with commas)
    #[arg(long, value_name = "CIDR")]
    pub(crate) egress_allow: Vec<String>,
    /// Send to https URLs alone [default: false]
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub(crate) https_only: Option<String>,
    /// How the gateway calls itself when it asks a receiver for its consent [default: the host of the public URL]
    #[arg(long, value_name = "HOST")]
    pub(crate) handshake_origin: Option<String>,
    /// Attempts in flight at once [default: 512]
    #[arg(long, value_name = "N")]
    pub(crate) slots: Option<String>,
    /// Threads that serve and send [default: one per core]
    #[arg(long, value_name = "N")]
    pub(crate) workers: Option<String>,
    /// Slots that each priority may always have, critical first [default: a sixteenth each, bulk half of that; below 8 slots 1,0,0,0]
    #[arg(long, value_name = "N,N,N,N")]
    pub(crate) priority_floors: Option<String>,
    /// Waiting so long for a slot makes a delivery one priority more urgent; 0 for never [default: 1800]
    #[arg(long, value_name = "SECONDS")]
    pub(crate) promotion_age_seconds: Option<String>,
    /// Bytes of attempts in flight at which large bodies wait [default: 64MiB]
    #[arg(long, value_name = "SIZE")]
    pub(crate) in_flight_bytes_max: Option<String>,
    /// The same of one account [default: 48MiB]
    #[arg(long, value_name = "SIZE")]
    pub(crate) in_flight_bytes_per_account_max: Option<String>,
    /// The same of one destination [default: 24MiB]
    #[arg(long, value_name = "SIZE")]
    pub(crate) in_flight_bytes_per_destination_max: Option<String>,
    /// Deliveries owed at which events are refused [default: 10000000]
    #[arg(long, value_name = "N")]
    pub(crate) backlog_max_rows: Option<String>,
    /// Body bytes owed at which events are refused [default: 64GiB]
    #[arg(long, value_name = "SIZE")]
    pub(crate) backlog_max_bytes: Option<String>,
    /// Waiting for a slot at which events are refused [default: 21600]
    #[arg(long, value_name = "SECONDS")]
    pub(crate) backlog_max_age: Option<String>,
    /// Time to write at which events are refused [default: 2000]
    #[arg(long, value_name = "MS")]
    pub(crate) commit_max_ms: Option<String>,
    /// Connections served at once; one more is closed [default: 4096]
    #[arg(long, value_name = "N")]
    pub(crate) connections_max: Option<String>,
    /// The same from one address, other than this machine itself [default: 1024]
    #[arg(long, value_name = "N")]
    pub(crate) connections_per_address_max: Option<String>,
    /// How long attempts in flight may take when stopping [default: 30]
    #[arg(long, value_name = "SECONDS")]
    pub(crate) grace_seconds: Option<String>,
    /// The address senders reach this gateway by, for ingest URLs [default: http://LISTEN]
    #[arg(long, value_name = "URL")]
    pub(crate) public_url: Option<String>,
    /// Let anybody read /v1/platform-stats, as they may on loopback [default: false]
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub(crate) public_platform_stats: Option<String>,
    /// How long history is kept [default: 7]
    #[arg(long, value_name = "DAYS")]
    pub(crate) retention_days: Option<String>,
    /// How much history is kept, for example 20GB [default: no limit]
    #[arg(long, value_name = "SIZE")]
    pub(crate) retention_bytes: Option<String>,
    /// Free space below which no event is accepted [default: 64MiB]
    #[arg(long, value_name = "SIZE")]
    pub(crate) disk_reserve: Option<String>,
    /// Append dead letters to this file too, one JSON object a line [default: none]
    #[arg(long, value_name = "PATH")]
    pub(crate) dead_letter_file: Option<String>,
    /// Put that file aside at this size, and keep five old ones [default: 100]
    #[arg(long, value_name = "MB")]
    pub(crate) dead_letter_file_max_mb: Option<String>,
    /// Tell this destination, by events, of what befalls all others [default: none]
    #[arg(long, value_name = "DST_ID")]
    pub(crate) operational_destination: Option<String>,
    /// What is logged: error, warn, info, debug, or per module [default: info]
    #[arg(long, value_name = "FILTER")]
    pub(crate) log: Option<String>,
    /// How it is logged: text or json [default: text]
    #[arg(long, value_name = "FORMAT")]
    pub(crate) log_format: Option<String>,
    /// Send traces to this OpenTelemetry collector, such as http://127.0.0.1:4318 [default: none]
    #[arg(long, value_name = "URL")]
    pub(crate) otlp_endpoint: Option<String>,
    /// How it is spoken to: http or grpc [default: http]
    #[arg(long, value_name = "PROTOCOL")]
    pub(crate) otlp_protocol: Option<String>,
    /// How many of the traces that begin here it gets, from 0 to 1; what a sender has decided stands [default: 1]
    #[arg(long, value_name = "RATIO")]
    pub(crate) otlp_sample_ratio: Option<String>,
}
