//! `data convert`: any format to any other.

use std::path::PathBuf;

use rankwright::data::format::write;
use rankwright::spec::words::counted;
use serde_json::json;

use super::target_format;
use crate::failure::Failure;
use crate::input::ReadArgs;
use crate::output::Output;
use crate::progress::timed;

/// Read data in any format and write it in another, which the extension of OUT tells.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Data files (several are one data set), then the file to write
    #[arg(value_name = "DATA... OUT", num_args = 2.., required = true)]
    files: Vec<PathBuf>,
    /// Format to write (see `list formats`); told by the extension if not given
    #[arg(long, value_name = "NAME")]
    to: Option<String>,
    #[command(flatten)]
    read: ReadArgs,
}

pub(crate) fn run(args: &Args, out: &Output) -> Result<(), Failure> {
    let Some((target, inputs)) = args.files.split_last() else {
        return Err(Failure::request("give the data and the file to write"));
    };
    out.keeps_stdout_free(target)?;
    let format = target_format(target, args.to.as_deref())?;
    let (loaded, load) = args.read.read(inputs, out)?;
    let data = &loaded.data;
    let what = format!("writing {}", target.display());
    let (written, seconds) = timed(out, &what, || write(data, target, format));
    out.notes(&written?);
    let name = format.info().name;
    if target.as_os_str() == "-" {
        return Ok(());
    }
    out.result(
        || {
            json!({
                "out": target, "format": name, "rows": data.rows(), "queries": data.queries(),
                "features": data.columns(), "seconds": {"load": load, "write": seconds},
            })
        },
        || {
            let rows = counted(data.rows(), "document");
            let queries = counted(data.queries(), "query");
            let features = counted(data.columns(), "feature");
            format!("{}: {rows} of {queries}, {features}, as {name}", target.display())
        },
    )
}
