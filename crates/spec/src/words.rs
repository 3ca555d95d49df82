//! Numbers of things in words: "1 query", "2 queries".

/// The plural of an English noun: `trees`, `passes`, `queries`, `leaves`.
pub fn plural(noun: &str) -> String {
    match noun.strip_suffix('y') {
        _ if noun.ends_with("leaf") => format!("{}ves", noun.trim_end_matches('f')),
        // day, days: only a y after a consonant changes.
        Some(stem) if !stem.ends_with(['a', 'e', 'i', 'o', 'u']) => format!("{stem}ies"),
        _ if noun.ends_with('s') => format!("{noun}es"),
        _ => format!("{noun}s"),
    }
}

/// A number of things in words.
///
/// ```
/// use rankwright_spec::words::counted;
///
/// assert_eq!([counted(1, "query"), counted(2, "query")], ["1 query", "2 queries"]);
/// ```
pub fn counted(number: usize, noun: &str) -> String {
    match number {
        1 => format!("1 {noun}"),
        _ => format!("{number} {}", plural(noun)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_singular_and_everything_else_plural() {
        for (number, noun, expected) in [
            (0, "document", "0 documents"),
            (1, "document", "1 document"),
            (1, "query", "1 query"),
            (0, "query", "0 queries"),
            (3, "query", "3 queries"),
            (2, "day", "2 days"),
            (1, "pass", "1 pass"),
            (2, "pass", "2 passes"),
            (1, "leaf", "1 leaf"),
            (2, "leaf", "2 leaves"),
        ] {
            assert_eq!(counted(number, noun), expected);
        }
    }
}
