//! The change of NDCG when two ranks are swapped, by a formula and by two evaluations.

use super::super::TaskError;
use super::metrics::{ideal, measure, swapped, value};
use super::sources::{PAIRWISE, WICAKSONO};
use super::{ExampleDef, LectureStep, Worked};

pub(super) const DEF: ExampleDef = ExampleDef {
    name: "swap",
    title: "The change of NDCG by a swap: a formula instead of two evaluations",
    lectures: &[PAIRWISE, WICAKSONO],
    compute,
};

/// Relevance by rank of the first lecture's example.
const BINARY: [f64; 5] = [0.0, 1.0, 0.0, 1.0, 1.0];
/// Graded relevance by rank, our own.
const GRADED: [f64; 7] = [1.0, 3.0, 0.0, 2.0, 4.0, 0.0, 1.0];

fn compute() -> Result<Worked, TaskError> {
    let binary = deltas("ndcg(gain=linear)@5", &BINARY)?;
    let graded = deltas("ndcg", &GRADED)?;
    let mut largest: f64 = 0.0;
    for (i, row) in graded.iter().enumerate() {
        for (j, delta) in row.iter().enumerate() {
            let after = value("ndcg", &swapped(&GRADED, i + 1, j + 1))?;
            let difference = after - value("ndcg", &GRADED)?;
            largest = largest.max((difference - delta).abs());
        }
    }
    let at = |row: usize, column: usize| {
        binary.get(row).and_then(|row| row.get(column)).copied().unwrap_or(f64::NAN)
    };
    let steps = vec![
        LectureStep::number(
            "change of NDCG@5 of [0, 1, 0, 1, 1] when ranks 1 and 2 are swapped",
            at(0, 1),
        )
        .slide("0.17")
        .note("(gain_j - gain_k) / IDCG * (discount_k - discount_j)"),
        LectureStep::number("when ranks 3 and 4 are swapped", at(2, 3)).slide("0.03"),
        LectureStep::number(
            "labels [1, 3, 0, 2, 4, 0, 1], all 49 swaps: largest difference to two evaluations",
            largest,
        )
        .note("gain 2^label - 1; a formula takes constant time, an evaluation that of the list"),
    ];
    Ok(Worked { steps, ..Worked::default() })
}

/// The change of a metric for each swap of two ranks.
fn deltas(metric: &str, labels: &[f64]) -> Result<Vec<Vec<f64>>, TaskError> {
    let Some(mut swap) = measure(metric)?.swap() else { return Ok(Vec::new()) };
    swap.prepare(labels, &ideal(labels))?;
    let row = |rank: usize| {
        let mut row = vec![0.0; labels.len()];
        swap.swap_deltas(rank, &mut row);
        row
    };
    Ok((0..labels.len()).map(row).collect())
}
