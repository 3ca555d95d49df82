//! Groups of parameters: a struct that [`params!`](crate::params) or
//! [`param_groups!`](crate::param_groups) declares, read from a spec and written as one. A
//! component is a learner, a metric or anything else that a spec names.

use crate::conflict::Conflict;
use crate::def::ParamDef;
use crate::error::{SpecError, ValueError};
use crate::nearest::nearest;
use crate::other_systems::other_system_param;
use crate::range::ParamRange;
use crate::requires::Condition;
use crate::spec::Spec;
use crate::value::ParamValue;

/// A set of parameters with values.
pub trait ParamGroup {
    /// The parameters in the order in which specs print them, with the values of this group as
    /// their defaults.
    fn defs(&self) -> Vec<ParamDef>;

    /// Sets a parameter from its text; false if there is no such parameter.
    fn set(&mut self, key: &str, text: &str) -> Result<bool, ValueError>;

    /// The value of a parameter as a spec writes it; `None` if there is no such parameter.
    fn text(&self, key: &str) -> Option<String>;

    /// Checks the value of each parameter; the error names the first that is rejected.
    fn check_values(&self) -> Result<(), (&'static str, ValueError)>;

    /// Checks conditions beyond ranges: values that conflict.
    fn check_together(&self) -> Result<(), Conflict> {
        Ok(())
    }
}

/// Reads the parameters of a spec.
///
/// Every key must be known and every value legal, and a parameter that has no effect beside the
/// others is rejected rather than ignored. The caller checks the name and the cut-off of the spec.
///
/// ```
/// use rankwright_spec::{Spec, params, read_spec, write_spec};
///
/// params! {
///     /// A tree.
///     pub struct Tree {
///         leaves: u32 = 31, 1..=65536, "Maximum number of leaves of a tree.";
///         rate: f64 = 0.1, 0.0.., "Shrinkage.";
///     }
/// }
/// let tree: Tree = read_spec(&Spec::parse("tree(leaves=7)")?)?;
/// assert_eq!(tree, Tree::default().leaves(7));
/// assert_eq!(write_spec("tree", &tree).to_string(), "tree(leaves=7)");
/// let error = read_spec::<Tree>(&Spec::parse("tree(leafs=7)")?).unwrap_err();
/// assert!(error.to_string().contains("did you mean `leaves`?"));
/// let error = read_spec::<Tree>(&Spec::parse("tree(leaves=0)")?).unwrap_err();
/// assert!(error.to_string().ends_with("expected a whole number from 1 to 65536"));
/// # Ok::<(), rankwright_spec::SpecError>(())
/// ```
pub fn read_spec<G: ParamGroup + Default>(spec: &Spec) -> Result<G, SpecError> {
    let mut group = G::default();
    read_into(&mut group, spec)?;
    Ok(group)
}

/// Like [`read_spec`], into parameters that already have values.
pub fn read_into(group: &mut dyn ParamGroup, spec: &Spec) -> Result<(), SpecError> {
    let defs = group.defs();
    for (key, value) in &spec.args {
        let known = group.set(key, value).map_err(|error| error.at(&spec.name, key, value))?;
        if !known {
            return Err(unknown_key(spec, key, &defs));
        }
    }
    if let Some(missing) = defs.iter().find(|d| d.default.is_none() && spec.get(d.name).is_none()) {
        return Err(SpecError::MissingKey {
            name: spec.name.clone(),
            key: missing.name.to_owned(),
            expected: missing.help.to_owned(),
        });
    }
    check_requirements(group, &spec.name, &defs, |key| spec.get(key).is_some())?;
    group.check_together().map_err(|conflict| SpecError::conflict(&spec.name, conflict))
}

/// The error of a parameter that the component does not have.
fn unknown_key(spec: &Spec, key: &str, defs: &[ParamDef]) -> SpecError {
    let names: Vec<&str> = defs.iter().map(|def| def.name).collect();
    SpecError::UnknownKey {
        name: spec.name.clone(),
        key: key.to_owned(),
        hint: other_system_param(key).and_then(|entry| entry.hint(&names)),
        nearest: nearest(key, &names),
        known: names.into_iter().map(str::to_owned).collect(),
    }
}

/// Rejects parameters that are given although their condition does not hold; `name` is the name of
/// the component in the error.
fn check_requirements(
    group: &dyn ParamGroup,
    name: &str,
    defs: &[ParamDef],
    is_given: impl Fn(&str) -> bool,
) -> Result<(), SpecError> {
    for def in defs.iter().filter(|def| is_given(def.name)) {
        let Some(text) = def.requires else { continue };
        let condition = Condition::parse(text);
        // A condition on a parameter that the component does not have never holds.
        let value = condition.and_then(|condition| group.text(condition.key));
        let holds = condition.zip(value).is_some_and(|(condition, value)| condition.holds(&value));
        if !holds {
            let condition = condition.map_or(text.to_owned(), |condition| condition.words());
            let key = def.name.to_owned();
            return Err(SpecError::conflict(name, Conflict::ConditionNotMet { key, condition }));
        }
    }
    Ok(())
}

/// Checks parameters that a program filled in; `name` is the name of the component in the error.
pub fn check_params<G: ParamGroup + Default>(group: &G, name: &str) -> Result<(), SpecError> {
    group.check_values().map_err(|(key, error)| {
        let value = group.text(key);
        debug_assert!(value.is_some(), "a group has the parameter that it checked");
        error.at(name, key, &value.unwrap_or_default())
    })?;
    let defs = G::default().defs();
    let is_absent =
        |(def, given): &(&ParamDef, ParamDef)| def.default.is_none() && given.default.is_none();
    if let Some((missing, _)) = defs.iter().zip(group.defs()).find(is_absent) {
        return Err(SpecError::MissingKey {
            name: name.to_owned(),
            key: missing.name.to_owned(),
            expected: missing.help.to_owned(),
        });
    }
    let changed = changed_params(group);
    check_requirements(group, name, &defs, |key| changed.contains(&key))?;
    group.check_together().map_err(|conflict| SpecError::conflict(name, conflict))
}

/// The names of the parameters whose values differ from their defaults, in the order of the
/// declaration.
fn changed_params<G: ParamGroup + Default>(group: &G) -> Vec<&'static str> {
    // The definitions of a group have its values as their defaults.
    let (defaults, values) = (G::default().defs(), group.defs());
    debug_assert!(defaults.iter().map(|def| def.name).eq(values.iter().map(|def| def.name)));
    let both = defaults.into_iter().zip(values);
    both.filter(|(default, value)| default.default != value.default)
        .map(|(def, _)| def.name)
        .collect()
}

