//! Exact distributions of short lists, worked out by hand.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

fn rankings(lists: &[&[&str]]) -> Vec<Vec<String>> {
    lists.iter().map(|list| list.iter().map(|id| (*id).to_owned()).collect()).collect()
}

fn checked_rankings(method: InterleavingMethod, lists: &[&[&str]]) -> Rankings {
    Rankings::new(method, &rankings(lists)).unwrap()
}

/// A list of these documents, as the method would show it.
fn shown(method: InterleavingMethod, drawn: DrawnList, rankings: &Rankings) -> InterleavedList {
    InterleavedList::drawn(method, drawn, rankings)
}

fn interleave(
    method: InterleavingMethod,
    rankings: &[Vec<String>],
    length: usize,
    seed: u64,
    request: &str,
) -> Result<InterleavedList, InterleavingError> {
    Ok(Interleaver::new(method, rankings, length)?.list(seed, request))
}

/// [1, 2, 3] and [2, 3, 1]: the order of the first two rounds decides everything.
#[test]
fn team_draft_has_four_equally_likely_lists_and_credits_a_click_on_3_evenly() {
    let both =
        checked_rankings(InterleavingMethod::TeamDraft, &[&["1", "2", "3"], &["2", "3", "1"]]);
    let mut outcomes: BTreeMap<(String, Vec<usize>), usize> = BTreeMap::new();
    let mut credit_of_3 = [0.0, 0.0];
    for first in [[0, 1], [1, 0]] {
        for second in [[0, 1], [1, 0]] {
            let mut list = DrawnList::default();
            team_draft::add_round(&both, &first, 3, &mut list);
            team_draft::add_round(&both, &second, 3, &mut list);
            let list = shown(InterleavingMethod::TeamDraft, list, &both);
            let click = list.documents().iter().position(|id| id == "3").unwrap();
            let credits = list.credits(&[click]);
            credit_of_3.iter_mut().zip(credits).for_each(|(sum, credit)| *sum += credit / 4.0);
            let outcome = (list.documents().concat(), list.teams().to_vec());
            *outcomes.entry(outcome).or_default() += 1;
        }
    }
    assert_eq!(outcomes.len(), 4);
    assert!(outcomes.values().all(|count| *count == 1), "{outcomes:?}");
    assert_eq!(credit_of_3, [0.5, 0.5]);
    // The draw itself reaches all four, about equally often.
    let lists = rankings(&[&["1", "2", "3"], &["2", "3", "1"]]);
    let mut drawn: BTreeMap<(String, Vec<usize>), usize> = BTreeMap::new();
    for request in 0..4000 {
        let method = InterleavingMethod::TeamDraft;
        let list = interleave(method, &lists, 3, 7, &request.to_string()).unwrap();
        let outcome = (list.documents().concat(), list.teams().to_vec());
        *drawn.entry(outcome).or_default() += 1;
    }
    assert_eq!(drawn.keys().collect::<Vec<_>>(), outcomes.keys().collect::<Vec<_>>());
    assert!(drawn.values().all(|count| (850..1150).contains(count)), "{drawn:?}");
}

/// [1, 2, 3, 4] and [2, 3, 4, 1] with one click on a random rank: the second ranker wins 6 of 8.
#[test]
fn balanced_interleaving_favours_the_shifted_ranking() {
    let lists: [&[&str]; 2] = [&["1", "2", "3", "4"], &["2", "3", "4", "1"]];
    let both = checked_rankings(InterleavingMethod::Balanced, &lists);
    let mut wins = [0, 0];
    for first in 0..2 {
        let list = shown(InterleavingMethod::Balanced, balanced::list(&both, 4, first), &both);
        for click in 0..4 {
            let credits = list.credits(&[click]);
            assert_ne!(credits[0], credits[1]);
            wins[usize::from(credits[1] > credits[0])] += 1;
        }
    }
    assert_eq!(wins, [2, 6]);
}

