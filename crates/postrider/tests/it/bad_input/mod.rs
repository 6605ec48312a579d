//! Input that is wrong gets one clear sentence that names what is wrong. It never breaks anything.

mod bodies;
mod crowds;
mod drips;
mod fields;
mod framing;
mod half_closed;
mod heads;
mod hoards;
mod ids;
mod json;
mod parameters;
mod refused_bodies;
mod schemas;
mod settings;
mod smuggling;

use crate::rig::usage::{GROWTH_BYTES_MAX, Usage};
use crate::rig::{Answer, Api, Gateway};
use serde_json::{Value, json};

/// The rows of a table that were not refused as they should be, so that one run shows them all.
#[derive(Default)]
struct Faults(Vec<String>);

impl Faults {
    /// An answer must be one of the refusals for bad input, with a sentence that names this.
    fn check(&mut self, answer: &Answer, names: &str, input: &str) {
        let fault = match answer.sentence() {
            _ if ![400, 404, 413, 422].contains(&answer.status) => "not refused",
            Err(fault) => fault,
            Ok(sentence) if !sentence.contains(names) => "does not name it",
            Ok(sentence) if sentence.chars().count() > 600 => "as long as the input",
            Ok(_) => return,
        };
        let short = |text: String| text.chars().take(200).collect::<String>();
        self.0.push(format!("{fault}: {} ({names}): {}", short(input.to_owned()), short(answer.to_string())));
    }
}

impl Drop for Faults {
    fn drop(&mut self) {
        let failing = std::thread::panicking();
        assert!(failing || self.0.is_empty(), "{} to put right:\n{}", self.0.len(), self.0.join("\n"));
    }
}

/// What there is; refused input changes nothing of it.
fn everything(api: &Api) -> Value {
    let paths =
        ["accounts", "api-keys", "sources", "destinations", "routes", "events", "dead-letters", "replays"];
    paths.iter().map(|path| api.get(&format!("/v1/{path}")).data(200)).collect()
}

/// No table has more connections open at once than 200; the rest is what the store opens meanwhile.
const DESCRIPTORS_MORE_MAX: usize = 230;

/// Runs a table of refusals: it costs no memory and no descriptors, and afterwards the gateway still runs, nothing was made,
/// and nothing was logged as a fault.
fn check_unharmed(gateway: &mut Gateway, table: impl FnOnce(&Api, &mut Faults)) {
    check_unharmed_within(gateway, GROWTH_BYTES_MAX, table);
}

/// The same of a table whose requests may take more memory.
fn check_unharmed_within(
    gateway: &mut Gateway,
    growth_bytes_max: u64,
    table: impl FnOnce(&Api, &mut Faults),
) {
    let (api, mut faults) = (gateway.api(), Faults::default());
    let before = everything(&api);
    let ((), usage) = Usage::during(gateway, || table(&api, &mut faults));
    drop(faults);
    usage.check_within(growth_bytes_max, DESCRIPTORS_MORE_MAX);
    assert!(gateway.is_running(), "{}", gateway.err());
    assert_eq!(everything(&api), before, "something was half made");
    assert!(!gateway.err().contains("panicked"), "{}", gateway.err());
    let (_, path) = api.source();
    api.post(&path, &json!({})).data(202);
}
