//! Boosted trees on an objective that a program implements, as a learner: it is trained,
//! cross-validated and tuned as any other. A spec cannot name it, since its objective is code.

use std::fmt;
use std::sync::Arc;

use rankwright_spec::{Conflict, ParamGroup, Spec, SpecError, check_params, read_spec, write_spec};

use super::{TREE_INPUTS, TREE_SEARCH_SPACE};
use crate::boost::Booster;
use crate::boost::trainer::BoostTrainer;
use crate::learner::{AcceptedInputs, Learner, LearnerDef, Tuning};
use crate::objective::Objective;
use crate::trainer::Trainer;

/// The function that makes the objective of a training.
type MakeObjective = dyn Fn() -> Box<dyn Objective> + Send + Sync;

/// Boosted trees on an objective of the caller; [`Booster::objective`] makes one.
///
/// ```
/// use rankwright_data::generate::LetorOptions;
/// use rankwright_learn::objective::Squared;
/// use rankwright_learn::prelude::*;
///
/// let data = LetorOptions { queries: 20, documents: 20, seed: 1 }.generate()?;
/// let learner = Booster::new().trees(5).leaves(7).objective("my-loss", || Squared);
/// let result = learner.fit(&data)?;
/// assert_eq!(result.model.header().objective, "my-loss");
/// let learner = LearnerSpec::new(learner)?;
/// let folds = cross_validate(&learner, &data, &CvOptions::new(vec![learner.measure()?]).folds(2))?;
/// assert_eq!(folds.folds.len(), 2);
/// # Ok::<(), rankwright_learn::LearnError>(())
/// ```
#[derive(Clone)]
pub struct ObjectiveBooster {
    params: Booster,
    /// The name of the objective, for the model's header.
    objective: String,
    make: Arc<MakeObjective>,
    accepts_pairs: bool,
}

impl Booster {
    /// A learner of boosted trees on an objective that `make` makes, anew for every training;
    /// `name` is its name in the header of models.
    pub fn objective<O: Objective + 'static>(
        self,
        name: impl Into<String>,
        make: impl Fn() -> O + Send + Sync + 'static,
    ) -> ObjectiveBooster {
        let make = Arc::new(move || Box::new(make()) as Box<dyn Objective>);
        ObjectiveBooster { params: self, objective: name.into(), make, accepts_pairs: false }
    }
}

impl ObjectiveBooster {
    /// Sets whether the objective learns from the preference pairs of a query; otherwise data with
    /// pairs is rejected.
    #[must_use]
    pub fn accepts_pairs(mut self, accepts: bool) -> Self {
        self.accepts_pairs = accepts;
        self
    }
}

impl fmt::Debug for ObjectiveBooster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { params, objective, accepts_pairs, .. } = self;
        f.debug_struct("ObjectiveBooster")
            .field("params", params)
            .field("objective", objective)
            .field("accepts_pairs", accepts_pairs)
            .finish_non_exhaustive()
    }
}

/// The declaration of the learner; it is in no list, as a spec cannot name it.
pub(crate) static BOOSTER: LearnerDef = LearnerDef {
    name: "booster",
    help: "Boosted trees on an objective that a program implements.",
    example: "booster(trees=200, leaves=31)",
    // Pairs only with an objective that learns from them.
    accepts: AcceptedInputs { pairs: true, ..TREE_INPUTS },
    tuning: Tuning::of_trees(&[TREE_SEARCH_SPACE]),
    param_defs: || Booster::default().defs(),
    read_spec: |_| {
        let conflict = Conflict::NotSupported {
            setting: "a spec".to_owned(),
            reason: "the objective is code of a program, which makes the learner itself",
        };
        Err(SpecError::conflict("booster", conflict))
    },
};

impl Learner for ObjectiveBooster {
    fn def(&self) -> &'static LearnerDef {
        &BOOSTER
    }

    fn params(&self) -> &dyn ParamGroup {
        &self.params
    }

    fn spec(&self) -> Spec {
        write_spec(BOOSTER.name, &self.params)
    }

    fn trainer(&self) -> Result<Box<dyn Trainer>, SpecError> {
        check_params(&self.params, BOOSTER.name)?;
        let objective = (self.make)();
        let Booster { boost, tree, newton } = &self.params;
        let trainer = BoostTrainer::of_objective(&BOOSTER, boost, tree, objective, &self.objective);
        Ok(Box::new(trainer.newton(newton).accepting_pairs(self.accepts_pairs)))
    }

    fn with_spec(&self, spec: &Spec) -> Result<Arc<dyn Learner>, SpecError> {
        let params = read_spec::<Booster>(spec)?;
        Ok(Arc::new(Self { params, ..self.clone() }))
    }
}
