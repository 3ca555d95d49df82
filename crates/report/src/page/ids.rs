//! Names that are safe as anchors and as file names, unique on a page.
//!
//! ASCII letters, digits and single `-` stay; runs of anything else become one `-`. An empty result
//! becomes `part`. A name that is already used, also with other letter case (some file systems
//! ignore it), gets a number.

use std::collections::HashSet;

use super::{Page, PageBlock};

/// Names used so far.
#[derive(Debug)]
pub(crate) struct UniqueIds(HashSet<String>);

impl UniqueIds {
    /// Starts with the ids that `html.rs` gives to the fixed parts of a page.
    fn new() -> UniqueIds {
        UniqueIds(["main", "facts", "contents", "conventions"].map(str::to_owned).into())
    }

    /// A safe and unique name, as close as possible to the wanted one.
    fn unique(&mut self, wanted: &str) -> String {
        let base = safe(wanted);
        let numbered = (2..).map(|n: u64| format!("{base}-{n}"));
        let mut names = std::iter::once(base.clone()).chain(numbered);
        let free = names.find(|name| self.0.insert(name.to_ascii_lowercase()));
        free.unwrap_or(base)
    }

    /// Makes the ids of a block and of the blocks inside it safe and unique.
    fn block(&mut self, block: &mut PageBlock) {
        match block {
            PageBlock::Text(_) => {}
            PageBlock::Chart(chart) => chart.id = self.unique(&chart.id),
            PageBlock::Table { id, .. } | PageBlock::Drawing { id, .. } => *id = self.unique(id),
            PageBlock::Choice { id, groups, .. } => {
                *id = self.unique(id);
                groups.iter_mut().flat_map(|(_, blocks)| blocks).for_each(|b| self.block(b));
            }
        }
    }
}

/// The name reduced to at most 80 letters, digits and `-`.
fn safe(wanted: &str) -> String {
    let mut out = String::new();
    for c in wanted.chars() {
        if out.len() == 80 {
            break;
        }
        match c.is_ascii_alphanumeric() {
            true => out.push(c),
            false if out.ends_with('-') || out.is_empty() => {}
            false => out.push('-'),
        }
    }
    let out = out.trim_end_matches('-');
    if out.is_empty() { "part".to_owned() } else { out.to_owned() }
}

impl Page {
    /// The page with safe and unique ids.
    pub(super) fn with_safe_ids(&self) -> Page {
        let mut page = self.clone();
        let mut ids = UniqueIds::new();
        for section in &mut page.sections {
            section.id = ids.unique(&section.id);
        }
        for section in &mut page.sections {
            section.blocks.iter_mut().for_each(|block| ids.block(block));
        }
        page
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_letters_digits_and_hyphens_are_left() {
        assert_eq!(safe("ndcg@10 by query"), "ndcg-10-by-query");
        assert_eq!(safe("../../etc/passwd"), "etc-passwd");
        assert_eq!(safe("\"><script>"), "script");
        assert_eq!(safe("שלום"), "part");
        assert_eq!(safe(""), "part");
        assert!(safe(&"x".repeat(500)).len() == 80);
    }

    #[test]
    fn a_used_name_gets_a_number() {
        let mut ids = UniqueIds::new();
        let found: Vec<_> = ["a", "a", "A", "a-2", "main"].iter().map(|w| ids.unique(w)).collect();
        assert_eq!(found, ["a", "a-2", "A-3", "a-2-2", "main-2"]);
    }
}
