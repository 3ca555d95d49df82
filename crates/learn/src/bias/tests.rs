//! Corrections compared with slow references, finite differences and known examination.

use rankwright_data::{Dataset, Random};
use rankwright_model::{Model, ScoreOptions};
use rankwright_spec::Spec;

use super::test_support::{
    PAGE, ShownPages, correlation, examination, examination_text, ndcg, train,
};
use crate::boost::objective_seed;
use crate::ensemble::test_support::trains_reproducibly_on;
use crate::learner::LearnerSpec;
use crate::objective::{
    ClickWeights, Derivatives, Objective, ObjectiveBuffers, QueryView, parse_objective,
};
use crate::session::TrainRequest;

/// The numbers of a column of a model's position bias.
fn column(model: &Model, name: &str) -> Vec<f64> {
    model.header().position_bias.as_ref().unwrap().column(name).unwrap().to_vec()
}

fn objective(text: &str) -> Box<dyn Objective> {
    parse_objective(&Spec::parse(text).unwrap()).unwrap()
}

fn derivatives(objective: &dyn Objective, view: &QueryView<'_>) -> (Vec<f32>, Vec<f32>) {
    let n = view.scores.len();
    let (mut gradient, mut hessian) = (vec![0.0; n], vec![0.0; n]);
    let mut out = Derivatives { gradient: &mut gradient, hessian: &mut hessian, cache: &mut [] };
    objective.derivatives(view, &mut ObjectiveBuffers::default(), &mut out).unwrap();
    (gradient, hessian)
}

fn assert_close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (a, b) in found.iter().zip(expected) {
        assert!((a - b).abs() <= tolerance * (1.0 + b.abs()), "{found:?} {expected:?}");
    }
}

/// Each tree of `bias=gam`: the derivatives are those of score plus term, and the terms take the
/// documented step.
#[test]
fn terms_are_those_of_a_slow_reference() {
    let data = ShownPages::new(40, 3).clicked();
    let lambda = objective("lambda(metric=ndcg@10)");
    let (rate, l2) = (0.2, 0.05);
    let model = |trees: usize| {
        train(
            &format!("lambdamart(trees={trees}, leaves=4, rate=0.2, bias=gam, bias_l2=0.05)"),
            &data,
        )
    };
    let mut terms = vec![0.0; PAGE];
    let mut scores = vec![0.0; data.rows()];
    for tree in 0..4 {
        let (mut gradients, mut hessians, mut counts) =
            (vec![0.0; PAGE], vec![0.0; PAGE], vec![0.0; PAGE]);
        for query in 0..data.queries() {
            let rows = data.query_rows(query);
            let position = |row: usize| data.positions().unwrap()[row] as usize - 1;
            let shifted: Vec<f64> =
                rows.clone().map(|row| scores[row] + terms[position(row)]).collect();
            let labels = &data.labels()[rows.clone()];
            let seed = objective_seed(1, tree);
            let view = QueryView { query, seed, ..QueryView::new(labels, &shifted) };
            let (gradient, hessian) = derivatives(&*lambda, &view);
            for (document, row) in rows.enumerate() {
                gradients[position(row)] += f64::from(gradient[document]);
                hessians[position(row)] += f64::from(hessian[document]);
                counts[position(row)] += 1.0;
            }
        }
        for p in 0..PAGE {
            let penalty = l2 * counts[p];
            terms[p] -=
                rate * (gradients[p] + penalty * terms[p]) / (hessians[p] + penalty + 0.001);
        }
        let model = model(tree + 1);
        assert_close(&column(&model, "term"), &terms, 1e-9);
        scores = model.score(&data, ScoreOptions::default()).unwrap();
    }
    assert!(terms.iter().any(|term| term.abs() > 0.01), "{terms:?}");
}

