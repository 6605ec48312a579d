//! Which gateway a command speaks to and with which key: flags, variables, profiles, and the key beside the data.

use crate::rig::{Desk, Site};
use std::os::unix::fs::PermissionsExt as _;

/// A home directory with this text as the file of profiles.
fn home(desk: &mut Desk, text: &str, mode: u32) {
    let directory = desk.site.path().join("home/.config/postrider");
    std::fs::create_dir_all(&directory).unwrap();
    let file = directory.join("config.toml");
    std::fs::write(&file, text).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
    let home = desk.site.path().join("home").to_str().unwrap().to_owned();
    let empty = ["POSTRIDER_URL", "POSTRIDER_KEY"].map(|name| (name.to_owned(), String::new()));
    desk.variables = [("HOME".to_owned(), home)].into_iter().chain(empty).collect();
}

#[test]
fn a_profile_names_gateway_and_key() {
    let mut desk = Desk::new();
    let (url, key) = (desk.url.clone(), desk.gateway.api().key);
    let file = format!(
        "[default]\nurl = \"http://127.0.0.1:1\"\nkey = \"x\"\n[site]\nurl = \"{url}\"\nkey = \"{key}\"\n"
    );
    home(&mut desk, &file, 0o600);
    desk.said(&["sources", "list", "--profile", "site"]).out(0);
    assert_eq!(desk.said(&["sources", "list"]).code, 3, "nobody listens where the default points");
    let unknown = desk.said(&["sources", "list", "--profile", "prod"]);
    assert!(unknown.err().contains("available: default, site"), "{unknown:?}");
    // A key goes to the gateway that it stands beside, and to no other.
    let elsewhere = desk.said(&["sources", "list", "--profile", "site", "--url", "http://127.0.0.1:1"]);
    assert!(elsewhere.err().contains("there is no key"), "{elsewhere:?}");

    home(&mut desk, &file, 0o644);
    let open = desk.said(&["sources", "list", "--profile", "site"]);
    assert!(open.err().contains("chmod 600"), "{open:?}");
    home(&mut desk, &format!("[default]\nkey = \"{key}\"\nport = 1\n"), 0o600);
    let wrong = desk.said(&["sources", "list"]);
    assert!(wrong.err().contains("line 3") && !wrong.err.contains(&key), "{wrong:?}");
}

#[test]
fn the_key_beside_the_data_is_found_when_the_url_names_this_machine() {
    let site = Site::new();
    let data = site.path().join("postrider-data");
    let mut desk = Desk::at(site.data_in(data));
    let url = desk.url.clone();
    desk.variables = ["POSTRIDER_URL", "POSTRIDER_KEY"].map(|name| (name.to_owned(), String::new())).into();
    desk.said(&["sources", "list", "--url", &url]).out(0);
    desk.variables.push(("POSTRIDER_URL".into(), url));
    desk.said(&["sources", "list"]).out(0);
    // Nobody is there to be sent it: a documentation address.
    let other = desk.said(&["sources", "list", "--url", "http://192.0.2.1"]);
    assert!(other.err().contains("there is no key for http://192.0.2.1"), "{other:?}");
}

#[test]
fn errors_say_what_to_do_next_and_have_codes() {
    let mut desk = Desk::new();
    let refused = desk.said(&["events", "--key", "hk_wrong"]);
    assert!(refused.err().contains("POSTRIDER_KEY"), "{refused:?}");
    let unreachable = desk.said(&["events", "--url", "http://127.0.0.1:1"]);
    assert_eq!(unreachable.code, 3, "{unreachable:?}");
    assert!(unreachable.err.contains("`postrider serve` starts one"), "{unreachable:?}");
    let no_id = desk.said(&["inspect", "../v1/accounts"]);
    assert!(no_id.err().contains("is not an ID"), "{no_id:?}");
    let no_time = desk.said(&["events", "--since", "yesterday"]);
    assert!(no_time.err().contains("15m, 6h, 2d"), "{no_time:?}");
    desk.variables = vec![("POSTRIDER_KEY".into(), String::new()), ("POSTRIDER_URL".into(), String::new())];
    let keyless = desk.said(&["events"]);
    assert!(keyless.err().contains("--key, POSTRIDER_KEY or a profile"), "{keyless:?}");
}

#[test]
fn every_command_has_an_example() {
    let desk = Desk::new();
    let help = desk.said(&["--help"]);
    assert!(help.out(0).contains("Exit codes: 0 success; 1 refused"), "{help:?}");
    let commands = help.out.split("Commands:\n").nth(1).unwrap().split("\n\n").next().unwrap();
    let names = commands.lines().filter_map(|line| line.strip_prefix("  ")?.split_whitespace().next());
    for name in names.filter(|name| *name != "help") {
        let help = desk.said(&[name, "--help"]);
        assert!(help.out(0).contains("Example"), "{name}: {help:?}");
    }
}
