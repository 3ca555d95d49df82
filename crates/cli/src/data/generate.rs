//! `data generate`: generates reproducible data.

use std::path::{Path, PathBuf};

use clap::Subcommand;
use rankwright::data::format::Format;
use rankwright::data::generate::{HomepagesOptions, LetorOptions, StoreOptions};
use rankwright::spec::words::counted;
use rankwright::tasks::{
    GenerateHomepagesRequest, GenerateLetorRequest, GenerateStoreRequest, generate_homepages,
    generate_letor, generate_store,
};

use crate::declared::help;
use crate::failure::Failure;
use crate::output::Output;
use crate::progress::run_task;

#[derive(Debug, Subcommand)]
pub(crate) enum GeneratorArgs {
    /// MSLR-shaped feature data: 136 features, labels 0 to 4, a planted relevance that is not
    /// linear. Features have names (`bm25_title`, `pagerank`), and numbers in LETOR text
    Letor(LetorArgs),
    /// A synthetic shop of music records to search: documents, queries and graded judgements
    Store(StoreArgs),
    /// A synthetic web: pages with addresses and links, and queries for the homepages of sites
    Homepages(HomepagesArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct LetorArgs {
    #[arg(long, value_name = "N", help = help::<LetorOptions>("queries"))]
    #[arg(default_value_t = LetorOptions::default().queries)]
    queries: usize,
    #[arg(long, value_name = "N", help = help::<LetorOptions>("documents"))]
    #[arg(default_value_t = LetorOptions::default().documents)]
    documents: usize,
    #[arg(long, value_name = "N", help = help::<LetorOptions>("seed"))]
    #[arg(default_value_t = LetorOptions::default().seed)]
    seed: u64,
    /// File to write
    #[arg(long, value_name = "PATH")]
    out: PathBuf,
    /// Format to write; chosen by the extension if not given
    #[arg(long, value_name = "NAME")]
    to: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct StoreArgs {
    #[arg(long, value_name = "N", help = help::<StoreOptions>("records"))]
    #[arg(default_value_t = StoreOptions::default().records)]
    records: usize,
    #[arg(long, value_name = "N", help = help::<StoreOptions>("queries"))]
    #[arg(default_value_t = StoreOptions::default().queries)]
    queries: usize,
    #[arg(long, value_name = "N", help = help::<StoreOptions>("seed"))]
    #[arg(default_value_t = StoreOptions::default().seed)]
    seed: u64,
    #[arg(long, help = help::<StoreOptions>("artist_popularity"))]
    artist_popularity: bool,
    #[arg(long, value_name = "SHARE", help = help::<StoreOptions>("genre_overlap"))]
    #[arg(default_value_t = StoreOptions::default().genre_overlap)]
    genre_overlap: f64,
    /// Folder to write documents.jsonl, queries.jsonl and qrels.txt into; created if needed
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

#[derive(Debug, clap::Args)]
pub(crate) struct HomepagesArgs {
    #[arg(long, value_name = "N", help = help::<HomepagesOptions>("sites"))]
    #[arg(default_value_t = HomepagesOptions::default().sites)]
    sites: usize,
    #[arg(long, value_name = "N", help = help::<HomepagesOptions>("pages"))]
    #[arg(default_value_t = HomepagesOptions::default().pages)]
    pages: usize,
    #[arg(long, value_name = "N", help = help::<HomepagesOptions>("queries"))]
    #[arg(default_value_t = HomepagesOptions::default().queries)]
    queries: usize,
    #[arg(long, value_name = "N", help = help::<HomepagesOptions>("seed"))]
    #[arg(default_value_t = HomepagesOptions::default().seed)]
    seed: u64,
    /// Folder to write documents.jsonl, queries.jsonl and qrels.txt into; created if needed
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

pub(crate) fn run(what: &GeneratorArgs, out: &Output) -> Result<(), Failure> {
    match what {
        GeneratorArgs::Letor(args) => letor(args, out),
        GeneratorArgs::Store(args) => store(args, out),
        GeneratorArgs::Homepages(args) => homepages(args, out),
    }
}

fn letor(args: &LetorArgs, out: &Output) -> Result<(), Failure> {
    out.check_not_stdout(&args.out)?;
    let LetorArgs { queries, documents, seed, .. } = *args;
    let options = LetorOptions { queries, documents, seed };
    let mut request = GenerateLetorRequest::new(options, &args.out);
    request.format = args.to.as_deref().map(Format::from_name).transpose()?;
    let result = run_task(out, |context| generate_letor(&request, context))?;
    if args.out.as_os_str() == "-" {
        return Ok(());
    }
    out.show(&result, |result| {
        let rows = counted(result.rows, "document");
        let queries = counted(result.queries, "query");
        let features = counted(result.features, "feature");
        format!("{}: {rows} of {queries}, {features}", result.out.display())
    })
}

/// Rejects standard output, as three files are written.
fn check_folder(out: &Path) -> Result<(), Failure> {
    match out.as_os_str() == "-" {
        true => Err(Failure::request(
            "--out cannot be standard output (-): it is a folder of three files",
        )),
        false => Ok(()),
    }
}

fn homepages(args: &HomepagesArgs, out: &Output) -> Result<(), Failure> {
    check_folder(&args.out)?;
    let HomepagesArgs { sites, pages, queries, seed, .. } = *args;
    let options = HomepagesOptions::default().sites(sites).pages(pages).queries(queries).seed(seed);
    let request = GenerateHomepagesRequest::new(options, &args.out);
    let result = run_task(out, |context| generate_homepages(&request, context))?;
    out.show(&result, |result| {
        let pages = counted(result.pages, "synthetic page");
        format!("{}: {pages}, {}", result.out.display(), counted(result.queries, "query"))
    })
}

fn store(args: &StoreArgs, out: &Output) -> Result<(), Failure> {
    check_folder(&args.out)?;
    let StoreArgs { records, queries, seed, artist_popularity, genre_overlap, .. } = *args;
    let options = StoreOptions::default().records(records).queries(queries).seed(seed);
    let options = options.artist_popularity(artist_popularity).genre_overlap(genre_overlap);
    let request = GenerateStoreRequest::new(options, &args.out);
    let result = run_task(out, |context| generate_store(&request, context))?;
    out.show(&result, |result| {
        format!(
            "{}: {}, {}, {}",
            result.out.display(),
            counted(result.records, "synthetic record"),
            counted(result.queries, "query"),
            counted(result.judgements, "judgement")
        )
    })
}
