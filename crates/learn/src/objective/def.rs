//! The declaration of an objective: name, texts and parameters, from which specs are read and
//! documentation is generated.

use std::fmt::{self, Debug};

use rankwright_spec::{
    Conflict, ParamDef, ParamGroup, Spec, SpecError, check_params, read_spec, write_spec,
};
use serde::{Serialize, Serializer};

use super::{OBJECTIVES, Objective};

/// The parameters of an objective: a struct that `params!` declares in the objective's file.
pub trait ObjectiveParams: ParamGroup + Default + Debug + Send + Sync {
    /// The declaration.
    const DEF: &'static ObjectiveDef;

    /// Builds the objective; the ranges of its parameters are checked already.
    fn build(&self) -> Result<Box<dyn Objective>, SpecError>;

    /// The objective as a spec. Parameters with their default value are left out, except the
    /// metric, if the objective has one.
    fn spec(&self) -> Spec {
        let mut spec = write_spec(Self::DEF.name, self);
        if spec.get("metric").is_none()
            && let Some(metric) = self.text("metric")
        {
            spec.args.insert(0, ("metric".to_owned(), metric));
        }
        spec
    }

    /// Checks the parameters, then builds the objective.
    fn checked(&self) -> Result<Box<dyn Objective>, SpecError> {
        check_params(self, Self::DEF.name)?;
        self.build()
    }
}

/// Accuracy of the hessian of an objective.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum HessianKind {
    /// The second derivative itself (with order, weights and thresholds fixed).
    Exact,
    /// A bound or an estimate of the second derivative.
    Approximate,
}

/// Reads the parameters of an objective and builds it; also returns the spec in canonical form.
type ReadSpec = fn(&Spec) -> Result<(Box<dyn Objective>, Spec), SpecError>;

/// The declaration of an objective. [`OBJECTIVES`] lists all of them.
///
/// It serialises to name, help, example, accuracy of the hessian, whether it learns from preference
/// pairs, and parameters.
#[derive(Clone, Copy)]
pub struct ObjectiveDef {
    /// Name in specs.
    pub name: &'static str,
    /// One sentence: the loss that is minimised.
    pub help: &'static str,
    /// A spec that works, with the most useful parameters.
    pub example: &'static str,
    /// Accuracy of its hessian.
    pub hessian: HessianKind,
    /// Whether it can learn from preference pairs.
    pub preferences: bool,
    /// The parameters; [`ObjectiveDef::of`] fills it in.
    #[doc(hidden)]
    pub param_defs: fn() -> Vec<ParamDef>,
    /// The reader of specs; [`ObjectiveDef::of`] fills it in.
    #[doc(hidden)]
    pub read_spec: ReadSpec,
}

impl ObjectiveDef {
    /// The declaration with the parameters of an objective; name and texts are to be filled in.
    pub const fn of<P: ObjectiveParams>() -> Self {
        Self {
            name: "",
            help: "",
            example: "",
            hessian: HessianKind::Exact,
            preferences: false,
            param_defs: || P::default().defs(),
            read_spec: |spec| {
                let params = read_spec::<P>(spec)?;
                Ok((params.build()?, params.spec()))
            },
        }
    }

    /// The parameters.
    pub fn params(&self) -> Vec<ParamDef> {
        (self.param_defs)()
    }
}

impl Debug for ObjectiveDef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ObjectiveDef").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Serialize for ObjectiveDef {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct SerializedObjective {
            name: &'static str,
            help: &'static str,
            example: &'static str,
            hessian: HessianKind,
            preferences: bool,
            parameters: Vec<ParamDef>,
        }
        let Self { name, help, example, hessian, preferences, .. } = *self;
        let parameters = self.params();
        SerializedObjective { name, help, example, hessian, preferences, parameters }
            .serialize(serializer)
    }
}

/// The declaration of the objective with this name; the error lists the known names.
///
/// ```
/// use rankwright_learn::objective::find_objective;
///
/// assert!(find_objective("lambda")?.preferences);
/// assert!(find_objective("lamda").is_err());
/// # Ok::<(), rankwright_spec::SpecError>(())
/// ```
pub fn find_objective(name: &str) -> Result<&'static ObjectiveDef, SpecError> {
    OBJECTIVES.iter().copied().find(|def| def.name == name).ok_or_else(|| {
        let known: Vec<&str> = OBJECTIVES.iter().map(|def| def.name).collect();
        SpecError::unknown("objective", name, &known)
    })
}

/// The objective of a spec.
///
/// ```
/// use rankwright_learn::objective::parse_objective;
/// use rankwright_spec::Spec;
///
/// assert!(parse_objective(&Spec::parse("lambda(metric=err@10)")?).is_ok());
/// let error = parse_objective(&Spec::parse("lambda(metrik=err@10)")?).unwrap_err();
/// assert!(error.to_string().contains("did you mean `metric`?"));
/// # Ok::<(), rankwright_spec::SpecError>(())
/// ```
pub fn parse_objective(spec: &Spec) -> Result<Box<dyn Objective>, SpecError> {
    Ok(read_objective(spec)?.objective)
}

/// An objective that was read from a spec.
#[derive(Debug)]
pub(crate) struct ParsedObjective {
    /// The declaration.
    pub(crate) def: &'static ObjectiveDef,
    /// The objective.
    pub(crate) objective: Box<dyn Objective>,
    /// The spec in canonical form.
    pub(crate) spec: Spec,
}

/// The objective of a spec, with its declaration and its spec in canonical form.
pub(super) fn read_objective(spec: &Spec) -> Result<ParsedObjective, SpecError> {
    let def = find_objective(&spec.name)?;
    if let Some(cutoff) = spec.cutoff {
        return Err(SpecError::conflict(&spec.name, Conflict::CutoffNotAllowed { cutoff }));
    }
    let (objective, spec) = (def.read_spec)(spec)?;
    Ok(ParsedObjective { def, objective, spec })
}
