//! Origin of the lambdas: the share of each pair of labels, and of each range of ranks, in the
//! lambdas, stage by stage.
//!
//! A lambda is a sum over pairs (Burges, MSR-TR-2010-82, section 3); here each pair's contribution
//! is counted by the classes and ranks of the two documents:
//!
//! ```text
//! size of (a over b) = mean over queries of   sum of |lambda_ij|   over pairs with labels a, b
//! share              = size / sum of all sizes
//! ```
//!
//! By rank a pair is counted at the better-ranked of its two documents. The objective is the
//! model's own (`pair_sizes.rs`), including normalisations and truncation; weights of queries
//! count. The sample is up to 200 queries, drawn by the seed, within a budget of pairs: a query too
//! long for the rest of the budget is skipped. Cost: O(pairs of these queries) per stage, parallel
//! over queries, summed in their order. Queries of 0 or 1 documents or of equal labels have no
//! pairs.

use rankwright_data::{Dataset, Random};
use rankwright_learn::objective::{ObjectiveBuffers, QueryView};
use rankwright_learn::{LearnError, Preferences};
use rankwright_model::Model;
use rayon::prelude::*;
use serde::{Serialize, Serializer};

use super::classes::Classes;
use super::pair_sizes::PairSizes;
use super::stages::Stages;
use super::{LeftOut, ReportPart};
use crate::chart::{Axis, BarSeries, Bars, Body, Chart, Grouping, Series};
use crate::error::ReportError;
use crate::page::{PageBlock, Section};

/// Maximum number of queries in the sample.
const QUERIES: usize = 200;
/// Budget of work over all of them, in units of an objective's cost.
const BUDGET: u64 = 4_000_000;
/// Maximum number of stages that are computed.
const STAGES: usize = 40;
/// Maximum number of pairs of labels that have their own colour.
const PAIRS: usize = 7;
/// The last rank of each range of ranks except the last range, and the names of the ranges.
const ENDS: [usize; 6] = [1, 2, 3, 5, 10, 20];
const RANKS: [&str; 7] = ["1", "2", "3", "4-5", "6-10", "11-20", "21 and below"];

/// Sizes of lambdas at the sampled stages.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Lambdas {
    /// The objective whose lambdas they are.
    pub objective: String,
    /// Number of queries in the sample.
    pub queries: usize,
    /// Number of queries in the data.
    #[serde(rename = "of_queries")]
    pub of: usize,
    /// Number of rounds at each computed stage.
    pub stages: Vec<usize>,
    /// By the labels of the two documents: `2 over 0`.
    #[serde(rename = "by_pair")]
    pub pairs: LambdaSizes,
    /// By the better of the two ranks.
    #[serde(rename = "by_rank")]
    pub ranks: LambdaSizes,
}

/// Sizes of lambdas by category, stage by stage.
#[derive(Debug, Clone, PartialEq)]
pub struct LambdaSizes {
    /// Names of the categories.
    pub names: Vec<String>,
    /// `sizes[stage][category]`.
    pub sizes: Vec<Vec<f64>>,
}

impl LambdaSizes {
    /// Each size as a share of all sizes of its stage; 0 if all are 0.
    pub fn shares(&self) -> Vec<Vec<f64>> {
        let share = |sizes: &Vec<f64>| -> Vec<f64> {
            let all: f64 = sizes.iter().sum();
            sizes.iter().map(|size| if all > 0.0 { size / all } else { 0.0 }).collect()
        };
        self.sizes.iter().map(share).collect()
    }

    /// Removes categories that are 0 at every stage, and merges all but the `most` largest.
    fn condensed(self, most: usize, rest: &str) -> LambdaSizes {
        let total = |kind: usize| self.sizes.iter().map(|sizes| sizes[kind]).sum::<f64>();
        let mut kinds: Vec<usize> = (0..self.names.len()).filter(|k| total(*k) > 0.0).collect();
        let mut others = Vec::new();
        if kinds.len() > most {
            kinds.sort_by(|a, b| total(*b).total_cmp(&total(*a)));
            others = kinds.split_off(most);
            kinds.sort_unstable();
        }
        let row = |sizes: &Vec<f64>| -> Vec<f64> {
            let kept = kinds.iter().map(|kind| sizes[*kind]);
            let other = (!others.is_empty()).then(|| others.iter().map(|k| sizes[*k]).sum());
            kept.chain(other).collect()
        };
        let other = (!others.is_empty()).then(|| rest.to_owned());
        LambdaSizes {
            sizes: self.sizes.iter().map(row).collect(),
            names: kinds.iter().map(|k| self.names[*k].clone()).chain(other).collect(),
        }
    }
}

