//! The scenarios by name, and which of them a command line asks for.

use clap::ValueEnum;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScenarioName {
    /// Maximum throughput, against a bare forwarder (--rounds)
    Throughput,
    /// A large backlog for a destination that is down (--pending)
    Backlog,
    /// One of twenty destinations never responds
    Hanging,
    /// Ten thousand retries come due at once
    Storm,
    /// One critical event at a time during a large bulk backlog
    Critical,
    /// One account floods, another sends a trickle
    Flood,
    /// Destinations that fail and stall at random, as in waford's own load test
    Chaos,
    /// A destination recovers from an outage
    Herd,
    /// More events arrive than the backlog may hold
    Overload,
    /// Ingest only, against a server that responds 202 and stores nothing (--rounds)
    Ingest,
    /// Maximum throughput, against nginx as a proxy, which must be installed (--rounds)
    Nginx,
    /// Latency at half of the maximum throughput
    HalfLoad,
    /// Maximum throughput with and without traces, metrics and queries
    Watched,
    /// The metrics of a gateway with 100,000 destinations, idle and while it delivers
    Scrape,
    /// The dashboard's pages on a store with many attempts (--finished)
    Pages,
    /// All of them; backlog only if --pending is given
    All,
}

/// What the command line asks for, each once, in the order of the list above.
pub(crate) fn asked_for(
    named: &[ScenarioName],
    rounds: u32,
    pending: u64,
) -> anyhow::Result<Vec<ScenarioName>> {
    let chosen = |name: &ScenarioName| match (name, named) {
        (ScenarioName::All, _) => false,
        (ScenarioName::Throughput, []) => rounds > 0,
        (ScenarioName::Backlog, []) => pending > 0,
        (_, []) => false,
        (ScenarioName::Backlog, _) if named.contains(&ScenarioName::All) => pending > 0,
        _ => named.contains(name) || named.contains(&ScenarioName::All),
    };
    let chosen: Vec<ScenarioName> = ScenarioName::value_variants().iter().copied().filter(chosen).collect();
    anyhow::ensure!(!chosen.is_empty(), "nothing to do: --rounds 0 and no --pending");
    let has = |name| chosen.contains(&name);
    anyhow::ensure!(
        rounds > 0 || !has(ScenarioName::Throughput),
        "--scenario throughput needs --rounds 1 or more"
    );
    anyhow::ensure!(
        pending > 0 || !has(ScenarioName::Backlog),
        "--scenario backlog needs --pending 1 or more"
    );
    Ok(chosen)
}

#[cfg(test)]
mod tests {
    use super::ScenarioName::*;
    use super::*;

    #[test]
    fn without_a_name_rounds_and_pending_decide() {
        let check = |rounds, pending, expected: &[ScenarioName]| {
            assert_eq!(asked_for(&[], rounds, pending).expect("something to do"), expected);
        };
        check(3, 0, &[Throughput]);
        check(0, 9, &[Backlog]);
        check(3, 9, &[Throughput, Backlog]);
        assert!(asked_for(&[], 0, 0).is_err());
    }

    #[test]
    fn named_scenarios_run_once_each_and_in_order() {
        assert_eq!(asked_for(&[Storm, Hanging, Storm], 3, 9).expect("legal"), [Hanging, Storm]);
        let others = [
            Hanging, Storm, Critical, Flood, Chaos, Herd, Overload, Ingest, Nginx, HalfLoad, Watched, Scrape,
            Pages,
        ];
        assert_eq!(asked_for(&[All], 3, 0).expect("legal"), [&[Throughput][..], &others].concat());
        assert_eq!(asked_for(&[All, Herd], 3, 9).expect("legal").len(), 15);
    }

    #[test]
    fn a_scenario_without_its_size_is_refused() {
        assert!(asked_for(&[Throughput], 0, 9).is_err());
        assert!(asked_for(&[Backlog], 3, 0).is_err());
        assert!(asked_for(&[All], 0, 0).is_err());
    }
}
