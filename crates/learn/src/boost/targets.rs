//! The targets of a tree of a model, recomputed from data: the negative gradients of the model's
//! objective at the scores of the trees before it; and the impurity of the tree's splits.
//!
//! With squared error a target is a residual, label minus score (Friedman 2001, section 4.1); with
//! lambdas it is minus lambda. Targets include the weights of queries and documents, as in
//! training. They are those of the training if the data is the training data, the tree was grown on
//! all of its rows, and no tree was dropped (DART). A random forest fits every tree to the labels,
//! so that its targets are those at the base score. For trees that were added to a start model of
//! another kind, the scores before a tree include those of the start model. Cost: one scoring and
//! one pass of the objective.

use rankwright_data::Dataset;
use rankwright_model::{Ensemble, Matching, Model, ModelBody, ScoreOptions, SplitImpurity, Tree};
use rankwright_spec::Spec;

use super::queries::{AllDerivatives, QueryPass, TrainingQueries};
use super::train::{START_TREES_NOTE, objective_seed};
use crate::error::LearnError;
use crate::objective::{LabelSum, Objective, label_terms, parse_objective};
use crate::session::{LabelWeights, TEACHER_NOTE};

/// The impurity of each split of a tree of a model, recomputed from data with labels: before the
/// split, and after it (the weighted mean of the impurities of its two parts). `tree` is the number
/// of the tree, from 0; in a sum of a start model and of added trees, the added trees are numbered.
///
/// ```
/// use rankwright_data::Dataset;
/// use rankwright_learn::{LearnerSpec, TrainRequest, split_impurities};
/// use rankwright_model::ScoreOptions;
///
/// let data = Dataset::builder().dense(vec![1.0, 2.0, 3.0, 4.0], 1).labels([0.0, 0.0, 1.0, 1.0]);
/// let data = data.query_ids(["q"; 4]).build()?;
/// let learner = LearnerSpec::parse("mart(trees=1, leaves=2, min_rows=1)")?;
/// let model = learner.train(TrainRequest::new(&data))?.model;
/// let impurities = split_impurities(&model, &data, 0, ScoreOptions::default())?;
/// assert_eq!((impurities[0].before, impurities[0].after), (0.125, 0.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn split_impurities(
    model: &Model,
    data: &Dataset,
    tree: usize,
    options: ScoreOptions,
) -> Result<Vec<SplitImpurity>, LearnError> {
    let (ensemble, grown) = ensemble_and_tree(model, tree)?;
    if let Some(bias) = &model.header().position_bias {
        // Trees were fitted to corrected labels or scores, which the model does not keep.
        let objective = format!("{}, bias={}", model.header().objective, bias.kind);
        return Err(LearnError::NoDerivatives { objective });
    }
    if let Some(teacher) = model.header().notes.get(TEACHER_NOTE) {
        // The scores of the teacher are not in the model.
        let objective = format!("{}, teacher={teacher}", model.header().objective);
        return Err(LearnError::NoDerivatives { objective });
    }
    let start_trees = model.header().notes.get(START_TREES_NOTE);
    if start_trees.and_then(|text| text.parse().ok()).is_some_and(|trees: usize| tree < trees) {
        // They were grown for the objective of the start model, which the model does not keep.
        let objective = "that of the start model, which has grown the first trees".to_owned();
        return Err(LearnError::NoDerivatives { objective });
    }
    if !data.is_labelled() && data.pairs().is_none() {
        return Err(LearnError::ObjectiveNeedsLabels);
    }
    let matching = Matching::new(model.header(), data.features(), options.matching)?;
    model.check_categories(data, &matching)?;
    let earlier = if fits_labels(model) { 0 } else { tree };
    let scores = model.with_trees(ensemble.truncated(earlier))?.score(data, options)?;
    let seed = objective_seed(model.header().seed, tree);
    let labels = LabelWeights::of_learner(&model.header().learner);
    let targets = targets((&model.header().objective, labels), data, &scores, seed)?;
    Ok(SplitImpurity::of_tree(grown, data, &matching, &targets))
}

