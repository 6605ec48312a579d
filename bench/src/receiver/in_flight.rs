//! How many requests are at the receiver at once, path by path, and the most there have been.

use std::collections::BTreeMap;

/// As many as the tally tells apart; what else arrives is not counted here.
const PATHS_MAX: usize = 64;

#[derive(Debug, Default)]
pub(crate) struct InFlight(BTreeMap<String, Level>);

#[derive(Debug, Default)]
struct Level {
    now: u64,
    max: u64,
}

impl InFlight {
    pub(crate) fn enter(&mut self, path: &str) {
        if !self.0.contains_key(path) {
            if self.0.len() >= PATHS_MAX {
                return;
            }
            self.0.insert(path.to_owned(), Level::default());
        }
        let level = self.0.get_mut(path).expect("put there above where it was missing");
        level.now += 1;
        level.max = level.max.max(level.now);
    }

    pub(crate) fn leave(&mut self, path: &str) {
        if let Some(level) = self.0.get_mut(path) {
            level.now = level.now.saturating_sub(1);
        }
    }

    /// Forgets the most, not who is here: they will leave.
    pub(crate) fn clear(&mut self) {
        self.0.retain(|_, level| level.now > 0);
        self.0.values_mut().for_each(|level| level.max = level.now);
    }

    /// The most on one path, of those that begin like that.
    pub(crate) fn max_under(&self, under: &str) -> u64 {
        let paths = self.0.iter().filter(|(path, _)| path.starts_with(under));
        paths.map(|(_, level)| level.max).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_at_once_is_kept_path_by_path_until_it_is_cleared() {
        let mut in_flight = InFlight::default();
        for path in ["/a", "/a", "/b"] {
            in_flight.enter(path);
        }
        in_flight.leave("/a");
        in_flight.enter("/a");
        assert_eq!(
            (in_flight.max_under("/a"), in_flight.max_under("/b"), in_flight.max_under("/")),
            (2, 1, 2)
        );
        in_flight.leave("/a");
        in_flight.clear();
        assert_eq!(in_flight.max_under("/"), 1);
        in_flight.leave("/nobody");
    }

    #[test]
    fn the_map_of_paths_is_bounded() {
        let mut in_flight = InFlight::default();
        (0..1000).for_each(|n| in_flight.enter(&format!("/{n}")));
        assert_eq!(in_flight.0.len(), PATHS_MAX);
    }
}
