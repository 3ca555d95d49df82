//! The kind of a failure, for programs that read errors as JSON: the kind of the library's error,
//! or a name for failures that only the command has.

use crate::failure::Failure;

/// The kind of a failure.
pub(crate) fn kind(failure: &Failure) -> &'static str {
    match failure {
        Failure::Task(error) => error.kind(),
        Failure::Data(error) => error.kind(),
        Failure::Eval(error) => error.kind(),
        Failure::Spec(error) => error.kind(),
        Failure::Compare(error) => error.kind(),
        Failure::Model(error) => error.kind(),
        Failure::Learn(error) => error.kind(),
        Failure::Search(error) => error.kind(),
        Failure::Report(error) => error.kind(),
        Failure::Experiment(error) => error.kind(),
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
            (Failure::Data(damaged()), "damaged"),
            (Failure::Task(damaged().into()), "damaged"),
            (Failure::Task(TaskError::Model(unknown().in_file("m"))), "unknown-features"),
            (Failure::Learn(unknown().in_file("m").into()), "unknown-features"),
            (Failure::Search(in_search()), "unknown-features"),
            (
                Failure::Task(SearchError::ModelFeatures(Box::new(in_search())).into()),
                "unknown-features",
            ),
            (Failure::Spec(SpecError::unknown("learner", "x", &["mart"])), "unknown-name"),
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
