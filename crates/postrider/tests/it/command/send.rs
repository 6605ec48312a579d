//! `send` and `trigger`.

use crate::rig::{Desk, Ran, Reply, Sink, wait_until};
use serde_json::{Value, json};

fn count(desk: &Desk) -> Value {
    desk.gateway.api().get("/v1/events?limit=1").data(200)["total"].clone()
}

#[test]
fn one_event_is_sent_from_a_flag_a_file_and_the_input() {
    let desk = Desk::new();
    let (sink, api) = (Sink::start(), desk.gateway.api());
    api.destination(&sink.url("/hook"), &json!({}));
    let said = desk.said(&["send", "--type", "order.created", "--data", "{\"n\":1}"]);
    assert!(said.out(0).starts_with("evt_") && said.out.ends_with(" is queued\n"), "{said:?}");
    std::fs::write(desk.site.path().join("body.json"), "{\"n\":2}").unwrap();
    desk.said(&["send", "body.json", "--type", "a.b", "--id", "k-1"]).out(0);
    let again = desk.run(&["send", "--type", "a.b", "--id", "k-1"], "{\"n\":2}");
    assert!(again.out(0).contains("(already accepted)"), "{again:?}");
    let (source, _) = api.source();
    let bytes = desk.run(&["send", "-", "--source", "shop", "--type", "x.y", "--json"], "no json").json(0);
    assert_eq!(
        api.event_once(bytes["id"].as_str().unwrap(), "delivered")["event"]["source_id"],
        source.as_str()
    );
    let bodies: Vec<_> = sink.wait_for("/hook", 3).into_iter().map(|arrival| arrival.body).collect();
    assert!(bodies.contains(&b"{\"n\":2}".to_vec()) && bodies.contains(&b"no json".to_vec()));
    let untyped = desk.said(&["send", "--data", "{}"]);
    assert!(untyped.err().contains("--type"), "{untyped:?}");
}

#[test]
fn a_file_of_events_is_sent_and_bad_lines_are_named() {
    let desk = Desk::new();
    let line = |n: usize| {
        format!(
            "{}\n",
            json!({ "event_type": "a.b", "payload": { "n": n }, "external_event_id": format!("k{n}") })
        )
    };
    let good: String = (0..1200).map(line).collect();
    let sent = desk.run(&["send", "--ndjson"], &good);
    let unrouted = "1200 events matched no route, so nothing is sent for them (see postrider routes list)";
    assert_eq!(sent.out(0), format!("1200 sent, 0 of them already accepted, 0 refused\n{unrouted}\n"));
    let one = desk.said(&["send", "--type", "a.c", "--data", "{}"]);
    assert!(
        one.out(0).ends_with("; it matched no route, so nothing is sent (see postrider routes list)\n"),
        "{one:?}"
    );
    let again = desk.run(&["send", "--ndjson", "--skip", "1195", "--rate", "100", "--json"], &good).json(0);
    assert_eq!(again, json!({ "sent": 5, "duplicates": 5, "unrouted": 0, "refused": 0 }));
    assert_eq!(count(&desk), 1201);
    let mixed = format!("{}\n\nnonsense\n{{\"payload\":1}}\n", line(5000).trim());
    let refused = desk.run(&["send", "--ndjson", "-"], &mixed);
    assert!(refused.err().contains("line 3: ") && refused.err.contains("line 4: "), "{refused:?}");
    assert!(refused.err.contains("2 lines refused; the others were sent"), "{refused:?}");
    assert_eq!(count(&desk), 1202);
}

