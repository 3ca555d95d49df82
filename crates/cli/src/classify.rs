//! `classify`: the classes of documents from those of other documents, by Rocchio or kNN.
//!
//! Documents are tf-idf vectors of all their text. Without `--apply` the classifier is
//! cross-validated by document: each one is decided on by a classifier, and with a vocabulary, that
//! has not seen it. With `--apply` it learns from all labelled documents and decides on others.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use rankwright::data::store::write_atomic;
use rankwright::data::{DEFAULT_SEED, Random};
use rankwright::eval::table::{Align, Table};
use rankwright::eval::{ParamInfo, Params};
use rankwright::search::classify::{
    ClassifyError, Decision, Distance, Evaluation, Knn, Rocchio, SparseVector, TfIdf,
};
use rankwright::search::{Analysis, Document, Documents, FieldKind, Schema, Value};
use rankwright::spec::{Spec, SpecError};
use rayon::prelude::*;
use serde_json::{Value as Json, json};

use crate::failure::Failure;
use crate::input::{not_over_an_input, one_stdin};
use crate::output::{Output, number};
use crate::progress::timed;

/// Decide on the classes of documents by those of labelled ones, with Rocchio or kNN.
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
    /// How text becomes terms: a language, such as `english` or `german(stem=false)`, or `plain`
    #[arg(long, value_name = "SPEC", default_value = "english")]
    analysis: String,
    /// Folds of the cross validation
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(2..))]
    folds: u32,
    /// Seed of the draw of the folds
    #[arg(long, value_name = "N", default_value_t = DEFAULT_SEED)]
    seed: u64,
    /// Documents to decide on, instead of a cross validation
    #[arg(long, value_name = "DOCS", num_args = 1.., requires = "out")]
    apply: Vec<PathBuf>,
    /// Where the decisions go: id, class and value, with tabs between them. The value is the
    /// distance to the class (rocchio) or its share of the neighbours (knn)
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
    let fields = text_fields(&documents, &args.label)?;
    let (terms, _) = timed(out, "analysing", || terms(&documents, &fields, &analysis));
    let labelled = Labelled::new(&documents, terms, &args.label)?;
    if labelled.left_out > 0 {
        let count = labelled.left_out;
        out.note(format!("{count} documents have no `{}` and are left out", args.label));
    }
    let task = Task { args, classifier, analysis, fields, labelled };
    match &args.out {
        Some(path) => task.apply(path, out),
        None => task.validate(out),
    }
}

/// Reads documents; of those with one id the last counts.
fn read(paths: &[PathBuf], out: &Output) -> Result<Vec<Document>, Failure> {
    let mut source = Documents::open_all(paths, None)?;
    let (documents, _) =
        timed(out, "reading documents", || source.by_ref().collect::<Result<Vec<Document>, _>>());
    let documents = documents?;
    out.notes(source.warnings());
    let last: HashMap<&str, usize> =
        documents.iter().enumerate().map(|(at, document)| (document.id.as_str(), at)).collect();
    let repeated = documents.len() - last.len();
    if repeated == 0 {
        return Ok(documents);
    }
    out.note(format!("{repeated} documents with an id that came again: the last one counts"));
    let mut kept: Vec<usize> = last.into_values().collect();
    kept.sort_unstable();
    Ok(kept.into_iter().map(|at| documents[at].clone()).collect())
}

/// Documents whose values say what the fields are.
const SAMPLE: usize = 1000;

/// The text fields, by which classes are told; the label must be a field too.
fn text_fields(documents: &[Document], label: &str) -> Result<Vec<String>, Failure> {
    let sample = documents.get(..SAMPLE).unwrap_or(documents);
    let mut schema = Schema::guess(sample, &Schema::default());
    if !documents.iter().any(|document| document.get(label).is_some()) {
        return Err(Failure::request(format!(
            "no document has a field `{label}`; their fields are {schema}"
        )));
    }
    schema.set(label, FieldKind::Category);
    let fields: Vec<String> = schema.of_kind(FieldKind::Text).map(str::to_owned).collect();
    match fields.is_empty() {
        false => Ok(fields),
        true => Err(Failure::request(format!(
            "beside `{label}` no field is text, so there is nothing to tell classes by; the fields \
             are {schema}"
        ))),
    }
}

/// The terms of all text of each document.
fn terms(documents: &[Document], fields: &[String], analysis: &Analysis) -> Vec<Vec<String>> {
    let of = |document: &Document| {
        let values = fields.iter().filter_map(|field| document.get(field));
        values.flat_map(texts).flat_map(|text| analysis.terms(&text)).collect()
    };
    documents.par_iter().map(of).collect()
}

fn texts(value: &Value) -> Vec<Cow<'_, str>> {
    match value {
        Value::Text(text) => vec![text.into()],
        Value::Texts(texts) => texts.iter().map(Cow::from).collect(),
        Value::Number(number) => vec![number.to_string().into()],
    }
}