/// t+ and t- after each tree, from a visit of all pairs.
#[test]
fn pair_factors_are_those_of_a_slow_reference() {
    let data = ShownPages::new(60, 4).clicked();
    let positions = data.positions().unwrap();
    let (mut clicked, mut other) = (vec![1.0; PAGE], vec![1.0; PAGE]);
    for trees in 1..4 {
        let spec = format!("rankmart(trees={trees}, leaves=4, bias=pairwise, bias_norm=0.5)");
        let model = train(&spec, &data);
        let scores = model.score(&data, ScoreOptions::default()).unwrap();
        let (mut of_clicked, mut of_other) = (vec![0.0; PAGE], vec![0.0; PAGE]);
        for query in 0..data.queries() {
            for i in data.query_rows(query).filter(|row| data.labels()[*row] > 0.0) {
                for j in data.query_rows(query).filter(|row| data.labels()[*row] == 0.0) {
                    let (k, l) = (positions[i] as usize - 1, positions[j] as usize - 1);
                    let loss = (-(scores[i] - scores[j])).exp().ln_1p();
                    of_clicked[k] += loss / other[l];
                    of_other[l] += loss / clicked[k];
                }
            }
        }
        for (factors, sums) in [(&mut clicked, of_clicked), (&mut other, of_other)] {
            for (factor, sum) in factors.iter_mut().zip(&sums) {
                if *sum > 0.0 {
                    *factor = (sum / sums[0]).powf(1.0 / 1.5);
                }
            }
        }
        assert_close(&column(&model, "clicked"), &clicked, 1e-6);
        assert_close(&column(&model, "not clicked"), &other, 1e-6);
    }
    assert!(clicked[PAGE - 1] < 0.5 && clicked[0] == 1.0, "{clicked:?}");
}

/// The same factors for a net: those of the scores after each epoch, and the epochs that follow
/// see their weights.
#[test]
fn pair_factors_of_a_net_are_those_of_a_slow_reference() {
    let data = ShownPages::new(60, 4).clicked();
    let positions = data.positions().unwrap();
    let (mut clicked, mut other) = (vec![1.0; PAGE], vec![1.0; PAGE]);
    for epochs in 1..4 {
        // The default schedule depends on the number of epochs: trainings of fewer epochs would not be
        // the beginning of longer ones.
        let net = format!("layers=0, epochs={epochs}, schedule=constant");
        let spec = format!("ranknet({net}, bias=pairwise)");
        let model = train(&spec, &data);
        let scores = model.score(&data, ScoreOptions::default()).unwrap();
        let (mut of_clicked, mut of_other) = (vec![0.0; PAGE], vec![0.0; PAGE]);
        for query in 0..data.queries() {
            for i in data.query_rows(query).filter(|row| data.labels()[*row] > 0.0) {
                for j in data.query_rows(query).filter(|row| data.labels()[*row] == 0.0) {
                    let (k, l) = (positions[i] as usize - 1, positions[j] as usize - 1);
                    let loss = (-(scores[i] - scores[j])).exp().ln_1p();
                    of_clicked[k] += loss / other[l];
                    of_other[l] += loss / clicked[k];
                }
            }
        }
        for (factors, sums) in [(&mut clicked, of_clicked), (&mut other, of_other)] {
            for (factor, sum) in factors.iter_mut().zip(&sums) {
                if *sum > 0.0 {
                    *factor = sum / sums[0];
                }
            }
        }
        assert_close(&column(&model, "clicked"), &clicked, 1e-5);
        assert_close(&column(&model, "not clicked"), &other, 1e-5);
    }
    let plain = train("ranknet(layers=0, epochs=3)", &data);
    let corrected = train("ranknet(layers=0, epochs=3, bias=pairwise)", &data);
    assert_ne!(plain.score_row(&[1.0; 4]), corrected.score_row(&[1.0; 4]));
}

/// Random labels, scores plus terms and weights of clicks of one query.
struct ClickedQuery {
    labels: Vec<f64>,
    scores: Vec<f64>,
    better: Vec<f64>,
    worse: Vec<f64>,
}

