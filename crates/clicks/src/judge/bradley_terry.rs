//! The Bradley-Terry model: strengths of documents from comparisons of two,
//!
//! ```text
//! P(i beats j) = s_i / (s_i + s_j)
//! ```
//!
//! (Bradley and Terry 1952), fitted by the iteration of Hunter (2004),
//!
//! ```text
//! s_i = wins of i / sum over comparisons of i with j of 1 / (s_i + s_j)
//! ```
//!
//! A tie is half a win for both. Every document also has some imaginary wins and as many losses
//! against a document of strength 1 (the prior), which keeps strengths finite where a document won
//! or lost every comparison, and makes documents comparable that no chain of comparisons links.
//! Cost: O(compared pairs) an iteration.

use std::collections::BTreeMap;
use std::io::{self, Write};

use rankwright_spec::visible::one_line;
use rankwright_spec::{SpecError, above, check_params, params};

use super::PairComparison;

params! {
    /// Options of a fit, and of the grades that are made of its strengths.
    #[derive(Copy)]
    pub struct BradleyTerryOptions {
        prior: f64 = 0.5, above(0.0),
            "Imaginary wins, and as many losses, of every document against one of mean strength.";
        grades: u32 = 5, 2..=100,
            "Number of grades of qrels: the probability to beat a document of mean strength, cut into so many parts.";
        iterations: u32 = 10_000, 1..=1_000_000, "Largest number of iterations.";
        tolerance: f64 = 1e-10, 0.0..,
            "The fit ends when no logarithmic strength changes by more than this.";
    }
}

/// The strengths of the documents of queries, fitted to comparisons.
#[derive(Debug, Clone, PartialEq)]
pub struct BradleyTerry {
    /// For each query its documents with their logarithmic strengths, the strongest first; their
    /// mean is 0.
    pub queries: BTreeMap<String, Vec<(String, f64)>>,
}

/// A compared pair of documents with the probability that the stronger one is better.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct AggregatedPair {
    /// The query.
    pub query: String,
    /// The stronger document.
    pub better: String,
    /// The weaker document.
    pub worse: String,
    /// The probability that the stronger document beats the weaker one, from 0.5 to 1.
    pub probability: f64,
    /// Number of comparisons of the two.
    pub comparisons: usize,
}

impl AggregatedPair {
    /// The weight of the pair without its probability p: the number of comparisons times 2p - 1.
    pub fn weight(&self) -> f64 {
        self.comparisons as f64 * (2.0 * self.probability - 1.0)
    }
}

/// Writes pairs as a table that readers of preference pairs know, with a header line: with
/// [`AggregatedPair::weight`], or with the probability and the number of comparisons.
pub fn write_aggregated(
    out: &mut dyn Write,
    pairs: &[AggregatedPair],
    has_probabilities: bool,
) -> io::Result<()> {
    let columns = if has_probabilities { "probability\tweight" } else { "weight" };
    writeln!(out, "qid\tbetter\tworse\t{columns}")?;
    for pair in pairs {
        let [query, better, worse] =
            [&pair.query, &pair.better, &pair.worse].map(|id| one_line(id));
        write!(out, "{query}\t{better}\t{worse}\t")?;
        match has_probabilities {
            true => writeln!(out, "{:.6}\t{}", pair.probability, pair.comparisons)?,
            false => writeln!(out, "{:.6}", pair.weight())?,
        }
    }
    Ok(())
}

impl BradleyTerry {
    /// Fits strengths to comparisons, query by query.
    pub fn fit(
        comparisons: &[PairComparison],
        options: &BradleyTerryOptions,
    ) -> Result<Self, SpecError> {
        check_params(options, "bradley-terry")?;
        Ok(Self::fitted(comparisons, options))
    }

    fn fitted(comparisons: &[PairComparison], options: &BradleyTerryOptions) -> Self {
        let mut by_query: BTreeMap<&str, Vec<&PairComparison>> = BTreeMap::new();
        for comparison in comparisons {
            by_query.entry(&comparison.query).or_default().push(comparison);
        }
        let fitted = by_query
            .into_iter()
            .map(|(query, comparisons)| (query.to_owned(), fit_query(&comparisons, options)));
        Self { queries: fitted.collect() }
    }

