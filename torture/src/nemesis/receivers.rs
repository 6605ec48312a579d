//! Bad days of receivers, one destination after the other.

use super::Shared;
use super::plan::Deck;
use crate::rig::random::Random;
use crate::sink::Mood;
use crate::stage;
use std::time::Duration;

pub(super) fn strike(shared: &Shared, mut random: Random) -> anyhow::Result<()> {
    let mut moods = Deck::of(&Mood::ALL);
    let paths = stage::paths();
    while !shared.is_over() {
        let (mood, destination) = (moods.draw(&mut random), random.below(paths.len()));
        shared.does(&format!("{} {mood:?}", paths[destination]));
        shared.sink.set_mood(destination, Some(mood));
        shared.pass(random.between(Duration::from_secs(1), Duration::from_secs(4)));
        shared.sink.set_mood(destination, None);
        shared.pass(random.between(Duration::from_millis(100), Duration::from_secs(1)));
    }
    Ok(())
}
