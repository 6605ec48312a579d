//! The dashboard as a browser without scripts has it: pages, forms, and a cookie.

mod browser;
mod guard;
mod pages;
mod portal;
