//! The known name closest to a misspelt one.

/// The known name with the fewest edits to `found`; `None` if that is too far to be a misspelling.
pub fn nearest(found: &str, known: &[&str]) -> Option<String> {
    let found = found.to_ascii_lowercase();
    // A chosen limit: a misspelling has at most one wrong character in three, and one more.
    let limit = 1 + found.chars().count() / 3;
    let distance = |name: &&str| edits(&found, &name.to_ascii_lowercase());
    let best = known.iter().min_by_key(|n| distance(n))?;
    (distance(best) <= limit).then(|| (*best).to_owned())
}

/// Levenshtein distance, one row at a time.
fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        for (cell, cb) in row.iter_mut().skip(1).zip(&b) {
            let above = *cell;
            let replaced = diagonal + usize::from(ca != *cb);
            left = replaced.min(above + 1).min(left + 1);
            diagonal = above;
            *cell = left;
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_levenshteins_and_only_a_close_name_is_nearest() {
        let cases = [("", "", 0), ("abc", "", 3), ("kitten", "sitting", 3), ("a", "a", 0)];
        for (a, b, distance) in cases {
            assert_eq!(edits(a, b), distance, "{a} {b}");
            assert_eq!(edits(b, a), distance, "{b} {a}");
        }
        assert_eq!(nearest("ncdg", &["ndcg", "dcg", "err"]), Some("ndcg".into()));
        assert_eq!(nearest("foobar", &["ndcg", "rr"]), None);
    }
}
