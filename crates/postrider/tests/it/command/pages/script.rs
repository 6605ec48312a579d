//! The shell blocks of a page as one script, so that what one sets the next can use, with the addresses of the pages
//! replaced by those of the test.

use postrider_postgres::testing::Server;
use postrider_tidy::shell_block::{Block, Kind};
use std::fmt::Write as _;
use std::net::SocketAddr;

/// What pages call by these names, and what it is here.
pub(super) struct Names {
    pub(super) gateway: SocketAddr,
    /// Of a node on a database, beside the gateway of the page.
    pub(super) node: SocketAddr,
    pub(super) receiver: SocketAddr,
    /// Ids and keys that stand with an ellipsis on a page that has not made them itself.
    pub(super) samples: Vec<(&'static str, String)>,
}

impl Names {
    pub(super) fn put_in(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (port, address) in [(8080, self.gateway), (9000, self.receiver)] {
            for host in ["127.0.0.1", "localhost"] {
                text = text.replace(&format!("{host}:{port}"), &address.to_string());
            }
        }
        if text.contains(DATABASE) {
            text = text.replace(DATABASE, &Server::shared().database());
        }
        self.samples.iter().fold(text, |text, (sample, real)| text.replace(sample, real))
    }
}

/// On the pages, a server of the reader's own; here each block has a database that is new.
const DATABASE: &str = "postgres://postrider@db.example.com/postrider";

/// Ends at the first command that fails, with the line of its block; what runs on ends with it.
const BEGINNING: &str = r#"set -eEuo pipefail
place=
runs_on=()
trap 'echo "$place: a command of this block has failed" >&2' ERR
trap 'kill "${runs_on[@]}" 2>/dev/null || true; wait' EXIT
serves() { until curl --silent --output /dev/null "$1"; do kill -0 "${runs_on[-1]}" && sleep 0.05; done; }
"#;

/// Whatever was to run on must still do so.
const END: &str = r#"for one in "${runs_on[@]}"; do
    kill -0 "$one" 2>/dev/null || { echo "$place: what was to run on has ended"; cat runs-on-*; exit 1; } >&2
done
"#;

/// Whether the page says itself how its gateway is started.
pub(super) fn starts_its_own(blocks: &[Block]) -> bool {
    let is_gateway = |block: &Block| starts(block, "postrider serve") && !starts(block, NODE);
    blocks.iter().any(|block| block.kind == Kind::RunsOn && is_gateway(block))
}

/// The blocks that are run while the gateway is there, or those that are run when it has stopped.
pub(super) fn script<'a>(
    page: &str,
    blocks: impl Iterator<Item = &'a Block>,
    names: &Names,
) -> Result<String, String> {
    let mut script = BEGINNING.to_owned();
    for block in blocks {
        let (place, text) = (format!("{page}:{}", block.line), names.put_in(&block.text));
        let piece = match block.kind {
            Kind::Run | Kind::Stopped => format!("place={place}\n{text}"),
            Kind::RunsOn => running_on(block, &place, &text, names) + &ready(block, names),
            _ => continue,
        };
        if piece.contains('…') {
            return Err(format!("{place}: an ellipsis that stands for nothing"));
        }
        writeln!(script, "{piece}").expect("a text takes all that is written to it");
    }
    Ok(script + END)
}

/// One command, which takes the place of the shell that starts it: so the end of the script is its end.
fn running_on(block: &Block, place: &str, text: &str, names: &Names) -> String {
    let log = format!("runs-on-{}", block.line);
    let listen = if starts(block, NODE) { names.node } else { names.gateway };
    format!(
        "place={place}\n{{ exec > {log} 2>&1\nexec env POSTRIDER_LISTEN={listen} {text}}} &\nruns_on+=($!)\n"
    )
}

/// A person looks whether it has started before going on.
fn ready(block: &Block, names: &Names) -> String {
    if starts(block, NODE) {
        return format!("serves http://{}/readyz\n", names.node);
    }
    if starts(block, "postrider serve") {
        let key = "export POSTRIDER_KEY=$(cat postrider-data/admin.key)";
        return format!("serves http://{}/readyz\n{key}\n", names.gateway);
    }
    if starts(block, "postrider chaos") {
        return format!("serves http://{}/report\n", names.receiver);
    }
    if block.text.to_lowercase().contains("receiver") {
        return format!("serves http://{}/\n", names.receiver);
    }
    String::new()
}

/// One of several on a database: not the gateway that the page's other commands speak to.
const NODE: &str = "postrider serve --database-url";

fn starts(block: &Block, command: &str) -> bool {
    block.text.starts_with(command)
}
