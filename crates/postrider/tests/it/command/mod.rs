//! The commands of every day, run against a live gateway as a person runs them.

mod access;
mod chaos;
mod cluster;
mod dead_letters;
mod events;
mod hostile;
mod objects;
mod replay;
mod tail;
mod terminal;
