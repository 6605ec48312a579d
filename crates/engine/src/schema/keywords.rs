//! Keywords whose work is not in looking at a value but in what is done with it: each pays for that first.

use super::body_of_text;
use super::fuel::{NOTE_FUEL, of_bytes, spend};
use super::metered::{Metered, MeteredValue};
use super::multiple_of::Decimal;
use super::pattern;
use jsonschema::{Keyword, ValidationError, ValidationOptions, Validator};
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Longest text that may be of one of these formats. Some of their checks take time by the square of the length, or
/// keep what they have seen.
const FORMATS_OF_SHORT_TEXTS: [(&str, usize); 6] = [
    ("email", 1024),
    ("idn-email", 1024),
    ("hostname", 1024),
    ("idn-hostname", 1024),
    ("regex", 4096),
    ("duration", 1024),
];

/// What it costs to hold a text against something.
#[derive(Clone, Copy, Debug)]
pub(super) struct TextPrice {
    pub(super) fixed: u64,
    pub(super) sixteen_bytes: u64,
}

impl TextPrice {
    fn pay(self, text: &str) {
        spend(self.fixed.saturating_add(self.sixteen_bytes.saturating_mul(of_bytes(text.len(), 16) + 1)));
    }
}

/// A keyword about texts, by the validator's own code.
struct OfText {
    validator: Arc<Validator>,
    price: TextPrice,
    /// A longer text is not even looked at, and is none.
    bytes_max: usize,
    /// What it is not, then.
    name: String,
    /// It is read as JSON, which takes memory.
    is_built: bool,
}

impl OfText {
    fn is_refused(&self, text: &str) -> bool {
        text.len() > self.bytes_max || (self.is_built && !body_of_text(text).may_be_built())
    }
}

impl<'i> Keyword<'i, Metered> for OfText {
    fn is_valid(&self, MeteredValue(value): MeteredValue<'i>) -> bool {
        let Some(text) = value.as_str() else { return true };
        self.price.pay(text);
        !self.is_refused(text) && self.validator.is_valid(value)
    }

    fn validate(&self, MeteredValue(value): MeteredValue<'i>) -> Result<(), ValidationError<'i>> {
        let Some(text) = value.as_str() else { return Ok(()) };
        self.price.pay(text);
        if self.is_refused(text) {
            spend(NOTE_FUEL + of_bytes(text.len(), 1));
            return Err(ValidationError::custom(format!("value is too long to be a {:?}", self.name)));
        }
        // The note has a copy of the text.
        self.validator.validate(value).inspect_err(|_| spend(NOTE_FUEL + of_bytes(text.len(), 1)))
    }
}

struct MultipleOf {
    of: Decimal,
    text: String,
}

impl<'i> Keyword<'i, Metered> for MultipleOf {
    fn is_valid(&self, MeteredValue(value): MeteredValue<'i>) -> bool {
        // A float is written and read again.
        spend(40);
        let number = value.as_number().and_then(Decimal::of);
        number.is_none_or(|number| number.is_multiple_of(self.of))
    }

    fn validate(&self, value: MeteredValue<'i>) -> Result<(), ValidationError<'i>> {
        if self.is_valid(value) {
            return Ok(());
        }
        spend(NOTE_FUEL);
        Err(ValidationError::custom(format!("value is not a multiple of {}", self.text)))
    }
}

type Options = ValidationOptions<'static, Arc<dyn jsonschema::Retrieve>, Metered>;
type Compiled = Result<Box<dyn for<'i> Keyword<'i, Metered>>, ValidationError<'static>>;

/// Validators of one keyword each, by it and its value: a schema may say `"format": "email"` a thousand times.
#[derive(Clone)]
struct OfTexts {
    dialect: Option<Value>,
    known: Arc<Mutex<HashMap<String, Arc<Validator>>>>,
}

impl OfTexts {
    fn validator(
        &self,
        mut keywords: Map<String, Value>,
    ) -> Result<Arc<Validator>, ValidationError<'static>> {
        keywords.extend(self.dialect.iter().map(|dialect| ("$schema".to_owned(), dialect.clone())));
        let schema = Value::Object(keywords);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known.get(&schema.to_string()) {
            return Ok(Arc::clone(known));
        }
        let options = jsonschema::options().offline().with_pattern_options(pattern::options());
        let validator = Arc::new(options.build(&schema)?);
        known.insert(schema.to_string(), Arc::clone(&validator));
        Ok(validator)
    }

    fn pattern(&self, value: &Value) -> Compiled {
        let validator = self.validator(one("pattern", value))?;
        let price = pattern::price(value.as_str().unwrap_or_default());
        Ok(Box::new(OfText { validator, price, bytes_max: usize::MAX, name: String::new(), is_built: false }))
    }

    fn format(&self, value: &Value) -> Compiled {
        let name = value.as_str().unwrap_or_default().to_owned();
        let short = FORMATS_OF_SHORT_TEXTS.iter().find(|(format, _)| *format == name);
        // Measured: the slowest of the others takes 20 ns for a byte, and a regular expression 2 µs.
        let sixteen_bytes = if name == "regex" { 4000 } else { 40 };
        let price = TextPrice { fixed: 20, sixteen_bytes };
        let bytes_max = short.map_or(usize::MAX, |(_, bytes)| *bytes);
        let validator = self.validator(one("format", value))?;
        // What the dialect only notes is not refused for its length either.
        let bytes_max = if validator.is_valid(&json!("\u{1}(")) { usize::MAX } else { bytes_max };
        Ok(Box::new(OfText { validator, price, bytes_max, name, is_built: false }))
    }

    /// The two keywords are one: what is read as JSON is decoded first.
    fn content(&self, keyword: &str, beside: &Map<String, Value>) -> Compiled {
        let both = ["contentEncoding", "contentMediaType"];
        let own = beside.iter().filter(|(name, _)| both.contains(&name.as_str()));
        let mut keywords: Map<String, Value> =
            own.map(|(name, value)| (name.clone(), value.clone())).collect();
        if keyword == "contentEncoding" {
            keywords.remove("contentMediaType");
        }
        let validator = self.validator(keywords)?;
        let price = TextPrice { fixed: 20, sixteen_bytes: 100 };
        let is_built = keyword == "contentMediaType";
        Ok(Box::new(OfText { validator, price, bytes_max: usize::MAX, name: "document".into(), is_built }))
    }
}

/// Takes over what would otherwise not pay. `dialect` is the `$schema` of the whole.
pub(super) fn priced(options: Options, dialect: Option<&Value>) -> Options {
    let texts = OfTexts { dialect: dialect.cloned(), known: Arc::default() };
    let (patterns, formats, media, encodings) = (texts.clone(), texts.clone(), texts.clone(), texts);
    options
        .with_keyword("multipleOf", |_, value, _| multiple_of(value))
        .with_keyword("pattern", move |_, value, _| patterns.pattern(value))
        .with_keyword("format", move |_, value, _| formats.format(value))
        .with_keyword("contentMediaType", move |beside, _, _| media.content("contentMediaType", beside))
        .with_keyword("contentEncoding", move |beside, _, _| encodings.content("contentEncoding", beside))
}

fn multiple_of(value: &Value) -> Compiled {
    let of = value.as_number().and_then(Decimal::of).filter(|of| !of.is_zero());
    let of = of.ok_or_else(|| ValidationError::custom("multipleOf must be a number above 0"))?;
    Ok(Box::new(MultipleOf { of, text: value.to_string() }))
}

fn one(keyword: &str, value: &Value) -> Map<String, Value> {
    Map::from_iter([(keyword.to_owned(), value.clone())])
}
