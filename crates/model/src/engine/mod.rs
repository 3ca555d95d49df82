//! Engines: models made ready to score rows, each the fastest for its kind.
//!
//! [`Scorer`] is what everybody uses; it picks the engine when it is made:
//!
//! | model | rows | engine |
//! |---|---|---|
//! | trees of at most 256 leaves | 6 and more | `network.rs`: all nodes for up to 128 rows at a time |
//! | the same, oblivious | 6 and more | the same, a bit for each level |
//! | trees of at most 256 leaves | up to 5 | `steps.rs`: eight trees at a time for each row |
//! | larger trees | any | `walk.rs`: eight rows, or eight trees for a row, at a time |
//! | line | any | `line.rs`: a sum of products |
//! | net | any | `layers.rs`: four rows at a time through sixteen outputs |
//! | blend | any | `mix.rs`: the engines of its members |
//!
//! Trees of both sizes may be mixed: they are cut into stretches, and each stretch adds to the
//! scores in turn. Whatever runs, a score is the same to the bit as that of
//! [`Model::score_row`](crate::Model::score_row): not the engine, nor the number of rows, threads or
//! the processor changes it.

mod asks;
mod kernel;
mod layers;
mod line;
mod mix;
mod network;
mod ready;
mod steps;
mod thresholds;
mod walk;

#[cfg(test)]
mod tests;

use std::fmt::Debug;

use self::kernel::Portable;
use self::layers::{Between, Layers};
use self::line::Line;
use self::mix::{Mix, Mixing};
use self::network::{Board, Network};
use self::ready::Ready;
use self::walk::Walks;
use crate::ensemble::Ensemble;
use crate::error::ModelError;
use crate::matching::Matching;
use crate::model::{Model, ModelBody};
use crate::simd::Simd;

/// Rows in a full block.
const WIDE: usize = 128;
/// Rows in a small block.
const NARROW: usize = 32;
/// Up to so many rows walk.
const FEW: usize = 5;

/// A model that reads rows of certain columns.
///
/// ```
/// use rankwright_data::{Absent, FeatureNames};
/// use rankwright_model::{Header, ModelBody, Linear, Model, ScoreBuffers};
///
/// let features = FeatureNames::Ids { first: 1, count: 2 };
/// let line = ModelBody::Linear(Linear::new(0.5, vec![1.0, 10.0])?);
/// let scorer = Model::new(Header::new(features, Absent::Zero), line)?.scorer();
/// let (mut scores, mut work) = ([0.0; 2], ScoreBuffers::default());
/// scorer.score(&[1.0, 2.0, 3.0, 4.0], &mut scores, &mut work)?;
/// assert_eq!(scores, [21.5, 43.5]);
/// # Ok::<(), rankwright_model::ModelError>(())
/// ```
#[derive(Debug)]
pub struct Scorer {
    columns: usize,
    absent: f32,
    listwise: bool,
    engine: Box<dyn Engine>,
}

/// What scores rows. Engines keep nothing between calls; what they need for a while is in [`ScoreBuffers`].
trait Engine: Debug + Send + Sync {
    /// Scores rows of `columns` values each; there is a row for each score.
    fn score(&self, values: &[f32], columns: usize, scores: &mut [f64], work: &mut ScoreBuffers);

    /// What it is, in a few words.
    fn name(&self) -> String;
}

/// Buffers of one thread. They grow to what is needed and are kept.
#[derive(Debug, Default)]
pub struct ScoreBuffers {
    wide: Board<WIDE>,
    narrow: Board<NARROW>,
    ranks: Vec<i8>,
    rows: Vec<f32>,
    between: Between,
    mixing: Mixing,
}

/// Rows that hold only some of their values.
#[derive(Debug, Clone, Copy)]
pub struct SparseRows<'a> {
    /// Where each row begins among the entries, and the number of entries at the end.
    pub starts: &'a [usize],
    /// The column of each entry.
    pub columns: &'a [u32],
    /// The value of each entry.
    pub values: &'a [f32],
}

