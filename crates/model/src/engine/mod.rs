//! Engines: models prepared to score rows, with an engine for each kind of model.
//!
//! [`Scorer`] is the public interface; it picks the engine when it is made:
//!
//! | model | rows | engine |
//! |---|---|---|
//! | trees of at most 256 leaves | 6 and more | `network.rs`: all nodes for up to 128 rows at a time |
//! | oblivious trees of at most 256 leaves | 6 and more | `network.rs`: a bit of the leaf's number for each level |
//! | trees of at most 256 leaves | up to 5 | `steps.rs`: eight trees at a time for each row |
//! | larger trees | any | `walk.rs`: eight rows, or eight trees for a row, at a time |
//! | linear | any | `linear.rs`: a sum of products |
//! | net | any | `net.rs`: four rows at a time through sixteen outputs |
//! | blend | any | `blend.rs`: the engines of its members |
//!
//! A tree is oblivious if all splits of a level make the same test. A model may have trees of both
//! sizes: its trees are cut into batches, each of which adds to the scores in turn (`forest.rs`).
//! With every engine, a score is the same to the bit as that of
//! [`Model::score_row`](crate::Model::score_row), for any number of rows and threads and on any
//! processor.

mod blend;
mod forest;
mod kernel;
mod linear;
mod net;
mod network;
mod prepared_tree;
mod rank_lookup;
mod scorer;
mod sparse;
mod split_tests;
mod steps;
mod thresholds;
mod walk;

#[cfg(test)]
mod tests;

pub use self::scorer::Scorer;
pub use self::sparse::SparseRows;

use std::fmt::Debug;

use self::blend::{BlendBuffers, BlendEngine, MemberEngine};
use self::forest::TreeBatches;
use self::linear::LinearEngine;
use self::net::{LayerBuffers, NetEngine};
use self::network::BlockBuffers;
use crate::matching::Matching;
use crate::model::{Model, ModelBody};
use crate::simd::Simd;

/// Maximum number of rows in a full block, which the select network scores together.
const FULL_BLOCK_ROWS: usize = 128;
/// Maximum number of rows in a small block, for the last rows of a call.
const SMALL_BLOCK_ROWS: usize = 32;

/// Scores rows. An engine keeps no state between calls; its temporary buffers are in
/// [`ScoreBuffers`].
trait Engine: Debug + Send + Sync {
    /// Scores rows of `columns` values each; there is a row for each score.
    fn score(&self, values: &[f32], columns: usize, scores: &mut [f64], buffers: &mut ScoreBuffers);

    /// A short description of the engine.
    fn name(&self) -> String;
}

/// Buffers of one thread for [`Scorer`]. They grow to the needed size and are kept, so that calls
/// after the first allocate nothing. Any scorer can use them, one call at a time.
#[derive(Debug, Default)]
pub struct ScoreBuffers {
    full_block: BlockBuffers<FULL_BLOCK_ROWS>,
    small_block: BlockBuffers<SMALL_BLOCK_ROWS>,
    /// The ranks of one row's values among the thresholds of their columns (`split_tests.rs`).
    ranks: Vec<i8>,
    /// Sparse rows in their dense form.
    dense_rows: Vec<f32>,
    layers: LayerBuffers,
    blend: BlendBuffers,
}

/// The engine for a model that is matched with the columns of a data set.
fn engine_of(model: &Model, matching: &Matching, simd: Simd) -> Box<dyn Engine> {
    match model.body() {
        ModelBody::Trees(ensemble) => Box::new(TreeBatches::new(ensemble, matching, simd)),
        ModelBody::Linear(linear) => Box::new(LinearEngine::new(linear, matching)),
        ModelBody::Net(net) => Box::new(NetEngine::new(net, matching, simd)),
        ModelBody::Blend(blend) => {
            let members = blend.members().iter().zip(model.member_matchings());
            let members = members.zip(blend.normalisations());
            let used = members.filter(|(((weight, _), _), _)| *weight != 0.0);
            let engines =
                used.map(|(((weight, member), member_matching), normalise)| MemberEngine {
                    weight: *weight,
                    normalise: *normalise,
                    engine: engine_of(member, &member_matching.through(matching), simd),
                });
            Box::new(BlendEngine::new(engines.collect()))
        }
    }
}
