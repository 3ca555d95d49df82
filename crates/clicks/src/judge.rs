//! Pairwise judgements of people or language models: "A > B".
//!
//! [`BradleyTerry`] turns comparisons into a strength for each document of a query, and
//! [`check_judgements`] reports how consistent the judges are.
//!
//! ```text
//! P(i beats j) = s_i / (s_i + s_j)
//! ```
//!
//! (Bradley and Terry 1952; fitted by the iteration of Hunter 2004). A judge who prefers the
//! document that is shown first is found by asking in both orders.

use std::collections::{BTreeMap, HashMap};

use foldhash::fast::FixedState;
use serde::Serialize;

/// A comparison of two documents for a query, in the order in which the judge saw them.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct PairComparison {
    /// The judge; empty if there is only one.
    pub judge: String,
    /// The query.
    pub query: String,
    /// The document that was shown first.
    pub first: String,
    /// The document that was shown second.
    pub second: String,
    /// The judgement.
    pub preferred: Preferred,
}

/// The preferred document of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Preferred {
    /// The document that was shown first.
    First,
    /// The document that was shown second.
    Second,
    /// Both are equally good.
    Neither,
}

impl PairComparison {
    /// A comparison by one judge.
    pub fn new(
        query: impl Into<String>,
        first: impl Into<String>,
        second: impl Into<String>,
        preferred: Preferred,
    ) -> Self {
        let (query, first, second) = (query.into(), first.into(), second.into());
        Self { judge: String::new(), query, first, second, preferred }
    }

    /// Names the judge.
    #[must_use]
    pub fn by(mut self, judge: impl Into<String>) -> Self {
        self.judge = judge.into();
        self
    }

    /// The two documents in alphabetical order, and the share of the win that the first of them
    /// has: 1, 0.5 or 0.
    fn sorted(&self) -> (&str, &str, f64) {
        let share = match self.preferred {
            Preferred::First => 1.0,
            Preferred::Second => 0.0,
            Preferred::Neither => 0.5,
        };
        match self.first <= self.second {
            true => (&self.first, &self.second, share),
            false => (&self.second, &self.first, 1.0 - share),
        }
    }
}

/// The consistency of judgements.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[non_exhaustive]
pub struct JudgementCheck {
    /// Number of comparisons.
    pub comparisons: usize,
    /// Pairs that one judge saw in both orders.
    pub both_orders: usize,
    /// Those of them whose winner changed with the order.
    pub flips: usize,
    /// Share of the comparisons with a winner in which the document shown first won; 0.5 is fair.
    pub first_wins: Option<f64>,
    /// Number of triples of a query in which A beats B, B beats C and C beats A, by majority.
    pub cycles: usize,
    /// Number of triples of which all three pairs have a majority.
    pub triples: usize,
    /// Pairs that at least two judges decided.
    pub shared_pairs: usize,
    /// Share of the shared pairs on which two judges agree, over all pairs of judges.
    pub agreement: Option<f64>,
}

/// Reports how consistent judgements are with each other.
pub fn check_judgements(comparisons: &[PairComparison]) -> JudgementCheck {
    let mut check = JudgementCheck { comparisons: comparisons.len(), ..JudgementCheck::default() };
    let decided: Vec<bool> = comparisons
        .iter()
        .filter(|comparison| comparison.preferred != Preferred::Neither)
        .map(|comparison| comparison.preferred == Preferred::First)
        .collect();
    check.first_wins = share(decided.iter().filter(|first| **first).count(), decided.len());
    let by_judge = by_judge(comparisons);
    for orders in by_judge.values().flat_map(BTreeMap::values) {
        if let [Some(one), Some(other)] = orders.by_order {
            check.both_orders += 1;
            check.flips += usize::from(one != other);
        }
    }
    count_cycles(&majorities(comparisons), &mut check);
    count_agreement(&by_judge, &mut check);
    check
}

fn share(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// Query and the two documents in alphabetical order.
type PairKey<'a> = (&'a str, &'a str, &'a str);

