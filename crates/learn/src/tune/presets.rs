//! The default search space of a learner, taken from its declaration.
//!
//! The space has the parameters that usually change the quality of such learners most, with wide
//! ranges around their defaults. With validation data, early stopping finds the number of rounds;
//! on folds nothing stops early, and the number of rounds is one more parameter.

use super::error::TuneError;
use super::space::Space;
use crate::error::LearnError;
use crate::learner::{LearnerSpec, Tuning};

/// The parameter that the parameter `name` depends on: with some of its values `name` has no
/// effect, and a trial with such a value does not set `name`. `None` if `name` depends on none.
pub(super) fn depends_on(learner: &LearnerSpec, name: &str) -> Option<String> {
    let def = learner.def().params().into_iter().find(|def| def.name == name)?;
    def.requires.map(|condition| {
        let key = condition.split(['=', '<', '>', '!']).next().unwrap_or(condition);
        key.to_owned()
    })
}

/// The default tuning of a learner; `None` if the learner learns nothing.
pub(super) fn tuning(learner: &LearnerSpec) -> Option<Tuning> {
    learner.def().tuning
}

/// The default search space, without the parameters that the learner's spec sets. If `stopping` is
/// true, early stopping or successive halving finds the number of rounds, which is then not in the
/// space.
///
/// ```
/// use rankwright_learn::LearnerSpec;
/// use rankwright_learn::tune::default_space;
///
/// let learner = LearnerSpec::parse("linear-regression(transform=standard)")?;
/// let stopping = true;
/// assert_eq!(default_space(&learner, stopping)?.to_string(), "l2=log(0.0001,100)");
/// # Ok::<(), rankwright_learn::LearnError>(())
/// ```
pub fn default_space(learner: &LearnerSpec, stopping: bool) -> Result<Space, LearnError> {
    let name = learner.def().name;
    let tuning =
        tuning(learner).ok_or_else(|| TuneError::NoDefaultSpace { learner: name.to_owned() })?;
    let rounds = tuning.rounds_parameter.zip(tuning.rounds_range).filter(|_| !stopping);
    let rounds = rounds.map(|(parameter, range)| format!("{parameter}={range}"));
    let parts: Vec<&str> =
        rounds.as_deref().into_iter().chain(tuning.space.iter().copied()).collect();
    let space = Space::parse(&parts.join(", "))?;
    let space = space.without(|name| learner.is_given(name));
    // The parameters that the spec sets may exclude some of the values, as a correction of clicks
    // excludes losses that have none.
    let is_possible = |name: &str, value: &str| {
        depends_on(learner, name).is_some() || learner.with_parameter(name, value).is_ok()
    };
    let space = space.with_choices(is_possible);
    match space.parameters().is_empty() {
        false => Ok(space),
        true => Err(TuneError::NothingToSearch { learner: learner.to_string() }.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learner::LEARNERS;
    use crate::tune::{TuneData, TuneMethod, TunePlan, TuneSettings};

    #[test]
    fn every_learner_has_a_space_whose_trials_all_parse() {
        for def in LEARNERS.iter().filter(|def| def.name != "linear") {
            let learner = LearnerSpec::parse(def.name).unwrap();
            for data in [TuneData::Valid, TuneData::Folds { count: 3, valid_part: None }] {
                let settings = TuneSettings::new(data).trials(60);
                let plan = TunePlan::new(&learner, settings).unwrap();
                assert_eq!(plan.specs().len(), 60, "{}", def.name);
                assert_eq!(
                    Space::parse(&plan.space().to_string()).unwrap(),
                    *plan.space(),
                    "{}: a printed space can be read",
                    def.name
                );
            }
            let tuning = tuning(&learner).unwrap();
            if let Some(parameter) = tuning.rounds_parameter {
                assert!(def.params().iter().any(|p| p.name == parameter), "{}", def.name);
                let settings = TuneSettings::new(TuneData::Valid).method(TuneMethod::Halving);
                TunePlan::new(&learner, settings).unwrap();
            }
        }
    }

    #[test]
    fn values_that_contradict_the_spec_are_not_searched() {
        for (spec, losses) in [
            ("mart", "choice(squared,query-rmse,ordinal,softmax)"),
            ("mart(bias=ips, examination=1/0.5)", "choice(squared,query-rmse,softmax)"),
            ("mart(bias=dr, examination=1/0.5)", "choice(squared,query-rmse,softmax)"),
        ] {
            let learner = LearnerSpec::parse(spec).unwrap();
            let space = default_space(&learner, true).unwrap();
            assert_eq!(space.get("loss").unwrap().to_string(), losses, "{spec}");
            let folds = TuneData::Folds { count: 2, valid_part: None };
            let plan = TunePlan::new(&learner, TuneSettings::new(folds).trials(60)).unwrap();
            assert_eq!(plan.specs().len(), 60, "{spec}");
        }
    }

    #[test]
    fn a_learner_without_parameters_to_search_is_rejected() {
        let stopping = true;
        let given_weights = LearnerSpec::parse("linear(weights=1:1)").unwrap();
        let error = default_space(&given_weights, stopping).unwrap_err().to_string();
        assert!(error.contains("no parameters that are searched"), "{error}");
        let all_fixed = LearnerSpec::parse("linear-regression(transform=auto, l2=1)").unwrap();
        let error = default_space(&all_fixed, stopping).unwrap_err().to_string();
        assert!(error.contains("fixes every parameter"), "{error}");
    }
}
