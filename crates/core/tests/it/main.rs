//! What core promises to whoever hands it a text.

mod outside_text;
