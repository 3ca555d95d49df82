//! The lectures that the examples are from.

use serde::Serialize;

pub(super) const WICAKSONO: &str = "A. F. Wicaksono, Learning-To-Rank";
pub(super) const ZHANG: &str = "Y. Zhang, CSCE 670, week 5: Learning to Rank";
pub(super) const PAIRWISE: &str = "Pairwise approach (in Russian)";
pub(super) const GRABOCKA: &str = "J. Grabocka, Business Analytics";
pub(super) const TUNYS: &str = "T. Tunys, LambdaMART Demystified";

/// A lecture, under the names by which its examples are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct LectureSource {
    /// The letter of the lecture in the documentation, which is a name of it.
    pub letter: &'static str,
    /// The number of its slides, which is a name of it too.
    pub number: &'static str,
    /// The author's surname or the subject, in lower case: the third name.
    pub name: &'static str,
    /// Author and title.
    pub title: &'static str,
}

/// All lectures, by number.
pub(super) static LECTURES: &[LectureSource] = &[
    LectureSource { letter: "W", number: "000", name: "wicaksono", title: WICAKSONO },
    LectureSource { letter: "Z", number: "001", name: "zhang", title: ZHANG },
    LectureSource { letter: "P", number: "002", name: "pairwise", title: PAIRWISE },
    LectureSource { letter: "G", number: "003", name: "grabocka", title: GRABOCKA },
    LectureSource { letter: "T", number: "004", name: "tunys", title: TUNYS },
];

impl LectureSource {
    /// The lecture with this letter, number (`3` is `003`) or name, in either case.
    pub(super) fn find(name: &str) -> Option<&'static LectureSource> {
        let number = name.parse::<u32>().ok();
        LECTURES.iter().find(|lecture| {
            lecture.letter.eq_ignore_ascii_case(name)
                || lecture.name.eq_ignore_ascii_case(name)
                || number.is_some() && lecture.number.parse().ok() == number
        })
    }
}
