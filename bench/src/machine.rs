//! Where the figures were taken: they mean little without it.

use serde::Serialize;
use std::path::Path;

#[derive(Debug, Clone, Serialize)]
pub(crate) struct Machine {
    pub(crate) nproc: usize,
    pub(crate) cpu_model: String,
    pub(crate) kernel: String,
    /// Of the directory that holds the gateway's data: a sync costs nothing on tmpfs.
    pub(crate) filesystem: String,
    /// Before the first run, over 1, 5 and 15 minutes: others at work on the machine spoil the figures.
    pub(crate) load_average: String,
    pub(crate) command_line: Vec<String>,
}

impl Machine {
    pub(crate) fn describe(data: &Path) -> Machine {
        let read = |path| std::fs::read_to_string(path).unwrap_or_default();
        let real_data = data.canonicalize().unwrap_or_else(|_| data.to_path_buf());
        Machine {
            nproc: std::thread::available_parallelism().map_or(1, usize::from),
            cpu_model: or_unknown(cpu_model(&read("/proc/cpuinfo"))),
            kernel: or_unknown(Some(read("/proc/sys/kernel/osrelease").trim())),
            filesystem: or_unknown(filesystem(&read("/proc/self/mounts"), &real_data)),
            load_average: or_unknown(load_average(&read("/proc/loadavg")).as_deref()),
            command_line: std::env::args_os().map(|arg| arg.to_string_lossy().into_owned()).collect(),
        }
    }
}

fn or_unknown(text: Option<&str>) -> String {
    text.filter(|text| !text.is_empty()).unwrap_or("unknown").to_owned()
}

fn cpu_model(cpuinfo: &str) -> Option<&str> {
    let line = cpuinfo.lines().find(|line| line.starts_with("model name"))?;
    line.split_once(':').map(|(_, model)| model.trim())
}

/// The three averages, without the counts of processes behind them.
fn load_average(loadavg: &str) -> Option<String> {
    let averages: Vec<&str> = loadavg.split(' ').take(3).collect();
    (averages.len() == 3).then(|| averages.join(" "))
}

/// The type of the innermost mount that holds the path; of several on one point the last one counts.
fn filesystem<'m>(mounts: &'m str, path: &Path) -> Option<&'m str> {
    let mut innermost = (0, None);
    for line in mounts.lines() {
        let mut fields = line.split(' ').skip(1);
        let (Some(point), kind) = (fields.next(), fields.next()) else { continue };
        if path.starts_with(point) && point.len() >= innermost.0 {
            innermost = (point.len(), kind);
        }
    }
    innermost.1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_is_the_text_behind_the_colon() {
        assert_eq!(
            cpu_model("processor\t: 0\nmodel\t: 7\nmodel name\t: Some CPU: 3 GHz\n"),
            Some("Some CPU: 3 GHz")
        );
        assert_eq!(cpu_model("Hardware : ARM\n"), None);
    }

    #[test]
    fn the_load_is_the_three_averages() {
        assert_eq!(load_average("2.54 1.31 0.72 3/120 16695\n").as_deref(), Some("2.54 1.31 0.72"));
        assert_eq!(load_average(""), None);
    }

    #[test]
    fn the_filesystem_is_that_of_the_innermost_mount() {
        let mounts = "/dev/vda / ext4 rw 0 0\ntmpfs /tmp tmpfs rw 0 0\n/dev/vdb /tmp/disk xfs rw 0 0\n";
        for (path, expected) in
            [("/var/x", "ext4"), ("/tmp/a", "tmpfs"), ("/tmp/disk/a", "xfs"), ("/tmpx", "ext4")]
        {
            assert_eq!(filesystem(mounts, Path::new(path)), Some(expected), "{path}");
        }
        assert_eq!(filesystem("", Path::new("/tmp")), None);
    }
}
