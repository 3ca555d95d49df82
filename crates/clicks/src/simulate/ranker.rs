//! Rankers that make the pages of a simulated log from scores.
//!
//! - `fixed`: documents by score, highest first; equal scores keep their order.
//! - `plackett-luce`: documents are drawn one after the other without replacement, document d with
//!   probability exp(s_d / T) / sum over the documents left of exp(s / T) (Luce 1959; Plackett
//!   1975). It is the order of s / T plus Gumbel noise (Yellott 1977). Above a temperature T of 1 it
//!   is more random, below less.
//! - `random`: every order is equally likely.
//!
//! Stochastic rankers log a propensity for each shown document: the probability that it was drawn
//! at its rank, given the documents above it. The product of the propensities of a page is the
//! probability of the page. Cost: O(n log n) a page. A `fixed` page has no propensities.

use rankwright_data::Random;
use rankwright_spec::{
    Spec, SpecError, above, choices, json_by_text, params, read_spec, write_spec,
};

choices! {
    /// A way to make pages from scores.
    pub enum RankerKind {
        /// By score.
        Fixed = "fixed",
        /// Drawn one after the other by score.
        PlackettLuce = "plackett-luce",
        /// In random order.
        Random = "random",
    }
}

params! {
    /// The parameters of `plackett-luce`.
    pub struct PlackettLuceParams {
        temperature: f64 = 1.0, above(0.0), "Divisor of the scores: the higher, the more random.";
    }
}

params! {
    /// No parameters: those of `fixed` and `random`.
    struct NoRankerParams {}
}

/// A ranker that makes the pages of a simulated log.
///
/// ```
/// use rankwright_clicks::simulate::LoggingRanker;
/// use rankwright_data::Random;
///
/// let ranker = LoggingRanker::parse("plackett-luce(temperature=0.5)")?;
/// let page = ranker.rank(&[1.0, 3.0, 2.0], Some(2), &mut Random::new(1, 0));
/// assert_eq!((page.order.len(), page.propensities.len()), (2, 2));
/// # Ok::<(), rankwright_spec::SpecError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct LoggingRanker {
    kind: RankerKind,
    params: PlackettLuceParams,
}

json_by_text!(LoggingRanker, LoggingRanker::spec, LoggingRanker::parse);

/// A page that a ranker made.
#[derive(Debug, Clone, PartialEq)]
pub struct LoggedRanking {
    /// The documents as indices of the scores, the first rank first.
    pub order: Vec<usize>,
    /// The probability of each document at its rank, given those above; empty for a fixed ranking.
    pub propensities: Vec<f64>,
}

/// The fixed ranking by score.
impl Default for LoggingRanker {
    fn default() -> Self {
        Self::fixed()
    }
}

impl LoggingRanker {
    /// The fixed ranking by score.
    pub fn fixed() -> Self {
        Self { kind: RankerKind::Fixed, params: PlackettLuceParams::default() }
    }

    /// Reads a spec such as `plackett-luce(temperature=1)`.
    pub fn parse(text: &str) -> Result<Self, SpecError> {
        let spec = Spec::parse(text)?;
        let found = RankerKind::ALL.iter().find(|(name, _)| *name == spec.name);
        let (_, kind) = found.ok_or_else(|| {
            let known: Vec<&str> = RankerKind::ALL.iter().map(|(name, _)| *name).collect();
            SpecError::unknown("ranker", &spec.name, &known)
        })?;
        let params = match kind {
            RankerKind::PlackettLuce => read_spec(&spec)?,
            RankerKind::Fixed | RankerKind::Random => {
                read_spec::<NoRankerParams>(&spec)?;
                PlackettLuceParams::default()
            }
        };
        Ok(Self { kind: *kind, params })
    }

    /// The spec, with the parameters that differ from their defaults.
    pub fn spec(&self) -> String {
        match self.kind {
            RankerKind::PlackettLuce => write_spec(self.kind.name(), &self.params).to_string(),
            RankerKind::Fixed | RankerKind::Random => self.kind.name().to_owned(),
        }
    }

    /// Whether every page of the same scores is the same.
    pub fn is_fixed(&self) -> bool {
        self.kind == RankerKind::Fixed
    }

