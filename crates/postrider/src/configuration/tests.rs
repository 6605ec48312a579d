//! Files in both languages, and what is read, hidden, compared and written of them.

use super::difference::same;
use super::file::{Format, read};
use super::kind::{KINDS, Kind};
use super::node::Mistake;
use super::object::{Declared, Existing};
use super::plan::{Step, Wishes, plan};
use super::{secret, toml_tree, yaml, yaml_text};
use crate::api::{declared, document};
use serde_json::{Value, json};

fn yaml_json(text: &str) -> Result<Value, Vec<Mistake>> {
    let mut mistakes = Vec::new();
    let node = yaml::parse(text, &mut mistakes).map(|node| node.json());
    node.filter(|_| mistakes.is_empty()).ok_or(mistakes)
}

#[test]
fn yaml_means_what_its_core_schema_says() {
    for (text, value) in [
        ("a: 1", json!({"a": 1})),
        ("a: -1", json!({"a": -1})),
        ("a: 2.5", json!({"a": 2.5})),
        ("a: 1e3", json!({"a": 1000.0})),
        ("a: 1.2.3", json!({"a": "1.2.3"})),
        ("a: 2031-01-01", json!({"a": "2031-01-01"})),
        ("a: no", json!({"a": "no"})),
        ("a: 'true'", json!({"a": "true"})),
        ("a: true", json!({"a": true})),
        ("a:", json!({"a": null})),
        ("a: ~", json!({"a": null})),
        ("a: !!str 5", json!({"a": "5"})),
        ("a: &x {b: 1}\nc: *x", json!({"a": {"b": 1}, "c": {"b": 1}})),
        ("", json!({})),
        ("# nothing", json!({})),
        ("- 1\n- [2, x]", json!([1, [2, "x"]])),
    ] {
        assert_eq!(yaml_json(text), Ok(value), "{text}");
    }
}

#[test]
fn yaml_that_is_none_or_too_much_is_refused_with_its_place() {
    let bomb: String =
        (1..10).map(|n| format!("a{n}: &a{n} [{}]\n", vec![format!("*a{}", n - 1); 10].join(", "))).collect();
    let deep = "[".repeat(100);
    for (text, said) in [
        ("a: 1\na: 2", "2:1 a is given twice."),
        ("a: [1", "2:1 This is not YAML"),
        ("a: 1\n---\nb: 2", "3:1 There is a second document"),
        ("a: !thing x", "1:4 The tag !thing is not understood"),
        ("? [a]\n: b", "1:3 The name of a field must be a text."),
        (&format!("a0: &a0 x\n{bomb}"), "There are more than 200000 values."),
        (&deep, "1:66 This is more than 64 levels deep."),
    ] {
        let mistakes = yaml_json(text).unwrap_err();
        let shown = format!("{} {}", mistakes[0].place, mistakes[0].sentence);
        assert!(shown.contains(said), "{said:?} is not {shown:?}");
    }
}

#[test]
fn toml_gives_the_same_tree() {
    let mut mistakes = Vec::new();
    let text =
        "[[sources]]\nname = \"shop\"\nat = 2031-01-01T00:00:00Z\nn = 0x10\nf = 2.5\nlist = [1, true]\n";
    let node = toml_tree::parse(text, &mut mistakes).unwrap();
    let source = json!({"name": "shop", "at": "2031-01-01T00:00:00Z", "n": 16, "f": 2.5, "list": [1, true]});
    assert_eq!(node.json(), json!({ "sources": [source] }));
    assert_eq!(node.place_of("sources[0].n").to_string(), "4:1");
    assert!(toml_tree::parse("a = 1\na = 2\nb = \n", &mut mistakes).is_none());
    assert_eq!(mistakes.len(), 2, "{mistakes:?}");
}

#[test]
fn what_is_written_is_read_as_it_was() {
    let value = json!({
        "words": ["true", "no", "5", "", " a", "a b", "a: b", "#x", "ä", "line\nline", "-", "a-b", "https://example.com", "{x}"],
        "block": "a\n b: c\n#d\n", "kept": "a\nb", "two": "a\n\n", "blank": " a\nb", "only": "\n", "tab": "\ta\nb", "cr": "a\r\nb",
        "one": "a\n", "numbers": [1, -2, 2.5], "empty": {}, "none": null, "on": true,
        "deep": [{"a": [{"b": {"env": "X"}}], "c": [[1], ["x"]]}, {"env": "Y"}],
    });
    assert_eq!(yaml_json(&yaml_text::write(&value)), Ok(value));
}

