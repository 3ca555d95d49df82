//! Origin of the lambdas: the share of each pair of labels, and of each range of ranks, in the
//! lambdas, stage by stage.
//!
//! A lambda is a sum over pairs (Burges, MSR-TR-2010-82, section 3); here each pair's contribution
//! is counted by the classes (labels, or ranges of labels) and ranks of the two documents:
//!
//! ```text
//! size of (a over b) = mean over queries of   sum of |lambda_ij|   over pairs with labels a, b
//! share              = size / sum of all sizes
//! ```
//!
//! By rank a pair is counted at the better-ranked of its two documents. The objective is the
//! model's own (`pair_sizes.rs`), including normalisations and truncation; weights of queries are
//! taken into account. The sample is up to 200 queries, drawn with the seed, within a budget of
//! pairs: a query with more pairs than are left of the budget is skipped. Cost: O(pairs of these
//! queries) per stage, parallel over queries, summed in their order. Queries of 0 or 1 documents or
//! of equal labels have no pairs.

use rankwright_data::{Dataset, Random};
use rankwright_learn::objective::{ObjectiveBuffers, QueryView};
use rankwright_learn::{LabelWeights, LearnError, Preferences};
use rankwright_model::Model;
use rayon::prelude::*;
use serde::{Serialize, Serializer};

use super::classes::Classes;
use super::pair_sizes::PairSizes;
use super::stages::Stages;
use super::{OmissionReason, ReportPart};
use crate::chart::{Axis, BarSeries, Bars, Body, Chart, Grouping, Series};
use crate::error::ReportError;
use crate::page::{PageBlock, Section};

/// Maximum number of queries in the sample.
const QUERIES: usize = 200;
/// Budget of work over all queries of the sample, in the units of [`PairSizes::cost`].
const BUDGET: u64 = 4_000_000;
/// Maximum number of stages that are computed.
const STAGES: usize = 40;
/// Maximum number of pairs of labels that have their own colour.
const PAIRS: usize = 7;
/// The last rank of each range of ranks except the last range.
const RANGE_ENDS: [usize; 6] = [1, 2, 3, 5, 10, 20];
/// The names of the ranges of ranks.
const RANGES: [&str; 7] = ["1", "2", "3", "4-5", "6-10", "11-20", "21 and below"];
/// Stream of random numbers for the choice of queries. Any constant; keeps this stream apart from
/// the other uses of the seed.
const QUERY_STREAM: u64 = 0x1a3b;

/// Sizes of lambdas at the sampled stages.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Lambdas {
    /// The objective that defines the lambdas, as a spec.
    pub objective: String,
    /// Number of queries in the sample.
    pub queries: usize,
    /// Number of queries in the data.
    pub of_queries: usize,
    /// The numbers of rounds after which the partial model was evaluated (the stages of the
    /// training).
    pub stages: Vec<usize>,
    /// Sizes by the labels of the two documents of a pair: `2 over 0`.
    pub by_pair: LambdaSizes,
    /// Sizes by the better of the two ranks of a pair.
    pub by_rank: LambdaSizes,
}

/// Sizes of lambdas by category, stage by stage.
#[derive(Debug, Clone, PartialEq)]
pub struct LambdaSizes {
    /// Names of the categories.
    pub names: Vec<String>,
    /// The mean over queries of the sum of absolute lambdas: `sizes[stage][category]`.
    pub sizes: Vec<Vec<f64>>,
}

impl LambdaSizes {
    /// Each size as a share of the sum of its stage; 0 if the sum is 0.
    pub fn shares(&self) -> Vec<Vec<f64>> {
        let share = |sizes: &Vec<f64>| -> Vec<f64> {
            let sum: f64 = sizes.iter().sum();
            sizes.iter().map(|size| if sum > 0.0 { size / sum } else { 0.0 }).collect()
        };
        self.sizes.iter().map(share).collect()
    }