impl ClickedQuery {
    fn new(documents: usize, grades: usize, seed: u64) -> Self {
        let mut random = Random::new(seed, 1);
        let labels = (0..documents).map(|_| random.below(grades) as f64).collect();
        let terms: Vec<f64> = (0..documents).map(|p| -0.1 * p as f64).collect();
        let scores = terms.iter().map(|term| random.normal() + term).collect();
        let better = (0..documents).map(|_| 1.0 + 5.0 * random.unit()).collect();
        let worse = (0..documents).map(|_| 0.5 + random.unit()).collect();
        Self { labels, scores, better, worse }
    }

    fn view<'a>(&'a self, scores: &'a [f64]) -> QueryView<'a> {
        let click_weights = Some(ClickWeights { better: &self.better, worse: &self.worse });
        QueryView { click_weights, seed: 5, ..QueryView::new(&self.labels, scores) }
    }
}

#[test]
fn gradients_are_the_differences_of_the_corrected_loss() {
    for text in [
        "pair-logistic(sigma=1.3)",
        "softmax(target=gain)",
        "softmax(target=label)",
        "softmax(target=softmax)",
        "xendcg(terms=1)",
        "squared",
        "query-rmse",
    ] {
        let objective = objective(text);
        for seed in 0..5 {
            let query = ClickedQuery::new(12, 3, seed);
            let (gradient, _) = derivatives(&*objective, &query.view(&query.scores));
            let loss = |scores: &[f64]| {
                let loss = objective.loss(&query.view(scores), &mut ObjectiveBuffers::default());
                loss.unwrap().unwrap()
            };
            for (document, gradient) in gradient.iter().enumerate() {
                let moved = |step: f64| {
                    let mut scores = query.scores.clone();
                    scores[document] += step;
                    loss(&scores)
                };
                let expected = (moved(1e-5) - moved(-1e-5)) / 2e-5;
                let difference = (f64::from(*gradient) - expected).abs();
                assert!(difference < 2e-4 * (1.0 + expected.abs()), "{text} {gradient} {expected}");
            }
        }
    }
}

/// The kernel against the sum over single pairs, and single pairs against those without weights.
#[test]
fn lambdas_of_weighted_clicks_are_pairs_times_both_weights() {
    for text in [
        "lambda(metric=ndcg@10)",
        "lambda(metric=ndcg@3, truncation=4, pairs=coherent)",
        "lambda(metric=ap, norm_query=false)",
        "pair-logistic",
        "pair-logistic(norm_query=true)",
    ] {
        let objective = objective(text);
        for seed in 0..5 {
            let query = ClickedQuery::new(25, 3, seed);
            let (gradient, _) = derivatives(&*objective, &query.view(&query.scores));
            let weighted = query.view(&query.scores);
            let plain = QueryView { click_weights: None, ..weighted };
            let pairs = |view: &QueryView<'_>| {
                let mut pairs = Vec::new();
                let mut visit = |pair| pairs.push(pair);
                let mut buffers = ObjectiveBuffers::default();
                assert!(objective.pair_lambdas(view, &mut buffers, &mut visit).unwrap());
                pairs
            };
            let mut sums = [0.0; 25];
            for (pair, unweighted) in pairs(&weighted).iter().zip(pairs(&plain)) {
                let (up, down) = (pair.pushed_up.document, pair.pushed_down.document);
                let weight = query.better[up] * query.worse[down];
                assert!((pair.size - unweighted.size * weight).abs() < 1e-9, "{text}");
                sums[up] -= pair.size;
                sums[down] += pair.size;
            }
            let largest = sums.iter().fold(0.0_f64, |most, sum| most.max(sum.abs()));
            for (sum, gradient) in sums.iter().zip(&gradient) {
                assert!((sum - f64::from(*gradient)).abs() < 1e-4 * largest, "{text}");
            }
        }
    }
}

