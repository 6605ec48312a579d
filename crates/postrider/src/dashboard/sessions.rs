//! Sessions in the store: a cookie carries an id and proves that we made it, and the store says whose it is. So every node
//! knows a session, it outlives a restart, and it is over as soon as the store forgets it.

use super::answer::Refused;
use super::session::{HASH_BYTES, Session};
use crate::api::{ApiError, KnownKey};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::HeaderMap;
use http::header::COOKIE;
use postrider_core::time::Timestamp;
use postrider_store::{SESSION_BYTES, SessionRecord, Store, StoreError};
use ring::hmac;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// A working day.
const LIFE: Duration = Duration::from_secs(12 * 3600);
const TAG_BYTES: usize = 32;

/// What a session is for. Each kind has a cookie of its own, so that opening the portal signs nobody out, and neither
/// cookie is one of the other.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum SessionKind {
    Dashboard,
    Portal,
}

impl SessionKind {
    const fn cookie_name(self) -> &'static str {
        match self {
            SessionKind::Dashboard => "postrider_session",
            SessionKind::Portal => "postrider_portal",
        }
    }

    const fn path(self) -> &'static str {
        match self {
            SessionKind::Dashboard => "/",
            SessionKind::Portal => "/portal",
        }
    }
}

/// Begins, finds and ends the sessions of one kind.
pub(super) struct Sessions {
    store: Arc<dyn Store>,
    key: hmac::Key,
    /// Of the gateway's own key as it is now.
    admin_hash: [u8; HASH_BYTES],
    kind: SessionKind,
    /// Told to the browser: where the cookie goes, and that it must not go over plain HTTP.
    attributes: String,
}

impl Sessions {
    /// `key` is the subkey of sessions, which all nodes have and nobody else.
    pub(super) fn new(
        kind: SessionKind,
        store: Arc<dyn Store>,
        key: &[u8; 32],
        admin_hash: [u8; HASH_BYTES],
        public_url: &str,
    ) -> Self {
        let secure = if public_url.starts_with("https://") { "; Secure" } else { "" };
        let attributes = format!("; Path={}; HttpOnly; SameSite=Strict{secure}", kind.path());
        Sessions { store, key: hmac::Key::new(hmac::HMAC_SHA256, key), admin_hash, kind, attributes }
    }

    /// Begins a session of whoever has just shown this key; gives its cookie.
    pub(super) async fn begin(
        &self,
        key_hash: &[u8; HASH_BYTES],
        key: KnownKey,
        note: &str,
    ) -> Result<String, Refused> {
        let mut secret = [0; SESSION_BYTES];
        getrandom::fill(&mut secret).expect("the system has randomness");
        let began_at = now();
        let end = began_at.after(LIFE);
        let ends_at = key.expires_at.map_or(end, |expiry| end.min(expiry));
        let id = self.id(&secret);
        let key_print = self.print(key.id.is_none(), key_hash);
        let record = SessionRecord { id, key: key.id, key_print, note: note.to_owned(), began_at, ends_at };
        self.store.sessions().begin(record).await.map_err(refused)?;
        let tag = self.tag("cookie", &secret);
        let text = URL_SAFE_NO_PAD.encode([&secret[..], tag.as_ref()].concat());
        let seconds = ends_at.since(began_at).as_secs();
        Ok(format!("{}={text}; Max-Age={seconds}{}", self.kind.cookie_name(), self.attributes))
    }

    /// Who is signed in by this request. A cookie that was not made here costs no query.
    pub(super) async fn find(&self, headers: &HeaderMap) -> Result<Option<Session>, Refused> {
        let Some(secret) = self.secret(headers) else { return Ok(None) };
        let found = self.store.sessions().find(self.id(&secret)).await.map_err(refused)?;
        Ok(found.filter(|record| now() < record.ends_at).and_then(|record| self.session(&secret, record)))
    }

