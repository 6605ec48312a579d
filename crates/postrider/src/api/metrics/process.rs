//! The process itself, under the names that every Prometheus client has for it. Linux tells; elsewhere they are absent.

use super::exposition::{Exposition, Kind};
use crate::serve::log;

/// Clock ticks a second: 100 on every Linux.
const TICKS: f64 = 100.0;
/// The fields of `/proc/self/stat` behind the name of the process.
const USER_TICKS: usize = 11;
const SYSTEM_TICKS: usize = 12;

pub(super) fn write(text: &mut Exposition) {
    let mut family =
        text.family("process_cpu_seconds_total", Kind::Counter, "Processor time used, in seconds.");
    cpu_seconds().iter().for_each(|seconds| family.sample(&[], seconds));
    let mut family = text.family("process_resident_memory_bytes", Kind::Gauge, "Memory in use.");
    resident_bytes().iter().for_each(|bytes| family.sample(&[], bytes));
    let mut family = text.family("process_open_fds", Kind::Gauge, "Open file descriptors.");
    open_files().iter().for_each(|count| family.sample(&[], count));
    let help = "Lines of the log that were dropped, since they could not be written.";
    text.counter("postrider_log_lines_dropped_total", help, log::lines_dropped());
}

fn cpu_seconds() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The name may hold anything but is in brackets.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |index: usize| fields.get(index)?.parse::<f64>().ok();
    Some((ticks(USER_TICKS)? + ticks(SYSTEM_TICKS)?) / TICKS)
}

fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")?.trim().strip_suffix(" kB"))?;
    line.parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}

fn open_files() -> Option<usize> {
    std::fs::read_dir("/proc/self/fd").ok().map(Iterator::count)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn linux_tells_of_the_process() {
        assert!(cpu_seconds().is_some());
        assert!(resident_bytes().is_some_and(|bytes| bytes > 1 << 20));
        assert!(open_files().is_some_and(|count| count > 2));
    }
}
