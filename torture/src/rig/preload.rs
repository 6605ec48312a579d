//! Small C libraries that stand between a process and the kernel, to do what only a machine can do to it.

use std::path::Path;
use std::process::Command;

/// Compiles a source; what `LD_PRELOAD` is to be set to is then there.
pub fn compile(source: &Path, library: &Path) {
    let flags = ["-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror", "-o"];
    let compiled =
        Command::new("cc").args(flags).arg(library).arg(source).args(["-ldl", "-lpthread"]).status();
    let compiled = compiled.expect("cc is there: SQLite was compiled by it");
    assert!(compiled.success(), "{} compiles", source.display());
}