#[test]
fn a_file_that_is_interrupted_says_where_to_go_on_and_nothing_is_sent_twice() {
    let desk = Desk::new();
    let line = |n: usize| format!("{}\n", json!({ "event_type": "a.b", "payload": { "n": n } }));
    let lines: String = (0..60).map(line).collect();
    std::fs::write(desk.site.path().join("events.ndjson"), lines).unwrap();
    let send = ["send", "--ndjson", "events.ndjson", "--rate", "10"];
    let child = desk.start(&send);
    wait_until("some are sent", || (count(&desk).as_u64() > Some(2)).then_some(()));
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let ended = child.wait_with_output().unwrap();
    let said = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(1), "{said}");
    let skip = said
        .split("--skip ")
        .nth(1)
        .and_then(|rest| rest.split_whitespace().next())
        .unwrap_or_else(|| panic!("{said}"));
    let sent: u64 = skip.parse().unwrap();
    assert!((3..60).contains(&sent), "{said}");
    assert_eq!(count(&desk), sent, "what it says is what is there");
    desk.said(&["send", "--ndjson", "events.ndjson", "--skip", skip]).out(0);
    assert_eq!(count(&desk), 60, "each once");
}

fn trigger(desk: &Desk, provider: &str, secret: &str) -> Ran {
    desk.said(&["trigger", provider, "--source", provider, "--secret", secret, "--json"])
}

#[test]
fn every_sample_passes_the_verification_of_its_provider() {
    let desk = Desk::new();
    let api = desk.gateway.api();
    let samples = desk.said(&["trigger", "--json"]).json(0);
    let samples = samples.as_array().unwrap();
    assert!(samples.len() >= 18, "{samples:?}");
    for sample in samples {
        let [provider, event] = ["provider", "event"].map(|field| sample[field].as_str().unwrap());
        let secret =
            if provider == "standard" { "whsec_c2VjcmV0LWZvci1zYW1wbGVz" } else { "secret-of-samples" };
        let listed = api.get("/v1/sources").data(200);
        if !listed.as_array().unwrap().iter().any(|source| source["name"] == provider) {
            let config = json!({ "name": provider, "provider": provider, "verification_config": { "secret": secret } });
            api.make("/v1/sources", &config);
        }
        let ran =
            desk.said(&["trigger", provider, event, "--source", provider, "--secret", secret, "--json"]);
        let id = ran.json(0)["id"].as_str().unwrap().to_owned();
        let seen = api.event(&id);
        if provider != "twilio" {
            assert_eq!(seen["event"]["event_type"], event, "{provider}");
        }
        assert_eq!(seen["event"]["body"].as_str().unwrap().find("{{"), None);
    }
    let args = ["trigger", "stripe", "--source", "stripe", "--secret", "secret-of-samples"];
    let unrouted = desk.said(&args);
    let note = "; it matched no route, so nothing is sent (see postrider routes list)\n";
    assert!(unrouted.out(0).ends_with(note), "{unrouted:?}");
    api.destination("http://127.0.0.1:1/", &json!({}));
    let routed = desk.said(&args);
    assert!(routed.out(0).ends_with(" is queued\n"), "{routed:?}");
    let wrong = trigger(&desk, "stripe", "another-secret");
    assert!(wrong.err().contains("POSTRIDER_TRIGGER_SECRET"), "{wrong:?}");
    let unsigned = desk.said(&["trigger", "stripe", "--source", "stripe"]);
    assert!(unsigned.err().contains("must be the secret of the source"), "{unsigned:?}");
    let other = desk.said(&["trigger", "stripe", "--source", "github"]);
    assert!(other.err().contains("the source is one of github"), "{other:?}");
    let unknown = desk.said(&["trigger", "nobody"]);
    assert!(unknown.err().contains("slack, standard, stripe"), "{unknown:?}");
    let nowhere = desk.said(&["trigger", "stripe"]);
    assert!(nowhere.err().contains("--source NAME or --to URL"), "{nowhere:?}");
}

