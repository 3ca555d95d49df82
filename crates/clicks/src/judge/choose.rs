//! The pairs of documents that are worth a question: those that two rankings order differently, or
//! that a model can hardly tell apart.

use std::collections::BTreeMap;

use rankwright_data::Random;

/// Two documents of a query, and how much is learnt from a comparison of them.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct CandidatePair {
    /// A document.
    pub first: String,
    /// The other document.
    pub second: String,
    /// The larger, the sooner the pair is chosen.
    pub weight: f64,
}

/// A chosen pair of documents of a query.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct JudgePair {
    /// The query.
    pub query: String,
    /// A document.
    pub first: String,
    /// The other document.
    pub second: String,
}

/// The pairs among the first `depth` documents of each ranking that two of the rankings order
/// differently. The weight is the sum over both rankings of |1/rank of the one document - 1/rank of
/// the other|, added up over every two rankings that do so; differences at the top come first. A
/// document that a ranking lacks has the rank after its last.
///
/// ```
/// use rankwright_clicks::judge::disagreements;
///
/// let pairs = disagreements(&[vec!["a", "b", "c"], vec!["b", "a", "c"]], 10);
/// assert_eq!((pairs[0].first.as_str(), pairs[0].second.as_str(), pairs.len()), ("a", "b", 1));
/// ```
pub fn disagreements(rankings: &[Vec<impl AsRef<str>>], depth: usize) -> Vec<CandidatePair> {
    let ranks: Vec<BTreeMap<&str, usize>> = rankings
        .iter()
        .map(|ranking| ranking.iter().map(AsRef::as_ref).zip(1..).collect())
        .collect();
    let top = |ranking: &'_ Vec<_>| depth.min(ranking.len());
    let mut documents: Vec<&str> = rankings
        .iter()
        .flat_map(|ranking| ranking.iter().take(top(ranking)).map(AsRef::as_ref))
        .collect();
    documents.sort_unstable();
    documents.dedup();
    let inverse_rank = |ranks: &BTreeMap<&str, usize>, document: &str| {
        1.0 / ranks.get(document).copied().unwrap_or(ranks.len() + 1) as f64
    };
    let mut pairs = Vec::new();
    for (number, first) in documents.iter().enumerate() {
        for second in documents.iter().skip(number + 1) {
            let differences: Vec<f64> = ranks
                .iter()
                .map(|ranks| inverse_rank(ranks, first) - inverse_rank(ranks, second))
                .collect();
            let mut weight = 0.0;
            for (number, one) in differences.iter().enumerate() {
                let opposed =
                    differences.iter().skip(number + 1).filter(|other| one * **other < 0.0);
                weight += opposed.map(|other| one.abs() + other.abs()).sum::<f64>();
            }
            if weight > 0.0 {
                let (first, second) = ((*first).to_owned(), (*second).to_owned());
                pairs.push(CandidatePair { first, second, weight });
            }
        }
    }
    pairs
}

/// The pairs among the first `depth` documents of a ranking, given with scores: the smaller the
/// difference of the scores, the sooner a pair is chosen.
pub fn near_ties(ranking: &[(impl AsRef<str>, f64)], depth: usize) -> Vec<CandidatePair> {
    let top = ranking.get(..depth).unwrap_or(ranking);
    let mut pairs = Vec::new();
    for (number, (first, one)) in top.iter().enumerate() {
        for (second, other) in top.iter().skip(number + 1) {
            let (first, second) = (first.as_ref().to_owned(), second.as_ref().to_owned());
            pairs.push(CandidatePair { first, second, weight: -(one - other).abs() });
        }
    }
    pairs
}

/// Chooses up to `max` pairs: the best one of each query, queries in an order that the seed
/// determines, then the second best of each, and so on.
pub fn choose_pairs(
    queries: Vec<(String, Vec<CandidatePair>)>,
    max: usize,
    seed: u64,
) -> Vec<JudgePair> {
    let mut queries = queries;
    Random::new(seed, 0).shuffle(&mut queries);
    let mut remaining: Vec<(String, std::vec::IntoIter<CandidatePair>)> = queries
        .into_iter()
        .map(|(query, mut pairs)| {
            pairs.sort_by(|a, b| {
                let by_id = || (&a.first, &a.second).cmp(&(&b.first, &b.second));
                b.weight.total_cmp(&a.weight).then_with(by_id)
            });
            (query, pairs.into_iter())
        })
        .collect();
    let mut chosen = Vec::new();
    while chosen.len() < max && !remaining.is_empty() {
        remaining.retain_mut(|(query, pairs)| match pairs.next() {
            Some(CandidatePair { first, second, .. }) if chosen.len() < max => {
                chosen.push(JudgePair { query: query.clone(), first, second });
                true
            }
            _ => false,
        });
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(pairs: &[CandidatePair]) -> Vec<(&str, &str)> {
        pairs.iter().map(|pair| (pair.first.as_str(), pair.second.as_str())).collect()
    }

    #[test]
    fn rankings_disagree_on_the_pairs_that_they_order_differently() {
        let pairs = disagreements(&[vec!["a", "b", "c", "d"], vec!["a", "c", "b", "e"]], 4);
        // d and e are each in one ranking only: the other one has them after all others.
        assert_eq!(named(&pairs), [("b", "c"), ("d", "e")]);
        assert!(pairs[0].weight > pairs[1].weight);
        assert!(disagreements(&[vec!["a", "b"], vec!["a", "b"]], 4).is_empty());
        assert!(disagreements(&[vec!["a", "b", "c"], vec!["a", "c", "b"]], 1).is_empty());
    }

    #[test]
    fn the_smallest_differences_of_scores_come_first() {
        let pairs = near_ties(&[("a", 9.0), ("b", 4.0), ("c", 3.5), ("d", 3.4)], 3);
        let chosen = choose_pairs(vec![("q".to_owned(), pairs)], 2, 1);
        let named: Vec<(&str, &str)> =
            chosen.iter().map(|pair| (&*pair.first, &*pair.second)).collect();
        assert_eq!(named, [("b", "c"), ("a", "b")]);
    }

    #[test]
    fn every_query_is_asked_before_one_is_asked_twice() {
        let query = |name: &str, count: usize| {
            let pair = |n: usize| CandidatePair {
                first: format!("a{n}"),
                second: format!("b{n}"),
                weight: n as f64,
            };
            (name.to_owned(), (0..count).map(pair).collect::<Vec<_>>())
        };
        let queries = || vec![query("p", 1), query("q", 5), query("r", 5), query("s", 0)];
        let chosen = choose_pairs(queries(), 6, 3);
        let count = |query: &str| chosen.iter().filter(|pair| pair.query == query).count();
        assert_eq!((chosen.len(), count("p"), count("s")), (6, 1, 0));
        assert!(count("q").abs_diff(count("r")) <= 1);
        // The heaviest pair of a query is its first.
        assert!(chosen.iter().find(|pair| pair.query == "q").unwrap().first == "a4");
        assert_eq!(choose_pairs(queries(), 6, 3), chosen);
        assert_eq!(choose_pairs(queries(), 100, 3).len(), 11);
    }
}