/// Records the sizes of lambdas at each stage.
#[derive(Debug)]
pub struct LambdaRecorder<'a> {
    data: &'a Dataset,
    pair_sizes: PairSizes,
    spec: String,
    preferences: Preferences<'a>,
    classes: Classes,
    queries: Vec<usize>,
    seed: u64,
    stages: Vec<usize>,
    pairs: Vec<Vec<f64>>,
    ranks: Vec<Vec<f64>>,
}

impl<'a> LambdaRecorder<'a> {
    /// Starts with the objective of a model; a reason if it has no lambdas.
    pub fn new(
        model: &Model,
        data: &'a Dataset,
        classes: Classes,
        seed: u64,
    ) -> Result<ReportPart<LambdaRecorder<'a>>, ReportError> {
        let spec = &model.header().objective;
        let Some(pair_sizes) = PairSizes::of(spec, data)? else {
            return Ok(Err(without_lambdas(model)));
        };
        let queries = sample(data, &pair_sizes, seed);
        if queries.is_empty() {
            return Ok(Err(LeftOut::NoUsableQuery));
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
            pairs: Vec::new(),
            ranks: Vec::new(),
        }))
    }

    /// The stages to compute: a selection that includes the first and the last.
    pub fn selected_stages(stages: &Stages) -> Vec<usize> {
        let (numbers, count) = (&stages.numbers, stages.numbers.len());
        match count <= STAGES {
            true => numbers.clone(),
            false => (0..STAGES).map(|at| numbers[at * (count - 1) / (STAGES - 1)]).collect(),
        }
    }

    /// Records a stage.
    pub fn add(&mut self, stage: usize, scores: &[f64]) -> Result<(), ReportError> {
        let kinds = self.classes.len() * self.classes.len();
        let found: Vec<(Vec<f64>, Vec<f64>)> = self
            .queries
            .par_iter()
            .map_init(ObjectiveBuffers::default, |work, query| self.query(*query, scores, work))
            .collect::<Result<_, LearnError>>()?;
        let (mut pairs, mut ranks) = (vec![0.0; kinds], vec![0.0; RANKS.len()]);
        for (of_pairs, of_ranks) in &found {
            pairs.iter_mut().zip(of_pairs).for_each(|(sum, size)| *sum += size);
            ranks.iter_mut().zip(of_ranks).for_each(|(sum, size)| *sum += size);
        }
        let queries = self.queries.len() as f64;
        pairs.iter_mut().chain(&mut ranks).for_each(|sum| *sum /= queries);
        self.stages.push(stage);
        self.pairs.push(pairs);
        self.ranks.push(ranks);
        Ok(())
    }

    /// The sizes of one query by pair of classes and by range of ranks.
    fn query(
        &self,
        query: usize,
        scores: &[f64],
        work: &mut ObjectiveBuffers,
    ) -> Result<(Vec<f64>, Vec<f64>), LearnError> {
        let (rows, labels) = (self.data.query_rows(query), self.data.query(query).labels);
        let weights = self.data.query_weights().and_then(|weights| weights.get(query));
        let weight = weights.map_or(1.0, |weight| f64::from(*weight));
        let view = QueryView {
            query,
            labels,
            scores: &scores[rows.clone()],
            weights: self.data.row_weights().map_or(&[], |weights| &weights[rows]),
            pairs: self.preferences.own(query),
            seed: self.seed,
        };
        let classes: Vec<usize> = labels.iter().map(|label| self.classes.class(*label)).collect();
        let width = self.classes.len();
        let (mut pairs, mut ranks) = (vec![0.0; width * width], vec![0.0; RANKS.len()]);
        self.pair_sizes.visit(&view, work, &mut |pair| {
            pairs[classes[pair.pushed_up.0] * width + classes[pair.pushed_down.0]] +=
                weight * pair.size;
            ranks[rank_range(pair.pushed_up.1.min(pair.pushed_down.1) + 1)] += weight * pair.size;
        })?;
        Ok((pairs, ranks))
    }

    /// The recorded sizes.
    pub fn finish(self) -> Lambdas {
        let names = &self.classes.names;
        let name = |(over, under): (&String, &String)| match over == under {
            true => format!("among {over}"),
            false => format!("{over} over {under}"),
        };
        let all = names.iter().flat_map(|over| names.iter().map(move |under| (over, under)));
        let pairs = LambdaSizes { names: all.map(name).collect(), sizes: self.pairs };
        let ranks = LambdaSizes { names: RANKS.map(str::to_owned).to_vec(), sizes: self.ranks };
        Lambdas {
            objective: self.spec,
            queries: self.queries.len(),
            of: self.data.queries(),
            stages: self.stages,
            pairs: pairs.condensed(PAIRS, "other pairs"),
            ranks: ranks.condensed(RANKS.len(), ""),
        }
    }
}

