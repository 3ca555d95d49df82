//! Searches on small data: draws, rungs, folds, interruptions.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use rankwright_data::Dataset;
use rankwright_data::generate::LetorOptions;

use super::*;
use crate::learner::{CvOptions, LearnerSpec, cross_validate};
use crate::session::{Progress, TrainingHistory, ValidationSet};

/// Evaluation by cross validation with three folds.
const FOLDS: TuneData = TuneData::Folds { count: 3, valid_part: None };

fn data(queries: usize, seed: u64) -> Dataset {
    LetorOptions { queries, documents: 12, seed }.generate().unwrap()
}

fn plan(learner: &str, space: &str, settings: TuneSettings) -> TunePlan {
    let space = Some(Space::parse(space).unwrap());
    let learner = LearnerSpec::parse(learner).unwrap();
    TunePlan::new(&learner, settings.space(space)).unwrap()
}

/// Settings of a search evaluated on validation data.
fn on_valid(trials: usize, method: TuneMethod) -> TuneSettings {
    TuneSettings::new(TuneData::Valid).trials(trials).method(method)
}

/// The error of a search that is rejected.
fn rejection(learner: &str, space: &str, settings: TuneSettings) -> String {
    let space = Some(Space::parse(space).unwrap());
    let learner = LearnerSpec::parse(learner).unwrap();
    TunePlan::new(&learner, settings.space(space)).unwrap_err().to_string()
}

fn job<'a>(train: &'a Dataset, valid: &'a Dataset) -> TuneJob<'a> {
    let valid = Some(ValidationSet::new("valid", valid));
    TuneJob::new(train).validation(valid)
}

/// The part of a result that must be the same in every run: everything but the times.
fn without_times(result: &TuneResult) -> Vec<Trial> {
    let without_time = |trial: &Trial| {
        let mut trial = trial.clone();
        trial.seconds = 0.0;
        trial
    };
    result.trials.iter().map(without_time).collect()
}

#[test]
fn trial_0_is_the_learner_as_given_and_stops_by_validation_data() {
    let first = |learner: &str, evaluated_on| {
        let settings = TuneSettings::new(evaluated_on).trials(2);
        plan(learner, "rate=log(0.01,0.3)", settings).specs()[0].to_string()
    };
    assert_eq!(first("lambdamart(leaves=9)", TuneData::Valid), "lambdamart(stop=50, leaves=9)");
    assert_eq!(first("lambdamart(stop=3)", TuneData::Valid), "lambdamart(stop=3)");
    assert_eq!(first("lambdamart(stop=0)", TuneData::Valid), "lambdamart(stop=none)");
    assert_eq!(first("lambdamart", FOLDS), "lambdamart");
    assert_eq!(first("listnet", TuneData::Valid), "listnet");
    let learner = LearnerSpec::parse("xendcg(rate=0.05)").unwrap();
    let default = TunePlan::new(&learner, TuneSettings::new(TuneData::Valid)).unwrap();
    assert!(default.space().get("rate").is_none() && default.space().get("trees").is_none());
    assert!(default.specs().iter().all(|spec| spec.canonical().get("rate") == Some("0.05")));
    let folds = TunePlan::new(&learner, TuneSettings::new(FOLDS)).unwrap();
    assert!(folds.space().get("trees").is_some(), "nothing stops early on folds");
}

#[test]
fn impossible_searches_are_rejected_before_anything_runs() {
    // Settings of searches with five and twenty trials.
    let five = || TuneSettings::new(TuneData::Valid).trials(5);
    // Among twenty draws one has newton=joint with 9999 leaves; among five there may be none.
    let twenty = || on_valid(20, TuneMethod::Random);
    let folds = || TuneSettings::new(FOLDS).trials(5);
    for (learner, space, settings, expected) in [
        ("mart", "leafs=int(2,9)", five(), "did you mean `leaves`?"),
        ("mart", "sample_queries=uniform(0.5,2)", five(), "sample_queries=2 is not allowed"),
        ("mart", "loss=choice(squared,squered)", five(), "query-rmse"),
        ("mart", "trees=int(5,9)", on_valid(9, TuneMethod::Halving), "halving varies trees"),
        ("ranksvm", "c=log(1,9)", on_valid(9, TuneMethod::Halving), "is not trained in rounds"),
        ("mart(stop=5)", "leaves=int(2,9)", folds(), "needs validation queries"),
        ("mart", "stop=int(5,9)", folds(), "needs validation queries"),
        (
            "rankmart",
            "newton=choice(cross-leaf,joint), leaves=choice(31,9999)",
            twenty(),
            "newton=joint solves for all leaves",
        ),
        (
            "rankmart",
            "newton=choice(cross-leaf,per-document), ridge=log(1,2)",
            five(),
            "ridge is for",
        ),
        ("lambdamart", "mu=log(1,30)", five(), "mu is for weight=loss2++"),
        ("lambdamart(drop_trees=0)", "drop_skip=uniform(0,0.9)", five(), "drop_skip is for"),
        ("linear(weights=1:1)", "bias=int(0,1)", five(), "learns nothing"),
        ("mart", "leaves=int(2,9)", on_valid(0, TuneMethod::Random), "0 trials"),
    ] {
        let message = rejection(learner, space, settings);
        assert!(message.contains(expected), "{learner} {space}: {message}");
    }
}

