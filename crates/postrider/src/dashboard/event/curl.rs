//! An attempt as a command that makes the same request, for whoever looks for the fault at the receiver.

use serde_json::{Map, Value};

/// What curl makes itself, or what would not be true of another request.
const LEFT_OUT: [&str; 3] = ["host", "content-length", "accept-encoding"];

/// `body` is what is sent, or `None` when it is too long for a command and comes from a file of this name.
pub(super) fn command(url: &str, headers: &Map<String, Value>, body: Option<&str>, file: &str) -> String {
    let mut text = format!("curl -i -X POST {}", quoted(url));
    for (name, value) in headers.iter().filter(|(name, _)| !LEFT_OUT.contains(&name.as_str())) {
        let values: Vec<&str> = match value {
            Value::Array(all) => all.iter().filter_map(Value::as_str).collect(),
            one => one.as_str().into_iter().collect(),
        };
        for value in values {
            text.push_str(&format!(" \\\n  -H {}", quoted(&format!("{name}: {value}"))));
        }
    }
    // Else curl says of the body that it comes from a form.
    if !headers.keys().any(|name| name.eq_ignore_ascii_case("content-type")) {
        text.push_str(" \\\n  -H 'content-type:'");
    }
    match body {
        Some(body) => text.push_str(&format!(" \\\n  --data-raw {}", quoted(body))),
        None => text.push_str(&format!(" \\\n  --data-binary {}", quoted(&format!("@{file}")))),
    }
    text
}

/// For a shell: nothing in it has a meaning.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn nothing_from_outside_has_a_meaning_to_the_shell() {
        let headers = json!({ "host": "a", "x-a": "it's $(rm) `x`", "x-b": ["1", "2"] });
        let text =
            command("http://a/?b=';id;'", headers.as_object().unwrap(), Some("{\"n\": \"'\"}"), "evt.txt");
        assert_eq!(
            text,
            "curl -i -X POST 'http://a/?b='\\'';id;'\\''' \\\n  -H 'x-a: it'\\''s $(rm) `x`' \\\n  -H 'x-b: 1' \\\n  -H 'x-b: 2' \\\n  -H 'content-type:' \\\n  --data-raw '{\"n\": \"'\\''\"}'"
        );
        let typed = json!({ "Content-Type": "text/plain" });
        let long = command("http://a/", typed.as_object().unwrap(), None, "evt.txt");
        assert_eq!(
            long,
            "curl -i -X POST 'http://a/' \\\n  -H 'Content-Type: text/plain' \\\n  --data-binary '@evt.txt'"
        );
    }
}
