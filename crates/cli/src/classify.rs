//! `classify`: classes of documents, learnt from labelled documents, by Rocchio or kNN.
//!
//! Documents are tf-idf vectors of all their text. Without `--apply` the classifier is
//! cross-validated by document: each one is classified with a classifier and a vocabulary that have
//! not seen it. With `--apply` it learns from all labelled documents and classifies others.

use std::path::{Path, PathBuf};

use rankwright::data::DEFAULT_SEED;
use rankwright::data::store::write_atomic;
use rankwright::eval::table::{Align, Table};
use rankwright::search::classify::{
    ClassDecision, Classification, Classifier, ClassifierEvaluation, TextClassifier,
};
use rankwright::search::{Analysis, Document, Documents};
use serde::Serialize;

use crate::failure::Failure;
use crate::input::{not_over_an_input, one_stdin};
use crate::output::Output;
use crate::progress::timed;

/// Classify documents by labelled ones, with Rocchio or kNN.
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
    /// File for the decisions: id, class and value, separated by tabs. The value is the distance to
    /// the class (rocchio) or its share of the neighbours (knn)
    #[arg(long, value_name = "FILE", requires = "apply")]
    out: Option<PathBuf>,
}

pub(crate) fn run(args: &Args, out: &Output) -> Result<(), Failure> {
    if let Some(path) = &args.out {
        out.keeps_stdout_free(path)?;
        not_over_an_input(path, args.documents.iter().chain(&args.apply).map(PathBuf::as_path))?;
    }
    one_stdin(args.documents.iter().chain(&args.apply).map(PathBuf::as_path))?;
    let classifier = Classifier::parse(&args.classifier)?;
    let analysis = Analysis::parse(&args.analysis)?;
    let documents = read(&args.documents, out)?;
    let (task, _) = timed(out, "analysing", || {
        TextClassifier::new(documents, &args.label, classifier, analysis)
    });
    let task = task?;
    out.warn(task.warnings());
    match &args.out {
        Some(path) => apply(args, &task, path, out),
        None => validate(args, &task, out),
    }
}

fn read(paths: &[PathBuf], out: &Output) -> Result<Vec<Document>, Failure> {
    let mut source = Documents::open_all(paths, None)?;
    let (documents, _) =
        timed(out, "reading documents", || source.by_ref().collect::<Result<Vec<Document>, _>>());
    let documents = documents?;
    out.notes(source.warnings());
    Ok(documents)
}

fn validate(args: &Args, task: &TextClassifier, out: &Output) -> Result<(), Failure> {
    let work = || task.cross_validate(args.folds, args.seed);
    let result = timed(out, "cross-validating", work).0?;
    out.show(&result, |_| evaluation_text(&result))
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
        "{}\naccuracy {:.4}, macro F1 {:.4}, micro F1 {:.4}\n{} of {} documents in {} folds, seed \
         {}\n",
        table.to_text(),
        result.accuracy,
        result.macro_f1,
        result.micro_f1,
        result.classifier,
        result.documents,
        result.folds,
        result.seed
    )
}

/// A classification and the file it was written to.
#[derive(Serialize)]
struct WrittenClassification<'a> {
    out: &'a Path,
    #[serde(flatten)]
    result: &'a Classification,
}

fn apply(args: &Args, task: &TextClassifier, path: &Path, out: &Output) -> Result<(), Failure> {
    let documents = read(&args.apply, out)?;
    let result = timed(out, "classifying", || task.classify(documents)).0?;
    out.warn(&result.warnings);
    write_atomic(path, |file| {
        for ClassDecision { id, class, value, .. } in &result.decisions {
            writeln!(file, "{id}\t{}\t{value}", class.replace(['\t', '\n', '\r'], " "))?;
        }
        Ok(())
    })?;
    if path == Path::new("-") {
        return Ok(());
    }
    out.show(&WrittenClassification { out: path, result: &result }, |_| {
        let each = result.classes.iter().map(|(class, count)| format!("{class} {count}"));
        format!(
            "{}: {} documents, learnt from {}: {}",
            path.display(),
            result.documents,
            result.learnt_from,
            each.collect::<Vec<_>>().join(", ")
        )
    })
}