    /// The compared pairs, each with its stronger document; pairs of equal strength are left out.
    pub fn pairs(&self, comparisons: &[PairComparison]) -> Vec<AggregatedPair> {
        let mut counts: BTreeMap<(&str, &str, &str), usize> = BTreeMap::new();
        for comparison in comparisons {
            let (one, other, _) = comparison.sorted();
            *counts.entry((&comparison.query, one, other)).or_default() += 1;
        }
        let strengths: BTreeMap<(&str, &str), f64> = self
            .queries
            .iter()
            .flat_map(|(query, documents)| {
                documents.iter().map(|(id, strength)| ((query.as_str(), id.as_str()), *strength))
            })
            .collect();
        let pair = |((query, one, other), comparisons): ((&str, &str, &str), usize)| {
            let of = |document| strengths.get(&(query, document)).copied();
            let difference = of(one)? - of(other)?;
            let (better, worse) = if difference > 0.0 { (one, other) } else { (other, one) };
            (difference != 0.0).then(|| AggregatedPair {
                query: query.to_owned(),
                better: better.to_owned(),
                worse: worse.to_owned(),
                probability: logistic(difference.abs()),
                comparisons,
            })
        };
        counts.into_iter().filter_map(pair).collect()
    }

    /// A grade for each document, from 0 to `grades` - 1: the probability to beat a document of
    /// mean strength, cut into `grades` equal parts.
    pub fn grades(&self, grades: u32) -> Vec<(&str, &str, u32)> {
        let grade = |strength: f64| {
            let part = (f64::from(grades) * logistic(strength)).floor() as u32;
            part.min(grades.saturating_sub(1))
        };
        let documents = self.queries.iter().flat_map(|(query, documents)| {
            documents.iter().map(move |(id, strength)| (query.as_str(), id.as_str(), *strength))
        });
        documents.map(|(query, id, strength)| (query, id, grade(strength))).collect()
    }
}

fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

fn fit_query(comparisons: &[&PairComparison], options: &BradleyTerryOptions) -> Vec<(String, f64)> {
    let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
    for comparison in comparisons {
        numbers.insert(&comparison.first, 0);
        numbers.insert(&comparison.second, 0);
    }
    numbers.values_mut().zip(0..).for_each(|(number, next)| *number = next);
    let mut wins = vec![options.prior; numbers.len()];
    let mut games: BTreeMap<(usize, usize), f64> = BTreeMap::new();
    for comparison in comparisons {
        let (one, other, share) = comparison.sorted();
        let (one, other) = (numbers[one], numbers[other]);
        if one != other {
            wins[one] += share;
            wins[other] += 1.0 - share;
            *games.entry((one, other)).or_default() += 1.0;
        }
    }
    let strengths = iterate(&wins, &games, options);
    let logs: Vec<f64> = strengths.iter().map(|strength| strength.ln()).collect();
    let mean = logs.iter().sum::<f64>() / logs.len().max(1) as f64;
    let mut ranked: Vec<(String, f64)> =
        numbers.into_keys().map(str::to_owned).zip(logs.iter().map(|log| log - mean)).collect();
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1));
    ranked
}

