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

const EXIT_CODES: &str = "Exit codes: 0 success; 1 refused or failed; 2 plan with changes, or doctor warnings; 3 gateway unreachable or critical.";

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
    /// Benchmark this machine: the gateway against a bare forwarder, in one run.
    #[command(
        after_help = "Examples:\n  postrider bench --events 100000 --rounds 3\n  postrider bench --scenario hanging --scenario storm\n  postrider bench --database-url postgres://postrider@127.0.0.1/bench --events 200000"
    )]
    Bench(Box<postrider_bench::BenchArgs>),
    /// Show what apply would change; exits 0 for no changes, 2 for changes, 1 for an error.
    #[command(
        after_help = "Examples:\n  postrider plan -f gateway.yaml\n  postrider plan -f gateway.yaml --prune --json\n  postrider export | postrider plan -f -"
    )]
    Plan(Box<PlanArgs>),
    /// Apply a file to a gateway.
    #[command(
        after_help = "Examples:\n  postrider apply -f gateway.yaml\n  postrider apply -f gateway.toml --yes --url https://hooks.example.com --account acc_…"
    )]
    Apply(Box<ApplyArgs>),
    /// Export a gateway's objects as a file for apply, without secrets.
    #[command(after_help = "Example:\n  postrider export --format toml > gateway.toml")]
    Export(Box<ExportArgs>),
    /// Run a demo: a temporary gateway under load with five receivers, four of them misbehaving.
    #[command(after_help = "Examples:\n  postrider demo\n  postrider demo --seconds 20 --json")]
    Demo(DemoArgs),
    /// Send one event, or a file of events.
    #[command(
        after_help = "Examples:\n  postrider send --type order.created --data '{\"id\": 1}'\n  postrider send order.json --type order.created\n  postrider send --ndjson events.ndjson --rate 100"
    )]
    Send(Box<SendArgs>),
    /// Send a sample event as a provider would, signed.
    #[command(
        after_help = "Examples:\n  postrider trigger\n  POSTRIDER_TRIGGER_SECRET=whsec_… postrider trigger stripe payment_intent.succeeded --source shop\n  postrider trigger github push --to http://localhost:3000/hook"
    )]
    Trigger(Box<TriggerArgs>),
    /// List events, or follow them as they arrive.
    #[command(
        after_help = "Examples:\n  postrider events --status dead_letter --since 1h\n  postrider events --tail --type 'payment.*'"
    )]
    Events(Box<EventsArgs>),
    /// Forward incoming events to a program on this machine.
    #[command(
        after_help = "Example:\n  postrider listen --forward-to http://localhost:3000/hook --type 'payment.*'"
    )]
    Listen(Box<ListenArgs>),
    /// Show an event, its payload and every attempt.
    #[command(after_help = "Example:\n  postrider inspect evt_01hz3k8q2v4xw")]
    Inspect(Box<InspectArgs>),
    /// Replay an event.
    #[command(
        after_help = "Examples:\n  postrider replay evt_01hz3k8q2v4xw\n  postrider replay evt_01hz3k8q2v4xw --dry-run\n  postrider replay evt_01hz3k8q2v4xw --to http://localhost:3000/hook"
    )]
    Replay(Box<ReplayArgs>),
    /// List, replay, discard or export dead letters.
    #[command(
        after_help = "Examples:\n  postrider dlq list --since 1d\n  postrider dlq replay --destination dst_01hz3k8q2v4xw"
    )]
    Dlq(Box<DeadLetterArgs>),
    /// Show pending deliveries and what they are waiting for.
    #[command(after_help = "Example:\n  postrider queue")]
    Queue(Box<QueueArgs>),
    /// Watch destinations by their backlog, with keys to pause and resume them.
    #[command(after_help = "Example:\n  postrider top")]
    Top(Box<TopArgs>),
    /// Check that every delivery in a store is delivered, pending or a dead letter.
    #[command(
        after_help = "Examples:\n  postrider verify --data-dir ./postrider-data\n  postrider verify --database-url postgres://postrider@db.example.com/postrider"
    )]
    Verify(VerifyArgs),
    /// Back up a data directory, even while a gateway is using it.
    #[command(after_help = "Example:\n  postrider backup backup-of-today --data-dir ./postrider-data")]
    Backup(BackupArgs),
    /// Restore a backup.
    #[command(after_help = "Example:\n  postrider restore backup-of-today --data-dir ./postrider-data")]
    Restore(RestoreArgs),
    /// Diagnose a gateway and suggest the next command.
    #[command(
        after_help = "Exit codes: 0 healthy; 2 warnings; 3 critical or unreachable; 1 refused or failed.\n\nExamples:\n  postrider doctor\n  postrider doctor --json\n  postrider doctor --watch"
    )]
    Doctor(Box<DoctorArgs>),
    /// Manage destinations: where events are delivered.
    #[command(
        after_help = "Examples:\n  postrider destinations create name=billing url=https://billing.example.com/hooks max_concurrency:=10\n  postrider destinations pause billing"
    )]
    Destinations(Box<DestinationArgs>),
    /// Manage sources: where events come in.
    #[command(
        after_help = "Example:\n  postrider sources create name=shop provider=stripe verification_config.secret=@stripe-secret"
    )]
    Sources(Box<SourceArgs>),
    /// Manage routes: which events go to which destination.
    #[command(
        after_help = "Example:\n  postrider routes create destination_id=dst_01hz3k8q2v4xw 'event_type_pattern=payment.*' priority:=1"
    )]
    Routes(Box<RouteArgs>),
    /// Manage accounts (tenants).
    #[command(after_help = "Example:\n  postrider accounts create name=acme weight:=2")]
    Accounts(Box<AccountArgs>),
    /// Manage API keys.
    #[command(after_help = "Example:\n  postrider keys create name=ci scope=read expires_in_seconds:=86400")]
    Keys(Box<KeyArgs>),
    /// Run a test receiver that fails, stalls or answers as its URL asks.
    #[command(
        after_help = "Examples:\n  postrider chaos --listen 127.0.0.1:9000\n  curl -d '{}' 'http://127.0.0.1:9000/billing?status=503&percent=30'\n  curl http://127.0.0.1:9000/report"
    )]
    Chaos(ChaosArgs),
    /// Print a shell completion script.
    #[command(after_help = "Example:\n  postrider completions bash > /etc/bash_completion.d/postrider")]
    Completions(CompletionArgs),
    /// Print the manual page, or write one page per command.
    #[command(after_help = "Example:\n  postrider man /usr/local/share/man/man1")]
    Man(ManArgs),
    /// Show the nodes of a cluster with their leases and shards (needs the admin key).
    #[command(
        after_help = "Examples:\n  postrider cluster\n  postrider cluster --json --url https://node-b.example.com"
    )]
    Cluster(Box<ClusterArgs>),
    /// Move a gateway's data between a data directory and a PostgreSQL database.
    #[command(
        after_help = "Examples:\n  postrider migrate-store --from sqlite:postrider-data --to postgres://postrider@db.example.com/postrider\n  postrider migrate-store --from postgres://postrider@db.example.com/postrider --to sqlite:postrider-data"
    )]
    MigrateStore(Box<MigrateStoreArgs>),
    /// Print the OpenAPI 3.1 description of the API.
    #[command(after_help = "Example:\n  postrider openapi > postrider.json")]
    Openapi,
}

