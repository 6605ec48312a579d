//! The script of the live tail shows the same characters by their numbers as pages do, which are made elsewhere.

use super::{signed_in, was_quiet};
use crate::dashboard::browser::Browser;
use crate::rig::Site;
use std::collections::BTreeSet;

/// All that the script shows by their numbers.
const NAMED: &str = "[...Array(0x110000).keys()].filter((code) => code < 0xd800 || code > 0xdfff)\
    .filter((code) => visible(String.fromCodePoint(code)) === `\\\\u{${code.toString(16)}}`).join(' ')";

#[test]
fn the_live_tail_and_pages_show_the_same_characters_by_their_numbers() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let mut tab = signed_in(&api);
    tab.go("/tail");
    tab.read("Watching.");
    let named = tab.value(NAMED);
    let named: BTreeSet<char> = named
        .as_str()
        .expect("a list")
        .split(' ')
        .filter_map(|code| char::from_u32(code.parse().expect("a number")))
        .collect();
    assert!(named.contains(&'\u{202e}') && named.contains(&'\u{1b}') && named.len() > 100, "{named:?}");
    // And those beside them, where each range begins and ends.
    let beside = |code: u32| [code.saturating_sub(1), code, code + 1].into_iter().filter_map(char::from_u32);
    let all: BTreeSet<char> = named.iter().flat_map(|character| beside(u32::from(*character))).collect();
    let (_, path) = api.source();
    let body: String = all.iter().map(|character| format!("<{character}>")).collect();
    let event = api.send(&path, &[("content-type", "text/plain")], body.as_bytes());
    let page = Browser::signed_in(&api).page(&format!("/events/{event}"));
    for character in all {
        let shown = page.contains(&format!("&lt;{}&gt;", character.escape_unicode()));
        let shown = shown || page.contains(&format!("&#60;{}&#62;", character.escape_unicode()));
        assert_eq!(shown, named.contains(&character), "U+{:04X}", u32::from(character));
    }
    was_quiet(&mut tab, &api, &[]);
}
