//! Arguments that name feature data, and the way to a data set.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use rankwright::data::bytes::Input;
use rankwright::data::format::{Format, Loaded, ReadOptions, Roles, read_inputs};
use rankwright::data::{Absent, DataError};
use rankwright::model::ModelFormat;

use crate::failure::Failure;
use crate::output::Output;
use crate::progress::timed;

/// How feature data is read.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct ReadArgs {
    /// Format of the data (see `list formats`); told by content if not given
    #[arg(long, value_name = "NAME")]
    pub(crate) format: Option<String>,
    /// What an absent feature of a sparse row is worth; what the model says, or else zero
    #[arg(long, value_enum)]
    pub(crate) absent: Option<AbsentArg>,
    /// Roles of columns in tables, e.g. `qid=session, label=clicks, ignore=url+title`
    #[arg(long, value_name = "ROLES")]
    pub(crate) columns: Option<String>,
    /// Preference pairs: lines `qid better worse [weight]` or `qid A > B [weight]`
    #[arg(long, value_name = "FILE")]
    pub(crate) pairs: Option<PathBuf>,
}

/// The rule for absent features.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AbsentArg {
    /// The value 0, as in LETOR
    Zero,
    /// A missing value
    Missing,
}

impl AbsentArg {
    fn rule(self) -> Absent {
        match self {
            AbsentArg::Zero => Absent::Zero,
            AbsentArg::Missing => Absent::Missing,
        }
    }
}

impl ReadArgs {
    fn options(&self) -> Result<ReadOptions, DataError> {
        Ok(ReadOptions {
            format: self.format.as_deref().map(Format::from_name).transpose()?,
            roles: self.columns.as_deref().map_or(Ok(Roles::default()), Roles::parse)?,
            ..ReadOptions::default()
        })
    }

    /// Whether any of these was given.
    pub(crate) fn is_given(&self) -> bool {
        let ReadArgs { format, absent, columns, pairs } = self;
        format.is_some() || absent.is_some() || columns.is_some() || pairs.is_some()
    }

    /// Reads one data set from the files; tells what was odd. Gives the seconds too.
    pub(crate) fn read(&self, files: &[PathBuf], out: &Output) -> Result<(Loaded, f64), Failure> {
        one_stdin(files.iter().chain(&self.pairs).map(PathBuf::as_path))?;
        let (inputs, opening) = open(files, out)?;
        let (loaded, reading) = self.read_opened(inputs, None, out)?;
        Ok((loaded, opening + reading))
    }

    /// As `read`, from inputs that are open already; a model says what absent features are worth.
    pub(crate) fn read_opened(
        &self,
        inputs: Vec<Input>,
        model_rule: Option<Absent>,
        out: &Output,
    ) -> Result<(Loaded, f64), Failure> {
        let mut options = self.options()?;
        options.absent = self.absent_rule(model_rule)?;
        if let Some(model) = inputs.iter().find(|input| ModelFormat::detect(&input.bytes).is_some())
        {
            return Err(Failure::request(format!(
                "{} is a model; feature data is expected here",
                model.name
            )));
        }
        let files: Vec<String> = inputs.iter().map(|input| input.name.clone()).collect();
        let what = format!("reading {}", name_of(&files));
        let (loaded, seconds) = timed(out, &what, || read_inputs(inputs, &options));
        let mut loaded = loaded?;
        out.notes(&loaded.warnings);
        let recorded = loaded.data.absent();
        if self.absent.is_some_and(|said| said.rule() != recorded) {
            return Err(Failure::request(format!(
                "--absent does not apply: {} is {}, with absent features taken as {} already",
                name_of(&files),
                loaded.format.info().name,
                recorded.name()
            )));
        }
        if let Some(pairs) = &self.pairs {
            let (data, notes) = loaded.data.with_pairs(&Input::open(pairs)?)?;
            out.notes(&notes);
            loaded.data = data;
        }
        Ok((loaded, seconds))
    }

    /// What absent features are worth: said by the model, by an option, or zero.
    fn absent_rule(&self, model: Option<Absent>) -> Result<Absent, Failure> {
        let said = self.absent.map(AbsentArg::rule);
        match (model, said) {
            (Some(model), Some(said)) if model != said => Err(Failure::request(format!(
                "--absent {} contradicts the model, which was made with {}; leave the option out",
                said.name(),
                model.name()
            ))),
            _ => Ok(model.or(said).unwrap_or_default()),
        }
    }
}

/// Opens files, unpacked where they are packed; gives the seconds too.
pub(crate) fn open(files: &[PathBuf], out: &Output) -> Result<(Vec<Input>, f64), Failure> {
    let what = format!("opening {}", name_of(files));
    let (inputs, seconds) =
        timed(out, &what, || files.iter().map(|file| Input::open(file)).collect::<Result<_, _>>());
    Ok((inputs?, seconds))
}

/// Refuses standard input as more than one of a command's inputs.
pub(crate) fn one_stdin<'a>(paths: impl IntoIterator<Item = &'a Path>) -> Result<(), Failure> {
    match paths.into_iter().filter(|path| *path == Path::new("-")).count() {
        0 | 1 => Ok(()),
        _ => Err(Failure::request("standard input (-) can be read only once; give a file instead")),
    }
}

/// Refuses to write a result over one of the files that it is made from.
pub(crate) fn not_over_an_input<'a>(
    out: &Path,
    inputs: impl IntoIterator<Item = &'a Path>,
) -> Result<(), Failure> {
    let Ok(target) = out.canonicalize() else { return Ok(()) };
    let same = |path: &&Path| target.is_file() && path.canonicalize().is_ok_and(|p| p == target);
    match inputs.into_iter().find(same) {
        None => Ok(()),
        Some(input) => Err(Failure::request(format!(
            "{} would be written over {}, which is read here; name another file",
            out.display(),
            input.display()
        ))),
    }
}

/// Files as they are named in messages.
pub(crate) fn name_of<P: AsRef<Path>>(files: &[P]) -> String {
    match files {
        [one] => one.as_ref().display().to_string(),
        [first, rest @ ..] => format!("{} and {} more", first.as_ref().display(), rest.len()),
        [] => "nothing".into(),
    }
}