    /// Removes categories that are 0 at every stage, and merges all but the `max` largest into one
    /// with the name `other_name`.
    fn condensed(self, max: usize, other_name: &str) -> LambdaSizes {
        let total = |category: usize| self.sizes.iter().map(|sizes| sizes[category]).sum::<f64>();
        let mut kept: Vec<usize> = (0..self.names.len()).filter(|c| total(*c) > 0.0).collect();
        let mut merged = Vec::new();
        if kept.len() > max {
            kept.sort_by(|a, b| total(*b).total_cmp(&total(*a)));
            merged = kept.split_off(max);
            kept.sort_unstable();
        }
        let row = |sizes: &Vec<f64>| -> Vec<f64> {
            let other = (!merged.is_empty()).then(|| merged.iter().map(|c| sizes[*c]).sum());
            kept.iter().map(|c| sizes[*c]).chain(other).collect()
        };
        let other_name = (!merged.is_empty()).then(|| other_name.to_owned());
        LambdaSizes {
            sizes: self.sizes.iter().map(row).collect(),
            names: kept.iter().map(|c| self.names[*c].clone()).chain(other_name).collect(),
        }
    }
}

/// Records the sizes of lambdas at each stage.
#[derive(Debug)]
pub struct LambdaRecorder<'a> {
    data: &'a Dataset,
    pair_sizes: PairSizes,
    /// The objective, as a spec.
    spec: String,
    preferences: Preferences<'a>,
    classes: Classes,
    /// Indices of the queries of the sample.
    queries: Vec<usize>,
    /// Seed of the order of documents with equal scores.
    seed: u64,
    /// Number of rounds at each recorded stage.
    stages: Vec<usize>,
    /// Sizes by pair of classes: `by_pair[stage][class pushed up * classes + class pushed down]`.
    by_pair: Vec<Vec<f64>>,
    /// Sizes by range of ranks: `by_rank[stage][range]`.
    by_rank: Vec<Vec<f64>>,
}

impl<'a> LambdaRecorder<'a> {
    /// Starts with the objective of a model; the reason if it has no lambdas of pairs. `seed` draws
    /// the sample of queries.
    pub fn new(
        model: &Model,
        data: &'a Dataset,
        classes: Classes,
        seed: u64,
    ) -> Result<ReportPart<LambdaRecorder<'a>>, ReportError> {
        let spec = &model.header().objective;
        if let Some(weights) = LabelWeights::of_learner(&model.header().learner) {
            return Ok(Err(OmissionReason::SeveralLabels { labels: weights.to_string() }));
        }
        let Some(pair_sizes) = PairSizes::of(spec, data)? else {
            return Ok(Err(without_lambdas(model)));
        };
        let queries = sample(data, &pair_sizes, seed);
        if queries.is_empty() {
            return Ok(Err(OmissionReason::NoUsableQuery));
        }
        Ok(Ok(LambdaRecorder {
            data,
            pair_sizes,
            spec: spec.clone(),
            preferences: Preferences::new(data),
            classes,
            queries,
            seed: model.header().seed,
            stages: Vec::new(),
            by_pair: Vec::new(),
            by_rank: Vec::new(),
        }))
    }

    /// The stages to compute: a selection that includes the first and the last.
    pub fn selected_stages(stages: &Stages) -> Vec<usize> {
        let (numbers, count) = (&stages.numbers, stages.numbers.len());
        match count <= STAGES {
            true => numbers.clone(),
            false => (0..STAGES).map(|i| numbers[i * (count - 1) / (STAGES - 1)]).collect(),
        }
    }

    /// Records a stage; `scores` are those of all rows of the data.
    pub fn add(&mut self, stage: usize, scores: &[f64]) -> Result<(), ReportError> {
        let class_pairs = self.classes.len() * self.classes.len();
        let query_sizes: Vec<(Vec<f64>, Vec<f64>)> = self
            .queries
            .par_iter()
            .map_init(ObjectiveBuffers::default, |buffers, query| {
                self.query(*query, scores, buffers)
            })
            .collect::<Result<_, LearnError>>()?;
        let (mut by_pair, mut by_rank) = (vec![0.0; class_pairs], vec![0.0; RANGES.len()]);
        for (query_by_pair, query_by_rank) in &query_sizes {
            by_pair.iter_mut().zip(query_by_pair).for_each(|(sum, size)| *sum += size);
            by_rank.iter_mut().zip(query_by_rank).for_each(|(sum, size)| *sum += size);
        }
        let queries = self.queries.len() as f64;
        by_pair.iter_mut().chain(&mut by_rank).for_each(|sum| *sum /= queries);
        self.stages.push(stage);
        self.by_pair.push(by_pair);
        self.by_rank.push(by_rank);
        Ok(())
    }

    /// The sizes of one query by pair of classes and by range of ranks.
    fn query(
        &self,
        query: usize,
        scores: &[f64],
        buffers: &mut ObjectiveBuffers,
    ) -> Result<(Vec<f64>, Vec<f64>), LearnError> {
        let (rows, labels) = (self.data.query_rows(query), self.data.query(query).labels);
        let weights = self.data.query_weights().and_then(|weights| weights.get(query));
        let weight = weights.map_or(1.0, |weight| f64::from(*weight));
        let view = QueryView {
            query,
            labels,
            scores: &scores[rows.clone()],
            weights: self.data.row_weights().map_or(&[], |weights| &weights[rows]),
            pairs: self.preferences.explicit_pairs(query),
            seed: self.seed,
            click_weights: None,
            kept_labels: None,
        };
        let classes: Vec<usize> = labels.iter().map(|label| self.classes.class(*label)).collect();
        let width = self.classes.len();
        let (mut by_pair, mut by_rank) = (vec![0.0; width * width], vec![0.0; RANGES.len()]);
        self.pair_sizes.visit(&view, buffers, &mut |pair| {
            let (up, down) = (pair.pushed_up, pair.pushed_down);
            by_pair[classes[up.document] * width + classes[down.document]] += weight * pair.size;
            by_rank[rank_range(up.rank.min(down.rank) + 1)] += weight * pair.size;
        })?;
        Ok((by_pair, by_rank))
    }

    /// The recorded sizes.
    pub fn finish(self) -> Lambdas {
        let names = &self.classes.names;
        // A range of labels can have pairs within it.
        let name = |(over, under): (&String, &String)| match over == under {
            true => format!("among {over}"),
            false => format!("{over} over {under}"),
        };
        let all = names.iter().flat_map(|over| names.iter().map(move |under| (over, under)));
        let by_pair = LambdaSizes { names: all.map(name).collect(), sizes: self.by_pair };
        let ranges = RANGES.map(str::to_owned).to_vec();
        let by_rank = LambdaSizes { names: ranges, sizes: self.by_rank };
        Lambdas {
            objective: self.spec,
            queries: self.queries.len(),
            of_queries: self.data.queries(),
            stages: self.stages,
            by_pair: by_pair.condensed(PAIRS, "other pairs"),
            // As many as there are, so that none is merged.
            by_rank: by_rank.condensed(RANGES.len(), ""),
        }
    }
}

