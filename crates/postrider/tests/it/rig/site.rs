//! A data directory and an address of its own, where a gateway is started, stopped, killed and started again.

use super::gateway::Gateway;
use super::{loopback, other_store};
use postrider_torture::rig::process::Ended;
use postrider_torture::rig::tied;
use std::ffi::{OsStr, OsString};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use tempfile::TempDir;

pub(crate) struct Site {
    directory: TempDir,
    address: SocketAddr,
    data_dir: PathBuf,
    args: Vec<String>,
    variables: Vec<(OsString, OsString)>,
    /// How many files the system lets it have open.
    descriptors_max: Option<usize>,
    /// Where its log goes instead of the file that tests read.
    log_to: Option<PathBuf>,
    /// A program that starts it in its own way.
    under: Option<&'static str>,
    /// Where its store is, when tests run on the other one.
    other_store: OnceLock<Vec<String>>,
}

const ADMIN_KEY_VARIABLE: &str = "POSTRIDER_ADMIN_KEY";

impl Site {
    /// Open to deliveries to this machine, where the sinks are.
    pub(crate) fn new() -> Self {
        Site::closed().with(&["--egress-allow", "127.0.0.0/8"])
    }

    /// As an operator gets it who opens nothing.
    pub(crate) fn closed() -> Self {
        let directory = TempDir::with_prefix("postrider-it-").expect("there is a place for temporary files");
        let data_dir = directory.path().join("data");
        let (args, variables) = (Vec::new(), Vec::new());
        let (descriptors_max, log_to, under, other_store) = (None, None, None, OnceLock::new());
        Site {
            directory,
            address: loopback::fresh(),
            data_dir,
            args,
            variables,
            descriptors_max,
            log_to,
            under,
            other_store,
        }
    }

    pub(crate) fn with(mut self, args: &[&str]) -> Self {
        self.args.extend(args.iter().map(|arg| (*arg).to_owned()));
        self
    }

    pub(crate) fn variable(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.variables.push((name.into(), value.as_ref().to_owned()));
        self
    }

    /// The system lets it have so many files and connections open, and no more however it asks.
    pub(crate) fn descriptors_max(self, most: usize) -> Self {
        Site { descriptors_max: Some(most), ..self }
    }

    /// Its log goes to this file, which may be one that takes nothing.
    pub(crate) fn log_to(self, path: PathBuf) -> Self {
        Site { log_to: Some(path), ..self }
    }

    /// Another program becomes it: `nohup`.
    pub(crate) fn under(self, program: &'static str) -> Self {
        Site { under: Some(program), ..self }
    }

    pub(crate) fn data_in(self, data_dir: PathBuf) -> Self {
        Site { data_dir, ..self }
    }

    /// Writes a configuration file and has it read.
    pub(crate) fn config(self, text: &str) -> Self {
        let path = self.write_config(text);
        self.with(&["--config", &path])
    }

    /// Writes the configuration file anew for the next start; gives its path.
    pub(crate) fn write_config(&self, text: &str) -> String {
        let path = self.path().join("postrider.toml");
        std::fs::write(&path, text).expect("the directory is ours");
        path.to_str().expect("paths of temporary files are text").to_owned()
    }

    /// A directory of the site's own, in which the data directory is by default.
    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn data_dir(&self) -> &Path {
        &self.data_dir
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// The admin key, if the gateway does not make one.
    pub(crate) fn admin_key(&self) -> Option<String> {
        let given = self.variables.iter().find(|(name, _)| name == ADMIN_KEY_VARIABLE);
        let given = given.map(|(_, key)| key.to_string_lossy().into_owned());
        given.or_else(|| self.is_elsewhere().then(|| other_store::ADMIN_KEY.to_owned()))
    }

    /// Whether it is on the other store: not when the test speaks of files, or of a database of its own.
    fn is_elsewhere(&self) -> bool {
        let own = self.data_dir != self.path().join("data");
        let said = ["--database-url", "--data-dir"].iter().any(|flag| self.says(flag));
        other_store::is_wanted() && !own && !said
    }

    fn says(&self, flag: &str) -> bool {
        self.args.iter().any(|arg| arg == flag) || self.is_set_elsewhere(flag)
    }

    /// Starts a gateway and waits until it serves.
    pub(crate) fn start(&self) -> Gateway {
        let mut gateway = self.spawn();
        gateway.wait_for_banner();
        gateway
    }

    /// Starts a gateway and does not wait.
    pub(crate) fn spawn(&self) -> Gateway {
        Gateway::spawn(self.command(), self)
    }

    /// Runs a gateway that must refuse to serve.
    pub(crate) fn refused(&self) -> Ended {
        self.spawn().wait_for_end()
    }

    fn command(&self) -> Command {
        let binary = env!("CARGO_BIN_EXE_postrider");
        let mut command = match (self.descriptors_max, &self.log_to, self.under) {
            (Some(most), ..) => limited(binary, most),
            (_, Some(path), _) => logging_to(binary, path),
            (.., Some(program)) => under(program, binary),
            _ => tied::command(binary),
        };
        // What the machine of the person who runs the tests has set is not what is tested.
        let ours = std::env::vars_os().map(|(name, _)| name);
        ours.filter(|name| name.to_string_lossy().starts_with("POSTRIDER_")).for_each(|name| {
            command.env_remove(name);
        });
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command.arg("serve").current_dir(self.path()).args(&self.args);
        if self.is_elsewhere() {
            command.args(self.other_store.get_or_init(other_store::flags));
            command.envs(self.admin_key().map(|key| (ADMIN_KEY_VARIABLE, key)));
        }
        for (flag, value) in
            [("--listen", self.address.to_string().as_str()), ("--data-dir", &self.data_text())]
        {
            if !self.says(flag) {
                command.args([flag, value]);
            }
        }
        command
    }

    /// A test of the settings may give the address or the directory in another way.
    fn is_set_elsewhere(&self, flag: &str) -> bool {
        let variable =
            format!("POSTRIDER_{}", flag.trim_start_matches("--").replace('-', "_").to_uppercase());
        self.variables.iter().any(|(name, _)| *name == *variable)
    }

    fn data_text(&self) -> String {
        self.data_dir.to_str().expect("paths of temporary files are text").to_owned()
    }
}

/// A command line for a program that may have so many descriptors. prlimit is of util-linux, as setpriv is.
fn limited(binary: &str, descriptors_max: usize) -> Command {
    let mut command = tied::command("prlimit");
    command.arg(format!("--nofile={descriptors_max}:{descriptors_max}")).arg(binary);
    command
}

fn under(program: &str, binary: &str) -> Command {
    let mut command = tied::command(program);
    command.arg(binary);
    command
}

/// A command line for a program whose standard error is this file.
fn logging_to(binary: &str, path: &Path) -> Command {
    let mut command = tied::command("sh");
    command.args(["-c", r#"exec 2>"$0"; exec "$@""#]).arg(path).arg(binary);
    command
}
