//! Pairwise judgements aggregated by a Bradley-Terry model: pairs to train on, or grades.

use std::path::{Path, PathBuf};

use rankwright_clicks::judge::{
    AggregatedPair, BradleyTerry, BradleyTerryOptions, PairComparison, write_aggregated,
};
use rankwright_data::store::write_atomic;
use rankwright_data::{DataError, ListFormat, Qrels, QueryLists};
use rankwright_spec::{check_params, choices};
use serde::{Deserialize, Serialize};

use super::load_comparisons;
use crate::tasks::context::RunningTask;
use crate::tasks::paths::check_used;
use crate::tasks::{Context, JudgementsSource, TaskError, TaskInputs, Warning};

choices! {
    /// A form of aggregated judgements.
    pub enum AggregateFormat {
        /// A file of preference pairs, each with the number of its comparisons times 2p - 1 as
        /// weight, where p is the probability that the better document is preferred.
        Pairs = "pairs",
        /// A file of preference pairs, each with that probability and the number of comparisons.
        Probabilities = "probabilities",
        /// Judgements with grades.
        Qrels = "qrels",
    }
}

/// Judgements to aggregate.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct JudgeAggregateRequest {
    /// The judgements.
    pub judgements: Vec<JudgementsSource>,
    /// Options of the model: its prior, and the number of grades.
    #[serde(default)]
    pub options: BradleyTerryOptions,
    /// The form of the result.
    #[serde(default)]
    pub format: AggregateFormat,
    /// File for the pairs or grades; without one, the result has them.
    pub out: Option<PathBuf>,
}

impl TaskInputs for JudgeAggregateRequest {
    fn inputs(&self) -> Vec<PathBuf> {
        let files = self.judgements.iter().filter_map(JudgementsSource::path);
        files.map(Path::to_owned).collect()
    }
}

impl JudgeAggregateRequest {
    /// Makes pairs with weights.
    pub fn new(judgements: impl IntoIterator<Item = impl Into<JudgementsSource>>) -> Self {
        Self {
            judgements: judgements.into_iter().map(Into::into).collect(),
            options: BradleyTerryOptions::default(),
            format: AggregateFormat::default(),
            out: None,
        }
    }

    /// Sets the file for the pairs or grades.
    pub fn out(mut self, file: impl Into<PathBuf>) -> Self {
        self.out = Some(file.into());
        self
    }

    /// Sets the prior.
    pub fn prior(mut self, prior: f64) -> Self {
        self.options.prior = prior;
        self
    }

    /// Sets the form of the result.
    pub fn format(mut self, format: AggregateFormat) -> Self {
        self.format = format;
        self
    }

    /// Sets the number of grades.
    pub fn grades(mut self, grades: u32) -> Self {
        self.options.grades = grades;
        self
    }
}

/// Aggregated judgements, in a file or in memory.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct JudgeAggregateResult {
    /// The file that was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub out: Option<PathBuf>,
    /// The pairs or grades, if no file was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows: Option<Vec<AggregatedRow>>,
    /// The form of the result: pairs, probabilities or qrels.
    pub format: &'static str,
    /// Number of comparisons.
    pub comparisons: usize,
    /// Number of queries.
    pub queries: usize,
    /// Number of documents, over all queries.
    pub documents: usize,
    /// Number of pairs or grades.
    pub lines: usize,
    /// The documents of each query, the strongest first.
    pub strengths: Vec<QueryStrengths>,
    /// Warnings about files.
    pub warnings: Vec<Warning>,
}

/// A pair or a grade of aggregated judgements.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum AggregatedRow {
    /// A pair with a weight.
    Pair {
        /// The query.
        query: String,
        /// The better document.
        better: String,
        /// The worse document.
        worse: String,
        /// The number of comparisons times 2p - 1, where p is the probability that the better
        /// document is preferred; with a probability, the number of comparisons.
        weight: f64,
        /// That probability, if it is requested.
        #[serde(skip_serializing_if = "Option::is_none")]
        probability: Option<f64>,
    },
    /// A graded document.
    Grade {
        /// The query.
        query_id: String,
        /// The document.
        doc_id: String,
        /// The grade, from 0.
        relevance: u32,
    },
}

/// The strengths of the documents of a query.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct QueryStrengths {
    /// The query.
    pub query: String,
    /// Its documents, the strongest first.
    pub documents: Vec<DocumentStrength>,
}

/// The strength of a document.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct DocumentStrength {
    /// The document.
    pub document: String,
    /// Its logarithmic strength; the mean of a query is 0.
    pub strength: f64,
}

