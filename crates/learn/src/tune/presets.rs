//! What is tuned where nobody says: a space for each learner, what halving spends, when to stop.
//!
//! Ranges are wide around the defaults, in the places where learners of the kind are known to be
//! sensitive. Where there is validation data, stopping finds the number of rounds; on folds there
//! is none, and the number of rounds is one more parameter.

use super::error::TuneError;
use super::space::Space;
use crate::error::LearnError;
use crate::learner::LearnerSpec;

/// How the learners of one kind are tuned.
#[derive(Debug)]
pub(super) struct Preset {
    learners: &'static [&'static str],
    /// Parts of the space.
    space: &'static [&'static str],
    /// The parameter that says how many rounds there are: what halving spends.
    pub(super) resource: Option<&'static str>,
    /// The range of that parameter where nothing stops early.
    rounds: Option<&'static str>,
    /// `stop=` where there is validation data and nobody wrote it. Nets have their own.
    pub(super) stop: Option<&'static str>,
}

const GROWN: &str = "rate=log(0.02,0.3), leaves=choice(7,15,31,63), min_rows=logint(1,100), \
                     l2=log(0.01,100), sample_queries=uniform(0.5,1), \
                     sample_features=uniform(0.3,1)";
const SCALED: &str = "transform=choice(auto,standard,query-min-max,gauss)";
const NET: &str = "rate=log(0.0003,0.01), layers=choice(32,64/32,128/64/32), \
                   dropout=uniform(0,0.4), noise=uniform(0,0.3), decay=log(0.0001,0.3), \
                   batch=choice(4,8,16,32), norm=choice(none,layer)";
const PAIRS: &str = "c=log(0.3,3000), norm_query=choice(true,false)";

const fn boosted(learners: &'static [&'static str], space: &'static [&'static str]) -> Preset {
    let (resource, rounds, stop) = (Some("trees"), Some("logint(50,1000)"), Some("50"));
    Preset { learners, space, resource, rounds, stop }
}

const fn line(learners: &'static [&'static str], space: &'static [&'static str]) -> Preset {
    Preset { learners, space, resource: None, rounds: None, stop: None }
}

const fn net(learners: &'static [&'static str], space: &'static [&'static str]) -> Preset {
    let (resource, rounds) = (Some("epochs"), Some("logint(5,60)"));
    Preset { learners, space, resource, rounds, stop: None }
}

const PRESETS: &[Preset] = &[
    boosted(
        &["lambdamart"],
        &[
            GROWN,
            "truncation=choice(auto,20,none), norm_query=choice(true,false)",
            "newton=choice(per-document,cross-leaf)",
        ],
    ),
    boosted(&["rankmart"], &[GROWN, "norm_query=choice(true,false)"]),
    boosted(&["xendcg"], &[GROWN]),
    boosted(&["yetirank"], &[GROWN, "samples=choice(5,10,30), noise=log(0.3,3)"]),
    boosted(&["mart"], &["loss=choice(squared,query-rmse,ordinal,softmax)", GROWN]),
    line(&["tree"], &["leaves=logint(4,200), min_rows=logint(1,200), l2=log(0.01,100)"]),
    line(
        &["ranksvm"],
        &[
            "c=log(0.05,500), norm_query=choice(true,false), loss=choice(squared-hinge,hinge)",
            SCALED,
        ],
    ),
    line(&["pairwise-logistic"], &[PAIRS, SCALED]),
    line(&["linear-regression"], &["l2=log(0.0001,100)", SCALED]),
    line(&["logistic"], &["c=log(1,10000)", SCALED]),
    line(&["linear-svm"], &["c=log(0.1,1000), loss=choice(squared-hinge,hinge)", SCALED]),
    line(&["ordinal"], &["c=log(0.3,3000)", SCALED]),
    net(&["lambdarank", "ranknet", "listnet"], &[NET]),
    net(&["listmle"], &[NET, "top=choice(none,5,10,20)"]),
    net(&["softmax"], &[NET, "target=choice(gain,label,noisy-gain)"]),
    net(&["approxndcg"], &[NET, "temperature=log(0.03,1)"]),
    Preset {
        learners: &["rankboost"],
        space: &["rate=log(0.1,1), norm_query=choice(true,false), \
                  sample_queries=uniform(0.5,1), sample_features=uniform(0.3,1), \
                  bins=choice(15,63,255)"],
        resource: Some("trees"),
        rounds: Some("logint(30,1000)"),
        stop: Some("100"),
    },
    Preset {
        learners: &["adarank"],
        space: &["directions=choice(both,falling), tolerance=choice(0,0.0001,0.001)", SCALED],
        resource: Some("rounds"),
        rounds: Some("logint(10,500)"),
        stop: Some("100"),
    },
    line(&["svmmap"], &["c=log(0.01,100)", SCALED]),
    line(
        &["coordinate-ascent"],
        &["restarts=choice(1,2,3,5), tolerance=log(0.0001,0.005)", SCALED],
    ),
    // More trees of a forest are never worse: their number is no question for a search.
    Preset {
        learners: &["random-forest"],
        space: &["leaves=logint(20,500), min_rows=logint(1,50), sample_queries=uniform(0.3,1), \
                  sample_features=uniform(0.1,0.7)"],
        resource: Some("trees"),
        rounds: None,
        stop: None,
    },
    Preset {
        learners: &["bagging"],
        space: &["learner=choice(lambdamart(leaves=7),lambdamart(leaves=15),\
                  lambdamart(leaves=31),xendcg(leaves=15),xendcg(leaves=31)), \
                  sample_queries=uniform(0.4,0.9)"],
        resource: Some("bags"),
        rounds: None,
        stop: None,
    },
    line(
        &["blend"],
        &["normalise=choice(none,min-max,standard,rank), weights=choice(learn,equal)"],
    ),
];

