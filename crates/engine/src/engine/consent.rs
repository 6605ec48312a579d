//! Asks a receiver whether it wants to be sent events (CloudEvents HTTP web hooks 1.0.2, abuse protection).

use super::{ChangeError, Engine, TrialError};
use crate::catalog::Catalog;
use crate::send::{Made, Shortage, ask_consent};
use http::HeaderValue;
use postrider_core::destination::RateLimit;
use postrider_core::id::{AccountId, DestinationId};
use postrider_core::limits::RATE_PER_SECOND_MAX;
use postrider_store::{Change, Destination, Handshake, Headers};
use std::sync::Arc;

/// Why a receiver was not asked, or its answer not taken over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConsentError {
    /// There is no such destination, or not any more.
    Unknown,
    /// The destination does not ask for consent.
    NotWanted,
    /// Its URL was changed meanwhile: the answer is about another.
    Moved,
    /// It is being asked or tested already, or too many are.
    Busy(TrialError),
    /// This node had nothing left to ask it with.
    Short(Shortage),
}

impl ConsentError {
    /// What a destination says whose receiver was not asked when it was saved; `None` if it is to say nothing.
    fn not_asked(self) -> Option<String> {
        let why = match self {
            ConsentError::Busy(_) => "too many were being asked at that moment".to_owned(),
            ConsentError::Short(shortage) => shortage.to_string(),
            ConsentError::Unknown | ConsentError::NotWanted | ConsentError::Moved => return None,
        };
        Some(format!("Its receiver was not asked for its consent, since {why}; POST …/handshake asks it."))
    }
}

impl Engine {
    /// Asks, and takes over the answer: with consent the destination is sent to, at the rate that was allowed;
    /// without it waits and says why.
    pub async fn shake_hands(
        self: &Arc<Self>,
        account: AccountId,
        id: DestinationId,
        origin: &HeaderValue,
    ) -> Result<Destination, ChangeError<ConsentError>> {
        let found = {
            let catalog = self.catalog();
            catalog.destination(account, id).cloned().zip(catalog.target(id))
        };
        let (asked, target) = found.ok_or(ChangeError::Refused(ConsentError::Unknown))?;
        if asked.handshake == Handshake::Off {
            return Err(ChangeError::Refused(ConsentError::NotWanted));
        }
        // A receiver may take two minutes to answer, and whoever asks goes on without waiting.
        let begun = self.trials.begin(account, id);
        let _under_way = begun.map_err(|busy| ChangeError::Refused(ConsentError::Busy(busy)))?;
        let ask = |ready: &_, (): &()| ask_consent(ready, origin.to_str().unwrap_or_default());
        let made = self.sender().make(&target, || Ok(()), ask).await;
        // It says nothing of the receiver.
        if let Some(shortage) = made.shortage {
            return Err(ChangeError::Refused(ConsentError::Short(shortage)));
        }
        self.take_answer(&asked, answer(&made, origin)).await
    }

    /// The same for a destination that was just saved: one whose receiver could not be asked says that it is still to be.
    pub async fn shake_hands_first(
        self: &Arc<Self>,
        saved: &Destination,
        origin: &HeaderValue,
    ) -> Result<Destination, ChangeError<ConsentError>> {
        match self.shake_hands(saved.account, saved.id, origin).await {
            Err(ChangeError::Refused(refused)) => match refused.not_asked() {
                Some(why) => self.take_answer(saved, Err(why)).await,
                None => Err(ChangeError::Refused(refused)),
            },
            asked => asked,
        }
    }

    async fn take_answer(
        self: &Arc<Self>,
        asked: &Destination,
        answer: Consent,
    ) -> Result<Destination, ChangeError<ConsentError>> {
        self.change(|catalog: &Catalog| {
            let known = catalog.destination(asked.account, asked.id).ok_or(ConsentError::Unknown)?;
            if known.url != asked.url || known.handshake == Handshake::Off {
                return Err(ConsentError::Moved);
            }
            let changed = answered((**known).clone(), answer);
            Ok((vec![Change::PutDestination(Box::new(changed.clone()))], changed))
        })
        .await
    }
}

/// With the rate that was allowed, or why there is no consent.
type Consent = Result<Option<RateLimit>, String>;

fn answered(destination: Destination, consent: Consent) -> Destination {
    match consent {
        Ok(allowed) => Destination {
            handshake: Handshake::Granted,
            // Whoever runs the receiver must not raise what the operator has set.
            rate_limit: match (allowed, destination.rate_limit) {
                (Some(allowed), Some(known)) => Some(known.and(allowed)),
                (allowed, known) => allowed.or(known),
            },
            disabled_reason: None,
            ..destination
        },
        Err(why) => Destination { handshake: Handshake::Wanted, disabled_reason: Some(why), ..destination },
    }
}

