//! nginx as a proxy in the gateway's place: what a good forwarder in C does on this machine. It has to be installed.

use super::super::run::{self, Run};
use super::super::throughput::{measure_gateway, paths};
use super::{Comparison, compared};
use crate::args::BenchArgs;
use crate::child::Child;
use crate::gateway::free_address;
use crate::progress::progress;
use crate::role::Receiver;
use crate::scratch::Scratch;
use anyhow::Context as _;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};
use tokio::process::Command;

const RATIO_MIN: f64 = 0.5;
const START_WAIT_MAX: Duration = Duration::from_secs(10);
const START_POLL_INTERVAL: Duration = Duration::from_millis(10);

pub(super) async fn measure(args: &BenchArgs, receiver: &Receiver) -> anyhow::Result<Comparison> {
    let proxy = through_nginx(args, receiver).await?;
    progress!("  {:.0} events/s through nginx; now the gateway", proxy.delivered_per_s);
    let own = measure_gateway(args, receiver).await?;
    let promise = ("gateway by nginx", RATIO_MIN);
    Ok(compared(args, ("nginx", ["nginx", "gateway"]), [&proxy, &own], promise))
}

async fn through_nginx(args: &BenchArgs, receiver: &Receiver) -> anyhow::Result<Run> {
    // Declared first and so dropped last: the processes must be gone before their directory is.
    let home = Scratch::create(args.work_dir.as_deref())?;
    let address = free_address()?;
    let file = home.path().join("nginx.conf");
    std::fs::write(&file, configuration(home.path(), address, receiver.address()))
        .with_context(|| format!("write {}", file.display()))?;
    // A master would leave its workers behind when it is killed. So each core has a process without one, and the
    // kernel deals the connections out.
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut processes = (0..cores).map(|_| start(home.path(), &file)).collect::<anyhow::Result<Vec<_>>>()?;
    wait_until_it_listens(address, &mut processes).await?;
    let urls: Vec<String> = paths(args.destinations).map(|path| format!("http://{address}{path}")).collect();
    let first = processes.first().context("a machine has a core")?;
    run::measure(args, first.pid(), &urls, receiver).await
}

fn start(home: &Path, file: &Path) -> anyhow::Result<Child> {
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "KILL", "nginx", "-p"]).arg(home).arg("-c").arg(file);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    Child::spawn(&mut command).context("start nginx, which has to be installed")
}

async fn wait_until_it_listens(address: SocketAddr, processes: &mut [Child]) -> anyhow::Result<()> {
    let began = Instant::now();
    while tokio::net::TcpStream::connect(address).await.is_err() {
        for process in &mut *processes {
            let ended = process.exit_status()?;
            anyhow::ensure!(ended.is_none(), "nginx does not start; is it installed?");
        }
        anyhow::ensure!(began.elapsed() < START_WAIT_MAX, "nginx does not listen");
        tokio::time::sleep(START_POLL_INTERVAL).await;
    }
    Ok(())
}

/// Connections are kept on both sides, nothing is logged, and no body goes to a file.
fn configuration(home: &Path, listen: SocketAddr, receiver: SocketAddr) -> String {
    let home = home.display();
    format!(
        "daemon off; master_process off; pid {home}/nginx.pid; error_log {home}/nginx.log error;
events {{ worker_connections 4096; }}
http {{
  access_log off; client_body_temp_path {home}/body; proxy_temp_path {home}/proxy;
  fastcgi_temp_path {home}/fastcgi; uwsgi_temp_path {home}/uwsgi; scgi_temp_path {home}/scgi;
  client_body_buffer_size 64k; client_max_body_size 8m; keepalive_requests 1000000000;
  upstream receiver {{ server {receiver}; keepalive 512; keepalive_requests 1000000000; }}
  server {{
    listen {listen} reuseport backlog=1024;
    location / {{ proxy_pass http://receiver; proxy_http_version 1.1; proxy_set_header Connection \"\"; }}
  }}
}}
"
    )
}
