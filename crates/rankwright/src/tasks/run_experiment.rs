//! A whole comparison from a file: learners on data sets, over folds and seeds.
//!
//! A cell is one training: a learner on a data set, with one fold and one seed. Cells whose results
//! are stored in the folder are not run again. A cancelled run ends after the current round of each
//! training, and the same request resumes it. Data that the experiment computes from text is made
//! first (`experiment_text.rs`); so is it for a plan, as cells depend on it.

use rankwright_experiment::{
    ExperimentError, ExperimentProgress, ExperimentRequest, PlanSummary, RunSummary,
};
use serde::Serialize;

use super::context::RunningTask;
use super::{Context, TaskError, Warning};

/// The result of running an experiment, with all warnings.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct RunExperimentResult {
    /// The state of the run, and the numbers of the report.
    #[serde(flatten)]
    pub summary: RunSummary,
    /// Warnings about documents, queries and judgements of texts, then about models; each of the
    /// latter is given once for a learner on a data set.
    pub warnings: Vec<Warning>,
}

/// The plan of an experiment, with all warnings.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct PlanExperimentResult {
    /// The cells and their states.
    #[serde(flatten)]
    pub plan: PlanSummary,
    /// Warnings about the data that is computed from text.
    pub warnings: Vec<Warning>,
}

/// The cells of an experiment and their states; reads every file, computes features of text and
/// trains nothing.
pub fn plan_experiment(
    request: &ExperimentRequest,
    context: &Context<'_>,
) -> Result<PlanExperimentResult, TaskError> {
    #[cfg_attr(not(feature = "search"), expect(unused_mut))]
    let mut task = RunningTask::new(context);
    #[cfg(feature = "search")]
    super::experiment_text::prepare_texts(request, context)?
        .into_iter()
        .for_each(|warning| task.keep_silently(warning));
    let (plan, _) = task.step("taking checksums of the data", || request.plan())?;
    Ok(PlanExperimentResult { plan, warnings: task.into_warnings() })
}

/// Runs the cells of an experiment that are not stored yet, and writes the report. A learner that
/// fails is listed in the result, and the others continue. A cancelled run is a result that is not
/// finished, since the cells so far are stored.
pub fn run_experiment(
    request: &ExperimentRequest,
    context: &Context<'_>,
) -> Result<RunExperimentResult, TaskError> {
    let mut task = RunningTask::new(context);
    let request = request.clone().simd(task.simd());
    #[cfg(feature = "search")]
    super::experiment_text::prepare_texts(&request, context)?
        .into_iter()
        .for_each(|warning| task.keep_silently(warning));
    let summary = request.run(&ExperimentEvents(context))?;
    let warnings = summary.results.iter().flat_map(|results| results.warnings());
    warnings.for_each(|warning| task.warn(Warning::Experiment(warning)));
    Ok(RunExperimentResult { summary, warnings: task.into_warnings() })
}

/// Sends the events of an experiment to the callbacks of a context.
struct ExperimentEvents<'a>(&'a Context<'a>);