/// With two grades, the weight of a click is a document weight.
#[test]
fn inverse_examination_is_a_weight_of_clicked_documents() {
    let pages = ShownPages::new(80, 6);
    let clicked = pages.clicked();
    let positions = clicked.positions().unwrap();
    let weight = |row: usize| match clicked.labels()[row] > 0.0 {
        true => 1.0 / examination(positions[row]) as f32,
        false => 1.0,
    };
    let weights: Vec<f32> = (0..clicked.rows()).map(weight).collect();
    let rows = (0..clicked.rows()).map(|row| clicked.matrix().row(row));
    let weighted = Dataset::builder()
        .rows(rows)
        .labels(clicked.labels())
        .query_ids((0..clicked.rows()).map(|row| row / PAGE))
        .weights(weights)
        .build()
        .unwrap();
    let by_position = examination_text();
    let scores = |learner: &str, data: &Dataset| {
        train(learner, data).score(&clicked, ScoreOptions::default()).unwrap()
    };
    for (learner, bias) in
        [("ranksvm", "ranksvm(bias=ips"), ("rankmart(trees=5)", "rankmart(trees=5, bias=ips")]
    {
        let corrected = format!("{bias}, examination={by_position})");
        assert_close(&scores(&corrected, &clicked), &scores(learner, &weighted), 1e-4);
    }
}

/// The ranking SVM with three grades: every pair has the weight of its better document alone.
#[test]
fn graded_feedback_weighs_the_better_document_of_each_pair() {
    let features = [[0.0_f32, 1.0], [1.0, 0.5], [0.2, 0.1], [0.7, 0.9]];
    let data = |pairs: bool| {
        let data =
            Dataset::builder().rows(features).query_ids(["q"; 4]).positions([1_u32, 2, 3, 4]);
        let weight = [1.0_f32, 2.0, 4.0, 8.0];
        match pairs {
            false => data.labels([0.0, 2.0, 1.0, 0.0]),
            true => data.labels([0.0; 4]).pairs([
                (1_usize, 0_usize, weight[1]),
                (1, 2, weight[1]),
                (1, 3, weight[1]),
                (2, 0, weight[2]),
                (2, 3, weight[2]),
            ]),
        }
        .build()
        .unwrap()
    };
    let corrected = train("ranksvm(bias=ips, examination=1/0.5/0.25/0.125)", &data(false));
    let listed = train("ranksvm", &data(true));
    assert_close(&corrected.weights().unwrap(), &listed.weights().unwrap(), 1e-6);
}

#[test]
fn doubly_robust_labels_are_those_worked_out_by_hand() {
    use super::doubly_robust::AffineClicks;
    use super::{BiasCorrectionOptions, BiasParams};
    use crate::BiasCorrection;
    use crate::objective::RelevanceScale;
    let data = |ids: bool| {
        let data = Dataset::builder().dense(vec![0.0; 4], 1).labels([1.0, 0.0, 0.0, 1.0]);
        let data = data.query_ids(["q"; 4]).positions([1_u32, 2, 1, 9]);
        let data = if ids { data.doc_ids(["a", "a", "b", "c"]) } else { data };
        data.build().unwrap()
    };
    let params = || {
        let params = BiasParams::default().bias(BiasCorrection::Dr).click_noise([0.1, 0.05]);
        params.examination([0.8, 0.2, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.1])
    };
    let labels = |params: &BiasParams, ids: bool| {
        let data = data(ids);
        let clicks = AffineClicks::new(params, &data).unwrap();
        clicks.corrected(&[0.5, 0.5, 2.0, 0.4], RelevanceScale::Signed).labels.unwrap()
    };
    // Each row by itself: (c - beta) / alpha, whatever the regression says.
    let expected = [0.9 / 0.8, -0.05 / 0.2, -0.1 / 0.8, 1.0 / 0.1];
    assert_close(&labels(&params(), false), &expected, 1e-12);
    // Document a was shown at 1 and 2: its expected examination is 0.5. The regression of b is
    // above 1 and counts as 1.
    let expected = [
        0.5 + (1.0 - 0.4 - 0.1) / 0.5,
        0.5 + (0.0 - 0.1 - 0.05) / 0.5,
        1.0 + (0.0 - 0.8 - 0.1) / 0.8,
        10.0,
    ];
    assert_close(&labels(&params(), true), &expected, 1e-12);
    // Clipped at 0.4, the last label is drawn towards the regression.
    let clipped = labels(&params().bias_clip(0.4), false);
    assert_close(&clipped[3..], &[0.4 + (1.0 - 0.04) / 0.4], 1e-12);
    // The regression has weight alpha^2, so that its loss is that of the affine model.
    let data = data(false);
    let regression = AffineClicks::new(&params(), &data).unwrap().regression();
    assert_close(&regression.labels.unwrap(), &[0.9 / 0.8, -0.25, -0.125, 10.0], 1e-12);
    let weights: Vec<f64> = regression.row_weights.unwrap().iter().map(|w| f64::from(*w)).collect();
    assert_close(&weights, &[0.64, 0.04, 0.64, 0.01], 1e-6);
}

