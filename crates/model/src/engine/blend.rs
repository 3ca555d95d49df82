//! A blend: the engine of each member; the scores are normalised and added by weight.
//!
//! Each member reads its features from the data's columns, matched by way of the blend's features.
//! Members of weight 0 add nothing and are not scored.

use super::{Engine, ScoreBuffers};
use crate::blend::{Normalise, add_term};

/// Engines and their weights.
#[derive(Debug)]
pub(super) struct BlendEngine {
    normalise: Normalise,
    members: Vec<(f64, Box<dyn Engine>)>,
}

/// Buffers of a blend: the scores of one member, and their order.
#[derive(Debug, Default)]
pub(super) struct BlendBuffers {
    scores: Vec<f64>,
    order: Vec<(f64, u32)>,
}

impl BlendEngine {
    pub(super) fn new(normalise: Normalise, members: Vec<(f64, Box<dyn Engine>)>) -> BlendEngine {
        BlendEngine { normalise, members }
    }
}

impl Engine for BlendEngine {
    fn score(
        &self,
        values: &[f32],
        columns: usize,
        scores: &mut [f64],
        buffers: &mut ScoreBuffers,
    ) {
        scores.fill(0.0);
        let BlendBuffers { scores: mut own, mut order } = std::mem::take(&mut buffers.blend);
        for (weight, engine) in &self.members {
            own.clear();
            own.resize(scores.len(), 0.0);
            engine.score(values, columns, &mut own, buffers);
            self.normalise.apply_with(&mut own, &mut order);
            for (sum, score) in scores.iter_mut().zip(&own) {
                *sum = add_term(*sum, *weight, *score);
            }
        }
        buffers.blend = BlendBuffers { scores: own, order };
    }

    fn name(&self) -> String {
        let names: Vec<String> = self.members.iter().map(|(_, engine)| engine.name()).collect();
        format!("blend of {}", if names.is_empty() { "nothing".into() } else { names.join(", ") })
    }
}
