//! What it costs to hold a text against a pattern, by the states of its automaton: at worst each of them is visited for
//! each byte.

use super::keywords::TextPrice;
use jsonschema::PatternOptions;
use jsonschema_regex::{PatternAnalysis, analyze_pattern};
use regex_automata::nfa::thompson::{Compiler, Config};

/// Largest program that a pattern may become.
const PATTERN_BYTES_MAX: usize = 128 * 1024;
/// States of one whose automaton cannot be looked at: more than fit into that size.
const STATES_MAX: usize = 16 * 1024;

/// Patterns are matched in linear time, by programs of bounded size.
pub(super) fn options() -> PatternOptions<jsonschema::Regex> {
    PatternOptions::regex().size_limit(PATTERN_BYTES_MAX)
}

pub(super) fn price(pattern: &str) -> TextPrice {
    // Those that are no more than a comparison are not compiled.
    let alternatives = match analyze_pattern(pattern) {
        None => return price_of_states(states(pattern)),
        Some(PatternAnalysis::Alternation(alternatives)) => alternatives.len(),
        Some(PatternAnalysis::Prefix(_) | PatternAnalysis::Exact(_) | PatternAnalysis::NoWhitespace) => 1,
    };
    TextPrice { fixed: 4 + u64::try_from(alternatives / 4).unwrap_or(u64::MAX), sixteen_bytes: 8 }
}

/// A visit of a state takes about 5 ns.
fn price_of_states(states: usize) -> TextPrice {
    let states = u64::try_from(states).unwrap_or(u64::MAX);
    TextPrice { fixed: 20 + states / 2, sixteen_bytes: 8 * states }
}

fn states(pattern: &str) -> usize {
    let Ok(translated) = jsonschema_regex::to_rust_regex(pattern) else { return STATES_MAX };
    let config = Config::new().nfa_size_limit(Some(2 * PATTERN_BYTES_MAX));
    Compiler::new().configure(config).build(&translated).map_or(STATES_MAX, |nfa| nfa.states().len())
}
