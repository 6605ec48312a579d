//! The account's colour, as a style sheet of ours: pages allow no style of their own, and a colour is six digits or none.

use super::frame::Frame;
use super::guest::Guest;
use crate::dashboard::Shared;
use crate::dashboard::answer::file;
use axum::extract::State;
use axum::response::Response;

pub(super) async fn style(State(desk): Shared, Guest(session): Guest) -> Response {
    let frame = Frame::of(&desk.api, &session, "").await.ok();
    let color = frame.and_then(|frame| frame.brand.primary_color);
    let style = color.as_deref().and_then(Color::parse).map(Color::style).unwrap_or_default();
    file("text/css; charset=utf-8", style)
}

#[derive(Clone, Copy)]
struct Color {
    red: u8,
    green: u8,
    blue: u8,
}

impl Color {
    /// The API has checked it; here it becomes part of a language, so it is read anew.
    fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix('#').filter(|digits| digits.len() == 6 && digits.is_ascii())?;
        let part = |at: usize| {
            let digits = &digits[at..at + 2];
            digits
                .bytes()
                .all(|digit| digit.is_ascii_hexdigit())
                .then(|| u8::from_str_radix(digits, 16).ok())?
        };
        Some(Color { red: part(0)?, green: part(2)?, blue: part(4)? })
    }

    fn style(self) -> String {
        let Color { red, green, blue } = self;
        format!(":root {{ --brand: #{red:02x}{green:02x}{blue:02x}; --brand-ink: {}; }}\n", self.ink())
    }

    /// What can be read on it: the one of black and white with the larger contrast, as the W3C computes it.
    fn ink(self) -> &'static str {
        let linear = |part: u8| {
            let part = f64::from(part) / 255.0;
            if part <= 0.040_45 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
        };
        let luminance = 0.2126 * linear(self.red) + 0.7152 * linear(self.green) + 0.0722 * linear(self.blue);
        // Where (luminance + 0.05) / 0.05 and 1.05 / (luminance + 0.05) are the same.
        if luminance > 0.179 { "#000" } else { "#fff" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn style(text: &str) -> Option<String> {
        Color::parse(text).map(Color::style)
    }

    #[test]
    fn a_color_is_digits_and_nothing_else_comes_through() {
        assert_eq!(style("#0a7f3c").unwrap(), ":root { --brand: #0a7f3c; --brand-ink: #fff; }\n");
        assert_eq!(style("#ffe000").unwrap(), ":root { --brand: #ffe000; --brand-ink: #000; }\n");
        for bad in ["", "#", "red", "#12345", "#1234567", "#+1+2+3", "#é1234", "#0};*{"] {
            assert_eq!(style(bad), None, "{bad}");
        }
    }
}
