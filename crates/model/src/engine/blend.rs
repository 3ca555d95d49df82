//! The engine of a blend: the engine of each member scores the rows; the scores are normalised and
//! added by weight.
//!
//! Each member reads its features directly from the data's columns: the matching of its features
//! with the blend's is combined with that of the blend's features with the columns.
//! Members of weight 0 add nothing and are not scored.

use super::{Engine, ScoreBuffers};
use crate::blend::{Normalise, add_term};

/// The engines of the members.
#[derive(Debug)]
pub(super) struct BlendEngine {
    members: Vec<MemberEngine>,
}

/// The engine of a member, with its weight and normalisation.
#[derive(Debug)]
pub(super) struct MemberEngine {
    pub(super) weight: f64,
    pub(super) normalise: Normalise,
    pub(super) engine: Box<dyn Engine>,
}

/// Buffers of a blend: the scores of one member, and space for sorting them.
#[derive(Debug, Default)]
pub(super) struct BlendBuffers {
    scores: Vec<f64>,
    order: Vec<(f64, u32)>,
}

impl BlendEngine {
    pub(super) fn new(members: Vec<MemberEngine>) -> BlendEngine {
        BlendEngine { members }
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
        let BlendBuffers { scores: mut member_scores, mut order } =
            std::mem::take(&mut buffers.blend);
        for MemberEngine { weight, normalise, engine } in &self.members {
            member_scores.clear();
            member_scores.resize(scores.len(), 0.0);
            engine.score(values, columns, &mut member_scores, buffers);
            normalise.apply_with(&mut member_scores, &mut order);
            for (sum, score) in scores.iter_mut().zip(&member_scores) {
                *sum = add_term(*sum, *weight, *score);
            }
        }
        buffers.blend = BlendBuffers { scores: member_scores, order };
    }

    fn name(&self) -> String {
        let names: Vec<String> = self.members.iter().map(|member| member.engine.name()).collect();
        format!("blend of {}", if names.is_empty() { "nothing".into() } else { names.join(", ") })
    }
}