/// The reason why a model has no lambdas of pairs.
fn without_lambdas(model: &Model) -> OmissionReason {
    let header = model.header();
    let name = header.learner.split(['(', ' ']).next().unwrap_or("");
    match (name, header.objective.as_str()) {
        ("", _) | (_, "") => OmissionReason::UnknownObjective,
        (learner, objective) => OmissionReason::NoPairObjective {
            learner: learner.to_owned(),
            objective: objective.to_owned(),
        },
    }
}

/// Queries in a seeded random order, as many as fit the budget, then sorted in the data's order.
fn sample(data: &Dataset, pair_sizes: &PairSizes, seed: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..data.queries()).collect();
    Random::new(seed, QUERY_STREAM).shuffle(&mut order);
    let (mut chosen, mut budget_left) = (Vec::new(), BUDGET);
    for query in order {
        let documents = data.query_rows(query).len();
        let cost = pair_sizes.cost(documents);
        if documents >= 2 && cost <= budget_left && chosen.len() < QUERIES {
            budget_left -= cost;
            chosen.push(query);
        }
    }
    chosen.sort_unstable();
    chosen
}

/// The index of the range that contains a rank; ranks count from 1.
fn rank_range(rank: usize) -> usize {
    RANGE_ENDS.partition_point(|end| *end < rank)
}

