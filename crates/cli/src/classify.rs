//! `classify`: classes of documents, learnt from labelled documents.
//!
//! Without `--apply` the classifier is cross-validated by document; with it, other documents are
//! classified.

use std::path::{Path, PathBuf};

use rankwright::data::DEFAULT_SEED;
use rankwright::eval::table::{Align, Table};
use rankwright::search::Analysis;
use rankwright::search::classify::{
    Classifier, ClassifierEvaluation, ClassifierOptions, TermWeights,
};
use rankwright::spec::words::counted;
use rankwright::tasks::{
    ClassifyDocumentsRequest, ClassifyDocumentsResult, LabelledFiles, ValidateClassifierRequest,
    classify_documents, validate_classifier,
};

use crate::declared::choices;
use crate::failure::Failure;
use crate::output::Output;
use crate::progress::run_task;

/// Learn classes from labelled documents, by their text or numbers, and classify others.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Labelled documents: JSON lines, TREC, SMART, CSV, TSV, Parquet, or a folder
    #[arg(value_name = "DOCS", required = true)]
    documents: Vec<PathBuf>,
    /// The field that holds the class
    #[arg(long, value_name = "FIELD")]
    label: String,
    /// The classifier, such as `knn(k=20)` or `naive-bayes(model=bernoulli)`. See `list
    /// classifiers`
    #[arg(long, value_name = "SPEC", default_value = "rocchio")]
    classifier: String,
    /// Analysis of the text: a language, such as `english` or `german(stem=false)`, or `plain`
    #[arg(long, value_name = "SPEC", default_value = "english")]
    analysis: String,
    /// Fields to classify by, separated by commas: text, category and number fields; default: all
    /// text fields, or all number fields of documents without text
    #[arg(long, value_name = "FIELDS", value_delimiter = ',')]
    fields: Vec<String>,
    /// Weights of terms; default: counts for naive-bayes, tfidf for all others
    #[arg(long, value_name = "WEIGHTS", value_parser = choices::<TermWeights>())]
    term_weights: Option<TermWeights>,
    /// Folds of the cross validation
    #[arg(long, value_name = "N", default_value_t = ValidateClassifierRequest::DEFAULT_FOLDS, conflicts_with_all = ["apply", "out", "with_scores"],
        value_parser = clap::value_parser!(u32).range(2..))]
    folds: u32,
    /// Seed of the assignment to folds
    #[arg(long, value_name = "N", default_value_t = DEFAULT_SEED, conflicts_with_all = ["apply", "out", "with_scores"])]
    seed: u64,
    /// Documents to classify, instead of a cross validation
    #[arg(long, value_name = "DOCS", num_args = 1.., requires = "out")]
    apply: Vec<PathBuf>,
    /// File for the predicted classes: id, class and value, separated by tabs. The value is the
    /// distance to the class (rocchio), its share of the neighbours (knn) or leaves (tree,
    /// random-forest), its probability (naive-bayes, logistic), or its score (linear-svm)
    #[arg(long, value_name = "FILE", requires = "apply")]
    out: Option<PathBuf>,
    /// Write a header, and the values of all classes behind that of the decided one: `distance`,
    /// `share`, `probability` or `score`, as the header says
    #[arg(long, requires = "apply")]
    with_scores: bool,
}

pub(crate) fn run(args: &Args, out: &Output) -> Result<(), Failure> {
    let mut options = ClassifierOptions::new(Classifier::parse(&args.classifier)?)
        .analysis(Analysis::parse(&args.analysis)?)
        .fields(args.fields.iter().map(String::as_str));
    options.weights = args.term_weights;
    let labelled = LabelledFiles::new(&args.documents, args.label.as_str()).options(options);
    let Some(path) = &args.out else {
        let request = ValidateClassifierRequest::new(labelled).folds(args.folds).seed(args.seed);
        let result = run_task(out, |context| validate_classifier(&request, context))?;
        return out.show(&result, |result| evaluation_text(&result.evaluation));
    };
    out.check_not_stdout(path)?;
    let request =
        ClassifyDocumentsRequest::new(labelled, &args.apply, path).scores(args.with_scores);
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
        "{}\naccuracy {:.4}, macro F1 {:.4}, micro F1 {:.4}\n\n{}\n{}: cross validation of {} in {}, \
         seed {}\n",
        table.to_text(),
        result.accuracy,
        result.macro_f1,
        result.micro_f1,
        confusion_text(result),
        result.classifier,
        counted(result.documents, "document"),
        counted(result.folds as usize, "fold"),
        result.seed
    )
}

/// Maximum number of classes whose confusion matrix is printed.
const MAX_PRINTED_CLASSES: usize = 20;

/// The confusion matrix: a row for each true class, a column for each decided class.
fn confusion_text(result: &ClassifierEvaluation) -> String {
    let names: Vec<&str> = result.classes.iter().map(|score| score.class.as_str()).collect();
    if names.len() > MAX_PRINTED_CLASSES {
        let classes = counted(names.len(), "class");
        return format!("the confusion matrix of {classes} is in the output of --json\n");
    }
    let columns = names.iter().map(|name| (*name, Align::Right));
    let mut table = Table::new([("true \\ decided", Align::Left)].into_iter().chain(columns));
    for (name, counts) in names.iter().zip(&result.confusion) {
        let counts = counts.iter().map(u64::to_string);
        let row: Vec<String> = [(*name).to_owned()].into_iter().chain(counts).collect();
        table.rows.push(row.iter().map(|cell| cell.as_str().into()).collect());
    }
    table.to_text()
}

fn classes_text(result: &ClassifyDocumentsResult) -> String {
    let found = &result.result;
    let each = found.classes.iter().map(|(class, count)| format!("{class} {count}"));
    format!(
        "{}: {} classified, trained on {}: {}",
        result.out.as_deref().unwrap_or(Path::new("-")).display(),
        counted(found.documents, "document"),
        counted(found.training_documents, "document"),
        each.collect::<Vec<_>>().join(", ")
    )
}