#[test]
fn a_space_may_name_parameters_that_depend_on_others() {
    let space = "growth=choice(leaf,oblivious), weight=choice(swap,loss2,loss2++), mu=log(1,30), \
                 pairs=choice(top,coherent), drop_trees=choice(0,0.1), drop_skip=uniform(0,0.9), \
                 drop_scale=choice(tree,forest), sample_queries=uniform(0.5,1), \
                 newton=choice(per-document,joint), ridge=log(0.001,1), leaves=choice(7,31,63)";
    let random_plan = plan("lambdamart(metric=ndcg@5)", space, on_valid(80, TuneMethod::Random));
    // The number of trials that set mu, drop_skip and ridge.
    let mut counts = [0; 3];
    for spec in &random_plan.specs()[1..] {
        let get =
            |name: &str| spec.is_given(name).then(|| spec.learner().params().text(name)).flatten();
        for name in ["growth", "pairs", "sample_queries", "leaves"] {
            assert!(get(name).is_some(), "{spec} lacks {name}");
        }
        let has_effect = [
            ("mu", get("weight").as_deref() == Some("loss2++")),
            ("drop_skip", get("drop_trees").as_deref() == Some("0.1")),
            ("ridge", get("newton").as_deref() == Some("joint")),
        ];
        for ((name, has_effect), count) in has_effect.into_iter().zip(&mut counts) {
            assert_eq!(get(name).is_some(), has_effect, "{spec}: {name}");
            *count += usize::from(has_effect);
        }
        assert_eq!(get("drop_skip").is_some(), get("drop_scale").is_some(), "{spec}");
        assert_eq!(LearnerSpec::parse(&spec.to_string()).unwrap().to_string(), spec.to_string());
    }
    assert!(counts.iter().all(|count| (10..70).contains(count)), "{counts:?}");
    // A parameter that depends on one in the learner's spec is always set.
    let yeti = plan(
        "yetirank(drop_trees=0.2)",
        "drop_skip=uniform(0,0.9), growth=choice(leaf,oblivious), goss_top=choice(0.3,1), \
         goss_rest=uniform(0.1,0.5)",
        on_valid(20, TuneMethod::Halving),
    );
    assert!(yeti.specs()[1..].iter().all(|spec| spec.canonical().get("drop_skip").is_some()));
    // A search over parameters that depend on others runs.
    let (train, valid_data) = (data(12, 1), data(6, 2));
    let small =
        plan("lambdamart(trees=3, leaves=4, min_rows=2)", space, on_valid(6, TuneMethod::Random));
    let result = small.run(&job(&train, &valid_data)).unwrap();
    assert!(result.trials.iter().all(|trial| trial.error.is_none()), "{:?}", result.trials);
}

#[test]
fn a_search_with_more_trials_contains_one_with_fewer() {
    let (train, test) = (data(15, 1), data(10, 2));
    let run_trials = |trials: usize| {
        let plan = plan(
            "mart(trees=6)",
            "leaves=int(2,9), rate=log(0.05,1)",
            on_valid(trials, TuneMethod::Random),
        );
        let mut trials = without_times(&plan.run(&job(&train, &test)).unwrap());
        trials.sort_by_key(|trial| trial.trial);
        trials
    };
    let (few, many) = (run_trials(4), run_trials(9));
    assert_eq!(few[..], many[..4]);
    let other = plan(
        "mart(trees=6)",
        "leaves=int(2,9), rate=log(0.05,1)",
        on_valid(4, TuneMethod::Random).seed(2),
    );
    assert_ne!(other.specs()[1].to_string(), few[1].spec);
}

#[test]
fn any_number_of_threads_gives_the_same_search() {
    let (train, test) = (data(15, 1), data(10, 2));
    let space = "leaves=int(2,9), rate=log(0.05,1), sample_queries=uniform(0.5,1)";
    for method in [TuneMethod::Random, TuneMethod::Halving] {
        let plan = plan("lambdamart(trees=9, min_rows=3)", space, on_valid(9, method));
        let run_on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            without_times(&pool.install(|| plan.run(&job(&train, &test))).unwrap())
        };
        let expected = run_on(1);
        assert!([2, 3, 8].into_iter().all(|threads| run_on(threads) == expected), "{method:?}");
    }
}

