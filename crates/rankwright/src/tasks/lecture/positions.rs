//! Two pairs with the same lambda in RankNet, at the top and at the end of a list, and their lambdas
//! in LambdaRank.

use super::super::TaskError;
use super::metrics::SmallQuery;
use super::sources::WICAKSONO;
use super::{ExampleDef, LectureStep, Worked};

pub(super) const DEF: ExampleDef = ExampleDef {
    name: "positions",
    title: "The same error at ranks 2 and 3, and at ranks 99 and 100",
    lectures: &[WICAKSONO],
    compute,
};

/// Number of documents of the list.
const DOCUMENTS: usize = 100;
/// The difference of the scores of neighbours, so that both pairs have the same probability.
const SCORE_STEP: f64 = 0.1;
/// The ranks of two pairs of neighbours, whose second document is the relevant one.
const TOP: [usize; 2] = [2, 3];
const END: [usize; 2] = [99, 100];

fn compute() -> Result<Worked, TaskError> {
    let is_relevant = |rank: usize| rank == TOP[1] || rank == END[1];
    let labels: Vec<f64> =
        (1..=DOCUMENTS).map(|rank| f64::from(u8::from(is_relevant(rank)))).collect();
    let scores: Vec<f64> = (1..=DOCUMENTS).map(|rank| -SCORE_STEP * rank as f64).collect();
    let mut steps = Vec::new();
    for (name, objective, note) in [
        (
            "RankNet",
            "pair-logistic",
            "the slide: equal probabilities have equal lambdas; below 0: the document is pushed up",
        ),
        (
            "LambdaRank",
            "lambda(metric=ndcg, preset=burges)",
            "the lambda of RankNet times the change of NDCG by a swap",
        ),
    ] {
        let query = SmallQuery::new(objective, &labels, &scores)?;
        let (top, end) = (lambda(&query, TOP)?, lambda(&query, END)?);
        for ([upper, lower], value) in [(TOP, top), (END, end)] {
            let text = format!("{name}: lambda of rank {lower}, from the pair with rank {upper}");
            steps.push(LectureStep::number(text, value).decimals(6).note(note));
        }
        let text = format!("{name}: the first lambda divided by the second");
        steps.push(LectureStep::number(text, top / end).decimals(1));
    }
    Ok(Worked { steps, ..Worked::default() })
}

/// The lambda of the document at the lower of two ranks, from the pair with that at the upper one: the
/// derivative of the loss, below 0 for a document that is pushed up. NaN if there is no such pair.
fn lambda(query: &SmallQuery<'_>, [upper, lower]: [usize; 2]) -> Result<f64, TaskError> {
    let pairs = query.pair_lambdas()?;
    // Documents are in the order of their ranks and numbered from 0.
    let pair = pairs.iter().find(|pair| {
        pair.pushed_up.document + 1 == lower && pair.pushed_down.document + 1 == upper
    });
    Ok(pair.map_or(f64::NAN, |pair| -pair.size))
}
