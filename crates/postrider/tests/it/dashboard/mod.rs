//! The dashboard: as a browser without scripts has it, pages, forms and a cookie; and in a real one.

mod audit;
pub(crate) mod browser;
mod cli_auth;
mod dead_letters;
mod destinations;
mod event;
mod forged;
mod guard;
pub(crate) mod in_chromium;
mod live;
mod looks;
mod open_forms;
mod operator;
mod overview;
mod pages;
mod portal;
mod portal_links;
mod rates;
mod readers;
mod replays;
mod search;
pub(crate) mod sessions;
mod sizes;
mod sources;
mod unseen;
