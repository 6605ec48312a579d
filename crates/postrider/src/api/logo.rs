//! The logo of a brand: a picture in the brand itself, or the address of one.
//!
//! The portal shows the first kind alone, since it is served by this gateway: a picture from another host would tell that
//! host who looks at the portal, and the policy of every page allows none.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use postrider_core::limits::{LOGO_BYTES_MAX, URL_BYTES_MAX};

/// What browsers show in an image. Script in an SVG does not run there.
const MEDIA_TYPES: [&str; 4] = ["image/png", "image/jpeg", "image/webp", "image/svg+xml"];

/// A picture.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Logo {
    pub(crate) media_type: &'static str,
    pub(crate) bytes: Vec<u8>,
}

impl Logo {
    /// `None` for what is no picture in a `data:` URL, or is longer than one may be.
    pub(crate) fn of_data_url(text: &str) -> Option<Self> {
        let (head, encoded) = text.strip_prefix("data:")?.split_once(";base64,")?;
        let media_type = MEDIA_TYPES.into_iter().find(|known| *known == head)?;
        let bytes = STANDARD.decode(encoded).ok().filter(|bytes| !bytes.is_empty())?;
        (text.len() <= LOGO_BYTES_MAX).then_some(Logo { media_type, bytes })
    }
}

/// What a brand may have for a logo, as it is kept.
pub(super) fn legal(text: &str) -> Option<String> {
    match Logo::of_data_url(text) {
        Some(_) => Some(text.to_owned()),
        None => https(text),
    }
}

pub(super) const ALLOWED: &str = "must be a picture as data:image/png;base64,… (or jpeg, webp, svg+xml) of at most \
     16384 bytes, or an https:// URL of at most 2048 bytes";

/// Nothing but a picture from where nobody on the way can change it.
fn https(text: &str) -> Option<String> {
    let parsed = url::Url::parse(text).ok().filter(|url| url.scheme() == "https" && url.has_host())?;
    // As it was understood, so that a page that shows it cannot understand it otherwise.
    (text.len() <= URL_BYTES_MAX && parsed.as_str().len() <= URL_BYTES_MAX).then(|| parsed.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_kept_of_a_logo_is_taken_again(text in prop_oneof![
            any::<String>(),
            "(https://|data:image/(png|svg\\+xml);base64,)[ -~]{0,40}",
            "data:image/(png|jpeg|gif);base64,[A-Za-z0-9+/]{0,40}={0,2}",
        ]) {
            let kept = legal(&text);
            prop_assert_eq!(kept.as_deref().and_then(legal), kept);
        }
    }

    #[test]
    fn a_logo_is_a_picture_or_comes_by_https() {
        let long = format!("https://example.com/{}", "a".repeat(2048));
        for (given, expected) in [
            ("https://example.com/a b.svg", Some("https://example.com/a%20b.svg")),
            ("data:image/png;base64,AAAA", Some("data:image/png;base64,AAAA")),
            ("data:image/svg+xml;base64,PHN2Zy8+", Some("data:image/svg+xml;base64,PHN2Zy8+")),
            ("", None),
            ("a.svg", None),
            ("http://example.com/a", None),
            ("javascript:alert(1)", None),
            ("https://", None),
            (&long, None),
            ("data:image/png,AAAA", None),
            ("data:image/png;base64,", None),
            ("data:image/png;base64,A A", None),
            ("data:image/gif;base64,AAAA", None),
            ("data:text/html;base64,AAAA", None),
            ("data:image/png;charset=x;base64,AAAA", None),
        ] {
            assert_eq!(legal(given).as_deref(), expected, "{given}");
        }
        assert!(
            ALLOWED.contains(&LOGO_BYTES_MAX.to_string()) && ALLOWED.contains(&URL_BYTES_MAX.to_string())
        );
    }

    #[test]
    fn a_picture_has_a_bound() {
        let head = "data:image/webp;base64,";
        let url = |bytes: usize| format!("{head}{}", "A".repeat((bytes - head.len()) / 4 * 4));
        let logo = Logo::of_data_url(&url(LOGO_BYTES_MAX)).unwrap();
        assert_eq!((logo.media_type, logo.bytes[0]), ("image/webp", 0));
        assert_eq!(Logo::of_data_url(&url(LOGO_BYTES_MAX + 8)), None);
    }
}