#[test]
fn halving_finds_the_only_good_value_and_trains_most_trials_for_few_rounds() {
    let (train, test) = (data(40, 1), data(20, 2));
    // All values but 3 require leaves of more rows than there are: such trees learn nothing.
    let space = "min_rows=choice(3,70000,71000,72000,73000,74000,75000,76000)";
    let plan = plan("mart(trees=27, min_rows=90000)", space, on_valid(30, TuneMethod::Halving));
    let rungs: Vec<_> = plan.rungs().iter().map(|rung| (rung.trials, rung.rounds)).collect();
    assert_eq!(rungs, [(30, Some(1)), (10, Some(3)), (3, Some(9)), (1, None)]);
    let result = plan.run(&job(&train, &test)).unwrap();
    let best = result.best().unwrap();
    assert!(best.spec.contains("min_rows=3,") || best.spec.contains("min_rows=3)"), "{best:?}");
    let vs_trial_0 = result.vs_trial_0.clone().unwrap();
    assert!(vs_trial_0.difference > 0.1 && vs_trial_0.p < 0.01, "{vs_trial_0:?}");
    assert_eq!(vs_trial_0.better + vs_trial_0.equal + vs_trial_0.worse, best.queries);
    // Every trial is listed, as far as it was trained; trial 0 was trained completely.
    assert_eq!(result.trials.len(), 30);
    let trained_to = |limit| result.trials.iter().filter(|trial| trial.limit == limit).count();
    assert_eq!((trained_to(None), result.trial_0().unwrap().limit), (2, None));
    assert!(trained_to(Some(1)) >= 19, "{}", trained_to(Some(1)));
}

#[test]
fn trials_that_reach_the_last_rung_give_the_result_of_one_training() {
    let (train, test) = (data(20, 1), data(12, 2));
    let space = "leaves=int(2,9), rate=log(0.02,0.5), sample_queries=uniform(0.5,1)";
    for learner in ["lambdamart(trees=20, min_rows=3, stop=8)", "listnet(layers=4, epochs=9)"] {
        let space = if learner.starts_with("listnet") { "rate=log(0.001,0.1)" } else { space };
        let plan = plan(learner, space, on_valid(9, TuneMethod::Halving));
        let folder = tempfile::tempdir().unwrap();
        let checkpoints = folder.path().join("checkpoints");
        let saving = job(&train, &test).folder(checkpoints.clone());
        let saved = plan.run(&saving).unwrap();
        let unsaved = plan.run(&job(&train, &test)).unwrap();
        assert_eq!(without_times(&saved), without_times(&unsaved), "{learner}");
        assert!(!checkpoints.exists(), "nothing is left");
        let best = saved.best().unwrap();
        let best_learner = LearnerSpec::parse(&best.spec).unwrap();
        let settings = TuneSettings::new(TuneData::Valid).trials(1);
        let plan = TunePlan::new(&best_learner, settings).unwrap();
        let alone = plan.run(&job(&train, &test)).unwrap();
        assert_eq!(alone.best().unwrap().values, best.values, "{learner}");
    }
}

#[test]
fn the_value_on_folds_is_that_of_cross_validation() {
    let train = data(30, 1);
    let settings = TuneSettings::new(FOLDS).trials(3).seed(5);
    let plan = plan("mart(trees=5)", "leaves=choice(3,5,9)", settings);
    let result = plan.run(&TuneJob::new(&train)).unwrap();
    for trial in &result.trials {
        let learner = LearnerSpec::parse(&trial.spec).unwrap();
        let options = CvOptions::new(vec![plan.measure().clone()]).folds(3).seed(5);
        let expected = cross_validate(&learner, &train, &options).unwrap().pooled;
        assert_eq!(trial.value, Some(expected.results[0].value));
        assert_eq!(trial.values, expected.results[0].values);
        assert_eq!(trial.rounds, Some(5.0));
    }
}

#[test]
fn the_same_learner_is_not_trained_twice() {
    let (train, test) = (data(10, 1), data(8, 2));
    let settings = on_valid(12, TuneMethod::Random);
    let plan = plan("mart(trees=3, leaves=4)", "leaves=choice(4,5)", settings);
    let result = plan.run(&job(&train, &test)).unwrap();
    assert_eq!(result.trials.iter().filter(|trial| trial.same_as.is_none()).count(), 2);
    assert_eq!(result.trials.len(), 12);
}

