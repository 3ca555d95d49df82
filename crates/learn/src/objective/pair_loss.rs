//! Losses of pairs that a learner minimises by a method of its own, and that boosting does not have
//! as an objective. A model's header names them as it names objectives.
//!
//! m is the margin of a pair: the score of the better document minus the score of the worse one.
//! The file of a loss declares it; [`PAIR_LOSSES`] lists all.

use crate::ensemble::PAIR_EXPONENTIAL;
use crate::linear::{PAIR_HINGE, PAIR_SQUARED_HINGE};

/// The declaration of a loss of pairs.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct PairLossDef {
    /// The name, as a model's header has it.
    pub name: &'static str,
    /// The absolute derivative of the loss by the margin m: how strongly the pair is pushed apart.
    pub slope: fn(f64) -> f64,
}

impl PairLossDef {
    /// A loss of this name, with this absolute derivative by the margin.
    pub(crate) const fn new(name: &'static str, slope: fn(f64) -> f64) -> Self {
        Self { name, slope }
    }
}

/// All losses of pairs that are no objectives of boosting.
pub static PAIR_LOSSES: &[&PairLossDef] = &[&PAIR_HINGE, &PAIR_SQUARED_HINGE, &PAIR_EXPONENTIAL];

/// The loss of this name; `None` if there is none.
///
/// ```
/// use rankwright_learn::objective::find_pair_loss;
///
/// let hinge = find_pair_loss("pair-hinge").unwrap();
/// assert_eq!([0.5, 1.5].map(hinge.slope), [1.0, 0.0]);
/// assert!(find_pair_loss("lambda").is_none());
/// ```
pub fn find_pair_loss(name: &str) -> Option<&'static PairLossDef> {
    PAIR_LOSSES.iter().copied().find(|def| def.name == name)
}

#[cfg(test)]
mod tests {
    use rankwright_spec::Spec;

    use super::*;
    use crate::LearnerSpec;

    #[test]
    fn headers_of_learners_of_pairs_name_these_losses() {
        let name = |learner: &str| {
            let objective = LearnerSpec::parse(learner).unwrap().objective();
            Spec::parse(&objective).unwrap().name
        };
        for (learner, loss) in [
            ("ranksvm(loss=hinge)", &PAIR_HINGE),
            ("ranksvm(loss=squared-hinge)", &PAIR_SQUARED_HINGE),
            ("rankboost", &PAIR_EXPONENTIAL),
        ] {
            assert_eq!(name(learner), loss.name, "{learner}");
            assert!(find_pair_loss(loss.name).is_some());
        }
    }
}