impl ExperimentProgress for ExperimentEvents<'_> {
    fn step(&self, name: &str) {
        self.0.announce(name);
        if let Some(progress) = self.0.experiment {
            progress.step(name);
        }
    }

    fn planned(&self, plan: &PlanSummary) {
        if let Some(progress) = self.0.experiment {
            progress.planned(plan);
        }
    }

    fn started(&self, cell: &str) {
        if let Some(progress) = self.0.experiment {
            progress.started(cell);
        }
    }

    fn ended(&self, cell: &str, error: Option<&ExperimentError>) {
        if let Some(progress) = self.0.experiment {
            progress.ended(cell, error);
        }
    }

    fn should_stop(&self) -> bool {
        self.0.is_cancelled() || self.0.experiment.is_some_and(|progress| progress.should_stop())
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    fn request(folder: &Path, learner: &str) -> ExperimentRequest {
        let file = folder.join("trees.toml");
        let text = format!(
            "name = \"trees\"\nmetrics = [\"ndcg@10\"]\n\n[[data]]\nname = \"made\"\ngenerate = \
             \"letor(queries=20, documents=8)\"\n\n[[learner]]\nname = \"mart\"\nspec = \
             \"{learner}\"\n"
        );
        std::fs::write(&file, text).unwrap();
        ExperimentRequest::new(file).out(folder.join("results"))
    }

    /// Records events; sets a flag when the first cell begins.
    struct Events<'a> {
        seen: Mutex<Vec<String>>,
        stop: Option<&'a AtomicBool>,
    }

    impl ExperimentProgress for Events<'_> {
        fn planned(&self, plan: &PlanSummary) {
            self.seen.lock().unwrap().push(format!("{} to run", plan.pending()));
        }

        fn started(&self, cell: &str) {
            self.seen.lock().unwrap().push(cell.to_owned());
            if let Some(flag) = self.stop {
                flag.store(true, Ordering::Relaxed);
            }
        }

        fn ended(&self, _cell: &str, error: Option<&ExperimentError>) {
            let end = error.map_or("stored", ExperimentError::kind);
            self.seen.lock().unwrap().push(end.to_owned());
        }
    }

    #[test]
    fn steps_cells_and_warnings_reach_the_context_and_the_state_is_serialised() {
        let folder = tempfile::tempdir().unwrap();
        let request = request(folder.path(), "mart(trees=2, min_rows=100000)");
        let events = Events { seen: Mutex::default(), stop: None };
        let steps = Mutex::new(Vec::new());
        let step = |name: &str| steps.lock().unwrap().push(name.to_owned());
        let context = Context::default().on_step(&step).experiment(&events);
        let result = run_experiment(&request, &context).unwrap();
        assert_eq!(*events.seen.lock().unwrap(), ["1 to run", "made, mart, seed 1", "stored"]);
        assert_eq!(*steps.lock().unwrap(), ["taking checksums of the data", "comparing"]);
        let json = serde_json::to_value(&result).unwrap();
        assert_eq!((&json["finished"], &json["cells"]), (&true.into(), &1.into()));
        assert_eq!(json["pending"], 0);
        assert!(json["out"].as_str().unwrap().ends_with("results"), "{json}");
        assert_eq!(json["warnings"][0]["kind"], "constant-scores");
        assert_eq!(json["warnings"][0]["learner"], "mart");
        assert_eq!(result.warnings[0].kind(), "constant-scores");
        assert_eq!(plan_experiment(&request, &context).unwrap().plan.stored(), 1);
    }

    #[test]
    fn a_raised_flag_ends_the_run_and_the_same_request_resumes_it() {
        let folder = tempfile::tempdir().unwrap();
        let request = request(folder.path(), "mart(trees=5, leaves=4)");
        let flag = AtomicBool::new(false);
        let events = Events { seen: Mutex::default(), stop: Some(&flag) };
        let context = Context::default().cancel(&flag).experiment(&events);
        let stopped = run_experiment(&request, &context).unwrap().summary;
        assert!(!stopped.finished && stopped.pending == 1 && stopped.results.is_none());
        let json = serde_json::to_value(&stopped).unwrap();
        assert_eq!((&json["finished"], &json["pending"]), (&false.into(), &1.into()));
        let finished = run_experiment(&request, &Context::default()).unwrap().summary;
        assert!(finished.finished && finished.failed.is_empty());
    }

    #[cfg(feature = "search")]
    #[test]
    fn features_of_text_are_computed_once_and_again_after_a_change() {
        let folder = tempfile::tempdir().unwrap();
        let put = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        let documents: String = (0..30)
            .map(|i| format!("{{\"id\": \"d{i}\", \"text\": \"word w{} x{}\"}}\n", i % 7, i % 3))
            .collect();
        put("documents.jsonl", &documents);
        put(
            "queries.tsv",
            &(0..10).map(|i| format!("q{i}\tw{} x{}\n", i % 7, i % 3)).collect::<String>(),
        );
        let judged = |grade: usize| -> String {
            (0..10).map(|i| format!("q{i} 0 d{i} {grade}\nq{i} 0 d{} 0\n", i + 7)).collect()
        };
        put("qrels.txt", &judged(1));
        let run: String = (0..10).map(|i| format!("q{i} Q0 d{i} 1 2.5 other\n")).collect();
        put("other.run", &run);
        put(
            "text.toml",
            "name = \"text\"\nmetrics = [\"ap\"]\nweights = 1\n\n[[text]]\nname = \"small\"\n\
             documents = \"documents.jsonl\"\nqueries = \"queries.tsv\"\nqrels = \"qrels.txt\"\n\
             features = [\"bm25, length\", \"run(file=other.run, value=top1)\"]\n\n[[data]]\n\
             name = \"small\"\nfiles = \"text:small\"\nfolds = 3\n\n[[learner]]\nname = \"all\"\n\
             spec = \"ranksvm(transform=none)\"\n\n[[learner]]\nname = \"text\"\n\
             spec = \"ranksvm(transform=none)\"\nfeatures = [\"bm25\", \"length\"]\n",
        );
        let request = ExperimentRequest::new(folder.path().join("text.toml"))
            .out(folder.path().join("results"));
        let result = run_experiment(&request, &Context::default()).unwrap();
        let json = serde_json::to_value(&result).unwrap();
        let value =
            |at: usize| json["data"][0]["learners"][at]["seeds"][0]["values"]["ap"].as_f64();
        assert_eq!(value(0), Some(1.0), "the other system knows the answers: {json}");
        assert!(value(1) < value(0), "{json}");
        // The path is as in the file, not as on this machine.
        assert_eq!(json["weights"][0]["weights"][0]["feature"], "run(file=other.run, value=top1)");
        let features = |at: usize| json["weights"][at]["weights"].as_array().unwrap().len();
        assert_eq!((features(0), features(1)), (3, 2));
        assert!(result.summary.text.contains("Weights of all, small"), "{}", result.summary.text);
        let data = request.text_file("small");
        let made = |path: &Path| std::fs::metadata(path).unwrap().modified().unwrap();
        let first = made(&data);
        assert_eq!(plan_experiment(&request, &Context::default()).unwrap().plan.pending(), 0);
        assert_eq!(made(&data), first, "nothing is computed twice");
        put("qrels.txt", &judged(2));
        assert_eq!(plan_experiment(&request, &Context::default()).unwrap().plan.pending(), 6);
    }

    #[test]
    fn a_learner_that_fails_has_the_kind_of_its_error() {
        let folder = tempfile::tempdir().unwrap();
        let request = request(folder.path(), "coordinate-ascent(metric=nosuch)");
        let error = run_experiment(&request, &Context::default()).unwrap_err();
        assert_eq!(error.kind(), "file", "{error}");
        let text = std::fs::read_to_string(&request.file).unwrap();
        let model =
            text.replace("spec = \"coordinate-ascent(metric=nosuch)\"", "model = \"no.model\"");
        std::fs::write(&request.file, model).unwrap();
        let result = run_experiment(&request, &Context::default()).unwrap();
        let json = serde_json::to_value(&result).unwrap();
        assert_eq!(json["failed"][0]["kind"], "io", "{json}");
    }
}
