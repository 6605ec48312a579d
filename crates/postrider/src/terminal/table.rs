//! Tables. On a terminal they fit: what may be cut is cut, and columns that have no room at all are left out, the
//! last first. In a pipe nothing is cut.

use super::clean::clean;
use super::screen::{Screen, Tone};
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

const GAP: usize = 2;
/// Less of a text says nothing.
const CUT_MIN: usize = 12;

#[derive(Clone, Copy)]
pub(crate) enum Column {
    /// To be copied or compared: whole, or not at all.
    Whole(&'static str),
    /// May be cut.
    Text(&'static str),
}

pub(crate) struct Cell {
    text: String,
    tone: Tone,
}

pub(crate) struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<Cell>>,
}

impl Column {
    fn head(self) -> &'static str {
        match self {
            Column::Whole(head) | Column::Text(head) => head,
        }
    }
}

impl Cell {
    pub(crate) fn of(text: &str) -> Self {
        Cell { text: clean(text), tone: Tone::Plain }
    }

    /// A word whose colour is what it means.
    pub(crate) fn state(word: &str) -> Self {
        Cell { text: clean(word), tone: Tone::of(word) }
    }
}

impl Table {
    pub(crate) fn new(columns: &[Column]) -> Self {
        Table { columns: columns.to_vec(), rows: Vec::new() }
    }

    pub(crate) fn row(&mut self, cells: Vec<Cell>) {
        assert_eq!(cells.len(), self.columns.len(), "a row has a cell for each column");
        self.rows.push(cells);
    }

    pub(crate) fn text(&self, screen: Screen) -> String {
        let widths = self.widths(screen.columns);
        let heads: Vec<Cell> = self
            .columns
            .iter()
            .map(|column| Cell { text: column.head().to_owned(), tone: Tone::Head })
            .collect();
        std::iter::once(&heads).chain(&self.rows).map(|row| line(row, &widths, screen)).collect()
    }

    /// Of the columns that are shown.
    fn widths(&self, room: Option<usize>) -> Vec<usize> {
        let widest = |at: usize| {
            let cells = self.rows.iter().map(|row| row[at].text.width());
            cells.chain([self.columns[at].head().width()]).max().unwrap_or_default()
        };
        let mut widths: Vec<usize> = (0..self.columns.len()).map(widest).collect();
        let Some(room) = room else { return widths };
        while widths.len() > 1 && total(&self.narrowest(&widths)) > room {
            widths.pop();
        }
        let mut over = total(&widths).saturating_sub(room);
        while over > 0 {
            let cuttable = |at: &usize| matches!(self.columns[*at], Column::Text(_)) && widths[*at] > CUT_MIN;
            let Some(at) = (0..widths.len()).filter(cuttable).max_by_key(|at| widths[*at]) else { break };
            widths[at] -= 1;
            over -= 1;
        }
        widths
    }

    fn narrowest(&self, widths: &[usize]) -> Vec<usize> {
        let narrowest = |(width, column): (&usize, &Column)| match column {
            Column::Whole(_) => *width,
            Column::Text(_) => (*width).min(CUT_MIN),
        };
        widths.iter().zip(&self.columns).map(narrowest).collect()
    }
}

fn total(widths: &[usize]) -> usize {
    widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1)
}

fn line(row: &[Cell], widths: &[usize], screen: Screen) -> String {
    let mut line = String::new();
    for (at, (cell, width)) in row.iter().zip(widths).enumerate() {
        let text = cut(&cell.text, *width);
        let padding = if at + 1 == widths.len() { 0 } else { width - text.width() + GAP };
        line.push_str(&screen.tinted(&text, cell.tone));
        line.extend(std::iter::repeat_n(' ', padding));
    }
    let end = line.trim_end().len();
    line.truncate(end);
    line.push('\n');
    line
}

/// What fits, with a sign that there was more.
fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut used = 1;
    let fits = |character: &char| {
        used += character.width().unwrap_or_default();
        used <= width
    };
    let mut cut: String = text.chars().take_while(fits).collect();
    cut.push('…');
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new(&[Column::Whole("ID"), Column::Text("URL"), Column::Whole("STATUS")]);
        table.row(vec![
            Cell::of("dst_1"),
            Cell::of("https://example.com/a/long/path"),
            Cell::state("active"),
        ]);
        table.row(vec![Cell::of("dst_2"), Cell::of("漢字\x1b[2J"), Cell::state("paused")]);
        table
    }

    #[test]
    fn a_pipe_gets_everything_and_no_colour() {
        let all = table().text(Screen::fixed(None));
        assert_eq!(
            all,
            "ID     URL                              STATUS\n\
             dst_1  https://example.com/a/long/path  active\n\
             dst_2  漢字\\u{1b}[2J                    paused\n"
        );
    }

    #[test]
    fn a_terminal_gets_what_fits() {
        for columns in 12..60 {
            let text = table().text(Screen::fixed(Some(columns)));
            let plain = text.replace("\x1b[1m", "").replace("\x1b[0m", "");
            let plain = plain.replace("\x1b[32m", "").replace("\x1b[33m", "");
            let widest = plain.lines().map(|line| line.width()).max().unwrap_or_default();
            assert!(widest <= columns, "{widest} of {columns}:\n{plain}");
            assert!(plain.contains("dst_2"), "an id is whole: {plain}");
        }
        let narrow = table().text(Screen::fixed(Some(28)));
        assert!(narrow.contains("https://exam…"), "{narrow}");
        assert!(narrow.contains("\x1b[32mactive\x1b[0m"), "{narrow}");
    }
}
