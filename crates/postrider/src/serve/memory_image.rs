//! Keys and payloads stay in memory: a crash writes none of it to a file, and no other process of the same user reads it.

use rustix::process::{DumpableBehavior, Resource, Rlimit, set_dumpable_behavior, setrlimit};

/// From here on there is no core file, and only root may look into the process.
pub(super) fn seal() {
    // The first alone does it for files; a system that pipes core dumps to a program goes by the second.
    let none = Rlimit { current: Some(0), maximum: Some(0) };
    let sealed = setrlimit(Resource::Core, none).and(set_dumpable_behavior(DumpableBehavior::NotDumpable));
    if let Err(error) = sealed {
        tracing::warn!(%error, "failed to disable core dumps");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::process::{dumpable_behavior, getrlimit};

    #[test]
    fn there_is_no_image_of_its_memory() {
        seal();
        assert_eq!(dumpable_behavior(), Ok(DumpableBehavior::NotDumpable));
        assert_eq!(getrlimit(Resource::Core), Rlimit { current: Some(0), maximum: Some(0) });
    }
}
