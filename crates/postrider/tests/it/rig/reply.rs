//! What the sink answers with.

use std::time::Duration;

#[derive(Clone, Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Vec<u8>,
    /// Between the end of the request and the beginning of the answer.
    pub(crate) delay: Duration,
    /// Answers only once the sink is told to release.
    pub(crate) held: bool,
}

impl Reply {
    pub(crate) fn status(status: u16) -> Self {
        Reply { status, headers: Vec::new(), body: b"seen".to_vec(), delay: Duration::ZERO, held: false }
    }

    pub(crate) fn held() -> Self {
        Reply { held: true, ..Reply::status(200) }
    }

    pub(crate) fn after(self, delay: Duration) -> Self {
        Reply { delay, ..self }
    }

    pub(crate) fn header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }

    pub(crate) fn body(self, body: &[u8]) -> Self {
        Reply { body: body.to_vec(), ..self }
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut text =
            format!("HTTP/1.1 {} Scripted\r\ncontent-length: {}\r\n", self.status, self.body.len());
        self.headers.iter().for_each(|(name, value)| text.push_str(&format!("{name}: {value}\r\n")));
        text.push_str("\r\n");
        [text.as_bytes(), &self.body].concat()
    }
}
