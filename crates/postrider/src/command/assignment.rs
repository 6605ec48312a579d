//! Fields on the command line: `name=text`, `name:=json`, and `@file` in place of either, since what stands on a
//! command line can be read by everyone on the machine.

use anyhow::{Context as _, bail, ensure};
use serde_json::{Map, Value};
use std::io::Read as _;

/// Far above what the API takes.
const FILE_BYTES_MAX: u64 = 8 << 20;

/// What a command line says, in the order in which it says it. `auth_config.type=bearer` goes into an object.
pub(super) fn object(given: &[String]) -> anyhow::Result<Value> {
    let mut object = Map::new();
    for one in given {
        let (path, value) = parse(one)?;
        put(&mut object, &path, value).with_context(|| format!("{path} cannot be set"))?;
    }
    Ok(Value::Object(object))
}

fn parse(given: &str) -> anyhow::Result<(String, Value)> {
    let Some((name, value)) = given.split_once('=') else {
        bail!("{given:?} is not an assignment; use name=text or name:=json");
    };
    let (name, is_json) = name.strip_suffix(':').map_or((name, false), |name| (name, true));
    ensure!(!name.is_empty(), "{given:?} has no name before the =");
    let text = match value.strip_prefix('@') {
        Some(path) => read(path).with_context(|| format!("cannot read {path} for {name}"))?,
        None => value.to_owned(),
    };
    if !is_json {
        return Ok((name.to_owned(), Value::String(text)));
    }
    // The sentence of the parser may quote what it read, which may be a secret.
    let parsed = serde_json::from_str(&text).ok();
    let parsed =
        parsed.with_context(|| format!("the value of {name}:= is not JSON; use name=text for text"))?;
    Ok((name.to_owned(), parsed))
}

fn read(path: &str) -> anyhow::Result<String> {
    let mut text = String::new();
    match path {
        "-" => std::io::stdin().take(FILE_BYTES_MAX).read_to_string(&mut text)?,
        path => std::fs::File::open(path)?.take(FILE_BYTES_MAX).read_to_string(&mut text)?,
    };
    // Editors end a file with a line break that is no part of a secret.
    Ok(text.strip_suffix('\n').unwrap_or(&text).to_owned())
}

fn put(object: &mut Map<String, Value>, path: &str, value: Value) -> anyhow::Result<()> {
    let Some((outer, inner)) = path.split_once('.') else {
        ensure!(object.insert(path.to_owned(), value).is_none(), "it is given twice");
        return Ok(());
    };
    let within = object.entry(outer).or_insert_with(|| Value::Object(Map::new()));
    let within = within.as_object_mut().with_context(|| format!("{outer} is not an object"))?;
    put(within, inner, value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn fields_are_text_or_json_and_may_be_inside_of_others() {
        let check = |given: &[&str], wanted: Value| {
            let given: Vec<String> = given.iter().map(|one| (*one).to_owned()).collect();
            assert_eq!(object(&given).expect("it is legal"), wanted);
        };
        check(&["name=a=b", "max_concurrency:=7"], json!({ "name": "a=b", "max_concurrency": 7 }));
        check(&["a.b=1", "a.c:=[true]"], json!({ "a": { "b": "1", "c": [true] } }));
        check(&["rate_limit:=null"], json!({ "rate_limit": null }));
    }

    #[test]
    fn what_is_no_field_is_refused_without_showing_its_value() {
        let check = |given: &[&str], wanted: &str| {
            let given: Vec<String> = given.iter().map(|one| (*one).to_owned()).collect();
            let said = format!("{:#}", object(&given).expect_err("it is refused"));
            assert!(said.contains(wanted) && !said.contains("hidden"), "{said}");
        };
        check(&["name"], "name=text or name:=json");
        check(&["=x"], "no name");
        check(&["signing_secret:=hidden"], "signing_secret");
        check(&["a=1", "a=2"], "twice");
        check(&["a=1", "a.b=2"], "a is not an object");
    }
}
