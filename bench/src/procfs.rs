//! What Linux says about a running process: CPU time and memory.

use anyhow::Context as _;
use std::time::Duration;

/// User and system time of all threads of a process so far. Its grain is the kernel's tick (10 ms).
pub(crate) fn cpu_time(pid: u32) -> anyhow::Result<Duration> {
    let path = format!("/proc/{pid}/stat");
    let stat = std::fs::read_to_string(&path).with_context(|| format!("read {path}"))?;
    let ticks = cpu_ticks(&stat).with_context(|| format!("{path} has no utime and stime"))?;
    Ok(ticks_to_time(ticks))
}

fn ticks_to_time(ticks: u64) -> Duration {
    let nanoseconds = u128::from(ticks) * 1_000_000_000 / u128::from(rustix::param::clock_ticks_per_second());
    Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(u64::MAX))
}

/// A field of a process's state, counted behind its name: 0 is the state itself.
fn field(stat: &str, index: usize) -> Option<u64> {
    let (_, after_name) = stat.rsplit_once(')')?;
    after_name.split_ascii_whitespace().nth(index)?.parse().ok()
}

/// The same with what its children had spent that have ended.
pub(crate) fn cpu_time_with_ended(pid: u32) -> anyhow::Result<Duration> {
    let path = format!("/proc/{pid}/stat");
    let stat = std::fs::read_to_string(&path).with_context(|| format!("read {path}"))?;
    let ticks = (11..15).map(|index| field(&stat, index)).sum::<Option<u64>>();
    Ok(ticks_to_time(ticks.with_context(|| format!("{path} has no times"))?))
}

/// The process that started this one.
pub(crate) fn parent(pid: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    field(&stat, 1).and_then(|parent| u32::try_from(parent).ok())
}

/// The processes that this one started and that are alive.
pub(crate) fn children(pid: u32) -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|found| parent(*found) == Some(pid)).collect()
}

/// Memory of a process that is resident now.
pub(crate) fn rss_bytes(pid: u32) -> anyhow::Result<u64> {
    status_bytes(pid, "VmRSS")
}

/// The most that has been resident since the process began.
pub(crate) fn rss_peak_bytes(pid: u32) -> anyhow::Result<u64> {
    status_bytes(pid, "VmHWM")
}

fn status_bytes(pid: u32, field: &str) -> anyhow::Result<u64> {
    let path = format!("/proc/{pid}/status");
    let status = std::fs::read_to_string(&path).with_context(|| format!("read {path}"))?;
    let kib = kib_field(&status, field).with_context(|| format!("{path} has no {field}"))?;
    Ok(kib * 1024)
}

/// Fields 14 and 15. The second field is the program's name in parentheses and may hold spaces and
/// parentheses of its own, so counting begins behind the last one.
fn cpu_ticks(stat: &str) -> Option<u64> {
    Some(field(stat, 11)? + field(stat, 12)?)
}

fn kib_field(status: &str, field: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_time_is_read_behind_a_name_with_spaces_and_parentheses() {
        let stat = "42 (a) b (c) S 1 42 42 0 -1 4194560 100 0 0 0 731 269 0 0 20 0 3 0 1000 1 1";
        assert_eq!(cpu_ticks(stat), Some(1000));
        assert_eq!(cpu_ticks("42 (cut off) S 1"), None);
    }

    #[test]
    fn memory_is_the_field_with_exactly_that_name() {
        let status = "Name:\tx\nVmHWMx:\t 1 kB\nVmHWM:\t    5120 kB\nVmRSS:\t    4096 kB\n";
        assert_eq!(kib_field(status, "VmHWM"), Some(5120));
        assert_eq!(kib_field(status, "VmRSS"), Some(4096));
        assert_eq!(kib_field(status, "VmSwap"), None);
    }

    #[test]
    fn a_living_process_has_memory_and_its_peak_is_no_less() {
        let pid = std::process::id();
        assert!(cpu_time(pid).is_ok());
        let now = rss_bytes(pid).expect("this process is alive");
        assert!(now > 0);
        assert!(rss_peak_bytes(pid).expect("this process is alive") > 0);
    }
}
