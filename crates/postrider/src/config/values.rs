//! Checks of single values. Each refusal says what is allowed.

use super::{LogFormat, OtlpProtocol, SecretKeys};
use http::HeaderValue;
use ipnet::IpNet;
use postrider_core::id::DestinationId;
use postrider_core::scheduler::Floors;
use postrider_engine::SampleRatio;
use std::net::SocketAddr;
use std::path::PathBuf;
use tracing_subscriber::EnvFilter;

pub(super) fn address(value: &str) -> Result<SocketAddr, String> {
    value.parse().map_err(|_| format!("must be an address and port such as 127.0.0.1:8080, not {value:?}"))
}

pub(super) fn path(value: &str) -> Result<PathBuf, String> {
    if value.is_empty() { Err("must be a directory".into()) } else { Ok(PathBuf::from(value)) }
}

pub(super) fn file(value: &str) -> Result<PathBuf, String> {
    if value.is_empty() || value.ends_with('/') {
        Err(format!("must be the path of a file, not {value:?}"))
    } else {
        Ok(PathBuf::from(value))
    }
}

pub(super) fn range(value: &str) -> Result<IpNet, String> {
    let single = |address: std::net::IpAddr| IpNet::from(address);
    let parsed = value.parse::<IpNet>().or_else(|_| value.parse().map(single));
    parsed.map_err(|_| format!("must be a range such as 10.0.0.0/8 or fd00::/8, not {value:?}"))
}

pub(super) fn number(value: &str, least: u64, most: u64) -> Result<u64, String> {
    let parsed = value.parse().ok().filter(|number| (least..=most).contains(number));
    parsed.ok_or_else(|| format!("must be a whole number from {least} to {most}, not {value:?}"))
}

pub(super) fn count(value: &str, most: u32) -> Result<u32, String> {
    number(value, 1, most.into()).map(|number| u32::try_from(number).unwrap_or(most))
}

/// Four numbers of slots, the most urgent band first.
pub(super) fn floors(value: &str, slots: u32) -> Result<Floors, String> {
    let numbers: Option<Vec<u32>> = value.split(',').map(|part| part.trim().parse().ok()).collect();
    let four: Option<[u32; 4]> = numbers.and_then(|numbers| numbers.try_into().ok());
    let four = four.ok_or_else(|| {
        format!("must be four numbers of slots, critical first, such as 50,50,50,25, not {value:?}")
    })?;
    Floors::new(four, slots).ok_or_else(|| {
        let sum: u64 = four.iter().copied().map(u64::from).sum();
        if sum == u64::from(slots) {
            return format!("must leave one of the {slots} slots to the priorities whose floor is 0");
        }
        format!("must not be more than the {slots} slots together, not {sum}")
    })
}

pub(super) fn size(value: &str, least: u64) -> Result<u64, String> {
    let digits = value.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = value.split_at(digits);
    let factor: Option<u64> = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => Some(1),
        "kb" => Some(1000),
        "mb" => Some(1_000_000),
        "gb" => Some(1_000_000_000),
        "tb" => Some(1_000_000_000_000),
        "kib" => Some(1 << 10),
        "mib" => Some(1 << 20),
        "gib" => Some(1 << 30),
        "tib" => Some(1 << 40),
        _ => None,
    };
    let bytes = number.parse::<u64>().ok().and_then(|number| number.checked_mul(factor?));
    let allowed = || format!("must be a size such as 64MiB or 20GB, at least {least} bytes, not {value:?}");
    bytes.filter(|bytes| *bytes >= least).ok_or_else(allowed)
}

pub(super) fn log_filter(value: &str) -> Result<String, String> {
    let allowed =
        || format!("must be error, warn, info, debug or trace, or such as info,hyper=warn, not {value:?}");
    EnvFilter::try_new(value).map(|_| value.to_owned()).map_err(|_| allowed())
}

pub(super) fn url(value: &str) -> Result<String, String> {
    let parsed =
        url::Url::parse(value).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    let allowed = || format!("must be a URL such as https://hooks.example.com, not {value:?}");
    parsed.map(|_| value.trim_end_matches('/').to_owned()).ok_or_else(allowed)
}

/// Long enough, and of enough different characters, not to be guessed. What was given is not repeated: it may be somebody's
/// real key.
pub(super) fn admin_key(value: &str) -> Result<String, String> {
    check_strength(value).map(|()| value.to_owned())
}

