//! The kind of a failure, for programs that read errors as JSON: the kind of the library's error,
//! or a name for failures that only the command has.

use crate::failure::Failure;

/// The kind of a failure.
pub(crate) fn kind(failure: &Failure) -> &'static str {
    match failure {
        Failure::Task(error) => error.kind(),
        Failure::Stopped => "interrupted",
        Failure::NotALog { .. } => "not-a-log",
        Failure::Request(_) => "bad-request",
        Failure::Usage(_) => "usage",
        Failure::Output(_) => "output",
    }
}

#[cfg(test)]
mod tests {
    use rankwright::data::{DataError, FileDamage};
    use rankwright::learn::LearnError;
    use rankwright::model::ModelError;
    use rankwright::search::SearchError;
    use rankwright::spec::SpecError;
    use rankwright::tasks::TaskError;

    use super::*;

    #[test]
    fn a_kind_is_the_name_of_the_innermost_variant() {
        let damaged =
            || DataError::Damaged { file: "a.rwd".into(), damage: FileDamage::HeaderChecksum };
        let unknown = || ModelError::UnknownFeatures { count: 1, names: "f9".into() };
        let in_search = || SearchError::from(unknown().in_file("m"));
        for (failure, expected) in [
            (Failure::from(damaged()), "damaged"),
            (Failure::Task(TaskError::Model(unknown().in_file("m"))), "unknown-features"),
            (Failure::from(LearnError::from(unknown().in_file("m"))), "unknown-features"),
            (Failure::from(in_search()), "unknown-features"),
            (
                Failure::Task(SearchError::ModelFeatures(Box::new(in_search())).into()),
                "unknown-features",
            ),
            (Failure::from(SpecError::unknown("learner", "x", &["mart"])), "unknown-name"),
            (Failure::Task(TaskError::NoData), "no-data"),
            (Failure::usage("x"), "usage"),
            (Failure::request("x"), "bad-request"),
            (Failure::Stopped, "interrupted"),
            (Failure::Output(std::io::ErrorKind::StorageFull.into()), "output"),
        ] {
            assert_eq!(kind(&failure), expected, "{failure:?}");
        }
    }
}