    /// Whether there was a session with the cookie of this request, be it over or not.
    pub(super) fn was_made_here(&self, headers: &HeaderMap) -> bool {
        self.secret(headers).is_some()
    }

    /// Whether a session that was found goes on. A store that cannot say is asked again.
    pub(super) async fn goes_on(&self, session: &Session) -> bool {
        let found = self.store.sessions().find(session.id).await;
        now() < session.ends_at && found.as_ref().map_or(true, Option::is_some)
    }

    /// The session goes on with another note.
    pub(super) async fn note(&self, session: &Session, note: &str) -> Result<(), Refused> {
        self.store.sessions().note(session.id, note.to_owned()).await.map_err(refused)
    }

    /// Ends a session on all nodes; gives the cookie that takes the other one away.
    pub(super) async fn end(&self, session: &Session) -> Result<String, Refused> {
        self.store.sessions().end(session.id).await.map_err(refused)?;
        Ok(self.no_cookie())
    }

    /// The cookie that takes the other one away.
    pub(super) fn no_cookie(&self) -> String {
        format!("{}=; Max-Age=0{}", self.kind.cookie_name(), self.attributes)
    }

    /// What a cookie of ours carries.
    fn secret(&self, headers: &HeaderMap) -> Option<[u8; SESSION_BYTES]> {
        let lines = headers.get_all(COOKIE).iter().filter_map(|line| line.to_str().ok());
        let mut pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
        let text = pairs.find(|(name, _)| *name == self.kind.cookie_name())?.1;
        let bytes: [u8; SESSION_BYTES + TAG_BYTES] = URL_SAFE_NO_PAD.decode(text).ok()?.try_into().ok()?;
        let (secret, tag) = bytes.split_first_chunk::<SESSION_BYTES>()?;
        hmac::verify(&self.key, &self.purpose("cookie", secret), tag).ok()?;
        Some(*secret)
    }

    /// A session whose gateway key is another by now is nobody's.
    fn session(&self, secret: &[u8; SESSION_BYTES], record: SessionRecord) -> Option<Session> {
        let key_hash = match record.key {
            Some(_) => record.key_print,
            None if record.key_print == self.print(true, &self.admin_hash) => self.admin_hash,
            None => return None,
        };
        // With another note it is another: a form that was opened before is not sent to another account.
        let form = self.tag("form", &[&secret[..], record.note.as_bytes()].concat());
        let mut session = Session::of_key(key_hash);
        session.id = record.id;
        session.form_token = URL_SAFE_NO_PAD.encode(form);
        session.note = record.note;
        session.ends_at = record.ends_at;
        let looked_at = session.looked_at().filter(|_| self.kind == SessionKind::Dashboard);
        session.account = looked_at.map(|(account, _)| account.to_owned());
        Some(session)
    }

    /// What the store keeps of a key. The hash of a key that we made is no secret; an operator may have chosen the gateway's
    /// own, so whoever reads the store must not be able to try out what has its hash.
    fn print(&self, is_gateways: bool, key_hash: &[u8; HASH_BYTES]) -> [u8; SESSION_BYTES] {
        let made = self.tag("gateway key", key_hash);
        if is_gateways { made.as_ref().try_into().expect("SHA-256 has 32 bytes") } else { *key_hash }
    }

    /// Whoever reads the store does not learn what a cookie carries.
    fn id(&self, secret: &[u8; SESSION_BYTES]) -> [u8; SESSION_BYTES] {
        self.tag("id", secret).as_ref().try_into().expect("SHA-256 has 32 bytes")
    }

    fn tag(&self, word: &str, signed: &[u8]) -> hmac::Tag {
        hmac::sign(&self.key, &self.purpose(word, signed))
    }

    /// A tag for one purpose is none for another.
    fn purpose(&self, word: &str, signed: &[u8]) -> Vec<u8> {
        [self.kind.cookie_name().as_bytes(), b" ", word.as_bytes(), b":", signed].concat()
    }
}

