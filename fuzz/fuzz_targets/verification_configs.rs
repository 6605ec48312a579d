//! No `verification_config` breaks its reader. The first byte chooses the preset, the rest is the configuration.

#![no_main]

use libfuzzer_sys::fuzz_target;
use postrider_engine::verify::{PRESETS, Verifier};
use serde_json::Value;

fuzz_target!(|bytes: &[u8]| {
    let Some((choice, rest)) = bytes.split_first() else { return };
    let Ok(Value::Object(config)) = serde_json::from_slice(rest) else { return };
    let preset = PRESETS.get(usize::from(*choice)).map(|preset| preset.name);
    let secret = config.get("secret").and_then(Value::as_str).unwrap_or("a secret").to_owned();
    let _ = Verifier::new(preset, &config, &[secret]);
});
