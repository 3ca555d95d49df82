//! Histogram of whole numbers, for query sizes.
//!
//! In a range of up to 25 numbers each has its bin; wider ranges are divided into at most 21 bins
//! of an equal, round width, with 0 in a bin of its own. Cost O(numbers x bins). Without numbers
//! there are no bins.

/// A bin: its first and last number, and the count of numbers in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Bin {
    pub(super) first: usize,
    pub(super) last: usize,
    pub(super) count: usize,
}

impl Bin {
    /// `3`, or `1 to 5` if the bin has several numbers.
    pub(super) fn name(&self) -> String {
        match self.first == self.last {
            true => self.first.to_string(),
            false => format!("{} to {}", self.first, self.last),
        }
    }
}

/// Counts numbers by bin.
pub(super) fn bins(numbers: &[usize]) -> Vec<Bin> {
    let (Some(&low), Some(&high)) = (numbers.iter().min(), numbers.iter().max()) else {
        return Vec::new();
    };
    let width = match high - low {
        span if span < 25 => 1,
        span => round_width(span.div_ceil(20)),
    };
    let mut bins = Vec::new();
    // A query without a (relevant) document is a different kind of query, so 0 has its own bin.
    if low == 0 {
        bins.push(Bin { first: 0, last: 0, count: 0 });
    }
    let start = (low.max(1) - 1) / width * width + 1;
    let firsts = (start..=high).step_by(width);
    bins.extend(firsts.map(|first| Bin { first, last: first + width - 1, count: 0 }));
    for number in numbers {
        let bin = bins.iter_mut().find(|bin| bin.first <= *number && *number <= bin.last);
        if let Some(bin) = bin {
            bin.count += 1;
        }
    }
    bins
}

/// The smallest of 1, 2, 5, 10, 20, 50 and so on that is large enough.
fn round_width(least: usize) -> usize {
    let mut power_of_ten = 1_usize;
    loop {
        for step in [1, 2, 5] {
            let width = power_of_ten.saturating_mul(step);
            if width >= least {
                return width;
            }
        }
        power_of_ten = power_of_ten.saturating_mul(10);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_a_small_range_each_number_has_its_bin() {
        let found: Vec<(String, usize)> =
            bins(&[3, 5, 3]).iter().map(|bin| (bin.name(), bin.count)).collect();
        assert_eq!(found, [("3".to_owned(), 2), ("4".to_owned(), 0), ("5".to_owned(), 1)]);
        assert!(bins(&[]).is_empty());
        assert_eq!(bins(&[0]).len(), 1);
    }

    #[test]
    fn wide_ranges_are_divided_and_every_number_is_counted() {
        let numbers: Vec<usize> = (7..=1000).collect();
        let bins = bins(&numbers);
        assert_eq!(bins.len(), 20);
        assert_eq!(bins.iter().map(|bin| bin.count).sum::<usize>(), numbers.len());
        // The numbers 7 to 50.
        assert_eq!((bins[0].name().as_str(), bins[0].count), ("1 to 50", 44));
    }

    #[test]
    fn zero_never_shares_a_bin() {
        let bins = bins(&[0, 0, 1, 63]);
        let found: Vec<(String, usize)> =
            bins.iter().take(2).map(|bin| (bin.name(), bin.count)).collect();
        assert_eq!(found, [("0".to_owned(), 2), ("1 to 5".to_owned(), 1)]);
        assert_eq!(bins.last().unwrap().name(), "61 to 65");
    }
}
