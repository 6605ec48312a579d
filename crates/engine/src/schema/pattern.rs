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

/// A class that is compared without regard to case is so many times as expensive to compile: 3 ms.
const FOLDED_COST: usize = 45;

/// What the classes of characters of a pattern cost to compile, each as much as one of Unicode. Ten thousand of them fit
/// into a schema, and took 44 s.
pub(super) fn class_cost(pattern: &str) -> usize {
    let pairs = || pattern.as_bytes().windows(2);
    let classes = pairs().filter(|pair| pair[0] == b'\\' && b"pPwWdDsSbB".contains(&pair[1])).count();
    let sets = pattern.bytes().filter(|byte| *byte == b'[').count();
    let is_folded = pattern.split("(?").skip(1).any(|behind| {
        let flags = behind.split(|letter: char| !letter.is_ascii_alphabetic()).next();
        flags.is_some_and(|flags| flags.contains('i'))
    });
    (classes + sets) * if is_folded { FOLDED_COST } else { 1 }
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
