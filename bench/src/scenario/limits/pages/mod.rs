//! Pages: how long those of the dashboard take with a great many attempts stored.

mod history;
mod sample;
mod visitor;

use super::{Comparison, Figure};
use crate::api::Api;
use crate::args::BenchArgs;
use crate::gateway::Gateway;
use crate::latency::Latency;
use crate::progress::progress;
use crate::role::Receiver;
use crate::scratch::Scratch;
use crate::units::{float, milliseconds, number};
use crate::verdict::Goal;
use anyhow::Context as _;
use history::History;
use serde_json::Value;
use visitor::Visitor;

const ATTEMPTS_DEFAULT: u64 = 1_000_000;
const ATTEMPTS_QUICK: u64 = 20_000;
/// After the first time.
const TIMES: usize = 5;
const PAGE_KB_MAX: f64 = 100.0;
const PAGE_MS_MAX: f64 = 200.0;
/// Pages that are turned over to be deep in a list.
const TURNED: usize = 20;

/// A page by the name of its figure.
struct Page {
    name: &'static str,
    path: String,
}

pub(super) async fn measure(args: &BenchArgs, receiver: &Receiver) -> anyhow::Result<Comparison> {
    let asked_for = Some(args.database.finished).filter(|attempts| *attempts > 0);
    let attempts = args.size_of(asked_for.unwrap_or(ATTEMPTS_DEFAULT), ATTEMPTS_QUICK);
    // Declared first and so dropped last: the gateway must be gone before its directory is.
    let home = Scratch::create(args.work_dir.as_deref())?;
    let gateway = Gateway::start(home.path(), &args.gateway_args).await?;
    sample::live(args, &gateway, receiver).await?;
    gateway.stop().await?;
    let history = history::fill(&home.path().join("data"), attempts).await?;
    let gateway = Gateway::start(home.path(), &args.gateway_args).await?;
    let api = Api::new(gateway.address(), Some(Gateway::ADMIN_KEY))?;
    let visitor = Visitor::sign_in(gateway.address(), Gateway::ADMIN_KEY).await?;
    let ready = milliseconds(u64::try_from(gateway.ready_after().as_micros())?);
    let mut figures = vec![Figure { name: "the gateway ready after", without: Some(ready), with: None }];
    let (mut first, mut again, mut largest) = (Latency::new(), Latency::new(), 0);
    for Page { name, path } in pages(&api, &history.long_ago).await? {
        let cold = visitor.open(&path).await?;
        let mut warm = Latency::new();
        for _ in 0..TIMES {
            warm.record_ns(visitor.open(&path).await?.took_ns);
        }
        progress!(
            "  {name}: {:.1} ms, then {:.1} ms",
            float(cold.took_ns) / 1e6,
            milliseconds(warm.p50_us())
        );
        figures.push(Figure::both(name, float(cold.took_ns) / 1e6, milliseconds(warm.p50_us())));
        first.record_ns(cold.took_ns);
        again.record_ns(warm.p50_us() * 1000);
        largest = largest.max(cold.bytes);
    }
    let goals = vec![
        Goal::at_most("kB of the largest page", float(largest) / 1000.0, PAGE_KB_MAX),
        Goal::at_most("ms of the slowest page, first", milliseconds(first.max_us()), PAGE_MS_MAX),
        Goal::at_most("ms of the slowest page, again", milliseconds(again.max_us()), PAGE_MS_MAX),
    ];
    Ok(Comparison::new("pages", title(&history), ["first ms", "again ms"], figures, goals))
}

fn title(history: &History) -> String {
    let History { events, attempts, dead_letters, bytes, segments, .. } = history;
    format!(
        "Pages: {} attempts of {} events, {} dead letters, {:.1} GB in {segments} segments",
        number(*attempts),
        number(*events),
        number(*dead_letters),
        float(*bytes) / 1e9
    )
}

/// All pages that look into history, lists with each of their filters, and those of the configuration.
async fn pages(api: &Api, long_ago: &str) -> anyhow::Result<Vec<Page>> {
    let newest = first_of(api, "/v1/events?limit=1").await?;
    let old = first_of(api, &format!("/v1/events?limit=1&until={long_ago}")).await?;
    let letter = first_of(api, "/v1/dead-letters?limit=1").await?;
    let (healthy, failing) =
        (text(&newest["deliveries"][0], "destination_id")?, text(&letter, "destination_id")?);
    let deep = turned(api, "/v1/events").await?;
    let deep_letters = turned(api, "/v1/dead-letters").await?;
    let page = |name, path: &str| Page { name, path: path.to_owned() };
    let mut pages = vec![page("overview", "/"), page("events", "/events")];
    pages.extend(deep.map(|cursor| page("events, 20 pages on", &format!("/events?cursor={cursor}"))));
    pages.extend([
        page("events of a type", "/events?event_type=order.paid"),
        page("events of a rare type", "/events?event_type=invoice.*"),
        page("events of no such type", "/events?event_type=nothing.like.it"),
        page("events delivered", "/events?status=delivered"),
        page("events given up on", "/events?status=dead_letter"),
        page("events queued, of which there are none", "/events?status=queued"),
        page("events of a source", &format!("/events?source_id={}", text(&letter, "source_id")?)),
        page("events to a destination", &format!("/events?destination_id={healthy}")),
        page("events until three days ago", &format!("/events?until={long_ago}")),
        page("events with a text", "/events?text=amount"),
        page("events with a text that none has", "/events?text=nothing-like-it"),
        page("an event", &format!("/events/{}", text(&newest, "id")?)),
        page("an event of three days ago", &format!("/events/{}", text(&old, "id")?)),
        page("deliveries", "/deliveries"),
        page(
            "deliveries to a destination, given up on",
            &format!("/deliveries?destination_id={failing}&status=dead_letter"),
        ),
        page("destinations", "/destinations"),
        page("a destination", &format!("/destinations/{healthy}")),
        page("a destination that fails", &format!("/destinations/{failing}")),
        page("dead letters", "/dead-letters"),
    ]);
    pages.extend(
        deep_letters
            .map(|cursor| page("dead letters, 20 pages on", &format!("/dead-letters?cursor={cursor}"))),
    );
    pages.extend([
        page("dead letters of a destination", &format!("/dead-letters?destination_id={failing}")),
        page("dead letters of no such type", "/dead-letters?event_type=nothing.like.it"),
        page("sources", "/sources"),
        page("routes", "/routes"),
        page("accounts", "/accounts"),
        page("audit log", "/audit"),
        page("settings", "/settings"),
    ]);
    Ok(pages)
}

async fn first_of(api: &Api, path: &str) -> anyhow::Result<Value> {
    let page: Value = api.get(path).await?;
    let items = &page["data"]["items"];
    items.get(0).cloned().with_context(|| format!("{path} shows nothing: {page}"))
}

/// The place so many pages on; none where a list is shorter.
async fn turned(api: &Api, list: &str) -> anyhow::Result<Option<String>> {
    let mut place = None;
    for _ in 0..TURNED {
        let cursor = place.map(|cursor| format!("&cursor={cursor}")).unwrap_or_default();
        let page: Value = api.get(&format!("{list}?limit=50{cursor}")).await?;
        let Some(next) = page["data"]["next_cursor"].as_str() else { return Ok(None) };
        place = Some(next.to_owned());
    }
    Ok(place)
}

fn text(object: &Value, field: &str) -> anyhow::Result<String> {
    let found = object[field].as_str().with_context(|| format!("no {field} in {object}"))?;
    Ok(found.to_owned())
}
