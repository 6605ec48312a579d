//! An attempt as a command that makes the same request, for whoever looks for the fault at the receiver. What of it cannot
//! be the same stands in comments above it.

use crate::dashboard::visible::is_named;
use serde_json::{Map, Value};
use url::Url;

/// What curl makes itself, or what would not be true of another request.
const LEFT_OUT: [&str; 3] = ["host", "content-length", "accept-encoding"];
/// In the place of what is kept from everybody.
const REDACTED: &str = "[redacted]";

/// The request to be made.
pub(super) struct Request<'a> {
    /// Where its destination is now.
    pub(super) url: &'a str,
    /// As they were sent.
    pub(super) headers: &'a Map<String, Value>,
    pub(super) body: Body<'a>,
    /// Of the body, however it is given.
    pub(super) body_bytes: u64,
}

pub(super) enum Body<'a> {
    Text(&'a str),
    /// Downloaded before, since it is too long for a command or no text.
    File(&'a str),
}

impl Request<'_> {
    pub(super) fn command(&self) -> String {
        let mut text: String = self.remarks().iter().map(|remark| format!("# {remark}\n")).collect();
        text.push_str(&format!("curl -i -X POST {}", quoted(self.url)));
        for (name, value) in self.headers.iter().filter(|(name, _)| !LEFT_OUT.contains(&name.as_str())) {
            for value in values(value).filter(|value| *value != REDACTED) {
                text.push_str(&format!(" \\\n  -H {}", quoted(&format!("{name}: {value}"))));
            }
        }
        // Else curl says of the body that it comes from a form.
        if !self.headers.keys().any(|name| name.eq_ignore_ascii_case("content-type")) {
            text.push_str(" \\\n  -H 'content-type:'");
        }
        let (option, body) = match self.body {
            Body::Text(body) => ("--data-raw", quoted(body)),
            Body::File(name) => ("--data-binary", quoted(&format!("@{name}"))),
        };
        text.push_str(&format!(" \\\n  {option} {body}"));
        text
    }

    /// What is not as it was sent.
    fn remarks(&self) -> Vec<String> {
        let redacted = self.headers.iter().filter(|(_, value)| values(value).any(|value| value == REDACTED));
        let redacted: Vec<&str> = redacted.map(|(name, _)| name.as_str()).collect();
        let mut remarks = Vec::new();
        if !redacted.is_empty() {
            remarks.push(format!("Add the secret values: {}", redacted.join(", ")));
        }
        if let Some(host) = self.header("host").filter(|host| !self.is_for(host)) {
            remarks.push(format!("The attempt went to {host}; this is the current URL of the destination."));
        }
        if let Some(sent) = self.header("content-length").filter(|sent| *sent != self.body_bytes.to_string())
        {
            let bytes = self.body_bytes;
            remarks.push(format!(
                "The attempt sent {sent} bytes; this body has {bytes}, so the signature does not match."
            ));
        }
        remarks
    }

    /// One that is redacted says nothing.
    fn header(&self, name: &str) -> Option<&str> {
        values(self.headers.get(name)?).next().filter(|value| *value != REDACTED)
    }

    fn is_for(&self, host: &str) -> bool {
        let Ok(url) = Url::parse(self.url) else { return false };
        let sent = Url::parse(&format!("{}://{host}/", url.scheme()));
        sent.is_ok_and(|sent| sent.origin() == url.origin())
    }
}

fn values(value: &Value) -> impl Iterator<Item = &str> {
    let many = value.as_array().into_iter().flatten();
    many.chain(value.is_string().then_some(value)).filter_map(Value::as_str)
}

/// For a shell: nothing in it has a meaning. What would not be seen is written by its bytes, as bash, zsh and ksh read them:
/// whoever copies the command has read all of it.
fn quoted(text: &str) -> String {
    if !text.contains(is_named) {
        return format!("'{}'", text.replace('\'', "'\\''"));
    }
    let mut written = String::from("$'");
    for character in text.chars() {
        match character {
            '\'' | '\\' => written.extend(['\\', character]),
            unseen if is_named(unseen) => {
                let mut bytes = [0; 4];
                let bytes = unseen.encode_utf8(&mut bytes).bytes();
                written.extend(bytes.map(|byte| format!("\\x{byte:02x}")));
            }
            other => written.push(other),
        }
    }
    written + "'"
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn command(url: &str, headers: &Value, body: Body<'_>, body_bytes: u64) -> String {
        Request { url, headers: headers.as_object().unwrap(), body, body_bytes }.command()
    }

    #[test]
    fn nothing_from_outside_has_a_meaning_to_the_shell() {
        let headers = json!({ "host": "a", "x-a": "it's $(rm) `x`", "x-b": ["1", "2"] });
        let text = command("http://a/?b=';id;'", &headers, Body::Text("{\"n\": \"'\"}"), 10);
        assert_eq!(
            text,
            "curl -i -X POST 'http://a/?b='\\'';id;'\\''' \\\n  -H 'x-a: it'\\''s $(rm) `x`' \\\n  -H 'x-b: 1' \\\n  -H 'x-b: 2' \\\n  -H 'content-type:' \\\n  --data-raw '{\"n\": \"'\\''\"}'"
        );
        let typed = json!({ "Content-Type": "text/plain" });
        let unseen = command("http://a/", &typed, Body::Text("it's \\ \u{202e}\u{1b}[0m\n$x"), 10);
        assert!(unseen.ends_with("--data-raw $'it\\'s \\\\ \\xe2\\x80\\xae\\x1b[0m\n$x'"), "{unseen}");
        let long = command("http://a/", &typed, Body::File("evt.txt"), 10);
        assert_eq!(
            long,
            "curl -i -X POST 'http://a/' \\\n  -H 'Content-Type: text/plain' \\\n  --data-binary '@evt.txt'"
        );
    }

    #[test]
    fn what_cannot_be_as_it_was_sent_is_said_above_it() {
        let headers = json!({
            "host": "old.example.com", "content-length": "7", "authorization": "[redacted]", "x-own": ["[redacted]"],
            "content-type": "text/plain",
        });
        assert_eq!(
            command("https://new.example.com/in", &headers, Body::Text("12345"), 5),
            "# Add the secret values: authorization, x-own\n\
             # The attempt went to old.example.com; this is the current URL of the destination.\n\
             # The attempt sent 7 bytes; this body has 5, so the signature does not match.\n\
             curl -i -X POST 'https://new.example.com/in' \\\n  -H 'content-type: text/plain' \\\n  --data-raw '12345'"
        );
        for (url, host) in
            [("https://a.b/x", "a.b"), ("https://a.b/", "a.b:443"), ("http://[::1]:80/", "[::1]")]
        {
            let said = command(url, &json!({ "host": host, "content-length": "0" }), Body::Text(""), 0);
            assert!(said.starts_with("curl"), "{said}");
        }
    }
}
