//! `search`: shows the best documents of one query.

use std::io::{IsTerminal, stdout};
use std::path::PathBuf;

use rankwright::eval::table::{Align, Table};
use rankwright::search::{Hit, SearchWarning};
use rankwright::spec::words::counted;
use rankwright::tasks::{SearchIndexRequest, SearchIndexResult, Warning, search_index};

use crate::failure::Failure;
use crate::output::Output;
use crate::progress::run_task;
use crate::ranking::StageArgs;

/// Search an index, with a first stage alone or a model on top.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The index
    #[arg(value_name = "INDEX")]
    index: PathBuf,
    /// The query; several words need no quotes
    #[arg(value_name = "QUERY", required = true)]
    query: Vec<String>,
    /// Number of documents to show
    #[arg(short = 'k', long, value_name = "N", default_value_t = 10)]
    top: usize,
    /// A model that re-ranks the candidates; it names the features that it needs
    #[arg(long, value_name = "MODEL")]
    model: Option<PathBuf>,
    /// Number of candidates that a model re-ranks; by default that of its training
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    candidates: Option<u32>,
    #[command(flatten)]
    stage: StageArgs,
    /// A further value of the query, such as `language=en`; may be repeated
    #[arg(long = "query-field", value_name = "NAME=VALUE")]
    query_fields: Vec<String>,
    /// Show the feature values of the documents
    #[arg(long, requires = "model")]
    explain: bool,
}

pub(crate) fn run(args: &Args, out: &Output) -> Result<(), Failure> {
    let request = args.request()?;
    let result = run_task(out, |context| search_index(&request, context))?;
    out.show(&result, |result| text(args, result))
}

impl Args {
    fn request(&self) -> Result<SearchIndexRequest, Failure> {
        let mut request = SearchIndexRequest::new(&self.index, self.query.join(" "))
            .candidates(self.stage.candidates(self.candidates)?)
            .top(self.top)
            .features(self.explain);
        request.model = self.model.clone();
        for field in &self.query_fields {
            let (name, value) = field.split_once('=').ok_or_else(|| {
                Failure::usage(format!("--query-field {field} has no value; write NAME=VALUE"))
            })?;
            request = request.query_field(name, value);
        }
        Ok(request)
    }
}

fn text(args: &Args, result: &SearchIndexResult) -> String {
    let is_reranked = args.model.is_some();
    let mut header = vec![("rank", Align::Right), ("score", Align::Right), ("id", Align::Left)];
    if is_reranked {
        header.insert(1, ("before", Align::Right));
    }
    header.push(("title", Align::Left));
    let mut table = Table::new(header);
    for hit in &result.documents {
        let mut row = vec![hit.rank.to_string(), format!("{:.4}", hit.score), hit.id.clone()];
        if is_reranked {
            row.insert(1, change(hit.rank, hit.first_rank));
        }
        row.push(hit.title.clone());
        table.rows.push(row.iter().map(|cell| cell.as_str().into()).collect());
    }
    let table = table.to_text();
    let mut lines: Vec<&str> = table.lines().collect();
    let (before, behind) = if stdout().is_terminal() { ("\x1b[1m", "\x1b[0m") } else { ("[", "]") };
    let snippet = |hit: &Hit| format!("      {}", hit.snippet.marked(before, behind).trim());
    let snippets: Vec<String> = result.documents.iter().map(snippet).collect();
    // Inserts a snippet below each row of the table; its header takes two lines.
    for (row, snippet) in snippets.iter().enumerate().rev() {
        lines.insert((row + 3).min(lines.len()), snippet);
    }
    let mut text = match result.found {
        0 => reason(&result.warnings),
        _ => lines.join("\n"),
    };
    let found = match is_reranked {
        true => format!("{}, re-ranked", counted(result.found, "candidate")),
        false => counted(result.found, "document"),
    };
    text.push_str(&format!("\n\n{found} in {:.1} ms\n", result.seconds * 1e3));
    if args.explain && !result.documents.is_empty() {
        text.push_str(&format!("\n{}", features(&result.documents)));
    }
    text
}

/// The reason why no document was found.
fn reason(warnings: &[Warning]) -> String {
    let of_filter = warnings.iter().find(|warning| {
        use SearchWarning::{MatchesFiltered, NothingPasses};
        matches!(warning, Warning::Search(NothingPasses | MatchesFiltered { .. }))
    });
    of_filter.map_or_else(|| SearchWarning::NothingMatches.to_string(), Warning::to_string)
}

/// The rank in the first stage, and the change since: up, down, or none.
fn change(rank: u32, first: u32) -> String {
    match first.cmp(&rank) {
        std::cmp::Ordering::Greater => format!("{first} ▲{}", first - rank),
        std::cmp::Ordering::Less => format!("{first} ▼{}", rank - first),
        std::cmp::Ordering::Equal => format!("{first} ="),
    }
}

/// Feature values, a column for each shown document.
fn features(hits: &[Hit]) -> String {
    let mut header = vec![("feature".to_owned(), Align::Left)];
    header.extend(hits.iter().map(|hit| (hit.id.clone(), Align::Right)));
    let mut table = Table::new(header.iter().map(|(name, align)| (name.as_str(), *align)));
    let ranks = hits.iter().map(|hit| hit.first_rank.to_string());
    let ranks = std::iter::once("rank in the first stage".to_owned()).chain(ranks);
    table.rows.push(ranks.map(|cell| cell.as_str().into()).collect());
    let columns: Vec<&[(String, f32)]> =
        hits.iter().filter_map(|hit| hit.features.as_ref()).map(|f| f.0.as_slice()).collect();
    let names = columns.first().into_iter().flat_map(|first| first.iter().map(|(name, _)| name));
    for (at, name) in names.enumerate() {
        let values = columns.iter().map(|column| match column[at].1 {
            missing if missing.is_nan() => "-".to_owned(),
            value => format!("{value:.4}"),
        });
        let row = std::iter::once(name.clone()).chain(values);
        table.rows.push(row.map(|cell| cell.as_str().into()).collect());
    }
    table.to_text()
}
