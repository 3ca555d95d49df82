//! Lambdas of a query: their sum, and the gradient in its factored form.

use super::super::TaskError;
use super::metrics::SmallQuery;
use super::sources::{GRABOCKA, PAIRWISE, TUNYS, WICAKSONO};
use super::{ExampleDef, LectureStep, Worked};

pub(super) const DEF: ExampleDef = ExampleDef {
    name: "lambdas",
    title: "The sum of lambdas, and the gradient by documents instead of by pairs",
    lectures: &[PAIRWISE, TUNYS, GRABOCKA, WICAKSONO],
    compute,
};

/// Labels of four documents of a query, our own.
const LABELS: [f64; 4] = [2.0, 0.0, 1.0, 0.0];
/// Their scores under the weights (1, 0.5).
const SCORES: [f64; 4] = [0.5, 0.9, 0.4, 0.1];
/// Their two features.
const FEATURES: [[f64; 2]; 4] = [[0.2, 0.6], [0.7, 0.4], [0.3, 0.2], [0.0, 0.2]];

fn compute() -> Result<Worked, TaskError> {
    let mut steps = Vec::new();
    for (name, objective) in
        [("RankNet", "pair-logistic"), ("LambdaRank", "lambda(metric=ndcg, preset=burges)")]
    {
        let query = SmallQuery::new(objective, &LABELS, &SCORES)?;
        let lambdas = query.lambdas()?;
        let listed: Vec<String> = lambdas.iter().map(|lambda| format!("{lambda:.4}")).collect();
        let by_documents = by_documents(&lambdas);
        let by_pairs = by_pairs(&query)?;
        steps.extend([
            LectureStep::text(format!("{name}: lambdas of labels 2, 0, 1, 0"), listed.join(", ")),
            LectureStep::number(format!("{name}: sum of the lambdas"), lambdas.iter().sum())
                .note("each pair adds its lambda to one document and subtracts it from the other"),
            LectureStep::text(
                format!("{name}: gradient over documents, sum of lambda_i x_i"),
                vector(by_documents),
            ),
            LectureStep::text(
                format!("{name}: gradient over pairs, sum of lambda_ij (x_i - x_j)"),
                vector(by_pairs),
            )
            .note("the same vector, from as many terms as there are pairs"),
            LectureStep::number(
                format!("{name}: largest difference of the two"),
                by_documents.iter().zip(by_pairs).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max),
            ),
        ]);
    }
    Ok(Worked { steps, ..Worked::default() })
}

fn vector(values: [f64; 2]) -> String {
    format!("({:.4}, {:.4})", values[0], values[1])
}

/// The gradient with respect to the weights of a linear scorer, from the lambdas of documents.
fn by_documents(lambdas: &[f64]) -> [f64; 2] {
    let add = |sum: [f64; 2], (lambda, x): (&f64, &[f64; 2])| {
        [sum[0] + lambda * x[0], sum[1] + lambda * x[1]]
    };
    lambdas.iter().zip(&FEATURES).fold([0.0; 2], add)
}

/// The same gradient, from the lambdas of pairs.
fn by_pairs(query: &SmallQuery<'_>) -> Result<[f64; 2], TaskError> {
    let mut sum = [0.0; 2];
    for pair in query.pair_lambdas()? {
        let features = |document: usize| FEATURES.get(document).copied().unwrap_or_default();
        let (up, down) = (features(pair.pushed_up.document), features(pair.pushed_down.document));
        sum[0] -= pair.size * (up[0] - down[0]);
        sum[1] -= pair.size * (up[1] - down[1]);
    }
    Ok(sum)
}
