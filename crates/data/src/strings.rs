//! A column of strings in two flat buffers instead of one allocation per row.

/// Consecutive strings in one buffer; cheap to append, cheap to read by number.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Strings {
    /// All strings, one after the other.
    text: String,
    /// The end of each string in `text`, in bytes.
    ends: Vec<u64>,
}

impl Strings {
    /// Appends a string.
    pub fn push(&mut self, value: &str) {
        self.text.push_str(value);
        self.ends.push(self.text.len() as u64);
    }

    /// Appends all strings of another column.
    pub fn append(&mut self, other: &Strings) {
        let base = self.text.len() as u64;
        self.text.push_str(&other.text);
        self.ends.extend(other.ends.iter().map(|end| end + base));
    }

    /// Number of strings.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The string with this number.
    ///
    /// # Panics
    ///
    /// If there is no such string.
    pub fn get(&self, index: usize) -> &str {
        let end = self.ends[index];
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[start as usize..end as usize]
    }

    /// All strings in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        (0..self.len()).map(|i| self.get(i))
    }

    /// The column with its rows in another order: row `i` of the result is row `order[i]`.
    pub fn reordered(&self, order: &[u32]) -> Strings {
        order.iter().map(|&row| self.get(row as usize)).collect()
    }

    /// The flat parts: all text, and the end of each string in it.
    pub fn parts(&self) -> (&str, &[u64]) {
        (&self.text, &self.ends)
    }

    /// Makes a column from untrusted flat parts; `None` if they do not fit each other.
    pub fn from_parts(text: String, ends: Vec<u64>) -> Option<Strings> {
        let ascending = ends.windows(2).all(|w| w[0] <= w[1]);
        let covers_text = ends.last().copied().unwrap_or(0) == text.len() as u64;
        let on_boundaries =
            ends.iter().all(|&e| usize::try_from(e).is_ok_and(|e| text.is_char_boundary(e)));
        (ascending && covers_text && on_boundaries).then_some(Strings { text, ends })
    }
}

impl<'a> FromIterator<&'a str> for Strings {
    fn from_iter<I: IntoIterator<Item = &'a str>>(values: I) -> Self {
        let mut strings = Strings::default();
        values.into_iter().for_each(|v| strings.push(v));
        strings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_come_back_as_they_went_in() {
        let words = ["", "a", "größe", "", "z"];
        let column: Strings = words.into_iter().collect();
        assert_eq!(column.iter().collect::<Vec<_>>(), words);
        assert_eq!(column.reordered(&[2, 1]).iter().collect::<Vec<_>>(), ["größe", "a"]);
        let (text, ends) = column.parts();
        assert_eq!(Strings::from_parts(text.into(), ends.to_vec()).unwrap(), column);
    }

    #[test]
    fn parts_that_do_not_fit_are_refused() {
        assert!(Strings::from_parts("ab".into(), vec![1]).is_none());
        assert!(Strings::from_parts("ab".into(), vec![2, 1, 2]).is_none());
        assert!(Strings::from_parts("ö".into(), vec![1, 2]).is_none());
        assert!(Strings::from_parts("a".into(), vec![u64::MAX]).is_none());
    }
}