#[test]
fn a_failed_trial_is_reported_and_the_others_continue() {
    let (train, test) = (data(10, 1), data(8, 2));
    let space = "monotone=choice(1:+,999:+,2:+), leaves=int(2,9)";
    let search = plan("mart(trees=3)", space, on_valid(12, TuneMethod::Random));
    let result = search.run(&job(&train, &test)).unwrap();
    let failed: Vec<_> = result.trials.iter().filter(|trial| trial.error.is_some()).collect();
    assert!((1..12).contains(&failed.len()), "{}", failed.len());
    assert!(failed.iter().all(|trial| trial.error.as_ref().unwrap().contains("999")));
    assert!(result.trials[12 - failed.len()..].iter().all(|trial| trial.error.is_some()));
    assert!(result.best().is_some());
    let all_fail =
        plan("mart(trees=3, monotone=999:+)", "leaves=int(2,9)", on_valid(3, TuneMethod::Random));
    let error = all_fail.run(&job(&train, &test)).unwrap_err().to_string();
    assert!(error.contains("every trial failed") && error.contains("999"), "{error}");
}

/// Cancels when this number of rounds of all trainings is done.
struct RoundBudget {
    remaining: AtomicUsize,
}

impl Progress for RoundBudget {
    fn round_finished(&self, _history: &TrainingHistory) {
        let one_less = |remaining: usize| Some(remaining.saturating_sub(1));
        let _ = self.remaining.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_less);
    }

    fn should_stop(&self) -> bool {
        self.remaining.load(Ordering::SeqCst) == 0
    }
}

impl TuneProgress for RoundBudget {}

/// Runs a search that is cancelled after some rounds and resumed until it ends; returns its result
/// and the number of starts.
fn run_with_interruptions(
    plan: &TunePlan,
    job: TuneJob<'_>,
    folder: &Path,
    rounds: usize,
) -> (TuneResult, usize) {
    for starts in 1..1000 {
        let progress = RoundBudget { remaining: AtomicUsize::new(rounds) };
        let job = TuneJob {
            log: Some(folder.join("log")),
            folder: Some(folder.join("checkpoints")),
            progress: &progress,
            train: job.train,
            valid: job.valid.clone(),
            features: job.features,
        };
        let result = plan.run(&job).unwrap();
        if result.finished {
            return (result, starts);
        }
    }
    panic!("the search never ends");
}

#[test]
fn an_interrupted_search_gives_the_same_result() {
    let (train, test) = (data(15, 1), data(10, 2));
    let space = "leaves=int(2,9), rate=log(0.05,1)";
    for method in [TuneMethod::Random, TuneMethod::Halving] {
        let plan = plan("lambdamart(trees=9, min_rows=3)", space, on_valid(9, method));
        let expected = without_times(&plan.run(&job(&train, &test)).unwrap());
        for rounds in [1, 4, 25] {
            let folder = tempfile::tempdir().unwrap();
            let (result, starts) =
                run_with_interruptions(&plan, job(&train, &test), folder.path(), rounds);
            assert_eq!(without_times(&result), expected, "{method:?} {rounds}");
            assert!(starts > 1, "{method:?} {rounds}");
            assert!(!folder.path().join("checkpoints").exists());
        }
    }
    // On folds an interrupted trial starts again from its beginning.
    let settings = TuneSettings::new(FOLDS).trials(4);
    let plan = plan("mart(trees=3)", space, settings);
    let expected = without_times(&plan.run(&TuneJob::new(&train)).unwrap());
    let folder = tempfile::tempdir().unwrap();
    let (result, starts) = run_with_interruptions(&plan, TuneJob::new(&train), folder.path(), 10);
    assert!(starts > 1);
    assert_eq!(without_times(&result), expected);
}

#[test]
fn a_log_can_be_extended_and_rejects_other_data() {
    let (train, test) = (data(10, 1), data(8, 2));
    let folder = tempfile::tempdir().unwrap();
    let log = Some(folder.path().join("log"));
    let few = plan("mart(trees=3)", "leaves=int(2,30)", on_valid(3, TuneMethod::Random));
    let more = plan("mart(trees=3)", "leaves=int(2,30)", on_valid(6, TuneMethod::Random));
    let logged = |train, test| job(train, test).log(log.clone());
    few.run(&logged(&train, &test)).unwrap();
    let result = more.run(&logged(&train, &test)).unwrap();
    assert_eq!((result.found_in_log, result.trials.len()), (3, 6));
    assert_eq!(without_times(&result), without_times(&more.run(&job(&train, &test)).unwrap()));
    assert_eq!(few.run(&logged(&train, &test)).unwrap().trials.len(), 3);
    let error = few.run(&logged(&test, &test)).unwrap_err().to_string();
    assert!(error.contains("training data was") && !error.contains("space"), "{error}");
    let other = plan("mart(trees=3)", "leaves=int(2,31)", on_valid(3, TuneMethod::Random));
    let error = other.run(&logged(&train, &test)).unwrap_err().to_string();
    assert!(error.contains("space was leaves=int(2,30), now leaves=int(2,31)"), "{error}");
}
