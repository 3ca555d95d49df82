//! Losses against finite differences and reference implementations, and whole learners.

mod learners;

use proptest::prelude::*;
use rankwright_data::bytes::Input;
use rankwright_data::{Dataset, Matrix, Random};

use super::counting::SortedScores;
use super::logistic_pairs::LogisticPairs;
use super::loss::{ConvexLoss, Gradient, LossPoint, MarginLoss};
use super::newton::{NewtonSearch, NewtonStep, Smooth};
use super::ordinal::CumulativeLogitLoss;
use super::pairs::{self, PairSource, pair_sources};
use super::pointwise::{BinaryMarginLoss, LeastSquares, normalised_weights};
use super::problem::{Design, Problem};
use super::ranksvm::RankSvmLoss;
use super::ridge;
use crate::simd::Simd;

/// Random features and labels; with random weights if `weighted`.
fn drawn(seed: u64, sizes: &[usize], columns: usize, grades: usize, weighted: bool) -> Dataset {
    let mut draw = Random::new(seed, 5);
    let rows: usize = sizes.iter().sum();
    let of_row: Vec<usize> =
        sizes.iter().enumerate().flat_map(|(query, n)| vec![query; *n]).collect();
    let values: Vec<f32> = (0..rows * columns).map(|_| draw.normal() as f32).collect();
    let labels = (0..rows).map(|_| draw.below(grades));
    let mut all = Dataset::builder().dense(values, columns).labels(labels);
    all = all.query_ids(of_row.iter().map(|query| format!("q{query}")));
    if weighted {
        all = all.weights((0..rows).map(|_| draw.below(4) as f32 * 0.5));
        let of_query: Vec<f32> = sizes.iter().map(|_| 0.5 + draw.unit() as f32).collect();
        all = all.query_weights(of_row.iter().map(|query| of_query[*query]));
    }
    all.build().unwrap()
}

fn with_pairs(data: Dataset, text: &str) -> Dataset {
    let text = format!("qid better worse weight\n{text}");
    let input = Input::from_bytes("pairs", text.into_bytes()).unwrap();
    data.with_pairs(&input).unwrap().0
}

/// Compares first and second derivatives with finite differences, at a random point.
fn check_differences<L: ConvexLoss>(name: &str, data: &Dataset, loss: L) {
    let values = data.matrix().values();
    let mut problem = Problem::new(Design { data, values, simd: Simd::Auto }, loss);
    (problem.c, problem.penalty) = (70.0, 0.3);
    let mut draw = Random::new(17, 3);
    let mut point: Vec<f64> = (0..data.columns()).map(|_| 0.4 * draw.normal()).collect();
    point.extend(problem.loss.extra_parameters().iter().map(|x| x + 0.01));
    let n = point.len();
    let (mut gradient, mut up, mut down) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
    let direction: Vec<f64> = (0..n).map(|_| draw.normal()).collect();
    let moved = |step: f64| -> Vec<f64> {
        point.iter().zip(&direction).map(|(x, d)| x + step * d).collect()
    };
    let step = 1e-5;
    let high = problem.value(&moved(step), &mut up);
    let low = problem.value(&moved(-step), &mut down);
    let middle = problem.value(&point, &mut gradient);
    assert!(middle.is_finite() && middle > 0.0, "{name}");
    let slope: f64 = gradient.iter().zip(&direction).map(|(g, d)| g * d).sum();
    let difference = (high - low) / (2.0 * step);
    assert!(
        (slope - difference).abs() < 1e-5 * slope.abs().max(1.0),
        "{name}: {slope} {difference}"
    );
    let mut product = vec![0.0; n];
    problem.hessian_product(&direction, &mut product);
    for at in 0..n {
        let difference = (up[at] - down[at]) / (2.0 * step);
        let size = product[at].abs().max(1.0);
        assert!(
            (product[at] - difference).abs() < 1e-3 * size,
            "{name} {at}: {product:?} {difference}"
        );
    }
}

