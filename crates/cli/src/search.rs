//! `search`: shows the best documents of one query.

use std::io::{IsTerminal, stdout};
use std::path::PathBuf;

use rankwright::eval::table::{Align, Table};
use rankwright::search::{Facet, Hit, Snippet};
use rankwright::spec::visible;
use rankwright::spec::words::counted;
use rankwright::tasks::{SearchIndexRequest, SearchIndexResult, search_index};

use crate::failure::Failure;
use crate::output::Output;
use crate::progress::run_task;
use crate::ranking::StageArgs;

/// Search an index, by a first stage alone, or re-ranked by a model.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The index
    #[arg(value_name = "INDEX")]
    index: PathBuf,
    /// The query; several words need no quotes
    #[arg(value_name = "QUERY", required = true)]
    query: Vec<String>,
    /// Number of documents to show
    #[arg(short = 'k', long, value_name = "N", default_value_t = SearchIndexRequest::DEFAULT_TOP)]
    top: usize,
    /// A model that re-ranks the candidates; it names the features that it needs
    #[arg(long, value_name = "MODEL")]
    model: Option<PathBuf>,
    /// Number of candidates that a model re-ranks; by default that of its training, or 100
    /// if the model does not record it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    candidates: Option<u32>,
    #[command(flatten)]
    stage: StageArgs,
    /// A further value of the query, such as `language=en`; may be repeated
    #[arg(long = "query-field", value_name = "NAME=VALUE")]
    query_fields: Vec<String>,
    /// A field whose values are counted among all matching documents, such as `tags`; may be
    /// repeated
    #[arg(long = "facet", value_name = "FIELD")]
    facets: Vec<String>,
    /// Number of values of each facet
    #[arg(long, value_name = "N", default_value_t = SearchIndexRequest::DEFAULT_FACET_VALUES, requires = "facets")]
    facet_values: usize,
    /// Show the feature values of the documents
    #[arg(long, requires = "model")]
    explain: bool,
}

pub(crate) fn run(args: &Args, out: &Output) -> Result<(), Failure> {
    let request = args.request()?;
    let result = run_task(out, |context| search_index(&request, context))?;
    let marks = if stdout().is_terminal() { BOLD } else { BRACKETS };
    out.show_styled(&result, |result| text(args, result, marks))
}

impl Args {
    fn request(&self) -> Result<SearchIndexRequest, Failure> {
        let mut request = SearchIndexRequest::new(&self.index, self.query.join(" "))
            .candidates(self.stage.candidates(self.candidates)?)
            .top(self.top)
            .features(self.explain)
            .facet_values(self.facet_values);
        request.model = self.model.as_ref().map(Into::into);
        request.facets = self.facets.clone();
        for field in &self.query_fields {
            let (name, value) = field.split_once('=').ok_or_else(|| {
                Failure::usage(format!("--query-field {field} has no value; write NAME=VALUE"))
            })?;
            request = request.query_field(name, value);
        }
        Ok(request)
    }
}

/// The texts before and after each word of the query in a snippet.
type Marks = (&'static str, &'static str);

const BOLD: Marks = ("\x1b[1m", "\x1b[0m");
const BRACKETS: Marks = ("[", "]");

/// The result with these marks; control characters of documents are escaped.
fn text(args: &Args, found: &SearchIndexResult, marks: Marks) -> String {
    let result = &found.result;
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
            row.insert(1, rank_change(hit.rank, hit.first_rank));
        }
        row.push(hit.title.clone());
        table.rows.push(row.iter().map(|cell| cell.as_str().into()).collect());
    }
    let table = table.to_text();
    let mut lines: Vec<&str> = table.lines().collect();
    let snippets: Vec<String> = result
        .documents
        .iter()
        .map(|hit| format!("      {}", marked(&hit.snippet, marks)))
        .collect();
    // Inserts a snippet below each row of the table; its header takes two lines.
    for (row, snippet) in snippets.iter().enumerate().rev() {
        lines.insert((row + 3).min(lines.len()), snippet);
    }
    let mut text = match found.reason_for_empty_result() {
        Some(reason) => visible::lines(&reason.to_string()).into_owned(),
        None => lines.join("\n"),
    };
    if let Some(suggestion) = &result.suggestion {
        text.push_str(&format!("\n\ndid you mean: {suggestion}"));
    }
    let mut counts = match is_reranked {
        true => format!("{}, re-ranked", counted(result.found, "candidate")),
        false => counted(result.found, "document"),
    };
    if let Some(matching) = result.matching.filter(|&matching| matching > result.found) {
        counts.push_str(&format!(" of {matching} that match"));
    }
    text.push_str(&format!("\n\n{counts} in {:.1} ms\n", result.seconds * 1e3));
    for facet in &result.facets {
        text.push_str(&format!("\n{}", facet_text(facet)));
    }
    if args.explain && !result.documents.is_empty() {
        text.push_str(&format!("\n{}", features_text(&result.documents)));
    }
    text
}