impl Lambdas {
    /// The section: shares and sizes by pair of labels and by rank. `data` is the name of the data.
    pub(super) fn section(&self, stages: &Stages, data: &str) -> Section {
        let sample = match self.queries == self.of_queries {
            true if self.of_queries == 1 => format!("The only query of {data} is used."),
            true => format!("All {} queries of {data} are used.", self.of_queries),
            false => format!(
                "Queries of {data} that are used: {} of {}, drawn at random with the seed.",
                self.queries, self.of_queries
            ),
        };
        let text = format!(
            "Each pair of documents with different labels moves the better document up and the \
             worse one down by the lambda of the pair; a document's lambda is the sum over its \
             pairs. The plots add up the absolute lambdas of the objective {}, grouped by the \
             labels or by the ranks of the two documents.",
            self.objective
        );
        let example = self.by_pair.names.first().map_or("1 over 0", String::as_str);
        let about_pairs = format!(
            "\"{example}\" stands for all pairs of a document with the first label and one with \
             the second."
        );
        let about_ranks = "A pair is counted at the better-ranked of its two documents.";
        let mut blocks = vec![PageBlock::Text(text)];
        for (id, category, sizes, about) in [
            ("lambda-pair", "pair of labels", &self.by_pair, about_pairs.as_str()),
            ("lambda-rank", "rank", &self.by_rank, about_ranks),
        ] {
            let caption = format!("{about} {sample}");
            let charts = self.charts(stages, (id, category), sizes, &caption);
            blocks.extend(charts.map(PageBlock::Chart));
        }
        Section { id: "lambdas".into(), title: "Lambdas".into(), blocks }
    }

    /// The shares and the sizes by category; against the stages, or as bars if there is only one.
    fn charts(
        &self,
        stages: &Stages,
        (id, category): (&str, &str),
        sizes: &LambdaSizes,
        caption: &str,
    ) -> [Chart; 2] {
        let legend_name = |name: &String| match id {
            "lambda-rank" => format!("rank {name}"),
            _ => name.clone(),
        };
        let series = |values: &[Vec<f64>]| -> Vec<Series> {
            let of_category = |(c, name): (usize, &String)| {
                let point = |(stage, row): (&usize, &Vec<f64>)| (*stage as f64, row[c]);
                let points = self.stages.iter().zip(values).map(point).collect();
                Series { name: legend_name(name), points, ..Series::default() }
            };
            sizes.names.iter().enumerate().map(of_category).collect()
        };
        let bars = |values: &[Vec<f64>]| {
            Body::Bars(Bars {
                categories: sizes.names.iter().map(legend_name).collect(),
                series: vec![BarSeries {
                    values: values.last().cloned().unwrap_or_default(),
                    ..BarSeries::default()
                }],
                grouping: Grouping::Beside,
                horizontal: true,
            })
        };
        let shares = sizes.shares();
        let (share, size) = match self.stages.len() > 1 {
            true => (Body::Stack(series(&shares)), Body::Lines(series(&sizes.sizes))),
            false => (bars(&shares), bars(&sizes.sizes)),
        };
        let x_label = match self.stages.len() > 1 {
            true => stages.axis(),
            false => category.to_owned(),
        };
        let chart = |kind: &str, title: String, y: Axis, body: Body| Chart {
            id: format!("{id}-{kind}"),
            title,
            caption: caption.to_owned(),
            x: Axis { label: x_label.clone(), ..Axis::default() },
            y,
            body,
        };
        let share_axis = Axis {
            label: "share of all lambdas".into(),
            range: (self.stages.len() > 1).then_some((0.0, 1.0)),
            ..Axis::default()
        };
        let size_axis =
            Axis { label: "sum of |lambda|, mean over queries".into(), ..Axis::default() };
        [
            chart("share", format!("Share of lambdas by {category}"), share_axis, share),
            chart("size", format!("Size of lambdas by {category}"), size_axis, size),
        ]
    }
}