#[test]
fn every_loss_has_the_derivatives_of_finite_differences() {
    for weighted in [false, true] {
        let data = drawn(11, &[7, 1, 12, 5], 4, 4, weighted);
        let rel = 2.0;
        for shape in [
            MarginLoss::Logistic,
            MarginLoss::Squared,
            MarginLoss::Hinge(1.0),
            MarginLoss::Hinge(0.2),
        ] {
            check_differences(
                "binary margin",
                &data,
                BinaryMarginLoss::new(&data, rel, shape).unwrap(),
            );
            if shape == MarginLoss::Logistic {
                continue;
            }
            for norm_query in [false, true] {
                let pair_sources = pair_sources(&data, norm_query).unwrap();
                check_differences("margin", &data, RankSvmLoss { pair_sources, shape });
            }
        }
        check_differences("ordinal", &data, CumulativeLogitLoss::new(&data).unwrap());
        let squares =
            LeastSquares { data: &data, normalised_weights: normalised_weights(&data).unwrap() };
        check_differences("least squares", &data, squares);
        let pair_sources = |data: &Dataset| pair_sources(data, false).unwrap();
        check_differences("pairs", &data, LogisticPairs::new(&data, pair_sources(&data), 1));
        let own = with_pairs(data.clone(), "q0 0 1\nq0 4 > 2 3\nq2 9 = 10\nq2 12 11 0.5\nq0 1 4\n");
        check_differences("own pairs", &own, LogisticPairs::new(&own, pair_sources(&own), 1));
        let shape = MarginLoss::Squared;
        check_differences(
            "own margin",
            &own,
            RankSvmLoss { pair_sources: pair_sources(&own), shape },
        );
    }
}

/// The same preferences as a list.
fn listed(pair_sources: &PairSource) -> Vec<pairs::Pair> {
    let PairSource::Levels(levels) = pair_sources else { return Vec::new() };
    let mut all = Vec::new();
    for i in 0..levels.of.len() {
        for j in (0..levels.of.len()).filter(|j| levels.of[i] > levels.of[*j]) {
            let weight = levels.scale * levels.weight(i) * levels.weight(j);
            all.push((i as u32, j as u32, weight));
        }
    }
    all
}

fn close(a: &[f64], b: &[f64]) -> bool {
    let size = a.iter().fold(1.0_f64, |most, x| most.max(x.abs()));
    a.iter().zip(b).all(|(x, y)| (x - y).abs() < 1e-9 * size)
}

