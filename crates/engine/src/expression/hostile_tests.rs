//! Expressions that are written to take the gateway's memory or time: refused when they are saved, not evaluated, or
//! done at once.

use super::tests::{BODY, with_body};
use super::{Expression, Wants};
use std::time::{Duration, Instant};

/// Far above what the limits allow, also without optimisation on a busy machine, and far below what they prevent.
const AT_ONCE: Duration = Duration::from_secs(10);

/// `start`, then a step again and again, then something that is true or false.
fn chain(start: &str, step: &str, steps: usize) -> String {
    format!("{start}{}.size() > 0", step.repeat(steps))
}

fn large_body() -> String {
    let numbers = "1,".repeat(20_000);
    format!(
        r#"{{"a":[{numbers}1],"t":"{}","l":[{}{{}}]}}"#,
        "x".repeat(200_000),
        r#"{"b":[1,2]},"#.repeat(5_000)
    )
}

#[test]
fn values_that_grow_from_loop_to_loop_are_refused() {
    for text in [
        chain(r#"["xxxxxxxx"]"#, ".map(a,a+a)", 45),
        chain("[0]", ".map(a,[a,a])", 45),
        chain("[[0]]", ".map(a,a+a)", 45),
        chain("[b'x']", ".map(a,a+a)", 45),
        chain("[0]", ".map(a,{'a':a,'b':a})", 45),
        chain("[0]", ".map(a,true,[a,a,a])", 45),
        chain("[0]", ".map(a,a == 0 ? [a,a] : [a,a,a])", 45),
        chain("[0]", ".map(a,[a]+[a]).filter(b,true)", 45),
        chain("['x']", ".map(a,string(a)+string(a))", 45),
        chain("headers", ".map(a,a+a)", 45),
        chain("[event.type]", ".map(a,a+a+a+a)", 30),
        chain("[event]", ".map(a,[a,a])", 30),
        chain("payload", ".map(a,[a,a])", 45),
        chain("[payload]", ".map(a,a+a)", 45),
        chain("[[payload,payload].map(a,[a,a])[0]]", ".map(a,[a,a])[0]", 40),
        format!("[{}0].all(x, size([{}x]) > 0)", "0,".repeat(900), "x,".repeat(900)),
        format!("[{}0].map(x, [{}x]).size() > 0", "0,".repeat(900), "x,".repeat(900)),
        format!("[{}0].all(x, '{}'.contains('y'))", "0,".repeat(1000), "x".repeat(2000)) + &" ".repeat(10),
    ] {
        let compiled = Expression::compile(&text, Wants::Bool);
        let shown = &text[..60.min(text.len())];
        if let Ok(expression) = compiled {
            // What is small without a body may be legal, and is then done at once.
            let start = Instant::now();
            let _ = with_body(BODY, |facts| expression.truth(facts));
            assert!(start.elapsed() < AT_ONCE, "{shown}");
            assert!(!shown.contains("map(a,"), "{shown} must be refused");
        }
    }
}

#[test]
fn whatever_is_legal_is_done_at_once_or_not_at_all() {
    let body = large_body();
    let repeated = |part: &str, with: &str| vec![part; 3900 / (part.len() + with.len())].join(with);
    for text in [
        repeated("payload.a", "+") + " == []",
        repeated("payload.t", "+") + " == ''",
        repeated("payload.a==payload.a", "&&"),
        repeated("payload.a in payload.l", "||"),
        repeated("payload.t.contains('y')", "||"),
        format!("[{}] == []", repeated("payload", ",")),
        format!("size([{}]) == 0", repeated("payload.l", ",")),
        format!("payload.a.all(x, {})", repeated("x<2", "&&")),
        format!("payload.a.all(x, size([{}]) > 0)", repeated("x", ",")),
        format!("payload.a.map(x, [{}]).size() > 0", repeated("x", ",")),
        format!("payload.l.all(x, {})", repeated("x.b==x.b", "&&")),
        format!("payload.l.all(x, has(x.{}))", "b".repeat(3900)),
        format!("payload.a.all(x, '{}' != string(x))", "y".repeat(3900)),
        format!("payload.a.all(x, {} != '')", repeated("event.type", "+")),
        chain("payload.a", ".map(a,a+a)", 9),
        chain("payload.l", ".map(a,[a,a])", 9),
        chain("payload.l", ".map(a,a)", 50),
        chain("[payload.l]", ".map(a,a+a)", 9),
        chain("['x'].map(a, a+a)", ".map(a,a+a)", 8),
    ] {
        let Ok(expression) = Expression::compile(&text, Wants::Bool) else { continue };
        let start = Instant::now();
        with_body(body.as_bytes(), |facts| (0..20).for_each(|_| drop(expression.truth(facts))));
        assert!(start.elapsed() < AT_ONCE, "{} took {:?}", &text[..60.min(text.len())], start.elapsed());
    }
}

#[test]
fn a_loop_without_a_body_is_counted_over_all_of_an_event() {
    let text = format!("[{}0].all(x, size([{}x]) > 0)", "0,".repeat(100), "x,".repeat(100));
    let expression = Expression::compile(&text, Wants::Bool).expect("it is light by itself");
    with_body(b"{}", |facts| {
        let held = (0..10_000).take_while(|_| expression.holds(facts)).count();
        assert!((10..10_000).contains(&held), "{held}");
        let failure = expression.truth(facts).expect_err("there is nothing left to spend");
        assert!(failure.to_string().starts_with("it is too much work"), "{failure}");
    });
}

#[test]
fn a_body_of_too_many_values_is_not_looked_into_and_one_of_long_texts_is() {
    let [looks, key] = [("payload.a == 1", Wants::Bool), ("payload.a", Wants::Key)]
        .map(|(text, wants)| Expression::compile(text, wants).expect(text));
    let dense = format!(r#"{{"a":1,"b":[{}0]}}"#, r#"{"":0},"#.repeat(300_000));
    with_body(dense.as_bytes(), |facts| {
        let failure = looks.truth(facts).expect_err("it is too much to be built");
        assert_eq!(failure.to_string(), "the body has more than 1000000 values");
        assert_eq!((key.key(facts), facts.has_parsed()), (None, false));
    });
    let texts = format!(r#"{{"a":1,"b":[{}0]}}"#, r#"{"name":"a text, of some: length"},"#.repeat(80_000));
    with_body(texts.as_bytes(), |facts| {
        assert_eq!((looks.truth(facts), key.key(facts).as_deref()), (Ok(true), Some("1")));
    });
}

#[test]
fn what_is_usual_is_within_the_limits_for_bodies_of_hundreds_of_kilobytes() {
    let item = r#"{"sku":"a-1000-b","name":"a thing of some kind","price":12.5,"tags":["a","b"],"count":3},"#;
    let body = format!(r#"{{"amount":5,"items":[{}{{"price":900}}]}}"#, item.repeat(2500));
    for text in [
        "payload.items.exists(item, item.price > 500.0)",
        "payload.items.filter(item, has(item.price) && item.price > 1.0).size() > 10",
        "payload.items.map(item, item.price).size() == 2501",
        "payload.amount == 5 && size(payload.items) > 100",
    ] {
        let expression = Expression::compile(text, Wants::Bool).expect(text);
        with_body(body.as_bytes(), |facts| assert_eq!(expression.truth(facts), Ok(true), "{text}"));
    }
}
