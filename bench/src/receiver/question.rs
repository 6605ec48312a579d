//! What `GET /report` is asked about: everything, or the paths that begin alike and the events of one load.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Question {
    /// Only paths that begin like this.
    pub(crate) under: String,
    /// Only events of this load.
    pub(crate) load: Option<u8>,
}

impl Question {
    pub(crate) fn under(path: &str) -> Question {
        Question { under: path.to_owned(), load: None }
    }

    pub(crate) fn of_load(self, load: u8) -> Question {
        Question { load: Some(load), ..self }
    }

    /// As it is asked.
    pub(crate) fn path(&self) -> String {
        let load = self.load.map(|load| format!("&load={load}")).unwrap_or_default();
        format!("/report?under={}{load}", self.under)
    }

    /// `None` where the query is none of ours. The paths of a benchmark need no escapes.
    pub(crate) fn parse(query: Option<&str>) -> Option<Question> {
        let mut question = Question::default();
        for parameter in query.unwrap_or_default().split('&').filter(|text| !text.is_empty()) {
            match parameter.split_once('=')? {
                ("under", path) => path.clone_into(&mut question.under),
                ("load", load) => question.load = Some(load.parse().ok()?),
                _ => return None,
            }
        }
        Some(question)
    }

    pub(crate) fn is_about(&self, path: &str, load: u8) -> bool {
        path.starts_with(&self.under) && self.load.is_none_or(|asked| asked == load)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_understood_as_it_was_asked() {
        for question in [Question::default(), Question::under("/hook/"), Question::under("/a").of_load(3)] {
            let path = question.path();
            assert_eq!(Question::parse(path.split_once('?').map(|(_, query)| query)), Some(question));
        }
        assert_eq!(Question::parse(None), Some(Question::default()));
        for query in ["load=x", "load=256", "under", "above=/a"] {
            assert_eq!(Question::parse(Some(query)), None, "{query}");
        }
    }

    #[test]
    fn a_question_is_about_paths_and_loads() {
        let question = Question::under("/hook/").of_load(1);
        assert!(question.is_about("/hook/a", 1));
        assert!(!question.is_about("/hook/a", 0));
        assert!(!question.is_about("/delay/1/a", 1));
        assert!(Question::default().is_about("/hook/a", 7));
    }
}
