//! RankNet's cross-entropy of a pair and its derivative, lambda.

use rankwright_learn::objective::DocumentPair;
use rankwright_report::PageBlock;
use rankwright_report::lecture::pair_losses;

use super::super::TaskError;
use super::metrics::SmallQuery;
use super::sources::{PAIRWISE, WICAKSONO, ZHANG};
use super::{ExampleDef, LectureStep, Worked};

pub(super) const DEF: ExampleDef = ExampleDef {
    name: "cross-entropy",
    title: "The cross-entropy of a pair of documents, and its lambda",
    lectures: &[ZHANG, WICAKSONO, PAIRWISE],
    compute,
};

/// The objective of RankNet.
const RANKNET: &str = "pair-logistic";
/// The first document is better.
const LABELS: [f64; 2] = [1.0, 0.0];

fn compute() -> Result<Worked, TaskError> {
    let mut steps = Vec::new();
    for (probability, slide) in [(0.99, "0.01"), (0.5, "0.69"), (0.01, "4.61")] {
        let scores = scores_of(probability);
        let loss = SmallQuery::new(RANKNET, &LABELS, &scores)?.loss()?;
        let text =
            format!("loss -log P, where the model says P = {probability} and the truth is 1");
        steps.push(LectureStep::number(text, loss).slide(slide));
    }
    let scores = scores_of(0.2);
    let lambdas = SmallQuery::new(RANKNET, &LABELS, &scores)?.lambdas()?;
    let lambda = |document: usize| lambdas.get(document).copied().unwrap_or(f64::NAN);
    let equal = [DocumentPair { better: 0, worse: 1, weight: 1.0, equal: true }];
    let soft = SmallQuery::new(RANKNET, &LABELS, &scores)?.pairs(&equal).lambdas()?;
    steps.extend([
        LectureStep::number(
            "lambda of D12, where the model says P(12, 11) = 0.2: 0.2 - 1",
            lambda(0),
        )
        .slide("-0.8")
        .note("below 0: the loss falls if the score of D12 rises"),
        LectureStep::number("lambda of D11, its opposite", lambda(1)),
        LectureStep::number(
            "lambda of D12 if both documents are equally good: 0.2 - 0.5",
            soft.first().copied().unwrap_or(f64::NAN),
        )
        .note("P = 0.5 of the slides; a pair file has it as D12 = D11 or as a probability"),
    ]);
    Ok(Worked { steps, pictures: vec![PageBlock::Chart(pair_losses())] })
}

/// Scores of two documents for which the model gives this probability to the first one.
fn scores_of(probability: f64) -> [f64; 2] {
    [(probability / (1.0 - probability)).ln(), 0.0]
}
