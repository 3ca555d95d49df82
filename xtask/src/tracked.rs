//! Checks that tracked files contain nothing that is specific to one machine: no absolute paths and
//! no package registries other than the public ones.
//!
//! Each line of a text file is checked on its own; a binary file (one with a zero byte near its
//! start) is not checked. The patterns are assembled from pieces, so that this file passes its own
//! check.

use std::fs;
use std::path::Path;

use crate::steps::{Failure, Outcome, output_of, print_line, succeeds};
use crate::workspace::Workspace;

/// Folders below the root whose contents differ from machine to machine.
const MACHINE_FOLDERS: [&str; 4] = ["root", "home", "work", "Users"];
/// Options of package installers that name a registry.
const REGISTRY_OPTIONS: [&str; 3] =
    [concat!("--index", "-url"), concat!("--extra-index", "-url"), concat!("--trusted", "-host")];
/// Ends of host names that exist inside one network only.
const PRIVATE_ENDS: [&str; 4] = [".internal", ".local", ".lan", ".corp"];
/// The public registry, as `Cargo.lock` names it.
const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";
/// A file with a zero byte among this many first bytes is binary.
const BINARY_PROBE: usize = 8192;

/// Checks every file that git tracks or would add.
pub(crate) fn check(workspace: &Workspace) -> Outcome {
    if !succeeds(workspace.command("git").args(["rev-parse", "--is-inside-work-tree"])) {
        print_line("not a git checkout: no files are tracked, so none are checked");
        return Ok(());
    }
    let mut git = workspace.command("git");
    git.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
    let listed = output_of(&mut git)?;
    let mut found = Vec::new();
    for name in listed.split(|&byte| byte == 0).filter(|name| !name.is_empty()) {
        let name = String::from_utf8_lossy(name);
        // A file that was deleted but is still listed, or a link to a folder, has no text.
        if let Ok(bytes) = fs::read(workspace.path(&name)) {
            found.extend(problems(&name, &bytes));
        }
    }
    if found.is_empty() { Ok(()) } else { Err(Failure::new(found.join("\n"))) }
}

/// One message for each bad line of a file.
fn problems(name: &str, bytes: &[u8]) -> Vec<String> {
    if bytes.iter().take(BINARY_PROBE).any(|&byte| byte == 0) {
        return Vec::new();
    }
    let text = String::from_utf8_lossy(bytes);
    let lines = text.lines().zip(1_usize..);
    lines
        .filter_map(|(line, number)| Some(format!("{name}:{number}: {}", problem(name, line)?)))
        .collect()
}

/// What is wrong with a line of the file `name`.
fn problem(name: &str, line: &str) -> Option<String> {
    if let Some(path) = machine_path(line) {
        return Some(format!("`{path}` is a path of one machine; use a relative path"));
    }
    if let Some(host) = private_host(line) {
        return Some(format!("`{host}` is a host of a private network; remove it"));
    }
    if let Some(option) = REGISTRY_OPTIONS.iter().find(|option| line.contains(*option)) {
        return Some(format!(
            "`{option}` names a registry; set registries in the settings of each machine"
        ));
    }
    foreign_source(name, line).then(|| "packages come from the public registry only".to_string())
}

/// The first absolute path below a machine's own folders, such as a home folder.
fn machine_path(line: &str) -> Option<String> {
    for folder in MACHINE_FOLDERS {
        let windows = format!(":\\{folder}\\");
        if line.contains(&windows) {
            return Some(windows);
        }
        let pattern = format!("/{folder}/");
        let mut hits = line.match_indices(&pattern);
        // `../NAME/` and `some/NAME/` are relative, `host.org/NAME/` is a page.
        if hits.any(|(start, _)| !line[..start].ends_with(is_part_of_a_path)) {
            return Some(pattern);
        }
    }
    None
}

/// Whether a slash after this character continues a path or an address.
fn is_part_of_a_path(c: char) -> bool {
    c.is_alphanumeric() || "._-~*})]>".contains(c)
}