/// Flags override the environment (POSTRIDER_LISTEN and so on), which overrides the file.
#[derive(Args, Clone, Default)]
pub(crate) struct ServeArgs {
    /// Address and port to listen on [default: 127.0.0.1:8080]
    #[arg(long, value_name = "ADDR", help_heading = "Network")]
    pub(crate) listen: Option<String>,
    /// A separate address for /metrics, with /healthz and /readyz [default: none, /metrics is on LISTEN]
    #[arg(long, value_name = "ADDR", help_heading = "Network")]
    pub(crate) metrics_listen: Option<String>,
    /// Directory for events, configuration and keys; one process at a time [default: ./postrider-data]
    #[arg(long, value_name = "DIR", help_heading = "Storage")]
    pub(crate) data_dir: Option<String>,
    /// PostgreSQL database that nodes share, instead of a data directory [default: none]
    #[arg(long, value_name = "URL", help_heading = "Cluster")]
    pub(crate) database_url: Option<String>,
    /// Name of this node among those that share a database [default: the machine's name]
    #[arg(long, value_name = "NAME", help_heading = "Cluster")]
    pub(crate) node_name: Option<String>,
    /// A node that has not renewed its lease for this long is presumed dead; 2 to 300 [default: 10]
    #[arg(long, value_name = "SECONDS", help_heading = "Cluster")]
    pub(crate) lease_seconds: Option<String>,
    /// How long a start waits for a database that is not up yet; 0: not at all [default: 60]
    #[arg(long, value_name = "SECONDS", help_heading = "Cluster")]
    pub(crate) database_wait_seconds: Option<String>,
    /// TOML file with settings [default: none]
    #[arg(long, value_name = "FILE", help_heading = "Process")]
    pub(crate) config: Option<String>,
    /// Private range that deliveries may go to, such as 10.0.0.0/8; repeatable, or several with commas, and an
    /// array in the file [default: none]
    #[arg(long, value_name = "CIDR", help_heading = "Delivery")]
    pub(crate) egress_allow: Vec<String>,
    /// Deliver to https URLs only; http URLs are refused when they are saved [default: false]
    #[arg(
        long,
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        help_heading = "Delivery"
    )]
    pub(crate) https_only: Option<String>,
    /// Name of the gateway when it asks a receiver for its consent [default: the host of the public URL]
    #[arg(long, value_name = "HOST", help_heading = "Delivery")]
    pub(crate) handshake_origin: Option<String>,
    /// Requests in flight at once [default: 512]
    #[arg(long, value_name = "N", help_heading = "Delivery")]
    pub(crate) slots: Option<String>,
    /// Threads that serve and send, at most 256 [default: one per core]
    #[arg(long, value_name = "N", help_heading = "Process")]
    pub(crate) workers: Option<String>,
    /// Slots kept free for each priority, critical first, such as 50,50,50,25; together no more than the slots
    /// [default: a sixteenth each, bulk half of that; below 8 slots 1,0,0,0]
    #[arg(long, value_name = "N,N,N,N", help_heading = "Delivery")]
    pub(crate) priority_floors: Option<String>,
    /// A delivery that waits this long for a slot becomes one priority more urgent; 0: never [default: 1800]
    #[arg(long, value_name = "SECONDS", help_heading = "Delivery")]
    pub(crate) promotion_age_seconds: Option<String>,
    /// Bytes of requests in flight at which large bodies wait; at least 1MiB
    /// [default: 64MiB, or a quarter of the memory if that is less]
    #[arg(long, value_name = "SIZE", help_heading = "Delivery")]
    pub(crate) in_flight_bytes_max: Option<String>,
    /// The same for each account [default: 48MiB, or three quarters of the node's default]
    #[arg(long, value_name = "SIZE", help_heading = "Delivery")]
    pub(crate) in_flight_bytes_per_account_max: Option<String>,
    /// The same for each destination [default: 24MiB, or half of the account's default]
    #[arg(long, value_name = "SIZE", help_heading = "Delivery")]
    pub(crate) in_flight_bytes_per_destination_max: Option<String>,
    /// Pending deliveries at which events are refused [default: 10000000]
    #[arg(long, value_name = "N", help_heading = "Overload")]
    pub(crate) backlog_max_rows: Option<String>,
    /// Bytes of their bodies at which events are refused [default: 64GiB]
    #[arg(long, value_name = "SIZE", help_heading = "Overload")]
    pub(crate) backlog_max_bytes: Option<String>,
    /// Events are refused once the oldest delivery has waited this many seconds for a slot alone; if its account's own
    /// cap holds it, only that account's are [default: 21600]
    #[arg(long, value_name = "SECONDS", help_heading = "Overload")]
    pub(crate) backlog_max_age: Option<String>,
    /// Events are refused while a commit takes longer than this [default: 2000]
    #[arg(long, value_name = "MS", help_heading = "Overload")]
    pub(crate) commit_max_ms: Option<String>,
    /// Connections served at once; another one replaces an idle one. Lower where the system has too few file
    /// descriptors [default: 4096]
    #[arg(long, value_name = "N", help_heading = "Network")]
    pub(crate) connections_max: Option<String>,
    /// The same from one IPv4 address or IPv6 /64, and twice as many from one /48; this machine itself is
    /// exempt. Raise it behind a proxy on another machine [default: 1024]
    #[arg(long, value_name = "N", help_heading = "Network")]
    pub(crate) connections_per_address_max: Option<String>,
    /// How long requests in flight may take when stopping [default: 30]
    #[arg(long, value_name = "SECONDS", help_heading = "Process")]
    pub(crate) grace_seconds: Option<String>,
    /// Address that senders and people use: ingest URLs and portal links begin with it, and the dashboard
    /// answers to it. Set it behind a proxy and on 0.0.0.0 [default: http://LISTEN]
    #[arg(long, value_name = "URL", help_heading = "Network")]
    pub(crate) public_url: Option<String>,
    /// Let anybody read /v1/platform-stats. Otherwise it needs a key, unless asked from this machine while the
    /// gateway listens on loopback and has no public URL [default: false]
    #[arg(
        long,
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        help_heading = "Network"
    )]
    pub(crate) public_platform_stats: Option<String>,
    /// How long events are kept, at most 3650 [default: 7]
    #[arg(long, value_name = "DAYS", help_heading = "Storage")]
    pub(crate) retention_days: Option<String>,
    /// How much history is kept, such as 20GB; the oldest goes first, with its idempotency keys, also within
    /// their 24 hours. For a data directory only [default: no limit]
    #[arg(long, value_name = "SIZE", help_heading = "Storage")]
    pub(crate) retention_bytes: Option<String>,
    /// Free space below which events are refused, 1MiB at least. For a data directory only [default: 64MiB]
    #[arg(long, value_name = "SIZE", help_heading = "Storage")]
    pub(crate) disk_reserve: Option<String>,
    /// File to append dead letters to, one JSON object per line [default: none]
    #[arg(long, value_name = "PATH", help_heading = "Storage")]
    pub(crate) dead_letter_file: Option<String>,
    /// Size at which that file is rotated; five old ones are kept [default: 100]
    #[arg(long, value_name = "MB", help_heading = "Storage")]
    pub(crate) dead_letter_file_max_mb: Option<String>,
    /// Destination that receives operational events about all the others [default: none]
    #[arg(long, value_name = "DST_ID", help_heading = "Delivery")]
    pub(crate) operational_destination: Option<String>,
    /// Log level: error, warn, info, debug, or per module such as info,hyper=warn [default: info]
    #[arg(long, value_name = "FILTER", help_heading = "Logs and traces")]
    pub(crate) log: Option<String>,
    /// Format of the log on standard error: text or json [default: text]
    #[arg(long, value_name = "FORMAT", help_heading = "Logs and traces")]
    pub(crate) log_format: Option<String>,
    /// OpenTelemetry collector that receives traces, such as http://127.0.0.1:4318 [default: none]
    #[arg(long, value_name = "URL", help_heading = "Logs and traces")]
    pub(crate) otlp_endpoint: Option<String>,
    /// Protocol of the collector: http (protobuf to /v1/traces) or grpc [default: http]
    #[arg(long, value_name = "PROTOCOL", help_heading = "Logs and traces")]
    pub(crate) otlp_protocol: Option<String>,
    /// Share of the traces that begin here to send, from 0 to 1; the decision of a sender is kept [default: 1]
    #[arg(long, value_name = "RATIO", help_heading = "Logs and traces")]
    pub(crate) otlp_sample_ratio: Option<String>,
}
