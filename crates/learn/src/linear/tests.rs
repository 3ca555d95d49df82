//! Losses against finite differences and reference implementations, and whole learners.

mod learners;

use proptest::prelude::*;
use rankwright_data::bytes::Input;
use rankwright_data::{Dataset, Matrix, PairColumn, Random};

use super::counting::SortedScores;
use super::logistic_pairs::LogisticPairs;
use super::loss::{ConvexLoss, Gradient, LossPoint, MarginLoss};
use super::newton::{NewtonSearch, NewtonStep, SmoothFunction};
use super::ordinal::CumulativeLogitLoss;
use super::pairs::{self, PairSource, pair_sources};
use super::pointwise::{BinaryMarginLoss, LeastSquares, normalised_weights};
use super::problem::{DesignMatrix, Problem};
use super::ranksvm::RankSvmLoss;
use super::ridge;
use crate::simd::Simd;

/// Random features, and random labels of `grades` grades from 0, in queries of these sizes; with
/// random weights if `weighted`.
fn random_data(
    seed: u64,
    sizes: &[usize],
    columns: usize,
    grades: usize,
    weighted: bool,
) -> Dataset {
    let mut random = Random::new(seed, 5);
    let rows: usize = sizes.iter().sum();
    let query_of_row: Vec<usize> =
        sizes.iter().enumerate().flat_map(|(query, n)| vec![query; *n]).collect();
    let values: Vec<f32> = (0..rows * columns).map(|_| random.normal() as f32).collect();
    let labels = (0..rows).map(|_| random.below(grades));
    let mut data = Dataset::builder().dense(values, columns).labels(labels);
    data = data.query_ids(query_of_row.iter().map(|query| format!("q{query}")));
    if weighted {
        data = data.weights((0..rows).map(|_| random.below(4) as f32 * 0.5));
        let query_weights: Vec<f32> = sizes.iter().map(|_| 0.5 + random.unit() as f32).collect();
        data = data.query_weights(query_of_row.iter().map(|query| query_weights[*query]));
    }
    data.build().unwrap()
}

/// Adds preference pairs to a data set, given as lines of query, better row, worse row and weight.
fn with_pairs(data: Dataset, text: &str) -> Dataset {
    let text = format!("qid better worse weight\n{text}");
    let input = Input::from_bytes("pairs", text.into_bytes()).unwrap();
    data.with_pairs(&input).unwrap().0
}

/// Adds soft targets to a data set, given as lines of query, two rows, and the probability that the
/// first is better.
fn with_probabilities(data: Dataset, text: &str) -> Dataset {
    let input = Input::from_bytes("pairs", text.as_bytes().to_vec()).unwrap();
    data.with_pairs_as(&input, Some(PairColumn::Probability)).unwrap().0
}

