//! Labels by rank: the share of each label at each rank, and the mean rank of each label, stage by
//! stage. A stage is the model after a number of rounds; a class is a label, or a range of labels
//! if there are many.
//!
//! Documents are ranked as in training: by score, and equal scores by a seeded hash, so that a list
//! of equal scores is in random order. In the shares every query counts once at each of its ranks;
//! in the mean ranks every document counts once. Cost O(n log n) per stage, parallel over queries;
//! counts are whole numbers, so that they do not depend on the number of threads.

use rankwright_data::Dataset;
use rankwright_learn::objective::QueryView;
use rayon::prelude::*;
use serde::Serialize;

use super::classes::Classes;
use super::stages::{STAGES, Stages};
use crate::chart::{Axis, BarSeries, Bars, Body, Chart, Grouping, Series, SeriesColour};
use crate::error::ReportError;
use crate::page::{ChoiceControl, PageBlock, Section};

/// Number of ranks that are shown.
const RANKS: usize = 10;

/// Labels by rank at each stage.
#[derive(Debug, Clone, PartialEq)]
pub struct LabelRanks {
    /// The classes of labels.
    pub classes: Classes,
    /// Documents at each of the first ranks by class, for each stage: `counts[stage][rank][class]`.
    pub counts: Vec<Vec<Vec<u64>>>,
    /// Mean rank (from 1) of each class at each stage: `mean_ranks[stage][class]`.
    pub mean_ranks: Vec<Vec<f64>>,
}

/// Counts of one stage.
#[derive(Debug, Clone)]
struct StageCounts {
    /// Number of documents: `by_rank[rank][class]`.
    by_rank: Vec<Vec<u64>>,
    /// Sum of ranks and number of documents of each class.
    rank_sums: Vec<(u64, u64)>,
}

impl StageCounts {
    fn new(classes: usize) -> StageCounts {
        StageCounts { by_rank: vec![vec![0; classes]; RANKS], rank_sums: vec![(0, 0); classes] }
    }

    fn add(mut self, other: &StageCounts) -> StageCounts {
        let cells = self.by_rank.iter_mut().flatten().zip(other.by_rank.iter().flatten());
        cells.for_each(|(sum, count)| *sum += count);
        for (sum, (ranks, documents)) in self.rank_sums.iter_mut().zip(&other.rank_sums) {
            *sum = (sum.0 + ranks, sum.1 + documents);
        }
        self
    }
}

impl LabelRanks {
    /// Starts without a stage.
    pub fn new(classes: Classes) -> LabelRanks {
        LabelRanks { classes, counts: Vec::new(), mean_ranks: Vec::new() }
    }

    /// Counts a stage; `scores` are those of all rows of the data.
    pub fn add(&mut self, data: &Dataset, scores: &[f64], seed: u64) -> Result<(), ReportError> {
        let empty = || StageCounts::new(self.classes.len());
        let count = |query: usize| -> Result<StageCounts, ReportError> {
            let (mut found, rows) = (empty(), data.query_rows(query));
            let labels = data.query(query).labels;
            let view = QueryView { query, seed, ..QueryView::new(labels, &scores[rows]) };
            for (rank, document) in view.order()?.into_iter().enumerate() {
                let class = self.classes.class(labels[document as usize]);
                if let Some(counts) = found.by_rank.get_mut(rank) {
                    counts[class] += 1;
                }
                let (ranks, documents) = found.rank_sums[class];
                found.rank_sums[class] = (ranks + rank as u64 + 1, documents + 1);
            }
            Ok(found)
        };
        let found = (0..data.queries())
            .into_par_iter()
            .map(count)
            .try_reduce(empty, |a, b| Ok(a.add(&b)))?;
        let mean = |(ranks, documents): &(u64, u64)| *ranks as f64 / *documents as f64;
        self.mean_ranks.push(found.rank_sums.iter().map(mean).collect());
        self.counts.push(found.by_rank);
        Ok(())
    }

    /// The share of each class at each rank of a stage; ranks that no list reaches are left out.
    pub fn shares(&self, stage: usize) -> Vec<Vec<f64>> {
        let ranks = self.counts.get(stage).into_iter().flatten();
        let share = |counts: &Vec<u64>| -> Option<Vec<f64>> {
            let all: u64 = counts.iter().sum();
            (all > 0).then(|| counts.iter().map(|count| *count as f64 / all as f64).collect())
        };
        ranks.map_while(share).collect()
    }