impl Serialize for LambdaSizes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct LambdaChart<'a> {
            names: &'a [String],
            sizes: &'a [Vec<f64>],
            shares: Vec<Vec<f64>>,
        }
        LambdaChart { names: &self.names, sizes: &self.sizes, shares: self.shares() }
            .serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::training::tests::{constant_model, lists};

    fn lambdas(objective: &str, labels: &[&[f64]], scores: &[f64]) -> Lambdas {
        let data = lists(labels);
        let model = constant_model(objective);
        let classes = Classes::of(data.labels());
        let mut recorder = LambdaRecorder::new(&model, &data, classes, 1).unwrap().unwrap();
        recorder.add(0, scores).unwrap();
        recorder.finish()
    }

    fn near(found: &[f64], expected: &[f64]) {
        assert_eq!(found.len(), expected.len(), "{found:?}");
        for (f, e) in found.iter().zip(expected) {
            assert!((f - e).abs() < 1e-12, "{found:?} and not {expected:?}");
        }
    }

    /// Labels 2, 1, 0 with scores 0, ln 2, ln 4: the worst order. A pair whose scores are ln 2 the
    /// wrong way round has rho = 1 / (1 + 1/2) = 2/3, one that is ln 4 apart 1 / (1 + 1/4) = 4/5.
    #[test]
    fn pairs_of_three_documents_equal_those_computed_by_hand() {
        let scores = [0.0, 2.0_f64.ln(), 4.0_f64.ln()];
        let found = lambdas("pair-logistic", &[&[2.0, 1.0, 0.0]], &scores);
        assert_eq!(found.by_pair.names, ["1 over 0", "2 over 0", "2 over 1"]);
        near(&found.by_pair.sizes[0], &[2.0 / 3.0, 0.8, 2.0 / 3.0]);
        let all = 4.0 / 3.0 + 0.8;
        near(&found.by_pair.shares()[0], &[2.0 / 3.0 / all, 0.8 / all, 2.0 / 3.0 / all]);
        // The document at rank 1 (label 0) is in two pairs; the third pair has the ranks 2 and 3.
        assert_eq!(found.by_rank.names, ["1", "2"]);
        near(&found.by_rank.sizes[0], &[2.0 / 3.0 + 0.8, 2.0 / 3.0]);
    }

    /// The same times |delta NDCG|: gains 3, 1, 0, discounts 1, 1/log2(3), 1/2, ideal DCG
    /// 3 + 1/log2(3).
    #[test]
    fn lambdas_are_pairs_times_the_change_of_the_metric() {
        let scores = [0.0, 2.0_f64.ln(), 4.0_f64.ln()];
        let unnormalised = "lambda(metric=ndcg, norm_gap=false, norm_query=false)";
        let found = lambdas(unnormalised, &[&[2.0, 1.0, 0.0]], &scores);
        let second = 1.0 / 3.0_f64.log2();
        let ideal = 3.0 + second;
        let one_zero = (1.0 - second) / ideal * (2.0 / 3.0);
        let two_zero = 3.0 * 0.5 / ideal * 0.8;
        let two_one = 2.0 * (second - 0.5) / ideal * (2.0 / 3.0);
        near(&found.by_pair.sizes[0], &[one_zero, two_zero, two_one]);
        near(&found.by_rank.sizes[0], &[one_zero + two_zero, two_one]);
    }

    #[test]
    fn sizes_are_means_over_queries_and_equal_labels_add_nothing() {
        let found = lambdas("pair-logistic", &[&[1.0, 0.0], &[1.0, 1.0]], &[0.0; 4]);
        assert_eq!(found.by_pair.names, ["1 over 0"]);
        // rho is 1/2 for equal scores; the mean over two queries.
        near(&found.by_pair.sizes[0], &[0.25]);
        assert_eq!((found.queries, found.of_queries), (2, 2));
    }

    #[test]
    fn objectives_without_pairs_give_a_reason() {
        let data = lists(&[&[1.0, 0.0]]);
        for objective in ["squared", "", "binary:logistic"] {
            let model = constant_model(objective);
            let classes = Classes::of(data.labels());
            let recorder = LambdaRecorder::new(&model, &data, classes, 1).unwrap();
            let reason = recorder.unwrap_err().to_string();
            assert!(reason.starts_with("This part is left out: "), "{objective}");
        }
    }

    #[test]
    fn small_categories_are_merged_and_empty_ones_removed() {
        let names = ["a", "b", "c", "d"].map(String::from).to_vec();
        let sizes =
            LambdaSizes { names, sizes: vec![vec![1.0, 0.0, 5.0, 2.0], vec![1.0, 0.0, 1.0, 2.0]] };
        let found = sizes.condensed(2, "others");
        assert_eq!(found.names, ["c", "d", "others"]);
        assert_eq!(found.sizes, [[5.0, 2.0, 1.0], [1.0, 2.0, 1.0]]);
    }

    #[test]
    fn each_rank_is_in_its_range() {
        let name = |rank| RANGES[rank_range(rank)];
        assert_eq!([1, 2, 3, 4, 5, 6, 10].map(name), ["1", "2", "3", "4-5", "4-5", "6-10", "6-10"]);
        assert_eq!([11, 20, 21, 500].map(name), ["11-20", "11-20", RANGES[6], RANGES[6]]);
    }
}
