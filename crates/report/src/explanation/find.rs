//! Queries, documents and features by name: what is told of a name that is not there.

use rankwright_spec::nearest;

use crate::error::ReportError;

/// How many names a message shows.
const SHOWN: usize = 5;

/// The error that something is not there, with the names that a slip may have been made of, or else
/// the first there are.
pub(super) fn unknown<'a>(
    what: &str,
    name: &str,
    known_as: &str,
    known: impl Iterator<Item = &'a str>,
) -> ReportError {
    let mut known: Vec<&str> = known.collect();
    let first: Vec<String> = known.iter().take(SHOWN).map(|name| (*name).to_owned()).collect();
    let all = known.len();
    let mut near: Vec<String> = Vec::new();
    while near.len() < SHOWN
        && let Some(next) = nearest(name, &known)
    {
        known.retain(|other| *other != next);
        near.push(next);
    }
    let (such, shown) = if near.is_empty() { ("such as", first) } else { ("nearest to it:", near) };
    ReportError::with_help(
        format!("{what} '{name}'"),
        format!("{all} are {known_as}, {such} {}", shown.join(", ")),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_come_first_and_without_any_the_first() {
        let known = ["9", "103", "13", "1034", "77", "2000"];
        let error = unknown("there is no query", "1033", "in the data", known.into_iter());
        assert_eq!(error.to_string(), "there is no query '1033'");
        let help = error.help().unwrap_or_default();
        assert_eq!(help, "6 are in the data, nearest to it: 103, 1034, 13");
        let error = unknown("there is no query", "abcdef", "in the data", known.into_iter());
        let help = error.help().unwrap_or_default();
        assert_eq!(help, "6 are in the data, such as 9, 103, 13, 1034, 77");
    }
}
