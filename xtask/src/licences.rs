//! `cargo xtask licences`: every crate that is built here has a licence of the list in `deny.toml`.
//!
//! This is the part of `cargo deny` that needs no further program and no database: licences by what
//! the crates declare, the sources in `Cargo.lock`, and the crates of which two versions are built.
//! Known vulnerabilities need `cargo deny check advisories`, which downloads its database.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use crate::steps::{Failure, Outcome, output_of, print_line};
use crate::workspace::Workspace;

pub(crate) fn check(workspace: &Workspace) -> Outcome {
    let deny = fs::read_to_string(workspace.path("deny.toml"))
        .map_err(|error| Failure::new(format!("cannot read deny.toml: {error}")))?;
    let allowed = allowed_licences(&deny);
    let tree =
        "tree --workspace --all-features --edges normal,build --prefix none --format {p}|{l}";
    let tree = output_of(&mut workspace.cargo(tree))?;
    let crates = crates(&String::from_utf8_lossy(&tree));
    let bad_licences: Vec<String> = crates
        .iter()
        .filter(|(_, licence)| !is_allowed(licence, &allowed))
        .map(|(name, licence)| format!("{name}: licence `{licence}` is not allowed by deny.toml"))
        .collect();
    let lock = fs::read_to_string(workspace.path("Cargo.lock"))
        .map_err(|error| Failure::new(format!("cannot read Cargo.lock: {error}")))?;
    let problems: Vec<String> = bad_licences.into_iter().chain(bad_sources(&lock)).collect();
    if !problems.is_empty() {
        return Err(Failure::new(problems.join("\n")));
    }
    print_line(&format!("{} crates, all licences and sources allowed", crates.len()));
    for (name, versions) in several_versions(&crates) {
        print_line(&format!("several versions of {name}: {}", versions.join(", ")));
    }
    Ok(())
}

/// A message for each crate of `Cargo.lock` that comes neither from this repository nor, with a
/// checksum, from a registry: the first one that is named, which must be the only one.
fn bad_sources(lock: &str) -> Vec<String> {
    let packages = || lock.split("[[package]]").skip(1);
    let value = |package: &str, key: &str| -> Option<String> {
        let line = package.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(" = "));
        line.map(|text| text.trim_matches('"').to_owned())
    };
    let is_registry = |source: &String| source.starts_with("registry+");
    let registry = packages().filter_map(|package| value(package, "source")).find(is_registry);
    let problems = packages().filter_map(|package| {
        let (name, source) = (value(package, "name")?, value(package, "source")?);
        match Some(&source) == registry.as_ref() && value(package, "checksum").is_some() {
            true => None,
            false => {
                Some(format!("{name}: the source `{source}` is not allowed, or has no checksum"))
            }
        }
    });
    problems.collect()
}

/// The list `allow` of deny.toml.
fn allowed_licences(deny: &str) -> Vec<&str> {
    let list = deny.lines().skip_while(|line| !line.starts_with("allow = [")).skip(1);
    list.take_while(|line| !line.starts_with(']'))
        .filter_map(|line| line.split('"').nth(1))
        .collect()
}

/// The name with the version, and the licence, of each line of `cargo tree`.
fn crates(tree: &str) -> BTreeSet<(String, String)> {
    let lines = tree.lines().filter_map(|line| line.split_once('|'));
    let words = |text: &str| text.split_whitespace().take(2).collect::<Vec<_>>().join(" ");
    lines
        .map(|(name, licence)| (words(name), licence.trim_end_matches(" (*)").to_owned()))
        .collect()
}

/// Crates of which more than one version is built.
fn several_versions(crates: &BTreeSet<(String, String)>) -> BTreeMap<&str, Vec<&str>> {
    let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (name, version) in crates.iter().filter_map(|(name, _)| name.split_once(' ')) {
        versions.entry(name).or_default().push(version);
    }
    versions.retain(|_, versions| versions.len() > 1);
    versions
}