/// The names of all fields inside of a schema, through references.
fn inner_fields(schema: &Value, schemas: &Value, found: &mut Vec<String>) {
    match schema {
        Value::Object(parts) => {
            found.extend(
                parts
                    .get("properties")
                    .and_then(Value::as_object)
                    .into_iter()
                    .flatten()
                    .map(|(name, _)| name.clone()),
            );
            let referred = parts.get("$ref").and_then(Value::as_str).and_then(|path| path.rsplit('/').next());
            referred.into_iter().for_each(|name| inner_fields(&schemas[name], schemas, found));
            parts.values().for_each(|part| inner_fields(part, schemas, found));
        }
        Value::Array(parts) => parts.iter().for_each(|part| inner_fields(part, schemas, found)),
        _ => {}
    }
}

#[test]
fn every_secret_of_the_api_is_known() {
    let document: Value = serde_json::from_slice(&document::text()).unwrap();
    let schemas = &document["components"]["schemas"];
    let suspicious = |field: &&String| {
        ["secret", "token", "password", "private_key"].iter().any(|word| field.contains(word))
    };
    let check = |text: String| {
        let node = yaml::parse(&text, &mut Vec::new()).unwrap();
        let known = KINDS.iter().any(|kind| !secret::find(*kind, &node).written_out.is_empty());
        assert!(known, "{text} could be written out");
    };
    let mut checked = 0;
    for request in ["NewDestination", "NewSource", "NewRoute", "NewEventType", "NewApiKey"] {
        for (field, schema) in schemas[request]["properties"].as_object().unwrap() {
            Some(field).filter(suspicious).into_iter().for_each(|field| check(format!("{field}: literal")));
            let mut inner = Vec::new();
            inner_fields(schema, schemas, &mut inner);
            for part in inner.iter().filter(suspicious) {
                let value = if part.ends_with('s') { "[literal]" } else { "literal" };
                check(format!("{field}: {{{part}: {value}}}"));
                checked += 1;
            }
        }
    }
    assert!(checked >= 3, "only {checked} places inside of fields were found");
}