/// Fits a Bradley-Terry model to judgements and makes pairs or grades.
///
/// ```
/// use rankwright::tasks::{AggregateFormat, Context, JudgeAggregateRequest, judge_aggregate};
///
/// # let folder = tempfile::tempdir()?;
/// let (file, out) = (folder.path().join("judgements"), folder.path().join("qrels"));
/// std::fs::write(&file, "q1 a > b\nq1 a > b\nq1 b > c\n")?;
/// let request = JudgeAggregateRequest::new([file]).out(&out).format(AggregateFormat::Qrels).grades(3);
/// judge_aggregate(&request, &Context::default())?;
/// assert_eq!(std::fs::read_to_string(out)?, "q1 0 a 2\nq1 0 b 1\nq1 0 c 0\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn judge_aggregate(
    request: &JudgeAggregateRequest,
    context: &Context<'_>,
) -> Result<JudgeAggregateResult, TaskError> {
    check_params(&request.options, "bradley-terry")?;
    let is_given = request.options.grades != BradleyTerryOptions::default().grades;
    let is_unused = is_given && request.format != AggregateFormat::Qrels;
    check_used(is_unused, "grades", "pairs have no grades")?;
    let task = RunningTask::new(context);
    request.check_files(request.out.as_deref())?;
    let comparisons = load_comparisons(&request.judgements, &task)?;
    let fit = || BradleyTerry::fit(&comparisons, &request.options);
    let (fitted, _) = task.step("fitting a Bradley-Terry model", fit)?;
    let rows = aggregated_rows(&fitted, &comparisons, request);
    if let Some(out) = &request.out {
        let step = format!("writing {}", out.display());
        task.step(&step, || write(&fitted, &comparisons, out, request))?;
    }
    Ok(JudgeAggregateResult {
        out: request.out.clone(),
        format: request.format.name(),
        comparisons: comparisons.len(),
        queries: fitted.queries.len(),
        documents: fitted.queries.values().map(Vec::len).sum(),
        lines: rows.len(),
        rows: request.out.is_none().then_some(rows),
        strengths: strengths(&fitted),
        warnings: task.into_warnings(),
    })
}

fn aggregated_rows(
    fitted: &BradleyTerry,
    comparisons: &[PairComparison],
    request: &JudgeAggregateRequest,
) -> Vec<AggregatedRow> {
    let has_probabilities = request.format == AggregateFormat::Probabilities;
    let pair = |pair: AggregatedPair| AggregatedRow::Pair {
        weight: if has_probabilities { pair.comparisons as f64 } else { pair.weight() },
        probability: has_probabilities.then_some(pair.probability),
        query: pair.query,
        better: pair.better,
        worse: pair.worse,
    };
    let grade = |(query, document, grade): (&str, &str, u32)| AggregatedRow::Grade {
        query_id: query.to_owned(),
        doc_id: document.to_owned(),
        relevance: grade,
    };
    match request.format {
        AggregateFormat::Qrels => {
            fitted.grades(request.options.grades).into_iter().map(grade).collect()
        }
        AggregateFormat::Pairs | AggregateFormat::Probabilities => {
            fitted.pairs(comparisons).into_iter().map(pair).collect()
        }
    }
}

fn write(
    fitted: &BradleyTerry,
    comparisons: &[PairComparison],
    out: &Path,
    request: &JudgeAggregateRequest,
) -> Result<(), DataError> {
    match request.format {
        AggregateFormat::Qrels => {
            let grades = fitted.grades(request.options.grades);
            let rows = grades.iter().map(|(query, id, grade)| (*query, *id, f64::from(*grade)));
            let qrels = Qrels::from_lists(QueryLists::from_rows("grades", rows)?);
            qrels.save(out, ListFormat::from_path(out))
        }
        AggregateFormat::Pairs | AggregateFormat::Probabilities => {
            let has_probabilities = request.format == AggregateFormat::Probabilities;
            let pairs = fitted.pairs(comparisons);
            write_atomic(out, |file| write_aggregated(file, &pairs, has_probabilities))
        }
    }
}

fn strengths(fitted: &BradleyTerry) -> Vec<QueryStrengths> {
    let of_query = |(query, documents): (&String, &Vec<(String, f64)>)| QueryStrengths {
        query: query.clone(),
        documents: documents
            .iter()
            .map(|(id, strength)| DocumentStrength { document: id.clone(), strength: *strength })
            .collect(),
    };
    fitted.queries.iter().map(of_query).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn pairs_have_weights_or_probabilities() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("j"), "q a > b\nq b < a\nq b > c\n").unwrap();
        let request = JudgeAggregateRequest::new([path("j")]).out(path("pairs"));
        let result = judge_aggregate(&request, &Context::default()).unwrap();
        assert_eq!((result.lines, result.documents, result.comparisons), (2, 3, 3));
        assert_eq!(result.strengths[0].documents[0].document, "a");
        let text = fs::read_to_string(path("pairs")).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "qid\tbetter\tworse\tweight");
        assert!(lines[1].starts_with("q\ta\tb\t") && lines[2].starts_with("q\tb\tc\t"), "{text}");
        let weight = |line: &str| line.rsplit('\t').next().unwrap().parse::<f64>().unwrap();
        assert!(weight(lines[1]) > weight(lines[2]) && weight(lines[1]) < 2.0, "{text}");
        let request = request.format(AggregateFormat::Probabilities);
        judge_aggregate(&request, &Context::default()).unwrap();
        let text = fs::read_to_string(path("pairs")).unwrap();
        assert!(text.starts_with("qid\tbetter\tworse\tprobability\tweight\nq\ta\tb\t0."), "{text}");
        for wrong in [0.0, -1.0, f64::NAN] {
            let request = JudgeAggregateRequest::new([path("j")]).out(path("none")).prior(wrong);
            let error = judge_aggregate(&request, &Context::default()).unwrap_err();
            assert_eq!(error.kind(), "bad-value", "{wrong}");
        }
        let one_grade = JudgeAggregateRequest::new([path("j")]).out(path("none")).grades(1);
        assert!(judge_aggregate(&one_grade, &Context::default()).is_err());
        assert!(!path("none").exists());
        let over = JudgeAggregateRequest::new([path("j")]).out(path("j"));
        let error = judge_aggregate(&over, &Context::default()).unwrap_err();
        assert_eq!(error.kind(), "output-is-input");
    }
}
