//! Relevance as a classification: a table of seven documents that a line separates.

use rankwright_data::Dataset;
use rankwright_model::ModelBody;
use rankwright_report::PageBlock;
use rankwright_report::lecture::{LabelledPoint, class_border};

use super::super::TaskError;
use super::points::{decimal, trained};
use super::sources::ZHANG;
use super::{ExampleDef, LectureStep, Worked};

pub(super) const DEF: ExampleDef = ExampleDef {
    name: "relevance",
    title: "Relevance classification: seven documents that a line separates",
    lectures: &[ZHANG],
    compute,
};

/// Cosine score, proximity window, and whether the document is relevant.
const TABLE: [(f32, f32, bool); 7] = [
    (0.032, 3.0, true),
    (0.02, 4.0, false),
    (0.043, 2.0, true),
    (0.004, 2.0, false),
    (0.022, 3.0, true),
    (0.03, 2.0, true),
    (0.027, 5.0, false),
];
const NAMES: [&str; 2] = ["cosine score", "proximity window"];
/// A support vector machine whose margin is hard enough for seven documents.
const LEARNER: &str = "linear-svm(c=1000)";

fn compute() -> Result<Worked, TaskError> {
    let data = Dataset::builder()
        .dense(TABLE.map(|row| [row.0, row.1]).concat(), 2)
        .feature_names(NAMES)
        .query_ids(TABLE.map(|_| "all"))
        .labels(TABLE.map(|row| f64::from(u8::from(row.2))));
    let data = data.build()?;
    let model = trained(LEARNER, &data)?;
    let scores = model.predict(&data)?;
    let mut steps = Vec::new();
    let mut errors = 0;
    for (number, (score, row)) in (1..).zip(scores.iter().zip(&TABLE)) {
        let (found, truth) = (judgement(*score > 0.0), judgement(row.2));
        errors += usize::from(found != truth);
        let text = format!("example {number} ({}, {}): score {score:.4}", row.0, row.1);
        steps.push(LectureStep::text(text, found).slide(truth));
    }
    steps.push(LectureStep::count("documents on the wrong side of the line", errors));
    let (weights, bias) = line(model.body());
    let equation = format!("{:.2} cosine {:+.4} window {bias:+.4} = 0", weights.0, weights.1);
    steps.push(LectureStep::text(format!("the line of {LEARNER}"), equation));
    let point = |row: &(f32, f32, bool)| LabelledPoint {
        class: judgement(row.2).to_owned(),
        features: (decimal(row.0), decimal(row.1)),
    };
    let points: Vec<LabelledPoint> = TABLE.iter().map(point).collect();
    let chart = class_border(&points, weights, bias, NAMES);
    Ok(Worked { steps, pictures: vec![PageBlock::Chart(chart)] })
}

/// A class in the words of the slide.
fn judgement(is_relevant: bool) -> &'static str {
    if is_relevant { "relevant" } else { "nonrelevant" }
}

/// The two weights and the bias of a linear model; NaN for other models.
pub(super) fn line(body: &ModelBody) -> ((f64, f64), f64) {
    match body {
        ModelBody::Linear(linear) => match linear.weights() {
            [first, second] => ((*first, *second), linear.bias()),
            _ => ((f64::NAN, f64::NAN), f64::NAN),
        },
        _ => ((f64::NAN, f64::NAN), f64::NAN),
    }
}
