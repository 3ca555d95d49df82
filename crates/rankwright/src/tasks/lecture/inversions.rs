//! Fewer inversions and yet a lower NDCG: the reason for lambdas with a metric.

use rankwright_report::PageBlock;
use rankwright_report::chart::{Axis, Body, Chart, ForceArrow, Forces};

use super::super::TaskError;
use super::metrics::{SmallQuery, value};
use super::sources::{PAIRWISE, TUNYS, WICAKSONO};
use super::{ExampleDef, LectureStep, Worked};

pub(super) const DEF: ExampleDef = ExampleDef {
    name: "inversions",
    title: "Fewer pairs in the wrong order, and yet a lower NDCG and ERR",
    lectures: &[PAIRWISE, TUNYS, WICAKSONO],
    compute,
};

/// Number of documents of the list.
const DOCUMENTS: usize = 16;
/// The difference of the scores of neighbours, so that the order of the list is that of the scores.
const SCORE_STEP: f64 = 0.1;

fn compute() -> Result<Worked, TaskError> {
    let (left, right) = (list(1, 15), list(4, 10));
    let pair = |metric: &str| -> Result<(f64, f64), TaskError> {
        Ok((value(metric, &left)?, value(metric, &right)?))
    };
    let (inversions, ndcg, err) = (pair("inversions")?, pair("ndcg")?, pair("err(max=1)")?);
    let steps = vec![
        LectureStep::number("pairs in the wrong order: relevant at ranks 1 and 15", inversions.0)
            .slide("13")
            .decimals(0),
        LectureStep::number("relevant at ranks 4 and 10", inversions.1).slide("11").decimals(0),
        LectureStep::number("NDCG with ranks 1 and 15", ndcg.0),
        LectureStep::number("NDCG with ranks 4 and 10", ndcg.1)
            .note("fewer inversions, but the first relevant document has fallen"),
        LectureStep::number("ERR with ranks 1 and 15", err.0),
        LectureStep::number("ERR with ranks 4 and 10", err.1),
    ];
    Ok(Worked { steps, pictures: vec![PageBlock::Chart(forces(&left)?)] })
}

/// Labels by rank: documents at two ranks, from 1, are relevant.
fn list(first: usize, second: usize) -> Vec<f64> {
    let is_relevant = |rank: usize| rank == first || rank == second;
    (1..=DOCUMENTS).map(|rank| f64::from(u8::from(is_relevant(rank)))).collect()
}

/// The forces of RankNet and LambdaRank on the first list.
fn forces(labels: &[f64]) -> Result<Chart, TaskError> {
    let scores: Vec<f64> = (0..DOCUMENTS).map(|rank| -SCORE_STEP * rank as f64).collect();
    let arrows = |objective: &str| -> Result<Vec<ForceArrow>, TaskError> {
        let lambdas = SmallQuery::new(objective, labels, &scores)?.lambdas()?;
        let arrow = |(rank, (lambda, label)): (usize, (f64, &f64))| ForceArrow {
            name: format!("rank {}", rank + 1),
            label: *label,
            force: -lambda,
        };
        Ok(lambdas.into_iter().zip(labels).enumerate().map(arrow).collect())
    };
    Ok(Chart {
        id: "forces".into(),
        title: "Forces on the list with relevant documents at ranks 1 and 15".into(),
        caption: "RankNet pushes the document at rank 15 up hardest, as all inversions are there. \
                  LambdaRank weighs each pair by the change of NDCG, so that pairs with the first \
                  ranks count most."
            .into(),
        x: Axis::default(),
        y: Axis::default(),
        body: Body::Forces(Forces {
            lists: vec![
                ("RankNet".into(), arrows("pair-logistic")?),
                ("LambdaRank, NDCG".into(), arrows("lambda(metric=ndcg, preset=burges)")?),
            ],
        }),
    })
}
