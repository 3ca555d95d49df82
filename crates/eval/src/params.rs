//! Typed parameters out of a [`Spec`]: what is known, what was written, what a preset says.
//!
//! A component lists its parameters as [`ParamInfo`] (that list also feeds the help), checks the
//! spec once with [`Params::new`], then asks for each value by type. A value comes from the spec,
//! else from the preset, else from the component's own default.

use std::str::FromStr;

use rankwright_spec::{Spec, SpecError, nearest};

/// One parameter of a metric or learner, as the help shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParamInfo {
    /// Name in the spec.
    pub name: &'static str,
    /// One line: what it does and which values it takes.
    pub doc: &'static str,
    /// The default as text, or what takes its place.
    pub default: &'static str,
}

/// The parameters of one spec, checked against what is known.
///
/// ```
/// use rankwright_eval::{ParamInfo, Params};
/// use rankwright_spec::Spec;
///
/// const KNOWN: &[ParamInfo] =
///     &[ParamInfo { name: "leaves", doc: "leaves of a tree", default: "31" }];
/// let spec = Spec::parse("tree(leaves=7)")?;
/// let params = Params::new(&spec, KNOWN, &[])?;
/// assert_eq!(params.u32("leaves", 31)?, 7);
/// let wrong = Params::new(&Spec::parse("tree(leafs=7)")?, KNOWN, &[]).unwrap_err();
/// assert!(wrong.to_string().contains("did you mean `leaves`?"));
/// # Ok::<(), rankwright_spec::SpecError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Params<'a> {
    spec: &'a Spec,
    preset: Vec<(&'static str, &'static str)>,
}

impl<'a> Params<'a> {
    /// Checks that every key is known; `preset` holds values to use where the spec has none.
    pub fn new(
        spec: &'a Spec,
        known: &[ParamInfo],
        preset: &[(&'static str, &'static str)],
    ) -> Result<Self, SpecError> {
        for (key, _) in &spec.args {
            if !known.iter().any(|p| p.name == key) {
                let names: Vec<&str> = known.iter().map(|p| p.name).collect();
                return Err(SpecError::UnknownKey {
                    name: spec.name.clone(),
                    key: key.clone(),
                    nearest: nearest(key, &names),
                    known: names.into_iter().map(str::to_owned).collect(),
                });
            }
        }
        let preset = preset.iter().copied().filter(|(k, _)| known.iter().any(|p| p.name == *k));
        Ok(Self { spec, preset: preset.collect() })
    }

    /// The same parameters with values to use where neither the spec nor the preset has one.
    ///
    /// ```
    /// use rankwright_eval::{ParamInfo, Params};
    /// use rankwright_spec::Spec;
    ///
    /// const KNOWN: &[ParamInfo] = &[ParamInfo { name: "rate", doc: "step", default: "1" }];
    /// let spec = Spec::new("slow");
    /// let params = Params::new(&spec, KNOWN, &[])?.with_defaults(&[("rate", "0.5")]);
    /// assert_eq!(params.f64("rate", 1.0)?, 0.5);
    /// assert!(!params.is_written("rate"));
    /// # Ok::<(), rankwright_spec::SpecError>(())
    /// ```
    #[must_use]
    pub fn with_defaults(&self, defaults: &[(&'static str, &'static str)]) -> Self {
        // The last one of a key counts, so these come first.
        let preset = defaults.iter().chain(&self.preset).copied().collect();
        Self { spec: self.spec, preset }
    }

    /// The spec's name, for messages.
    pub fn name(&self) -> &str {
        &self.spec.name
    }

    /// The cut-off.
    pub fn cutoff(&self) -> Option<u32> {
        self.spec.cutoff
    }

    /// The text of a parameter: from the spec, else from the preset.
    pub fn text(&self, key: &str) -> Option<&str> {
        let preset = || self.preset.iter().rev().find(|(k, _)| *k == key).map(|(_, v)| *v);
        self.spec.get(key).or_else(preset)
    }

    /// Whether the spec itself (not a preset) has the parameter.
    pub fn is_written(&self, key: &str) -> bool {
        self.spec.get(key).is_some()
    }

    /// A finite number.
    pub fn f64(&self, key: &str, default: f64) -> Result<f64, SpecError> {
        self.f64_in(key, default, |_| true, "a finite number")
    }

