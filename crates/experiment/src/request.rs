//! An experiment from its file to its report, in one call. A cell of an experiment is one training
//! run: data set x fold x learner x seed.

use std::path::{Path, PathBuf};

use rankwright_data::store::{Overwritten, overwritten};
use rankwright_learn::simd::Simd;
use serde::{Deserialize, Serialize};

use super::plan::{FailedCells, Plan, PlanOptions, PlanSummary};
use super::report::{ExperimentReport, PLOTS, REPORT_FILES};
use super::results::ExperimentResults;
use super::run::ExperimentProgress;
use crate::{DataSet, Experiment, ExperimentError, LearnerKind, TextSource};

/// An experiment's file, the folder of its results, and the options of running it.
///
/// ```
/// use rankwright_experiment::{ExperimentRequest, PlanOptions};
/// use rankwright_learn::NoProgress;
///
/// # let folder = tempfile::tempdir()?;
/// let file = folder.path().join("trees.toml");
/// std::fs::write(&file, r#"
/// name = "trees"
/// metrics = ["ndcg@10"]
///
/// [[data]]
/// name = "made"
/// generate = "letor(queries=20, documents=8)"
///
/// [[learner]]
/// spec = "mart(trees=3, leaves=4)"
/// "#)?;
/// let request = ExperimentRequest::new(&file).out(folder.path().join("results"));
/// assert_eq!(request.plan()?.pending(), 1);
/// let summary = request.run(&NoProgress)?;
/// assert!(summary.finished && summary.failed.is_empty());
/// assert_eq!(request.plan()?.pending(), 0, "a stored result is not computed again");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, from = "ExperimentFields")]
#[non_exhaustive]
pub struct ExperimentRequest {
    /// The experiment's file.
    pub file: PathBuf,
    /// Folder of the results.
    pub out: PathBuf,
    /// Options of running the experiment.
    pub options: PlanOptions,
}

/// The JSON form of [`ExperimentRequest`]; without `out`, the folder is that of
/// [`ExperimentRequest::new`].
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExperimentFields {
    file: PathBuf,
    out: Option<PathBuf>,
    #[serde(default)]
    options: PlanOptions,
}

impl From<ExperimentFields> for ExperimentRequest {
    fn from(fields: ExperimentFields) -> Self {
        let request = ExperimentRequest::new(fields.file).options(fields.options);
        match fields.out {
            Some(folder) => request.out(folder),
            None => request,
        }
    }
}

impl ExperimentRequest {
    /// A request whose results go to a folder inside the current folder: the file's name with
    /// `.results` in place of its extension.
    pub fn new(file: impl Into<PathBuf>) -> Self {
        let file = file.into();
        let out = default_folder(&file);
        Self { file, out, options: PlanOptions::default() }
    }

    /// Sets the folder of results.
    pub fn out(mut self, folder: impl Into<PathBuf>) -> Self {
        self.out = folder.into();
        self
    }

    /// Sets the options.
    pub fn options(mut self, options: PlanOptions) -> Self {
        self.options = options;
        self
    }

    /// Sets the SIMD instruction set to use; results do not depend on it.
    pub fn simd(mut self, simd: Simd) -> Self {
        self.options.simd = simd;
        self
    }

    /// The file of the feature data that is computed from the `[[text]]` of this name. It must exist
    /// before the experiment is planned or run; `rankwright::tasks::run_experiment` writes it.
    pub fn text_file(&self, name: &str) -> PathBuf {
        self.out.join("text").join(format!("{name}.rwd"))
    }

    /// The experiment, with the paths of data that is computed from text.
    pub fn experiment(&self) -> Result<Experiment, ExperimentError> {
        Ok(Experiment::read(&self.file)?.with_text_files(|name| self.text_file(name)))
    }

    /// The cells and their states; reads every file and runs nothing.
    pub fn plan(&self) -> Result<PlanSummary, ExperimentError> {
        let experiment = self.experiment()?;
        Ok(Plan::new(&experiment, &self.out, &self.options)?.summary())
    }

    /// Runs the cells that are not stored yet and writes the report; without a report if `progress`
    /// asks to stop before all cells are run.
    pub fn run(&self, progress: &dyn ExperimentProgress) -> Result<RunSummary, ExperimentError> {
        let experiment = self.experiment()?;
        self.check_inputs(&experiment)?;
        progress.step("taking checksums of the data");
        let plan = Plan::new(&experiment, &self.out, &self.options)?;
        let planned = plan.summary();
        progress.planned(&planned);
        let run = plan.run(progress)?;
        let mut summary = RunSummary {
            finished: run.finished,
            cells: planned.cells.len(),
            pending: planned.pending() - run.done,
            out: self.out.clone(),
            files: Vec::new(),
            failed: run.failed.clone(),
            results: None,
            text: String::new(),
        };
        if run.finished {
            progress.step("comparing");
            let report = ExperimentReport::new(&plan, &run)?;
            summary.files = report.write(&plan)?;
            summary.failed = report.failed;
            summary.results = Some(report.results);
            summary.text = report.text;
        }
        Ok(summary)
    }
}

