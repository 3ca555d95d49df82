//! Scores at stages of a model: a stage is the model after a number of trees, added in the model's
//! own order.
//!
//! An ensemble is a sum, so the model after n trees is its first n trees: the scores during
//! training can be recomputed from the model and the data alone. Each stage adds the trees since
//! the previous stage, in the order of [`Ensemble::score_row`], so that the scores of the last
//! stage have the same bits as those of [`Model::score`]. Cost: rows x trees x depth for all stages
//! together, memory O(rows), parallel over blocks of rows.
//!
//! Models without trees have one stage: the whole model.

use rankwright_data::Dataset;
use rankwright_model::{Child, Ensemble, Matching, Model, ModelBody, ScoreOptions, Tree};
use rankwright_spec::words::{counted, plural};
use rayon::prelude::*;

use crate::error::ReportError;

/// Number of stages that the reader of a page chooses from with a slider.
pub(super) const STAGES: usize = 9;

/// Number of rows that a task scores with one tree before it goes on to the next tree.
const BLOCK: usize = 512;

/// The stages of a model: the number of rounds at each, and the name of a round.
#[derive(Debug, Clone, PartialEq)]
pub struct Stages {
    /// Number of rounds at each stage, ascending; the last is the whole model.
    pub numbers: Vec<usize>,
    /// Name of a round: "tree", "epoch", ...
    pub unit: String,
    /// Whether there are stages before the whole model.
    pub has_earlier_stages: bool,
}

impl Stages {
    /// The stages of a model, at most `points` of them, including `best` where it is given.
    /// `rounds` is the number of rounds and the name of a round, for models that are not trees.
    pub fn of(model: &Model, points: usize, best: Option<usize>, rounds: (usize, &str)) -> Stages {
        match model.body() {
            ModelBody::Trees(ensemble) => {
                let trees = ensemble.trees().len();
                let numbers = stage_numbers(trees, points, best);
                Stages { has_earlier_stages: numbers.len() > 1, numbers, unit: "tree".to_owned() }
            }
            _ => Stages {
                numbers: vec![rounds.0],
                unit: rounds.1.to_owned(),
                has_earlier_stages: false,
            },
        }
    }

    /// Number of rounds of the whole model.
    pub fn last(&self) -> usize {
        self.numbers.last().copied().unwrap_or(0)
    }

    /// The number of rounds of the stage nearest to this number; of two equally near ones the
    /// earlier.
    pub fn nearest(&self, rounds: usize) -> usize {
        let numbers = self.numbers.iter().copied();
        numbers.min_by_key(|number| number.abs_diff(rounds)).unwrap_or(0)
    }

    /// At most `count` stages from the first to the last, closer together at the start, where
    /// values change most.
    pub fn spread(&self, count: usize) -> Vec<usize> {
        let mut chosen: Vec<usize> = stage_numbers(self.last(), count, None)
            .into_iter()
            .map(|rounds| self.nearest(rounds))
            .collect();
        chosen.dedup();
        chosen
    }

    /// Name of the stage with this number of rounds.
    pub fn name(&self, number: usize) -> String {
        match number {
            _ if !self.has_earlier_stages => "the model".to_owned(),
            0 => format!("before the first {}", self.unit),
            _ => format!("after {}", counted(number, &self.unit)),
        }
    }

    /// Label of the axis of stages.
    pub fn axis(&self) -> String {
        plural(&self.unit)
    }
}

