//! An example for each verb of each kind: the verbs are the same for all, what one would do with them is not.

use super::Kind;
use clap::Command;

/// The verb with its example, unless it has one.
pub(super) fn shown(verb: Command, kind: Kind) -> Command {
    let has_one = verb.get_after_help().is_some();
    match example(kind, verb.get_name()).filter(|_| !has_one) {
        Some(words) => {
            let command = format!("Example:\n  postrider {} {} {words}", kind.word(), verb.get_name());
            verb.after_help(command.trim_end().to_owned())
        }
        None => verb,
    }
}

/// What stands behind the verb.
fn example(kind: Kind, verb: &str) -> Option<&'static str> {
    let [named, create, edit] = match kind {
        Kind::Destination => [
            "billing",
            "name=billing url=https://billing.example.com/hooks max_concurrency:=10",
            "billing max_concurrency:=5 circuit.threshold:=3",
        ],
        Kind::Source => [
            "shop",
            "name=shop provider=stripe verification_config.secret=@stripe-secret",
            "shop status=inactive",
        ],
        Kind::Route => [
            "rte_01hz3k8q2v4xw",
            "destination_id=billing 'event_type_pattern=payment.*' priority:=1",
            "rte_01hz3k8q2v4xw priority:=2 filter:=null",
        ],
        Kind::Account => ["acme", "name=acme weight:=2", "acme weight:=4 max_pending:=100000"],
        Kind::Key => {
            ["ci", "name=ci scope=read expires_in_seconds:=86400", "ci expires_at=2027-01-31T12:00:00Z"]
        }
    };
    match verb {
        "list" => Some(""),
        "create" => Some(create),
        "edit" => Some(edit),
        "show" | "delete" | "pause" | "resume" | "test" => Some(named),
        _ => None,
    }
}
