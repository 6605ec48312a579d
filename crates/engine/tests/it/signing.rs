//! Keys: both kinds of signature, and a rotation that breaks no receiver.

use crate::gateway::{Gateway, Setup};
use crate::receiver::{OK, Receiver, Request};
use crate::wait::wait_until;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use postrider_core::time::Timestamp;
use postrider_engine::send::{PrivateKey, SigningSecret};
use postrider_store::{Destination, MemoryStore, PreviousKeys, PrivateKeyText, SignatureVersions, Signing};
use ring::signature::{ED25519, UnparsedPublicKey};
use std::sync::Arc;
use std::time::Duration;

fn key(n: u8) -> Option<PrivateKeyText> {
    Some(PrivateKeyText(PrivateKey::text_of([n; 32])))
}

fn rotated(destination: Destination, until: Timestamp) -> Destination {
    let previous = PreviousKeys { secret: SigningSecret::text_of([1; 32]), private_key: key(1), until };
    let signing =
        Signing { versions: SignatureVersions::Both, private_key: key(2), previous: vec![previous] };
    Destination { signing, ..destination }
}

/// Which of the keys' `v1a` signatures hold, in the order they are listed.
fn verified(request: &Request) -> Vec<u8> {
    let head = format!("{}.{}.", request.one("webhook-id"), request.one("webhook-timestamp"));
    let message = [head.as_bytes(), &request.body].concat();
    let signatures = request.one("webhook-signature").split(' ').filter_map(|one| one.strip_prefix("v1a,"));
    let signer = |signature: &str| {
        let signature = STANDARD.decode(signature).unwrap();
        let holds = |n: &u8| {
            let public = PrivateKey::parse(&key(*n).unwrap().0).unwrap().public_text();
            let public = STANDARD.decode(public.strip_prefix("whpk_").unwrap()).unwrap();
            UnparsedPublicKey::new(&ED25519, public).verify(&message, &signature).is_ok()
        };
        (1..=2).find(holds).expect("somebody has signed")
    };
    signatures.map(signer).collect()
}

#[tokio::test]
async fn the_old_key_signs_beside_the_new_until_its_grace_has_passed() {
    let receiver = Receiver::answering([OK]).await;
    let gateway = Gateway::start().await;
    let now = gateway.engine.clock().now();
    for (until, signers) in [(now.after(Duration::from_secs(3600)), vec![2, 1]), (now, vec![2])] {
        let destination = rotated(gateway.destination(&receiver.url()), until);
        gateway.put(&destination).await;
        assert_eq!(gateway.try_out(&destination).await.status, Some(200));
        let request = receiver.requests().pop().unwrap();
        assert_eq!(verified(&request), signers);
        let v1 = request.one("webhook-signature").split(' ').filter(|one| one.starts_with("v1,")).count();
        assert_eq!(v1, signers.len());
    }
}

#[tokio::test]
async fn keys_that_sign_no_more_are_forgotten_and_the_others_are_not() {
    let store = Arc::new(MemoryStore::new());
    let gateway = Setup { store: store.clone(), ..Setup::default() }.start().await;
    let past = gateway.engine.clock().now();
    let old = rotated(gateway.destination("https://example.com/a"), past);
    let young = rotated(gateway.destination("https://example.com/b"), Timestamp::MAX);
    gateway.put(&old).await;
    gateway.put(&young).await;
    drop(gateway);
    let gateway = Setup { store, ..Setup::default() }.start().await;
    let previous = |of: &Destination| {
        let catalog = gateway.engine.catalog();
        catalog.destination(of.account, of.id).unwrap().signing.previous.len()
    };
    wait_until("old keys are forgotten", async || (previous(&old) == 0).then_some(())).await;
    assert_eq!(previous(&young), 1);
}
