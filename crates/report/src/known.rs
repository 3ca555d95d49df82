//! The known names, reported where an unknown name was given.

use rankwright_spec::nearest;

/// Most names in a message.
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
    pub(crate) fn around<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Self {
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
        match self.nearest.is_empty() {
            true => format!("such as {}", self.first.join(", ")),
            false => format!("nearest to it: {}", self.nearest.join(", ")),
        }
    }

    /// The number of names and some of them; `place` describes what they belong to.
    pub(crate) fn among(&self, place: &str) -> String {
        format!("{} are {place}, {}", self.count, self.examples())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_come_first_and_without_any_the_first() {
        let known = ["9", "103", "13", "1034", "77", "2000"];
        let around = |name: &str| KnownNames::around(name, known.into_iter()).among("in the data");
        assert_eq!(around("1033"), "6 are in the data, nearest to it: 103, 1034, 13");
        assert_eq!(around("abcdef"), "6 are in the data, such as 9, 103, 13, 1034, 77");
    }
}
