//! What the keys mean.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// Shown at the bottom.
pub(super) const HELP: &str = "↑↓ choose  p pause  r resume  o open circuit  c close it  s sort  q quit";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    Quit,
    Up,
    Down,
    Sort,
    Wish(Wish),
    Other,
}

/// What is wanted of the destination that is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wish {
    Pause,
    Resume,
    Open,
    Close,
}

impl Key {
    pub(super) fn of(key: KeyEvent) -> Key {
        match key.code {
            // A terminal in raw mode sends no signal for it.
            KeyCode::Char('c') if key.modifiers.contains(KeyModifiers::CONTROL) => Key::Quit,
            KeyCode::Char('q') | KeyCode::Esc => Key::Quit,
            KeyCode::Up | KeyCode::Char('k') => Key::Up,
            KeyCode::Down | KeyCode::Char('j') => Key::Down,
            KeyCode::Char('s') => Key::Sort,
            KeyCode::Char('p') => Key::Wish(Wish::Pause),
            KeyCode::Char('r') => Key::Wish(Wish::Resume),
            KeyCode::Char('o') => Key::Wish(Wish::Open),
            KeyCode::Char('c') => Key::Wish(Wish::Close),
            _ => Key::Other,
        }
    }
}
