//! What a gateway has while something is done to it: the most memory and descriptors, over what it had at first.

use super::wait::let_pass;
use postrider_torture::rig::process::Process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// Of 20 answers 64 KiB each are kept, and as much again is read and written. The rest is for the store's caches and the
/// allocator.
pub(crate) const GROWTH_BYTES_MAX: u64 = 32 << 20;
/// Shorter than anything that is done to it.
const LOOK: Duration = Duration::from_millis(5);

/// The most that was seen, over what there was at first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Usage {
    bytes: u64,
    descriptors: usize,
    first_bytes: u64,
    pub(crate) first_descriptors: usize,
}

impl Usage {
    /// Looks at a process for as long as something goes on; gives what came of that, too.
    pub(crate) fn during<T>(process: &Process, work: impl FnOnce() -> T) -> (T, Usage) {
        let (mut usage, over) = (Usage::now(process), AtomicBool::new(false));
        let usage = &mut usage;
        let done = thread::scope(|scope| {
            // Also when the work fails: the scope waits for the thread.
            let _over = Over(&over);
            let (over, usage) = (&over, &mut *usage);
            scope.spawn(move || {
                while !over.load(Ordering::Relaxed) {
                    usage.look(process);
                    let_pass(LOOK);
                }
            });
            work()
        });
        usage.look(process);
        (done, *usage)
    }

    fn now(process: &Process) -> Self {
        let (bytes, descriptors) = (process.resident_bytes(), process.descriptors());
        Usage { bytes, descriptors, first_bytes: bytes, first_descriptors: descriptors }
    }

    fn look(&mut self, process: &Process) {
        self.bytes = self.bytes.max(process.resident_bytes());
        self.descriptors = self.descriptors.max(process.descriptors());
    }

    pub(crate) fn descriptors_more(&self) -> usize {
        self.descriptors - self.first_descriptors
    }

    /// Memory stays within its bound, and descriptors within this one.
    pub(crate) fn check(&self, descriptors_more_max: usize) {
        self.check_within(GROWTH_BYTES_MAX, descriptors_more_max);
    }

    pub(crate) fn check_within(&self, growth_bytes_max: u64, descriptors_more_max: usize) {
        let (grown, more) = (self.bytes - self.first_bytes, self.descriptors_more());
        println!("{} kB and {more} descriptors more", grown / 1024);
        assert!(grown < growth_bytes_max, "it grew by {} MB", grown >> 20);
        assert!(more < descriptors_more_max, "it had {more} descriptors more");
    }
}

struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
