//! The consistency of judgements: with the order of the documents, with each other, and with
//! grades.
//!
//! - A *flip* is a pair whose winner changed when one judge saw it in the other order; a *waver* is
//!   one that had a winner in one order and a tie in the other.
//! - The preference for the first place is tested by the exact sign test on comparisons with a
//!   winner: without it, the document that was shown first wins as often as the other one.
//! - A *cycle* is a triple in which A beats B, B beats C and C beats A, by majority.
//! - Agreement of two judges is the share of the pairs on which both have the same verdict (the
//!   majority of a judge's comparisons of the pair), and Cohen's kappa corrects it for chance,
//!
//! ```text
//! kappa = (agreement - e) / (1 - e),   e = t1 t2 + (1 - t1) (1 - t2) / 2
//! ```
//!
//! where t1 and t2 are the shares of ties. As the order of two documents is arbitrary, either of
//! them has half of the wins in the expected agreement e.

use std::collections::{BTreeMap, BTreeSet};

use rankwright_eval::stats::{Paired, StatsError, sign_test};
use serde::Serialize;

use super::{PairComparison, Preferred};

/// The consistency of judgements.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[non_exhaustive]
pub struct JudgementCheck {
    /// The judgements of all judges together.
    #[serde(flatten)]
    pub all: JudgeCheck,
    /// Number of queries.
    pub queries: usize,
    /// Number of compared pairs of documents.
    pub pairs: usize,
    /// Number of triples of which all three pairs have a majority.
    pub triples: usize,
    /// Number of these triples in which A beats B, B beats C and C beats A.
    pub cycles: usize,
    /// The judgements of each judge, if there are several.
    pub judges: Vec<JudgeCheck>,
    /// The agreement of each two judges.
    pub agreements: Vec<JudgeAgreement>,
    /// The agreement of each judge with grades, if there are grades.
    pub with_grades: Vec<JudgeAgreement>,
}

/// The consistency of one judge.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[non_exhaustive]
pub struct JudgeCheck {
    /// The judge; empty for a judge without a name, and for all judges together.
    pub judge: String,
    /// Number of comparisons.
    pub comparisons: usize,
    /// Comparisons without a winner.
    pub ties: usize,
    /// Pairs that one judge saw in both orders.
    pub both_orders: usize,
    /// Those of them that the other document won in the other order.
    pub flips: usize,
    /// Those of them that had a winner in one order only.
    pub wavers: usize,
    /// Comparisons that the document shown first won.
    pub first_wins: usize,
    /// Comparisons that the document shown second won.
    pub second_wins: usize,
    /// Share of the comparisons with a winner that the document shown first won; 0.5 is fair.
    pub first_share: Option<f64>,
    /// The two-sided p-value of the exact sign test that the first place is not preferred.
    pub first_p: Option<f64>,
}

/// The agreement of two judges, or of a judge with grades.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct JudgeAgreement {
    /// A judge.
    pub first: String,
    /// The other judge; empty for grades.
    pub second: String,
    /// Number of pairs that both have judged.
    pub pairs: usize,
    /// Share of these pairs with the same verdict.
    pub agreement: Option<f64>,
    /// Cohen's kappa: the agreement above that of chance.
    pub kappa: Option<f64>,
    /// Number of these pairs on which neither has a tie.
    pub decided: usize,
    /// Share of these pairs with the same winner.
    pub decided_agreement: Option<f64>,
}

/// Query and the two documents in alphabetical order.
type PairKey<'a> = (&'a str, &'a str, &'a str);

/// For each pair the verdict: 1 if the first document in alphabetical order is better, -1 if the
/// second is, 0 for a tie.
type Verdicts<'a> = BTreeMap<PairKey<'a>, i8>;