/// The trees of a model, and the tree with a number, from 0.
fn ensemble_and_tree(model: &Model, number: usize) -> Result<(&Ensemble, &Tree), LearnError> {
    // The features of added trees are those of the whole model.
    let grown = model.added_trees().unwrap_or(model);
    let ModelBody::Trees(ensemble) = grown.body() else {
        return Err(LearnError::NoSuchTree { number: number + 1, trees: 0 });
    };
    let trees = ensemble.trees();
    let tree = trees.get(number);
    let tree = tree.ok_or(LearnError::NoSuchTree { number: number + 1, trees: trees.len() })?;
    Ok((ensemble, tree))
}

/// Whether every tree of a model was fitted to the labels, whatever the trees before it.
fn fits_labels(model: &Model) -> bool {
    Spec::parse(&model.header().learner).is_ok_and(|spec| spec.name == "random-forest")
}

/// The negative gradients of an objective, row by row; `labels` are the columns of labels that it
/// was minimised on, `None` for the data's own.
fn targets(
    (objective, labels): (&str, Option<LabelWeights>),
    data: &Dataset,
    scores: &[f64],
    seed: u64,
) -> Result<Vec<f64>, LearnError> {
    let unknown = || LearnError::NoDerivatives { objective: objective.to_owned() };
    let spec = Spec::parse(objective).map_err(|_| unknown())?;
    let mut objective: Box<dyn Objective> = match labels {
        None => parse_objective(&spec).map_err(|_| unknown())?,
        Some(weights) => {
            let terms = label_terms(objective, &weights, "a model").map_err(|_| unknown())?;
            Box::new(LabelSum::new(terms, data)?)
        }
    };
    let mut queries = TrainingQueries::new(data, objective.as_ref());
    objective.prepare(&queries.documents(&[]))?;
    objective.refresh(&queries.documents(scores))?;
    let mut derivatives =
        AllDerivatives { gradient: vec![0.0; data.rows()], hessian: vec![0.0; data.rows()] };
    let pass = QueryPass { objective: objective.as_ref(), scores, seed, multiplicities: None };
    queries.derivatives(pass, &mut derivatives)?;
    Ok(derivatives.gradient.iter().map(|gradient| -f64::from(*gradient)).collect())
}

#[cfg(test)]
mod tests {
    use rankwright_data::generate::LetorOptions;
    use rankwright_model::Header;

    use super::*;
    use crate::learner::LearnerSpec;
    use crate::session::TrainRequest;

    fn data() -> Dataset {
        LetorOptions { queries: 20, documents: 20, seed: 5 }.generate().unwrap()
    }

    fn model(learner: &str, data: &Dataset) -> Model {
        LearnerSpec::parse(learner).unwrap().train(TrainRequest::new(data)).unwrap().model
    }

    /// Regression: trees of a start model were measured against the lambdas of the trees after them.
    #[test]
    fn trees_of_a_start_model_with_another_objective_have_no_known_targets() {
        let data = data();
        let start = model("mart(trees=2, leaves=4)", &data);
        let continued = |learner: &str| {
            let request = TrainRequest::new(&data).start(&start);
            LearnerSpec::parse(learner).unwrap().train(request).unwrap().model
        };
        let of_tree = |model: &Model, tree: usize| {
            split_impurities(model, &data, tree, ScoreOptions::default())
        };
        let other = continued("lambdamart(trees=2, leaves=4)");
        let error = of_tree(&other, 1).unwrap_err();
        assert!(error.to_string().contains("of the start model"), "{error}");
        assert!(of_tree(&other, 2).is_ok());
        let same = continued("mart(trees=2, leaves=4)");
        assert_eq!(of_tree(&same, 1).unwrap(), of_tree(&start, 1).unwrap());
    }

    /// With squared error, the gain of a split is the fall of the loss: rows times the fall of the
    /// impurity. The gain was computed in training from sums of derivatives.
    #[test]
    fn rows_times_the_fall_of_impurity_is_the_gain_of_squared_error() {
        let data = data();
        let learners = [
            "mart(trees=4, leaves=8, min_rows=5, min_hessian=0, l2=0)",
            "random-forest(trees=3, leaves=8, sample_queries=1, sample_features=0.5)",
        ];
        for learner in learners {
            let model = model(learner, &data);
            let ModelBody::Trees(ensemble) = model.body() else { panic!("trees were grown") };
            for (number, tree) in ensemble.trees().iter().enumerate() {
                let found =
                    split_impurities(&model, &data, number, ScoreOptions::default()).unwrap();
                for (impurity, split) in found.iter().zip(tree.splits()) {
                    assert_eq!(impurity.rows, split.rows, "{learner}");
                    let fall = impurity.rows as f64 * (impurity.before - impurity.after);
                    let difference = (fall - split.gain).abs();
                    assert!(difference < 1e-3 * split.gain.max(0.1), "{fall} {}", split.gain);
                }
            }
        }
    }