/// Numbers of trees from 0 to `trees`, at most `points` of them (at least 2, or 3 with `best`): in
/// steps of 1 at the start, where values change most, then in growing steps. `best` is included.
///
/// Each number is the previous one times a ratio, but at least 1 more; the ratio is the smallest
/// one that gives at most `points` numbers, found by bisection.
///
/// ```
/// use rankwright_report::training::stage_numbers;
///
/// assert_eq!(stage_numbers(3, 10, None), [0, 1, 2, 3]);
/// assert_eq!(stage_numbers(100, 8, Some(90)), [0, 1, 2, 5, 13, 36, 90, 100]);
/// ```
pub fn stage_numbers(trees: usize, points: usize, best: Option<usize>) -> Vec<usize> {
    let best = best.filter(|best| *best < trees);
    // One number less, because the best one is added at the end.
    let points = points.max(2) - usize::from(best.is_some() && points > 2);
    let numbers_by_ratio = |ratio: f64| -> Vec<usize> {
        let next = |number: &usize| Some((number + 1).max((*number as f64 * ratio) as usize));
        let mut numbers: Vec<usize> =
            std::iter::successors(Some(0), next).take_while(|number| *number < trees).collect();
        numbers.push(trees);
        numbers
    };
    let (mut low, mut high) = (1.0, trees as f64 + 1.0);
    if numbers_by_ratio(low).len() > points {
        // 40 halvings make the ratio exact enough for any number of trees.
        for _ in 0..40 {
            let middle = (low + high) / 2.0;
            match numbers_by_ratio(middle).len() > points {
                true => low = middle,
                false => high = middle,
            }
        }
        low = high;
    }
    let mut numbers = numbers_by_ratio(low);
    // Even the largest ratio gives three numbers: 0, 1 and the last.
    if numbers.len() > points {
        numbers.retain(|number| *number == 0 || *number == trees);
    }
    if let Some(best) = best {
        numbers.push(best);
        numbers.sort_unstable();
        numbers.dedup();
    }
    numbers
}

/// A data set with the scores of the last computed stage.
#[derive(Debug)]
pub struct StagedData<'a> {
    data: &'a Dataset,
    /// None for models that are not trees.
    scorer: Option<StageScorer<'a>>,
    scores: Vec<f64>,
}

/// Adds the trees of an ensemble to the scores of a data set, stage by stage.
#[derive(Debug)]
struct StageScorer<'a> {
    trees: &'a [Tree],
    /// The data column of each split of each tree; none if the data lacks the feature.
    columns: Vec<Vec<Option<usize>>>,
    /// The value of features that the data lacks.
    absent: f32,
    /// Number of trees that the scores contain.
    added: usize,
}

impl<'a> StagedData<'a> {
    /// Matches the columns of the data with the features of a model. Tree models start with the
    /// base score of each row; other models have their final scores at once.
    pub fn new(
        model: &'a Model,
        data: &'a Dataset,
        options: ScoreOptions,
    ) -> Result<StagedData<'a>, ReportError> {
        let ModelBody::Trees(ensemble) = model.body() else {
            return Ok(StagedData { data, scorer: None, scores: model.score(data, options)? });
        };
        let matching = Matching::new(model.header(), data.features(), options.matching)?;
        model.check_categories(data, &matching)?;
        let scorer = Some(StageScorer::new(ensemble, &matching));
        Ok(StagedData { data, scorer, scores: vec![ensemble.base(); data.rows()] })
    }

    /// The data.
    pub fn data(&self) -> &'a Dataset {
        self.data
    }

    /// The scores, in row order.
    pub fn scores(&self) -> &[f64] {
        &self.scores
    }

    /// Adds trees until the scores contain this many trees; never removes trees.
    pub fn advance(&mut self, trees: usize) {
        let Some(scorer) = &mut self.scorer else { return };
        let end = trees.min(scorer.trees.len());
        if end <= scorer.added {
            return;
        }
        let (data, range) = (self.data, scorer.added..end);
        let new_trees: Vec<(&Tree, &[Option<usize>])> =
            range.map(|t| (&scorer.trees[t], scorer.columns[t].as_slice())).collect();
        let absent = scorer.absent;
        self.scores.par_chunks_mut(BLOCK).enumerate().for_each(|(block, scores)| {
            for (tree, columns) in &new_trees {
                for (i, score) in scores.iter_mut().enumerate() {
                    let row = data.matrix().row(block * BLOCK + i);
                    *score += tree_value(tree, columns, row, absent);
                }
            }
        });
        scorer.added = end;
    }
}

