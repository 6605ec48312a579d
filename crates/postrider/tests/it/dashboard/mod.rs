//! The dashboard: as a browser without scripts has it, pages, forms and a cookie; and in a real one.

mod browser;
mod guard;
mod in_chromium;
mod pages;
mod portal;
