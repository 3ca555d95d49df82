//! The known names, listed in the message about an unknown name.

use rankwright_spec::nearest;
use rankwright_spec::visible::one_line;
use rankwright_spec::words::counted;

/// Maximum number of names in a message.
const SHOWN: usize = 5;

/// Known names for an error message: those similar to the unknown name, or else the first ones.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct KnownNames {
    /// Number of all known names.
    pub count: usize,
    /// The known names most similar to the unknown one.
    pub nearest: Vec<String>,
    /// The first known names.
    pub first: Vec<String>,
}

impl KnownNames {
    /// The known names to report for an unknown one.
    pub(crate) fn similar_to<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Self {
        let mut known: Vec<&str> = known.collect();
        let count = known.len();
        let first = known.iter().take(SHOWN).map(|name| (*name).to_owned()).collect();
        let mut near: Vec<String> = Vec::new();
        while near.len() < SHOWN
            && let Some(next) = nearest(name, &known)
        {
            known.retain(|other| *other != next);
            near.push(next);
        }
        Self { count, nearest: near, first }
    }

    /// Some of the names, as a part of a sentence.
    pub(crate) fn examples(&self) -> String {
        let join = |names: &[String]| -> String {
            let names: Vec<_> = names.iter().map(|name| one_line(name)).collect();
            names.join(", ")
        };
        match self.nearest.is_empty() {
            true => format!("for example {}", join(&self.first)),
            false => format!("similar: {}", join(&self.nearest)),
        }
    }

    /// The number of names and some of them, as a sentence that starts with `owner`:
    /// `the data has` and `query` give `the data has 6 queries; similar: 103, 13`.
    pub(crate) fn listed(&self, owner: &str, unit: &str) -> String {
        match self.count {
            0 => format!("{owner} {}", counted(0, unit)),
            count => format!("{owner} {}; {}", counted(count, unit), self.examples()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_on_one_line() {
        let names = KnownNames::similar_to("e9", ["e\t9\nforged", "e8"].into_iter());
        assert!(!names.listed("the data has", "query").contains(['\n', '\t']));
    }

    #[test]
    fn similar_names_are_listed_or_else_the_first_names() {
        let known = ["9", "103", "13", "1034", "77", "2000"];
        let listed = |name: &str, known: &[&str]| {
            KnownNames::similar_to(name, known.iter().copied()).listed("the data has", "query")
        };
        assert_eq!(listed("1033", &known), "the data has 6 queries; similar: 103, 1034, 13");
        let first = "the data has 6 queries; for example 9, 103, 13, 1034, 77";
        assert_eq!(listed("abcdef", &known), first);
        assert_eq!(listed("1", &[]), "the data has 0 queries");
    }
}
