//! Models among the inputs of a command, told by content, and scoring with them.

use std::path::Path;

use rankwright::data::bytes::Input;
use rankwright::data::store::write_atomic;
use rankwright::data::{Absent, Dataset};
use rankwright::model::{Matching, Model, ModelFormat, ScoreOptions};
use rankwright::spec::words::counted;

use crate::failure::Failure;
use crate::output::Output;
use crate::progress::timed;

/// Reads a model of any known format from a file, or from standard input for `-`.
pub(crate) fn load(path: &Path) -> Result<Model, Failure> {
    let input = Input::open(path)?;
    Ok(Model::from_bytes(&input.bytes).map_err(|error| error.in_file(input.name))?)
}

/// Writes a model to a file, or to standard output for `-`.
pub(crate) fn save(model: &Model, path: &Path) -> Result<(), Failure> {
    let bytes = model.to_bytes();
    Ok(write_atomic(path, |out| out.write_all(&bytes))?)
}

/// The inputs of a command, sorted by what they are.
pub(crate) struct Sorted {
    /// Models with the names of their files.
    pub(crate) models: Vec<(String, Model)>,
    /// Everything else.
    pub(crate) data: Vec<Input>,
}

impl Sorted {
    pub(crate) fn new(inputs: Vec<Input>) -> Result<Sorted, Failure> {
        let mut sorted = Sorted { models: Vec::new(), data: Vec::new() };
        for input in inputs {
            match ModelFormat::detect(&input.bytes) {
                Some(format) => {
                    let read = Model::from_bytes_as(&input.bytes, format);
                    let model = read.map_err(|error| error.in_file(&input.name))?;
                    sorted.models.push((input.name, model));
                }
                None => sorted.data.push(input),
            }
        }
        Ok(sorted)
    }

    /// What absent features are worth to these models; none where there are no models.
    pub(crate) fn absent_rule(models: &[(String, Model)]) -> Result<Option<Absent>, Failure> {
        // To a line zero and missing are the same, so other models decide.
        let minding = models.iter().filter(|(_, model)| model.distinguishes_missing());
        let mut rules = minding.map(|(name, model)| (name, model.header().absent));
        let Some((first, rule)) = rules.next() else {
            return Ok(models.first().map(|(_, model)| model.header().absent));
        };
        match rules.find(|(_, other)| *other != rule) {
            None => Ok(Some(rule)),
            Some((name, other)) => Err(Failure::request(format!(
                "{first} takes absent features as {}, {name} as {}: score the data with each \
                 (`rankwright score`) and compare the score files with --scores",
                rule.name(),
                other.name()
            ))),
        }
    }
}

/// Features that are named in a note.
const NAMED: usize = 5;

/// Meets a model with data, and tells where features are matched by nothing but their order, and
/// which ones of those that scores depend on the data lacks. Gives the names of these.
pub(crate) fn tell_matching(
    model: &Model,
    data: &Dataset,
    ignore_extra: bool,
    out: &Output,
) -> Result<Vec<String>, Failure> {
    let matching = Matching::new(model.header(), data.features(), ignore_extra)?;
    if matching.by_position() {
        out.note(
            "only one of model and data has feature names: features are matched by their order",
        );
    }
    let used = model.used_features();
    let names = &model.header().features;
    let lacking = used.iter().filter(|feature| matching.column(**feature).is_none());
    let lacking: Vec<String> = lacking.map(|feature| names.name(*feature).into_owned()).collect();
    if !lacking.is_empty() {
        let shown = lacking.get(..NAMED).unwrap_or(&lacking).join(", ");
        let more = match lacking.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        out.note(format!(
            "the data lacks {} of the {} that the model uses, taken as {}: {shown}{more}",
            lacking.len(),
            counted(used.len(), "feature"),
            model.header().absent.name()
        ));
    }
    Ok(lacking)
}

/// Scores data, in its row order; gives the seconds too.
pub(crate) fn score(
    model: &Model,
    data: &Dataset,
    ignore_extra: bool,
    out: &Output,
) -> Result<(Vec<f64>, f64), Failure> {
    tell_matching(model, data, ignore_extra, out)?;
    let options = ScoreOptions { ignore_extra, simd: crate::simd()? };
    let (scores, seconds) = timed(out, "scoring", || model.score(data, options));
    Ok((scores?, seconds))
}
