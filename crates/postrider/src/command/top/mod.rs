//! `postrider top`: destinations by their backlog, live, with keys to pause, resume and tell circuits.

mod keys;
mod view;

use self::keys::{HELP, Key, Wish};
pub(crate) use self::view::{Frame, draw};
use super::{Reading, Run, id, items, text};
use crate::client::Client;
use crate::terminal::{say, say_json};
use anyhow::Context as _;
use clap::Args;
use ratatui::crossterm::event::{self, Event};
use serde_json::{Value, json};
use std::io::IsTerminal as _;
use std::time::{Duration, Instant};

/// Between two looks at the gateway.
const LOOK: Duration = Duration::from_secs(1);

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

    pub(crate) fn sort(self, destinations: &mut [Value]) {
        match self {
            Order::Pending => destinations.sort_by_key(|one| std::cmp::Reverse(one["pending"].as_u64())),
            Order::InFlight => destinations.sort_by_key(|one| std::cmp::Reverse(one["in_flight"].as_u64())),
            Order::Name => destinations.sort_by(|one, other| text(&one["name"]).cmp(text(&other["name"]))),
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
            let frame = Frame {
                destinations: items(&first),
                head: Vec::new(),
                order: Order::Pending,
                selected: 0,
                keys: HELP,
            };
            return say(&frame.text());
        }
        let mut terminal = ratatui::try_init().context("take the terminal over")?;
        let done = Live::new(&client).run(&mut terminal);
        ratatui::restore();
        done
    }
}

fn look(client: &Client) -> anyhow::Result<Value> {
    client.read("/v1/destinations", &[])
}

struct Live<'a> {
    client: &'a Client,
    destinations: Vec<Value>,
    order: Order,
    selected: usize,
    /// What the last key did, or why it did not.
    note: String,
}

impl<'a> Live<'a> {
    fn new(client: &'a Client) -> Self {
        Live { client, destinations: Vec::new(), order: Order::Pending, selected: 0, note: String::new() }
    }

    fn run(&mut self, terminal: &mut ratatui::DefaultTerminal) -> anyhow::Result<()> {
        let mut looked_at = None::<Instant>;
        loop {
            if looked_at.is_none_or(|at| at.elapsed() >= LOOK) {
                self.look();
                looked_at = Some(Instant::now());
            }
            let head = vec![format!("{} destinations  {}", self.destinations.len(), self.note)];
            let frame = Frame {
                destinations: &self.destinations,
                head,
                order: self.order,
                selected: self.selected,
                keys: HELP,
            };
            terminal.draw(|screen| draw(screen, &frame)).context("draw")?;
            if event::poll(LOOK / 4).context("wait for a key")?
                && let Event::Key(key) = event::read().context("read a key")?
            {
                match Key::of(key) {
                    Key::Quit => return Ok(()),
                    Key::Up => self.selected = self.selected.saturating_sub(1),
                    Key::Down => {
                        self.selected = (self.selected + 1).min(self.destinations.len().saturating_sub(1));
                    }
                    Key::Sort => self.order = self.order.next(),
                    Key::Wish(wish) => {
                        self.tell(wish);
                        looked_at = None;
                    }
                    Key::Other => {}
                }
                self.order.sort(&mut self.destinations);
            }
        }
    }

    /// A gateway that is away for a moment is no reason to end.
    fn look(&mut self) {
        match look(self.client) {
            Ok(listed) => {
                self.destinations = items(&listed).to_vec();
                self.order.sort(&mut self.destinations);
                self.selected = self.selected.min(self.destinations.len().saturating_sub(1));
            }
            Err(error) => self.note = format!("{error:#}"),
        }
    }

    fn tell(&mut self, wish: Wish) {
        let Some(one) = self.destinations.get(self.selected) else { return };
        let (call, body) = match wish {
            Wish::Pause => ("pause", json!({})),
            Wish::Resume => ("resume", json!({})),
            Wish::Open => ("circuit", json!({ "state": "open" })),
            Wish::Close => ("circuit", json!({ "state": "closed" })),
        };
        let told = id(text(&one["id"]))
            .and_then(|id| self.client.post(&format!("/v1/destinations/{id}/{call}"), &body)?.data());
        self.note = match told {
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
