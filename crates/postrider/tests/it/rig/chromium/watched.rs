//! What a page did that nobody asked it for: questions, complaints of the browser, requests to others.

use serde_json::Value;

#[derive(Default)]
pub(crate) struct Watched {
    /// What pages asked or told in a box.
    pub(crate) dialogs: Vec<String>,
    /// What the browser says of a page: a policy that something went against, a script that failed.
    pub(crate) complaints: Vec<String>,
    /// Where something was asked for.
    pub(crate) requests: Vec<String>,
}

impl Watched {
    pub(super) fn hear(&mut self, event: &Value) {
        let (method, about) = (event["method"].as_str().unwrap_or_default(), &event["params"]);
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        match method {
            "Page.javascriptDialogOpening" => self.dialogs.push(text(&about["message"])),
            "Network.requestWillBeSent" => self.requests.push(text(&about["request"]["url"])),
            // A page that is answered with a refusal is told of here too; that is no complaint.
            "Log.entryAdded" if about["entry"]["source"] != "network" => {
                self.complaints.push(text(&about["entry"]["text"]));
            }
            "Runtime.exceptionThrown" => {
                self.complaints.push(text(&about["exceptionDetails"]["exception"]["description"]));
            }
            "Runtime.consoleAPICalled" => self.complaints.push(about["args"].to_string()),
            _ => {}
        }
    }

    /// What was asked of others than `origin`.
    pub(crate) fn foreign(&self, origin: &str) -> Vec<&String> {
        let ours = |url: &&String| !url.starts_with(origin) && !url.starts_with("about:");
        self.requests.iter().filter(ours).collect()
    }
}
