//! Documents of two queries in the space of features and in the space of pairs: the ranking SVM.

use rankwright_data::Dataset;
use rankwright_report::PageBlock;
use rankwright_report::lecture::{QueryPoint, original_space, pair_differences, pair_space};

use super::super::TaskError;
use super::points::{decimal, trained};
use super::relevance::line;
use super::sources::{PAIRWISE, ZHANG};
use super::{ExampleDef, LectureStep, Worked};

pub(super) const DEF: ExampleDef = ExampleDef {
    name: "pair-space",
    title: "Ranking SVM: documents of two queries become pairs that a line separates",
    lectures: &[ZHANG, PAIRWISE],
    compute,
};

/// Query, label and two features. Scores of the second query are higher as a whole, so that one
/// threshold of the score does not fit both.
const DOCUMENTS: [(&str, f64, f32, f32); 8] = [
    ("1", 2.0, 0.45, 0.5),
    ("1", 1.0, 0.3, 0.35),
    ("1", 0.0, 0.2, 0.1),
    ("1", 0.0, 0.05, 0.25),
    ("2", 2.0, 0.95, 0.9),
    ("2", 1.0, 0.7, 0.85),
    ("2", 1.0, 0.85, 0.65),
    ("2", 0.0, 0.65, 0.55),
];
const NAMES: [&str; 2] = ["feature 1", "feature 2"];
const LEARNER: &str = "ranksvm(c=100)";

fn compute() -> Result<Worked, TaskError> {
    let data = Dataset::builder()
        .dense(DOCUMENTS.map(|document| [document.2, document.3]).concat(), 2)
        .feature_names(NAMES)
        .query_ids(DOCUMENTS.map(|document| document.0))
        .labels(DOCUMENTS.map(|document| document.1));
    let model = trained(LEARNER, &data.build()?)?;
    let (weights, _) = line(model.body());
    let documents = DOCUMENTS.map(|(query, label, x, y)| QueryPoint {
        query: query.to_owned(),
        label,
        features: (decimal(x), decimal(y)),
    });
    let pairs = pair_differences(&documents);
    let score = |x: (f64, f64)| weights.0 * x.0 + weights.1 * x.1;
    let right = pairs.iter().filter(|pair| (score(pair.features) > 0.0) == pair.is_better).count();
    let steps = vec![
        LectureStep::count("documents of two queries", documents.len())
            .note("the slides' pictures are lost; the coordinates are our own"),
        LectureStep::count(
            "instances in the space of pairs: differences of documents of one query with \
             different labels, in both directions",
            pairs.len(),
        ),
        LectureStep::text(
            format!("weights w of {LEARNER}"),
            format!("({:.4}, {:.4})", weights.0, weights.1),
        ),
        LectureStep::count("instances on the right side of w x = 0", right)
            .note("an intercept would cancel in every difference, so there is none"),
        LectureStep::text(
            "score of label 2 in query 1, and of label 0 in query 2",
            format!("{:.4}, {:.4}", score(documents[0].features), score(documents[7].features)),
        )
        .note("no threshold of the score separates the labels of both queries"),
    ];
    let pictures = vec![
        PageBlock::Chart(original_space(&documents, weights, NAMES)),
        PageBlock::Chart(pair_space(&pairs, weights, NAMES)),
    ];
    Ok(Worked { steps, pictures })
}