impl Scorer {
    /// Makes a model ready for the columns that it is matched with; `columns` is their number.
    pub(crate) fn new(model: &Model, matching: &Matching, columns: usize, simd: Simd) -> Scorer {
        Scorer {
            columns,
            absent: matching.absent(),
            listwise: model.is_listwise(),
            engine: engine_of(model, matching, simd),
        }
    }

    /// Number of values in a row.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The engine in a few words.
    pub fn engine(&self) -> String {
        self.engine.name()
    }

    /// Whether a score depends on the other documents of its query. Each call must then be given
    /// the rows of one query, all of them and no others.
    pub fn is_listwise(&self) -> bool {
        self.listwise
    }

    /// Scores rows that stand one after another in `values`, one for each entry of `scores`: the rows
    /// of one query where the model [`is_listwise`](Scorer::is_listwise), any rows where it is not.
    /// Nothing is allocated once `work` has served a call of this size.
    pub fn score(
        &self,
        values: &[f32],
        scores: &mut [f64],
        work: &mut ScoreBuffers,
    ) -> Result<(), ModelError> {
        let wanted = scores.len().checked_mul(self.columns);
        if wanted != Some(values.len()) {
            return Err(ModelError::invalid(
                format!("{} values for {} rows", values.len(), scores.len()),
                format!("{} values for each row", self.columns),
            ));
        }
        self.engine.score(values, self.columns, scores, work);
        Ok(())
    }

    /// Scores sparse rows, which are those of one query where the model
    /// [`is_listwise`](Scorer::is_listwise); what a row does not hold is absent (0 or missing, as the
    /// model says).
    pub fn score_sparse(
        &self,
        rows: SparseRows<'_>,
        scores: &mut [f64],
        work: &mut ScoreBuffers,
    ) -> Result<(), ModelError> {
        rows.check(scores.len(), self.columns)?;
        let mut dense = std::mem::take(&mut work.rows);
        let together = if self.listwise { scores.len().max(1) } else { WIDE };
        for (block, scores) in scores.chunks_mut(together).enumerate() {
            dense.clear();
            dense.resize(scores.len() * self.columns, self.absent);
            for row in 0..scores.len() {
                let first = block * together + row;
                let entries = rows.starts[first]..rows.starts[first + 1];
                for (column, value) in
                    rows.columns[entries.clone()].iter().zip(&rows.values[entries])
                {
                    dense[row * self.columns + *column as usize] = *value;
                }
            }
            self.engine.score(&dense, self.columns, scores, work);
        }
        work.rows = dense;
        Ok(())
    }
}

/// The engine that fits a model.
fn engine_of(model: &Model, matching: &Matching, simd: Simd) -> Box<dyn Engine> {
    match model.body() {
        ModelBody::Trees(ensemble) => Box::new(Forest::new(ensemble, matching, simd)),
        ModelBody::Linear(line) => Box::new(Line::new(line, matching)),
        ModelBody::Net(net) => Box::new(Layers::new(net, matching, simd)),
        ModelBody::Blend(blend) => {
            let used = blend.members().iter().zip(model.members());
            let used =
                used.filter(|((weight, _), _)| *weight != 0.0).map(|((weight, member), own)| {
                    (*weight, engine_of(member, &own.through(matching), simd))
                });
            Box::new(Mix::new(blend.normalise(), used.collect()))
        }
    }
}

impl SparseRows<'_> {
    fn check(&self, rows: usize, columns: usize) -> Result<(), ModelError> {
        let entries = self.columns.len();
        let rising = self.starts.is_sorted() && self.starts.last().copied().unwrap_or(0) == entries;
        if self.starts.len() != rows + 1 || !rising || self.values.len() != entries {
            return Err(ModelError::invalid(
                format!("sparse rows with {} starts for {rows} rows", self.starts.len()),
                "one start more than rows, ascending, the last being the number of entries",
            ));
        }
        match self.columns.iter().find(|column| **column as usize >= columns) {
            None => Ok(()),
            Some(column) => Err(ModelError::invalid(
                format!("a value in column {column}"),
                format!("columns below {columns}"),
            )),
        }
    }
}

/// Trees: a base score, and stretches of trees that add to it in turn.
#[derive(Debug)]
struct Forest {
    base: f64,
    stretches: Vec<Stretch>,
    simd: Simd,
}

