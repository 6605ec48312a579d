//! A page in a browser, and somebody in front of it who reads, types and presses.

use super::super::wait::wait_until;
use super::devtools::DevTools;
use super::watched::Watched;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use std::path::Path;

/// What a person sees it on.
#[derive(Clone, Copy)]
pub(crate) enum Size {
    Desk,
    Phone,
}

pub(crate) struct Tab {
    tools: DevTools,
    origin: String,
}

impl Tab {
    /// Opens a browser for the pages of one site.
    pub(crate) fn open(origin: &str) -> Self {
        let mut tab = Tab { tools: DevTools::start(), origin: origin.to_owned() };
        tab.resize(Size::Desk);
        tab
    }

    /// Goes to a page and waits until all of it is there.
    pub(crate) fn go(&mut self, path: &str) {
        let url = format!("{}{path}", self.origin);
        let went = self.tools.call("Page.navigate", json!({ "url": url }));
        assert!(went["errorText"].is_null(), "{url}: {went}");
        self.wait("document.readyState === 'complete'");
    }

    /// What an expression comes to in the page.
    pub(crate) fn value(&mut self, expression: &str) -> Value {
        self.evaluate(expression).unwrap_or_else(|refused| panic!("{expression}: {refused}"))
    }

    fn evaluate(&mut self, expression: &str) -> Result<Value, String> {
        let parameters = json!({
            "expression": expression, "returnByValue": true, "awaitPromise": true, "userGesture": true,
        });
        let mut answer = self.tools.ask("Runtime.evaluate", parameters)?;
        match answer.get("exceptionDetails") {
            Some(thrown) => Err(thrown["exception"]["description"].to_string()),
            None => Ok(answer["result"]["value"].take()),
        }
    }

    /// Waits until an expression holds. While a page goes and another comes there is nothing to ask.
    pub(crate) fn wait(&mut self, expression: &str) {
        wait_until(&format!("in the page: {expression}"), || {
            (self.evaluate(expression) == Ok(Value::Bool(true))).then_some(())
        });
    }

    /// Waits until a page under this path has come, and stands.
    pub(crate) fn arrive(&mut self, path: &str) {
        let place = json!(path);
        self.wait(&format!("location.pathname.startsWith({place}) && document.readyState === 'complete'"));
    }

    /// Waits until a person can read this.
    pub(crate) fn read(&mut self, text: &str) {
        self.wait(&format!("document.body.innerText.includes({})", json!(text)));
    }

    /// Types into a field in place of what is there.
    pub(crate) fn fill(&mut self, field: &str, text: &str) {
        self.wait(&format!(
            "(field => !!field && (field.focus(), field.select?.(), document.activeElement === field))(document.querySelector({}))",
            json!(field)
        ));
        self.tools.call("Input.insertText", json!({ "text": text }));
    }

    /// Presses the first button or link with these words, once it is there and nothing lies over it. Found and pressed
    /// in one step, since pages change by themselves. Where it leads to another page, that one stands afterwards: what is
    /// pressed on a page that is about to go may have no effect.
    pub(crate) fn press(&mut self, words: &str) {
        let press = "(words => {
            const fits = (found) => found.innerText.trim() === words && found.checkVisibility();
            const found = [...document.querySelectorAll('button, a, summary')].find(fits);
            if (!found) return false;
            found.scrollIntoView({ block: 'center', behavior: 'instant' });
            const box = found.getClientRects()[0];
            const top = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
            if (!found.contains(top)) return false;
            document.isLeft = found.matches('a[href]') || (!!found.form && found.type === 'submit');
            found.click();
            return true;
        })";
        self.wait(&format!("{press}({})", json!(words)));
        self.stand();
    }

    /// Waits until a page stands, and not the one that was marked as left.
    pub(crate) fn stand(&mut self) {
        self.wait("!document.isLeft && document.readyState === 'complete'");
    }

    /// The key that goes from one control to the next.
    pub(crate) fn tab_key(&mut self) {
        let key = json!({ "key": "Tab", "code": "Tab", "windowsVirtualKeyCode": 9 });
        for kind in ["rawKeyDown", "keyUp"] {
            let mut stroke = key.clone();
            stroke["type"] = json!(kind);
            self.tools.call("Input.dispatchKeyEvent", stroke);
        }
    }

    /// As somebody has it who allows no scripts; what the tests look for is found all the same.
    pub(crate) fn without_scripts(&mut self) {
        self.tools.call("Emulation.setScriptExecutionDisabled", json!({ "value": true }));
    }

    pub(crate) fn resize(&mut self, size: Size) {
        let (width, height) = match size {
            Size::Desk => (1200, 900),
            Size::Phone => (390, 800),
        };
        let metrics = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.tools.call("Emulation.setDeviceMetricsOverride", metrics);
    }

    /// Light or dark, as the system says.
    pub(crate) fn colours(&mut self, scheme: &str) {
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.tools.call("Emulation.setEmulatedMedia", json!({ "features": features }));
    }

    /// All of the page, as far as anybody scrolls.
    pub(crate) fn picture(&mut self, file: &Path) {
        let metrics = self.tools.call("Page.getLayoutMetrics", json!({}));
        let size = &metrics["cssContentSize"];
        let height = size["height"].as_f64().unwrap_or(900.0).min(3000.0);
        let clip = json!({ "x": 0, "y": 0, "width": size["width"], "height": height, "scale": 1 });
        let shot = json!({ "format": "png", "clip": clip, "captureBeyondViewport": true });
        let shot = self.tools.call("Page.captureScreenshot", shot);
        let bytes = STANDARD.decode(shot["data"].as_str().unwrap_or_default()).expect("it is base64");
        std::fs::write(file, bytes).expect("the directory is ours");
    }

    /// What pages have done since the browser was opened.
    pub(crate) fn watched(&mut self) -> &Watched {
        // Whatever was said before this answer has been heard when it comes.
        self.value("0");
        &self.tools.watched
    }
}

impl Drop for Tab {
    /// A test that fails shows what the person saw last.
    fn drop(&mut self) {
        if std::thread::panicking() {
            let page = self.evaluate("location.href + '\\n' + document.body.innerText").unwrap_or_default();
            println!("--- the page\n{}", page.as_str().unwrap_or_default());
            println!("--- complaints\n{:#?}", self.tools.watched.complaints);
        }
    }
}
