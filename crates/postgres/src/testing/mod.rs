//! A throw-away PostgreSQL server for tests: its own directory, its own socket, gone with the process that started it.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod afterwards;
mod replicated;

use afterwards::afterwards;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use tempfile::TempDir;

pub use afterwards::remove_afterwards;
pub use replicated::Replicated;

/// A server that is started once for a test binary.
pub struct Server {
    directory: TempDir,
    binaries: PathBuf,
}

static SERVER: OnceLock<Server> = OnceLock::new();
static DATABASES: AtomicU32 = AtomicU32::new(0);

impl Server {
    /// The one of this process. It ends when the process is gone.
    pub fn shared() -> &'static Server {
        SERVER.get_or_init(Server::start)
    }

    /// One for a test that stops or kills it. It ends when it is dropped.
    pub fn alone() -> Alone {
        Alone(Server::start())
    }

    fn start() -> Server {
        let server = Server::place();
        server.run(
            "initdb",
            &["-D", &server.data(), "-U", "postrider", "-A", "trust", "-E", "UTF8", "--locale=C"],
        );
        server.launch();
        server
    }

    /// A directory for one.
    fn place() -> Server {
        let directory = tempfile::Builder::new().prefix("postrider-pg-").tempdir().unwrap();
        let server = Server { directory, binaries: binaries() };
        own(server.directory.path());
        server.end_with_us();
        server
    }

    /// Starts it on what is there.
    fn launch(&self) {
        self.try_to_launch().unwrap();
    }

    fn try_to_launch(&self) -> Result<String, String> {
        let socket = self.directory.path().to_str().unwrap();
        let settings = format!(
            "-k {socket} -c listen_addresses= -c max_connections=400 -c shared_buffers=64MB -c fsync=off -c full_page_writes=off"
        );
        let log = self.directory.path().join("log");
        self.try_to_run(
            "pg_ctl",
            &["-D", &self.data(), "-l", log.to_str().unwrap(), "-o", &settings, "-w", "start"],
        )
    }

    fn data(&self) -> String {
        self.directory.path().join("data").to_str().unwrap().to_owned()
    }

    /// Where it listens.
    pub fn socket(&self) -> PathBuf {
        self.directory.path().join(".s.PGSQL.5432")
    }

    /// A new, empty database.
    pub fn database(&self) -> String {
        self.database_in("pg_default")
    }

    /// A new, empty database whose tables are in a directory of this disk, and whose log is not.
    pub fn database_on(&self, disk: &Path) -> String {
        let place = disk.join("tables");
        std::fs::create_dir(&place).unwrap();
        std::fs::set_permissions(disk, PermissionsExt::from_mode(0o755)).unwrap();
        own(&place);
        self.ask("/postgres", &format!("CREATE TABLESPACE elsewhere LOCATION '{}'", place.display()));
        self.database_in("elsewhere")
    }

    fn database_in(&self, tablespace: &str) -> String {
        let name = format!("test_{}_{}", std::process::id(), DATABASES.fetch_add(1, Ordering::Relaxed));
        let socket = self.directory.path().to_str().unwrap();
        self.run("createdb", &["-h", socket, "-U", "postrider", "-D", tablespace, &name]);
        format!("postgres://postrider@localhost/{name}?host={}", socket.replace('/', "%2F"))
    }

    /// Ends the leases of all nodes of a database now, as time would.
    pub fn end_leases(&self, url: &str) {
        let end = "DO $$ BEGIN IF to_regclass('members') IS NOT NULL THEN
             UPDATE members SET lease_until = '-infinity'; END IF; END $$";
        self.ask(url, end);
    }

    /// Runs SQL in a database; gives what it answers.
    pub fn ask(&self, url: &str, sql: &str) -> String {
        let socket = self.directory.path().to_str().unwrap();
        let name = url.split('?').next().and_then(|base| base.rsplit('/').next()).unwrap();
        self.run("psql", &["-qAt", "-h", socket, "-U", "postrider", "-d", name, "-c", sql])
    }

    /// Keeps a snapshot of a database open until it is dropped, so that nothing deleted since can be cleaned up.
    pub fn hold_snapshot(&self, url: &str) -> Held {
        self.hold(url, "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM members;")
    }

    /// Runs SQL in a session that stays open until it is dropped, with the locks and the snapshot that it took.
    pub fn hold(&self, url: &str, sql: &str) -> Held {
        let socket = self.directory.path().to_str().unwrap();
        let name = url.split('?').next().and_then(|base| base.rsplit('/').next()).unwrap();
        let mut command = self.command("psql");
        command.args(["-qAt", "-h", socket, "-U", "postrider", "-d", name]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut session = command.spawn().unwrap();
        writeln!(session.stdin.as_mut().unwrap(), "{sql}\n\\echo held").unwrap();
        let mut said = BufReader::new(session.stdout.take().unwrap()).lines().map_while(Result::ok);
        assert!(said.any(|line| line == "held"), "{sql} was refused");
        Held(session)
    }

    fn run(&self, program: &str, arguments: &[&str]) -> String {
        self.try_to_run(program, arguments).unwrap()
    }

    fn try_to_run(&self, program: &str, arguments: &[&str]) -> Result<String, String> {
        let output = self.command(program).args(arguments).output().unwrap();
        if !output.status.success() {
            return Err(format!("{program}: {}", String::from_utf8_lossy(&output.stderr)));
        }
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }

    fn command(&self, program: &str) -> Command {
        let mut command = as_server();
        command.arg(self.binaries.join(program));
        command
    }

    /// A test process may be killed, so nothing in it can be trusted to stop the server.
    fn end_with_us(&self) {
        let (pg_ctl, data) = (self.binaries.join("pg_ctl"), self.data());
        let places = [&pg_ctl, Path::new(&data), self.directory.path()];
        afterwards(as_server(), r#""$1" -D "$2" -m immediate stop; rm -rf "$3""#, &places);
    }
}

/// A session that is kept open. The server ends it when nobody speaks any more.
pub struct Held(Child);

impl Drop for Held {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A server of one test's own.
pub struct Alone(Server);

impl std::ops::Deref for Alone {
    type Target = Server;

    fn deref(&self) -> &Server {
        &self.0
    }
}

impl Alone {
    /// Stops it as an operator does who does not want to wait: connections are cut, nothing is lost.
    pub fn stop(&self) {
        self.run("pg_ctl", &["-D", &self.data(), "-m", "fast", "-w", "stop"]);
    }

    /// Kills the postmaster; what it started ends by itself soon after.
    pub fn kill(&self) {
        let pid_file = self.directory.path().join("data/postmaster.pid");
        let text = std::fs::read_to_string(pid_file).unwrap();
        let killed = Command::new("kill").args(["-9", text.lines().next().unwrap()]).status();
        assert!(killed.unwrap().success());
    }

    /// Kills the process that serves the oldest session of a database, a node's. The server takes it for a crash: it
    /// cuts all connections and starts anew by itself.
    pub fn kill_backend(&self, url: &str) {
        let oldest = "SELECT pid FROM pg_stat_activity
             WHERE datname = current_database() AND pid <> pg_backend_pid() ORDER BY backend_start LIMIT 1";
        let killed = Command::new("kill").args(["-9", &self.ask(url, oldest)]).status();
        assert!(killed.unwrap().success());
    }

    /// How many of its processes it has found killed, each time with the end of all others.
    pub fn killed_backends(&self) -> usize {
        let log = std::fs::read_to_string(self.directory.path().join("log")).unwrap();
        let count = |words| log.matches(words).count();
        count("was terminated by signal 9").min(count("all server processes terminated; reinitializing"))
    }

    /// Makes it a standby, which only reads.
    pub fn stand_by(&self) {
        self.stop();
        let signal = format!("{}/standby.signal", self.data());
        assert!(as_server().args(["touch", &signal]).status().unwrap().success());
        self.launch();
    }

    /// Starts it again after it was stopped or killed.
    pub fn start_again(&self) {
        let began = std::time::Instant::now();
        // The last process of one that was killed takes a moment to see it, and holds on to its memory until then.
        while let Err(said) = self.try_to_launch() {
            assert!(began.elapsed() < std::time::Duration::from_secs(60), "{said}");
            std::thread::sleep(std::time::Duration::from_millis(200));
        }
    }
}

impl Drop for Alone {
    fn drop(&mut self) {
        let _ = self.command("pg_ctl").args(["-D", &self.data(), "-m", "immediate", "stop"]).output();
    }
}

/// Runs what follows as the user whom PostgreSQL wants; as we are, unless that is root.
fn as_server() -> Command {
    let mut command = Command::new(if is_root() { "setpriv" } else { "env" });
    if is_root() {
        command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups"]);
    }
    command.current_dir("/");
    command
}

/// Gives a directory to the server.
fn own(directory: &Path) {
    if is_root() {
        let owned = Command::new("chown").args(["postgres", directory.to_str().unwrap()]).status();
        assert!(owned.unwrap().success());
    }
}

/// PostgreSQL refuses to run as root.
fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout.starts_with(b"0\n"))
}

/// Debian keeps the server's programs out of the path, one directory a version.
fn binaries() -> PathBuf {
    let debian = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut versions: Vec<PathBuf> = debian.map(|entry| entry.path().join("bin")).collect();
    versions.sort();
    let found = versions.into_iter().rev().find(|path| path.join("initdb").exists());
    found.unwrap_or_else(|| {
        panic!("there is no PostgreSQL here; scripts/test installs it (Debian's package postgresql)")
    })
}