#[derive(Debug)]
enum Stretch {
    Network(Network),
    Walks(Walks),
}

impl Forest {
    fn new(ensemble: &Ensemble, matching: &Matching, simd: Simd) -> Forest {
        let trees: Vec<Ready> =
            ensemble.trees().iter().map(|tree| Ready::new(tree, matching)).collect();
        let mut stretches = Vec::new();
        let mut left = &trees[..];
        while !left.is_empty() {
            let taken = match Network::of_prefix(left) {
                Some((network, count)) => {
                    stretches.push(Stretch::Network(network));
                    count
                }
                None => {
                    let large = |tree: &&Ready| tree.values.len() > network::MOST_LEAVES;
                    let count = left.iter().take_while(large).count().max(1);
                    stretches.push(Stretch::Walks(Walks::new(&left[..count])));
                    count
                }
            };
            left = &left[taken..];
        }
        Forest { base: ensemble.base(), stretches, simd }
    }

    /// Scores a block of rows.
    fn add<const N: usize>(
        &self,
        values: &[f32],
        columns: usize,
        scores: &mut [f64],
        board: &mut Board<N>,
    ) {
        for stretch in &self.stretches {
            match stretch {
                Stretch::Walks(walks) => walks.add(values, columns, scores),
                Stretch::Network(network) => {
                    #[cfg(target_arch = "x86_64")]
                    if self.simd.avx2() {
                        // SAFETY: `Simd::avx2` has asked the processor.
                        unsafe { add_avx2(network, values, columns, scores, board) };
                        continue;
                    }
                    network.add::<Portable, N>(values, columns, scores, board);
                }
            }
        }
    }
}

impl Forest {
    /// Scores one row.
    fn add_row(&self, row: &[f32], score: &mut f64, ranks: &mut Vec<i8>) {
        for stretch in &self.stretches {
            match stretch {
                Stretch::Walks(walks) => walks.add_row(row, score),
                Stretch::Network(network) => {
                    #[cfg(target_arch = "x86_64")]
                    if self.simd.avx2() {
                        // SAFETY: `Simd::avx2` has asked the processor.
                        unsafe { add_row_avx2(network, row, score, ranks) };
                        continue;
                    }
                    network.add_row::<Portable>(row, score, ranks);
                }
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,popcnt")]
fn add_row_avx2(network: &Network, row: &[f32], score: &mut f64, ranks: &mut Vec<i8>) {
    network.add_row::<kernel::Avx2>(row, score, ranks);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,popcnt")]
fn add_avx2<const N: usize>(
    network: &Network,
    values: &[f32],
    columns: usize,
    scores: &mut [f64],
    board: &mut Board<N>,
) {
    network.add::<kernel::Avx2, N>(values, columns, scores, board);
}

impl Engine for Forest {
    fn score(&self, values: &[f32], columns: usize, scores: &mut [f64], work: &mut ScoreBuffers) {
        scores.fill(self.base);
        let mut done = 0;
        while done < scores.len() {
            let left = scores.len() - done;
            let take = if left > NARROW { left.min(WIDE) } else { left };
            let values = &values[done * columns..(done + take) * columns];
            let scores = &mut scores[done..done + take];
            if take > NARROW {
                self.add(values, columns, scores, &mut work.wide);
            } else if take > FEW {
                self.add(values, columns, scores, &mut work.narrow);
            } else {
                for (row, score) in scores.iter_mut().enumerate() {
                    let row = &values[row * columns..(row + 1) * columns];
                    self.add_row(row, score, &mut work.ranks);
                }
            }
            done += take;
        }
    }

    fn name(&self) -> String {
        let mut counts = [0_usize; 3];
        for stretch in &self.stretches {
            match stretch {
                Stretch::Network(network) if network.is_oblivious() => counts[0] += 1,
                Stretch::Network(_) => counts[1] += 1,
                Stretch::Walks(_) => counts[2] += 1,
            }
        }
        let names = ["oblivious", "select network", "walk"];
        let used = names.iter().zip(counts).filter(|(_, count)| *count > 0);
        let used: Vec<&str> = used.map(|(name, _)| *name).collect();
        if used.is_empty() { "constant".to_owned() } else { used.join(" + ") }
    }
}
