//! Bars over time, drawn on the server: a bar for each point in a box of a hundred, and its value for whoever points at it.
//! The figures stand in a table beside it. What all bars share is in the style sheet, since a page has hundreds of them.

use askama::Template;

/// From one bar to the next; the style sheet has the width of a bar.
const STEP: usize = 10;
pub(super) const HEIGHT: u64 = 100;

/// A part of a bar: how the style sheet names it, and how much it is.
pub(super) type Part = (&'static str, u64);

/// Of one point.
pub(super) struct Value {
    /// When, as a person reads it.
    pub(super) at: String,
    /// From the bottom up: what goes well has no name.
    pub(super) parts: Vec<Part>,
    /// What is shown to whoever points at it.
    pub(super) title: String,
}

struct Bar {
    x: usize,
    blocks: Vec<Block>,
    title: String,
}

struct Block {
    class: &'static str,
    y: u64,
    height: u64,
}

#[derive(Template)]
#[template(path = "chart.html")]
pub(super) struct Chart {
    /// What it shows, in a few words.
    label: &'static str,
    /// The highest bar, in words.
    most: String,
    from: String,
    until: String,
    width: usize,
    bars: Vec<Bar>,
}

impl Chart {
    /// `most` says in words how much the highest bar is.
    pub(super) fn new(label: &'static str, values: &[Value], most: impl Fn(u64) -> String) -> Self {
        let highest = values.iter().map(Value::sum).max().unwrap_or(0);
        let at = |value: Option<&Value>| value.map(|value| value.at.clone()).unwrap_or_default();
        Chart {
            label,
            most: most(highest),
            from: at(values.first()),
            until: at(values.last()),
            width: values.len().max(1) * STEP,
            bars: values
                .iter()
                .enumerate()
                .map(|(place, value)| Bar::of(value, place * STEP, highest))
                .collect(),
        }
    }
}

/// A small picture of a row: two paths, since a list has many of them.
#[derive(Template)]
#[template(path = "spark.html")]
pub(super) struct Spark {
    title: String,
    good: String,
    bad: String,
}

impl Spark {
    const STEP: usize = 2;
    const HEIGHT: u64 = 20;

    /// Of each point what went well and what did not.
    pub(super) fn new(title: String, values: &[(u64, u64)]) -> Self {
        let highest = values.iter().map(|(good, bad)| good.saturating_add(*bad)).max().unwrap_or(0);
        let (mut good, mut bad) = (String::new(), String::new());
        for (place, value) in values.iter().enumerate() {
            let scaled = |count| (height(count, highest) * Self::HEIGHT).div_ceil(HEIGHT);
            let above = scaled(value.1).min(Self::HEIGHT);
            let below = scaled(value.0).min(Self::HEIGHT - above);
            let x = place * Self::STEP + 1;
            if below > 0 {
                good.push_str(&format!("M{x} {}v-{below}", Self::HEIGHT));
            }
            if above > 0 {
                bad.push_str(&format!("M{x} {}v-{above}", Self::HEIGHT - below));
            }
        }
        Spark { title, good, bad }
    }
}

impl Value {
    fn sum(&self) -> u64 {
        self.parts.iter().fold(0, |sum, (_, amount)| sum.saturating_add(*amount))
    }
}

impl Bar {
    fn of(value: &Value, x: usize, highest: u64) -> Self {
        let mut heights: Vec<u64> = value.parts.iter().map(|(_, amount)| height(*amount, highest)).collect();
        // Each part is seen, however little of all it is: the tallest makes room for it.
        let over = heights.iter().sum::<u64>().saturating_sub(HEIGHT);
        if let Some(tallest) = heights.iter_mut().max() {
            *tallest = tallest.saturating_sub(over);
        }
        let mut y = HEIGHT;
        let mut blocks = Vec::new();
        for ((class, _), height) in value.parts.iter().zip(heights).filter(|(_, height)| *height > 0) {
            y -= height;
            blocks.push(Block { class, y, height });
        }
        Bar { x, blocks, title: value.title.clone() }
    }
}

/// At least two of a hundred for what there is.
fn height(count: u64, highest: u64) -> u64 {
    match count {
        0 => 0,
        _ => (u128::from(count) * u128::from(HEIGHT) / u128::from(highest.max(1))).max(2) as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bars(values: &[(u64, u64)]) -> Vec<(u64, u64)> {
        let value = |(good, bad): &(u64, u64)| Value {
            at: String::new(),
            parts: vec![("", *good), ("bad", *bad)],
            title: String::new(),
        };
        let values: Vec<_> = values.iter().map(value).collect();
        let chart = Chart::new("", &values, |most| most.to_string());
        let of = |bar: &Bar, class: &str| {
            bar.blocks.iter().find(|block| block.class == class).map_or(0, |block| block.height)
        };
        chart.bars.iter().map(|bar| (of(bar, ""), of(bar, "bad"))).collect()
    }

    #[test]
    fn an_hour_of_great_figures_is_no_great_page() {
        let counts = "11:11: 123\u{202f}456\u{202f}789 delivered, 123\u{202f}456\u{202f}789 failed";
        let times = "11:11: p50 123 ms, p95 12.3 s, slowest 59.9 s";
        let drawn = |title: &str, parts: &[Part]| {
            let value = |_| Value { at: "11:11".to_owned(), parts: parts.to_vec(), title: title.to_owned() };
            let values: Vec<_> = (0..60).map(value).collect();
            Chart::new("Attempts", &values, |most| most.to_string()).render().unwrap().len()
        };
        let bytes = drawn(counts, &[("", 50), ("bad", 50)]);
        assert!(bytes < 14_000, "{bytes} bytes");
        let bytes = drawn(times, &[("", 30), ("p95", 40), ("slowest", 30)]);
        assert!(bytes < 18_000, "{bytes} bytes");
    }

    #[test]
    fn bars_stay_in_their_box_and_what_there_is_is_seen() {
        assert_eq!(bars(&[]), []);
        assert_eq!(bars(&[(0, 0)]), [(0, 0)]);
        assert_eq!(bars(&[(50, 50), (100, 0)]), [(50, 50), (100, 0)]);
        assert_eq!(bars(&[(1_000_000, 1), (1, 0)]), [(98, 2), (2, 0)]);
        assert_eq!(bars(&[(0, u64::MAX / 2)]), [(0, 100)]);
        assert_eq!(bars(&[(u64::MAX / 2, u64::MAX / 2)]), [(50, 50)]);
    }
}