/// The reason why a model has no lambdas of pairs.
fn without_lambdas(model: &Model) -> LeftOut {
    let header = model.header();
    let name = header.learner.split(['(', ' ']).next().unwrap_or("");
    match (name, header.objective.as_str()) {
        ("", _) | (_, "") => LeftOut::UnknownObjective,
        (learner, objective) => LeftOut::NoPairObjective {
            learner: learner.to_owned(),
            objective: objective.to_owned(),
        },
    }
}

/// Queries in a seeded random order, as many as fit the budget, then sorted in the data's order.
fn sample(data: &Dataset, pair_sizes: &PairSizes, seed: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..data.queries()).collect();
    Random::new(seed, 0x1a3b).shuffle(&mut order);
    let (mut chosen, mut left) = (Vec::new(), BUDGET);
    for query in order {
        let documents = data.query_rows(query).len();
        let cost = pair_sizes.cost(documents);
        if documents >= 2 && cost <= left && chosen.len() < QUERIES {
            left -= cost;
            chosen.push(query);
        }
    }
    chosen.sort_unstable();
    chosen
}

/// The index of the range that contains a rank, which counts from 1.
fn rank_range(rank: usize) -> usize {
    ENDS.partition_point(|end| *end < rank)
}

impl Lambdas {
    pub(super) fn section(&self, stages: &Stages, data: &str) -> Section {
        let seen = match self.queries == self.of {
            true if self.of == 1 => format!("The only query of {data} is used."),
            true => format!("All {} queries of {data} are used.", self.of),
            false => format!(
                "{} of the {} queries of {data} are used, drawn at random with the seed.",
                self.queries, self.of
            ),
        };
        let text = format!(
            "Each pair of documents with different labels moves the better document up and the \
             worse one down by the lambda of the pair; a document's lambda is the sum over its \
             pairs. The plots add up the absolute lambdas of the objective {}, grouped by the \
             labels or by the ranks of the two documents.",
            self.objective
        );
        let example = self.pairs.names.first().map_or("1 over 0", String::as_str);
        let by_pair = format!(
            "\"{example}\" stands for all pairs of a document with the first label and one with \
             the second."
        );
        let by_rank = "A pair is counted at the better-ranked of its two documents.";
        let mut blocks = vec![PageBlock::Text(text)];
        for (id, what, sizes, how) in [
            ("lambda-pair", "by pair of labels", &self.pairs, by_pair.as_str()),
            ("lambda-rank", "by rank", &self.ranks, by_rank),
        ] {
            let caption = format!("{how} {seen}");
            blocks.extend(self.charts(stages, (id, what), sizes, &caption).map(PageBlock::Chart));
        }
        Section { id: "lambdas".into(), title: "Lambdas".into(), blocks }
    }

