//! The text output of a parameter search: the best trials, the spec to use, and a caution.

use rankwright::eval::table::{Align, Cell, Table};
use rankwright::learn::tune::{Trial, TrialComparison, TuneData, TuneMethod, TunePlan};
use rankwright::spec::words::counted;
use rankwright::tasks::TuneLearnerResult;

use super::Args;

/// The best trials, and the spec to use.
pub(super) fn of(args: &Args, plan: &TunePlan, found: &TuneLearnerResult) -> String {
    let result = &found.result;
    let mut text = args.table.draw(&table(args, plan, found)) + "\n";
    let mut line = |name: &str, what: String| text.push_str(&format!("{name:<9}{what}\n"));
    if let Some(best) = result.best() {
        let value = best.value.unwrap_or(f64::NAN);
        line("best", format!("trial {}, {} {value:.4}", best.trial, found.metric));
        line("gain", gain(best, result.vs_trial_0.as_ref()));
        line("caution", found.note.to_owned());
        if let Some(written) = &found.model {
            line("model", written.path.display().to_string());
            line("sha256", written.sha256.clone());
        }
        line("use", format!("--learner '{}' --seed {}", best.spec, args.seed));
    }
    text
}

/// The difference of the best trial to the learner as given, in words.
fn gain(best: &Trial, vs_trial_0: Option<&TrialComparison>) -> String {
    match vs_trial_0 {
        None if best.trial == 0 => {
            "none: no trial is better than trial 0 (the learner as given)".to_owned()
        }
        None => "unknown: trial 0 has no value".to_owned(),
        Some(v) => {
            let interval = v.ci95.map(|[low, high]| format!(" ({low:+.4} to {high:+.4})"));
            format!(
                "{:+.4}{} over trial 0, p {:.3} (randomisation test by query: {} better, {} equal, \
                 {} worse)",
                v.difference,
                interval.unwrap_or_default(),
                v.p,
                v.better,
                v.equal,
                v.worse
            )
        }
    }
}

/// A row for each of the best trials, and for trial 0.
fn table(args: &Args, plan: &TunePlan, found: &TuneLearnerResult) -> Table {
    let result = &found.result;
    let is_halving = plan.settings().method == TuneMethod::Halving;
    let metric = found.metric.clone();
    let mut columns = vec![
        ("trial", Align::Right),
        (metric.as_str(), Align::Right),
        ("95% interval", Align::Right),
        ("rounds", Align::Right),
        ("seconds", Align::Right),
        ("learner", Align::Left),
    ];
    if is_halving {
        columns.insert(4, ("at most", Align::Right));
    }
    let mut table = Table::new(columns);
    // Trials with a value that do not repeat the learner of an earlier trial.
    let is_distinct = |trial: &&Trial| {
        trial.value.is_some() && trial.same_as.is_none_or(|other| other == trial.trial)
    };
    let mut shown: Vec<&Trial> = result.trials.iter().filter(is_distinct).take(args.top).collect();
    if let Some(trial_0) = result.trial_0().filter(|_| shown.iter().all(|trial| trial.trial != 0)) {
        shown.push(trial_0);
    }
    for trial in shown {
        let interval = trial.ci95.map(|(low, high)| format!("{low:.4} to {high:.4}"));
        let value = trial.value.map_or("failed".to_owned(), |value| format!("{value:.4}"));
        let mut cells = vec![
            trial.trial.to_string(),
            value,
            interval.unwrap_or_default(),
            trial.rounds.map(|rounds| format!("{rounds:.0}")).unwrap_or_default(),
            format!("{:.1}", trial.seconds),
            trial.spec.clone(),
        ];
        if is_halving {
            cells.insert(4, trial.limit.map_or("all".to_owned(), |limit| limit.to_string()));
        }
        table.rows.push(cells.into_iter().map(Cell::new).collect());
    }
    table.notes = notes(args, plan, found);
    table
}

/// The early stopping that the search adds to the learner, if any.
fn added_stop(found: &TuneLearnerResult) -> String {
    match &found.added_stop {
        Some(stop) => format!(", with stop={stop} on the validation data"),
        None => String::new(),
    }
}

/// The conventions of the metric, then method and data of the search, repeated and failed trials.
fn notes(args: &Args, plan: &TunePlan, found: &TuneLearnerResult) -> Vec<String> {
    let result = &found.result;
    let convention = result.best().map(|best| format!("{}: {}", found.metric, best.convention));
    let evaluated_on = match (&args.valid, plan.settings().evaluated_on) {
        (Some(path), _) => format!("evaluated on {}", path.display()),
        (None, TuneData::Folds { count, .. }) => {
            format!("evaluated on {} by query", counted(count, "fold"))
        }
        (None, TuneData::Valid) => String::new(),
    };
    let (trials, method) = (plan.specs().len(), plan.settings().method.name());
    let count = |what: fn(&Trial) -> bool| result.trials.iter().filter(|t| what(t)).count();
    let mut notes = vec![format!(
        "{}, {method} search, seed {}, {evaluated_on}; trial 0 is the learner as given{}",
        counted(trials, "trial"),
        args.seed,
        added_stop(found)
    )];
    match count(|trial| trial.same_as.is_some_and(|other| other != trial.trial)) {
        0 => {}
        same => notes
            .push(format!("{} repeated the learner of an earlier trial", counted(same, "trial"))),
    }
    // Failed trials are the last ones.
    match (count(|trial| trial.error.is_some()), result.trials.last()) {
        (0, _) | (_, None) => {}
        (1, Some(last)) => {
            notes.push(format!("1 trial failed: {}", last.error.clone().unwrap_or_default()))
        }
        (failed, Some(last)) => notes.push(format!(
            "{failed} trials failed, for example: {}",
            last.error.clone().unwrap_or_default()
        )),
    }
    convention.into_iter().chain(notes).collect()
}
