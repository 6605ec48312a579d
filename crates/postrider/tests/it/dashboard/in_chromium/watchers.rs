//! What the other tests look for is found when it is there.

use super::every_page::{faults, keyboard};
use super::{signed_in, was_quiet};
use crate::rig::Site;

#[test]
fn a_page_that_does_what_it_must_not_is_found() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let mut tab = signed_in(&api);
    was_quiet(&mut tab, &api, &[]);
    assert_eq!(faults(&mut tab), Vec::<String>::new());
    for planted in [
        "alert('box')",
        "document.body.append(Object.assign(document.createElement('script'), { textContent: 'window.ran = 1' }))",
        "document.body.insertAdjacentHTML('beforeend', '<img src=http://127.0.0.2:9/x onerror=alert(1)>')",
        "setTimeout(() => { throw new Error('planted') })",
    ] {
        tab.value(&format!("void ({planted})"));
    }
    tab.wait("window.ran === undefined");
    let watched = tab.watched();
    assert_eq!(watched.dialogs, ["box"], "what the policy forbids did not run");
    let said = watched.complaints.join("\n");
    for word in ["script-src", "img-src", "planted"] {
        assert!(said.contains(word), "{word} is not in {said}");
    }
}

#[test]
fn a_page_that_shuts_people_out_is_found() {
    let site = Site::new();
    let gateway = site.start();
    let mut tab = signed_in(&gateway.api());
    let planted = "<input id=main><button></button><h4>deep</h4><h1>two</h1>
        <p class=hint><a href=/x class=faint>faint</a></p><a href=/y tabindex=3>early</a><div class=far>x</div>";
    tab.value(&format!("void document.querySelector('main').insertAdjacentHTML('beforeend', `{planted}`)"));
    tab.value(
        "void (Object.assign(document.querySelector('.faint').style, { color: '#aaaaaa', outline: 'none' }), document.querySelector('.far').style.width = '3000px')",
    );
    let found = faults(&mut tab).join("\n");
    for word in [
        "no label",
        "no words",
        "a level is left out",
        "2 headings",
        "two have the id main",
        "out of order",
        "contrast 2.",
        "pixels wide",
    ] {
        assert!(found.contains(word), "{word} is not in {found}");
    }
    let found = keyboard(&mut tab).join("\n");
    for word in ["never reached", "not seen"] {
        assert!(found.contains(word), "{word} is not in {found}");
    }
}
