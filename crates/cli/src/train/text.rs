//! The text output of a training.

use rankwright::eval::table::{Align, Cell, Table};
use rankwright::eval::{footnotes, shared_footnotes, tie_notes};
use rankwright::learn::{AutoReport, KeptReason, KeptRounds, LearnerSpec};
use rankwright::tasks::TrainModelResult;

use super::weights;
use crate::output::path_text;
use crate::position_bias;

/// A short summary of a training, with a table.
pub(super) fn of(learner: &LearnerSpec, trained: &TrainModelResult) -> String {
    let mut lines = vec![
        format!("model    {}", path_text(trained.model.as_deref())),
        format!("sha256   {}", trained.sha256),
        format!("learner  {}", trained.learner),
    ];
    lines.extend(trained.auto.as_ref().map(|chosen| format!("auto     {chosen}")));
    lines.extend(bias_text(trained).map(|text| format!("bias     {text}")));
    match trees_text(trained) {
        Some(text) => lines.push(format!("trees    {text}")),
        None => lines.extend(rounds_text(trained).map(|text| format!("rounds   {text}"))),
    }
    let peak = trained.peak_rss_bytes.map(|bytes| format!("; peak memory {} MiB", bytes >> 20));
    lines.push(format!(
        "seconds  load {:.2}, bin {:.2}, train {:.2}{}",
        trained.seconds.load,
        trained.seconds.bin,
        trained.seconds.train,
        peak.unwrap_or_default()
    ));
    let mut text = lines.join("\n") + "\n";
    if learner.learns()
        && let Some(table) = weights::table(trained)
    {
        text = format!("{text}\n{}", table.to_text());
    }
    if let Some(bias) = &trained.position_bias {
        text = format!("{text}\n{}", position_bias::table(bias).to_text());
    }
    if !trained.evaluations.is_empty() {
        text = format!("{text}\n{}", table(trained).to_text());
    }
    if let Some(choice) = &trained.choice {
        text = format!("{text}\n{}\n{}\n", candidates(choice).to_text().trim_end(), choice.text());
        if let Some(served) = choice.served_text() {
            text = format!("{text}{served}\n");
        }
        if choice.learner != trained.learner {
            text = format!("{text}the same model without a limit of time: {}\n", choice.learner);
        }
    }
    match &trained.kept {
        Some(kept) => format!("{text}\n{}\n", kept_text(kept, &trained.unit)),
        None => text,
    }
}

/// The candidates of an automatic choice, the best one first.
fn candidates(choice: &AutoReport) -> Table {
    let mut table = Table::new([
        ("candidate", Align::Left),
        (choice.metric.as_str(), Align::Right),
        ("95% interval", Align::Right),
        ("folds", Align::Right),
        ("weight", Align::Right),
        ("seconds", Align::Right),
    ]);
    for candidate in &choice.candidates {
        let value = match (&candidate.failure, candidate.value) {
            (Some(_), _) => "failed".to_owned(),
            (None, Some(value)) => format!("{value:.4}"),
            (None, None) => "-".to_owned(),
        };
        let weight = match candidate.weight {
            0.0 => "-".to_owned(),
            weight => format!("{weight:.2}"),
        };
        let interval = candidate.ci95.map(|(low, high)| format!("{low:.4} to {high:.4}"));
        let row = [
            candidate.learner.clone(),
            value,
            interval.unwrap_or_default(),
            candidate.folds.to_string(),
            weight,
            format!("{:.2}", candidate.seconds),
        ];
        table.rows.push(row.iter().map(|cell| cell.as_str().into()).collect());
    }
    table
}

/// The last line: which rounds the model is made of, and why.
fn kept_text(kept: &KeptRounds, unit: &str) -> String {
    let text = kept.text(unit);
    match &kept.reason {
        KeptReason::BestOnValidation { .. } if kept.rounds < kept.of => {
            format!("kept {text} (stop=none in the spec keeps all)")
        }
        KeptReason::AllRequested => format!("kept {text} (stop=none)"),
        _ => format!("kept {text}"),
    }
}

/// The correction for position bias, with the estimator that a file names.
fn bias_text(trained: &TrainModelResult) -> Option<String> {
    let text = trained.position_bias.as_ref()?.describe();
    Some(match &trained.bias_estimator {
        Some(estimator) => format!("{text}, estimated by {estimator}"),
        None => text,
    })
}

/// The number of rounds, for learners other than boosted trees.
fn rounds_text(trained: &TrainModelResult) -> Option<String> {
    let done = trained.iterations.len();
    let text = format!("{done} ({})", trained.unit);
    (done > 0).then_some(text)
}

/// Number, size and origin of the trees.
fn trees_text(trained: &TrainModelResult) -> Option<String> {
    let count = trained.trees?;
    let text = match trained.mean_leaves {
        None => count.to_string(),
        Some(mean) => format!("{count}, {mean:.1} leaves on average"),
    };
    Some(match trained.start_trees {
        None => text,
        Some(0) => format!("{text}; added to the scores of the start model"),
        Some(start) => format!("{text}; {start} from the start model"),
    })
}

/// A row for each set and metric.
fn table(trained: &TrainModelResult) -> Table {
    let mut table = Table::new([
        ("data", Align::Left),
        ("metric", Align::Left),
        ("value", Align::Right),
        ("95% interval", Align::Right),
        ("queries", Align::Right),
    ]);
    for (name, evaluation) in &trained.evaluations {
        for result in &evaluation.results {
            let interval = result.ci95.map(|(low, high)| format!("{low:.4} to {high:.4}"));
            table.rows.push(vec![
                Cell::new(name.clone()),
                Cell::new(result.measure.to_string()),
                Cell::new(format!("{:.4}", result.value)),
                Cell::new(interval.unwrap_or_default()),
                Cell::new(result.queries.to_string()),
            ]);
        }
    }
    match trained.evaluations.as_slice() {
        [] => {}
        [(_, only)] => table.notes = footnotes(&only.results),
        [(_, first), ..] => {
            table.notes = shared_footnotes(&first.results);
            let named = trained.evaluations.iter().map(|(name, found)| (name.as_str(), found));
            table.notes.extend(tie_notes(named));
        }
    }
    table
}