    #[test]
    fn trees_of_lambdas_have_impurities_too() {
        let data = data();
        let model = model("lambdamart(trees=3, leaves=8, min_rows=5)", &data);
        let found = split_impurities(&model, &data, 2, ScoreOptions::default()).unwrap();
        assert!(found.iter().all(|i| i.rows > 0 && i.after <= i.before && i.before > 0.0));
    }

    /// Trees on another column of labels have the impurities of trees on these labels.
    #[test]
    fn trees_on_columns_of_labels_have_the_targets_of_these_columns() {
        let data = data();
        let clicks: Vec<f64> = data.labels().iter().map(|label| 4.0 - label).collect();
        let both = data.clone().with_label_column("clicks", clicks.clone()).unwrap();
        let swapped = data.clone().with_labels(clicks).unwrap();
        let learner = "lambdamart(trees=3, leaves=8, min_rows=5";
        let mixed = model(&format!("{learner}, labels=clicks:1)"), &both);
        let own = model(&format!("{learner})"), &swapped);
        let of = |model: &Model, data: &Dataset| {
            let found = split_impurities(model, data, 2, ScoreOptions::default()).unwrap();
            found.iter().map(|i| (i.rows, i.before, i.after)).collect::<Vec<_>>()
        };
        assert_eq!(of(&mixed, &both), of(&own, &swapped));
        let error = split_impurities(&mixed, &data, 2, ScoreOptions::default()).unwrap_err();
        assert_eq!(error.kind(), "label-column-missing");
    }

    #[test]
    fn trees_added_to_a_linear_model_are_fitted_to_its_residuals() {
        let data = data();
        let start = model("linear-regression", &data);
        let learner =
            LearnerSpec::parse("mart(trees=3, leaves=6, min_rows=5, min_hessian=0, l2=0)").unwrap();
        let sum = learner.train(TrainRequest::new(&data).start(&start)).unwrap().model;
        let ModelBody::Trees(added) = sum.added_trees().unwrap().body() else { panic!("trees") };
        // Half the variance of the residuals of the linear model.
        let scores = start.predict(&data).unwrap();
        let residuals: Vec<f64> =
            data.labels().iter().zip(&scores).map(|(label, score)| label - score).collect();
        let n = residuals.len() as f64;
        let mean = residuals.iter().sum::<f64>() / n;
        let half = residuals.iter().map(|r| (r - mean) * (r - mean)).sum::<f64>() / n / 2.0;
        let first = split_impurities(&sum, &data, 0, ScoreOptions::default()).unwrap();
        assert!((first[0].before - half).abs() < 1e-6 * half, "{} {half}", first[0].before);
        for (number, tree) in added.trees().iter().enumerate() {
            let found = split_impurities(&sum, &data, number, ScoreOptions::default()).unwrap();
            for (impurity, split) in found.iter().zip(tree.splits()) {
                assert_eq!(impurity.rows, split.rows);
                let fall = impurity.rows as f64 * (impurity.before - impurity.after);
                let difference = (fall - split.gain).abs();
                assert!(difference < 1e-3 * split.gain.max(0.1), "{fall} {}", split.gain);
            }
        }
        let error = split_impurities(&sum, &data, 3, ScoreOptions::default()).unwrap_err();
        assert_eq!(error.to_string(), "there is no tree 4; the model has 3 trees");
    }

    #[test]
    fn models_without_targets_are_refused() {
        let data = data();
        let impurities = |model: &Model, tree| {
            split_impurities(model, &data, tree, ScoreOptions::default()).unwrap_err().to_string()
        };
        let trees = model("mart(trees=2, leaves=4)", &data);
        assert_eq!(impurities(&trees, 2), "there is no tree 3; the model has 2 trees");
        let linear = model("linear-regression", &data);
        assert_eq!(impurities(&linear, 0), "there is no tree 1; the model has 0 trees");
        let (header, body) = trees.into_parts();
        let imported =
            Model::new(Header { objective: "regression".into(), ..header }, body).unwrap();
        assert!(impurities(&imported, 0).contains("'regression'"));
    }
}