#[test]
fn optimised_interleaving_has_the_probabilities_worked_out_by_hand() {
    let both = checked_rankings(InterleavingMethod::Optimised, &[&["1", "2"], &["2", "3"]]);
    let found = optimised::distribution(&both, 2).unwrap();
    let expected = [("12", 3.0 / 7.0), ("21", 13.0 / 35.0), ("23", 1.0 / 5.0)];
    assert_eq!(found.len(), 3);
    for (documents, probability) in found {
        let (_, expected) = expected.iter().find(|(list, _)| *list == documents.concat()).unwrap();
        assert!((probability - expected).abs() < 1e-9, "{documents:?} {probability}");
    }
}

/// A short ranking does not win by a click on a document that it does not have.
#[test]
fn balanced_credits_of_rankings_of_unequal_lengths_go_to_those_that_have_the_document() {
    let long: Vec<String> = (1..=20).map(|rank| format!("b{rank}")).collect();
    let long: Vec<&str> = long.iter().map(String::as_str).collect();
    let lists: [&[&str]; 2] = [&["a1", "a2", "a3"], &long];
    let both = checked_rankings(InterleavingMethod::Balanced, &lists);
    for first in 0..2 {
        let list = shown(InterleavingMethod::Balanced, balanced::list(&both, 15, first), &both);
        let at = |id: &str| list.documents().iter().position(|other| other == id).unwrap();
        assert_eq!(list.credits(&[at("b8")]), [0.0, 1.0]);
        assert_eq!(list.credits(&[at("a2"), at("b8")]), [1.0, 1.0]);
        assert_eq!(list.credits(&[at("a2")]), [1.0, 0.0]);
    }
}

/// [a, b] and [b, c, d, e]: a document that a ranking does not have counts as its rank 5.
#[test]
fn optimised_interleaving_of_unequal_lengths_is_fair_as_far_as_both_rankings_go() {
    let lists: [&[&str]; 2] = [&["a", "b"], &["b", "c", "d", "e"]];
    let both = checked_rankings(InterleavingMethod::Optimised, &lists);
    let found = optimised::distribution(&both, 4).unwrap();
    let mut sums = [[0.0, 0.0]; 2];
    for (documents, probability) in found {
        assert_eq!(documents.len(), 4);
        let drawn = DrawnList { documents, teams: vec![] };
        let list = shown(InterleavingMethod::Optimised, drawn, &both);
        // 1/5 - 1/2 for c.
        if list.documents()[1] == "c" {
            let credits = list.credits(&[1]);
            assert!(credits[0] == 0.0 && (credits[1] - 0.3).abs() < 1e-12, "{credits:?}");
        }
        assert_eq!(list.credits(&[2, 3]), [0.0, 0.0]);
        for (k, sums) in sums.iter_mut().enumerate() {
            for click in 0..=k {
                let credits = list.credits(&[click]);
                sums.iter_mut().zip(credits).for_each(|(sum, c)| *sum += probability * c);
            }
        }
    }
    for [first, second] in sums {
        assert!(first > 0.1 && (first - second).abs() < 1e-9, "{first} {second}");
    }
}

#[test]
fn requests_that_cannot_be_interleaved_are_errors() {
    let one = rankings(&[&["1"]]);
    let twice = rankings(&[&["1", "1"], &["2"]]);
    let three = rankings(&[&["1", "2"], &["2", "3"], &["3", "1"]]);
    for (_, method) in InterleavingMethod::ALL {
        assert!(interleave(*method, &one, 5, 1, "r").is_err());
        assert!(interleave(*method, &twice, 5, 1, "r").unwrap_err().to_string().contains("twice"));
        let takes_three = interleave(*method, &three, 5, 1, "r").is_ok();
        assert_eq!(takes_three, *method == InterleavingMethod::Multileave);
    }
    let long: Vec<String> = (0..11).map(|id| id.to_string()).collect();
    let lists = [long.clone(), long];
    assert!(interleave(InterleavingMethod::Optimised, &lists, 11, 1, "r").is_err());
    assert!(interleave(InterleavingMethod::Optimised, &lists, 10, 1, "r").is_ok());
}

