//! `postrider demo`: a gateway, five receivers of which four misbehave, and a steady load, to look at for a while.
//! All of it is on this machine and gone afterwards.

mod figures;
mod healthy;
mod load;
mod losses;
mod site;
mod stage;

use self::figures::{Course, Figures};
use self::stage::Stage;
use crate::command::{Frame, Order, draw};
use crate::terminal::{Interruption, say, say_json};
use anyhow::Context as _;
use clap::Args;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyModifiers};
use ratatui::widgets::TableState;
use std::io::IsTerminal as _;
use std::time::{Duration, Instant};

/// Without a terminal nobody ends it by a key.
const SECONDS_DEFAULT: u64 = 20;
const LOOK: Duration = Duration::from_millis(250);

#[derive(Args)]
pub(crate) struct DemoArgs {
    /// Stop after this many seconds and print a summary [default: until q; 20 without a terminal]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(4..=86_400))]
    seconds: Option<u64>,
    /// Events per second
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=5_000))]
    rate: u32,
    /// Print only the final figures, as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &DemoArgs) -> anyhow::Result<()> {
    let is_watched = !args.json && std::io::stdout().is_terminal() && std::io::stdin().is_terminal();
    let seconds = args.seconds.or((!is_watched).then_some(SECONDS_DEFAULT));
    let interrupted = Interruption::watch()?;
    let mut stage = Stage::set(args.rate)?;
    if !args.json {
        say(&stage.welcome())?;
    }
    let end = seconds.map(Duration::from_secs);
    let played = if is_watched {
        let mut terminal = ratatui::try_init().context("take the terminal over")?;
        let played = play(&mut stage, end, &interrupted, |frame| {
            terminal.draw(|screen| draw(screen, frame, &mut TableState::default())).context("draw")?;
            wants_end()
        });
        ratatui::restore();
        played
    } else {
        play(&mut stage, end, &interrupted, |_| {
            std::thread::sleep(LOOK);
            Ok(false)
        })
    };
    let course = played?;
    let figures: Figures = stage.end()?;
    let said = if args.json { say_json(&figures.json()) } else { say(&figures.text()) };
    said?;
    figures.verdict(course)
}

/// Shows it until its time is over or somebody has seen enough.
fn play(
    stage: &mut Stage,
    end: Option<Duration>,
    interrupted: &Interruption,
    mut show: impl FnMut(&Frame<'_>) -> anyhow::Result<bool>,
) -> anyhow::Result<Course> {
    let began = Instant::now();
    loop {
        let elapsed = began.elapsed();
        if end.is_some_and(|end| elapsed >= end) {
            return Ok(Course::Whole);
        }
        if interrupted.is_set() {
            return Ok(Course::CutShort);
        }
        let mut destinations = stage.destinations()?;
        Order::Name.sort(&mut destinations);
        let frame = Frame {
            destinations: &destinations,
            head: stage.head(elapsed),
            order: Order::Name,
            keys: "q quit",
        };
        if show(&frame)? {
            return Ok(Course::CutShort);
        }
    }
}

/// Whether a key was pressed that ends it.
fn wants_end() -> anyhow::Result<bool> {
    if !event::poll(LOOK).context("wait for a key")? {
        return Ok(false);
    }
    let Event::Key(key) = event::read().context("read a key")? else { return Ok(false) };
    Ok(ends(key))
}

fn ends(key: KeyEvent) -> bool {
    match key.code {
        KeyCode::Char('q') | KeyCode::Esc => true,
        // A terminal in raw mode sends no signal for it.
        KeyCode::Char('c') => key.modifiers.contains(KeyModifiers::CONTROL),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_ends_by_the_key_that_is_shown_and_by_those_that_end_everything() {
        let check = |code, modifiers, expected| {
            assert_eq!(ends(KeyEvent::new(code, modifiers)), expected, "{modifiers:?} {code:?}");
        };
        check(KeyCode::Char('q'), KeyModifiers::NONE, true);
        check(KeyCode::Esc, KeyModifiers::NONE, true);
        check(KeyCode::Char('c'), KeyModifiers::CONTROL, true);
        check(KeyCode::Char('c'), KeyModifiers::NONE, false);
        check(KeyCode::Char('x'), KeyModifiers::NONE, false);
    }
}
