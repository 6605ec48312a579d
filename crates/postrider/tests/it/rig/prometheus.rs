//! A real Prometheus that scrapes real gateways and judges the alerts of `deploy/`, with its times made shorter.

use super::{loopback, wait_until};
use postrider_torture::rig::tied;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// All times of the alerts are divided by this: ten minutes are half a minute.
const FASTER: u32 = 20;

pub(crate) struct Prometheus {
    process: Child,
    address: SocketAddr,
    _directory: TempDir,
}

impl Prometheus {
    /// Starts one and waits until it has scraped all of them.
    pub(crate) fn start(gateways: &[SocketAddr]) -> Self {
        let (address, directory) = (loopback::fresh(), tempfile::tempdir().unwrap());
        let targets: Vec<String> = gateways.iter().map(ToString::to_string).collect();
        // JSON is YAML too.
        let config = json!({
            "global": { "scrape_interval": "1s", "scrape_timeout": "1s", "evaluation_interval": "1s" },
            "rule_files": ["alerts.yml"],
            "scrape_configs": [{ "job_name": "postrider", "static_configs": [{ "targets": targets }] }],
        });
        let write = |name: &str, text: &str| std::fs::write(directory.path().join(name), text).unwrap();
        write("alerts.yml", &faster(&shipped()));
        write("prometheus.yml", &config.to_string());
        let mut command = tied::command("prometheus");
        command.current_dir(directory.path()).stdout(Stdio::null()).stderr(Stdio::null());
        command.args(["--config.file=prometheus.yml", "--storage.tsdb.path=data"]);
        command.arg(format!("--web.listen-address={address}"));
        let process = tied::spawn(command).expect("scripts/test installs prometheus (Debian's package)");
        let prometheus = Prometheus { process, address, _directory: directory };
        let all = gateways.len().to_string();
        wait_until("Prometheus scrapes all gateways", || {
            let up = prometheus.query("sum(up)")?;
            (up[0]["value"][1] == all.as_str()).then_some(())
        });
        prometheus
    }

    /// The alerts that have fired since it was started.
    pub(crate) fn fired(&self) -> BTreeSet<String> {
        let fired = "group by (alertname) (max_over_time(ALERTS{alertstate=\"firing\"}[1h]))";
        let found = self.query(fired).unwrap_or_default();
        let name = |alert: &Value| alert["metric"]["alertname"].as_str().map(str::to_owned);
        found.as_array().into_iter().flatten().filter_map(name).collect()
    }

    /// Whether its last scrape of a gateway succeeded and found this value of a counter.
    pub(crate) fn has_scraped(&self, gateway: SocketAddr, counter: &str, value: u64) -> bool {
        let of = format!("instance=\"{gateway}\"");
        let found = self.query(&format!("up{{{of}}} == 1 and on (instance) {counter}{{{of}}} == {value}"));
        found.is_some_and(|found| found.as_array().is_some_and(|series| !series.is_empty()))
    }

    /// None while it does not answer, as when it starts.
    fn query(&self, query: &str) -> Option<Value> {
        let query: String = query.bytes().map(|byte| format!("%{byte:02x}")).collect();
        let mut stream = TcpStream::connect(self.address).ok()?;
        stream.set_read_timeout(Some(Duration::from_secs(10))).ok()?;
        // Of this version of HTTP an answer ends with its connection.
        write!(stream, "GET /api/v1/query?query={query} HTTP/1.0\r\n\r\n").ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        let (_, body) = answer.split_once("\r\n\r\n")?;
        let answer: Value = serde_json::from_str(body).ok()?;
        (answer["status"] == "success").then(|| answer["data"]["result"].clone())
    }
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn shipped() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/prometheus/alerts.yml");
    std::fs::read_to_string(path).expect("the repository is there")
}

/// The names of all alerts that are shipped.
pub(crate) fn shipped_alerts() -> BTreeSet<String> {
    let names = shipped();
    names.lines().filter_map(|line| line.trim().strip_prefix("- alert: ")).map(str::to_owned).collect()
}

/// The shipped alerts with shorter times: how long they wait, what they look back on, and how long something may have
/// waited for its turn. Two hours stay two hours.
fn faster(alerts: &str) -> String {
    let mut alerts = alerts.to_owned();
    for minutes in [1, 2, 5, 10] {
        let seconds = minutes * 60 / FASTER;
        alerts = alerts.replace(&format!("[{minutes}m]"), &format!("[{seconds}s]"));
        alerts = alerts.replace(&format!("for: {minutes}m\n"), &format!("for: {seconds}s\n"));
    }
    let is_long = |line: &&str| line.contains("m]") || (line.contains("for: ") && line.ends_with('m'));
    assert_eq!(alerts.lines().find(is_long), None, "every time is shorter");
    alerts.replace(" > 30\n", &format!(" > {}\n", 30.0 / f64::from(FASTER)))
}
