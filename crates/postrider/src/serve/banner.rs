//! What a person sees at start: where it listens, where the data is, and three lines to try it with.

use super::admin_key::KeyPlace;
use super::bootstrap::FirstThings;
use std::fmt::Write;
use std::net::SocketAddr;
use std::path::Path;

/// Who reads it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Audience {
    /// A person at a terminal, who may see secrets.
    Terminal,
    /// A journal, a file or another program: whoever reads those is not who may use the gateway.
    Log,
}

pub(crate) fn text(
    audience: Audience,
    address: SocketAddr,
    (place, key): (&str, &KeyPlace),
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
        KeyPlace::NewInDatabase(key) if audience == Audience::Terminal => {
            let _ = writeln!(text, "  admin key     {key}  (keep it: only its hash is in the database)");
            key.clone()
        }
        KeyPlace::Database | KeyPlace::NewInDatabase(_) => {
            let _ = writeln!(text, "  admin key     as the first node showed it");
            "$POSTRIDER_ADMIN_KEY".to_owned()
        }
        KeyPlace::New(path, key) if audience == Audience::Terminal => {
            let _ = writeln!(text, "  admin key     {key}  (also in {})", path.display());
            key.clone()
        }
        KeyPlace::New(path, _) => {
            let _ = writeln!(text, "  admin key     created now, in {}", path.display());
            format!("$(cat {})", quoted(path))
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
        let ingest = match audience {
            Audience::Terminal => format!("/ingest/{}", source.token),
            Audience::Log => asked_for(&format!("{url}/v1/sources/{}", source.id), &bearer),
        };
        let _ = writeln!(
            text,
            r#"  curl -s {url}{ingest} -H 'X-Event-Type: hello.world' -d '{{"hello":"world"}}'"#
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

/// The path of a source, which a shell asks the gateway for.
fn asked_for(source: &str, bearer: &str) -> String {
    format!(
        r#"$(curl -s {source} -H "Authorization: Bearer {bearer}" | grep -o '/ingest/src_[0-9a-z]*' | head -n 1)"#
    )
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
