//! An operator who pauses, resumes and changes limits while everything else happens.

use super::Shared;
use super::plan::Deck;
use crate::history::Limit;
use crate::rig::random::Random;
use crate::stage;
use serde_json::json;
use std::time::Duration;

#[derive(Clone, Copy)]
enum Deed {
    Pause,
    Lower,
    Raise,
}

pub(super) fn strike(shared: &Shared, mut random: Random) -> anyhow::Result<()> {
    let mut deeds = Deck::of(&[Deed::Pause, Deed::Lower, Deed::Raise]);
    while !shared.is_over() {
        let (deed, destination) = (deeds.draw(&mut random), random.below(stage::paths().len()));
        let usual = shared.stage.usual_limit(destination);
        let lasts = random.between(Duration::from_secs(2), Duration::from_secs(6));
        match deed {
            Deed::Pause => pause(shared, destination, lasts)?,
            Deed::Lower => change(shared, destination, 1, lasts)?,
            // One at a time is waited out after a crash only by whoever is told of it before.
            Deed::Raise if usual > 1 => change(shared, destination, usual * 2, lasts)?,
            Deed::Raise => {}
        }
        shared.pass(random.between(Duration::from_millis(500), Duration::from_secs(2)));
    }
    Ok(())
}

fn pause(shared: &Shared, destination: usize, lasts: Duration) -> anyhow::Result<()> {
    let path = format!("/v1/destinations/{}", shared.stage.ids[destination]);
    let api = shared.stage.api_of(destination);
    shared.does(&format!("pause {}", stage::paths()[destination]));
    api.call("POST", &format!("{path}/pause"), &json!({}))?;
    limit(shared, destination, 0);
    shared.pass(lasts);
    limit(shared, destination, shared.stage.usual_limit(destination));
    api.call("POST", &format!("{path}/resume"), &json!({}))?;
    Ok(())
}

/// What is lower holds once it was answered, what is higher before it was asked for.
fn change(shared: &Shared, destination: usize, to: u32, lasts: Duration) -> anyhow::Result<()> {
    let path = format!("/v1/destinations/{}", shared.stage.ids[destination]);
    let api = shared.stage.api_of(destination);
    let usual = shared.stage.usual_limit(destination);
    shared.does(&format!("max_concurrency of {} is {to}", stage::paths()[destination]));
    if to > usual {
        limit(shared, destination, to);
    }
    api.call("PATCH", &path, &json!({ "max_concurrency": to }))?;
    if to < usual {
        limit(shared, destination, to);
    }
    shared.pass(lasts);
    if to < usual {
        limit(shared, destination, usual);
    }
    api.call("PATCH", &path, &json!({ "max_concurrency": usual }))?;
    if to > usual {
        limit(shared, destination, usual);
    }
    Ok(())
}

fn limit(shared: &Shared, destination: usize, max_concurrency: u32) {
    shared.stage.limit(destination, Limit { from: shared.watch.now(), max_concurrency });
}
