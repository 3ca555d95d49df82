//! The kind of a failure, for programs that read errors as JSON.
//!
//! It is the name of the variant of the library's error in lower case, such as `unknown-features` or
//! `no-training-data`, so that a script and a Rust program tell errors apart by the same names. An
//! error that only wraps another one has the kind of the inner one.

use std::fmt::Debug;

use rankwright::learn::LearnError;
use rankwright::model::ModelError;
use rankwright::tasks::TaskError;

use crate::failure::Failure;

/// The kind of a failure.
pub(crate) fn kind(failure: &Failure) -> String {
    match failure {
        Failure::Stopped => "interrupted".into(),
        Failure::Output(_) => "output-closed".into(),
        Failure::Request(_) => "bad-request".into(),
        Failure::Usage(_) => "usage".into(),
        Failure::Task(TaskError::Model(error)) | Failure::Model(error) => of_model(error),
        Failure::Task(TaskError::Learn(error)) | Failure::Learn(error) => of_learner(error),
        other => variant(other),
    }
}

fn of_model(error: &ModelError) -> String {
    match error {
        ModelError::InFile { error, .. } => of_model(error),
        other => variant(other),
    }
}

fn of_learner(error: &LearnError) -> String {
    match error {
        LearnError::InQuery { error, .. } => of_learner(error),
        LearnError::Model(error) => of_model(error),
        other => variant(other),
    }
}

/// The name of the innermost variant in kebab case, from the derived `Debug`: `Data(Damaged { ...`
/// is `damaged`.
fn variant(error: &dyn Debug) -> String {
    let text = format!("{error:?}");
    let mut rest = text.as_str();
    let mut name = "";
    loop {
        let end = rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        if !word.starts_with(|c: char| c.is_ascii_uppercase()) {
            return kebab(name);
        }
        name = word;
        match after.strip_prefix('(') {
            Some(inside) => rest = inside,
            None => return kebab(name),
        }
    }
}

/// `NoTrainingData` as `no-training-data`.
fn kebab(name: &str) -> String {
    let mut text = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !text.is_empty() {
            text.push('-');
        }
        text.push(letter.to_ascii_lowercase());
    }
    text
}

#[cfg(test)]
mod tests {
    use rankwright::data::{DataError, FileDamage};
    use rankwright::spec::SpecError;

    use super::*;

    #[test]
    fn a_kind_is_the_name_of_the_innermost_variant() {
        let damaged =
            || DataError::Damaged { file: "a.rwd".into(), damage: FileDamage::HeaderChecksum };
        let unknown = || ModelError::UnknownFeatures { count: 1, names: "f9".into() };
        for (failure, expected) in [
            (Failure::Data(damaged()), "damaged"),
            (Failure::Task(damaged().into()), "damaged"),
            (Failure::Task(TaskError::Model(unknown().in_file("m"))), "unknown-features"),
            (Failure::Learn(unknown().in_file("m").into()), "unknown-features"),
            (Failure::Spec(SpecError::unknown("learner", "x", &["mart"])), "unknown-name"),
            (Failure::Task(TaskError::NoData), "no-data"),
            (Failure::usage("x"), "usage"),
            (Failure::request("x"), "bad-request"),
            (Failure::Stopped, "interrupted"),
        ] {
            assert_eq!(kind(&failure), expected, "{failure:?}");
        }
    }
}