/// Reports how consistent judgements are with each other and with grades; `grade` has the grade of
/// a document for a query, if there is one.
pub fn check_judgements(
    comparisons: &[PairComparison],
    grade: impl Fn(&str, &str) -> Option<f64>,
) -> Result<JudgementCheck, StatsError> {
    let mut by_judge: BTreeMap<&str, Vec<&PairComparison>> = BTreeMap::new();
    for comparison in comparisons {
        by_judge.entry(&comparison.judge).or_default().push(comparison);
    }
    let mut judges = Vec::new();
    for (judge, comparisons) in &by_judge {
        judges.push(check_judge(judge, comparisons)?);
    }
    let all: Vec<&PairComparison> = comparisons.iter().collect();
    let majority = verdicts(&all);
    let (triples, cycles) = cycles(&majority);
    let verdicts: Vec<(&str, Verdicts<'_>)> =
        by_judge.iter().map(|(judge, comparisons)| (*judge, verdicts(comparisons))).collect();
    let mut agreements = Vec::new();
    for (number, (first, one)) in verdicts.iter().enumerate() {
        for (second, other) in verdicts.iter().skip(number + 1) {
            agreements.push(agreement(first, second, one, other));
        }
    }
    let with_grades = verdicts.iter().filter_map(|(judge, verdicts)| {
        let graded: Verdicts<'_> =
            verdicts.keys().filter_map(|key| Some((*key, by_grades(*key, &grade)?))).collect();
        (!graded.is_empty()).then(|| agreement(judge, "", verdicts, &graded))
    });
    let with_grades = with_grades.collect();
    Ok(JudgementCheck {
        all: together(&judges)?,
        queries: majority.keys().map(|(query, ..)| query).collect::<BTreeSet<_>>().len(),
        pairs: majority.len(),
        triples,
        cycles,
        judges: if judges.len() > 1 { judges } else { Vec::new() },
        agreements,
        with_grades,
    })
}

/// The sums over all judges. Flips and wavers are those within a judge, not between two judges.
fn together(judges: &[JudgeCheck]) -> Result<JudgeCheck, StatsError> {
    let mut all = JudgeCheck::default();
    for judge in judges {
        all.comparisons += judge.comparisons;
        all.ties += judge.ties;
        all.both_orders += judge.both_orders;
        all.flips += judge.flips;
        all.wavers += judge.wavers;
        all.first_wins += judge.first_wins;
        all.second_wins += judge.second_wins;
    }
    all.test_first_place()?;
    Ok(all)
}

impl JudgeCheck {
    fn test_first_place(&mut self) -> Result<(), StatsError> {
        let decided = self.first_wins + self.second_wins;
        self.first_share = share(self.first_wins, decided);
        if decided > 0 {
            let wins = [vec![1.0; self.first_wins], vec![0.0; self.second_wins]].concat();
            let losses: Vec<f64> = wins.iter().map(|win| 1.0 - win).collect();
            self.first_p = Some(sign_test(&Paired::new(&wins, &losses)?, 0.0)?.p);
        }
        Ok(())
    }
}

fn share(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

fn check_judge(judge: &str, comparisons: &[&PairComparison]) -> Result<JudgeCheck, StatsError> {
    let count = |preferred: Preferred| {
        comparisons.iter().filter(|comparison| comparison.preferred == preferred).count()
    };
    let mut check = JudgeCheck {
        judge: judge.to_owned(),
        comparisons: comparisons.len(),
        ties: count(Preferred::Neither),
        first_wins: count(Preferred::First),
        second_wins: count(Preferred::Second),
        ..JudgeCheck::default()
    };
    // For each pair the sum of the verdicts, and their number, in alphabetical order and in the
    // other one.
    let mut orders: BTreeMap<PairKey<'_>, [f64; 2]> = BTreeMap::new();
    let mut counts: BTreeMap<PairKey<'_>, [usize; 2]> = BTreeMap::new();
    for comparison in comparisons {
        let (one, other, share) = comparison.sorted();
        let (key, order) =
            ((&*comparison.query, one, other), usize::from(comparison.first > comparison.second));
        orders.entry(key).or_default()[order] += share - 0.5;
        counts.entry(key).or_default()[order] += 1;
    }
    for (key, [one, other]) in &orders {
        if counts.get(key).is_some_and(|counts| counts.iter().all(|count| *count > 0)) {
            check.both_orders += 1;
            check.flips += usize::from(one * other < 0.0);
            check.wavers += usize::from((*one == 0.0) != (*other == 0.0));
        }
    }
    check.test_first_place()?;
    Ok(check)
}

/// The verdict on each pair, by the majority of these comparisons.
fn verdicts<'a>(comparisons: &[&'a PairComparison]) -> Verdicts<'a> {
    let mut sums: BTreeMap<PairKey<'_>, f64> = BTreeMap::new();
    for comparison in comparisons {
        let (one, other, share) = comparison.sorted();
        *sums.entry((&comparison.query, one, other)).or_default() += share - 0.5;
    }
    sums.into_iter().map(|(key, sum)| (key, sign(sum))).collect()
}