#[test]
fn what_is_hidden_here_is_what_the_api_hides() {
    let check = |field: &str, given: Value, others: Value, show: fn(_) -> _| {
        let object = |value: &Value| {
            let mut object = json!({ "name": "x", field: value });
            object.as_object_mut().unwrap().extend(others.as_object().unwrap().clone());
            object.as_object().unwrap().clone()
        };
        let with = serde_json::from_str(&given.to_string().replace(r#"{"env":"X"}"#, r#""value""#)).unwrap();
        let shown: Result<serde_json::Map<String, Value>, declared::Refused> = show(object(&with));
        let shown = shown.unwrap_or_else(|refused| panic!("{}", refused.sentence));
        assert_eq!(secret::redacted(field, &given), shown[field], "{field}");
    };
    let env = json!({ "env": "X" });
    let url = json!({ "url": "https://example.com" });
    check("auth_config", json!({ "type": "bearer", "token": env }), url.clone(), declared::destination);
    check(
        "auth_config",
        json!({ "type": "header", "header": "X-Key", "value": env }),
        url.clone(),
        declared::destination,
    );
    check("custom_headers", json!({ "X-One": env, "x-two": env }), url, declared::destination);
    check("verification_config", json!({ "header": "X-A", "secret": env }), json!({}), declared::source);
    check(
        "verification_config",
        json!({ "header": "X-A", "secrets": [env, env] }),
        json!({}),
        declared::source,
    );
    check("verification_config", json!({ "header": "X-A", "secrets": [env] }), json!({}), declared::source);
}

#[test]
fn variables_are_named_after_what_they_hold() {
    for (name, field, variable) in [
        ("billing", "auth_token", "BILLING_AUTH_TOKEN"),
        ("Über uns", "signing_secret", "BER_UNS_SIGNING_SECRET"),
        ("2nd", "header_X-Env", "_2ND_HEADER_X_ENV"),
        ("", "auth_config.token", "AUTH_CONFIG_TOKEN"),
    ] {
        assert_eq!(secret::suggested(name, field), variable);
    }
}

#[test]
fn equal_is_what_means_the_same() {
    for (one, other, equal) in [
        (json!(2), json!(2.0), true),
        (json!({"a": 1, "b": [2]}), json!({"b": [2.0], "a": 1}), true),
        (json!({"a": 1}), json!({"a": 1, "b": null}), false),
        (json!([1, 2]), json!([2, 1]), false),
        (json!(null), json!(false), false),
    ] {
        assert_eq!(same(&one, &other), equal, "{one} and {other}");
    }
}

fn declared_by(text: &str) -> Vec<Declared> {
    read(text, Format::Yaml).unwrap_or_else(|mistakes| panic!("{mistakes:?}"))
}

/// A gateway that has what a file says.
fn existing_by(text: &str) -> Vec<Existing> {
    let numbered = (0..).zip(declared_by(text));
    let existing = numbered.map(|(id, Declared { kind, name, settings, .. }): (u32, _)| Existing {
        kind,
        name,
        id: id.to_string(),
        key_prefix: None,
        settings,
    });
    existing.collect()
}

fn planned(file: &str, gateway: &str) -> Vec<String> {
    let wishes = Wishes { prune: true, ..Wishes::default() };
    let plan = plan(&declared_by(file), &existing_by(gateway), wishes).unwrap_or_else(|no| panic!("{no:?}"));
    let sign = |step: &Step| match step {
        Step::Create { .. } => '+',
        Step::Change { .. } => '~',
        Step::Delete { .. } => '-',
    };
    plan.steps.iter().map(|step| format!("{}{} {}", sign(step), step.kind().noun(), step.name())).collect()
}

const ENDS: &str = "sources: [{name: s}]\ndestinations: [{name: d, url: https://example.com}]\n";

#[test]
fn nothing_is_led_to_before_it_is_there_or_from_after_it_is_gone() {
    let old = "sources: [{name: s, status: inactive}, {name: gone}]\n\
        destinations: [{name: gone, url: https://example.com}]\n\
        routes: [{source: gone, destination: gone}]\napi_keys: [{name: k}]\n";
    let new = "api_keys: [{name: new}]\nroutes: [{source: s, destination: d}]\nsources: [{name: s}, {name: t}]\n\
        destinations: [{name: d, url: https://example.com}]\nevent_types: [{event_type: a, schema: {}}]\n";
    let expected = [
        "+destination d",
        "+source t",
        "+route s → d (**)",
        "~source s",
        "+event type a",
        "+API key new",
        "-route gone → gone (**)",
        "-source gone",
        "-destination gone",
        "-API key k",
    ];
    assert_eq!(planned(new, old), expected);
}

#[test]
fn routes_with_the_same_ends_are_told_apart_by_filter_and_then_by_order() {
    let route = |extra: &str| format!("  - {{destination: d, {extra}}}\n");
    let routes = |extras: &[&str]| {
        format!("{ENDS}routes:\n{}", extras.iter().map(|extra| route(extra)).collect::<String>())
    };
    let two = routes(&["filter: 'true', priority: 1", "filter: 'false', priority: 2"]);
    let check = |file: &[&str], steps: &[&str]| assert_eq!(planned(&routes(file), &two), steps, "{file:?}");
    let name = "route any source → d (**)";
    check(&["filter: 'false', priority: 2", "filter: 'true', priority: 1"], &[]);
    check(&["filter: 'false', priority: 2", "filter: '1 == 1', priority: 1"], &[&format!("~{name}")]);
    check(&["filter: 'false', priority: 2"], &[&format!("-{name}")]);
    check(
        &["filter: 'true', priority: 1", "filter: 'false', priority: 2", "priority: 3"],
        &[&format!("+{name}")],
    );
    check(
        &["event_type_pattern: a, priority: 1"],
        &["+route any source → d (a)", &format!("-{name}"), &format!("-{name}")],
    );
    assert_eq!(Kind::Route.name_field(), None);
}