    /// A finite number that `legal` accepts; `expected` says which those are.
    pub fn f64_in(
        &self,
        key: &str,
        default: f64,
        legal: impl Fn(f64) -> bool,
        expected: &str,
    ) -> Result<f64, SpecError> {
        self.parsed(key, default, |v: f64| v.is_finite() && legal(v), expected)
    }

    /// A whole number, 0 included.
    pub fn u32(&self, key: &str, default: u32) -> Result<u32, SpecError> {
        self.parsed(key, default, |_| true, "a whole number from 0 on")
    }

    /// `true`/`false`, also `yes`/`no` and `on`/`off`.
    pub fn bool(&self, key: &str, default: bool) -> Result<bool, SpecError> {
        let choices = [("true", true), ("false", false), ("yes", true), ("no", false)];
        self.choice(key, &[&choices[..], &[("on", true), ("off", false)]].concat(), default)
    }

    /// One of named choices.
    pub fn choice<T: Clone>(
        &self,
        key: &str,
        choices: &[(&str, T)],
        default: T,
    ) -> Result<T, SpecError> {
        let Some(text) = self.text(key) else { return Ok(default) };
        match choices.iter().find(|(name, _)| *name == text) {
            Some((_, value)) => Ok(value.clone()),
            None => {
                let names: Vec<&str> = choices.iter().map(|(n, _)| *n).collect();
                Err(self.bad(key, text, &names.join(" | ")))
            }
        }
    }

    /// A parameter that is itself a spec.
    pub fn spec(&self, key: &str) -> Result<Option<Spec>, SpecError> {
        self.text(key).map(Spec::parse).transpose()
    }

    /// The error for a value that is not allowed.
    pub fn bad(&self, key: &str, value: &str, expected: &str) -> SpecError {
        SpecError::BadValue {
            name: self.spec.name.clone(),
            key: key.to_owned(),
            value: value.to_owned(),
            expected: expected.to_owned(),
        }
    }

    /// The error for values that do not go together.
    pub fn conflict(&self, why: impl Into<String>) -> SpecError {
        SpecError::Conflict { name: self.spec.name.clone(), why: why.into() }
    }

    fn parsed<T: FromStr + Copy>(
        &self,
        key: &str,
        default: T,
        legal: impl Fn(T) -> bool,
        expected: &str,
    ) -> Result<T, SpecError> {
        let Some(text) = self.text(key) else { return Ok(default) };
        match text.parse::<T>() {
            Ok(value) if legal(value) => Ok(value),
            _ => Err(self.bad(key, text, expected)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: &[ParamInfo] = &[
        ParamInfo { name: "p", doc: "", default: "0.8" },
        ParamInfo { name: "n", doc: "", default: "1" },
        ParamInfo { name: "on", doc: "", default: "true" },
        ParamInfo { name: "kind", doc: "", default: "a" },
        ParamInfo { name: "metric", doc: "", default: "" },
    ];

    fn bad(text: &str, ask: impl Fn(&Params<'_>) -> Result<(), SpecError>) -> String {
        let spec = Spec::parse(text).unwrap();
        ask(&Params::new(&spec, KNOWN, &[]).unwrap()).unwrap_err().to_string()
    }

    #[test]
    fn spec_beats_preset_beats_default() {
        let spec = Spec::parse("x(p=0.5)").unwrap();
        let params =
            Params::new(&spec, KNOWN, &[("p", "0.9"), ("n", "4"), ("other", "1")]).unwrap();
        assert_eq!(params.f64("p", 0.8).unwrap(), 0.5);
        assert_eq!(params.u32("n", 1).unwrap(), 4);
        assert!(params.bool("on", true).unwrap());
        assert_eq!(params.text("other"), None);
    }

    #[test]
    fn wrong_values_say_what_is_allowed() {
        let p = bad("x(p=nan)", |p| p.f64("p", 0.8).map(drop));
        assert_eq!(p, "`x`: p=nan is not allowed; expected a finite number");
        assert!(bad("x(n=-1)", |p| p.u32("n", 1).map(drop)).contains("whole number"));
        assert!(bad("x(on=maybe)", |p| p.bool("on", true).map(drop)).contains("true | false"));
        let kind = bad("x(kind=c)", |p| p.choice("kind", &[("a", 1), ("b", 2)], 1).map(drop));
        assert_eq!(kind, "`x`: kind=c is not allowed; expected a | b");
        assert!(bad("x(metric=ndcg@0)", |p| p.spec("metric").map(drop)).contains("column 6"));
    }
}