fn sign(value: f64) -> i8 {
    i8::from(value > 0.0) - i8::from(value < 0.0)
}

/// The verdict of grades on a pair; `None` if a document has no grade.
fn by_grades(
    (query, one, other): PairKey<'_>,
    grade: &impl Fn(&str, &str) -> Option<f64>,
) -> Option<i8> {
    Some(sign(grade(query, one)? - grade(query, other)?))
}

/// The number of triples whose pairs all have a winner, and of those that are cycles.
fn cycles(majority: &Verdicts<'_>) -> (usize, usize) {
    // For each document of a query those that it beat, and those that it beat or lost to.
    let mut beaten: BTreeMap<(&str, &str), BTreeSet<&str>> = BTreeMap::new();
    let mut decided: BTreeMap<(&str, &str), BTreeSet<&str>> = BTreeMap::new();
    for ((query, one, other), verdict) in majority {
        let (winner, loser) = match verdict {
            0 => continue,
            1 => (*one, *other),
            _ => (*other, *one),
        };
        beaten.entry((query, winner)).or_default().insert(loser);
        decided.entry((query, winner)).or_default().insert(loser);
        decided.entry((query, loser)).or_default().insert(winner);
    }
    let (mut triples, mut cycles) = (0, 0);
    for ((query, winner), losers) in &beaten {
        for loser in losers {
            let (Some(of_winner), Some(of_loser)) =
                (decided.get(&(*query, *winner)), decided.get(&(*query, *loser)))
            else {
                continue;
            };
            for third in of_winner.intersection(of_loser) {
                triples += 1;
                let beats = |one: &str, other: &str| {
                    beaten.get(&(*query, one)).is_some_and(|losers| losers.contains(other))
                };
                cycles += usize::from(beats(loser, third) && beats(third, winner));
            }
        }
    }
    // Each triple was found from each of its three pairs.
    (triples / 3, cycles / 3)
}