    /// Makes a page of at most `top` documents. Scores must be finite.
    pub fn rank(&self, scores: &[f64], top: Option<usize>, random: &mut Random) -> LoggedRanking {
        let divided = |score: &f64| match self.kind {
            RankerKind::Random => 0.0,
            RankerKind::Fixed => *score,
            RankerKind::PlackettLuce => *score / self.params.temperature,
        };
        let logits: Vec<f64> = scores.iter().map(divided).collect();
        let keys: Vec<f64> = match self.kind {
            RankerKind::Fixed => logits.clone(),
            _ => logits.iter().map(|logit| logit + gumbel(random)).collect(),
        };
        let mut order: Vec<usize> = (0..scores.len()).collect();
        order.sort_by(|one, other| keys[*other].total_cmp(&keys[*one]));
        let mut propensities = match self.kind {
            RankerKind::Fixed => Vec::new(),
            _ => propensities(&logits, &order),
        };
        let shown = top.unwrap_or(usize::MAX).min(order.len());
        order.truncate(shown);
        propensities.truncate(shown);
        LoggedRanking { order, propensities }
    }
}

/// A number of the standard Gumbel distribution.
fn gumbel(random: &mut Random) -> f64 {
    -(-random.unit().ln()).ln()
}

/// The probability of each document of an order, given those above it. Sums are made from the last
/// rank up, as logarithms, so that nothing is subtracted.
fn propensities(logits: &[f64], order: &[usize]) -> Vec<f64> {
    let mut found = vec![0.0; order.len()];
    let mut log_sum = f64::NEG_INFINITY;
    for (document, propensity) in order.iter().zip(&mut found).rev() {
        let logit = logits[*document];
        let larger = log_sum.max(logit);
        log_sum = larger + ((log_sum - larger).exp() + (logit - larger).exp()).ln();
        *propensity = (logit - log_sum).exp().min(1.0);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// The probability of an order by the definition.
    fn probability(scores: &[f64], order: &[usize]) -> f64 {
        let mut left: Vec<usize> = (0..scores.len()).collect();
        let mut product = 1.0;
        for document in order {
            let sum: f64 = left.iter().map(|other| scores[*other].exp()).sum();
            product *= scores[*document].exp() / sum;
            left.retain(|other| other != document);
        }
        product
    }

    #[test]
    fn orders_are_as_frequent_as_their_propensities_say() {
        let scores = [1.0, 0.0, 2.0];
        let ranker = LoggingRanker::parse("plackett-luce(temperature=2)").unwrap();
        let divided = scores.map(|score| score / 2.0);
        let mut counts: BTreeMap<Vec<usize>, (u32, f64)> = BTreeMap::new();
        for page in 0..60_000 {
            let made = ranker.rank(&scores, None, &mut Random::new(8, page));
            let product: f64 = made.propensities.iter().product();
            assert!((product - probability(&divided, &made.order)).abs() < 1e-12);
            counts.entry(made.order).or_insert((0, product)).0 += 1;
        }
        assert_eq!(counts.len(), 6);
        for (order, (count, product)) in counts {
            let share = f64::from(count) / 60_000.0;
            assert!((share - product).abs() < 0.008, "{order:?}: {share} {product}");
        }
    }

    #[test]
    fn a_page_is_cut_and_random_pages_have_uniform_propensities() {
        let ranker = LoggingRanker::parse("random").unwrap();
        let page = ranker.rank(&[900.0, 0.0, -900.0, 5.0], Some(3), &mut Random::new(1, 0));
        let expected = [0.25, 1.0 / 3.0, 0.5];
        for (found, expected) in page.propensities.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-12, "{page:?}");
        }
        assert_eq!(page.order.len(), 3);
        let fixed = LoggingRanker::fixed().rank(&[1.0, 3.0, 1.0], Some(2), &mut Random::new(1, 0));
        assert_eq!(fixed, LoggedRanking { order: vec![1, 0], propensities: Vec::new() });
        let extreme = LoggingRanker::parse("plackett-luce(temperature=0.001)").unwrap();
        let page = extreme.rank(&[900.0, 0.0, -900.0], None, &mut Random::new(1, 0));
        assert_eq!((page.order, page.propensities), (vec![0, 1, 2], vec![1.0; 3]));
    }

    #[test]
    fn specs_of_rankers_are_checked() {
        for bad in ["plackett", "fixed(temperature=2)", "plackett-luce(temperature=0)"] {
            assert!(LoggingRanker::parse(bad).is_err(), "{bad}");
        }
        let spec = "plackett-luce(temperature=2)";
        assert_eq!(LoggingRanker::parse(spec).unwrap().spec(), spec);
        assert_eq!(LoggingRanker::parse("random").unwrap().spec(), "random");
    }
}