proptest! {
    #[test]
    fn counting_gives_what_visiting_every_pair_gives(
        seed: u64,
        n in 1_usize..60,
        grades in 1_usize..12,
        weighted: bool,
        width in prop::option::of(0.05..1.0_f64),
        // Ties, and pairs exactly at the margin, are the hard cases.
        coarse: bool,
        far in prop::sample::select(vec![0.0, 1e6]),
    ) {
        let data = drawn(seed, &[n], 1, grades, weighted);
        let Ok(all) = pair_sources(&data, false) else { return Ok(()) };
        let PairSource::Levels(levels) = &all[0] else { return Ok(()) };
        let mut draw = Random::new(seed, 9);
        let score = |draw: &mut Random| match coarse {
            true => 0.5 * draw.below(7) as f64,
            false => 1.5 * draw.normal(),
        };
        let list = listed(&all[0]);
        let (shape, margins) = match width {
            Some(w) => (MarginLoss::Hinge(w), vec![(1.0, 0.5 / w), (1.0 - w, -0.5 / w)]),
            None => (MarginLoss::Squared, vec![(1.0, 1.0)]),
        };
        let mut sorted = SortedScores::default();
        let mut hessians = Vec::new();
        for _ in 0..3 {
            let scores: Vec<f64> = (0..n).map(|_| far + score(&mut draw)).collect();
            let direction: Vec<f64> = (0..n).map(|_| draw.normal()).collect();
            let (mut fast, mut slow) = (vec![9.0; n], vec![9.0; n]);
            let quick = sorted.value(levels, &margins, &scores, &mut fast);
            let plain = pairs::value(shape, &list, &scores, &mut hessians, &mut slow);
            prop_assert!((quick - plain).abs() < 1e-8 * plain.max(1.0), "{quick} {plain}");
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
    fn logistic_pairs_by_levels_are_those_of_the_list(
        seed: u64,
        n in 1_usize..40,
        grades in 1_usize..6,
        weighted: bool,
        spread in prop::sample::select(vec![1.0, 30.0, 1e4]),
    ) {
        let data = drawn(seed, &[n], 1, grades, weighted);
        let Ok(all) = pair_sources(&data, false) else { return Ok(()) };
        let list = listed(&all[0]);
        let loss = LogisticPairs::new(&data, all, 1);
        let mut draw = Random::new(seed, 9);
        let scores: Vec<f64> = (0..n).map(|_| spread * draw.normal()).collect();
        let direction: Vec<f64> = (0..n).map(|_| draw.normal()).collect();
        let (mut fast, mut slow, mut hessians) = (vec![9.0; n], vec![9.0; n], Vec::new());
        let mut memory = Default::default();
        let at = LossPoint { scores: &scores, extra_parameters: &[] };
        let gradient = Gradient { scores: &mut fast, extra_parameters: &mut [] };
        let quick = loss.value(0, at, &mut memory, gradient);
        let plain = pairs::value(MarginLoss::Logistic, &list, &scores, &mut hessians, &mut slow);
        prop_assert!((quick - plain).abs() < 1e-8 * plain.max(1.0), "{quick} {plain}");
        prop_assert!(close(&slow, &fast), "{slow:?} {fast:?}");
        let at = LossPoint { scores: &direction, extra_parameters: &[] };
        loss.hessian_product(0, at, &mut memory, Gradient { scores: &mut fast, extra_parameters: &mut [] });
        pairs::hessian_product(&list, &hessians, &direction, &mut slow);
        prop_assert!(close(&slow, &fast), "{slow:?} {fast:?}");
    }
}

#[test]
fn weights_of_pairs_add_up_to_1_and_a_norm_by_query_makes_queries_equal() {
    let data = drawn(3, &[30, 4, 9], 1, 3, false);
    let mass =
        |pair_sources: &PairSource| listed(pair_sources).iter().map(|pair| pair.2).sum::<f64>();
    let plain: Vec<f64> = pair_sources(&data, false).unwrap().iter().map(mass).collect();
    let even: Vec<f64> = pair_sources(&data, true).unwrap().iter().map(mass).collect();
    assert!(plain[0] > 2.0 * plain[1]);
    assert!(even.iter().all(|mass| (mass - 1.0 / 3.0).abs() < 1e-12), "{even:?}");
    assert!((plain.iter().sum::<f64>() - 1.0).abs() < 1e-12);
}

#[test]
fn normal_equations_and_conjugate_gradients_agree() {
    for weighted in [false, true] {
        let data = drawn(5, &[400, 300, 500], 9, 4, weighted);
        let values = data.matrix().values();
        let design = Design { data: &data, values, simd: Simd::Auto };
        let exact = ridge::fit(design, &normalised_weights(&data).unwrap(), 0.003);
        let mut problem = Problem::new(
            design,
            LeastSquares { data: &data, normalised_weights: normalised_weights(&data).unwrap() },
        );
        problem.penalty = 0.003;
        let mut search = NewtonSearch::begin(&mut problem, vec![0.0; 10], None);
        let first = search.gradient_norm();
        while search.step(&mut problem, 1e-12 * first, first) != NewtonStep::Converged {}
        for (a, b) in exact.iter().zip(search.point()) {
            assert!((a - b).abs() < 1e-7, "{exact:?} {:?}", search.point());
        }
    }
}

#[test]
fn a_sample_of_pairs_has_the_expectation_of_all() {
    let n = 20_001;
    let data = drawn(1, &[n], 1, 3, false);
    let loss = LogisticPairs::new(&data, pair_sources(&data, false).unwrap(), 1);
    let scores = vec![0.0; n];
    let mut gradient = vec![0.0; n];
    let at = LossPoint { scores: &scores, extra_parameters: &[] };
    let out = Gradient { scores: &mut gradient, extra_parameters: &mut [] };
    let found = loss.value(0, at, &mut Default::default(), out) / std::f64::consts::LN_2;
    assert!((found - 1.0).abs() < 0.01, "{found}");
}
