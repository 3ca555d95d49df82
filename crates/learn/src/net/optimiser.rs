//! Optimisers: turn a gradient into a step.
//!
//! ```text
//! sgd     m = momentum m + g                              w -= rate m
//! adam    m = 0.9 m + 0.1 g,  v = 0.999 v + 0.001 g^2     w -= rate m^ / (sqrt(v^) + 1e-8)
//! ```
//!
//! w is a parameter and g the gradient by it. m^ = m / (1 - 0.9^t) and v^ = v / (1 - 0.999^t) in
//! step t correct the bias of the start at 0 (Kingma and Ba, 2015). Weight decay is added to the
//! gradient as decay * w under `sgd` and `adam`; under `adamw` it shrinks weights separately, by
//! rate * decay * w (Loshchilov and Hutter, 2019). Biases and norms do not decay. Each parameter is
//! updated by itself, so that the number of threads changes nothing. With a step after each pair
//! (`ranknet(update=pair)`) Adam's roots and quotients are half of the time, so its loop is
//! compiled for AVX2 too.

use rayon::prelude::*;

use super::shape::NetShape;
#[cfg(target_arch = "x86_64")]
use crate::simd::Avx2;
use crate::simd::Simd;

/// The kinds of optimiser.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OptimiserKind {
    /// Stochastic gradient descent with momentum.
    Sgd,
    /// Adam, weight decay within the gradient.
    Adam,
    /// Adam, weight decay separate from the gradient.
    AdamW,
}

/// Decay of Adam's moving mean of gradients, beta_1 in the paper, which recommends this value.
const BETA1: f32 = 0.9;
/// Decay of Adam's moving mean of squared gradients, beta_2 in the paper, with its value.
const BETA2: f32 = 0.999;
/// Added to the root of the mean square, to avoid a division by 0; the paper's value.
const EPSILON: f32 = 1e-8;
/// Number of parameters that one task updates.
const CHUNK: usize = 8192;

/// An optimiser with its state.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Optimiser {
    pub(super) method: OptimiserKind,
    pub(super) momentum: f32,
    /// Weight decay.
    pub(super) decay: f32,
    /// m: moving means of gradients (for sgd: decaying sums).
    pub(super) first: Vec<f32>,
    /// v: moving means of squared gradients; empty for sgd.
    pub(super) second: Vec<f32>,
    /// 0.9 and 0.999 to the power of the number of steps done.
    pub(super) powers: [f64; 2],
}

/// The factors of one step, the same for all parameters of a range.
#[derive(Debug, Clone, Copy)]
struct UpdateRule {
    rate: f32,
    /// Weight decay within the gradient.
    coupled_decay: f32,
    /// Weight decay separate from the gradient, times the rate.
    decoupled_decay: f32,
    momentum: f32,
    /// 1 / (1 - 0.9^t) in step t.
    first_correction: f32,
    /// 1 / (1 - 0.999^t) in step t.
    second_correction: f32,
}

impl Optimiser {
    /// An optimiser for this number of parameters, before its first step.
    pub(super) fn new(method: OptimiserKind, momentum: f32, decay: f32, parameters: usize) -> Self {
        let second_count = if method == OptimiserKind::Sgd { 0 } else { parameters };
        let (first, second) = (vec![0.0; parameters], vec![0.0; second_count]);
        Self { method, momentum, decay, first, second, powers: [1.0; 2] }
    }

    /// Moves the parameters one step against the gradient.
    pub(super) fn step(
        &mut self,
        shape: &NetShape,
        parameters: &mut [f32],
        gradient: &[f32],
        rate: f32,
    ) {
        self.powers[0] *= f64::from(BETA1);
        self.powers[1] *= f64::from(BETA2);
        let [first_correction, second_correction] =
            self.powers.map(|power| (1.0 / (1.0 - power)) as f32);
        for (range, has_decay) in shape.parts() {
            let decay = if has_decay { self.decay } else { 0.0 };
            let (coupled_decay, decoupled_decay) = if self.method == OptimiserKind::AdamW {
                (0.0, decay * rate)
            } else {
                (decay, 0.0)
            };
            let rule = UpdateRule {
                rate,
                coupled_decay,
                decoupled_decay,
                momentum: self.momentum,
                first_correction,
                second_correction,
            };
            let (w, g) = (&mut parameters[range.clone()], &gradient[range.clone()]);
            let m = &mut self.first[range.clone()];
            let chunks = w.par_chunks_mut(CHUNK).zip(g.par_chunks(CHUNK));
            let chunks = chunks.zip(m.par_chunks_mut(CHUNK));
            if self.method == OptimiserKind::Sgd {
                chunks.for_each(|((w, g), m)| rule.sgd(w, g, m));
            } else {
                let v = self.second[range].par_chunks_mut(CHUNK);
                chunks.zip(v).for_each(|(((w, g), m), v)| rule.adam(Simd::Auto, w, g, m, v));
            }
        }
    }
}

impl UpdateRule {
    /// Updates parameters w and sums m by gradients g.
    fn sgd(&self, w: &mut [f32], g: &[f32], m: &mut [f32]) {
        for ((w, g), m) in w.iter_mut().zip(g).zip(m) {
            *m = self.momentum * *m + (g + self.coupled_decay * *w);
            *w -= self.rate * *m;
        }
    }

