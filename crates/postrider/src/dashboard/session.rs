//! Who is signed in: a cookie that names a key by its hash and is signed by the gateway. Nothing is kept here, so every
//! node knows it, and a key that is revoked is signed out with its next click.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::HeaderMap;
use http::header::COOKIE;
use ring::hmac;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

/// A working day.
const LIFE: Duration = Duration::from_secs(12 * 3600);
const HASH_BYTES: usize = 32;
/// What every cookie has before its note.
const HEAD_BYTES: usize = HASH_BYTES + 8;
const TAG_BYTES: usize = 32;

/// Noted of who signed in by an admin key.
pub(super) const OPERATOR: &str = "operator";

/// Noted of who signed in by a key that changes nothing.
pub(super) const READER: &str = "reader";

/// Noted of an operator who looks at this account.
pub(super) fn note_of(account: &str, name: &str) -> String {
    format!("{OPERATOR} {account} {name}")
}

/// What a session is for. Each kind has a cookie of its own, so that opening the portal signs nobody out, and neither
/// cookie is one of the other.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Door {
    Dashboard,
    Portal,
}

impl Door {
    const fn cookie_name(self) -> &'static str {
        match self {
            Door::Dashboard => "postrider_session",
            Door::Portal => "postrider_portal",
        }
    }

    const fn path(self) -> &'static str {
        match self {
            Door::Dashboard => "/",
            Door::Portal => "/portal",
        }
    }
}

/// Makes and reads the cookie.
pub(super) struct Sessions {
    key: hmac::Key,
    door: Door,
    /// Told to the browser: where the cookie goes, and that it must not go over plain HTTP.
    attributes: String,
}

/// Somebody who is signed in.
#[derive(Clone)]
pub(super) struct Session {
    /// Of the key that signed in.
    pub(super) key_hash: [u8; HASH_BYTES],
    /// Goes into every form: other sites cannot read it, so they cannot make changes.
    pub(super) form_token: String,
    /// What was noted when the session began.
    pub(super) note: String,
    /// When it is over, in seconds of Unix time.
    until: u64,
    /// The account that the operator acts for on this page; its own when `None`.
    pub(super) account: Option<String>,
    /// The API was asked for this page: a page counts once against the rate limit of its key.
    has_begun: Arc<AtomicBool>,
}

impl Session {
    /// Of somebody who is not signed in yet.
    pub(super) fn of_key(key_hash: [u8; HASH_BYTES]) -> Self {
        let has_begun = Arc::default();
        Session {
            key_hash,
            form_token: String::new(),
            note: String::new(),
            until: 0,
            account: None,
            has_begun,
        }
    }

    /// The same for things of this account. The API refuses it unless it may.
    pub(super) fn acting_for(&self, account: &str) -> Self {
        Session { account: Some(account.to_owned()), ..self.clone() }
    }

    /// The same for things of the account that the key is of.
    pub(super) fn of_their_own(&self) -> Self {
        Session { account: None, ..self.clone() }
    }

    /// Whether the API is asked for this page for the first time.
    pub(super) fn begins(&self) -> bool {
        !self.has_begun.swap(true, Ordering::Relaxed)
    }

    /// For how long it lasts from now on.
    pub(super) fn left(&self, now: SystemTime) -> Duration {
        Duration::from_secs(self.until.saturating_sub(unix_seconds(now)))
    }

    /// Whether its key may look and change nothing.
    pub(super) fn is_reader(&self) -> bool {
        self.note == READER
    }

    pub(super) fn is_operator(&self) -> bool {
        self.note == OPERATOR || self.looked_at().is_some()
    }

    /// The account that the operator looks at, with its name of then.
    pub(super) fn looked_at(&self) -> Option<(&str, &str)> {
        looked_at(&self.note)
    }
}

fn looked_at(note: &str) -> Option<(&str, &str)> {
    note.strip_prefix(OPERATOR)?.strip_prefix(' ')?.split_once(' ')
}

impl Sessions {
    /// The admin key is the one secret that all nodes share and that nobody else has.
    pub(super) fn new(door: Door, admin_hash: &[u8; HASH_BYTES], public_url: &str) -> Self {
        let secure = if public_url.starts_with("https://") { "; Secure" } else { "" };
        let attributes = format!("; Path={}; HttpOnly; SameSite=Strict{secure}", door.path());
        Sessions { key: hmac::Key::new(hmac::HMAC_SHA256, admin_hash), door, attributes }
    }

