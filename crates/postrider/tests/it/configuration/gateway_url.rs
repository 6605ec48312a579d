//! Which gateway and which account a command speaks to, by http or https.

use super::command::Desk;
use crate::rig::certificate::pem;
use crate::rig::{Api, wire};
use rcgen::{CertifiedKey, KeyPair, generate_simple_self_signed};
use serde_json::json;
use std::io::{BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use tokio_rustls::rustls::pki_types::PrivatePkcs8KeyDer;
use tokio_rustls::rustls::{ServerConfig, ServerConnection, StreamOwned, crypto};

/// Answers by TLS what the gateway answers, with the key that it was shown.
fn by_tls(api: Api, identity: &CertifiedKey<KeyPair>) -> SocketAddr {
    let key = PrivatePkcs8KeyDer::from(identity.signing_key.serialize_der());
    let config = ServerConfig::builder_with_provider(Arc::new(crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![identity.cert.der().clone()], key.into())
        .unwrap();
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
            let _ = answer(&api, StreamOwned::new(connection, stream.unwrap()));
        }
    });
    address
}

fn answer(api: &Api, stream: StreamOwned<ServerConnection, TcpStream>) -> std::io::Result<()> {
    let mut stream = BufReader::new(stream);
    let Some(request) = wire::read(&mut stream)? else { return Ok(()) };
    let mut words = request.first_line.split(' ');
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let key = request.headers.get("authorization").and_then(|value| value.strip_prefix("Bearer "));
    let answer = api.with_key(key.unwrap_or_default()).call(method, path, &[], &request.body);
    let head = format!("HTTP/1.1 {} Told\r\ncontent-length: {}\r\n\r\n", answer.status, answer.body.len());
    let stream = stream.get_mut();
    stream.write_all(head.as_bytes())?;
    stream.write_all(&answer.body)?;
    stream.flush()
}

const FILE: &str = "sources: [{name: shop}]\n";

#[test]
fn a_gateway_is_spoken_to_by_https_if_its_certificate_is_trusted() {
    let mut desk = Desk::with_secrets();
    let identity = generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let address = by_tls(desk.gateway.api(), &identity);
    desk.url = format!("https://localhost:{}", address.port());
    let refused = desk.apply(FILE);
    assert_eq!(refused.code, 3, "{refused:?}");
    assert!(refused.err.contains("cannot be reached"), "nobody vouches for it");

    let path = desk.site.path().join("roots.pem");
    std::fs::write(&path, pem(identity.cert.der())).unwrap();
    desk.variables.push(("SSL_CERT_FILE".into(), path.to_str().unwrap().into()));
    desk.apply(FILE).out(0);
    assert_eq!(desk.object("/v1/sources", "shop")["status"], "active");
}

#[test]
fn the_admin_key_acts_for_the_account_that_is_named() {
    let desk = Desk::with_secrets();
    let made = desk.gateway.api().post("/v1/accounts", &json!({ "name": "other" })).data(201);
    let account = made["account"]["id"].as_str().unwrap();
    desk.run(&["apply", "-f", "-", "--yes", "--account", account], FILE).out(0);
    assert!(desk.plan(FILE).out(2).starts_with("+ source shop\n"), "the first account has none");
    let plan = desk.run(&["plan", "-f", "-", "--account", account], FILE);
    assert!(plan.out(0).starts_with("No changes."), "{plan:?}");
}

#[test]
fn a_wrong_flag_is_an_error_and_no_change() {
    let desk = Desk::with_secrets();
    assert!(desk.run(&["plan", "-f", "-", "--purge"], FILE).err().contains("--purge"));
    assert!(desk.run(&["plan", "--help"], "").out(0).contains("postrider plan -f gateway.yaml"));
}
