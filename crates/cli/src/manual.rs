//! `man`: the manual pages, one for `rankwright` and one for each of its commands.

use std::path::PathBuf;

use clap::CommandFactory;
use rankwright::spec::words::counted;
use serde::Serialize;

use crate::Cli;
use crate::failure::Failure;
use crate::output::Output;

/// Write the manual pages of all commands into a folder.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Folder to write into; created if needed
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

/// The manual pages that were written.
#[derive(Debug, Serialize)]
struct WrittenManual {
    out: PathBuf,
    pages: usize,
}

pub(crate) fn run(args: &Args, out: &Output) -> Result<(), Failure> {
    let failed = |error: std::io::Error| {
        let folder = args.out.display();
        Failure::request(format!("cannot write the manual pages into {folder}: {error}"))
    };
    std::fs::create_dir_all(&args.out).map_err(failed)?;
    let mut command = Cli::command();
    command.build();
    let mut pages = 0;
    write(&command, &args.out, &mut pages).map_err(failed)?;
    out.show(&WrittenManual { out: args.out.clone(), pages }, |written| {
        format!("{}: {}", written.out.display(), counted(written.pages, "manual page"))
    })
}

/// Writes the page of a command and those of its subcommands.
fn write(
    command: &clap::Command,
    folder: &std::path::Path,
    pages: &mut usize,
) -> std::io::Result<()> {
    let page = clap_mangen::Man::new(command.clone());
    page.generate_to(folder)?;
    *pages += 1;
    for subcommand in command.get_subcommands().filter(|command| command.get_name() != "help") {
        write(subcommand, folder, pages)?;
    }
    Ok(())
}