fn answer(made: &Made, origin: &HeaderValue) -> Consent {
    match (made.trace.status, &made.problem) {
        // Consent is in the headers, whatever the status is.
        (Some(_), _) => consent(&made.trace.response_headers, origin.to_str().unwrap_or_default()),
        (None, Some(problem)) => Err(format!("The receiver could not be asked for its consent: {problem}")),
        (None, None) => Err("The receiver could not be asked for its consent.".into()),
    }
}

fn consent(headers: &Headers, origin: &str) -> Consent {
    let Some(allowed) = headers.get("webhook-allowed-origin").map(str::trim) else {
        return Err("The receiver did not agree: its response has no WebHook-Allowed-Origin.".into());
    };
    if allowed != "*" && !allowed.eq_ignore_ascii_case(origin) {
        let shown: String = allowed.chars().take(100).collect();
        return Err(format!("The receiver agreed to events from {shown:?} and not from {origin:?}."));
    }
    match headers.get("webhook-allowed-rate").map(str::trim) {
        None | Some("*") => Ok(None),
        Some(text) => match text.parse::<u32>() {
            Ok(per_minute @ 1..) => {
                let per_second = (f64::from(per_minute) / 60.0).min(RATE_PER_SECOND_MAX);
                RateLimit::new(per_second, None).map(Some).map_err(|bad| bad.allowed)
            }
            _ => {
                let shown: String = text.chars().take(100).collect();
                Err(format!("The receiver allows {shown:?} events per minute, which is not a valid rate."))
            }
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use postrider_core::time::Timestamp;

    fn check(headers: &[(&str, &str)]) -> Result<Option<f64>, String> {
        let headers: Headers = headers.iter().copied().collect();
        consent(&headers, "hooks.example.com").map(|rate| rate.map(RateLimit::per_second))
    }

    #[test]
    fn consent_names_our_origin_or_all_and_may_limit_the_rate() {
        let ours = ("WebHook-Allowed-Origin", "hooks.example.com");
        assert_eq!(check(&[ours]), Ok(None));
        assert_eq!(check(&[("webhook-allowed-origin", "*")]), Ok(None));
        assert_eq!(check(&[ours, ("WebHook-Allowed-Rate", "*")]), Ok(None));
        assert_eq!(check(&[ours, ("WebHook-Allowed-Rate", "120")]), Ok(Some(2.0)));
        assert_eq!(check(&[ours, ("WebHook-Allowed-Rate", "1")]).map(|rate| rate.is_some()), Ok(true));
        assert_eq!(check(&[ours, ("WebHook-Allowed-Rate", "4294967295")]), Ok(Some(RATE_PER_SECOND_MAX)));
    }

    #[test]
    fn a_receiver_lowers_the_rate_and_never_raises_it() {
        let rate = |per_second, burst| RateLimit::new(per_second, Some(burst)).ok();
        for (known, allowed, expected) in [
            (None, None, None),
            (None, rate(2.0, 1), rate(2.0, 1)),
            (rate(5.0, 3), None, rate(5.0, 3)),
            (rate(5.0, 3), rate(2.0, 1), rate(2.0, 1)),
            (rate(1.0, 1), rate(2.0, 1), rate(1.0, 1)),
            (rate(5.0, 1), rate(2.0, 4), rate(2.0, 1)),
        ] {
            let (id, account) = (DestinationId::from_u64(1), AccountId::from_u64(1));
            let [name, url, secret] = [(); 3].map(|()| String::new());
            let plain = Destination::new(id, account, name, url, secret, Timestamp::ZERO);
            let found = answered(Destination { rate_limit: known, ..plain }, Ok(allowed));
            assert_eq!(found.rate_limit, expected, "{known:?} {allowed:?}");
        }
    }

    #[test]
    fn anything_else_is_no_consent() {
        let ours = ("WebHook-Allowed-Origin", "hooks.example.com");
        for headers in [
            &[][..],
            &[("WebHook-Allowed-Origin", "other.example.com")],
            &[("WebHook-Allowed-Origin", "")],
            &[("WebHook-Allowed-Rate", "100")],
            &[ours, ("WebHook-Allowed-Rate", "0")],
            &[ours, ("WebHook-Allowed-Rate", "-5")],
            &[ours, ("WebHook-Allowed-Rate", "many")],
            &[ours, ("WebHook-Allowed-Rate", "1e9")],
        ] {
            assert!(check(headers).is_err(), "{headers:?}");
        }
    }
}
