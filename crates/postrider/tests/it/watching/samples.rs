//! The text of `/metrics`, read back.

use crate::rig::{Api, wait_until};
use std::collections::BTreeMap;

/// What was scraped.
pub(crate) struct Samples {
    text: String,
}

impl Samples {
    pub(crate) fn scrape(api: &Api) -> Self {
        let answer = api.get("/metrics");
        assert_eq!(answer.status, 200, "{answer}");
        assert_eq!(answer.headers.get("content-type"), Some("text/plain; version=0.0.4; charset=utf-8"));
        Samples { text: String::from_utf8(answer.body).expect("metrics are text") }
    }

    /// Scrapes until it shows this.
    pub(crate) fn once(api: &Api, what: &str, shows: impl Fn(&Samples) -> bool) -> Self {
        wait_until(what, || Some(Samples::scrape(api)).filter(|found| shows(found)))
    }

    /// The sum of all samples whose line begins with the name and has all of these texts in its labels.
    pub(crate) fn sum(&self, name: &str, labels: &[&str]) -> f64 {
        self.lines(name, labels).map(|(_, value)| value).sum()
    }

    pub(crate) fn count(&self, name: &str, labels: &[&str]) -> usize {
        self.lines(name, labels).count()
    }

    fn lines<'a>(&'a self, name: &'a str, labels: &'a [&str]) -> impl Iterator<Item = (&'a str, f64)> {
        self.samples().filter_map(move |(series, value)| {
            let (found, of) = series.split_once('{').unwrap_or((series, ""));
            (found == name && labels.iter().all(|label| of.contains(label))).then_some((series, value))
        })
    }

    /// Every series with its value; each may be there once.
    pub(crate) fn samples(&self) -> impl Iterator<Item = (&str, f64)> {
        self.text.lines().filter(|line| !line.starts_with('#')).map(|line| {
            let (series, value) = line.rsplit_once(' ').unwrap_or_else(|| panic!("no sample: {line}"));
            (series, value.parse().unwrap_or_else(|_| panic!("no number: {line}")))
        })
    }

    /// The names that a query can use, with their kinds.
    pub(crate) fn names(&self) -> BTreeMap<&str, &str> {
        let typed = self.text.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split_once(' '));
        typed.collect()
    }
}
