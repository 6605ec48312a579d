//! `destinations`, `sources`, `routes`, `accounts` and `keys`.

use crate::rig::{Desk, Reply, Sink};

#[test]
fn objects_are_made_changed_and_deleted_by_name_or_id() {
    let desk = Desk::new();
    let sink = Sink::start();
    let url = format!("url={}", sink.url("/hook"));
    let made =
        desk.said(&["destinations", "create", "name=billing", &url, "max_concurrency:=7", "--json"]).json(0);
    let id = made["id"].as_str().unwrap();
    // What a route is about goes by name too, here and in filters.
    let of = ["source_id=default", "destination_id=billing", "event_type_pattern=payment.*", "priority:=1"];
    let route = desk.said(&[&["routes", "create"], of.as_slice()].concat());
    assert!(route.out(0).contains("priority              1\n") && route.out.contains(id), "{route:?}");
    let unknown = desk.said(&["routes", "create", "destination_id=biling"]);
    assert!(unknown.err().contains("no destination \"biling\""), "{unknown:?}");
    for command in [["events", "--destination", "billing"], ["dlq", "--destination", "billing"]] {
        let (verb, flags) = command.split_first().unwrap();
        let listing: &[&str] = if *verb == "dlq" { &["list"] } else { &[] };
        desk.said(&[&[*verb], listing, flags].concat()).out(0);
    }
    let list = desk.said(&["destinations", "list"]);
    assert!(list.out(0).contains(id) && list.out.contains("billing"), "{list:?}");
    let edited =
        desk.said(&["destinations", "edit", "billing", "max_concurrency:=9", "circuit.threshold:=3"]);
    assert!(edited.out(0).contains("max_concurrency       9\n"), "{edited:?}");
    assert_eq!(desk.said(&["destinations", "show", id, "--json"]).json(0)["circuit"]["threshold"], 3);
    desk.said(&["destinations", "edit", "billing", "circuit.cooldown_seconds:=60"]).out(0);
    let circuit = desk.said(&["destinations", "show", id, "--json"]).json(0)["circuit"].clone();
    assert_eq!((&circuit["threshold"], &circuit["cooldown_seconds"]), (&3.into(), &60.into()));
    let wrong = desk.said(&["destinations", "edit", "billing", "max_concurrency=many"]);
    assert!(wrong.err().contains("max_concurrency must be"), "{wrong:?}");
    let routes = desk.said(&["routes", "list"]);
    assert!(
        routes.out(0).contains("  payment.*  1         true    default  billing\n"),
        "by name: {routes:?}"
    );
    assert_eq!(
        desk.said(&["routes", "list", "--json"]).json(0)[0]["destination_id"],
        id,
        "for programs the id"
    );
    let unsure = desk.said(&["destinations", "delete", "billing"]);
    assert!(unsure.err().contains("--yes"), "{unsure:?}");
    assert_eq!(desk.said(&["destinations", "delete", "billing", "--yes"]).out(0), format!("{id} deleted\n"));
    let source = desk.said(&["sources", "delete", "default", "--yes", "--json"]).json(0);
    assert_eq!(source["deleted"], true, "for programs too: {source}");
    let gone = desk.said(&["destinations", "show", "billing"]);
    assert!(gone.err().contains("no destination \"billing\"; give its ID, dst_…"), "{gone:?}");
}

#[test]
fn a_destination_is_paused_resumed_tested_and_its_circuit_told() {
    let desk = Desk::new();
    let (sink, api) = (Sink::start(), desk.gateway.api());
    api.destination(&sink.url("/hook"), &serde_json::json!({ "name": "billing" }));
    let check = |args: &[&str], wanted: &str| {
        let ran = desk.said(&[&["destinations"], args].concat());
        assert!(ran.out(0).contains(wanted), "{ran:?}");
    };
    check(&["pause", "billing"], "is paused, its circuit closed\n");
    check(&["resume", "billing"], "is active, its circuit closed\n");
    check(&["circuit", "billing", "open"], "is active, its circuit open\n");
    check(&["circuit", "billing", "half-open"], "its circuit half_open\n");
    check(&["circuit", "billing", "closed"], "its circuit closed\n");
    check(&["test", "billing"], "  200  ");
    assert_eq!(sink.arrivals_at("/hook").len(), 1);
    sink.next("/hook", [Reply::status(503)]);
    let refused = desk.said(&["destinations", "test", "billing"]);
    assert!(
        refused.err().contains("billing did not accept it") && refused.out.contains("  503  "),
        "{refused:?}"
    );
}

#[test]
fn secrets_are_read_from_files_and_new_ones_shown_once() {
    let desk = Desk::new();
    std::fs::write(desk.site.path().join("secret"), "whsec_planted-5f1c\n").unwrap();
    let source = ["sources", "create", "name=shop", "provider=stripe", "verification_config.secret=@secret"];
    let made = desk.said(&source);
    assert!(made.out(0).contains("ingest_url") && !made.out.contains("planted"), "{made:?}");
    let key = desk.said(&["keys", "create", "name=ci", "scope=read"]);
    assert!(
        key.out(0).contains("key is shown only once; store it now\n") && key.out.contains("hk_"),
        "{key:?}"
    );
    let listed = desk.said(&["keys", "list"]);
    assert!(listed.out(0).contains("ci") && !listed.out.contains("shown only once"), "{listed:?}");
    let account = desk.said(&["accounts", "create", "name=acme", "weight:=2"]);
    assert!(account.out(0).contains("weight                2\n"), "{account:?}");
    assert!(account.out.contains("api_key is shown only once"), "{account:?}");
    assert!(desk.said(&["accounts", "list"]).out(0).contains("acme"));
    let hidden = desk.said(&["sources", "create", "name=a", "verification_config:={\"secret\":\"planted"]);
    assert!(hidden.err().contains("is not JSON") && !hidden.err.contains("planted"), "{hidden:?}");
}

#[test]
fn a_list_of_nothing_says_so_and_what_comes_next() {
    let desk = Desk::new();
    for (args, said) in [
        (["destinations", "list"], "no destination yet; `postrider destinations create --help` shows"),
        (["routes", "list"], "no route yet; `postrider routes create --help` shows"),
        (["dlq", "list"], "no dead letters match"),
    ] {
        let listed = desk.said(&args);
        assert!(listed.out(0).is_empty() && listed.err.starts_with(said), "{listed:?}");
        assert!(desk.said(&[&args[..], &["--json"]].concat()).json(0).to_string().contains("[]"));
    }
}

#[test]
fn a_name_that_is_taken_makes_no_second_object() {
    let desk = Desk::new();
    let create = ["destinations", "create", "name=billing", "url=https://example.com/"];
    let made = desk.said(&create);
    assert!(made.out(0).contains("signing_secret is shown only once; store it now"), "{made:?}");
    let again = desk.said(&create);
    assert!(again.err().contains("destination \"billing\" already exists, dst_"), "{again:?}");
    assert_eq!(desk.gateway.api().get("/v1/destinations").data(200).as_array().unwrap().len(), 1);
    let account = desk.said(&["accounts", "create", "name=shop"]);
    assert!(account.out(0).contains("api_key               hk_"), "{account:?}");
    assert!(account.out(0).contains("api_key is shown only once; store it now"), "{account:?}");
    for _ in 0..2 {
        let key = desk.said(&["keys", "create", "name=ci"]);
        assert_eq!(key.out(0).matches("hk_").count(), 2, "the key and how it begins: {key:?}");
    }
}
