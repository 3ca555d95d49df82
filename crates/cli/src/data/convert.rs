//! `data convert`: converts any format to any other.

use std::path::{Path, PathBuf};

use rankwright::data::format::Format;
use rankwright::spec::words::counted;
use rankwright::tasks::{ConvertRequest, ConvertResult, convert_data};

use crate::failure::Failure;
use crate::input::ReadArgs;
use crate::output::{Output, check_order, path_text};
use crate::progress::run_task;

/// Read data in any format and write it in another, which is chosen by the extension of OUT.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Data files (several are one data set), then the file to write, if --out is not given
    #[arg(value_name = "DATA... OUT", required = true)]
    files: Vec<PathBuf>,
    /// File to write
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Format to write (see `list formats`); chosen by the extension if not given
    #[arg(long, value_name = "NAME")]
    to: Option<String>,
    #[command(flatten)]
    read: ReadArgs,
}

pub(crate) fn run(args: &Args, out: &Output) -> Result<(), Failure> {
    let (inputs, target) = match (&args.out, args.files.as_slice()) {
        (Some(target), inputs) => (inputs, target),
        (None, [inputs @ .., target]) if !inputs.is_empty() => (inputs, target),
        _ => return Err(no_output()),
    };
    if let ([input], None) = (inputs, &args.out) {
        check_order("data convert", input, target)?;
    }
    out.check_not_stdout(target)?;
    let mut request = ConvertRequest::new(args.read.files(inputs)?).out(target);
    request.format = args.to.as_deref().map(Format::from_name).transpose()?;
    let result = run_task(out, |context| convert_data(&request, context))?;
    match target == Path::new("-") {
        true => Ok(()),
        false => out.show(&result, text),
    }
}

fn no_output() -> Failure {
    Failure::usage("one file is given; give the data and then the file to write: DATA... OUT")
}

fn text(result: &ConvertResult) -> String {
    let rows = counted(result.rows, "document");
    let queries = counted(result.queries, "query");
    let features = counted(result.features, "feature");
    let (file, format) = (path_text(result.out.as_deref()), result.format);
    format!("{file}: {rows} of {queries}, {features}, as {format}")
}