/// Whether an expression such as `MIT OR Apache-2.0` can be met with the allowed licences. A slash
/// is an old way to write OR.
fn is_allowed(expression: &str, allowed: &[&str]) -> bool {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut parser = Parser { words: &words, allowed };
    parser.alternatives() == Some(true) && parser.words.is_empty()
}

/// Parses a licence expression and evaluates it: whether the allowed licences satisfy it, or `None`
/// if it is malformed. AND binds more closely than OR.
struct Parser<'a> {
    words: &'a [&'a str],
    allowed: &'a [&'a str],
}

impl<'a> Parser<'a> {
    fn next(&mut self) -> Option<&'a str> {
        let (first, rest) = self.words.split_first()?;
        self.words = rest;
        Some(first)
    }

    /// Whether the next word is `word`, which is then consumed.
    fn takes(&mut self, word: &str) -> bool {
        let found = self.words.first() == Some(&word);
        if found {
            self.words = &self.words[1..];
        }
        found
    }

    fn alternatives(&mut self) -> Option<bool> {
        let mut value = self.conjunction()?;
        while self.takes("OR") {
            value |= self.conjunction()?;
        }
        Some(value)
    }

    fn conjunction(&mut self) -> Option<bool> {
        let mut value = self.operand()?;
        while self.takes("AND") {
            value &= self.operand()?;
        }
        Some(value)
    }

    /// A licence, or an expression in parentheses.
    fn operand(&mut self) -> Option<bool> {
        if self.takes("(") {
            let value = self.alternatives()?;
            return self.takes(")").then_some(value);
        }
        let mut name = self.next()?.to_owned();
        if self.takes("WITH") {
            name = format!("{name} WITH {}", self.next()?);
        }
        Some(self.allowed.contains(&name.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crates_come_from_one_registry_with_a_checksum() {
        let package = |name: &str, rest: &str| format!("[[package]]\nname = \"{name}\"\n{rest}\n");
        let from = |source: &str| format!("source = \"{source}\"\nchecksum = \"00\"");
        let good = package("ours", "") + &package("a", &from("registry+one"));
        assert_eq!(bad_sources(&good), Vec::<String>::new());
        for (name, rest) in [
            ("git", from("git+somewhere")),
            ("other", from("registry+two")),
            ("unsigned", "source = \"registry+one\"".to_owned()),
        ] {
            let bad = bad_sources(&(good.clone() + &package(name, &rest)));
            assert!(bad.len() == 1 && bad[0].starts_with(&format!("{name}: ")), "{bad:?}");
        }
    }

    #[test]
    fn expressions_are_met_by_one_alternative_and_by_all_parts() {
        let allowed = ["MIT", "Apache-2.0 WITH LLVM-exception", "Unicode-3.0"];
        for good in [
            "MIT",
            "MIT OR GPL-3.0",
            "GPL-3.0/MIT",
            "GPL-3.0 / MIT",
            "(MIT OR Apache-2.0) AND Unicode-3.0",
            "Apache-2.0 WITH LLVM-exception OR GPL-2.0",
        ] {
            assert!(is_allowed(good, &allowed), "{good}");
        }
        for bad in ["", "GPL-3.0", "MIT AND GPL-3.0", "Apache-2.0", "(MIT", "MIT MIT", "OR MIT"] {
            assert!(!is_allowed(bad, &allowed), "{bad}");
        }
    }

    #[test]
    fn the_list_of_licences_and_the_lines_of_crates_are_read() {
        let deny =
            "[licenses]\n# x\nallow = [\n    \"MIT\",\n    \"ISC\", # y\n]\nother = [\"GPL\"]\n";
        assert_eq!(allowed_licences(deny), ["MIT", "ISC"]);
        let found = crates("a v1.0.0 (here)|MIT\n\na v2.0.0|ISC (*)\nb v1.0.0|MIT\n");
        assert_eq!(found.len(), 3);
        assert_eq!(several_versions(&found)["a"], ["v1.0.0", "v2.0.0"]);
    }
}
