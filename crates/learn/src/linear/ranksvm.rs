//! The ranking SVM: preferred documents should lead by a margin of 1 (Herbrich, Graepel and Obermayer
//! 1999; Joachims 2002).
//!
//! ```text
//! 1/2 |w|^2 + c * mean over preferences, by weight, of loss(s_better - s_worse)
//! ```
//!
//! with the squared hinge or the hinge (smoothed, see `loss.rs`). There is no intercept: it would
//! leave every lead as it is. (Where others write C times the sum, c is C times the number of
//! preferences.) Preferences of labels are counted (`counting.rs`), those of the data's
//! own pairs are visited one by one.

use super::counting::Sorted;
use super::loss::{At, Loss, Shape, Slopes};
use super::pairs::{self, Wanted};

/// The loss of the ranking SVM.
#[derive(Debug)]
pub(super) struct Margin {
    pub(super) wanted: Vec<Wanted>,
    /// A hinge, squared or smoothed.
    pub(super) shape: Shape,
}

/// What a query keeps.
#[derive(Debug, Default)]
pub(super) struct Memory {
    sorted: Sorted,
    bends: Vec<f64>,
}

impl Margin {
    /// The squared hinges that make up the loss.
    fn margins(&self) -> ([(f64, f64); 2], usize) {
        match self.shape {
            Shape::Hinge(width) => {
                let factor = 0.5 / width;
                ([(1.0, factor), (1.0 - width, -factor)], 2)
            }
            _ => ([(1.0, 1.0); 2], 1),
        }
    }
}

impl Loss for Margin {
    type Memory = Memory;

    fn value(&self, query: usize, at: At<'_>, memory: &mut Memory, slopes: Slopes<'_>) -> f64 {
        let (margins, count) = self.margins();
        match &self.wanted[query] {
            Wanted::Nothing => {
                slopes.scores.fill(0.0);
                0.0
            }
            Wanted::Levels(levels) => {
                memory.sorted.value(levels, &margins[..count], at.scores, slopes.scores)
            }
            Wanted::Listed(list) => {
                pairs::value(self.shape, list, at.scores, &mut memory.bends, slopes.scores)
            }
        }
    }

    fn curve(&self, query: usize, along: At<'_>, memory: &mut Memory, slopes: Slopes<'_>) {
        let (margins, count) = self.margins();
        match &self.wanted[query] {
            Wanted::Nothing => slopes.scores.fill(0.0),
            Wanted::Levels(levels) => {
                memory.sorted.curve(levels, &margins[..count], along.scores, slopes.scores);
            }
            Wanted::Listed(list) => pairs::curve(list, &memory.bends, along.scores, slopes.scores),
        }
    }

    fn widths(&self) -> &'static [f64] {
        self.shape.widths()
    }

    fn smooth(&mut self, width: f64) {
        self.shape.smooth(width);
    }
}
