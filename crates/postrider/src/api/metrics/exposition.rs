//! The text that Prometheus reads.

use postrider_engine::HistogramView;
use std::fmt::{Display, Write};

/// What kind of numbers a family has.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    Counter,
    Gauge,
    Histogram,
    /// Of names that Prometheus would not have for the kind that they are.
    Untyped,
}

impl Kind {
    const fn as_str(self) -> &'static str {
        match self {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
            Kind::Histogram => "histogram",
            Kind::Untyped => "untyped",
        }
    }
}

/// Labels of a sample: names, which are ours, and values, which may be anybody's.
pub(super) type Labels<'a> = &'a [(&'static str, &'a str)];

/// The text, written family by family.
#[derive(Default)]
pub(super) struct Exposition(String);

/// The family that is being written.
pub(super) struct Family<'a> {
    text: &'a mut String,
    name: &'static str,
}

impl Exposition {
    /// Begins a family. It is named also when it has no samples, so that dashboards can be held against the names.
    pub(super) fn family(&mut self, name: &'static str, kind: Kind, help: &str) -> Family<'_> {
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {}", kind.as_str());
        Family { text: &mut self.0, name }
    }

    pub(super) fn counter(&mut self, name: &'static str, help: &str, value: u64) {
        self.family(name, Kind::Counter, help).sample(&[], value);
    }

    pub(super) fn gauge(&mut self, name: &'static str, help: &str, value: impl Display) {
        self.family(name, Kind::Gauge, help).sample(&[], value);
    }

    pub(super) fn into_text(self) -> String {
        self.0
    }
}

impl Family<'_> {
    pub(super) fn sample(&mut self, labels: Labels<'_>, value: impl Display) {
        self.line("", labels, None, value);
    }

    pub(super) fn histogram(&mut self, labels: Labels<'_>, view: &HistogramView) {
        for (bound, count) in &view.buckets {
            self.line("_bucket", labels, Some(&bound.to_string()), count);
        }
        self.line("_bucket", labels, Some("+Inf"), view.count);
        self.line("_sum", labels, None, view.sum);
        self.line("_count", labels, None, view.count);
    }

    fn line(&mut self, suffix: &str, labels: Labels<'_>, bound: Option<&str>, value: impl Display) {
        let _ = write!(self.text, "{}{suffix}", self.name);
        let all = labels.iter().copied().chain(bound.map(|bound| ("le", bound)));
        let mut before = '{';
        for (name, text) in all {
            self.text.push(before);
            let _ = write!(self.text, "{name}=\"");
            escape(text, self.text);
            self.text.push('"');
            before = ',';
        }
        if before == ',' {
            self.text.push('}');
        }
        let _ = writeln!(self.text, " {value}");
    }
}

/// A name that a tenant chose must not end its label, nor its line.
fn escape(value: &str, text: &mut String) {
    for character in value.chars() {
        match character {
            '\\' => text.push_str("\\\\"),
            '"' => text.push_str("\\\""),
            '\n' => text.push_str("\\n"),
            other => text.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_are_written_as_prometheus_reads_them() {
        let mut text = Exposition::default();
        let mut family = text.family("depth", Kind::Gauge, "How much.");
        family.sample(&[], 1.5);
        family.sample(&[("name", "a \"b\"\\\nc"), ("id", "x")], 2);
        let view = HistogramView { buckets: vec![(0.5, 1), (1.0, 3)], count: 4, sum: 9.25 };
        text.family("took", Kind::Histogram, "How long.").histogram(&[("p", "1")], &view);
        let expected = "# HELP depth How much.\n# TYPE depth gauge\ndepth 1.5\n\
            depth{name=\"a \\\"b\\\"\\\\\\nc\",id=\"x\"} 2\n\
            # HELP took How long.\n# TYPE took histogram\n\
            took_bucket{p=\"1\",le=\"0.5\"} 1\ntook_bucket{p=\"1\",le=\"1\"} 3\ntook_bucket{p=\"1\",le=\"+Inf\"} 4\n\
            took_sum{p=\"1\"} 9.25\ntook_count{p=\"1\"} 4\n";
        assert_eq!(text.into_text(), expected);
    }
}