/// The strengths that maximise the likelihood; `games` has the number of comparisons of each two
/// documents.
fn iterate(
    wins: &[f64],
    games: &BTreeMap<(usize, usize), f64>,
    options: &BradleyTerryOptions,
) -> Vec<f64> {
    let mut strengths = vec![1.0_f64; wins.len()];
    for _ in 0..options.iterations {
        let prior = |strength: &f64| 2.0 * options.prior / (strength + 1.0);
        let mut divisors: Vec<f64> = strengths.iter().map(prior).collect();
        for ((one, other), count) in games {
            let each = count / (strengths[*one] + strengths[*other]);
            divisors[*one] += each;
            divisors[*other] += each;
        }
        let mut change: f64 = 0.0;
        for ((strength, wins), divisor) in strengths.iter_mut().zip(wins).zip(divisors) {
            if divisor > 0.0 {
                let before = std::mem::replace(strength, wins / divisor);
                change = change.max((strength.ln() - before.ln()).abs());
            }
        }
        if change <= options.tolerance {
            break;
        }
    }
    strengths
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::Preferred;

    fn wins(query: &str, first: &str, second: &str) -> PairComparison {
        PairComparison::new(query, first, second, Preferred::First)
    }

    /// The likelihood alone, which [`BradleyTerry::fit`] refuses.
    fn without_prior() -> BradleyTerryOptions {
        BradleyTerryOptions { prior: 0.0, ..BradleyTerryOptions::default() }
    }

    #[test]
    fn strengths_of_two_documents_are_the_odds() {
        // A won 3 of 4.
        let mut comparisons = vec![wins("q", "a", "b"); 3];
        comparisons.push(wins("q", "b", "a"));
        let fitted = BradleyTerry::fitted(&comparisons, &without_prior());
        let found = &fitted.queries["q"];
        assert_eq!((found[0].0.as_str(), found[1].0.as_str()), ("a", "b"));
        assert!((found[0].1 - found[1].1 - 3_f64.ln()).abs() < 1e-9, "{found:?}");
        // With a prior, a document that always won has a finite strength.
        let fitted = BradleyTerry::fit(&comparisons[..3], &BradleyTerryOptions::default()).unwrap();
        assert!(fitted.queries["q"].iter().all(|(_, strength)| strength.is_finite()));
    }

    #[test]
    fn the_gradient_of_the_likelihood_is_zero() {
        let mut comparisons = Vec::new();
        for (one, other, count) in [
            ("a", "b", 5),
            ("b", "a", 2),
            ("b", "c", 4),
            ("c", "b", 3),
            ("c", "a", 1),
            ("a", "c", 6),
        ] {
            comparisons.extend(vec![wins("q", one, other); count]);
        }
        comparisons.push(PairComparison::new("q", "a", "b", Preferred::Neither));
        let fitted = BradleyTerry::fitted(&comparisons, &without_prior());
        let strengths: BTreeMap<&str, f64> =
            fitted.queries["q"].iter().map(|(id, s)| (id.as_str(), *s)).collect();
        for document in ["a", "b", "c"] {
            // Wins minus expected wins.
            let mut gradient = 0.0;
            for comparison in &comparisons {
                let (one, other, share) = comparison.sorted();
                let p = logistic(strengths[one] - strengths[other]);
                gradient += if one == document { share - p } else { 0.0 };
                gradient += if other == document { p - share } else { 0.0 };
            }
            assert!(gradient.abs() < 1e-6, "{document} {gradient}");
        }
    }

    #[test]
    fn pairs_and_grades_follow_the_strengths() {
        let mut comparisons = vec![wins("q", "a", "b"), wins("q", "a", "b"), wins("q", "b", "c")];
        comparisons.push(PairComparison::new("r", "x", "y", Preferred::Neither));
        let fitted = BradleyTerry::fit(&comparisons, &BradleyTerryOptions::default()).unwrap();
        let pairs = fitted.pairs(&comparisons);
        // x and y are equal, and a was never compared with c.
        let named: Vec<(&str, &str, usize)> =
            pairs.iter().map(|p| (p.better.as_str(), p.worse.as_str(), p.comparisons)).collect();
        assert_eq!(named, [("a", "b", 2), ("b", "c", 1)]);
        assert!(pairs.iter().all(|pair| pair.probability > 0.5 && pair.probability < 1.0));
        let grades = fitted.grades(3);
        assert_eq!(
            grades,
            [("q", "a", 2), ("q", "b", 1), ("q", "c", 0), ("r", "x", 1), ("r", "y", 1)]
        );
        assert!(fitted.grades(1).iter().all(|(_, _, grade)| *grade == 0));
    }
}