/// Nearly every document has a click in 200 impressions: only the corrected click rates show which
/// of two documents is better; a weight of their pair could not change that.
#[test]
fn click_rates_are_divided_by_the_examination() {
    let data = ShownPages::new(300, 1).click_rates(200, 5);
    let clicked = data.labels().iter().filter(|label| **label > 0.0).count();
    assert!(clicked * 10 > data.rows() * 8, "{clicked}");
    let test = ShownPages::new(300, 2).graded();
    let by_position = examination_text();
    let value = |learner: &str| ndcg(&train(learner, &data), &test);
    for naive in [
        "lambdamart(trees=40, leaves=7, rate=0.1)",
        "lambdamart(trees=40, leaves=7, rate=0.1, metric=ndcg(gain=linear)@10)",
        "rankmart(trees=40, leaves=7, rate=0.1)",
        "xendcg(trees=40, leaves=7, rate=0.1)",
        "mart(trees=40, leaves=7, rate=0.1)",
        "ranksvm()",
        "pairwise-logistic()",
        "ranknet(layers=0, epochs=15)",
        "lambdarank(layers=0, epochs=15)",
        "softmax(layers=0, epochs=15)",
    ] {
        let comma = if naive.ends_with("()") { "" } else { ", " };
        let parameters = &naive[..naive.len() - 1];
        let corrected = format!("{parameters}{comma}bias=ips, examination={by_position})");
        let (naive_value, corrected_value) = (value(naive), value(&corrected));
        assert!(
            corrected_value > 0.95 && corrected_value > naive_value + 0.03,
            "{naive}: {naive_value} {corrected_value}"
        );
    }
}