impl ExperimentRequest {
    /// Rejects writing a file of the report over an input.
    fn check_inputs(&self, experiment: &Experiment) -> Result<(), ExperimentError> {
        let mut inputs = vec![self.file.clone()];
        inputs.extend(experiment.data.iter().flat_map(DataSet::files).map(|f| f.path.clone()));
        inputs.extend(experiment.texts.iter().flat_map(TextSource::files).map(|f| f.path.clone()));
        for learner in &experiment.learners {
            match &learner.kind {
                LearnerKind::Spec(spec) => inputs.extend(spec.files()),
                LearnerKind::Model(file) => inputs.push(file.path.clone()),
            }
        }
        let mut outputs: Vec<PathBuf> =
            REPORT_FILES.iter().map(|name| self.out.join(name)).collect();
        // The names of plots depend on the results, so every existing plot is taken as an output.
        let plots = std::fs::read_dir(self.out.join(PLOTS)).into_iter().flatten().flatten();
        outputs.extend(plots.map(|entry| entry.path()));
        let outputs = outputs.iter().map(PathBuf::as_path);
        match overwritten(outputs, inputs.iter().map(PathBuf::as_path)) {
            Some(Overwritten::Input { out, input }) => {
                Err(ExperimentError::OutputIsInput { out, input })
            }
            // Two outputs that are the same file (the user may have linked files of an old report)
            // replace no input.
            Some(Overwritten::Output { .. }) | None => Ok(()),
        }
    }
}

/// The default folder, in the current one: `experiments/demo.toml` has its results in
/// `demo.results`.
fn default_folder(file: &Path) -> PathBuf {
    let stem = file.file_stem().map_or("experiment".into(), |stem| stem.to_string_lossy());
    PathBuf::from(format!("{stem}.results"))
}

/// The result of running an experiment. Serialised as the numbers of the report, with the state of
/// the run and the files.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct RunSummary {
    /// Whether every cell was run; false after a request to stop, and then there is no report.
    pub finished: bool,
    /// Number of all cells.
    pub cells: usize,
    /// Number of requested cells that still have no stored result after the run.
    pub pending: usize,
    /// Folder of the results.
    pub out: PathBuf,
    /// The files that were written, the page first.
    pub files: Vec<PathBuf>,
    /// Cells without a result, also part of `results`.
    #[serde(skip)]
    pub failed: Vec<FailedCells>,
    /// Every number of the report; `None` if there is no report.
    #[serde(flatten)]
    pub results: Option<ExperimentResults>,
    /// The tables of the report as plain text.
    #[serde(skip)]
    pub text: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_go_to_a_folder_with_the_name_of_the_file_in_the_current_folder() {
        let request = ExperimentRequest::new("experiments/demo.toml");
        assert_eq!(request.out, Path::new("demo.results"));
    }

    #[test]
    fn files_of_a_text_are_not_overwritten_by_the_report() {
        let folder = tempfile::TempDir::new().unwrap();
        let file = folder.path().join("x.toml");
        let text = r#"
            name = "x"
            metrics = "ndcg@5"
            [[text]]
            name = "t"
            documents = "documents.jsonl"
            queries = "queries.tsv"
            qrels = "qrels.txt"
            features = ["bm25", "run(file=run.txt)"]
            [[data]]
            name = "d"
            files = "text:t"
            folds = 3
            [[learner]]
            spec = "mart(trees=2)"
        "#;
        let request = ExperimentRequest::new(&file).out(folder.path());
        for input in ["documents.jsonl", "queries.tsv", "qrels.txt", "run.txt"] {
            std::fs::write(&file, text.replace(input, "table.md")).unwrap();
            std::fs::write(folder.path().join("table.md"), "an input").unwrap();
            let error = request.run(&rankwright_learn::NoProgress).unwrap_err();
            assert!(matches!(error, ExperimentError::OutputIsInput { .. }), "{input}: {error}");
        }
        // A folder of documents may contain the results.
        std::fs::write(&file, text.replace("documents.jsonl", ".")).unwrap();
        let experiment = request.experiment().unwrap();
        assert!(request.check_inputs(&experiment).is_ok());
    }
}