/// The spec of parameters: those that differ from the defaults, in the order of the declaration.
pub fn write_spec<G: ParamGroup + Default>(name: &str, group: &G) -> Spec {
    let mut spec = Spec::new(name);
    for key in changed_params(group) {
        let value = group.text(key);
        debug_assert!(value.is_some(), "a group has the parameters that it declares");
        spec.args.extend(value.map(|value| (key.to_owned(), value)));
    }
    spec
}

/// The description of one parameter, of which `value` is the default.
pub fn define<T: ParamValue>(
    name: &'static str,
    value: &T,
    range: &impl ParamRange,
    requires: Option<&'static str>,
    help: &'static str,
) -> ParamDef {
    if let Some(text) = requires {
        assert!(Condition::parse(text).is_some(), "`{text}` is no condition of `{name}`");
    }
    let default = (!value.is_absent()).then(|| value.write());
    ParamDef { name, kind: T::kind(), default, range: range.def(), requires, help }
}

/// Reads and checks the value of one parameter.
pub fn read_value<T: ParamValue>(text: &str, range: &impl ParamRange) -> Result<T, ValueError> {
    let value = T::read(text, &range.def())?;
    check_value(&value, range)?;
    Ok(value)
}

/// Checks the value of one parameter.
pub fn check_value<T: ParamValue>(value: &T, range: &impl ParamRange) -> Result<(), ValueError> {
    let range = range.def();
    match value.in_range(&range) {
        true => value.check(),
        false => Err(ValueError::Expected(T::kind().expected(&range))),
    }
}

#[cfg(test)]
#[allow(unreachable_pub)] // The builder methods of `params!`.
mod tests {
    use super::*;
    use crate::params;

    params! {
        /// Parameters of which one has a condition on a parameter that is not there.
        pub(super) struct Misdeclared {
            depth: u32 = 3, .., "Depth.";
            ridge: f64 = 0.0, .., "Ridge.", requires "newtn=joint";
        }
    }

    #[test]
    fn a_condition_that_cannot_be_checked_never_holds() {
        let read = |text: &str| read_spec::<Misdeclared>(&Spec::parse(text).unwrap());
        assert_eq!(read("x(depth=4)"), Ok(Misdeclared::default().depth(4)));
        assert!(check_params(&Misdeclared::default().ridge(1.0), "x").is_err());
        let error = read("x(ridge=1)").unwrap_err().to_string();
        assert!(error.contains("newtn=joint"), "{error}");
    }
}
