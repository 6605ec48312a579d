//! What the text forms promise to whoever writes them.

mod outside_json;
