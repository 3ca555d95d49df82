//! What is told of a training: text, JSON, and the side file.

use std::path::Path;

use rankwright::data::DataError;
use rankwright::eval::conventions;
use rankwright::eval::table::{Align, Cell, Table};
use rankwright::learn::LearnerSpec;
use rankwright::model::{Model, ModelBody};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::{Args, Trained, output_paths, weights, write_text};
use crate::failure::Failure;

/// The SHA-256 of a model's file as it is on disk, in hexadecimal.
pub(crate) fn sha256(path: &Path, model: &Model) -> Result<String, Failure> {
    let bytes = match path.is_file() {
        true => {
            std::fs::read(path).map_err(|e| DataError::io("read", path.display().to_string(), e))?
        }
        // A pipe has given its bytes away.
        false => model.to_bytes(),
    };
    let digest = Sha256::digest(&bytes);
    Ok(digest.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// The largest memory this process has had so far, where the system tells.
pub(crate) fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(kib * 1024)
}

/// The document that other programs rely on.
pub(super) fn json_of(args: &Args, trained: &Trained) -> Value {
    let Trained { history, watched, .. } = trained;
    let valid = watched.iter().map(|(name, evaluation)| (name.clone(), json!(evaluation.results)));
    let valid: serde_json::Map<String, Value> = valid.collect();
    json!({
        "model": args.out,
        "sha256": trained.sha256,
        "seconds": {
            "load": trained.load_seconds,
            "bin": history.bin_seconds,
            "train": history.train_seconds,
        },
        "trees": trees(trained),
        "unit": history.unit,
        "best": history.best,
        "sets": history.sets,
        "metrics": history.metrics,
        "iterations": history.iterations,
        "weights": weights::json_of(trained),
        "valid": valid,
        "peak_rss_bytes": trained.peak,
    })
}

/// Writes `MODEL.log.json`: the document, and where and how it came about. Nothing where the model
/// has become no ordinary file.
pub(super) fn write_log(
    args: &Args,
    learner: &LearnerSpec,
    trained: &Trained,
) -> Result<(), Failure> {
    let Some(path) = output_paths::log(args) else { return Ok(()) };
    let mut document = json_of(args, trained);
    document["learner"] = learner.to_string().into();
    document["seed"] = args.seed().into();
    document["data"] = json!(args.data);
    document["validation"] = json!(args.valid);
    document["conventions"] = json!(trained.history.conventions);
    document["threads"] = rayon::current_num_threads().into();
    document["version"] = env!("CARGO_PKG_VERSION").into();
    write_text(&path, &format!("{document:#}\n"))
}

/// A short table for people.
pub(super) fn text_of(args: &Args, learner: &LearnerSpec, trained: &Trained) -> String {
    let Trained { history, watched, .. } = trained;
    let mut lines = vec![
        format!("model    {}", args.out.display()),
        format!("sha256   {}", trained.sha256),
        format!("learner  {learner}"),
    ];
    match trees_text(learner, trained) {
        Some(text) => lines.push(format!("trees    {text}")),
        None => lines.extend(rounds_text(trained).map(|text| format!("rounds   {text}"))),
    }
    let peak = trained.peak.map(|bytes| format!("; peak memory {} MiB", bytes >> 20));
    lines.push(format!(
        "seconds  load {:.2}, bin {:.2}, train {:.2}{}",
        trained.load_seconds,
        history.bin_seconds,
        history.train_seconds,
        peak.unwrap_or_default()
    ));
    let mut text = lines.join("\n") + "\n";
    if learner.learns()
        && let Some(table) = weights::table(trained)
    {
        text = format!("{text}\n{}", table.to_text());
    }
    if !watched.is_empty() {
        text = format!("{text}\n{}", table(trained).to_text());
    }
    text
}

/// How many rounds there were, of learners other than boosted trees.
fn rounds_text(trained: &Trained) -> Option<String> {
    let history = &trained.history;
    let done = history.iterations.len();
    let text = format!("{done} ({})", history.unit);
    match (done, history.best) {
        (0, _) => None,
        (_, Some(best)) => Some(format!("{text}; best on validation data: {best}")),
        (_, None) => Some(text),
    }
}

fn trees(trained: &Trained) -> Option<usize> {
    match trained.model.body() {
        ModelBody::Trees(ensemble) => Some(ensemble.trees().len()),
        _ => None,
    }
}

/// How many trees there are, how large they are and where they came from.
fn trees_text(learner: &LearnerSpec, trained: &Trained) -> Option<String> {
    let (count, history) = (trees(trained)?, &trained.history);
    let grown = history.iterations.len();
    let leaves: usize = history.iterations.iter().filter_map(|tree| tree.leaves).sum();
    let mut text = match leaves {
        0 => count.to_string(),
        _ => format!("{count}, {:.1} leaves on average", leaves as f64 / grown.max(1) as f64),
    };
    if learner.boosting().is_none() {
        return Some(text);
    }
    if let Some(best) = history.best {
        text = format!("{text}; best after {best} of {grown}");
    }
    let stop = learner.boosting().map(|params| params.stop).filter(|stop| *stop > 0);
    let kept = stop.and(history.best).unwrap_or(grown);
    match count.saturating_sub(kept) {
        0 => Some(text),
        start => Some(format!("{text}; {start} from the start model")),
    }
}

/// A row for each set and metric.
fn table(trained: &Trained) -> Table {
    let mut table = Table::new([
        ("data", Align::Left),
        ("metric", Align::Left),
        ("value", Align::Right),
        ("95% interval", Align::Right),
        ("queries", Align::Right),
    ]);
    for (name, evaluation) in &trained.watched {
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
    if let Some((_, first)) = trained.watched.first() {
        table.notes = conventions(&first.results);
    }
    table
}
