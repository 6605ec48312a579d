//! Every shell block of the README and of `docs/` is run against a live gateway, as whoever reads the page runs it:
//! commands on a page cannot rot.

mod inline;
mod script;

use self::script::{Names, script, starts_its_own};
use crate::rig::api::text;
use crate::rig::{Api, Gateway, Reply, Sink, Site, loopback};
use postrider_tidy::shell_block::{Block, Kind, blocks};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::Command;

/// For all commands of one page, on a busy machine; some build a program first.
const TIMEOUT_SECONDS: &str = "600";
/// A program that a page asks for and a machine may lack; blocks with it are left out there. The others, jq and the languages
/// of the quickstarts, are installed by `scripts/test`.
const OPTIONAL: &str = "sqlite3";

#[test]
fn the_shell_blocks_of_every_page_run() {
    let mut wrong = Vec::new();
    for page in pages() {
        let name = page.file_name().unwrap().to_string_lossy().into_owned();
        wrong.extend(run(&name, &std::fs::read_to_string(&page).unwrap()).err());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_block_that_fails_is_found_with_its_place() {
    let said = |page: &str| run("page.md", page).err().unwrap_or_default();
    let failing = said("# Page\n\n```sh\ntrue\n```\n\n```sh\npostrider inspect evt_0000000000000\n```\n");
    assert!(failing.contains("page.md:8: a command of this block has failed"), "{failing}");
    let ended =
        said("```sh runs-on\npostrider events   # ends at once\n```\n\n```sh\nwait ${runs_on[0]}\n```\n");
    assert!(ended.contains("what was to run on has ended"), "{ended}");
    let left = said("```sh\necho rte_…\n```\n");
    assert!(left.contains("an ellipsis that stands for nothing"), "{left}");
}

fn pages() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let docs = std::fs::read_dir(root.join("docs")).unwrap().map(|file| file.unwrap().path());
    let mut pages: Vec<PathBuf> = docs
        .chain([root.join("README.md")])
        .filter(|path| path.extension().is_some_and(|end| end == "md"))
        .collect();
    pages.sort();
    pages
}

/// Runs the blocks of a page in a directory of its own, with the binary in the path; what went wrong.
fn run(page: &str, source: &str) -> Result<(), String> {
    let blocks: Vec<Block> = blocks(source).into_iter().filter(|block| !is_left_out(block)).collect();
    if !blocks.iter().any(|block| matches!(block.kind, Kind::Run | Kind::RunsOn)) {
        return Ok(());
    }
    let site = Site::new();
    let data_dir = site.path().join("postrider-data");
    let site = site.data_in(data_dir);
    let sink = Sink::start();
    let gateway = (!starts_its_own(&blocks)).then(|| site.start());
    let names = Names {
        gateway: site.address(),
        node: loopback::fresh(),
        receiver: loopback::fresh(),
        samples: gateway.as_ref().map(|gateway| samples(&gateway.api(), &sink)).unwrap_or_default(),
    };
    write_files(site.path(), &blocks, &names);
    left_behind(&sink, &blocks, &names);
    let (after, before): (Vec<&Block>, Vec<&Block>) =
        blocks.iter().partition(|block| block.kind == Kind::Stopped);
    let mut shell = shell(&site, gateway.as_ref());
    shell.env("GETHOOK_URL", sink.url("")).env("GETHOOK_KEY", "hk_of_gethook");
    succeeds(page, shell.arg(script(page, before.into_iter(), &names)?))?;
    gateway.into_iter().for_each(|gateway| drop(gateway.stop()));
    let mut shell = self::shell(&site, None);
    succeeds(page, shell.arg(script(page, after.into_iter(), &names)?))
}

/// What a page moves away from answers as the page says that it does.
fn left_behind(sink: &Sink, blocks: &[Block], names: &Names) {
    for block in blocks {
        let Kind::File { name } = &block.kind else { continue };
        if let Some(list) = name.strip_prefix("gethook-").and_then(|name| name.strip_suffix(".json")) {
            let body = names.put_in(&block.text);
            sink.always(&format!("/v1/{list}"), Reply::status(200).body(body.as_bytes()));
        }
    }
}

fn succeeds(page: &str, shell: &mut Command) -> Result<(), String> {
    let ran = shell.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let said = || format!("{page}:\n{}{}", text(&ran.stdout), text(&ran.stderr));
    if ran.status.success() { Ok(()) } else { Err(said()) }
}

/// With nothing that the person who runs the tests has set.
fn shell(site: &Site, gateway: Option<&Gateway>) -> Command {
    let binary = Path::new(env!("CARGO_BIN_EXE_postrider")).parent().unwrap().to_owned();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths([binary].into_iter().chain(std::env::split_paths(&path))).unwrap();
    let mut shell = Command::new("timeout");
    shell.args(["--kill-after=5", TIMEOUT_SECONDS, "bash", "-c"]).env_clear().env("PATH", path);
    shell.env("HOME", site.path()).current_dir(site.path());
    shell.envs(toolchain_folders()).env("POSTRIDER_LISTEN", site.address().to_string());
    shell.env("POSTRIDER_URL", format!("http://{}", site.address()));
    shell.envs(gateway.map(|gateway| ("POSTRIDER_KEY", gateway.api().key)));
    shell
}

/// Where toolchains keep what they have downloaded and built: the home folder of a page is new.
fn toolchain_folders() -> [(&'static str, PathBuf); 3] {
    let home = PathBuf::from(std::env::var_os("HOME").unwrap_or_default());
    let folder = |name, usual| std::env::var_os(name).map_or_else(|| home.join(usual), PathBuf::from);
    [
        ("CARGO_HOME", folder("CARGO_HOME", ".cargo")),
        ("RUSTUP_HOME", folder("RUSTUP_HOME", ".rustup")),
        ("GOCACHE", Path::new(env!("CARGO_TARGET_TMPDIR")).join("go-build")),
    ]
}

/// What a page that starts no gateway of its own finds at the one it speaks to.
fn samples(api: &Api, sink: &Sink) -> Vec<(&'static str, String)> {
    let destination = api.destination(&sink.url("/sample"), &json!({ "name": "sample" }));
    let (_, path) = api.source();
    let event = api.send(&path, &[("x-event-type", "order.created")], br#"{"order": 7}"#);
    api.event_once(&event, "delivered");
    let deliveries = api.get(&format!("/v1/deliveries?event_id={event}")).data(200);
    let delivery = text(&deliveries["items"][0]["id"]);
    vec![("hk_…", api.key.clone()), ("evt_…", event), ("dst_…", destination), ("dlv_…", delivery)]
}

fn write_files(place: &Path, blocks: &[Block], names: &Names) {
    for block in blocks {
        if let Kind::File { name } = &block.kind {
            std::fs::write(place.join(name), names.put_in(&block.text)).unwrap();
        }
    }
}

fn is_left_out(block: &Block) -> bool {
    let is_missing = block.text.split_whitespace().any(|word| word == OPTIONAL)
        && Command::new(OPTIONAL).arg("--version").output().is_err();
    if is_missing {
        println!("line {} is not run: there is no {OPTIONAL} here", block.line);
    }
    is_missing
}