/// The judgements of one judge on a pair: the share of the first document (in alphabetical order)
/// where it was shown first, and where it was shown second, and the sum over all comparisons.
#[derive(Debug, Clone, Copy, Default)]
struct PairJudgements {
    by_order: [Option<f64>; 2],
    sum: f64,
    count: f64,
}

fn by_judge(
    comparisons: &[PairComparison],
) -> BTreeMap<&str, BTreeMap<PairKey<'_>, PairJudgements>> {
    let mut by_judge: BTreeMap<&str, BTreeMap<PairKey<'_>, PairJudgements>> = BTreeMap::new();
    for comparison in comparisons {
        let (one, other, share) = comparison.sorted();
        let pairs = by_judge.entry(&comparison.judge).or_default();
        let judgements = pairs.entry((&comparison.query, one, other)).or_default();
        judgements.by_order[usize::from(comparison.first > comparison.second)] = Some(share);
        judgements.sum += share;
        judgements.count += 1.0;
    }
    by_judge
}

/// The pairs with a majority, as query, winner and loser.
fn majorities(comparisons: &[PairComparison]) -> BTreeMap<&str, Vec<(&str, &str)>> {
    let mut sums: BTreeMap<PairKey<'_>, (f64, f64)> = BTreeMap::new();
    for comparison in comparisons {
        let (one, other, share) = comparison.sorted();
        let sum = sums.entry((&comparison.query, one, other)).or_default();
        *sum = (sum.0 + share, sum.1 + 1.0);
    }
    let mut won: BTreeMap<&str, Vec<(&str, &str)>> = BTreeMap::new();
    for ((query, one, other), (share, count)) in sums {
        if one != other && 2.0 * share != count {
            let pair = if 2.0 * share > count { (one, other) } else { (other, one) };
            won.entry(query).or_default().push(pair);
        }
    }
    won
}

fn count_cycles(majorities: &BTreeMap<&str, Vec<(&str, &str)>>, check: &mut JudgementCheck) {
    for wins in majorities.values() {
        let mut documents: Vec<&str> = wins.iter().flat_map(|(a, b)| [*a, *b]).collect();
        documents.sort_unstable();
        documents.dedup();
        let known: HashMap<(&str, &str), bool, FixedState> =
            wins.iter().flat_map(|(a, b)| [((*a, *b), true), ((*b, *a), false)]).collect();
        for (i, a) in documents.iter().enumerate() {
            for (j, b) in documents.iter().enumerate().skip(i + 1) {
                for c in documents.iter().skip(j + 1) {
                    let pairs = [(*a, *b), (*b, *c), (*c, *a)].map(|pair| known.get(&pair));
                    if let [Some(ab), Some(bc), Some(ca)] = pairs {
                        check.triples += 1;
                        check.cycles += usize::from(ab == bc && bc == ca);
                    }
                }
            }
        }
    }
}

fn count_agreement(
    by_judge: &BTreeMap<&str, BTreeMap<PairKey<'_>, PairJudgements>>,
    check: &mut JudgementCheck,
) {
    let mut verdicts: BTreeMap<PairKey<'_>, Vec<f64>> = BTreeMap::new();
    for (pair, judgements) in by_judge.values().flatten() {
        verdicts.entry(*pair).or_default().push((judgements.sum - judgements.count / 2.0).signum());
    }
    let (mut agreeing, mut compared) = (0, 0);
    for verdicts in verdicts.values().filter(|verdicts| verdicts.len() > 1) {
        check.shared_pairs += 1;
        for (judge, one) in verdicts.iter().enumerate() {
            let others = verdicts.iter().skip(judge + 1);
            compared += others.len();
            agreeing += others.filter(|other| *other == one).count();
        }
    }
    check.agreement = share(agreeing, compared);
}

/// The strengths of the documents of queries, fitted to comparisons.
#[derive(Debug, Clone, PartialEq)]
pub struct BradleyTerry {
    /// For each query its documents with their logarithmic strengths, the strongest first; their
    /// mean is 0.
    pub queries: BTreeMap<String, Vec<(String, f64)>>,
}

