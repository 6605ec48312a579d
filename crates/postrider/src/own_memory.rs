//! How much memory this process may have: that of the machine, or less if one of its control groups has less. The budgets of
//! bytes follow it, so that a small container refuses and queues instead of being killed.

use std::fs::read_to_string;
use std::path::Path;
use std::sync::LazyLock;

/// Looked up once: what was planned with it does not change while the process runs.
static BYTES: LazyLock<u64> = LazyLock::new(|| bytes_of(Path::new("/")));

/// What may be used. Where nothing says so it is taken for plenty.
pub(crate) fn bytes() -> u64 {
    *BYTES
}

fn bytes_of(root: &Path) -> u64 {
    let read = |path: &str| read_to_string(root.join(path)).unwrap_or_default();
    let groups = read("proc/self/cgroup");
    let limits = groups.lines().filter_map(|line| limit_of_group(root, line));
    limits.chain(total(&read("proc/meminfo"))).min().unwrap_or(u64::MAX)
}

fn total(meminfo: &str) -> Option<u64> {
    let kilobytes =
        meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:")?.trim().strip_suffix("kB"))?;
    kilobytes.trim().parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}

/// The least that one of the control groups has of those that a line of `/proc/self/cgroup` names: a group has no more than
/// the one that it is in. In a container the path may be the host's, of which nothing but the root is to be seen.
fn limit_of_group(root: &Path, line: &str) -> Option<u64> {
    let mut fields = line.splitn(3, ':');
    let (number, controllers, path) = (fields.next()?, fields.next()?, fields.next()?);
    let (mount, file) = match controllers.split(',').any(|name| name == "memory") {
        true => ("sys/fs/cgroup/memory", "memory.limit_in_bytes"),
        false if (number, controllers) == ("0", "") => ("sys/fs/cgroup", "memory.max"),
        false => return None,
    };
    let group = Path::new(path.trim_start_matches('/'));
    let limit = |group: &Path| read_to_string(root.join(mount).join(group).join(file)).ok();
    // Without a limit it says `max`, or a number beyond all memory.
    group.ancestors().filter_map(limit).filter_map(|text| text.trim().parse().ok()).min()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    const MIB: u64 = 1024 * 1024;

    fn found(files: &[(&str, &str)]) -> u64 {
        let root = TempDir::new().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        bytes_of(root.path())
    }

    #[test]
    fn the_least_of_the_machine_and_of_all_groups_counts() {
        let machine = ("proc/meminfo", "MemTotal:        8388608 kB\nMemFree: 1 kB\n");
        let new = ("proc/self/cgroup", "0::/a.slice/b.service\n");
        let old = ("proc/self/cgroup", "9:name=systemd:/x\n4:cpu,memory:/a/b\n0::/\n");
        for (files, expected) in [
            (vec![], u64::MAX),
            (vec![machine], 8192 * MIB),
            (vec![machine, new], 8192 * MIB),
            (vec![machine, new, ("sys/fs/cgroup/a.slice/b.service/memory.max", "268435456\n")], 256 * MIB),
            (
                vec![
                    machine,
                    new,
                    ("sys/fs/cgroup/a.slice/b.service/memory.max", "max\n"),
                    ("sys/fs/cgroup/a.slice/memory.max", "134217728\n"),
                ],
                128 * MIB,
            ),
            // A container sees its own group as the root.
            (vec![machine, new, ("sys/fs/cgroup/memory.max", "268435456\n")], 256 * MIB),
            (
                vec![
                    machine,
                    old,
                    ("sys/fs/cgroup/memory/a/b/memory.limit_in_bytes", "9223372036854771712\n"),
                ],
                8192 * MIB,
            ),
            (vec![machine, old, ("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "268435456\n")], 256 * MIB),
        ] {
            assert_eq!(found(&files), expected, "{files:?}");
        }
    }
}
