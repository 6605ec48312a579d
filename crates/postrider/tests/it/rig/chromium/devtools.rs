//! A headless Chromium with a profile of its own, and the DevTools protocol over two pipes: JSON, a zero byte behind each
//! message. No port is opened, and a browser that loses its pipes ends by itself.

use super::super::wait::{PATIENCE, wait_within};
use super::watched::Watched;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The protocol wants the pipes at 3 and 4, where only a shell can put them.
const SCRIPT: &str = "exec chromium \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>\"$PROFILE.log\"";

const FLAGS: [&str; 18] = [
    "--headless",
    "--remote-debugging-pipe",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-gpu",
    // Containers often have 64 MB there.
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-sync",
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    "--disable-features=Translate,MediaRouter,OptimizationHints",
    "--force-color-profile=srgb",
    "--hide-scrollbars",
    "--password-store=basic",
];

/// Starting takes longest of all.
const START: Duration = Duration::from_secs(90);
const END: Duration = Duration::from_secs(20);

pub(crate) struct DevTools {
    child: Child,
    to: ChildStdin,
    from: Receiver<Value>,
    next_id: u64,
    session: Option<String>,
    pub(super) watched: Watched,
    _profile: TempDir,
}

impl DevTools {
    pub(super) fn start() -> Self {
        let profile =
            TempDir::with_prefix("postrider-chromium-").expect("there is a place for temporary files");
        let directory = profile.path().join("profile");
        let mut command = Command::new("sh");
        command.args(["-c", SCRIPT, "sh"]).args(FLAGS).env("PROFILE", &directory);
        command.arg(format!("--user-data-dir={}", directory.display()));
        if rustix::process::geteuid().is_root() {
            command.arg("--no-sandbox");
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("there is a shell");
        let to = child.stdin.take().expect("it is piped");
        let out = child.stdout.take().expect("it is piped");
        let (sender, from) = channel();
        thread::spawn(move || read(BufReader::new(out), &sender));
        let watched = Watched::default();
        let mut tools = DevTools { child, to, from, next_id: 0, session: None, watched, _profile: profile };
        tools.attach();
        tools
    }

    /// To the one page that it opens.
    fn attach(&mut self) {
        let made = self.within(START, "Target.createTarget", json!({ "url": "about:blank" }));
        let made = made.expect("a browser opens a page; scripts/test installs Chromium");
        let target = json!({ "targetId": made["targetId"], "flatten": true });
        let session = self.call("Target.attachToTarget", target);
        self.session = session["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Network", "Log"] {
            self.call(&format!("{domain}.enable"), json!({}));
        }
    }

    /// A command that cannot be refused.
    pub(super) fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.ask(method, parameters).unwrap_or_else(|refused| panic!("{method}: {refused}"))
    }

    /// A command, and what came of it. What happens meanwhile is written down.
    pub(super) fn ask(&mut self, method: &str, parameters: Value) -> Result<Value, String> {
        self.within(PATIENCE, method, parameters)
    }

    fn within(&mut self, patience: Duration, method: &str, parameters: Value) -> Result<Value, String> {
        let id = self.send(method, parameters)?;
        let until = Instant::now() + patience;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let message = self.from.recv_timeout(left);
            let mut message = message.map_err(|error| format!("{method} was not answered: {error}"))?;
            if message["id"] == id {
                let refusal = message["error"]["message"].as_str().map(str::to_owned);
                return refusal.map_or_else(|| Ok(message["result"].take()), Err);
            }
            self.hear(&message);
        }
    }

    fn send(&mut self, method: &str, parameters: Value) -> Result<u64, String> {
        self.next_id += 1;
        let mut message = json!({ "id": self.next_id, "method": method });
        message["params"] = parameters;
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        self.to.write_all(&bytes).map_err(|error| format!("the browser is gone: {error}"))?;
        Ok(self.next_id)
    }

    /// A page waits for whoever answers its question, and so would the command that led to it.
    fn hear(&mut self, event: &Value) {
        self.watched.hear(event);
        if event["method"] == "Page.javascriptDialogOpening" {
            let _ = self.send("Page.handleJavaScriptDialog", json!({ "accept": true }));
        }
    }
}

fn read(mut from: impl BufRead, messages: &Sender<Value>) {
    loop {
        let mut bytes = Vec::new();
        if !matches!(from.read_until(0, &mut bytes), Ok(1..)) {
            return;
        }
        let message = serde_json::from_slice(&bytes[..bytes.len() - 1]).expect("the browser speaks JSON");
        if messages.send(message).is_err() {
            return;
        }
    }
}

impl Drop for DevTools {
    /// Asked first, so that nothing of it writes into its profile any more when that is taken away.
    fn drop(&mut self) {
        let close = json!({ "id": 0, "method": "Browser.close" });
        let asked = self.to.write_all(format!("{close}\0").as_bytes()).is_ok();
        if asked && !thread::panicking() {
            wait_within(END, "the browser ends", || self.child.try_wait().expect("the child is ours"));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
