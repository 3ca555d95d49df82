//! `explain`: explains the order of a ranked list.

use std::path::PathBuf;

use rankwright::model::{DependenceOptions, ExplainOptions, ExplainParams, MatchBy};
use rankwright::tasks::{ExplainRequest, WithPage, explain_ranking};

use crate::declared::{choices, help, value};
use crate::failure::Failure;
use crate::input::{ReadArgs, match_options};
use crate::output::Output;
use crate::page::ExtraPage;
use crate::progress::run_task;

/// Explain a ranking: the contribution of each feature to each document's score (Shapley values:
/// exact for trees and linear models, sampled for nets), the features that distinguish the
/// documents of the list, and why one document is above another. Without --query: the features that
/// change scores most in the whole data set.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The model
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    /// Feature data; several files are one data set
    #[arg(value_name = "DATA", required = true)]
    data: Vec<PathBuf>,
    /// The query whose list is explained
    #[arg(long, value_name = "ID")]
    query: Option<String>,
    /// Only this document of the query, by id or by its row in the data, from 0; may be repeated
    #[arg(long, value_name = "ID", requires = "query")]
    doc: Vec<String>,
    /// Number of documents of the query that are shown, from the first rank; JSON and page have all
    #[arg(long, value_name = "N", default_value_t = 3, requires = "query", conflicts_with = "doc")]
    documents: usize,
    /// Explain why document A is above document B; by id or row, as --doc
    #[arg(long, num_args = 2, value_names = ["A", "B"], requires = "query")]
    pair: Option<Vec<String>>,
    /// Number of features shown in each table; JSON and page have more
    #[arg(long, value_name = "N", default_value_t = 10)]
    top: usize,
    /// Data to compare with: a contribution is the change of the score from an average document of
    /// this data. Without it: for trees the rows they were trained on, for linear models a document
    /// of zeros, for nets and blends DATA itself
    #[arg(long, value_name = "DATA")]
    background: Option<PathBuf>,
    /// Show the partial dependence of scores on this feature; may be repeated
    #[arg(long, value_name = "FEATURE")]
    dependence: Vec<String>,
    #[arg(
        long,
        value_name = "N",
        default_value_t = DependenceOptions::default().curves,
        value_parser = value::<DependenceOptions, usize>("curves"),
        help = help::<DependenceOptions>("curves")
    )]
    curves: usize,
    #[arg(
        long,
        value_name = "N",
        default_value_t = ExplainParams::default().permutations,
        value_parser = value::<ExplainParams, usize>("permutations"),
        help = help::<ExplainParams>("permutations")
    )]
    permutations: usize,
    #[arg(
        long,
        value_name = "N",
        default_value_t = ExplainParams::default().seed,
        help = help::<ExplainParams>("seed")
    )]
    seed: u64,
    /// Ignore features that the model does not know
    #[arg(long)]
    ignore_extra: bool,
    /// Rule that matches the features of the data with those of the model
    #[arg(long, value_parser = choices::<MatchBy>(), default_value = MatchBy::default().name())]
    match_by: MatchBy,
    #[command(flatten)]
    page: ExtraPage,
    #[command(flatten)]
    read: ReadArgs,
}

pub(crate) fn run(args: &Args, out: &Output) -> Result<(), Failure> {
    let request = args.request()?;
    args.page.check(&request, out)?;
    let result = run_task(out, |context| explain_ranking(&request, context))?;
    let page = args.page.write(|| result.explanation.page(), &request, out)?;
    let documents = if args.doc.is_empty() { args.documents } else { usize::MAX };
    let text = result.explanation.to_text(args.top, documents);
    let query = result.explanation.query.as_ref();
    if !out.json && query.is_some_and(|query| query.documents.len() > documents) {
        out.note("--documents N shows more documents, --doc ID shows certain ones");
    }
    out.show(&WithPage { result: &result, page }, |_| text)
}

impl Args {
    fn request(&self) -> Result<ExplainRequest, Failure> {
        let mut request = ExplainRequest::new(&self.model, self.read.files(&self.data)?);
        let files = |file| self.read.files(std::slice::from_ref(file)).map(Into::into);
        request.background = self.background.as_ref().map(files).transpose()?;
        request.query = self.query.clone();
        request.documents = self.doc.clone();
        request.pair = match self.pair.as_deref() {
            None => None,
            Some([above, below]) => Some([above.clone(), below.clone()]),
            Some(_) => return Err(Failure::usage("--pair takes two documents")),
        };
        request.dependence = self.dependence.clone();
        request.curves = self.curves;
        request.options = ExplainOptions::new()
            .seed(self.seed)
            .permutations(self.permutations)
            .matching(match_options(self.match_by, self.ignore_extra));
        Ok(request)
    }
}
