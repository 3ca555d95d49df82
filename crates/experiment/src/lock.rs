//! The lock file: everything needed to repeat an experiment, on this machine or another.
//!
//! Checksums say whether the data is the same, settings spell out every default of every learner,
//! so that a later version with other defaults can be told to do the same. Threads, jobs and the
//! machine are recorded too, though results do not depend on them; times are not.

use rankwright_learn::LearnerSpec;
use serde_json::{Map, Value, json};

use super::VERSION;
use super::file::{DataSet, Member, MemberKind, Origin, Source};
use super::plan::{FileChecksum, Plan, division_key};

/// Every parameter of a learner, written or by default.
pub(super) fn settings(spec: &LearnerSpec) -> Value {
    let params = spec.learner().params();
    let setting = |name: &str| Some((name.to_owned(), Value::String(params.text(name)?)));
    let settings = params.defs().into_iter().filter_map(|def| setting(def.name));
    settings.collect::<Map<_, _>>().into()
}

/// The lock file of a plan.
pub(super) fn lock(plan: &Plan<'_>) -> Value {
    let experiment = plan.experiment;
    let sets = experiment.data.iter().zip(&plan.files).map(|(set, files)| data(set, files));
    let metrics = experiment.metrics.iter();
    json!({
        "rankwright": VERSION,
        "experiment": experiment.name,
        "file_sha256": experiment.sha256,
        "seeds": experiment.seeds,
        "metrics": metrics
            .map(|m| json!({"metric": m.to_string(), "convention": m.convention()}))
            .collect::<Vec<_>>(),
        "compare": {
            "baseline": experiment.compare.baseline,
            "test": experiment.compare.test.to_string(),
            "correction": experiment.compare.correction.to_string(),
            "alpha": experiment.compare.alpha,
            "samples": experiment.compare.samples,
            "seed": experiment.compare.seed,
        },
        "data": sets.collect::<Vec<_>>(),
        "learners": experiment.learners.iter().map(learner).collect::<Vec<_>>(),
        "threads": plan.threads,
        "jobs": plan.jobs,
        "machine": {
            "system": std::env::consts::OS,
            "processor": std::env::consts::ARCH,
            "cores": std::thread::available_parallelism().map_or(1, usize::from),
            "simd": format!("{:?}", plan.simd).to_lowercase(),
        },
    })
}

fn learner(member: &Member) -> Value {
    match &member.what {
        MemberKind::Learner(spec) => json!({
            "name": member.name,
            "spec": spec.to_string(),
            "settings": settings(spec),
        }),
        MemberKind::Model(file) => json!({"name": member.name, "model": file.written}),
    }
}

fn data(set: &DataSet, files: &[FileChecksum]) -> Value {
    let file = |file: &FileChecksum| json!({"file": file.written, "sha256": file.sha256, "bytes": file.bytes});
    let source = match &set.source {
        Source::Folds(folds) => json!({"folds": folds.len()}),
        Source::Whole { origin: Origin::Files(_), division } => division_key(division),
        Source::Whole { origin: Origin::Generated(options), division } => json!({
            "letor": {
                "queries": options.queries,
                "documents": options.documents,
                "seed": options.seed,
            },
            "division": division_key(division),
        }),
    };
    json!({
        "name": set.name,
        "source": source,
        "files": files.iter().map(file).collect::<Vec<_>>(),
        "format": set.format.map(|format| format.info().name),
        "absent": set.absent.name(),
        "columns": set.columns,
        "ignore_extra": set.ignore_extra,
    })
}