    /// The cookie of somebody who has just shown the key with this hash. The note is signed with it and not secret.
    pub(super) fn cookie(&self, key_hash: &[u8; HASH_BYTES], note: &str, now: SystemTime) -> String {
        self.sealed(key_hash, note, unix_seconds(now) + LIFE.as_secs(), LIFE.as_secs())
    }

    /// The cookie of a session that goes on with another note, and ends when it would have ended.
    pub(super) fn noting(&self, session: &Session, note: &str, now: SystemTime) -> String {
        self.sealed(&session.key_hash, note, session.until, session.left(now).as_secs())
    }

    fn sealed(&self, key_hash: &[u8; HASH_BYTES], note: &str, until: u64, left_seconds: u64) -> String {
        let mut signed = key_hash.to_vec();
        signed.extend(until.to_be_bytes());
        signed.extend(note.as_bytes());
        let tag = hmac::sign(&self.key, &self.purpose("session", &signed));
        signed.extend(tag.as_ref());
        let text = URL_SAFE_NO_PAD.encode(signed);
        format!("{}={text}; Max-Age={left_seconds}{}", self.door.cookie_name(), self.attributes)
    }

    /// The cookie that takes the other one away.
    pub(super) fn no_cookie(&self) -> String {
        format!("{}=; Max-Age=0{}", self.door.cookie_name(), self.attributes)
    }

    /// Who is signed in by this request.
    pub(super) fn read(&self, headers: &HeaderMap, now: SystemTime) -> Option<Session> {
        let lines = headers.get_all(COOKIE).iter().filter_map(|line| line.to_str().ok());
        let mut pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
        let text = pairs.find(|(name, _)| *name == self.door.cookie_name())?.1;
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        let (signed, tag) = bytes.split_at_checked(bytes.len().checked_sub(TAG_BYTES)?)?;
        hmac::verify(&self.key, &self.purpose("session", signed), tag).ok()?;
        let (head, note) = signed.split_at_checked(HEAD_BYTES)?;
        let (key_hash, until) = head.split_first_chunk::<HASH_BYTES>()?;
        let until = u64::from_be_bytes(until.try_into().ok()?);
        let form_token = URL_SAFE_NO_PAD.encode(hmac::sign(&self.key, &self.purpose("form", signed)));
        let note = String::from_utf8(note.to_vec()).ok()?;
        let looked_at = looked_at(&note).filter(|_| self.door == Door::Dashboard);
        let account = looked_at.map(|(account, _)| account.to_owned());
        let session =
            Session { key_hash: *key_hash, form_token, note, until, account, has_begun: Arc::default() };
        (unix_seconds(now) < until).then_some(session)
    }

    /// A tag for one purpose is none for another.
    fn purpose(&self, word: &str, signed: &[u8]) -> Vec<u8> {
        [self.door.cookie_name().as_bytes(), b" ", word.as_bytes(), b":", signed].concat()
    }
}