/// A facet as a table of values and numbers of documents.
fn facet_text(facet: &Facet) -> String {
    let mut table = Table::new([(facet.field.as_str(), Align::Left), ("documents", Align::Right)]);
    for value in &facet.values {
        let row = [value.value.clone(), value.documents.to_string()];
        table.rows.push(row.iter().map(|cell| cell.as_str().into()).collect());
    }
    let mut notes = Vec::new();
    if facet.more > 0 {
        notes.push(format!("{} more", counted(facet.more, "value")));
    }
    if facet.without > 0 {
        notes.push(format!("{} without a value", counted(facet.without, "document")));
    }
    let notes = if notes.is_empty() { String::new() } else { format!("{}\n", notes.join("; ")) };
    format!("{}\n{notes}", table.to_text().trim_end())
}

/// A snippet on one line, with the words of the query marked.
fn marked(snippet: &Snippet, (before, after): Marks) -> String {
    let show = |(text, is_marked)| match (visible::one_line(text), is_marked) {
        (text, true) => format!("{before}{text}{after}"),
        (text, false) => text.into_owned(),
    };
    snippet.pieces().map(show).collect::<String>().trim().to_owned()
}

/// The rank in the first stage, and the change since: up, down, or none.
fn rank_change(rank: u32, first_rank: u32) -> String {
    match first_rank.cmp(&rank) {
        std::cmp::Ordering::Greater => format!("{first_rank} ▲{}", first_rank - rank),
        std::cmp::Ordering::Less => format!("{first_rank} ▼{}", rank - first_rank),
        std::cmp::Ordering::Equal => format!("{first_rank} ="),
    }
}

/// Feature values, a column for each shown document.
fn features_text(hits: &[Hit]) -> String {
    let mut header = vec![("feature".to_owned(), Align::Left)];
    header.extend(hits.iter().map(|hit| (hit.id.clone(), Align::Right)));
    let mut table = Table::new(header.iter().map(|(name, align)| (name.as_str(), *align)));
    let ranks = hits.iter().map(|hit| hit.first_rank.to_string());
    let ranks = std::iter::once("rank in the first stage".to_owned()).chain(ranks);
    table.rows.push(ranks.map(|cell| cell.as_str().into()).collect());
    let columns: Vec<&[(String, f32)]> =
        hits.iter().filter_map(|hit| hit.features.as_ref()).map(|f| f.0.as_slice()).collect();
    let names = columns.first().into_iter().flat_map(|first| first.iter().map(|(name, _)| name));
    for (feature, name) in names.enumerate() {
        let values = columns.iter().map(|column| match column[feature].1 {
            missing if missing.is_nan() => "-".to_owned(),
            value => format!("{value:.4}"),
        });
        let row = std::iter::once(name.clone()).chain(values);
        table.rows.push(row.map(|cell| cell.as_str().into()).collect());
    }
    table.to_text()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_reach_the_terminal_and_control_characters_of_a_document_do_not() {
        let snippet = |text: &str, marks| Snippet { text: text.into(), marks };
        let red = snippet(" a \u{1b}[31mred café", vec![8..11, 12..16]);
        let bold = "a \\u{1b}[31m\x1b[1mred\x1b[0m \x1b[1mcafé\x1b[0m";
        assert_eq!(marked(&red, BOLD), bold);
        assert_eq!(marked(&snippet("a\nb", std::iter::once(2..3).collect()), BRACKETS), "a\\n[b]");
    }
}
