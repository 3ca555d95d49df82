//! `classify`: classes of documents, learnt from labelled documents, by Rocchio or kNN.
//!
//! Without `--apply` the classifier is cross-validated by document; with it, other documents are
//! classified.

use std::path::{Path, PathBuf};

use rankwright::data::DEFAULT_SEED;
use rankwright::eval::table::{Align, Table};
use rankwright::search::Analysis;
use rankwright::search::classify::{Classifier, ClassifierEvaluation};
use rankwright::spec::words::counted;
use rankwright::tasks::{
    ClassifyDocumentsRequest, ClassifyDocumentsResult, LabelledFiles, ValidateClassifierRequest,
    classify_documents, validate_classifier,
};

use crate::failure::Failure;
use crate::output::Output;
use crate::progress::run_task;

/// Learn classes from labelled documents, with Rocchio or kNN, and classify others.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Labelled documents: JSON lines, TREC, SMART, CSV, TSV, Parquet, or a folder
    #[arg(value_name = "DOCS", required = true)]
    documents: Vec<PathBuf>,
    /// The field that holds the class
    #[arg(long, value_name = "FIELD")]
    label: String,
    /// The classifier: `rocchio` or `knn(k=20)`, both with `distance=cosine` or `euclidean`
    #[arg(long, value_name = "SPEC", default_value = "rocchio")]
    classifier: String,
    /// Analysis of the text: a language, such as `english` or `german(stem=false)`, or `plain`
    #[arg(long, value_name = "SPEC", default_value = "english")]
    analysis: String,
    /// Folds of the cross validation
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(2..))]
    folds: u32,
    /// Seed of the assignment to folds
    #[arg(long, value_name = "N", default_value_t = DEFAULT_SEED)]
    seed: u64,
    /// Documents to classify, instead of a cross validation
    #[arg(long, value_name = "DOCS", num_args = 1.., requires = "out")]
    apply: Vec<PathBuf>,
    /// File for the predicted classes: id, class and value, separated by tabs. The value is the
    /// distance to the class (rocchio) or its share of the neighbours (knn)
    #[arg(long, value_name = "FILE", requires = "apply")]
    out: Option<PathBuf>,
}

pub(crate) fn run(args: &Args, out: &Output) -> Result<(), Failure> {
    let labelled = LabelledFiles::new(&args.documents, args.label.as_str())
        .classifier(Classifier::parse(&args.classifier)?)
        .analysis(Analysis::parse(&args.analysis)?);
    let Some(path) = &args.out else {
        let request = ValidateClassifierRequest::new(labelled).folds(args.folds).seed(args.seed);
        let result = run_task(out, |context| validate_classifier(&request, context))?;
        return out.show(&result, |result| evaluation_text(&result.evaluation));
    };
    out.check_not_stdout(path)?;
    let request = ClassifyDocumentsRequest::new(labelled, &args.apply, path);
    let result = run_task(out, |context| classify_documents(&request, context))?;
    match path == Path::new("-") {
        true => Ok(()),
        false => out.show(&result, classes_text),
    }
}

fn evaluation_text(result: &ClassifierEvaluation) -> String {
    let names = ["class", "precision", "recall", "f1", "documents"];
    let align = |name| (name, if name == "class" { Align::Left } else { Align::Right });
    let mut table = Table::new(names.map(align));
    for score in &result.classes {
        let numbers = [score.precision, score.recall, score.f1].map(|v| format!("{v:.4}"));
        let mut row = vec![score.class.clone()];
        row.extend(numbers);
        row.push(score.count.to_string());
        table.rows.push(row.iter().map(|cell| cell.as_str().into()).collect());
    }
    format!(
        "{}\naccuracy {:.4}, macro F1 {:.4}, micro F1 {:.4}\n{} of {} in {}, seed {}\n",
        table.to_text(),
        result.accuracy,
        result.macro_f1,
        result.micro_f1,
        result.classifier,
        counted(result.documents, "document"),
        counted(result.folds as usize, "fold"),
        result.seed
    )
}

fn classes_text(result: &ClassifyDocumentsResult) -> String {
    let each = result.classes.iter().map(|(class, count)| format!("{class} {count}"));
    format!(
        "{}: {}, learnt from {}: {}",
        result.out.display(),
        counted(result.documents, "document"),
        result.learnt_from,
        each.collect::<Vec<_>>().join(", ")
    )
}