/// By the wall, as keys end.
pub(super) fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_unix_ms(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

fn refused(error: StoreError) -> Refused {
    ApiError::from(error).into()
}

#[cfg(test)]
mod tests {
    use super::super::session::{OPERATOR, note_of};
    use super::*;
    use postrider_core::id::ApiKeyId;
    use postrider_store::MemoryStore;
    use proptest::prelude::*;

    const GATEWAYS: KnownKey = KnownKey { id: None, expires_at: None };
    const MADE: KnownKey = KnownKey { id: Some(ApiKeyId::from_u64(7)), expires_at: None };
    const HASH: [u8; HASH_BYTES] = [1; HASH_BYTES];

    fn of(store: &Arc<MemoryStore>, kind: SessionKind, admin_hash: [u8; 32], url: &str) -> Sessions {
        Sessions::new(kind, Arc::clone(store) as Arc<dyn Store>, &[7; 32], admin_hash, url)
    }

    fn sessions() -> Sessions {
        of(&Arc::default(), SessionKind::Dashboard, HASH, "http://127.0.0.1:8080")
    }

    /// What the browser sends back.
    fn headers(cookie: &str) -> HeaderMap {
        let pair = format!("other=1; {}", cookie.split(';').next().unwrap());
        HeaderMap::from_iter([(COOKIE, pair.parse().unwrap())])
    }

    /// A cookie as it is laid out, which was not made here.
    fn forged(secret: &[u8; SESSION_BYTES], tag: &[u8; TAG_BYTES]) -> String {
        format!("postrider_session={}", URL_SAFE_NO_PAD.encode([&secret[..], tag].concat()))
    }

    async fn found(sessions: &Sessions, cookie: &str) -> Option<Session> {
        sessions.find(&headers(cookie)).await.unwrap()
    }

    #[tokio::test]
    async fn a_session_is_found_by_its_cookie_until_it_is_ended() {
        let sessions = sessions();
        let cookie = sessions.begin(&[3; 32], MADE, "noted").await.unwrap();
        assert!(cookie.contains("; Max-Age=43200; Path=/; HttpOnly; SameSite=Strict"), "{cookie}");
        let session = found(&sessions, &cookie).await.unwrap();
        assert_eq!((session.key_hash, session.note.as_str()), ([3; 32], "noted"));
        assert!(sessions.goes_on(&session).await);
        let other = sessions.begin(&[3; 32], MADE, "noted").await.unwrap();
        assert!(sessions.end(&session).await.unwrap().starts_with("postrider_session=; Max-Age=0"));
        assert!(found(&sessions, &cookie).await.is_none() && !sessions.goes_on(&session).await);
        assert!(found(&sessions, &other).await.is_some());
    }

    #[tokio::test]
    async fn a_session_ends_no_later_than_its_key() {
        let sessions = sessions();
        let expires_at = Some(now().after(Duration::from_secs(60)));
        let cookie = sessions.begin(&HASH, KnownKey { expires_at, ..MADE }, "").await.unwrap();
        assert!(cookie.contains("; Max-Age=59;") || cookie.contains("; Max-Age=60;"), "{cookie}");
        let over = KnownKey { expires_at: Some(Timestamp::from_unix_ms(1)), ..MADE };
        let cookie = sessions.begin(&HASH, over, "").await.unwrap();
        assert!(found(&sessions, &cookie).await.is_none());
    }

    #[tokio::test]
    async fn an_operator_who_looks_at_an_account_has_other_forms_and_the_same_session() {
        let store = Arc::default();
        let sessions = of(&store, SessionKind::Dashboard, HASH, "");
        let cookie = sessions.begin(&HASH, GATEWAYS, OPERATOR).await.unwrap();
        let own = found(&sessions, &cookie).await.unwrap();
        assert!(own.is_operator() && own.account.is_none());
        sessions.note(&own, &note_of("acc_1", "Shop & Sons")).await.unwrap();
        let looking = found(&sessions, &cookie).await.unwrap();
        assert_eq!(looking.account.as_deref(), Some("acc_1"));
        assert_eq!(looking.ends_at, own.ends_at);
        assert_ne!(looking.form_token, own.form_token, "a form of before is none of this one");
        let portal = of(&store, SessionKind::Portal, HASH, "");
        let link = portal.begin(&HASH, MADE, &note_of("acc_1", "x")).await.unwrap();
        assert!(found(&portal, &link).await.unwrap().account.is_none(), "a link is of one account");
    }

    #[tokio::test]
    async fn the_store_keeps_nothing_that_signs_in_and_another_admin_key_nobody() {
        let store = Arc::default();
        let sessions = of(&store, SessionKind::Dashboard, HASH, "");
        let cookie = sessions.begin(&HASH, GATEWAYS, "").await.unwrap();
        let secret = sessions.secret(&headers(&cookie)).unwrap();
        let record = store.sessions().find(sessions.id(&secret)).await.unwrap().unwrap();
        assert!(record.id != secret && record.key_print != HASH);
        for tag in [record.id, record.key_print, [0; TAG_BYTES]] {
            // The secret itself, which the store does not know, does not sign in without its tag.
            for secret in [record.id, secret] {
                assert!(found(&sessions, &forged(&secret, &tag)).await.is_none());
            }
        }
        assert_eq!(found(&sessions, &cookie).await.unwrap().key_hash, HASH);
        let other_key = of(&store, SessionKind::Dashboard, [2; 32], "");
        assert!(found(&other_key, &cookie).await.is_none());
    }

    #[tokio::test]
    async fn a_cookie_of_one_kind_is_none_of_the_other_and_one_of_https_stays_there() {
        let store = Arc::default();
        let portal = of(&store, SessionKind::Portal, HASH, "https://hooks.example.com");
        let cookie = portal.begin(&HASH, MADE, "").await.unwrap();
        assert!(cookie.ends_with("; Path=/portal; HttpOnly; SameSite=Strict; Secure"), "{cookie}");
        let renamed = cookie.replace("postrider_portal", "postrider_session");
        assert!(found(&of(&store, SessionKind::Dashboard, HASH, ""), &renamed).await.is_none());
        assert!(found(&portal, &cookie).await.is_some());
    }

    proptest! {
        #[test]
        fn a_cookie_that_was_changed_anywhere_is_not_even_looked_up(bit in 0..8 * (SESSION_BYTES + TAG_BYTES)) {
            let sessions = sessions();
            let tag = sessions.tag("cookie", &[3; SESSION_BYTES]);
            let mut made = [&[3; SESSION_BYTES][..], tag.as_ref()].concat();
            let cookie = |made: &[u8]| format!("postrider_session={}", URL_SAFE_NO_PAD.encode(made));
            prop_assert_eq!(sessions.secret(&headers(&cookie(&made))), Some([3; SESSION_BYTES]));
            made[bit / 8] ^= 1 << (bit % 8);
            prop_assert_eq!(sessions.secret(&headers(&cookie(&made))), None);
        }

        #[test]
        fn what_was_not_made_here_is_not_even_looked_up(
            sent in prop_oneof![any::<Vec<u8>>(), prop::collection::vec(any::<u8>(), SESSION_BYTES + TAG_BYTES)],
        ) {
            let coded = URL_SAFE_NO_PAD.encode(&sent);
            for text in [sent.as_slice(), coded.as_bytes()] {
                for cookie in [[b"postrider_session=", text].concat(), text.to_vec()] {
                    let Ok(value) = http::HeaderValue::from_bytes(&cookie) else { continue };
                    prop_assert!(sessions().secret(&HeaderMap::from_iter([(COOKIE, value)])).is_none());
                }
            }
        }
    }
}
