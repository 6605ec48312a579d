//! What a person sees at start: where it listens, where the data is, and three lines to try it with.

use super::admin_key::KeyPlace;
use super::bootstrap::FirstThings;
use std::fmt::Write;
use std::net::SocketAddr;
use std::path::Path;

pub(crate) fn text(
    address: SocketAddr,
    place: &str,
    key: &KeyPlace,
    first: &FirstThings,
    open: bool,
) -> String {
    let mut text = String::new();
    let url = format!("http://{address}");
    let _ = writeln!(text, "Postrider {}", env!("CARGO_PKG_VERSION"));
    let _ = writeln!(text, "  listening on  {url}");
    let _ = writeln!(text, "  data in       {place}");
    let bearer = match key {
        KeyPlace::Given => {
            let _ = writeln!(text, "  admin key     as set by POSTRIDER_ADMIN_KEY");
            "$POSTRIDER_ADMIN_KEY".to_owned()
        }
        KeyPlace::File(path) => {
            let _ = writeln!(text, "  admin key     in {}", path.display());
            format!("$(cat {})", quoted(path))
        }
        KeyPlace::Database => {
            let _ = writeln!(text, "  admin key     as the first node showed it");
            "$POSTRIDER_ADMIN_KEY".to_owned()
        }
        KeyPlace::NewInDatabase(key) => {
            let _ = writeln!(text, "  admin key     {key}  (keep it: only its hash is in the database)");
            key.clone()
        }
        KeyPlace::New(path, key) => {
            let _ = writeln!(text, "  admin key     {key}  (also in {})", path.display());
            key.clone()
        }
    };
    if let Some(source) = &first.source {
        let _ = writeln!(text, "\nCreate a destination, route every event to it, and send a first event:\n");
        let _ = writeln!(
            text,
            r#"  D=$(curl -s {url}/v1/destinations -H "Authorization: Bearer {bearer}" -d '{{"name":"first","url":"https://example.com/hook"}}' | grep -o 'dst_[0-9a-z]*')"#
        );
        let _ = writeln!(
            text,
            r#"  curl -s {url}/v1/routes -H "Authorization: Bearer {bearer}" -d "{{\"destination_id\":\"$D\"}}""#
        );
        let _ = writeln!(
            text,
            r#"  curl -s {url}/ingest/{} -H 'X-Event-Type: hello.world' -d '{{"hello":"world"}}'"#,
            source.token
        );
    }
    if !open {
        let _ = writeln!(
            text,
            "\nTo deliver to this machine or a private network, start it with --egress-allow 127.0.0.0/8 (or your range)."
        );
    }
    text
}

/// A path as a shell takes it, whatever is in it.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-".contains(letter);
    if text.chars().all(plain) && !text.starts_with('-') {
        text
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}
