//! Which answers of a receiver are final at once by policy. 410 Gone always is, and does more.

/// A status, or a class of them, after which nothing is tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FinalStatus {
    /// This one.
    Code(u16),
    /// 300 to 399: redirects are never followed.
    Class3xx,
    /// 400 to 499.
    Class4xx,
}

impl FinalStatus {
    /// One status. `None` outside 300–499: a success ends by itself, and a 5xx may pass.
    pub const fn from_code(code: u64) -> Option<Self> {
        match code {
            300..=499 => Some(FinalStatus::Code(code as u16)),
            _ => None,
        }
    }

    /// A class by its word on the wire.
    pub fn from_word(text: &str) -> Option<Self> {
        match text {
            "3xx" => Some(FinalStatus::Class3xx),
            "4xx" => Some(FinalStatus::Class4xx),
            _ => None,
        }
    }

    const fn covers(self, status: u16) -> bool {
        match self {
            FinalStatus::Code(code) => code == status,
            FinalStatus::Class3xx => matches!(status, 300..=399),
            FinalStatus::Class4xx => matches!(status, 400..=499),
        }
    }
}

/// The final statuses of a policy, each once, in the order in which they were named.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FinalStatuses(Vec<FinalStatus>);

impl FinalStatuses {
    /// From all that were named.
    pub fn new(named: impl IntoIterator<Item = FinalStatus>) -> Self {
        let mut each_once = Vec::new();
        for status in named {
            if !each_once.contains(&status) {
                each_once.push(status);
            }
        }
        FinalStatuses(each_once)
    }

    /// Whether an answer with this status is final.
    pub fn covers(&self, status: u16) -> bool {
        self.0.iter().any(|named| named.covers(status))
    }

    /// What was named.
    pub fn named(&self) -> &[FinalStatus] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(named: &[FinalStatus], finals: &[u16], others: &[u16]) {
        let statuses = FinalStatuses::new(named.iter().copied());
        let covered = |status: &&u16| statuses.covers(**status);
        assert_eq!(finals.iter().filter(covered).count(), finals.len(), "{named:?}");
        assert_eq!(others.iter().filter(covered).count(), 0, "{named:?}");
    }

    #[test]
    fn an_answer_is_final_when_it_is_named_or_gone() {
        check(&[], &[], &[300, 302, 400, 404, 408, 410, 429, 499, 500]);
        check(&[FinalStatus::Code(404), FinalStatus::Code(429)], &[404, 429], &[400, 405, 410, 428]);
        check(&[FinalStatus::Class4xx], &[400, 410, 429, 499], &[301, 399, 500, 599]);
        check(&[FinalStatus::Class3xx], &[300, 399], &[200, 299, 400]);
    }

    #[test]
    fn what_can_be_named() {
        for refused in [0, 200, 299, 500, 503, 65_936, u64::MAX] {
            assert_eq!(FinalStatus::from_code(refused), None, "{refused}");
        }
        assert_eq!(FinalStatus::from_code(300), Some(FinalStatus::Code(300)));
        assert_eq!(FinalStatus::from_word("5xx"), None);
        let twice =
            FinalStatuses::new([FinalStatus::Code(404), FinalStatus::Class4xx, FinalStatus::Code(404)]);
        assert_eq!(twice.named(), [FinalStatus::Code(404), FinalStatus::Class4xx]);
    }
}