/// Parameters that mean something under some values of another one only; a trial whose draw of that
/// one gives them no meaning goes without them.
const DEPENDENT: &[(&str, &[&str])] = &[
    ("weight", &["mu"]),
    ("newton", &["ridge"]),
    ("drop_trees", &["drop_skip", "drop_most", "drop_scale"]),
    ("goss_top", &["goss_rest"]),
];

/// The parameter that gives this one its meaning, if it is a dependent one.
pub(super) fn depends_on(name: &str) -> Option<&'static str> {
    DEPENDENT.iter().find(|(_, dependent)| dependent.contains(&name)).map(|(main, _)| *main)
}

/// How a learner is tuned; none where nothing is learnt.
pub(super) fn preset(learner: &LearnerSpec) -> Option<&'static Preset> {
    PRESETS.iter().find(|preset| preset.learners.contains(&learner.info().name))
}

/// The space that is searched where none is given, without what the learner has written already.
/// `stopping`: whether validation data finds the number of rounds.
///
/// ```
/// use rankwright_learn::LearnerSpec;
/// use rankwright_learn::tune::default_space;
///
/// let learner = LearnerSpec::parse("linear-regression(transform=standard)")?;
/// assert_eq!(default_space(&learner, true)?.to_string(), "l2=log(0.0001,100)");
/// # Ok::<(), rankwright_learn::LearnError>(())
/// ```
pub fn default_space(learner: &LearnerSpec, stopping: bool) -> Result<Space, LearnError> {
    let name = learner.info().name;
    let preset = preset(learner).ok_or_else(|| TuneError::NoSpace { learner: name.to_owned() })?;
    let rounds = preset.resource.zip(preset.rounds).filter(|_| !stopping);
    let rounds = rounds.map(|(resource, range)| format!("{resource}={range}"));
    let parts: Vec<&str> =
        rounds.as_deref().into_iter().chain(preset.space.iter().copied()).collect();
    let space = Space::parse(&parts.join(", "))?;
    let space = space.without(|name| learner.canonical().get(name).is_some());
    match space.parameters().is_empty() {
        false => Ok(space),
        true => Err(TuneError::NothingToSearch { learner: learner.to_string() }.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learner::LEARNERS;
    use crate::tune::{Ground, Method, TunePlan, TuneSettings};

    #[test]
    fn every_learner_has_a_space_whose_trials_all_parse() {
        for info in LEARNERS.iter().filter(|info| info.name != "linear") {
            let learner = LearnerSpec::parse(info.name).unwrap();
            for ground in [Ground::Valid, Ground::Folds { count: 3, valid_part: None }] {
                let settings = TuneSettings { trials: 60, ground, ..TuneSettings::new(ground) };
                let plan = TunePlan::new(&learner, settings).unwrap();
                assert_eq!(plan.specs().len(), 60, "{}", info.name);
                assert_eq!(
                    Space::parse(&plan.space().to_string()).unwrap(),
                    *plan.space(),
                    "{}: what is shown can be given",
                    info.name
                );
            }
            let preset = preset(&learner).unwrap();
            if let Some(resource) = preset.resource {
                assert!(info.params.iter().any(|p| p.name == resource), "{}", info.name);
                let settings =
                    TuneSettings { method: Method::Halving, ..TuneSettings::new(Ground::Valid) };
                TunePlan::new(&learner, settings).unwrap();
            }
        }
    }

    #[test]
    fn a_learner_of_given_weights_is_not_tuned() {
        let line = LearnerSpec::parse("linear(weights=1:1)").unwrap();
        let error = default_space(&line, true).unwrap_err().to_string();
        assert!(error.contains("no parameters that are searched"), "{error}");
        let full = LearnerSpec::parse("linear-regression(transform=auto, l2=1)").unwrap();
        let error = default_space(&full, true).unwrap_err().to_string();
        assert!(error.contains("fixes every parameter"), "{error}");
    }
}