fn unix_seconds(now: SystemTime) -> u64 {
    now.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const NOW: SystemTime = SystemTime::UNIX_EPOCH;

    fn sessions() -> Sessions {
        Sessions::new(Door::Dashboard, &[7; HASH_BYTES], "http://127.0.0.1:8080")
    }

    fn headers(cookie: &str) -> HeaderMap {
        HeaderMap::from_iter([(COOKIE, cookie.parse().unwrap())])
    }

    /// What the browser sends back.
    fn pair(cookie: &str) -> &str {
        cookie.split(';').next().unwrap()
    }

    #[test]
    fn a_cookie_is_read_until_it_is_over() {
        let cookie = sessions().cookie(&[1; HASH_BYTES], "noted", NOW);
        let sent = headers(&format!("other=1; {}", pair(&cookie)));
        let read = sessions().read(&sent, NOW).unwrap();
        assert_eq!((read.key_hash, read.note.as_str()), ([1; HASH_BYTES], "noted"));
        assert!(sessions().read(&sent, NOW + LIFE - Duration::from_secs(1)).is_some());
        assert!(sessions().read(&sent, NOW + LIFE).is_none());
    }

    #[test]
    fn an_operator_who_looks_at_an_account_is_signed_in_no_longer_for_it() {
        let sessions = sessions();
        let read = |cookie: &str, at| sessions.read(&headers(pair(cookie)), at);
        let own = read(&sessions.cookie(&[1; HASH_BYTES], OPERATOR, NOW), NOW).unwrap();
        assert!(own.is_operator() && own.account.is_none() && own.looked_at().is_none());
        let later = NOW + LIFE - Duration::from_secs(60);
        let cookie = sessions.noting(&own, &note_of("acc_1", "Shop & Sons"), later);
        assert!(cookie.contains("; Max-Age=60;"), "{cookie}");
        let looking = read(&cookie, later).unwrap();
        assert_eq!(looking.looked_at(), Some(("acc_1", "Shop & Sons")));
        assert_eq!(looking.account.as_deref(), Some("acc_1"));
        assert!(looking.is_operator());
        assert_ne!(looking.form_token, own.form_token, "a form of before is none of this one");
        assert!(read(&cookie, NOW + LIFE).is_none());
        for other in ["", "operators acc_1 x", "operator", "operator acc_1", "x operator acc_1 x"] {
            let cookie = sessions.cookie(&[1; HASH_BYTES], other, NOW);
            assert!(read(&cookie, NOW).unwrap().account.is_none(), "{other}");
        }
        let portal = Sessions::new(Door::Portal, &[7; HASH_BYTES], "http://127.0.0.1:8080");
        let cookie = portal.cookie(&[1; HASH_BYTES], &note_of("acc_1", "x"), NOW);
        assert!(
            portal.read(&headers(pair(&cookie)), NOW).unwrap().account.is_none(),
            "a link is of one account"
        );
    }

    #[test]
    fn what_was_not_signed_here_is_nobody() {
        let cookie = sessions().cookie(&[1; HASH_BYTES], "noted", NOW);
        let text = pair(&cookie).split_once('=').unwrap().1;
        let mut bytes = URL_SAFE_NO_PAD.decode(text).unwrap();
        for place in 0..bytes.len() {
            bytes[place] ^= 1;
            let forged = format!("postrider_session={}", URL_SAFE_NO_PAD.encode(&bytes));
            assert!(sessions().read(&headers(&forged), NOW).is_none(), "byte {place}");
            bytes[place] ^= 1;
        }
        for bad in ["", "postrider_session=", "postrider_session=AAAA", "postrider_session=ä", pair("x=y")] {
            assert!(
                sessions()
                    .read(
                        &HeaderMap::from_iter([(
                            COOKIE,
                            http::HeaderValue::from_bytes(bad.as_bytes()).unwrap()
                        )]),
                        NOW
                    )
                    .is_none(),
                "{bad}"
            );
        }
        let other = Sessions::new(Door::Dashboard, &[8; HASH_BYTES], "http://127.0.0.1:8080");
        assert!(other.read(&headers(pair(&cookie)), NOW).is_none());
        let portal = Sessions::new(Door::Portal, &[7; HASH_BYTES], "http://127.0.0.1:8080");
        assert!(portal.read(&headers(&format!("postrider_portal={text}")), NOW).is_none());
    }

    #[test]
    fn a_cookie_of_https_stays_there() {
        let secure = Sessions::new(Door::Dashboard, &[7; HASH_BYTES], "https://hooks.example.com").cookie(
            &[1; HASH_BYTES],
            "noted",
            NOW,
        );
        assert!(secure.ends_with("; HttpOnly; SameSite=Strict; Secure"), "{secure}");
        assert!(sessions().cookie(&[1; HASH_BYTES], "noted", NOW).ends_with("; HttpOnly; SameSite=Strict"));
    }

    proptest! {
        #[test]
        fn a_cookie_is_read_back_and_another_is_nobodys(note in any::<String>(), sent in any::<Vec<u8>>()) {
            let read = |cookie: &[u8]| {
                let cookie = http::HeaderValue::from_bytes(cookie).ok()?;
                sessions().read(&HeaderMap::from_iter([(COOKIE, cookie)]), NOW)
            };
            let given = sessions().cookie(&[1; HASH_BYTES], &note, NOW);
            prop_assert_eq!(read(pair(&given).as_bytes()).map(|session| session.note), Some(note));
            let coded = URL_SAFE_NO_PAD.encode(&sent);
            for text in [sent.as_slice(), coded.as_bytes()] {
                prop_assert!(read(&[b"postrider_session=", text].concat()).is_none());
                prop_assert!(read(text).is_none());
            }
        }
    }
}