/// The class of a document; of several the first.
fn class(document: &Document, label: &str) -> Option<String> {
    let class = match document.get(label)? {
        Value::Text(text) => text.trim().to_owned(),
        Value::Texts(texts) => texts.first()?.trim().to_owned(),
        Value::Number(number) => number.to_string(),
    };
    Some(class).filter(|class| !class.is_empty())
}

/// Documents with a class.
struct Labelled {
    terms: Vec<Vec<String>>,
    classes: Vec<String>,
    left_out: usize,
}

impl Labelled {
    fn new(
        documents: &[Document],
        terms: Vec<Vec<String>>,
        label: &str,
    ) -> Result<Labelled, Failure> {
        let all = documents.len();
        let pairs = documents.iter().zip(terms);
        let (classes, terms): (Vec<String>, Vec<Vec<String>>) =
            pairs.filter_map(|(document, terms)| Some((class(document, label)?, terms))).unzip();
        let Some(first) = classes.first() else {
            return Err(Failure::request(format!(
                "`{label}` is empty in all {all} documents: label some"
            )));
        };
        if classes.iter().all(|class| class == first) {
            return Err(Failure::request(format!(
                "all {} labelled documents are of the class `{first}`: at least two classes are \
                 needed to tell them apart",
                classes.len()
            )));
        }
        let left_out = all - classes.len();
        Ok(Labelled { terms, classes, left_out })
    }
}

const DISTANCE: ParamInfo =
    ParamInfo { name: "distance", doc: "cosine or euclidean", default: "cosine" };
const K: ParamInfo = ParamInfo { name: "k", doc: "neighbours that vote", default: "20" };

/// Which classifier.
#[derive(Debug, Clone, Copy)]
enum Classifier {
    Rocchio(Distance),
    Knn(usize, Distance),
}

impl Classifier {
    fn parse(text: &str) -> Result<Classifier, Failure> {
        let spec = Spec::parse(text)?;
        let known: &[ParamInfo] = match spec.name.as_str() {
            "rocchio" => &[DISTANCE],
            "knn" => &[K, DISTANCE],
            other => {
                return Err(SpecError::unknown("classifier", other, &["rocchio", "knn"]).into());
            }
        };
        let params = Params::new(&spec, known, &[])?;
        let distances = [("cosine", Distance::Cosine), ("euclidean", Distance::Euclidean)];
        let distance = params.choice("distance", &distances, Distance::Cosine)?;
        if spec.name == "rocchio" {
            return Ok(Classifier::Rocchio(distance));
        }
        match params.u32("k", 20)? {
            0 => Err(params.bad("k", "0", "a whole number from 1 on").into()),
            k => Ok(Classifier::Knn(k as usize, distance)),
        }
    }

    fn fit(self, vectors: &[SparseVector], classes: &[&str]) -> Result<Fitted, ClassifyError> {
        Ok(match self {
            Classifier::Rocchio(distance) => {
                Fitted::Rocchio(Rocchio::fit(vectors, classes, distance)?)
            }
            Classifier::Knn(k, distance) => Fitted::Knn(Knn::fit(vectors, classes, k, distance)?),
        })
    }
}

/// A classifier that has learnt.
enum Fitted {
    Rocchio(Rocchio),
    Knn(Knn),
}

impl Fitted {
    fn classify(&self, vector: &SparseVector) -> Decision<'_> {
        match self {
            Fitted::Rocchio(rocchio) => rocchio.classify(vector),
            Fitted::Knn(knn) => knn.classify(vector),
        }
    }
}

/// What is to be done, and with what.
struct Task<'a> {
    args: &'a Args,
    classifier: Classifier,
    analysis: Analysis,
    fields: Vec<String>,
    labelled: Labelled,
}