/// The first host in a web address that only one network knows.
fn private_host(line: &str) -> Option<&str> {
    line.split("://").skip(1).find_map(|rest| {
        let ends_host = |c: char| !(c.is_ascii_alphanumeric() || ".-".contains(c));
        let host = rest.split(ends_host).next().unwrap_or("");
        let private = PRIVATE_ENDS.iter().any(|end| host.ends_with(end)) || private_address(host);
        private.then_some(host)
    })
}

fn private_address(host: &str) -> bool {
    host.parse::<std::net::Ipv4Addr>().is_ok_and(|address| address.is_private())
}

/// Whether a line of a package list or of cargo's settings names another source of packages than
/// the public registry.
fn foreign_source(name: &str, line: &str) -> bool {
    let path = Path::new(name);
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    let line = line.trim();
    if file == "Cargo.lock" {
        return line.starts_with("source = ") && line != format!("source = \"{CRATES_IO}\"");
    }
    if file.starts_with("requirements") && file.ends_with(".txt") {
        return !line.starts_with('#') && (line.starts_with('-') || line.contains("://"));
    }
    if path.parent().is_some_and(|folder| folder.ends_with(".cargo")) {
        let settings = ["[source", "[registries", "[registry", "replace-with"];
        return settings.iter().any(|start| line.starts_with(start));
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A line of text with a path below the folder.
    fn path_in(folder: &str, before: &str) -> String {
        format!("{before}/{folder}/someone/x.txt")
    }

    #[test]
    fn absolute_paths_of_a_machine_are_found() {
        for folder in MACHINE_FOLDERS {
            for before in ["", "see ", "\"", "file://", "DATA=", "("] {
                assert!(machine_path(&path_in(folder, before)).is_some(), "{before}{folder}");
            }
        }
        assert!(machine_path(&format!("C:{0}Users{0}someone", '\\')).is_some());
    }

    #[test]
    fn relative_paths_and_web_pages_are_not_machine_paths() {
        for before in ["..", ".", "src", "https://host.org", "$ROOT", "${ROOT}", "~"] {
            assert_eq!(machine_path(&path_in("work", before)), None, "{before}");
        }
        assert_eq!(machine_path("work/home and /homes/x"), None);
    }

    #[test]
    fn hosts_of_one_network_are_found_and_public_ones_pass() {
        let private = ["10.1.2.3", "192.168.0.9", "mirror.corp", "pip.lan"];
        for host in private {
            let line = format!("fetch {}{host}:8080/simple", "http://");
            assert_eq!(private_host(&line), Some(host));
        }
        for host in ["crates.io", "127.0.0.1", "localhost", "8.8.8.8", "corp.example.org"] {
            assert_eq!(private_host(&format!("{}{host}/", "https://")), None, "{host}");
        }
    }

    #[test]
    fn a_lock_file_names_the_public_registry_only() {
        let public = format!("source = \"{CRATES_IO}\"");
        assert!(!foreign_source("Cargo.lock", &public));
        assert!(foreign_source("fuzz/Cargo.lock", "source = \"git+https://example.org/x\""));
        assert!(!foreign_source("Cargo.toml", "source = \"elsewhere\""));
    }

    #[test]
    fn a_requirements_file_names_versions_and_no_places() {
        assert!(!foreign_source("bench/requirements.txt", "numpy==2.4.6  # arrays"));
        assert!(foreign_source("bench/requirements.txt", "-f wheels"));
        assert!(foreign_source("requirements-x.txt", "a @ https://example.org/a.whl"));
    }

    #[test]
    fn cargo_settings_with_another_registry_are_found() {
        assert!(foreign_source(".cargo/config.toml", "[source.crates-io]"));
        assert!(!foreign_source(".cargo/config.toml", "xtask = \"run --package xtask --\""));
    }

    #[test]
    fn messages_carry_file_and_line_and_binary_files_pass() {
        let text = format!("fine\n{}\n", path_in("home", "open "));
        let found = problems("notes.md", text.as_bytes());
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("notes.md:2: "), "{}", found[0]);
        let binary = [b"\0".as_slice(), text.as_bytes()].concat();
        assert!(problems("seed.bin", &binary).is_empty());
    }
}
