//! The memory that this process may still take, and a limit that a program can set instead.
//!
//! A file that claims a huge size (by a feature id, or by its compression) must not use up the
//! memory of the machine. Readers therefore compare what they are about to allocate with
//! [`memory_limit`]: the available memory of the system, or less if the control group (cgroup) of
//! the process, such as that of a container, allows less.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// The limit that the program has set; 0 if none.
static LIMIT: AtomicU64 = AtomicU64::new(0);

/// Sets the most bytes that a single input may take. Without this call, the limit is the available
/// memory.
pub fn set_memory_limit(bytes: u64) {
    LIMIT.store(bytes.max(1), Ordering::Relaxed);
}

/// The limit that the program has set with [`set_memory_limit`].
pub(crate) fn configured_limit() -> Option<u64> {
    Some(LIMIT.load(Ordering::Relaxed)).filter(|bytes| *bytes > 0)
}

/// The most bytes that an input may take: the limit that the program has set, or the available
/// memory; `u64::MAX` where neither is known.
pub fn memory_limit() -> u64 {
    configured_limit().or_else(available_memory).unwrap_or(u64::MAX)
}

/// Bytes that this process can still take, limited by the system and by its control groups; `None`
/// if the system does not report them (it is not Linux).
pub fn available_memory() -> Option<u64> {
    let system =
        std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| mem_available(&text));
    let group = std::fs::read_to_string("/proc/self/cgroup")
        .ok()
        .and_then(|text| memory_left_in_groups(Path::new("/sys/fs/cgroup"), &text));
    match (system, group) {
        (Some(system), Some(group)) => Some(system.min(group)),
        (system, group) => system.or(group),
    }
}

/// The bytes of `MemAvailable` in `/proc/meminfo`.
fn mem_available(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kilobytes.checked_mul(1024)
}

/// The least memory that is left in the control groups of this process and in their ancestors.
/// `root` is where control groups are mounted. `groups` is the text of `/proc/self/cgroup`, with
/// lines `NUMBER:CONTROLLERS:PATH`; version 2 of control groups has no controllers there.
fn memory_left_in_groups(root: &Path, groups: &str) -> Option<u64> {
    let folders = groups.lines().flat_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next().unwrap_or(""), parts.next().unwrap_or(""));
        let base = match controllers {
            "" => Some(root.to_owned()),
            list if list.split(',').any(|c| c == "memory") => Some(root.join("memory")),
            _ => None,
        };
        let path = path.trim_start_matches('/').to_owned();
        base.into_iter().flat_map(move |base| ancestors(&base, &path))
    });
    folders.filter_map(|folder| memory_left_in(&folder)).min()
}

/// The folder of a group and those of its ancestors, up to `base`.
fn ancestors(base: &Path, path: &str) -> Vec<PathBuf> {
    let whole = base.join(path);
    whole.ancestors().take_while(|folder| folder.starts_with(base)).map(Path::to_owned).collect()
}

/// The limit of a group minus what it uses; cached file pages, which the kernel can drop, do not
/// count as used. The file names are those of control groups version 2, then version 1.
fn memory_left_in(folder: &Path) -> Option<u64> {
    let text = |name: &str| std::fs::read_to_string(folder.join(name)).ok();
    let number = |name: &str| text(name)?.trim().parse::<u64>().ok();
    let limit = number("memory.max").or_else(|| number("memory.limit_in_bytes"))?;
    let used = number("memory.current").or_else(|| number("memory.usage_in_bytes"))?;
    let stat = text("memory.stat").unwrap_or_default();
    let value = |name: &str| {
        stat.lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.parse::<u64>().ok())
    };
    // In version 1, the value without `total_` leaves out inner groups, whose usage counts.
    let cached = value("total_inactive_file").or_else(|| value("inactive_file")).unwrap_or(0);
    Some(limit.saturating_sub(used.saturating_sub(cached)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn available_memory_is_parsed_from_meminfo() {
        let text = "MemTotal:       24000 kB\nMemAvailable:    1000 kB\n";
        assert_eq!(mem_available(text), Some(1_024_000));
        assert_eq!(mem_available("MemTotal: 1 kB\n"), None);
    }

    #[test]
    fn the_narrowest_control_group_counts() {
        let root = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("a/memory.max", "1000\n");
        write("a/memory.current", "400\n");
        write("a/memory.stat", "anon 300\ninactive_file 100\n");
        write("a/b/memory.max", "max\n");
        write("a/b/memory.current", "50\n");
        // 1000 - (400 - 100); the inner group `b` has no limit of its own.
        assert_eq!(memory_left_in_groups(root.path(), "0::/a/b\n"), Some(700));
        write("memory/x/memory.limit_in_bytes", "500");
        write("memory/x/memory.usage_in_bytes", "600");
        assert_eq!(memory_left_in_groups(root.path(), "4:cpu,memory:/x\n0::/a/b\n"), Some(0));
        assert_eq!(memory_left_in_groups(root.path(), "0::/none\n"), None);
        // In version 1, usage includes inner groups, and so does the value with `total_`.
        write("memory/y/memory.limit_in_bytes", "1000");
        write("memory/y/memory.usage_in_bytes", "600");
        write("memory/y/memory.stat", "inactive_file 0\ntotal_inactive_file 250\n");
        assert_eq!(memory_left_in_groups(root.path(), "4:memory:/y\n"), Some(650));
    }

    #[test]
    fn linux_reports_available_memory() {
        if cfg!(target_os = "linux") {
            assert!(available_memory().is_some_and(|bytes| bytes > 1 << 20));
        }
    }
}