    /// The section with its charts; `best` is the best number of rounds on validation data.
    pub(super) fn section(&self, stages: &Stages, best: Option<usize>, data: &str) -> Section {
        let mut shown = stages.spread(STAGES);
        shown.extend(best.map(|rounds| stages.nearest(rounds)));
        shown.sort_unstable();
        shown.dedup();
        let group = |(stage, number): (usize, &usize)| {
            let mut name = stages.name(*number);
            if best.map(|best| stages.nearest(best)) == Some(*number) && stages.has_earlier_stages {
                name.push_str(" (best)");
            }
            (name.clone(), vec![PageBlock::Chart(self.shares_chart(stage, *number, &name, data))])
        };
        let mut blocks = vec![PageBlock::Text(
            "During training relevant documents move up, so that high labels become more frequent at \
             the first ranks."
                .to_owned(),
        )];
        let shown = stages.numbers.iter().enumerate().filter(|(_, number)| shown.contains(number));
        let mut groups: Vec<(String, Vec<PageBlock>)> = shown.map(group).collect();
        match groups.len() {
            1 => blocks.extend(groups.remove(0).1),
            _ => {
                let (id, label) = ("labels-stage".to_owned(), "Stage".to_owned());
                blocks.push(PageBlock::Choice {
                    id,
                    label,
                    groups,
                    control: ChoiceControl::Slider,
                });
            }
        }
        if stages.has_earlier_stages {
            blocks.push(PageBlock::Chart(self.mean_chart(stages, data)));
        }
        Section { id: "labels".into(), title: "Labels by rank".into(), blocks }
    }

    /// The share of each label at each rank. `stage` is the index of a stage, `number` its number
    /// of rounds, `name` its name.
    fn shares_chart(&self, stage: usize, number: usize, name: &str, data: &str) -> Chart {
        let shares = self.shares(stage);
        let series = |(class, name): (usize, &String)| BarSeries {
            name: format!("label {name}"),
            values: shares.iter().map(|rank| rank[class]).collect(),
            colour: self.colour(class),
            ..BarSeries::default()
        };
        let bars = Bars {
            categories: (1..=shares.len()).map(|rank| rank.to_string()).collect(),
            // The best labels are drawn at the bottom, on the axis.
            series: self.classes.names.iter().enumerate().rev().map(series).collect(),
            grouping: Grouping::Stacked,
            horizontal: false,
        };
        Chart {
            id: format!("labels-at-{number}"),
            title: format!("Labels at the first ranks, {name}"),
            caption: format!(
                "Of the queries of {data} with a document at this rank, the share in which it has \
                 this label. Documents with equal scores are in random order."
            ),
            x: Axis { label: "rank".into(), ..Axis::default() },
            y: Axis {
                label: "share of queries".into(),
                range: Some((0.0, 1.0)),
                ..Axis::default()
            },
            body: Body::Bars(bars),
        }
    }

    /// The colour of a label: the higher the label, the stronger.
    fn colour(&self, class: usize) -> SeriesColour {
        SeriesColour::Ordinal { step: class, of: self.classes.names.len() }
    }

    /// The mean rank of each label against the stages.
    fn mean_chart(&self, stages: &Stages, data: &str) -> Chart {
        let series = |(class, name): (usize, &String)| {
            let point = |(number, means): (&usize, &Vec<f64>)| (*number as f64, means[class]);
            let points = stages.numbers.iter().zip(&self.mean_ranks).map(point).collect();
            let (name, colour) = (format!("label {name}"), self.colour(class));
            Series { name, points, colour, ..Series::default() }
        };
        Chart {
            id: "labels-mean-rank".into(),
            title: "Mean rank of each label".into(),
            caption: format!(
                "The mean rank of all documents of {data} with the same label; rank 1 is at the top."
            ),
            x: Axis { label: stages.axis(), ..Axis::default() },
            y: Axis {
                label: "mean rank".into(),
                limits: Some((1.0, f64::INFINITY)),
                reversed: true,
                ..Axis::default()
            },
            body: Body::Lines(self.classes.names.iter().enumerate().rev().map(series).collect()),
        }
    }

    /// Labels by rank as a serialisable result.
    pub(super) fn result<'a>(&'a self, stages: &'a Stages) -> LabelRanksResult<'a> {
        LabelRanksResult {
            labels: &self.classes.names,
            stages: &stages.numbers,
            shares_by_rank: (0..self.counts.len()).map(|stage| self.shares(stage)).collect(),
            mean_ranks: &self.mean_ranks,
        }
    }
}

/// Labels by rank at each stage.
#[derive(Debug, Serialize)]
pub(super) struct LabelRanksResult<'a> {
    /// Names of the labels or ranges of labels.
    labels: &'a [String],
    /// Number of rounds at each stage.
    stages: &'a [usize],
    /// The share of each label at each rank: a list of stages, of ranks, of labels.
    shares_by_rank: Vec<Vec<Vec<f64>>>,
    /// The mean rank of each label: a list of stages, of labels.
    mean_ranks: &'a [Vec<f64>],
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::training::tests::lists;

    #[test]
    fn shares_and_mean_ranks_of_two_lists() {
        // The labels by rank are 2, 0, 1 in the first query and 0, 1 in the second.
        let data = lists(&[&[2.0, 1.0, 0.0], &[1.0, 0.0]]);
        let scores = [3.0, 1.0, 2.0, 0.5, 0.7];
        let mut found = LabelRanks::new(Classes::of(data.labels()));
        found.add(&data, &scores, 1).unwrap();
        assert_eq!(
            found.shares(0),
            [vec![0.5, 0.0, 0.5], vec![0.5, 0.5, 0.0], vec![0.0, 1.0, 0.0]]
        );
        assert_eq!(found.mean_ranks[0], [1.5, 2.5, 1.0]);
    }
}
