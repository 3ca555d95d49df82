//! NDCG with the label as gain, and with the exponential gain 2^label - 1.

use super::super::TaskError;
use super::metrics::{ideal, measure, swapped, value};
use super::sources::{GRABOCKA, WICAKSONO};
use super::{ExampleDef, LectureStep, Worked};

pub(super) const LINEAR: ExampleDef = ExampleDef {
    name: "ndcg",
    title: "NDCG of five documents, with the label as gain, and after two swaps",
    lectures: &[WICAKSONO],
    compute: linear,
};

pub(super) const EXPONENTIAL: ExampleDef = ExampleDef {
    name: "ndcg-exponential",
    title: "NDCG of two rankings, with the gain 2^label - 1",
    lectures: &[GRABOCKA],
    compute: exponential,
};

/// Relevance by rank.
const RANKING: [f64; 5] = [0.0, 1.0, 0.0, 1.0, 1.0];

fn linear() -> Result<Worked, TaskError> {
    let dcg = |labels: &[f64]| value("dcg(gain=linear)@5", labels);
    let ndcg = |labels: &[f64]| value("ndcg(gain=linear)@5", labels);
    let best = ideal(&RANKING);
    let mut steps = vec![
        LectureStep::number("DCG@5 of r = [0, 1, 0, 1, 1]", dcg(&RANKING)?).slide("1.45"),
        LectureStep::number("IDCG@5: the DCG of [1, 1, 1, 0, 0]", dcg(&best)?).slide("2.13"),
        LectureStep::number("NDCG@5 = DCG / IDCG", ndcg(&RANKING)?).slide("0.68"),
    ];
    for (first, second, slides) in
        [(1, 2, ["1.82", "0.85", "0.17"]), (3, 4, ["1.52", "0.71", "0.03"])]
    {
        let after = swapped(&RANKING, first, second);
        let change = ndcg(&after)? - ndcg(&RANKING)?;
        let when = format!("after ranks {first} and {second} are swapped");
        let [dcg_slide, ndcg_slide, change_slide] = slides;
        steps.extend([
            LectureStep::number(format!("DCG@5 {when}"), dcg(&after)?).slide(dcg_slide),
            LectureStep::number(format!("NDCG@5 {when}"), ndcg(&after)?).slide(ndcg_slide),
            LectureStep::number("the change of NDCG", change).slide(change_slide),
        ]);
    }
    Ok(Worked { steps, ..Worked::default() })
}

/// Labels of five documents.
const LABELS: [f64; 5] = [3.0, 2.0, 1.0, 0.0, 0.0];
/// The scores of two systems for them.
const SCORES: [[f64; 5]; 2] = [[3.0, 0.0, 2.0, 1.0, 0.0], [3.0, 2.0, 0.0, 1.0, 0.0]];

/// The discounts of the slides by rank, which are log10(rank + 1).
const DISCOUNTS: [&str; 5] = ["0.30", "0.47", "0.60", "0.69", "0.77"];

/// The term of a document in DCG with the gain 2^label - 1 and the discount log10(rank + 1): the
/// DCG of a list in which all other documents have the label 0.
fn term(rank: usize, label: f64) -> Result<f64, TaskError> {
    let labels: Vec<f64> = (1..=5).map(|at| if at == rank { label } else { 0.0 }).collect();
    Ok(value("dcg@5", &labels)? / 2f64.log10())
}

/// A number of the slides' tables, which cut digits off instead of rounding.
fn cut_off(text: String, value: f64, slide: &str) -> LectureStep {
    let step = LectureStep::number(text, value).slide(slide);
    match step.agrees {
        Some(false) => step.note("the slide cuts digits off instead of rounding"),
        _ => step,
    }
}

/// The terms of a ranking that are not 0: rank, label, and the value of the slide.
fn terms(of: &str, terms: &[(usize, f64, &str)]) -> Result<Vec<LectureStep>, TaskError> {
    let step = |&(rank, label, slide): &(usize, f64, &str)| -> Result<LectureStep, TaskError> {
        let text = format!("{of}: the term of rank {rank}, label {label}");
        Ok(cut_off(text, term(rank, label)?, slide))
    };
    terms.iter().map(step).collect()
}

fn exponential() -> Result<Worked, TaskError> {
    // Documents with equal scores stay in their order, as on the slides.
    let of = |metric: &str, scores: &[f64; 5]| -> Result<f64, TaskError> {
        Ok(measure(metric)?.of(scores, &LABELS)?.unwrap_or(f64::NAN))
    };
    // The discount of the slides is log10(rank + 1), which is log2(rank + 1) times log10(2).
    let decimal = |scores: &[f64; 5]| -> Result<f64, TaskError> {
        Ok(of("dcg(ties=stable)@5", scores)? / 2f64.log10())
    };
    let ndcg = |scores: &[f64; 5]| of("ndcg(ties=stable)@5", scores);
    let base = "the slide writes log2 and computes with log10, which leaves NDCG unchanged";
    let mut steps = Vec::new();
    for (rank, slide) in (1..).zip(DISCOUNTS) {
        // The term of a label of 1, whose gain is 1, is 1 / discount.
        let text = format!("discount of rank {rank}: log10({})", rank + 1);
        steps.push(cut_off(text, 1.0 / term(rank, 1.0)?, slide));
    }
    let first = [(1, 3.0, "23.25"), (2, 1.0, "2.09"), (4, 2.0, "4.29")];
    steps.extend(terms("scores [3, 0, 2, 1, 0]", &first)?);
    steps.extend([
        LectureStep::number("DCG@5 of scores [3, 0, 2, 1, 0], in log10", decimal(&SCORES[0])?)
            .slide("29.64")
            .note(base),
        LectureStep::number("the same DCG@5 in log2", of("dcg(ties=stable)@5", &SCORES[0])?),
    ]);
    let best = [(1, 3.0, "23.25"), (2, 2.0, "6.28"), (3, 1.0, "1.66")];
    steps.extend(terms("best order", &best)?);
    steps.extend([
        LectureStep::number("IDCG@5 of labels [3, 2, 1, 0, 0], in log10", decimal(&LABELS)?)
            .slide("31.02")
            .note("a typing slip: the slide divides by 31.20 in the next line"),
        LectureStep::number("NDCG@5 of scores [3, 0, 2, 1, 0]", ndcg(&SCORES[0])?)
            .slide("0.94")
            .note("the slide cuts the number off; rounded, its own 29.64 / 31.20 is 0.95")
            .decimals(5),
    ]);
    let second = [(1, 3.0, "23.25"), (2, 2.0, "6.28"), (4, 1.0, "1.43")];
    steps.extend(terms("scores [3, 2, 0, 1, 0]", &second)?);
    steps.extend([
        LectureStep::number("DCG@5 of scores [3, 2, 0, 1, 0], in log10", decimal(&SCORES[1])?)
            .slide("30.97"),
        LectureStep::number("NDCG@5 of scores [3, 2, 0, 1, 0]", ndcg(&SCORES[1])?)
            .slide("0.99")
            .decimals(5),
    ]);
    Ok(Worked { steps, ..Worked::default() })
}
