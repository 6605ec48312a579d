//! CEL expressions over an event: compiled and checked when they are saved, evaluated when an event comes in.
//!
//! What bounds one evaluation: the text (at most [`EXPRESSION_BYTES_MAX`]), its depth ([`DEPTH_MAX`]), loops that
//! cannot hold another loop nor reach the whole body from inside, and [`WORK_MAX`] over all of it. So it is linear in
//! the body, and there is a body size above which it is not evaluated at all. Loops may follow each other, and each
//! may make more of what it is given: that is multiplied out before there is a body ([`cost`]).

mod check;
mod cost;
mod facts;
mod failure;
#[cfg(test)]
mod hostile_tests;
mod json;
mod key;
mod kind;
mod message_check;
mod payload;
mod position;
mod seen;
#[cfg(test)]
mod tests;
mod transform;

pub(crate) use facts::Facts;
pub use failure::Failure;
pub(crate) use transform::NewBody;
pub use transform::Transform;

use cel::common::types::CelBool;
use cel::parser::Parser;
use cel::{Context, Env, IdedExpr, Value};
use check::Outline;
use position::plain;
use postrider_core::delivery::Priority;
use postrider_core::limits::EXPRESSION_BYTES_MAX;
use postrider_store::containment::contain;
use std::fmt;
use std::sync::{Arc, LazyLock};

/// Deepest nesting of an expression, so that evaluating it fits into any thread's stack many times over.
const DEPTH_MAX: usize = 64;
/// Deepest nesting that the parser follows. Chains such as `a.b.c` do not count there, and are checked by
/// [`DEPTH_MAX`] afterwards.
const PARSER_DEPTH_MAX: u16 = 32;
/// The parser descends through nine rules for each level, and through one for each link of a chain, of which
/// there may be half as many as bytes. Only what is used of it is ever mapped.
const PARSER_STACK_BYTES: usize = 64 * 1024 * 1024;
/// Units of [`cost`] that one evaluation may take, about 50 ms of a CPU: whoever is served or sent to on the same
/// thread waits as long.
const WORK_MAX: u64 = 2_000_000;
/// The same over all conditions and priorities of one event. Keys are not counted, since an event must never lose its
/// key, and are light by themselves.
const EVENT_WORK_MAX: u64 = 4 * WORK_MAX;
/// The same over all routes on which an event is tried, between which others have their turn.
const DRY_RUN_WORK_MAX: u64 = 8 * EVENT_WORK_MAX;

static STANDARD: LazyLock<Arc<Env>> = LazyLock::new(|| Arc::new(Env::stdlib()));

/// What an expression must give.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wants {
    /// True or false.
    Bool,
    /// A whole number from 1 to 4.
    Priority,
    /// A text, a whole number, or true or false.
    Key,
    /// Anything: another body, or a map of `body` and `headers`.
    Message,
}

impl Wants {
    const fn describe(self) -> &'static str {
        match self {
            Wants::Bool => "true or false",
            Wants::Priority => "a whole number from 1 to 4",
            Wants::Key => "a text, a whole number, or true or false",
            Wants::Message => "a body, or a map of body and headers",
        }
    }
}

/// Why a text is no expression for its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadExpression {
    /// Where, from 1.
    pub line: usize,
    /// Where in that line, from 1.
    pub column: usize,
    /// What is wrong.
    pub sentence: String,
}

impl fmt::Display for BadExpression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.sentence)
    }
}

impl std::error::Error for BadExpression {}

/// A legal expression, ready to be evaluated.
pub struct Expression {
    tree: IdedExpr,
    outline: Outline,
}

impl fmt::Debug for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Expression").field("outline", &self.outline).finish_non_exhaustive()
    }
}

impl Expression {
    /// Checks a text and everything that can be known of it before there is an event.
    pub fn compile(text: &str, wants: Wants) -> Result<Self, BadExpression> {
        let at_start = |sentence: String| BadExpression { line: 1, column: 1, sentence };
        if text.trim().is_empty() || text.len() > EXPRESSION_BYTES_MAX {
            return Err(at_start(format!("it must be 1 to {EXPRESSION_BYTES_MAX} bytes long")));
        }
        // A text of nothing but brackets or dots needs more stack than the threads that serve have.
        let owned = text.to_owned();
        let parser = std::thread::Builder::new().name("expression".into()).stack_size(PARSER_STACK_BYTES);
        let parsed =
            parser.spawn(move || contain(|| parse(&owned, wants))).map(std::thread::JoinHandle::join);
        match parsed {
            Ok(Ok(Ok(result))) => result,
            Ok(_) => Err(at_start("it cannot be understood".into())),
            Err(_) => Err(at_start("it cannot be checked now; try again".into())),
        }
    }

    /// Whether it holds for an event. What has another type, or fails, does not hold.
    pub(crate) fn holds(&self, facts: &Facts<'_>) -> bool {
        self.truth(facts) == Ok(true)
    }

    /// Whether it holds for an event, or why that cannot be said.
    pub(crate) fn truth(&self, facts: &Facts<'_>) -> Result<bool, Failure> {
        facts.afford(self.outline)?;
        guarded(facts, |names| {
            let value = Value::resolve_val(&self.tree, names)?;
            let truth = value.downcast_ref::<CelBool>().map(|truth| *truth.inner());
            truth.ok_or_else(|| Failure::new(format!("it gives a value of type {}", value.get_type().name())))
        })
    }

    /// The priority it gives an event, if it gives one.
    pub(crate) fn priority(&self, facts: &Facts<'_>) -> Option<Priority> {
        facts.afford(self.outline).ok()?;
        let number = guarded(facts, |names| Ok(json::plain(&*Value::resolve_val(&self.tree, names)?)));
        number.ok()??.parse().ok().and_then(Priority::from_number)
    }

    /// The key it gives an event, if it gives one, as text.
    pub(crate) fn key(&self, facts: &Facts<'_>) -> Option<String> {
        facts.may_be_built(self.outline).ok()?;
        guarded(facts, |names| key::text(&self.tree, names)).ok()?
    }
}

/// The interpreter is not ours: if it breaks on some value, the event is taken in all the same.
fn guarded<T>(
    facts: &Facts<'_>,
    run: impl FnOnce(&Context<'_, '_>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let run = || {
        let mut context = Context::with_env(Arc::clone(&STANDARD));
        context.set_variable_resolver(facts);
        run(&context)
    };
    contain(run).unwrap_or_else(|_| Err(Failure::broken()))
}

fn parse(text: &str, wants: Wants) -> Result<Expression, BadExpression> {
    let parser = Parser::new().max_recursion_depth(PARSER_DEPTH_MAX);
    let (tree, places) = parser.parse_with_source_info(text).map_err(|errors| plain(&errors))?;
    let outline = check::check(&tree, wants).map_err(|fault| position::locate(text, &places, fault))?;
    Ok(Expression { tree, outline })
}
