//! The log of a training, a file `MODEL.log.json` beside the model.

use std::path::{Path, PathBuf};

use rankwright_data::bytes::read_text_file;
use serde::Deserialize;

use crate::auto::AutoReport;
use crate::error::LearnError;
use crate::session::{Iteration, KeptRounds, TrainingHistory};

/// The log of a training.
#[derive(Debug, Clone, PartialEq)]
pub struct TrainingLog {
    /// The rounds of the training, with their metrics and times.
    pub history: TrainingHistory,
    /// Seconds spent reading the data.
    pub load_seconds: f64,
    /// Number of threads; `None` if the log does not state it.
    pub threads: Option<usize>,
    /// SHA-256 of the model that the training wrote, in hexadecimal; `None` if the log does not
    /// state it. The log beside a model with another digest is that of another training.
    pub sha256: Option<String>,
    /// The candidates of an automatic training; `None` for other learners.
    pub choice: Option<AutoReport>,
}

/// The JSON document of the file; its keys have the meaning of the fields of [`TrainingHistory`].
#[derive(Debug, Deserialize)]
struct LogDocument {
    sets: Vec<String>,
    metrics: Vec<String>,
    #[serde(default)]
    conventions: Vec<String>,
    #[serde(default)]
    unit: String,
    best: Option<usize>,
    #[serde(default)]
    kept: Option<KeptRounds>,
    iterations: Vec<Iteration>,
    #[serde(default)]
    seconds: Seconds,
    threads: Option<usize>,
    sha256: Option<String>,
    #[serde(default)]
    choice: Option<AutoReport>,
}

/// Seconds spent reading the data, binning it and training.
#[derive(Debug, Default, Deserialize)]
struct Seconds {
    #[serde(default)]
    load: f64,
    #[serde(default)]
    bin: f64,
    #[serde(default)]
    train: f64,
}

impl TrainingLog {
    /// Reads the text of a log.
    ///
    /// ```
    /// use rankwright_learn::TrainingLog;
    ///
    /// let text = r#"{"sets": [], "metrics": ["ndcg@10"], "best": null, "iterations": []}"#;
    /// assert_eq!(TrainingLog::parse(text)?.history.metrics, ["ndcg@10"]);
    /// assert!(TrainingLog::parse("{}").is_err());
    /// # Ok::<(), rankwright_learn::LearnError>(())
    /// ```
    pub fn parse(text: &str) -> Result<TrainingLog, LearnError> {
        Self::parse_named("the log", text)
    }

    /// Reads the text of a log; `file` is its name in errors.
    fn parse_named(file: &str, text: &str) -> Result<TrainingLog, LearnError> {
        let document: LogDocument = serde_json::from_str(text)
            .map_err(|error| LearnError::Log { file: file.to_owned(), error })?;
        let history = TrainingHistory {
            sets: document.sets,
            metrics: document.metrics,
            conventions: document.conventions,
            unit: document.unit,
            best: document.best,
            kept: document.kept,
            iterations: document.iterations,
            bin_seconds: document.seconds.bin,
            train_seconds: document.seconds.train,
            // The weights of a linear model are not part of a log.
            weights: Vec::new(),
        };
        let LogDocument { seconds, threads, sha256, choice, .. } = document;
        Ok(TrainingLog { history, load_seconds: seconds.load, threads, sha256, choice })
    }

    /// The path of a model's log: that of the model with `.log.json` appended.
    pub fn path_of(model: &Path) -> PathBuf {
        let mut name = model.as_os_str().to_owned();
        name.push(".log.json");
        name.into()
    }

    /// Reads the log file beside a model; `None` if there is no such file.
    pub fn read_for_model(model: &Path) -> Result<Option<TrainingLog>, LearnError> {
        let path = TrainingLog::path_of(model);
        if !path.is_file() {
            return Ok(None);
        }
        let name = path.display().to_string();
        Self::parse_named(&name, &read_text_file(&path)?).map(Some)
    }
}
