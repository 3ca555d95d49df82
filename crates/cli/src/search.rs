//! `search`: the best documents of one query, at a terminal.

use std::io::{IsTerminal, stdout};
use std::path::PathBuf;
use std::time::Instant;

use rankwright::eval::table::{Align, Table};
use rankwright::search::{
    Document, FieldKind, Index, Query, Ranker, Ranking, SearchBuffers, Snippet, Terms, Value,
};
use serde_json::{Value as Json, json};

use crate::failure::Failure;
use crate::output::{Output, number};
use crate::ranking::{StageArgs, open_index};

/// Search an index, with a first stage alone or a model on top.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The index
    #[arg(value_name = "INDEX")]
    index: PathBuf,
    /// The query; several words need no quotes
    #[arg(value_name = "QUERY", required = true)]
    query: Vec<String>,
    /// Documents to show
    #[arg(short = 'k', long, value_name = "N", default_value_t = 10)]
    top: usize,
    /// A model that re-ranks the candidates; it says by itself which features it needs
    #[arg(long, value_name = "MODEL")]
    model: Option<PathBuf>,
    /// Candidates that a model re-ranks
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..))]
    candidates: u32,
    #[command(flatten)]
    stage: StageArgs,
    /// A further value of the query, such as `language=en`; may be repeated
    #[arg(long = "with", value_name = "NAME=VALUE")]
    with: Vec<String>,
    /// Show the feature values of the documents
    #[arg(long, requires = "model")]
    explain: bool,
}

/// A document as it is shown.
struct Shown {
    id: String,
    score: f64,
    first_rank: u32,
    first_score: f64,
    title: String,
    snippet: Snippet,
}

pub(crate) fn run(args: &Args, out: &Output) -> Result<(), Failure> {
    let query = query(args)?;
    let index = open_index(&args.index, out)?;
    let filter = args.stage.filter(&index, out)?;
    let candidates = args.candidates as usize;
    let ranker = args.stage.ranker(&index, candidates, args.model.as_deref(), out)?;
    let mut buffers = SearchBuffers::default();
    let start = Instant::now();
    let ranked = ranker.rank(&index, &query, filter.as_ref(), &mut buffers)?;
    let seconds = start.elapsed().as_secs_f64();
    let terms = Terms::new(&query.text, index.analysis());
    if terms.is_empty() {
        out.note("nothing is left of the query: it is empty, or of stop words alone");
    }
    let shown = shown(args, &index, &terms, &ranked)?;
    out.result(
        || document(args, &query, &ranker, &ranked, &shown, seconds),
        || text(args, &ranker, &ranked, &shown, seconds),
    )
}

fn query(args: &Args) -> Result<Query, Failure> {
    let mut query = Query::new("1", args.query.join(" "));
    for with in &args.with {
        let (name, value) = with.split_once('=').ok_or_else(|| {
            Failure::usage(format!("--with {with} has no value: write name=value"))
        })?;
        query.fields.push((name.to_owned(), Value::Text(value.to_owned())));
    }
    Ok(query)
}

fn shown(
    args: &Args,
    index: &Index,
    terms: &Terms,
    ranked: &Ranking,
) -> Result<Vec<Shown>, Failure> {
    let first = ranked.first_ranks.iter().zip(&ranked.first_scores);
    let mut shown = Vec::new();
    for (document, (&first_rank, &first_score)) in ranked.documents.iter().zip(first).take(args.top)
    {
        let id = index.id(document)?.to_owned();
        let title = index.document(&id)?.map(|found| title(index, &found)).unwrap_or_default();
        let snippet = index.snippet(document, terms, SNIPPET)?;
        shown.push(Shown { id, score: document.score, first_rank, first_score, title, snippet });
    }
    Ok(shown)
}

/// Letters of a snippet, and of a title.
const SNIPPET: usize = 110;
const TITLE: usize = 60;

/// The shortest text field of a document: its title, where it has one.
fn title(index: &Index, document: &Document) -> String {
    let named = document.text("title");
    let first = index.schema().of_kind(FieldKind::Text).find_map(|name| document.text(name));
    let title = named.or(first).unwrap_or_default();
    let line: String = title.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(TITLE) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None => line,
    }
}

