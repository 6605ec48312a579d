//! The dashboard in a real browser, as people use it.

mod answers_to_forms;
mod asking;
pub(crate) mod every_page;
mod journeys;
mod live;
mod portal;
mod tail;
mod watchers;

use crate::rig::Api;
use crate::rig::chromium::Tab;

/// Signs in as somebody who types the key.
pub(crate) fn signed_in(api: &Api) -> Tab {
    let mut tab = Tab::open(&format!("http://{}", api.address));
    tab.go("/");
    tab.arrive("/sign-in");
    tab.fill("#key", &api.key);
    tab.press("Sign in");
    tab.read("Sign out");
    tab
}

/// Nobody was asked anything but this, nothing went against the policy, and nobody else was asked for anything.
fn was_quiet(tab: &mut Tab, api: &Api, dialogs: &[&str]) {
    let watched = tab.watched();
    assert_eq!(watched.dialogs, dialogs);
    assert_eq!(watched.complaints, Vec::<String>::new());
    assert_eq!(watched.foreign(&format!("http://{}", api.address)), Vec::<&String>::new());
}
