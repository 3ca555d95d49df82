//! XGBoost's models: reads JSON and UBJSON, writes JSON.
//!
//! **Reading.** Scores are XGBoost's margins, `predict(output_margin=True)`, to 1e-6: XGBoost
//! adds in f32, we in f64. XGBoost stores `base_score` as a prediction; its margin depends on
//! the objective (for `binary:logistic` it is the logit of `base_score`, see `objective.rs`).
//! A note of the header names the objective.
//!
//! | XGBoost | ours |
//! |---|---|
//! | `x < t` goes left | `SplitCondition::AtMost` of the next f32 below `t`, which is equivalent |
//! | `default_left` | `missing` |
//! | listed categories go right | `SplitCondition::In` with the two sides exchanged |
//! | booster `dart`, `weight_drop` | leaf values times the tree's weight |
//! | booster `gblinear` | a linear model; `base_score` is added to the bias |
//! | `loss_changes` | gains |
//! | `sum_hessian` | rows, if a row's second derivative is 1: with `reg:squarederror` |
//!
//! Features that a sparse row leaves out are missing. A value between -1 and 0 has category 0 here
//! and no category in XGBoost. Old files write `NaN` as the unused threshold of a set of
//! categories; it is read.
//!
//! Rejected: several classes or targets, vector leaves, unknown boosters and objectives, the binary
//! format of old versions, thresholds that are NaN or below every number.
//!
//! **Writing.** With the objective `reg:squarederror`, so that predictions are scores, and numbers
//! rounded to f32: leaf values, weights, base score, gains, rows. Numbers out of the range of f32
//! are rejected, and so is `SplitCondition::NonZeroAtMost`, as 0 is an ordinary value there. `x <=
//! t` becomes `x < t'` with the next number above, which is exact for finite values; XGBoost
//! accepts no infinite ones. Names are kept, ids that count from 1 as the names `1`, `2`, ...; ids
//! that count from 0 need none. A model that counts absent values as 0 scores dense rows the same;
//! in sparse rows the zeros must be written out, as XGBoost treats absent values as missing.

mod build;
mod export;
mod objective;
mod raw;
#[cfg(test)]
mod tests;
mod ubjson;

use std::borrow::Cow;

use self::export::write;
use crate::error::ModelError;
use crate::interchange::{FileProblem, ModelFormat, UnsupportedPart};
use crate::model::{BodyKind, Model};

/// The name of the system in messages.
const NAME: &str = "XGBoost";

/// The entry in the table of formats.
pub(super) static FORMAT: ModelFormat = ModelFormat {
    name: "xgboost",
    system: NAME,
    reads: "JSON and UBJSON of save_model",
    writes: "JSON of save_model",
    extensions: &["json", "ubj"],
    bodies: &[BodyKind::Trees, BodyKind::Linear],
    // The agreement of our scores with those of the system.
    scores: "margins, to 1e-6 (it adds in f32)",
    detect,
    read,
    write: Some(write),
};

/// Number of bytes that are searched to detect the JSON.
const DETECT_BYTES: usize = 4096;

/// Whether bytes begin like XGBoost's JSON, its UBJSON or its old binary format.
fn detect(bytes: &[u8]) -> bool {
    is_json(bytes) || is_ubjson(bytes) || is_old_binary(bytes)
}

fn is_json(bytes: &[u8]) -> bool {
    let begin = bytes.get(..DETECT_BYTES).unwrap_or(bytes).trim_ascii_start();
    let Some(inside) = begin.strip_prefix(b"{").map(<[u8]>::trim_ascii_start) else { return false };
    let has = |key: &[u8]| inside.windows(key.len()).any(|part| part == key);
    inside.starts_with(b"\"learner\"")
        || inside.starts_with(b"\"version\"") && has(b"\"learner\"") && has(b"\"gradient_booster\"")
}

/// Whether bytes begin like an object of UBJSON: `{`, the marker of a length, and one of the keys
/// that come first.
fn is_ubjson(bytes: &[u8]) -> bool {
    let begin = bytes.get(..64).unwrap_or(bytes);
    matches!(begin, [b'{', b'i' | b'U' | b'I' | b'l' | b'L', ..])
        && begin.windows(7).any(|part| part == b"learner" || part == b"version")
}

fn is_old_binary(bytes: &[u8]) -> bool {
    bytes.starts_with(b"binf") || bytes.starts_with(b"bs64")
}

/// Reads JSON or UBJSON.
fn read(bytes: &[u8]) -> Result<Model, ModelError> {
    if is_old_binary(bytes) {
        return Err(unsupported(UnsupportedPart::OldBinary));
    }
    if is_ubjson(bytes) {
        let file = ubjson::read(bytes)?;
        return build::model(file, f32::NAN, bytes.len());
    }
    let (json, nan_replacement) = without_nan(bytes)?;
    let file = serde_json::from_slice(&json).map_err(|error| {
        let expected = "the JSON of save_model";
        invalid(FileProblem::Syntax { message: error.to_string(), expected })
    })?;
    build::model(file, nan_replacement, bytes.len())
}

fn unsupported(part: UnsupportedPart) -> ModelError {
    ModelError::unsupported(NAME, part)
}

fn invalid(problem: FileProblem) -> ModelError {
    ModelError::invalid_file(NAME, problem)
}

/// The words that XGBoost writes for numbers that JSON does not have, and their replacements: a
/// number that no threshold has, and `null`, which is read as infinite (see `RawThreshold`).
const REPLACEMENTS: [(&[u8], &[u8]); 2] = [(b"NaN", b"-3e38"), (b"Infinity", b"null")];
/// The number that replaces NaN, as in [`REPLACEMENTS`].
const NAN_REPLACEMENT: f32 = -3e38;
/// Maximum number of replacements in a file.
const MAX_REPLACEMENTS: usize = 1 << 20;

/// The bytes with each `NaN` and `Infinity` outside strings replaced, and the number that replaces
/// NaN (NaN itself, which equals no number, if nothing was replaced).
fn without_nan(bytes: &[u8]) -> Result<(Cow<'_, [u8]>, f32), ModelError> {
    let mut out = Vec::new();
    // Number of bytes that are copied or replaced, and number of replacements.
    let (mut copied, mut count) = (0, 0);
    let mut in_string = false;
    let mut rest = bytes.iter().enumerate();
    while let Some((index, byte)) = rest.next() {
        match byte {
            b'"' => in_string = !in_string,
            b'\\' if in_string => drop(rest.next()),
            b'N' | b'I' if !in_string => {
                let text = bytes.get(index..).unwrap_or_default();
                let found = REPLACEMENTS.iter().find(|(word, _)| text.starts_with(word));
                let Some((word, replacement)) = found else { continue };
                count += 1;
                if count == 1 {
                    // A replacement is at most two bytes longer than the word.
                    out.reserve_exact(bytes.len() + 2 * MAX_REPLACEMENTS);
                }
                out.extend_from_slice(bytes.get(copied..index).unwrap_or_default());
                out.extend_from_slice(replacement);
                copied = index + word.len();
            }
            _ => {}
        }
        if count > MAX_REPLACEMENTS {
            let (items, most) = ("numbers that are not finite", MAX_REPLACEMENTS);
            return Err(unsupported(UnsupportedPart::TooMany { items, most }));
        }
    }
    if count == 0 {
        return Ok((Cow::Borrowed(bytes), f32::NAN));
    }
    out.extend_from_slice(bytes.get(copied..).unwrap_or_default());
    Ok((Cow::Owned(out), NAN_REPLACEMENT))
}
