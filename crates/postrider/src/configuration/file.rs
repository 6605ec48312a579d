//! Reads a file into what it declares. Every mistake of it is found in one go.

use super::kind::{KINDS, Kind};
use super::node::{Entry, Mistake, Node, Part, Place};
use super::object::{Declared, name_of, settings};
use super::secret::{self, Found, Secret};
use super::{toml_tree, yaml};
use crate::api::declared::{self, Refused};
use serde_json::{Map, Value, json};

/// The language of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    Yaml,
    Toml,
}

impl Format {
    /// By its ending; YAML when it has none that says otherwise.
    pub(super) fn of(path: &str) -> Self {
        if path.ends_with(".toml") { Format::Toml } else { Format::Yaml }
    }
}

/// What a file declares, or all that is wrong with it in the order of its lines.
pub(super) fn read(text: &str, format: Format) -> Result<Vec<Declared>, Vec<Mistake>> {
    let mut mistakes = Vec::new();
    let root = match format {
        Format::Yaml => yaml::parse(text, &mut mistakes),
        Format::Toml => toml_tree::parse(text, &mut mistakes),
    };
    let declared = root.map(|root| Reader { mistakes: &mut mistakes }.root(&root)).unwrap_or_default();
    check_names(&declared, &mut mistakes);
    if mistakes.is_empty() {
        return Ok(declared);
    }
    mistakes.extend(declared.iter().flat_map(|object| &object.secrets).filter_map(unset));
    mistakes.sort();
    mistakes.dedup();
    Err(mistakes)
}

/// Beside other mistakes it is told at once; alone it is one only when the secret must be sent.
fn unset(secret: &Secret) -> Option<Mistake> {
    let missing = secret::set(&secret.variable).is_none();
    missing.then(|| Mistake::at(secret.place, format!("The variable {} is not set.", secret.variable)))
}

struct Reader<'a> {
    mistakes: &'a mut Vec<Mistake>,
}

impl Reader<'_> {
    fn say(&mut self, place: Place, sentence: String) {
        self.mistakes.push(Mistake::at(place, sentence));
    }

    fn root(&mut self, root: &Node) -> Vec<Declared> {
        let sections = KINDS.map(Kind::section).join(", ");
        if !matches!(root.part, Part::Object(_)) {
            self.say(root.place, format!("A file is an object of {sections}."));
        }
        let mut declared = Vec::new();
        for entry in root.entries() {
            match KINDS.into_iter().find(|kind| kind.section() == entry.name) {
                Some(kind) => declared.extend(self.section(kind, entry)),
                None => {
                    self.say(
                        entry.place,
                        format!("{} is not a section; allowed are {sections}.", entry.name),
                    );
                }
            }
        }
        declared
    }

    fn section(&mut self, kind: Kind, entry: &Entry) -> Vec<Declared> {
        match &entry.node.part {
            Part::List(nodes) => nodes.iter().filter_map(|node| self.object(kind, node)).collect(),
            Part::Scalar(Value::Null) => Vec::new(),
            Part::Scalar(_) | Part::Object(_) => {
                self.say(entry.node.place, format!("{} must be a list.", entry.name));
                Vec::new()
            }
        }
    }

    fn object(&mut self, kind: Kind, node: &Node) -> Option<Declared> {
        if !matches!(node.part, Part::Object(_)) {
            self.say(node.place, format!("An entry of {} must be an object.", kind.section()));
            return None;
        }
        for entry in node.entries().iter().filter(|entry| !kind.fields().contains(&entry.name)) {
            let allowed = kind.fields().join(", ");
            self.say(
                entry.place,
                format!("{} is not a field of {}; allowed are {allowed}.", entry.name, a(kind)),
            );
        }
        let known = node.entries().iter().filter(|entry| kind.fields().contains(&entry.name));
        let fields: Map<String, Value> = known.map(|entry| (entry.name.clone(), entry.node.json())).collect();
        let Found { secrets, written_out } = secret::find(kind, node);
        let mut readable = fields.clone();
        for Secret { field, variable, place } in &written_out {
            let sentence = format!(
                "{field} is a secret and must not be written here; name a variable that holds it: {{env: {variable}}}."
            );
            self.say(*place, sentence);
            readable.remove(field.split('.').next().unwrap_or_default());
        }
        let shown = self.shown(kind, node, readable, &secrets)?;
        let settings = settings(kind, &shown);
        Some(Declared { kind, name: name_of(kind, &settings), place: node.place, fields, settings, secrets })
    }

    /// What the API would make of it. A field that it refuses is told and left out, to find the next.
    fn shown(
        &mut self,
        kind: Kind,
        node: &Node,
        mut fields: Map<String, Value>,
        secrets: &[Secret],
    ) -> Option<Map<String, Value>> {
        let ends = self.ends(kind, node, &mut fields);
        let unseen = set_secrets(&mut fields, secrets);
        loop {
            let Refused { field, sentence } = match show(kind, fields.clone()) {
                Ok(mut shown) => {
                    shown.extend(ends);
                    shown.extend(unseen);
                    return Some(shown);
                }
                Err(refused) => refused,
            };
            let field = field.unwrap_or_default();
            self.say(node.place_of(&field), sentence);
            let outer = field.split(['.', '[']).next().unwrap_or_default();
            match (fields.remove(outer), outer) {
                // Without its name there is nothing that others could refer to; what else is wrong is found all the same.
                (_, "name") => fields.insert("name".into(), " ?".into()),
                (_, "url") => fields.insert("url".into(), "https://example.com".into()),
                (_, "event_type") => fields.insert("event_type".into(), "unknown".into()),
                (_, "schema") => fields.insert("schema".into(), json!({})),
                (None, _) => return None,
                (Some(_), _) => None,
            };
        }
    }

    /// The names of a route's ends. Whether there are such objects is looked at when all are read.
    fn ends(&mut self, kind: Kind, node: &Node, fields: &mut Map<String, Value>) -> Map<String, Value> {
        let mut ends = Map::new();
        if kind != Kind::Route {
            return ends;
        }
        for end in ["source", "destination"] {
            match fields.remove(end) {
                Some(Value::String(name)) => drop(ends.insert(end.to_owned(), name.into())),
                None | Some(Value::Null) if end == "source" => {}
                None | Some(Value::Null) => self.say(node.place, "destination is missing.".into()),
                Some(_) => self.say(node.place_of(end), format!("{end} must be the name of a {end}.")),
            }
        }
        ends
    }
}