impl<'a> StageScorer<'a> {
    fn new(ensemble: &'a Ensemble, matching: &Matching) -> StageScorer<'a> {
        let of_tree = |tree: &Tree| {
            tree.splits().iter().map(|split| matching.column(split.feature as usize)).collect()
        };
        StageScorer {
            trees: ensemble.trees(),
            columns: ensemble.trees().iter().map(of_tree).collect(),
            absent: matching.absent(),
            added: 0,
        }
    }
}

/// The value of a tree for a row of the data. Equals [`Tree::value`], which needs a row with the
/// columns of the model.
fn tree_value(tree: &Tree, columns: &[Option<usize>], row: &[f32], absent: f32) -> f64 {
    let mut node = tree.root();
    loop {
        match node {
            Child::Leaf(leaf) => return tree.leaves()[leaf as usize].value,
            Child::Split(split) => {
                let column = columns[split as usize];
                let split = &tree.splits()[split as usize];
                let value = column.map_or(absent, |column| row[column]);
                node = split.child(split.side(value, tree.sets()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rankwright_data::generate::LetorOptions;
    use rankwright_learn::{LearnerSpec, TrainRequest};

    #[test]
    fn stages_are_few_start_at_zero_and_end_with_the_model() {
        for trees in [0, 1, 2, 7, 60, 100, 500, 9999] {
            for points in [2, 3, 5, 20, 100] {
                for best in [None, Some(1), Some(trees / 2), Some(trees), Some(trees + 9)] {
                    let numbers = stage_numbers(trees, points, best);
                    assert!(
                        numbers.len() <= points.max(2) + usize::from(points == 2),
                        "{numbers:?}"
                    );
                    assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]), "{numbers:?}");
                    assert_eq!((numbers[0], numbers.last()), (0, Some(&trees)));
                    assert!(best.is_none_or(|b| b > trees || numbers.contains(&b)), "{numbers:?}");
                }
            }
        }
        assert!(stage_numbers(200, 100, None).len() >= 95, "nearly all points are used");
    }

    #[test]
    fn scores_of_a_stage_equal_those_of_the_truncated_model() {
        let data = LetorOptions { queries: 30, documents: 25, seed: 3 }.generate().unwrap();
        let learner = LearnerSpec::parse("lambdamart(trees=12, leaves=8, min_rows=5)").unwrap();
        let model = learner.train(TrainRequest::new(&data)).unwrap().model;
        let mut staged = StagedData::new(&model, &data, ScoreOptions::default()).unwrap();
        for trees in stage_numbers(12, 5, None) {
            staged.advance(trees);
        }
        let whole = model.score(&data, ScoreOptions::default()).unwrap();
        let bits = |scores: &[f64]| scores.iter().map(|s| s.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(staged.scores()), bits(&whole));
        let ModelBody::Trees(ensemble) = model.body() else { panic!("trees were grown") };
        let mut staged = StagedData::new(&model, &data, ScoreOptions::default()).unwrap();
        staged.advance(3);
        // Does nothing.
        staged.advance(1);
        let three_trees = ensemble.truncated(3);
        for row in 0..data.rows() {
            assert_eq!(staged.scores()[row], three_trees.score_row(data.matrix().row(row)));
        }
    }

    #[test]
    fn stages_have_names() {
        let stages =
            Stages { numbers: vec![0, 1, 5], unit: "tree".into(), has_earlier_stages: true };
        let names: Vec<String> = stages.numbers.iter().map(|n| stages.name(*n)).collect();
        assert_eq!(names, ["before the first tree", "after 1 tree", "after 5 trees"]);
        assert_eq!((stages.nearest(2), stages.nearest(3), stages.nearest(99)), (1, 1, 5));
    }
}