/// The corrections of simulated clicks, on true grades of other queries.
#[test]
fn corrections_recover_relevance_and_examination_from_simulated_clicks() {
    let data = ShownPages::new(1500, 1).clicked();
    let test = ShownPages::new(300, 2).graded();
    let by_position = examination_text();
    let value = |learner: &str| ndcg(&train(learner, &data), &test);
    let boosted = "trees=20, leaves=7, rate=0.2";
    for (naive, corrections) in [
        (format!("lambdamart({boosted})"), &["gam", "pairwise", "ips", "dr"][..]),
        (
            format!("lambdamart({boosted}, metric=dcg@10, norm_query=false)"),
            &["gam", "pairwise", "ips", "dr"],
        ),
        (format!("rankmart({boosted})"), &["gam", "pairwise", "ips"]),
        (format!("xendcg({boosted})"), &["gam", "ips", "dr"]),
        (format!("mart(loss=softmax, target=gain, {boosted})"), &["gam", "ips", "dr"]),
        (format!("mart({boosted})"), &["gam", "ips", "dr"]),
        ("ranksvm()".to_owned(), &["ips"]),
        ("pairwise-logistic()".to_owned(), &["ips"]),
        ("ranknet(layers=0, epochs=15)".to_owned(), &["gam", "pairwise", "ips"]),
        ("lambdarank(layers=0, epochs=15)".to_owned(), &["gam", "pairwise", "ips", "dr"]),
        ("listnet(layers=0, epochs=15)".to_owned(), &["gam", "ips", "dr"]),
        ("softmax(layers=0, epochs=15)".to_owned(), &["gam", "ips", "dr"]),
    ] {
        let baseline = value(naive.replace("()", "").as_str());
        for bias in corrections {
            let more = match *bias {
                "ips" => format!("bias=ips, examination={by_position})"),
                "dr" => format!("bias=dr, examination={by_position}, bias_clip=0.2)"),
                other => format!("bias={other})"),
            };
            let separator = if naive.ends_with("()") { "" } else { ", " };
            let learner = naive.replace(')', separator) + &more;
            let corrected = value(&learner);
            println!("{naive} {bias}: {baseline:.4} {corrected:.4}");
            assert!(corrected > baseline + 0.01, "{learner}: {corrected:.4}, naive {baseline:.4}");
        }
    }
    let known: Vec<f64> = (1..=PAGE as u32).map(examination).collect();
    let logarithms: Vec<f64> = known.iter().map(|e| e.ln()).collect();
    let gam = train(&format!("lambdamart({boosted}, bias=gam)"), &data);
    let terms = column(&gam, "term");
    println!("terms {terms:?}");
    assert!(correlation(&terms, &logarithms) > 0.95, "{terms:?}");
    let pairwise = train(&format!("lambdamart({boosted}, bias=pairwise)"), &data);
    let factors = column(&pairwise, "clicked");
    println!("t+ {factors:?}");
    assert!(correlation(&factors, &known) > 0.95, "{factors:?}");
}

#[test]
fn threads_and_interruptions_change_nothing() {
    let (train, valid) = (ShownPages::new(60, 1).clicked(), ShownPages::new(30, 2).graded());
    let examination = examination_text();
    for learner in [
        "lambdamart(trees=6, leaves=5, bias=gam)".to_owned(),
        "lambdamart(trees=6, leaves=5, bias=gam, sample_queries=0.6)".to_owned(),
        "lambdamart(trees=6, leaves=5, bias=pairwise)".to_owned(),
        "lambdamart(trees=6, leaves=5, bias=gam, drop_trees=0.5, drop_skip=0)".to_owned(),
        "rankmart(trees=6, leaves=5, bias=pairwise, goss_top=0.4, goss_rest=0.3)".to_owned(),
        format!("lambdamart(trees=6, leaves=5, bias=ips, examination={examination})"),
        format!("lambdamart(trees=6, leaves=5, bias=dr, examination={examination}, bias_clip=0.1)"),
        "ranknet(layers=4, epochs=5, bias=gam)".to_owned(),
        format!("lambdarank(layers=4, epochs=5, bias=ips, examination={examination})"),
        "ranknet(layers=4, epochs=5, bias=pairwise)".to_owned(),
        format!("softmax(layers=4, epochs=5, bias=dr, examination={examination}, bias_clip=0.1)"),
        "bagging(learner=lambdamart(trees=4, leaves=5, bias=gam), bags=3)".to_owned(),
    ] {
        trains_reproducibly_on(&learner, &train, &valid);
    }
}

/// With validation data the model has fewer trees than were grown, and the terms of those trees.
#[test]
fn the_header_has_the_factors_of_the_rounds_that_are_kept() {
    let (data, valid) = (ShownPages::new(60, 1).clicked(), ShownPages::new(30, 2).graded());
    let learner = |trees: usize| format!("lambdamart(trees={trees}, leaves=5, bias=gam, rate=0.5)");
    let request = TrainRequest::new(&data).validation(&valid);
    let kept = LearnerSpec::parse(&learner(30)).unwrap().train(request).unwrap();
    let rounds = kept.history.kept.as_ref().unwrap().rounds;
    assert!(rounds < 30);
    let alone = train(&learner(rounds), &data);
    assert_eq!(column(&kept.model, "term"), column(&alone, "term"));
    let read = Model::from_bytes(&kept.model.to_bytes()).unwrap();
    assert_eq!(read.header().position_bias, kept.model.header().position_bias);
    let clipped = format!("ranksvm(bias=ips, examination={}, bias_clip=0.2)", examination_text());
    let bias = train(&clipped, &data).header().position_bias.clone().unwrap();
    assert_eq!((bias.kind.as_str(), bias.clip, bias.positions.len()), ("ips", Some(0.2), PAGE));
    assert!(train("lambdamart(trees=2)", &data).header().position_bias.is_none());
}