#[test]
fn a_sample_goes_to_any_url_and_can_be_looked_at_first() {
    let desk = Desk::new();
    let sink = Sink::start();
    let secret = ("POSTRIDER_TRIGGER_SECRET".to_owned(), "whsec-planted".to_owned());
    let mut command =
        desk.command(&["trigger", "github", "issues", "--to", &sink.url("/hook"), "--count", "3"]);
    let ran = command.env(secret.0, secret.1).output().unwrap();
    assert_eq!(String::from_utf8(ran.stdout).unwrap(), "200\n200\n200\n");
    let arrivals = wait_until("three came", || Some(sink.arrivals_at("/hook")).filter(|all| all.len() == 3));
    let ids: std::collections::BTreeSet<_> =
        arrivals.iter().map(|one| one.headers.get("x-github-delivery").unwrap().to_owned()).collect();
    assert_eq!(ids.len(), 3, "each is an event of its own");
    assert!(arrivals[0].headers.get("x-hub-signature-256").unwrap().starts_with("sha256="));
    let dry = desk.said(&["trigger", "gitlab", "--secret", "token-planted", "--dry-run"]);
    assert!(dry.out(0).contains("x-gitlab-event: Push Hook") && !dry.out.contains("planted"), "{dry:?}");
    let dry = desk.said(&["trigger", "gitlab", "--secret", "token-planted", "--dry-run", "--json"]).json(0);
    assert_eq!(dry["headers"]["x-gitlab-token"], "[redacted]", "{dry}");
    assert!(dry["body"].as_str().unwrap().starts_with('{'), "{dry}");
}

#[test]
fn a_sample_that_is_refused_elsewhere_says_so_by_its_exit_code_too() {
    let desk = Desk::new();
    let sink = Sink::start();
    sink.next("/hook", [Reply::status(200), Reply::status(500).body(b"no \x1b[31mway")]);
    let to = sink.url("/hook");
    let refused = desk.said(&["trigger", "github", "--to", &to, "--count", "2"]);
    assert!(refused.err().contains("did not respond 2xx to 1 of 2 events"), "{refused:?}");
    assert_eq!(refused.out, "200\n500 no \\u{1b}[31mway\n");
    sink.next("/hook", [Reply::status(200).body(b"ok"), Reply::status(503)]);
    let taken = desk.said(&["trigger", "github", "--to", &to, "--json"]).json(0);
    assert_eq!(taken, json!({ "status": 200, "body": "ok" }));
    assert_eq!(desk.said(&["trigger", "github", "--to", &to, "--json"]).json(1)["status"], 503);
}

#[test]
fn a_sample_is_sent_to_a_source_without_saying_which() {
    let desk = Desk::new();
    let (sink, api) = (Sink::start(), desk.gateway.api());
    api.destination(&sink.url("/hook"), &json!({}));
    api.source();
    let provider = json!({ "name": "cards", "provider": "github" });
    api.post("/v1/sources", &provider).data(201);
    for (source, event_type) in [("shop", "user.created"), ("cards", "push")] {
        let taken = desk.said(&["trigger", "--source", source, "--json"]).json(0);
        let id = taken["id"].as_str().unwrap();
        assert_eq!(api.event_once(id, "delivered")["event"]["event_type"], event_type, "{source}");
    }
    let taken = desk.said(&["trigger", "stripe", "--source", "shop", "--json"]).json(0);
    let event = api.event_once(taken["id"].as_str().unwrap(), "delivered");
    assert_eq!(event["event"]["event_type"], "payment_intent.succeeded", "routes go by it");
    let unsaid = desk.said(&["trigger", "--to", &sink.url("/hook")]);
    assert!(unsaid.err().contains("choose a sample"), "{unsaid:?}");
}

#[test]
fn what_begins_like_json_and_is_none_is_sent_with_a_word() {
    let desk = Desk::new();
    for (data, is_told) in [("{x:1", true), ("[1,]", true), ("{\"x\":1}", false), ("x:1", false), ("", false)]
    {
        let said = desk.said(&["send", "--type", "a.b", "--data", data]);
        assert!(said.out(0).starts_with("evt_"), "{said:?}");
        assert_eq!(said.err.contains("looks like JSON but is invalid"), is_told, "{data}: {said:?}");
    }
}
