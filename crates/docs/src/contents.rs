//! What the site has, in the order of its navigation.

/// Pages of one kind.
pub(crate) struct Section {
    pub(crate) title: &'static str,
    /// What a reader comes here for.
    pub(crate) purpose: &'static str,
    /// The name of the file without its ending, and its text.
    pub(crate) pages: &'static [(&'static str, &'static str)],
}

macro_rules! docs {
    ($($slug:literal),* $(,)?) => {
        &[$(($slug, include_str!(concat!("../../../docs/", $slug, ".md")))),*]
    };
}

pub(crate) const SECTIONS: &[Section] = &[
    Section {
        title: "Tutorials",
        purpose: "Send an event and receive it, in five minutes.",
        pages: docs![
            "quickstart-curl",
            "quickstart-node",
            "quickstart-python",
            "quickstart-go",
            "quickstart-rust",
            "quickstart-java",
        ],
    },
    Section {
        title: "How-to guides",
        purpose: "Do one thing, step by step.",
        pages: docs![
            "recipes",
            "configuration-as-code",
            "dashboard",
            "migrate-from-gethook",
            "migrate-from-waford",
            "migrate-from-dispatchgo",
        ],
    },
    Section {
        title: "Concepts",
        purpose: "Understand how it works and what it promises.",
        pages: docs![
            "delivery-life-cycle",
            "priorities-and-order",
            "guarantees",
            "security",
            "scaling",
            "performance"
        ],
    },
    Section {
        title: "Reference",
        purpose: "Look something up.",
        pages: docs!["api", "command-line", "expressions", "status-codes", "log-lines", "glossary"],
    },
    Section {
        title: "Operations",
        purpose: "Run it in production.",
        pages: docs![
            "operating",
            "several-nodes",
            "backup-and-restore",
            "monitoring",
            "limits",
            "runbook",
            "troubleshooting",
            "faq"
        ],
    },
];

#[cfg(test)]
mod tests {
    use super::SECTIONS;
    use std::path::Path;

    #[test]
    fn every_page_of_the_folder_is_in_the_navigation_once() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
        let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
        let names = names.filter_map(|name| name.to_str()?.strip_suffix(".md").map(str::to_owned));
        let mut there: Vec<String> = names.collect();
        there.sort();
        let listed = SECTIONS.iter().flat_map(|section| section.pages).map(|(slug, _)| (*slug).to_owned());
        let mut listed: Vec<String> = listed.collect();
        listed.sort();
        assert_eq!(listed, there);
    }
}