fn agreement(
    first: &str,
    second: &str,
    one: &Verdicts<'_>,
    other: &Verdicts<'_>,
) -> JudgeAgreement {
    let both: Vec<(i8, i8)> =
        one.iter().filter_map(|(key, verdict)| Some((*verdict, *other.get(key)?))).collect();
    let same = both.iter().filter(|(one, other)| one == other).count();
    let ties = |verdict_of: fn(&(i8, i8)) -> i8| {
        let ties = both.iter().filter(|verdicts| verdict_of(verdicts) == 0).count();
        share(ties, both.len()).unwrap_or(0.0)
    };
    let (one_ties, other_ties) = (ties(|(one, _)| *one), ties(|(_, other)| *other));
    let expected = one_ties * other_ties + (1.0 - one_ties) * (1.0 - other_ties) / 2.0;
    let agreement = share(same, both.len());
    let decided = both.iter().filter(|(one, other)| *one != 0 && *other != 0);
    let same_winner = decided.clone().filter(|(one, other)| one == other).count();
    let decided = decided.count();
    JudgeAgreement {
        first: first.to_owned(),
        second: second.to_owned(),
        pairs: both.len(),
        agreement,
        kappa: agreement
            .filter(|_| expected < 1.0)
            .map(|agreement| (agreement - expected) / (1.0 - expected)),
        decided,
        decided_agreement: share(same_winner, decided),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wins(query: &str, first: &str, second: &str) -> PairComparison {
        PairComparison::new(query, first, second, Preferred::First)
    }

    fn loses(query: &str, first: &str, second: &str) -> PairComparison {
        PairComparison::new(query, first, second, Preferred::Second)
    }

    fn tie(query: &str, first: &str, second: &str) -> PairComparison {
        PairComparison::new(query, first, second, Preferred::Neither)
    }

    fn check(comparisons: &[PairComparison]) -> JudgementCheck {
        check_judgements(comparisons, |_, _| None).unwrap()
    }

    #[test]
    fn flips_first_places_cycles_and_agreement_are_counted() {
        let found = check(&[
            wins("q", "a", "b").by("x"),
            wins("q", "b", "a").by("x"),
            wins("q", "c", "d").by("x"),
            loses("q", "d", "c").by("x"),
            wins("q", "c", "d").by("y"),
            loses("q", "e", "c").by("y"),
            wins("q", "d", "e").by("y"),
            tie("q", "e", "d").by("y"),
            wins("r", "1", "2"),
            wins("r", "2", "3"),
            wins("r", "3", "1"),
            tie("r", "4", "1"),
        ]);
        assert_eq!((found.all.comparisons, found.all.ties), (12, 2));
        assert_eq!((found.all.both_orders, found.all.flips, found.all.wavers), (3, 1, 1));
        assert_eq!((found.all.first_wins, found.all.first_share), (8, Some(0.8)));
        // 2 (1 + 10 + 45) / 2^10
        assert!((found.all.first_p.unwrap() - 0.109_375).abs() < 1e-12);
        // c > d > e and c > e are no cycle; 1 > 2 > 3 > 1 is one.
        assert_eq!((found.triples, found.cycles), (2, 1));
        assert_eq!((found.queries, found.pairs, found.judges.len()), (2, 8, 3));
        let shared: Vec<(&str, &str, usize)> = found
            .agreements
            .iter()
            .map(|agreement| (&*agreement.first, &*agreement.second, agreement.pairs))
            .collect();
        assert_eq!(shared, [("", "x", 0), ("", "y", 0), ("x", "y", 1)]);
        assert_eq!(found.agreements[2].agreement, Some(1.0));
        assert_eq!(check(&[]).all.first_share, None);
    }

    #[test]
    fn kappa_corrects_agreement_for_chance() {
        // Ten pairs: on six both say the same, on two the opposite, on two one has a tie.
        let mut comparisons = Vec::new();
        for pair in 0..10 {
            let (one, other) = (format!("a{pair}"), format!("b{pair}"));
            comparisons.push(wins("q", &one, &other).by("x"));
            comparisons.push(match pair {
                0..6 => wins("q", &one, &other).by("y"),
                6..8 => loses("q", &one, &other).by("y"),
                _ => tie("q", &one, &other).by("y"),
            });
        }
        let found = &check(&comparisons).agreements[0];
        assert_eq!((found.agreement, found.decided), (Some(0.6), 8));
        assert_eq!(found.decided_agreement, Some(0.75));
        // Expected: no ties of x, so (1 - 0) (1 - 0.2) / 2 = 0.4.
        assert!((found.kappa.unwrap() - 0.2 / 0.6).abs() < 1e-12);
    }

    #[test]
    fn judges_are_compared_with_grades() {
        let comparisons = [wins("q", "a", "b"), wins("q", "b", "c"), loses("q", "a", "c")];
        let grade = |_: &str, document: &str| match document {
            "a" => Some(2.0),
            "b" | "c" => Some(1.0),
            _ => None,
        };
        let found = check_judgements(&comparisons, grade).unwrap();
        let [agreement] = &found.with_grades[..] else { panic!("{found:?}") };
        // a > b agrees, c > a does not, b and c have the same grade.
        assert_eq!((agreement.pairs, agreement.decided), (3, 2));
        assert_eq!(agreement.decided_agreement, Some(0.5));
        assert_eq!(agreement.agreement, Some(1.0 / 3.0));
        assert!(check(&comparisons).with_grades.is_empty());
    }
}