impl Task<'_> {
    /// Learns from some of the labelled documents and decides on texts: class and value of each.
    fn decide(
        &self,
        learn: &[usize],
        texts: &[&Vec<String>],
    ) -> Result<Vec<(String, f64)>, Failure> {
        let known: Vec<&Vec<String>> = learn.iter().map(|&at| &self.labelled.terms[at]).collect();
        let classes: Vec<&str> =
            learn.iter().map(|&at| self.labelled.classes[at].as_str()).collect();
        let tfidf = TfIdf::fit(&known);
        let vectors: Vec<SparseVector> =
            known.par_iter().map(|terms| tfidf.vector(terms)).collect();
        let fitted = self.classifier.fit(&vectors, &classes);
        let fitted = fitted.map_err(|error| Failure::request(error.to_string()))?;
        let decide = |terms: &&Vec<String>| {
            let vector = tfidf.vector(terms);
            let decision = fitted.classify(&vector);
            (decision.class.to_owned(), decision.value)
        };
        Ok(texts.par_iter().map(decide).collect())
    }

    fn validate(&self, out: &Output) -> Result<(), Failure> {
        let (count, folds) = (self.labelled.classes.len(), self.args.folds as usize);
        if count < folds {
            return Err(Failure::request(format!(
                "{count} labelled documents do not make {folds} folds: give more, or --folds {count}"
            )));
        }
        let mut order: Vec<usize> = (0..count).collect();
        Random::new(self.args.seed, 0).shuffle(&mut order);
        let mut said = vec![String::new(); count];
        let (result, seconds) = timed(out, "cross-validating", || -> Result<(), Failure> {
            for fold in 0..folds {
                let is_test = |place: usize| place % folds == fold;
                let part = |test: bool| {
                    let places = (0..count).filter(move |&place| is_test(place) == test);
                    places.map(|place| order[place]).collect::<Vec<usize>>()
                };
                let (learn, test) = (part(false), part(true));
                let texts: Vec<&Vec<String>> =
                    test.iter().map(|&at| &self.labelled.terms[at]).collect();
                for (&at, (class, _)) in test.iter().zip(self.decide(&learn, &texts)?) {
                    said[at] = class;
                }
            }
            Ok(())
        });
        result?;
        let truth = self.labelled.classes.iter().map(String::as_str);
        let found = Evaluation::new(truth.zip(said.iter().map(String::as_str)));
        out.result(|| self.json(&found, seconds), || self.text(&found))
    }

    fn text(&self, found: &Evaluation) -> String {
        let names = ["class", "precision", "recall", "f1", "documents"];
        let align = |name| (name, if name == "class" { Align::Left } else { Align::Right });
        let mut table = Table::new(names.map(align));
        for score in found.per_class() {
            let numbers = [score.precision, score.recall, score.f1].map(|v| format!("{v:.4}"));
            let mut row = vec![score.class];
            row.extend(numbers);
            row.push(score.count.to_string());
            table.rows.push(row.iter().map(|cell| cell.as_str().into()).collect());
        }
        let documents = self.labelled.classes.len();
        format!(
            "{}\naccuracy {:.4}, macro F1 {:.4}, micro F1 {:.4}\n{} of {documents} documents in {} \
             folds, seed {}\n",
            table.to_text(),
            found.accuracy(),
            found.macro_f1(),
            found.micro_f1(),
            self.args.classifier,
            self.args.folds,
            self.args.seed
        )
    }

    fn json(&self, found: &Evaluation, seconds: f64) -> Json {
        let classes = found.per_class().into_iter().map(|score| {
            json!({
                "class": score.class, "precision": number(score.precision),
                "recall": number(score.recall), "f1": number(score.f1), "documents": score.count,
            })
        });
        json!({
            "classifier": self.args.classifier, "analysis": self.analysis.to_string(),
            "label": self.args.label, "folds": self.args.folds, "seed": self.args.seed,
            "documents": self.labelled.classes.len(), "without_label": self.labelled.left_out,
            "accuracy": number(found.accuracy()), "macro_f1": number(found.macro_f1()),
            "micro_f1": number(found.micro_f1()), "classes": classes.collect::<Vec<_>>(),
            // Rows are true classes, columns decided ones, in the order of `classes`.
            "confusion": found.confusion(), "seconds": seconds,
        })
    }

    /// Refuses documents that have none of the fields that were learnt from.
    fn check_fields(&self, documents: &[Document]) -> Result<(), Failure> {
        let has = |field: &String| documents.iter().any(|document| document.get(field).is_some());
        match documents.is_empty() || self.fields.iter().any(has) {
            true => Ok(()),
            false => Err(Failure::request(format!(
                "the documents of --apply have none of the text fields that were learnt from: {}",
                self.fields.join(", ")
            ))),
        }
    }

    fn apply(&self, path: &Path, out: &Output) -> Result<(), Failure> {
        let documents = read(&self.args.apply, out)?;
        self.check_fields(&documents)?;
        let terms = terms(&documents, &self.fields, &self.analysis);
        let learn: Vec<usize> = (0..self.labelled.classes.len()).collect();
        let (decided, seconds) =
            timed(out, "classifying", || self.decide(&learn, &terms.iter().collect::<Vec<_>>()));
        let decided = decided?;
        write_atomic(path, |file| {
            for (document, (class, value)) in documents.iter().zip(&decided) {
                let class = class.replace(['\t', '\n', '\r'], " ");
                writeln!(file, "{}\t{class}\t{value}", document.id)?;
            }
            Ok(())
        })?;
        if path == Path::new("-") {
            return Ok(());
        }
        let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
        decided.iter().for_each(|(class, _)| *counts.entry(class).or_default() += 1);
        out.result(
            || {
                json!({
                    "out": path, "classifier": self.args.classifier, "learnt_from": learn.len(),
                    "without_label": self.labelled.left_out, "documents": documents.len(),
                    "classes": counts, "seconds": seconds,
                })
            },
            || {
                let each = counts.iter().map(|(class, count)| format!("{class} {count}"));
                format!(
                    "{}: {} documents, learnt from {}: {}",
                    path.display(),
                    documents.len(),
                    learn.len(),
                    each.collect::<Vec<_>>().join(", ")
                )
            },
        )
    }
}