    /// Updates parameters w and moving means m and v by gradients g.
    fn adam(&self, simd: Simd, w: &mut [f32], g: &[f32], m: &mut [f32], v: &mut [f32]) {
        #[cfg(target_arch = "x86_64")]
        if let Some(avx2) = simd.avx2() {
            // SAFETY: the proof says that the processor has AVX2.
            return unsafe { adam_avx2(avx2, self, w, g, m, v) };
        }
        let _ = simd;
        self.adam_portable(w, g, m, v);
    }

    /// The code of [`adam`](Self::adam), compiled for AVX2 and for any processor. Every parameter
    /// has the same operations in both.
    #[inline(always)]
    fn adam_portable(&self, w: &mut [f32], g: &[f32], m: &mut [f32], v: &mut [f32]) {
        for (((w, g), m), v) in w.iter_mut().zip(g).zip(m).zip(v) {
            let g = g + self.coupled_decay * *w;
            *m = BETA1 * *m + (1.0 - BETA1) * g;
            *v = BETA2 * *v + (1.0 - BETA2) * (g * g);
            let (m, v) = (*m * self.first_correction, *v * self.second_correction);
            let step = m / (v.sqrt() + EPSILON);
            *w -= self.rate * step + self.decoupled_decay * *w;
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn adam_avx2(
    _proof: Avx2,
    rule: &UpdateRule,
    w: &mut [f32],
    g: &[f32],
    m: &mut [f32],
    v: &mut [f32],
) {
    rule.adam_portable(w, g, m, v);
}

#[cfg(test)]
mod tests {
    use rankwright_model::Activation;

    use super::*;
    use crate::net::shape::HiddenNorm;

    /// A parameter of 1 after steps with these gradients, at rate 0.1 and momentum 0.9.
    fn steps(method: OptimiserKind, decay: f32, gradients: &[f32]) -> f32 {
        let shape = NetShape::new(1, &[], HiddenNorm::None, Activation::None);
        let mut optimiser = Optimiser::new(method, 0.9, decay, 1);
        let mut parameters = [1.0];
        for gradient in gradients {
            optimiser.step(&shape, &mut parameters, &[*gradient], 0.1);
        }
        parameters[0]
    }

    #[test]
    fn steps_are_those_of_the_formulas() {
        let near = |found: f32, expected: f32| {
            assert!((found - expected).abs() < 1e-6, "{found} instead of {expected}");
        };
        near(steps(OptimiserKind::Sgd, 0.0, &[2.0]), 1.0 - 0.2);
        near(steps(OptimiserKind::Sgd, 0.0, &[2.0, 1.0]), 0.8 - 0.1 * (0.9 * 2.0 + 1.0));
        near(steps(OptimiserKind::Sgd, 0.5, &[2.0]), 1.0 - 0.1 * 2.5);
        // The length of Adam's first step is the rate, for a gradient of any size.
        near(steps(OptimiserKind::Adam, 0.0, &[2.0]), 0.9);
        near(steps(OptimiserKind::Adam, 0.0, &[-0.01]), 1.1);
        // m and v after the gradients 2 and 1, corrected by 1 - 0.9^2 and 1 - 0.999^2.
        let (m, v) = ((0.9 * 0.2 + 0.1) / 0.19, (0.999 * 0.004 + 0.001) / 0.001_999_f32);
        near(steps(OptimiserKind::Adam, 0.0, &[2.0, 1.0]), 0.9 - 0.1 * m / v.sqrt());
        near(steps(OptimiserKind::AdamW, 0.5, &[2.0]), 1.0 - 0.1 - 0.1 * 0.5);
        near(steps(OptimiserKind::AdamW, 0.5, &[0.0]), 1.0 - 0.1 * 0.5);
        assert!(
            steps(OptimiserKind::Adam, 0.5, &[0.0]) < 0.91,
            "with decay as its gradient, Adam's first step has the length of the rate"
        );
    }

    #[test]
    fn every_instruction_set_gives_the_same_bits() {
        let rule = UpdateRule {
            rate: 0.01,
            coupled_decay: 0.003,
            decoupled_decay: 0.002,
            momentum: 0.0,
            first_correction: 1.7,
            second_correction: 37.0,
        };
        let numbers = |factor: f32| (0..77).map(|i| (i as f32 * factor).sin()).collect::<Vec<_>>();
        let update = |simd| {
            let (mut w, mut m, mut v) = (numbers(0.3), numbers(1.1), numbers(2.3));
            v.iter_mut().for_each(|v| *v = v.abs());
            rule.adam(simd, &mut w, &numbers(0.7), &mut m, &mut v);
            [w, m, v].concat().into_iter().map(f32::to_bits).collect::<Vec<_>>()
        };
        assert_eq!(update(Simd::Auto), update(Simd::Portable));
    }

    #[test]
    fn biases_do_not_decay() {
        let shape = NetShape::new(2, &[3], HiddenNorm::None, Activation::Relu);
        let mut parameters = vec![1.0; shape.parameter_count];
        let gradient = vec![0.0; shape.parameter_count];
        let mut optimiser = Optimiser::new(OptimiserKind::AdamW, 0.9, 0.1, shape.parameter_count);
        optimiser.step(&shape, &mut parameters, &gradient, 0.1);
        let biases = shape.layers[0].biases.clone();
        for (index, parameter) in parameters.iter().enumerate() {
            let unchanged = *parameter == 1.0;
            assert_eq!(unchanged, biases.contains(&index), "{index}");
        }
    }
}
