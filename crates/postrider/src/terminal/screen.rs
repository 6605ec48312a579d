//! The terminal, if there is one: how wide it is, and whether it shows colours.

use std::io::IsTerminal as _;

/// Where the standard output goes.
#[derive(Clone, Copy)]
pub(crate) struct Screen {
    /// `None` when it goes to a file or another program, which is to get all of it.
    pub(crate) columns: Option<usize>,
    colours: bool,
}

/// What a word says about how things are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    Plain,
    Good,
    Waiting,
    Bad,
    /// The head of a table.
    Head,
}

impl Screen {
    pub(crate) fn of_stdout() -> Self {
        let out = std::io::stdout();
        if !out.is_terminal() {
            return Screen { columns: None, colours: false };
        }
        let size = rustix::termios::tcgetwinsize(&out).ok();
        let columns = size.map(|size| usize::from(size.ws_col)).filter(|columns| *columns > 0);
        // https://no-color.org: whatever it is set to, unless to nothing.
        let declined = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let is_dumb = std::env::var_os("TERM").is_some_and(|kind| kind == "dumb");
        Screen { columns, colours: !declined && !is_dumb }
    }

    pub(crate) fn tinted(self, text: &str, tone: Tone) -> String {
        let code = match tone {
            Tone::Plain => return text.to_owned(),
            Tone::Good => "32",
            Tone::Waiting => "33",
            Tone::Bad => "31",
            Tone::Head => "1",
        };
        if self.colours { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    #[cfg(test)]
    pub(super) fn fixed(columns: Option<usize>) -> Self {
        Screen { columns, colours: columns.is_some() }
    }
}

impl Tone {
    /// Of the words that events, deliveries, destinations and replays have for how they are.
    pub(crate) fn of(word: &str) -> Tone {
        match word {
            "delivered" | "active" | "closed" | "done" | "success" => Tone::Good,
            "queued" | "delivering" | "retry_scheduled" | "paused" | "half_open" | "running" => Tone::Waiting,
            "dead_letter" | "disabled" | "open" | "cancelled" | "revoked" => Tone::Bad,
            _ => Tone::Plain,
        }
    }
}
