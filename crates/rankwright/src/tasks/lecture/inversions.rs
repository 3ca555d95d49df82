//! Fewer inversions and yet a lower NDCG: the reason for lambdas with a metric.

use rankwright_report::PageBlock;
use rankwright_report::chart::{Axis, Body, Chart, ForceArrow, Forces};

use super::super::TaskError;
use super::metrics::{SmallQuery, value};
use super::sources::{PAIRWISE, TUNYS, WICAKSONO, ZHANG};
use super::{ExampleDef, LectureStep, Worked};

pub(super) const DEF: ExampleDef = ExampleDef {
    name: "inversions",
    title: "Fewer pairs in the wrong order, and yet a lower NDCG and ERR",
    lectures: &[PAIRWISE, TUNYS, WICAKSONO, ZHANG],
    compute,
};

/// Number of documents of the list.
const DOCUMENTS: usize = 16;
/// The difference of the scores of neighbours, so that the order of the list is that of the scores.
const SCORE_STEP: f64 = 0.1;
const FALLEN: &str = "fewer inversions, but the first relevant document has fallen";

/// Two rankings of a list with two relevant documents; the second has fewer pairs in the wrong
/// order.
struct InversionFigure {
    /// The lectures that have it.
    from: &'static str,
    /// For both rankings: the ranks of the relevant documents, and the pairs in the wrong order that
    /// the slide counts.
    rankings: [([usize; 2], &'static str); 2],
}

const FIGURES: [InversionFigure; 2] = [
    InversionFigure {
        from: "the counts of Fig. 1 of the pairwise approach",
        rankings: [([1, 15], "13"), ([4, 10], "11")],
    },
    InversionFigure {
        from: "the counts of Wicaksono and Zhang; their pictures are lost, ranks are our own",
        rankings: [([1, 12], "10"), ([3, 8], "8")],
    },
];

fn compute() -> Result<Worked, TaskError> {
    let mut steps = Vec::new();
    for InversionFigure { from, rankings } in &FIGURES {
        for ([first, second], slide) in rankings {
            let text = format!("pairs in the wrong order: relevant at ranks {first} and {second}");
            let inversions = value("inversions", &list(*first, *second))?;
            steps.push(LectureStep::number(text, inversions).slide(slide).decimals(0).note(*from));
        }
        for (name, metric) in [("NDCG", "ndcg"), ("ERR", "err(max=1)")] {
            for ([first, second], _) in rankings {
                let text = format!("{name} with ranks {first} and {second}");
                let step = LectureStep::number(text, value(metric, &list(*first, *second))?);
                let has_fallen = name == "NDCG" && *first > 1;
                steps.push(if has_fallen { step.note(FALLEN) } else { step });
            }
        }
    }
    Ok(Worked { steps, pictures: vec![PageBlock::Chart(forces(&list(1, 15))?)] })
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