proptest! {
    #[test]
    fn lists_have_no_document_twice_and_equal_rankings_tie(
        one in Just((0..8).map(|id| id.to_string()).collect::<Vec<_>>()).prop_shuffle(),
        other in Just((3..11).map(|id| id.to_string()).collect::<Vec<_>>()).prop_shuffle(),
        seed in 0_u64..1000,
    ) {
        for (_, method) in InterleavingMethod::ALL {
            let list = interleave(*method, &[one.clone(), other.clone()], 6, seed, "r").unwrap();
            let distinct: std::collections::BTreeSet<_> = list.documents().iter().collect();
            prop_assert_eq!((distinct.len(), list.documents().len()), (6, 6));
            let same = [one.clone(), one.clone()];
            let list = interleave(*method, &same, 6, seed, "r").unwrap();
            let none = list.credits(&[]);
            prop_assert_eq!(none[0], none[1]);
            if list.teams().is_empty() {
                let clicked = list.credits(&[1, 3]);
                prop_assert!((clicked[0] - clicked[1]).abs() < 1e-12, "{:?}", clicked);
            }
        }
    }

    /// Clicks at random on the first k documents favour no ranker.
    #[test]
    fn optimised_interleaving_is_fair_to_random_clicks(
        one in Just((0..5).map(|id| id.to_string()).collect::<Vec<_>>()).prop_shuffle(),
        other in Just((2..7).map(|id| id.to_string()).collect::<Vec<_>>()).prop_shuffle(),
    ) {
        let both = Rankings(vec![one, other]);
        let lists = optimised::distribution(&both, 5).unwrap();
        let total: f64 = lists.iter().map(|(_, probability)| probability).sum();
        prop_assert!((total - 1.0).abs() < 1e-9);
        for k in 0..5 {
            let mut sums = [0.0, 0.0];
            for (documents, probability) in &lists {
                let drawn = DrawnList { documents: documents.clone(), teams: vec![] };
                let list = shown(InterleavingMethod::Optimised, drawn, &both);
                for click in 0..=k {
                    let credits = list.credits(&[click]);
                    sums.iter_mut().zip(credits).for_each(|(sum, c)| *sum += probability * c);
                }
            }
            prop_assert!((sums[0] - sums[1]).abs() < 1e-9, "{:?}", sums);
        }
    }
}

/// Three rankers with one document each on top: every order of the round is equally likely, and a
/// click on a document is a credit for the ranker whose best it is.
#[test]
fn multileaving_gives_every_ranker_one_document_of_a_round() {
    let lists = rankings(&[&["a", "x", "y"], &["b", "x", "y"], &["c", "x", "y"]]);
    let interleaver = Interleaver::new(InterleavingMethod::Multileave, &lists, 3).unwrap();
    let mut drawn: BTreeMap<String, usize> = BTreeMap::new();
    for request in 0..6000 {
        let list = interleaver.list(3, &request.to_string());
        let mut teams = list.teams().to_vec();
        teams.sort_unstable();
        assert_eq!(teams, [0, 1, 2]);
        let of_b = list.documents().iter().position(|id| id == "b").unwrap();
        assert_eq!(list.credits(&[of_b]), [0.0, 1.0, 0.0]);
        *drawn.entry(list.documents().concat()).or_default() += 1;
    }
    assert_eq!(drawn.len(), 6);
    assert!(drawn.values().all(|count| (880..1120).contains(count)), "{drawn:?}");
}

/// The ranker of a drawn document is one of those that could have added it: P(document | ranker) is
/// 0 for a ranking without it, and rankers share a document in proportion to their probabilities.
#[test]
fn probabilistic_credits_are_the_probabilities_given_the_list() {
    let both = checked_rankings(InterleavingMethod::Probabilistic, &[&["a", "b"], &["b", "c"]]);
    let drawn = DrawnList { documents: vec!["b".into(), "c".into()], teams: vec![] };
    let list = shown(InterleavingMethod::Probabilistic, drawn, &both);
    // b: (1/8) / (1 + 1/8) = 1/9 by the first ranker, 8/9 by the second.
    let credits = list.credits(&[0]);
    assert!((credits[0] - 1.0 / 9.0).abs() < 1e-12 && (credits[1] - 8.0 / 9.0).abs() < 1e-12);
    assert_eq!(list.credits(&[1]), [0.0, 1.0]);
    assert_eq!(list.ranks(), [vec![2, 3], vec![1, 2]]);
}