#[test]
fn what_cannot_be_corrected_is_refused_with_the_reason() {
    let refused = |text: &str| LearnerSpec::parse(text).unwrap_err().to_string();
    for (text, part) in [
        ("mart(bias=pairwise)", "bias=pairwise"),
        ("xendcg(bias=pairwise)", "pairs"),
        ("yetirank(bias=ips)", "bias=ips"),
        ("mart(loss=logloss, bias=dr)", "bias=dr"),
        ("rankmart(bias=dr)", "bias=dr"),
        ("lambdamart(metric=ap, bias=dr)", "bias=dr"),
        ("ranksvm(bias=gam)", "bias=gam"),
        ("softmax(bias=pairwise)", "bias=pairwise"),
        ("ranknet(bias=dr)", "bias=dr"),
        ("lambdarank(metric=ap, bias=dr)", "bias=dr"),
        ("approxndcg(bias=pairwise)", "bias=pairwise"),
        ("ranknet(bias=pairwise, factored=false)", "factored=false"),
        ("listmle(bias=ips)", "bias=ips"),
        ("ranknet(bias=gam, update=pair)", "update=pair"),
        ("lambdamart(bias_l2=1)", "bias=gam"),
        ("lambdamart(bias=gam, bias_clip=0.1)", "bias=ips or dr"),
        ("adarank(bias=gam)", "bias"),
        ("lambdamart(bias=ips, examination=1/-1)", "examination"),
    ] {
        assert!(refused(text).contains(part), "{text}: {}", refused(text));
    }
    // The reason names every learner that has the correction.
    for (text, bias) in [
        ("listnet(bias=pairwise)", "pairwise"),
        ("listmle(bias=ips)", "ips"),
        ("ranknet(bias=dr)", "dr"),
        ("listmle(bias=dr)", "dr"),
    ] {
        let reason = refused(text);
        let accepts = |name: &str| LearnerSpec::parse(&format!("{name}(bias={bias})")).is_ok();
        let able: Vec<&str> =
            crate::LEARNERS.iter().map(|def| def.name).filter(|name| accepts(name)).collect();
        assert!(
            able.len() > 1 && able.iter().all(|name| reason.contains(name)),
            "{reason}: {able:?}"
        );
    }
    let pages = ShownPages::new(10, 1);
    let (positions, none) = (pages.clicked(), pages.without_positions());
    let graded = Dataset::builder().dense(vec![0.0, 1.0], 1).labels([2.0, 0.0]);
    let graded = graded.query_ids(["q"; 2]).positions([1_u32, 2]).build().unwrap();
    let error = |text: &str, data: &Dataset| {
        let learner = LearnerSpec::parse(text).unwrap();
        learner.train(TrainRequest::new(data)).unwrap_err().to_string()
    };
    for (text, data, part) in [
        ("lambdamart(bias=gam)", &none, "needs the position"),
        ("rankmart(bias=pairwise)", &none, "needs the position"),
        ("ranksvm(bias=ips, examination=1)", &none, "needs the position"),
        ("listnet(bias=gam)", &none, "needs the position"),
        ("lambdamart(bias=ips)", &positions, "needs the examination"),
        ("mart(bias=dr)", &positions, "needs the examination"),
        ("ranksvm(bias=ips)", &positions, "needs the examination"),
        ("lambdamart(bias=ips, examination=1/0)", &positions, "examination is not known"),
        ("mart(bias=dr, examination=1/0.5)", &graded, "clicks or click rates"),
    ] {
        let error = error(text, data);
        assert!(error.contains(part), "{text}: {error}");
    }
}
