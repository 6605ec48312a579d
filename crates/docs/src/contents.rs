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

macro_rules! images {
    ($($name:literal),* $(,)?) => {
        &[$((concat!($name, ".svg"), include_str!(concat!("../../../docs/images/", $name, ".svg")))),*]
    };
}

/// Diagrams that pages show, by their file name in `docs/images/`.
pub(crate) const IMAGES: &[(&str, &str)] =
    images!["architecture", "cluster-takeover", "delivery-lifecycle", "priorities-and-floors"];

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
            "portal",
            "migrate-from-gethook",
            "migrate-from-waford",
            "migrate-from-dispatchgo",
        ],
    },
    Section {
        title: "Concepts",
        purpose: "Understand how it works and what it guarantees.",
        pages: docs!["delivery-life-cycle", "priorities-and-order", "guarantees", "security", "scaling"],
    },
    Section {
        title: "Reference",
        purpose: "Look something up.",
        pages: docs![
            "api",
            "command-line",
            "settings",
            "expressions",
            "status-codes",
            "log-lines",
            "performance",
            "glossary",
        ],
    },
    Section {
        title: "Operations",
        purpose: "Run it in production.",
        pages: docs![
            "deployment",
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
    use super::{IMAGES, SECTIONS};
    use std::path::Path;

    /// Names of the files in a folder of the repository that end like this.
    fn files(folder: &str, ending: &str) -> Vec<String> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
        let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<String> = names
            .filter_map(|name| name.to_str().filter(|name| name.ends_with(ending)).map(str::to_owned))
            .collect();
        names.sort();
        names
    }

    #[test]
    fn every_page_of_the_folder_is_in_the_navigation_once() {
        let listed = SECTIONS.iter().flat_map(|section| section.pages).map(|(slug, _)| format!("{slug}.md"));
        let mut listed: Vec<String> = listed.collect();
        listed.sort();
        assert_eq!(listed, files("docs", ".md"));
    }

    #[test]
    fn every_diagram_is_served_and_described_and_runs_nothing() {
        let listed: Vec<&str> = IMAGES.iter().map(|(name, _)| *name).collect();
        assert_eq!(listed, files("docs/images", ".svg"));
        for (name, text) in IMAGES {
            assert!(
                text.contains("<title ") && text.contains("<desc "),
                "{name} has no title or description"
            );
            // The namespace alone looks like an address, and is never loaded.
            let text = text.replace("http://www.w3.org/2000/svg", "");
            for foreign in
                ["<script", "<image", "<foreignObject", "href", "http", "@import", "@font-face", "onload="]
            {
                assert!(!text.contains(foreign), "{name} has {foreign}");
            }
        }
    }
}
