//! `postrider top`: destinations by their backlog, live, with keys to pause, resume and tell circuits.

mod caller;
mod keys;
mod view;

use self::caller::{Answer, Call, Caller};
use self::keys::{HELP, Key, Wish};
pub(crate) use self::view::{Frame, draw};
use super::{Reading, Run, id, items, text};
use crate::client::Client;
use crate::terminal::{counted, say, say_json};
use anyhow::Context as _;
use clap::Args;
use ratatui::crossterm::event::{self, Event};
use ratatui::widgets::TableState;
use serde_json::{Value, json};
use std::io::IsTerminal as _;
use std::time::{Duration, Instant};

/// Between two looks at the gateway.
const LOOK: Duration = Duration::from_secs(1);
/// Between two looks at what was answered, while no key is pressed.
const KEY_WAIT: Duration = Duration::from_millis(100);

#[derive(Args)]
pub(crate) struct TopArgs {
    #[command(flatten)]
    reading: Reading,
}

/// What the list is ordered by.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    Pending,
    InFlight,
    Name,
}

impl Order {
    fn next(self) -> Order {
        match self {
            Order::Pending => Order::InFlight,
            Order::InFlight => Order::Name,
            Order::Name => Order::Pending,
        }
    }

    /// Those that are alike stand by their names, so that they keep their places from look to look.
    pub(crate) fn sort(self, destinations: &mut [Value]) {
        destinations.sort_by(|one, other| text(&one["name"]).cmp(text(&other["name"])));
        match self {
            Order::Pending => destinations.sort_by_key(|one| std::cmp::Reverse(one["pending"].as_u64())),
            Order::InFlight => destinations.sort_by_key(|one| std::cmp::Reverse(one["in_flight"].as_u64())),
            Order::Name => {}
        }
    }
}

impl Run for TopArgs {
    /// Without a terminal: what it would show, once.
    fn run(&self) -> anyhow::Result<()> {
        let client = self.reading.client()?;
        let first = look(&client)?;
        if self.reading.json {
            return say_json(&first);
        }
        if !std::io::stdout().is_terminal() || !std::io::stdin().is_terminal() {
            let frame =
                Frame { destinations: items(&first), head: Vec::new(), order: Order::Pending, keys: HELP };
            return say(&frame.text());
        }
        let mut terminal = ratatui::try_init().context("take the terminal over")?;
        let done = Caller::start(client)
            .context("start a thread")
            .and_then(|caller| Live::new(caller).run(&mut terminal));
        ratatui::restore();
        done
    }
}

fn look(client: &Client) -> anyhow::Result<Value> {
    client.read("/v1/destinations", &[])
}

struct Live {
    caller: Caller,
    destinations: Vec<Value>,
    order: Order,
    /// The id of the one that keys are about: places in the list change from look to look.
    chosen: Option<String>,
    /// How far the list is scrolled, and the place of the one that is chosen.
    table: TableState,
    /// What the last key did, or why it did not.
    note: String,
    /// Why the last look failed.
    away: Option<String>,
}

impl Live {
    fn new(caller: Caller) -> Self {
        Live {
            caller,
            destinations: Vec::new(),
            order: Order::Pending,
            chosen: None,
            table: TableState::default(),
            note: String::new(),
            away: None,
        }
    }

    fn run(&mut self, terminal: &mut ratatui::DefaultTerminal) -> anyhow::Result<()> {
        let mut looked_at = None::<Instant>;
        loop {
            while let Some(answer) = self.caller.answer() {
                match answer {
                    Answer::Looked(listed) => self.looked(listed),
                    Answer::Told(now) => {
                        self.told(now);
                        looked_at = None;
                    }
                }
            }
            if self.caller.is_idle() && looked_at.is_none_or(|at| at.elapsed() >= LOOK) {
                self.caller.call(Call::Look);
                looked_at = Some(Instant::now());
            }
            self.show(terminal)?;
            if event::poll(KEY_WAIT).context("wait for a key")?
                && let Event::Key(key) = event::read().context("read a key")?
            {
                match Key::of(key) {
                    Key::Quit => return Ok(()),
                    Key::Up => self.choose(|place| place.saturating_sub(1)),
                    Key::Down => self.choose(|place| place + 1),
                    Key::Sort => {
                        self.order = self.order.next();
                        self.put_in_order();
                    }
                    Key::Wish(wish) => self.tell(wish),
                    Key::Other => {}
                }
            }
        }
    }

    fn show(&mut self, terminal: &mut ratatui::DefaultTerminal) -> anyhow::Result<()> {
        let destinations = counted(self.destinations.len() as u64, "destination");
        let said = self.caller.silence().or_else(|| self.away.clone()).unwrap_or_else(|| self.note.clone());
        let head = vec![format!("{destinations}  {said}")];
        let frame = Frame { destinations: &self.destinations, head, order: self.order, keys: HELP };
        terminal.draw(|screen| draw(screen, &frame, &mut self.table)).context("draw")?;
        Ok(())
    }

    /// A gateway that is away for a moment is no reason to end.
    fn looked(&mut self, listed: anyhow::Result<Value>) {
        match listed {
            Ok(listed) => {
                let is_first = self.destinations.is_empty();
                self.destinations = items(&listed).to_vec();
                self.away = None;
                self.put_in_order();
                if is_first {
                    self.choose(|_| 0);
                }
            }
            Err(error) => self.away = Some(format!("{error:#}")),
        }
    }

    /// The one that is chosen stays so, wherever it stands now. When it is gone none is: a key that was meant for it must
    /// not be about another.
    fn put_in_order(&mut self) {
        self.order.sort(&mut self.destinations);
        let is_chosen = |one: &Value| self.chosen.as_deref() == Some(text(&one["id"]));
        let place = self.destinations.iter().position(is_chosen);
        self.table.select(place);
        if place.is_none() {
            self.chosen = None;
        }
    }

    /// By its place, seen from the one that is chosen now.
    fn choose(&mut self, place: impl FnOnce(usize) -> usize) {
        let place = self.table.selected().map_or(self.table.offset(), place);
        let place = place.min(self.destinations.len().saturating_sub(1));
        let chosen = self.destinations.get(place);
        self.chosen = chosen.map(|one| text(&one["id"]).to_owned());
        self.table.select(chosen.map(|_| place));
    }

    fn tell(&mut self, wish: Wish) {
        let Some(chosen) = &self.chosen else {
            self.note = "none selected; select one with ↑ or ↓".to_owned();
            return;
        };
        let (call, body) = match wish {
            Wish::Pause => ("pause", json!({})),
            Wish::Resume => ("resume", json!({})),
            Wish::Open => ("circuit", json!({ "state": "open" })),
            Wish::Close => ("circuit", json!({ "state": "closed" })),
        };
        match id(chosen) {
            Ok(id) => self.caller.call(Call::Tell { path: format!("/v1/destinations/{id}/{call}"), body }),
            Err(error) => self.note = format!("{error:#}"),
        }
    }

    fn told(&mut self, now: anyhow::Result<Value>) {
        self.note = match now {
            Ok(now) => format!(
                "{} is {}, its circuit {}",
                text(&now["name"]),
                text(&now["status"]),
                text(&now["circuit_state"])
            ),
            Err(error) => format!("{error:#}"),
        };
    }
}