/// Shorter, or of fewer characters, than any random key. Of 32 random hexadecimal digits less than one in ten million has
/// fewer than 8 different ones.
const KEY_CHARS: std::ops::RangeInclusive<usize> = 20..=256;
const KEY_CHARS_DIFFERENT_MIN: usize = 8;
const WEBHOOKS_SECRET_BYTES: std::ops::RangeInclusive<usize> = 16..=4096;

/// Whether a key that somebody chose may open the whole gateway.
pub(crate) fn check_strength(key: &str) -> Result<(), String> {
    let legal = KEY_CHARS.contains(&key.len()) && key.bytes().all(|byte| byte.is_ascii_graphic());
    if legal && different(key) >= KEY_CHARS_DIFFERENT_MIN {
        return Ok(());
    }
    let (least, most) = (KEY_CHARS.start(), KEY_CHARS.end());
    Err(format!(
        "must be {least} to {most} visible ASCII characters, at least {KEY_CHARS_DIFFERENT_MIN} of them different, such as `openssl rand -hex 32` makes"
    ))
}

/// Whoever has one request that is signed by it can try out secrets at home, so it must not be guessed. DispatchGo's own may
/// be longer than a key. What was given is not repeated.
pub(super) fn webhooks_secret(value: &str) -> Result<String, String> {
    if WEBHOOKS_SECRET_BYTES.contains(&value.len()) && different(value) >= KEY_CHARS_DIFFERENT_MIN {
        return Ok(value.to_owned());
    }
    let (least, most) = (WEBHOOKS_SECRET_BYTES.start(), WEBHOOKS_SECRET_BYTES.end());
    Err(format!(
        "must be {least} to {most} bytes, at least {KEY_CHARS_DIFFERENT_MIN} of them different, such as `openssl rand -hex 32` makes"
    ))
}

fn different(text: &str) -> usize {
    text.bytes().collect::<std::collections::BTreeSet<u8>>().len()
}

pub(super) fn secret_keys(value: &str) -> Result<SecretKeys, String> {
    let allowed = "must be 32 bytes in base64 (openssl rand -base64 32), older keys behind it with commas";
    SecretKeys::parse(value).ok_or_else(|| allowed.into())
}

/// Looked at closely when it is opened. What was given is not repeated: a password may be in it.
pub(crate) fn database_url(value: &str) -> Result<String, String> {
    let known = value.starts_with("postgres://") || value.starts_with("postgresql://");
    if known {
        Ok(value.to_owned())
    } else {
        Err("must be a URL such as postgres://user@host/database".into())
    }
}

pub(super) fn node_name(value: &str) -> Result<String, String> {
    let legal = (1..=64).contains(&value.len()) && value.bytes().all(|byte| byte.is_ascii_graphic());
    if legal { Ok(value.to_owned()) } else { Err("must be 1 to 64 visible ASCII characters".into()) }
}

/// The machine's own name, or what stands in for it.
pub(super) fn host_name() -> String {
    let found = std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
    found.and_then(|name| node_name(name.trim()).ok()).unwrap_or_else(|| "node".to_owned())
}

pub(super) fn destination(value: &str) -> Result<DestinationId, String> {
    DestinationId::parse(value).map_err(|_| format!("must be the id of a destination, dst_…, not {value:?}"))
}

pub(super) fn switch(value: &str) -> Result<bool, String> {
    value.parse().map_err(|_| format!("must be true or false, not {value:?}"))
}

/// A name by which receivers know us, as it stands in a header.
pub(super) fn origin(value: &str) -> Result<HeaderValue, String> {
    let legal = (1..=253).contains(&value.len())
        && value.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-:[]".contains(&byte));
    let allowed = || format!("must be a host such as hooks.example.com, not {value:?}");
    HeaderValue::from_str(value).ok().filter(|_| legal).ok_or_else(allowed)
}

pub(super) fn otlp_protocol(value: &str) -> Result<OtlpProtocol, String> {
    match value {
        "http" => Ok(OtlpProtocol::Http),
        "grpc" => Ok(OtlpProtocol::Grpc),
        _ => Err(format!("must be http or grpc, not {value:?}")),
    }
}

pub(super) fn sample_ratio(value: &str) -> Result<SampleRatio, String> {
    let ratio = value.parse().ok().and_then(SampleRatio::new);
    ratio.ok_or_else(|| format!("must be a number from 0 to 1 such as 0.1, not {value:?}"))
}

pub(super) fn log_format(value: &str) -> Result<LogFormat, String> {
    match value {
        "text" => Ok(LogFormat::Text),
        "json" => Ok(LogFormat::Json),
        _ => Err(format!("must be text or json, not {value:?}")),
    }
}