/// Puts in what the variables hold. A field with one that is not set is taken out and given as it would be shown.
fn set_secrets(fields: &mut Map<String, Value>, secrets: &[Secret]) -> Map<String, Value> {
    let mut unseen = Map::new();
    let mut outer: Vec<&str> = secrets.iter().map(Secret::outer).collect();
    outer.dedup();
    for field in outer {
        let Some(given) = fields.remove(field) else { continue };
        match secret::resolved(field, &given, secrets) {
            Some(value) => drop(fields.insert(field.to_owned(), value)),
            None if given
                .as_object()
                .is_some_and(|object| object.len() > 1 || !object.contains_key("env")) =>
            {
                unseen.insert(field.to_owned(), secret::redacted(field, &given));
                if field == "verification_config"
                    && fields.get("auth_mode").is_none_or(|mode| mode == "shared_secret")
                {
                    fields.remove("auth_mode");
                    unseen.insert("auth_mode".into(), "shared_secret".into());
                }
            }
            None => {}
        }
    }
    unseen
}

fn show(kind: Kind, fields: Map<String, Value>) -> Result<Map<String, Value>, Refused> {
    match kind {
        Kind::EventType => declared::event_type(fields),
        Kind::Destination => declared::destination(fields),
        Kind::Source => declared::source(fields),
        Kind::Route => declared::route(fields),
        Kind::ApiKey => declared::api_key(fields),
    }
}

/// What an object is when only its name is given, to tell a setting from a default.
pub(super) fn blank(kind: Kind, settings: &Map<String, Value>) -> Map<String, Value> {
    let needed = ["name", "url", "event_type", "schema"];
    let given = needed.iter().filter_map(|field| Some(((*field).to_owned(), settings.get(*field)?.clone())));
    show(kind, given.collect()).map(|shown| self::settings(kind, &shown)).unwrap_or_default()
}

fn a(kind: Kind) -> String {
    let vowel = kind.noun().starts_with(['a', 'e', 'i', 'o', 'u', 'A']);
    format!("{} {}", if vowel { "an" } else { "a" }, kind.noun())
}

/// Every name once, and no route to what the file does not hold.
fn check_names(declared: &[Declared], mistakes: &mut Vec<Mistake>) {
    for (index, object) in declared.iter().enumerate() {
        let same = |other: &&Declared| {
            other.kind == object.kind
                && other.name == object.name
                && other.settings.get("filter") == object.settings.get("filter")
        };
        let is_named = object.kind.name_field().is_none_or(|field| object.fields.contains_key(field));
        if let Some(first) = declared[..index].iter().find(same).filter(|_| is_named) {
            let noun = object.kind.noun();
            let sentence = format!("The {noun} {} is already declared at {}.", object.name, first.place);
            mistakes.push(Mistake::at(object.place, sentence));
        }
        if object.kind == Kind::Route {
            check_ends(object, declared, mistakes);
        }
    }
}

fn check_ends(route: &Declared, declared: &[Declared], mistakes: &mut Vec<Mistake>) {
    for (end, kind) in [("source", Kind::Source), ("destination", Kind::Destination)] {
        let Some(name) = route.settings.get(end).and_then(Value::as_str) else { continue };
        if !declared.iter().any(|object| object.kind == kind && object.name == name) {
            let sentence = format!("There is no {end} named {name} in this file.");
            mistakes.push(Mistake::at(route.place, sentence));
        }
    }
}