/// Compares first and second derivatives with finite differences, at a random point.
fn check_differences<L: ConvexLoss>(name: &str, data: &Dataset, loss: L) {
    let values = data.matrix().values();
    let mut problem = Problem::new(DesignMatrix { data, values, simd: Simd::Auto }, loss);
    // Any values other than 1.
    (problem.c, problem.penalty) = (70.0, 0.3);
    let mut random = Random::new(17, 3);
    let mut point: Vec<f64> = (0..data.columns()).map(|_| 0.4 * random.normal()).collect();
    point.extend(problem.loss.extra_parameters().iter().map(|x| x + 0.01));
    let n = point.len();
    let (mut gradient, mut gradient_up, mut gradient_down) =
        (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
    let direction: Vec<f64> = (0..n).map(|_| random.normal()).collect();
    let moved = |step: f64| -> Vec<f64> {
        point.iter().zip(&direction).map(|(x, d)| x + step * d).collect()
    };
    let step = 1e-5;
    let value_up = problem.value(&moved(step), &mut gradient_up);
    let value_down = problem.value(&moved(-step), &mut gradient_down);
    let value = problem.value(&point, &mut gradient);
    assert!(value.is_finite() && value > 0.0, "{name}");
    let slope: f64 = gradient.iter().zip(&direction).map(|(g, d)| g * d).sum();
    let difference = (value_up - value_down) / (2.0 * step);
    assert!(
        (slope - difference).abs() < 1e-5 * slope.abs().max(1.0),
        "{name}: {slope} {difference}"
    );
    let mut product = vec![0.0; n];
    problem.hessian_product(&direction, &mut product);
    for index in 0..n {
        let difference = (gradient_up[index] - gradient_down[index]) / (2.0 * step);
        let size = product[index].abs().max(1.0);
        assert!(
            (product[index] - difference).abs() < 1e-3 * size,
            "{name} {index}: {product:?} {difference}"
        );
    }
}

#[test]
fn the_derivatives_of_every_loss_agree_with_finite_differences() {
    for weighted in [false, true] {
        let data = random_data(11, &[7, 1, 12, 5], 4, 4, weighted);
        let rel = 2.0;
        for margin_loss in [
            MarginLoss::Logistic,
            MarginLoss::Squared,
            MarginLoss::Hinge(1.0),
            MarginLoss::Hinge(0.2),
        ] {
            check_differences(
                "binary margin",
                &data,
                BinaryMarginLoss::new(&data, rel, margin_loss).unwrap(),
            );
            if margin_loss == MarginLoss::Logistic {
                continue;
            }
            for norm_query in [false, true] {
                let pair_sources = pair_sources(&data, norm_query).unwrap();
                check_differences("margin", &data, RankSvmLoss { pair_sources, margin_loss });
            }
        }
        check_differences("ordinal", &data, CumulativeLogitLoss::new(&data).unwrap());
        let squares =
            LeastSquares { data: &data, normalised_weights: normalised_weights(&data).unwrap() };
        check_differences("least squares", &data, squares);
        let norm_query = false;
        let pair_sources = |data: &Dataset| pair_sources(data, norm_query).unwrap();
        check_differences("pairs", &data, LogisticPairs::new(&data, pair_sources(&data), 1));
        let with_preferences =
            with_pairs(data.clone(), "q0 0 1\nq0 4 > 2 3\nq2 9 = 10\nq2 12 11 0.5\nq0 1 4\n");
        let sources = pair_sources(&with_preferences);
        check_differences(
            "listed pairs",
            &with_preferences,
            LogisticPairs::new(&with_preferences, sources, 1),
        );
        let soft = "q0 0 1 0.7\nq0 4 2 0.5\nq2 9 10 0.25\nq2 12 11 1\nq0 1 4 0\n";
        let with_soft_targets = with_probabilities(data.clone(), soft);
        let sources = pair_sources(&with_soft_targets);
        check_differences(
            "soft targets",
            &with_soft_targets,
            LogisticPairs::new(&with_soft_targets, sources, 1),
        );
        let (margin_loss, pair_sources) = (MarginLoss::Squared, pair_sources(&with_preferences));
        check_differences(
            "listed margins",
            &with_preferences,
            RankSvmLoss { pair_sources, margin_loss },
        );
    }
}

/// The preferences of label levels as a list.
fn listed(pair_source: &PairSource) -> Vec<pairs::Pair> {
    let PairSource::Levels(levels) = pair_source else { return Vec::new() };
    let mut all = Vec::new();
    let level = &levels.of_document;
    for i in 0..level.len() {
        for j in (0..level.len()).filter(|j| level[i] > level[*j]) {
            let weight = levels.scale * levels.weight(i) * levels.weight(j);
            all.push((i as u32, j as u32, weight));
        }
    }
    all
}

/// Whether values differ by at most 1e-9 of the largest absolute value (or of 1).
fn close(a: &[f64], b: &[f64]) -> bool {
    let size = a.iter().fold(1.0_f64, |largest, x| largest.max(x.abs()));
    a.iter().zip(b).all(|(x, y)| (x - y).abs() < 1e-9 * size)
}

proptest! {
    #[test]
    fn counting_gives_what_visiting_every_pair_gives(
        seed: u64,
        n in 1_usize..60,
        grades in 1_usize..12,
        weighted: bool,
        smoothing_width in prop::option::of(0.05..1.0_f64),
        // Scores are multiples of 0.5: many are equal, and many pairs are exactly at the margin.
        coarse: bool,
        offset in prop::sample::select(vec![0.0, 1e6]),
    ) {
        let data = random_data(seed, &[n], 1, grades, weighted);
        let norm_query = false;
        let Ok(all) = pair_sources(&data, norm_query) else { return Ok(()) };
        let PairSource::Levels(levels) = &all[0] else { return Ok(()) };
        let mut random = Random::new(seed, 9);
        let score = |random: &mut Random| match coarse {
            true => 0.5 * random.below(7) as f64,
            false => 1.5 * random.normal(),
        };
        let list = listed(&all[0]);
        let (margin_loss, margins) = match smoothing_width {
            Some(w) => (MarginLoss::Hinge(w), vec![(1.0, 0.5 / w), (1.0 - w, -0.5 / w)]),
            None => (MarginLoss::Squared, vec![(1.0, 1.0)]),
        };
        let mut sorted = SortedScores::default();
        let mut hessians = Vec::new();
        for _ in 0..3 {
            let scores: Vec<f64> = (0..n).map(|_| offset + score(&mut random)).collect();
            let direction: Vec<f64> = (0..n).map(|_| random.normal()).collect();
            let (mut fast, mut slow) = (vec![9.0; n], vec![9.0; n]);
            let fast_loss = sorted.value(levels, &margins, &scores, &mut fast);
            let slow_loss = pairs::value(margin_loss, &list, &scores, &mut hessians, &mut slow);
            let tolerance = 1e-8 * slow_loss.max(1.0);
            prop_assert!((fast_loss - slow_loss).abs() < tolerance, "{fast_loss} {slow_loss}");
            prop_assert!(close(&slow, &fast), "{slow:?} {fast:?}");
            sorted.hessian_product(levels, &margins, &direction, &mut fast);
            pairs::hessian_product(&list, &hessians, &direction, &mut slow);
            // A pair exactly at a margin has a second derivative on one side only, and rounding may
            // choose either.
            if !coarse {
                prop_assert!(close(&slow, &fast), "{slow:?} {fast:?}");
            }
        }
    }

    #[test]
    fn the_logistic_loss_of_levels_is_that_of_listed_pairs(
        seed: u64,
        n in 1_usize..40,
        grades in 1_usize..6,
        weighted: bool,
        deviation in prop::sample::select(vec![1.0, 30.0, 1e4]),
    ) {
        let data = random_data(seed, &[n], 1, grades, weighted);
        let norm_query = false;
        let Ok(all) = pair_sources(&data, norm_query) else { return Ok(()) };
        let list = listed(&all[0]);
        let loss = LogisticPairs::new(&data, all, 1);
        let mut random = Random::new(seed, 9);
        let scores: Vec<f64> = (0..n).map(|_| deviation * random.normal()).collect();
        let direction: Vec<f64> = (0..n).map(|_| random.normal()).collect();
        let (mut fast, mut slow, mut hessians) = (vec![9.0; n], vec![9.0; n], Vec::new());
        let mut cache = Default::default();
        let point = LossPoint { scores: &scores, extra_parameters: &[] };
        let gradient = Gradient { scores: &mut fast, extra_parameters: &mut [] };
        let fast_loss = loss.value(0, point, &mut cache, gradient);
        let slow_loss =
            pairs::value(MarginLoss::Logistic, &list, &scores, &mut hessians, &mut slow);
        let tolerance = 1e-8 * slow_loss.max(1.0);
        prop_assert!((fast_loss - slow_loss).abs() < tolerance, "{fast_loss} {slow_loss}");
        prop_assert!(close(&slow, &fast), "{slow:?} {fast:?}");
        let along = LossPoint { scores: &direction, extra_parameters: &[] };
        let product = Gradient { scores: &mut fast, extra_parameters: &mut [] };
        loss.hessian_product(0, along, &mut cache, product);
        pairs::hessian_product(&list, &hessians, &direction, &mut slow);
        prop_assert!(close(&slow, &fast), "{slow:?} {fast:?}");
    }
}

#[test]
fn weights_of_pairs_add_up_to_1_and_norm_query_gives_all_queries_the_same_weight() {
    let data = random_data(3, &[30, 4, 9], 1, 3, false);
    let query_weights = |norm_query: bool| -> Vec<f64> {
        let pair_sources = pair_sources(&data, norm_query).unwrap();
        let weight = |source: &PairSource| listed(source).iter().map(|pair| pair.2).sum::<f64>();
        pair_sources.iter().map(weight).collect()
    };
    let (by_pairs, equal) = (query_weights(false), query_weights(true));
    assert!(by_pairs[0] > 2.0 * by_pairs[1]);
    assert!(equal.iter().all(|weight| (weight - 1.0 / 3.0).abs() < 1e-12), "{equal:?}");
    assert!((by_pairs.iter().sum::<f64>() - 1.0).abs() < 1e-12);
}

#[test]
fn normal_equations_and_conjugate_gradients_agree() {
    for weighted in [false, true] {
        let data = random_data(5, &[400, 300, 500], 9, 4, weighted);
        let values = data.matrix().values();
        let design = DesignMatrix { data: &data, values, simd: Simd::Auto };
        let exact = ridge::fit(design, &normalised_weights(&data).unwrap(), 0.003);
        let mut problem = Problem::new(
            design,
            LeastSquares { data: &data, normalised_weights: normalised_weights(&data).unwrap() },
        );
        problem.penalty = 0.003;
        let mut search = NewtonSearch::begin(&mut problem, vec![0.0; 10], None);
        let first_norm = search.gradient_norm();
        let converged_norm = 1e-12 * first_norm;
        while search.step(&mut problem, converged_norm, first_norm) != NewtonStep::Converged {}
        for (a, b) in exact.iter().zip(search.point()) {
            assert!((a - b).abs() < 1e-7, "{exact:?} {:?}", search.point());
        }
    }
}

#[test]
fn a_sample_of_pairs_has_the_expectation_of_all() {
    let n = 20_001;
    let data = random_data(1, &[n], 1, 3, false);
    let norm_query = false;
    let loss = LogisticPairs::new(&data, pair_sources(&data, norm_query).unwrap(), 1);
    let scores = vec![0.0; n];
    let mut gradient = vec![0.0; n];
    let point = LossPoint { scores: &scores, extra_parameters: &[] };
    let out = Gradient { scores: &mut gradient, extra_parameters: &mut [] };
    // At equal scores every pair has the loss ln 2, and all weights add up to 1.
    let total_weight = loss.value(0, point, &mut Default::default(), out) / std::f64::consts::LN_2;
    assert!((total_weight - 1.0).abs() < 0.01, "{total_weight}");
}
