//! The names there are, told where one was asked for that is not among them.

use rankwright_spec::nearest;

/// Names that a message shows at most.
const SHOWN: usize = 5;

/// Names that are known: those that a slip may have been made of, or else the first.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct KnownNames {
    /// The number of all.
    pub count: usize,
    /// Those nearest to the name that was asked for.
    pub nearest: Vec<String>,
    /// The first ones.
    pub first: Vec<String>,
}

impl KnownNames {
    /// The names around one that is not among them.
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

    /// Some of them, as a part of a sentence.
    pub(crate) fn examples(&self) -> String {
        match self.nearest.is_empty() {
            true => format!("such as {}", self.first.join(", ")),
            false => format!("nearest to it: {}", self.nearest.join(", ")),
        }
    }

    /// The number and some of them; `place` says where they are, or whose.
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