impl BradleyTerry {
    /// Fits strengths to comparisons. `prior` imaginary wins and losses of every document against a
    /// document of strength 1 keep strengths finite where a document won or lost every comparison,
    /// and make documents comparable that no chain of comparisons links. A tie is half a win.
    pub fn fit(comparisons: &[PairComparison], prior: f64, iterations: u32) -> Self {
        let mut by_query: BTreeMap<&str, Vec<&PairComparison>> = BTreeMap::new();
        for comparison in comparisons {
            by_query.entry(&comparison.query).or_default().push(comparison);
        }
        let fitted = by_query.into_iter().map(|(query, comparisons)| {
            (query.to_owned(), fit_query(&comparisons, prior, iterations))
        });
        Self { queries: fitted.collect() }
    }
}

fn fit_query(comparisons: &[&PairComparison], prior: f64, iterations: u32) -> Vec<(String, f64)> {
    let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
    for comparison in comparisons {
        numbers.insert(&comparison.first, 0);
        numbers.insert(&comparison.second, 0);
    }
    numbers.values_mut().zip(0..).for_each(|(number, next)| *number = next);
    let mut wins = vec![prior; numbers.len()];
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
    let mut strengths = vec![1.0; wins.len()];
    for _ in 0..iterations {
        let mut divisors: Vec<f64> = strengths.iter().map(|s| 2.0 * prior / (s + 1.0)).collect();
        for ((one, other), count) in &games {
            let each = count / (strengths[*one] + strengths[*other]);
            divisors[*one] += each;
            divisors[*other] += each;
        }
        for ((strength, wins), divisor) in strengths.iter_mut().zip(&wins).zip(divisors) {
            if divisor > 0.0 {
                *strength = wins / divisor;
            }
        }
    }
    let logs: Vec<f64> = strengths.iter().map(|strength| strength.ln()).collect();
    let mean = logs.iter().sum::<f64>() / logs.len().max(1) as f64;
    let mut ranked: Vec<(String, f64)> =
        numbers.into_keys().map(str::to_owned).zip(logs.iter().map(|log| log - mean)).collect();
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1));
    ranked
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wins(query: &str, first: &str, second: &str) -> PairComparison {
        PairComparison::new(query, first, second, Preferred::First)
    }

    #[test]
    fn strengths_of_two_documents_are_the_odds() {
        // A won 3 of 4.
        let mut comparisons = vec![wins("q", "a", "b"); 3];
        comparisons.push(wins("q", "b", "a"));
        let fitted = BradleyTerry::fit(&comparisons, 0.0, 200);
        let found = &fitted.queries["q"];
        assert_eq!((found[0].0.as_str(), found[1].0.as_str()), ("a", "b"));
        assert!((found[0].1 - found[1].1 - 3_f64.ln()).abs() < 1e-9, "{found:?}");
        // With a prior, a document that always won has a finite strength.
        let fitted = BradleyTerry::fit(&comparisons[..3], 0.5, 200);
        assert!(fitted.queries["q"].iter().all(|(_, strength)| strength.is_finite()));
    }

    #[test]
    fn flips_first_places_cycles_and_agreement_are_counted() {
        let comparisons = [
            wins("q", "a", "b").by("x"),
            wins("q", "b", "a").by("x"),
            wins("q", "c", "d").by("x"),
            PairComparison::new("q", "d", "c", Preferred::Second).by("x"),
            wins("q", "c", "d").by("y"),
            PairComparison::new("q", "e", "c", Preferred::Second).by("y"),
            wins("q", "d", "e").by("y"),
            wins("r", "1", "2"),
            wins("r", "2", "3"),
            wins("r", "3", "1"),
            PairComparison::new("r", "4", "1", Preferred::Neither),
        ];
        let check = check_judgements(&comparisons);
        assert_eq!((check.comparisons, check.both_orders, check.flips), (11, 2, 1));
        assert_eq!(check.first_wins, Some(0.8));
        // c > d > e and c > e are no cycle; 1 > 2 > 3 > 1 is one.
        assert_eq!((check.triples, check.cycles), (2, 1));
        assert_eq!((check.shared_pairs, check.agreement), (1, Some(1.0)));
        assert_eq!(check_judgements(&[]).first_wins, None);
    }
}