    fn charts(
        &self,
        stages: &Stages,
        (id, what): (&str, &str),
        sizes: &LambdaSizes,
        caption: &str,
    ) -> [Chart; 2] {
        let named = |name: &String| match id {
            "lambda-rank" => format!("rank {name}"),
            _ => name.clone(),
        };
        let series = |values: &[Vec<f64>]| -> Vec<Series> {
            let one = |(kind, name): (usize, &String)| {
                let at = |(stage, row): (&usize, &Vec<f64>)| (*stage as f64, row[kind]);
                let points = self.stages.iter().zip(values).map(at).collect();
                Series { name: named(name), points, ..Series::default() }
            };
            sizes.names.iter().enumerate().map(one).collect()
        };
        let bars = |values: &[Vec<f64>]| {
            Body::Bars(Bars {
                categories: sizes.names.iter().map(named).collect(),
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
        let chart = |kind: &str, title: String, y: Axis, body: Body| Chart {
            id: format!("{id}-{kind}"),
            title,
            caption: caption.to_owned(),
            x: Axis { label: stages.axis(), ..Axis::default() },
            y,
            body,
        };
        let part = Axis {
            label: "share of all lambdas".into(),
            range: (self.stages.len() > 1).then_some((0.0, 1.0)),
            ..Axis::default()
        };
        let sum = Axis { label: "sum of |lambda|, mean over queries".into(), ..Axis::default() };
        [
            chart("share", format!("Share of lambdas {what}"), part, share),
            chart("size", format!("Size of lambdas {what}"), sum, size),
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
        let mut watch = LambdaRecorder::new(&model, &data, classes, 1).unwrap().unwrap();
        watch.add(0, scores).unwrap();
        watch.finish()
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
    fn pairs_of_three_documents_are_those_of_hand() {
        let scores = [0.0, 2.0_f64.ln(), 4.0_f64.ln()];
        let found = lambdas("pair-logistic", &[&[2.0, 1.0, 0.0]], &scores);
        assert_eq!(found.pairs.names, ["1 over 0", "2 over 0", "2 over 1"]);
        near(&found.pairs.sizes[0], &[2.0 / 3.0, 0.8, 2.0 / 3.0]);
        let all = 4.0 / 3.0 + 0.8;
        near(&found.pairs.shares()[0], &[2.0 / 3.0 / all, 0.8 / all, 2.0 / 3.0 / all]);
        // Rank 1 (label 0) is in two pairs, the third pair is that of ranks 2 and 3.
        assert_eq!(found.ranks.names, ["1", "2"]);
        near(&found.ranks.sizes[0], &[2.0 / 3.0 + 0.8, 2.0 / 3.0]);
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
        near(&found.pairs.sizes[0], &[one_zero, two_zero, two_one]);
        near(&found.ranks.sizes[0], &[one_zero + two_zero, two_one]);
    }

    #[test]
    fn sizes_are_means_over_queries_and_equal_labels_add_nothing() {
        let found = lambdas("pair-logistic", &[&[1.0, 0.0], &[1.0, 1.0]], &[0.0; 4]);
        assert_eq!(found.pairs.names, ["1 over 0"]);
        near(&found.pairs.sizes[0], &[0.25]);
        assert_eq!((found.queries, found.of), (2, 2));
    }

    #[test]
    fn objectives_without_pairs_give_a_reason() {
        let data = lists(&[&[1.0, 0.0]]);
        for objective in ["squared", "", "binary:logistic"] {
            let model = constant_model(objective);
            let watch = LambdaRecorder::new(&model, &data, Classes::of(data.labels()), 1).unwrap();
            let reason = watch.unwrap_err().to_string();
            assert!(reason.starts_with("Left out: "), "{objective}");
        }
    }

    #[test]
    fn small_kinds_are_put_together_and_empty_ones_left_out() {
        let names = ["a", "b", "c", "d"].map(String::from).to_vec();
        let sizes =
            LambdaSizes { names, sizes: vec![vec![1.0, 0.0, 5.0, 2.0], vec![1.0, 0.0, 1.0, 2.0]] };
        let found = sizes.condensed(2, "others");
        assert_eq!(found.names, ["c", "d", "others"]);
        assert_eq!(found.sizes, [[5.0, 2.0, 1.0], [1.0, 2.0, 1.0]]);
    }

    #[test]
    fn ranks_fall_into_their_stretches() {
        let at = |rank| RANKS[rank_range(rank)];
        assert_eq!([1, 2, 3, 4, 5, 6, 10].map(at), ["1", "2", "3", "4-5", "4-5", "6-10", "6-10"]);
        assert_eq!([11, 20, 21, 500].map(at), ["11-20", "11-20", RANKS[6], RANKS[6]]);
    }
}
