//! Whether a receiver must agree before it is sent anything (CloudEvents abuse protection), and whether it has.

/// How it stands with a receiver's consent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Handshake {
    /// Nobody asks for it.
    #[default]
    Off,
    /// It must be asked for, and nothing is sent before it is given.
    Wanted,
    /// It was given.
    Granted,
}

impl Handshake {
    const ALL: [Handshake; 3] = [Handshake::Off, Handshake::Wanted, Handshake::Granted];

    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Handshake::Off => "off",
            Handshake::Wanted => "wanted",
            Handshake::Granted => "granted",
        }
    }

    /// From the word on the wire.
    pub fn from_word(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.as_str() == text)
    }

    /// Whether the destination must wait for it.
    pub const fn is_missing(self) -> bool {
        matches!(self, Handshake::Wanted)
    }
}
