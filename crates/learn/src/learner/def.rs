//! The declaration of a learner: [`LearnerDef`] and the trait [`Learner`].

use std::fmt::{self, Debug};
use std::sync::Arc;

use rankwright_spec::{ParamDef, ParamGroup, Spec, SpecError, check_params, read_spec, write_spec};
use serde::{Serialize, Serializer};

use crate::trainer::Trainer;

/// A learner with its parameters, built by `LambdaMart::new().trees(100)` or read from a spec.
///
/// A learner is a struct that `params!` or `param_groups!` declares, a [`LearnerDef`], and a
/// function that makes a [`Trainer`] of the parameters; all three are in one file.
pub trait Learner: Debug + Send + Sync {
    /// The declaration.
    fn def(&self) -> &'static LearnerDef;

    /// The parameters.
    fn params(&self) -> &dyn ParamGroup;

    /// The spec of the learner: parameters that differ from their defaults.
    fn spec(&self) -> Spec;

    /// The same learner with the parameters of a spec.
    fn with_spec(&self, spec: &Spec) -> Result<Arc<dyn Learner>, SpecError> {
        self.def().read(spec)
    }

    /// Checks the parameters and makes a trainer of them.
    fn trainer(&self) -> Result<Box<dyn Trainer>, SpecError>;
}

/// A learner as its file declares it: parameters, declaration, and the step from checked parameters
/// to a trainer.
pub trait DeclaredLearner: ParamGroup + Default + Clone + Debug + Send + Sync + 'static {
    /// The declaration.
    const DEF: &'static LearnerDef;

    /// Makes a trainer of checked parameters.
    fn prepare(&self) -> Result<Box<dyn Trainer>, SpecError>;
}

impl<L: DeclaredLearner> Learner for L {
    fn def(&self) -> &'static LearnerDef {
        L::DEF
    }

    fn params(&self) -> &dyn ParamGroup {
        self
    }

    fn spec(&self) -> Spec {
        write_spec(L::DEF.name, self)
    }

    fn trainer(&self) -> Result<Box<dyn Trainer>, SpecError> {
        check_params(self, L::DEF.name)?;
        self.prepare()
    }
}

/// The declaration of a learner.
///
/// It serialises to name, help, example, accepted inputs, default tuning and parameters.
#[derive(Clone, Copy)]
pub struct LearnerDef {
    /// Name in a spec.
    pub name: &'static str,
    /// One sentence: what the learner learns, and its paper.
    pub help: &'static str,
    /// A spec that can be trained as it is.
    pub example: &'static str,
    /// Inputs that the learner accepts besides features and labels.
    pub accepts: AcceptedInputs,
    /// Default tuning; `None` for `linear`, whose weights are given and not learned.
    pub tuning: Option<Tuning>,
    /// The parameters; [`LearnerDef::of`] fills it in.
    #[doc(hidden)]
    pub param_defs: fn() -> Vec<ParamDef>,
    /// The reader of specs; [`LearnerDef::of`] fills it in.
    #[doc(hidden)]
    pub read_spec: fn(&Spec) -> Result<Arc<dyn Learner>, SpecError>,
}

/// Inputs that a learner accepts besides features and labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct AcceptedInputs {
    /// Preference pairs; some learners need labels too.
    pub pairs: bool,
    /// Preference pairs of documents without labels.
    pub pairs_alone: bool,
    /// A model to start from.
    pub start: bool,
    /// Validation data, for early stopping or for choosing a model.
    pub validation: bool,
    /// Missing values, treated separately rather than replaced by a value.
    pub missing: bool,
    /// Positions at which documents were shown, to correct clicks for position bias.
    pub positions: bool,
}

/// The default tuning of a learner.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Tuning {
    /// The parameters to search, each with its range, in the syntax of search spaces, such as
    /// `logint(50,1000)`.
    pub space: &'static [&'static str],
    /// The parameter that sets the number of rounds, which successive halving varies; `None` for a
    /// learner without rounds.
    pub rounds_parameter: Option<&'static str>,
    /// The range of `rounds_parameter` in a search without early stopping; `None` if that parameter
    /// is not searched.
    pub rounds_range: Option<&'static str>,
    /// The value of the parameter `stop` (early stopping: the number of rounds without an
    /// improvement on validation data after which training ends) in a search with validation data;
    /// `None` if the search does not set it.
    pub stop: Option<&'static str>,
}

impl LearnerDef {
    /// The declaration of a learner type, to be completed with name, help and example.
    pub const fn of<L: DeclaredLearner>() -> Self {
        Self {
            name: "",
            help: "",
            example: "",
            accepts: AcceptedInputs {
                pairs: false,
                pairs_alone: false,
                start: false,
                validation: false,
                missing: false,
                positions: false,
            },
            tuning: None,
            param_defs: || L::default().defs(),
            read_spec: |spec| Ok(Arc::new(read_spec::<L>(spec)?)),
        }
    }

    /// The parameters.
    pub fn params(&self) -> Vec<ParamDef> {
        (self.param_defs)()
    }

    /// The learner of a spec that names this declaration.
    pub(crate) fn read(&self, spec: &Spec) -> Result<Arc<dyn Learner>, SpecError> {
        (self.read_spec)(spec)
    }
}

impl Debug for LearnerDef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LearnerDef").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Serialize for LearnerDef {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct SerialisedLearner {
            name: &'static str,
            help: &'static str,
            example: &'static str,
            accepts: AcceptedInputs,
            tuning: Option<Tuning>,
            parameters: Vec<ParamDef>,
        }
        let Self { name, help, example, accepts, tuning, .. } = *self;
        SerialisedLearner { name, help, example, accepts, tuning, parameters: self.params() }
            .serialize(serializer)
    }
}

impl Tuning {
    /// The tuning of boosted trees.
    pub(crate) const fn of_trees(space: &'static [&'static str]) -> Option<Self> {
        Some(Self {
            space,
            rounds_parameter: Some("trees"),
            rounds_range: Some("logint(50,1000)"),
            stop: Some("50"),
        })
    }

    /// The tuning of nets, which stop early without `stop=`.
    pub(crate) const fn of_nets(space: &'static [&'static str]) -> Option<Self> {
        Some(Self {
            space,
            rounds_parameter: Some("epochs"),
            rounds_range: Some("logint(5,60)"),
            stop: None,
        })
    }

    /// The tuning of a learner without rounds to vary.
    pub(crate) const fn without_rounds(space: &'static [&'static str]) -> Option<Self> {
        Some(Self { space, rounds_parameter: None, rounds_range: None, stop: None })
    }
}