fn text(args: &Args, ranker: &Ranker, ranked: &Ranking, shown: &[Shown], seconds: f64) -> String {
    let is_learnt = args.model.is_some();
    let mut header = vec![("rank", Align::Right), ("score", Align::Right), ("id", Align::Left)];
    if is_learnt {
        header.insert(1, ("was", Align::Right));
    }
    header.push(("title", Align::Left));
    let mut table = Table::new(header);
    for (rank, shown) in (1..).zip(shown) {
        let mut row = vec![rank.to_string(), format!("{:.4}", shown.score), shown.id.clone()];
        if is_learnt {
            row.insert(1, change(rank, shown.first_rank));
        }
        row.push(shown.title.clone());
        table.rows.push(row.iter().map(|cell| cell.as_str().into()).collect());
    }
    let table = table.to_text();
    let mut lines: Vec<&str> = table.lines().collect();
    let (before, behind) = if stdout().is_terminal() { ("\x1b[1m", "\x1b[0m") } else { ("[", "]") };
    let snippets: Vec<String> = shown
        .iter()
        .map(|shown| format!("      {}", shown.snippet.marked(before, behind).trim()))
        .collect();
    // A snippet below each row of the table; its header takes two lines.
    for (row, snippet) in snippets.iter().enumerate().rev() {
        lines.insert((row + 3).min(lines.len()), snippet);
    }
    let found = ranked.documents.len();
    let mut text = match found {
        0 => "no document has a term of the query".to_owned(),
        _ => lines.join("\n"),
    };
    let candidates = if is_learnt { "candidates, re-ranked" } else { "documents" };
    text.push_str(&format!("\n\n{found} {candidates} in {:.1} ms\n", seconds * 1e3));
    if args.explain && !shown.is_empty() {
        text.push_str(&format!("\n{}", features(ranker, ranked, shown)));
    }
    text
}

/// The rank in the first stage, and the way since: up, down, or none.
fn change(rank: u32, first: u32) -> String {
    match first.cmp(&rank) {
        std::cmp::Ordering::Greater => format!("{first} ▲{}", first - rank),
        std::cmp::Ordering::Less => format!("{first} ▼{}", rank - first),
        std::cmp::Ordering::Equal => format!("{first} ="),
    }
}

/// Feature values, a column for each shown document.
fn features(ranker: &Ranker, ranked: &Ranking, shown: &[Shown]) -> String {
    let mut header = vec![("feature".to_owned(), Align::Left)];
    header.extend(shown.iter().map(|shown| (shown.id.clone(), Align::Right)));
    let mut table = Table::new(header.iter().map(|(name, align)| (name.as_str(), *align)));
    let ranks = shown.iter().map(|shown| shown.first_rank.to_string());
    let ranks = std::iter::once("rank in the first stage".to_owned()).chain(ranks);
    table.rows.push(ranks.map(|cell| cell.as_str().into()).collect());
    for (column, name) in ranker.features().iter().enumerate() {
        let value = |at: usize| ranked.features.row(at).get(column).copied().unwrap_or(f32::NAN);
        let values = (0..shown.len()).map(|at| match value(at) {
            missing if missing.is_nan() => "-".to_owned(),
            value => format!("{value:.4}"),
        });
        let row = std::iter::once(name.clone()).chain(values);
        table.rows.push(row.map(|cell| cell.as_str().into()).collect());
    }
    table.to_text()
}

fn document(
    args: &Args,
    query: &Query,
    ranker: &Ranker,
    ranked: &Ranking,
    shown: &[Shown],
    seconds: f64,
) -> Json {
    let documents = shown.iter().enumerate().map(|(at, shown)| {
        let mut entry = json!({
            "rank": at + 1, "id": shown.id, "score": number(shown.score),
            "first_rank": shown.first_rank, "first_score": number(shown.first_score),
            "title": shown.title, "snippet": shown.snippet.text,
            "marks": shown.snippet.marks.iter().map(|m| [m.start, m.end]).collect::<Vec<_>>(),
        });
        if args.explain {
            let values = ranker.features().iter().zip(ranked.features.row(at));
            let values = values.map(|(name, &value)| (name.clone(), number(f64::from(value))));
            entry["features"] = Json::Object(values.collect());
        }
        entry
    });
    json!({
        "query": query.text, "found": ranked.documents.len(), "seconds": seconds,
        "documents": documents.collect::<Vec<_>>(),
    })
}
