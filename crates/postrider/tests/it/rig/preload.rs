//! Small C libraries that stand between a gateway and the kernel, to do what only a machine can do to it.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Mutex;

/// Compiles a source of these tests, once for all of them; what `LD_PRELOAD` is to be set to.
pub(crate) fn library(source: &'static str) -> PathBuf {
    static LIBRARIES: Mutex<Option<HashMap<&'static str, PathBuf>>> = Mutex::new(None);
    let mut libraries = LIBRARIES.lock().unwrap();
    let made = libraries.get_or_insert_default().entry(source).or_insert_with(|| compile(source));
    made.clone()
}

fn compile(source: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/it").join(source);
    let name = source.replace('/', "-").replace(".c", &format!("-{}.so", std::process::id()));
    let library = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    postrider_torture::rig::preload::compile(&path, &library);
    library
}
