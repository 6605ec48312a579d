//! When the certificates of receivers end, as handshakes show it: of each destination the one that it showed last.
//!
//! Only a receiver's own certificate counts: the rest of a chain often has a link that has ended beside one that is good.

use super::pool::PoolKey;
use super::target::DestinationUrl;
use postrider_core::id::DestinationId;
use postrider_core::map::IdMap;
use postrider_core::time::Timestamp;
use postrider_store::Destination;
use rustls::pki_types::CertificateDer;
use rustls::{CertificateError, Error};
use std::io;
use std::sync::{PoisonError, RwLock};
use std::time::Duration;
use x509_cert::Certificate;
use x509_cert::der::Decode;

/// What ends later is not remembered, since it is renewed long before. Connections live for hours and not for weeks, so
/// each destination is looked at again while there is time.
const REMEMBERED: Duration = Duration::from_secs(30 * 24 * 3600);
/// Destinations that are remembered, about 40 bytes each.
const DESTINATIONS_MAX: usize = 10_000;

/// The ends that were seen.
#[derive(Debug, Default)]
pub struct Certificates(RwLock<IdMap<DestinationId, (PoolKey, Timestamp)>>);

impl Certificates {
    /// A handshake went well with this one. One that cannot be read tells nothing.
    pub(super) fn note_shown(&self, key: PoolKey, shown: Option<&CertificateDer<'_>>, now: Timestamp) {
        if let Some(ends_at) = shown.and_then(|shown| end_of(shown)) {
            self.note(key, ends_at, now);
        }
    }

    /// A handshake failed, perhaps because the certificate has ended.
    pub(super) fn note_refused(&self, key: PoolKey, error: &io::Error, now: Timestamp) {
        let refused = error.get_ref().and_then(|cause| cause.downcast_ref::<Error>());
        if let Some(Error::InvalidCertificate(CertificateError::ExpiredContext { not_after, .. })) = refused {
            self.note(key, Timestamp::from_unix_ms(not_after.as_secs().saturating_mul(1000)), now);
        }
    }

    fn note(&self, key: PoolKey, ends_at: Timestamp, now: Timestamp) {
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if ends_at > now.after(REMEMBERED) {
            known.remove(&key.destination());
        } else if known.len() < DESTINATIONS_MAX || known.contains_key(&key.destination()) {
            known.insert(key.destination(), (key, ends_at));
        }
    }

    /// Those that end before this moment, the nearest first.
    pub(crate) fn ending_before(&self, until: Timestamp) -> Vec<(DestinationId, Timestamp)> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let ending = known.iter().filter(|(_, (_, ends_at))| *ends_at < until);
        let mut ending: Vec<_> = ending.map(|(id, (_, ends_at))| (*id, *ends_at)).collect();
        ending.sort_unstable_by_key(|(id, ends_at)| (*ends_at, *id));
        ending
    }

    /// Whether what is known of a destination is of where it is now.
    pub(crate) fn is_of(&self, destination: &Destination) -> bool {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let url = DestinationUrl::parse(&destination.url).ok();
        let key = url.map(|url| PoolKey::new(destination.id, &url, &destination.tls));
        known.get(&destination.id).map(|(key, _)| *key) == key
    }
}

fn end_of(certificate: &[u8]) -> Option<Timestamp> {
    let read = Certificate::from_der(certificate).ok()?;
    let end = read.tbs_certificate.validity.not_after.to_unix_duration();
    Some(Timestamp::from_unix_ms(u64::try_from(end.as_millis()).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use postrider_store::DestinationTls;
    use rcgen::{CertificateParams, KeyPair, date_time_ymd};

    const DAY: Duration = Duration::from_secs(24 * 3600);

    fn key(id: u64, url: &str) -> PoolKey {
        let url = DestinationUrl::parse(url).unwrap();
        PoolKey::new(DestinationId::from_u64(id), &url, &DestinationTls::default())
    }

    fn certificate(year: i32, month: u8, day: u8) -> CertificateDer<'static> {
        let mut params = CertificateParams::new(["localhost".to_owned()]).unwrap();
        params.not_after = date_time_ymd(year, month, day);
        params.self_signed(&KeyPair::generate().unwrap()).unwrap().der().clone()
    }

    #[test]
    fn the_end_of_a_certificate_is_read_in_both_forms() {
        for (year, expected) in [(2049, "2049-02-03T00:00:00.000Z"), (2051, "2051-02-03T00:00:00.000Z")] {
            assert_eq!(end_of(&certificate(year, 2, 3)).unwrap().to_string(), expected);
        }
        assert_eq!(end_of(b"no certificate"), None);
        assert_eq!(end_of(&certificate(2049, 2, 3)[..100]), None);
    }

    #[test]
    fn what_ends_soon_is_remembered_until_it_is_renewed() {
        let now = Timestamp::parse_rfc3339("2026-01-01T00:00:00Z").unwrap();
        let (known, soon) = (Certificates::default(), now.after(14 * DAY));
        let a = key(1, "https://a.test/");
        known.note_shown(a, Some(&certificate(2026, 1, 9)), now);
        known.note_shown(key(2, "https://b.test/"), Some(&certificate(2026, 1, 3)), now);
        known.note_shown(key(3, "https://c.test/"), Some(&certificate(2026, 1, 20)), now);
        known.note_shown(key(4, "https://d.test/"), None, now);
        let ids = |until| known.ending_before(until).iter().map(|(id, _)| id.as_u64()).collect::<Vec<_>>();
        assert_eq!(ids(soon), [2, 1], "the nearest first");
        assert_eq!(ids(now.after(20 * DAY)), [2, 1, 3], "a later look finds what was seen before");
        known.note_shown(a, Some(&certificate(2027, 1, 9)), now);
        assert_eq!(ids(soon), [2]);
    }
}
