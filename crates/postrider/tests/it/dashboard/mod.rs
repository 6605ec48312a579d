//! The dashboard as a browser without scripts has it: pages, forms, and a cookie.

mod audit;
mod browser;
mod guard;
mod operator;
mod pages;
mod portal;
mod sources;
