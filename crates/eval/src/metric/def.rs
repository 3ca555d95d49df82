//! The declaration of a metric: [`MetricDef`] and [`MetricParams`].

use std::fmt;

use rankwright_spec::{ParamDef, ParamGroup, Spec, SpecError};
use serde::{Serialize, Serializer};

use super::presets::apply_preset;
use super::{Metric, MetricSpec};
use crate::convention::SHARED_CONVENTIONS;

/// The parameters of a metric: a struct that `param_groups!` declares in the metric's file.
///
/// ```
/// use rankwright_eval::metric::{GainOptions, MetricParams, NdcgParams};
/// use rankwright_eval::Gain;
///
/// let spec = NdcgParams::default().gain(Gain::Linear).spec(Some(10))?;
/// assert_eq!(spec.to_string(), "ndcg(gain=linear)@10");
/// # Ok::<(), rankwright_spec::SpecError>(())
/// ```
pub trait MetricParams: ParamGroup {
    /// The declaration of the metric.
    fn def(&self) -> &'static MetricDef;

    /// The metric with these parameters.
    fn build(&self, cutoff: Option<u32>) -> Box<dyn Metric>;

    /// The conventions (treatment of special cases) that only this metric has, as `key=value` in
    /// the order of the declaration.
    fn own_conventions(&self) -> Vec<String> {
        let own = self.defs().into_iter().map(|def| def.name);
        let own = own.filter(|name| *name != "preset" && !SHARED_CONVENTIONS.contains(name));
        own.filter_map(|name| Some(format!("{name}={}", self.text(name)?))).collect()
    }

    /// The lowest label that counts as relevant, if the metric compares scores with the boundary of
    /// the model that made them (a parameter `threshold` that is `auto`); `None` for other metrics.
    fn takes_boundary(&self) -> Option<f64> {
        None
    }

    /// The spec of the metric with these parameters, checked.
    fn spec(&self, cutoff: Option<u32>) -> Result<MetricSpec, SpecError> {
        let def = self.def();
        let mut spec = Spec::new(def.name);
        spec.cutoff = cutoff;
        let preset = self.text("preset").filter(|name| name != "none");
        if let Some(preset) = &preset {
            spec.args.push(("preset".to_owned(), preset.clone()));
        }
        // Only values that differ from the default, or that of the preset if it has one, are
        // written.
        let defaults = def.params_with_preset(preset.as_deref())?;
        for name in self.defs().iter().map(|def| def.name).filter(|name| *name != "preset") {
            match self.text(name) {
                Some(text) if defaults.text(name).as_ref() != Some(&text) => {
                    spec.args.push((name.to_owned(), text));
                }
                _ => {}
            }
        }
        MetricSpec::from_spec(spec)
    }
}

/// The declaration of a metric; each metric's file has one.
///
/// It serialises to its names, help, example and parameters.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct MetricDef {
    /// Name in specs.
    pub name: &'static str,
    /// Other names of the metric.
    pub aliases: &'static [&'static str],
    /// One sentence of help.
    pub help: &'static str,
    /// A valid spec with the most useful parameters.
    pub example: &'static str,
    /// Whether a cut-off `@k` may follow the name; without one the whole list counts.
    pub cutoff: bool,
    /// Whether `ties=mean` is allowed, because the metric has a formula for the exact mean over all
    /// orders of tied documents.
    pub mean_ties: bool,
    /// The parameters with their default values.
    pub(crate) params: fn() -> Box<dyn MetricParams>,
}

impl MetricDef {
    /// A declaration with these parameters; a metric's file fills in the rest.
    pub(crate) const fn of<P: MetricParams + Default + 'static>() -> Self {
        Self {
            name: "",
            aliases: &[],
            help: "",
            example: "",
            cutoff: true,
            mean_ties: false,
            params: boxed::<P>,
        }
    }

    /// The parameters, in the order in which they are printed.
    ///
    /// ```
    /// use rankwright_eval::MetricSpec;
    ///
    /// let params = MetricSpec::parse("rr")?.def().params();
    /// assert_eq!((params[1].name, params[1].default.as_deref()), ("rel", Some("1")));
    /// # Ok::<(), rankwright_spec::SpecError>(())
    /// ```
    pub fn params(&self) -> Vec<ParamDef> {
        (self.params)().defs()
    }

    /// The parameters before those of a spec are read into them: the defaults, overridden by the
    /// values of a preset.
    pub(crate) fn params_with_preset(
        &self,
        preset: Option<&str>,
    ) -> Result<Box<dyn MetricParams>, SpecError> {
        let mut params = (self.params)();
        if let Some(name) = preset {
            apply_preset(self, name, &mut *params)?;
        }
        Ok(params)
    }
}

fn boxed<P: MetricParams + Default + 'static>() -> Box<dyn MetricParams> {
    Box::new(P::default())
}

impl fmt::Debug for MetricDef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MetricDef").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Serialize for MetricDef {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct MetricDescription<'a> {
            name: &'a str,
            aliases: &'a [&'a str],
            help: &'a str,
            example: &'a str,
            cutoff: bool,
            mean_ties: bool,
            parameters: Vec<ParamDef>,
        }
        let Self { name, aliases, help, example, cutoff, mean_ties, .. } = *self;
        let parameters = self.params();
        MetricDescription { name, aliases, help, example, cutoff, mean_ties, parameters }
            .serialize(serializer)
    }
}
