//! The commands of every day, run against a live gateway as a person runs them.

mod access;
mod backup;
mod chaos;
mod cluster;
mod dead_letters;
mod demo;
mod documented;
mod events;
mod hostile;
mod listen;
mod objects;
pub(crate) mod pages;
mod picture;
mod progress;
pub(crate) mod pseudo_terminal;
mod replay;
mod screens;
mod send;
mod tail;
mod terminal;
mod verify;
