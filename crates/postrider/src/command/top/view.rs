//! The picture: a head, the destinations, and what the keys do. Names come from outside and are made clean.

use super::Order;
use crate::command::{shown, text, waits_for};
use crate::terminal::{Cell, Column, Screen, Table, Tone, clean};
use ratatui::layout::{Constraint, Layout};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Text};
use ratatui::widgets::{self, Row, TableState};
use serde_json::Value;

/// What is drawn.
pub(crate) struct Frame<'a> {
    pub(crate) destinations: &'a [Value],
    /// Lines above the list, of our own making.
    pub(crate) head: Vec<String>,
    pub(crate) order: Order,
    /// What the keys do, at the bottom.
    pub(crate) keys: &'static str,
}

const HEADS: [&str; 6] = ["DESTINATION", "STATUS", "CIRCUIT", "PENDING", "IN FLIGHT", "WAITS FOR"];

impl Frame<'_> {
    /// Without a terminal.
    pub(crate) fn text(&self) -> String {
        let columns =
            HEADS.map(|head| if head == "DESTINATION" { Column::Text(head) } else { Column::Whole(head) });
        let mut table = Table::new(&columns);
        for one in self.destinations {
            table.row(cells(one).map(|word| Cell::state(&word)).into());
        }
        table.text(Screen::of_stdout())
    }
}

/// `table` says which is chosen, and keeps how far the list is scrolled so that it is seen.
pub(crate) fn draw(screen: &mut ratatui::Frame<'_>, frame: &Frame<'_>, table: &mut TableState) {
    let head_lines = u16::try_from(frame.head.len()).unwrap_or(1);
    let parts = [Constraint::Length(head_lines), Constraint::Min(2), Constraint::Length(1)];
    let [head, list, foot] = Layout::vertical(parts).areas(screen.area());
    let lines: Vec<Line<'_>> = frame.head.iter().map(|line| Line::from(clean(line))).collect();
    screen.render_widget(Text::from(lines), head);
    screen.render_stateful_widget(destinations(frame), list, table);
    screen.render_widget(Line::from(frame.keys).style(Style::new().add_modifier(Modifier::DIM)), foot);
}

fn destinations<'a>(frame: &Frame<'_>) -> widgets::Table<'a> {
    let sorted = match frame.order {
        Order::Name => "DESTINATION",
        Order::Pending => "PENDING",
        Order::InFlight => "IN FLIGHT",
    };
    let heads = HEADS.map(|head| {
        let modifier = if head == sorted { Modifier::BOLD | Modifier::UNDERLINED } else { Modifier::BOLD };
        widgets::Cell::from(head).style(Style::new().add_modifier(modifier))
    });
    let rows = frame.destinations.iter().map(|one| {
        Row::new(cells(one).map(|word| widgets::Cell::from(clean(&word)).style(style(Tone::of(&word)))))
    });
    let name = frame.destinations.iter().map(|one| text(&one["name"]).len()).max().unwrap_or(11);
    let name = u16::try_from(name.clamp(11, 40)).unwrap_or(40);
    let widths = [name, 9, 10, 9, 10, 14].map(Constraint::Length);
    let chosen = Style::new().add_modifier(Modifier::REVERSED);
    widgets::Table::new(rows, widths).header(Row::new(heads)).column_spacing(2).row_highlight_style(chosen)
}

/// Below [`HEADS`].
fn cells(one: &Value) -> [String; 6] {
    let [name, status, circuit, pending, in_flight] =
        ["name", "status", "circuit_state", "pending", "in_flight"].map(|field| shown(&one[field]));
    [name, status, circuit, pending, in_flight, waits_for(one)]
}

fn style(tone: Tone) -> Style {
    match tone {
        Tone::Good => Style::new().fg(Color::Green),
        Tone::Waiting => Style::new().fg(Color::Yellow),
        Tone::Bad => Style::new().fg(Color::Red),
        Tone::Plain | Tone::Head => Style::new(),
    }
}
