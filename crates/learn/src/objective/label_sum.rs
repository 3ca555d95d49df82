//! Several columns of labels at once: the weighted sum of an objective on each of them (Svore,
//! Volkovs and Burges, *Learning to Rank with Multiple Objective Functions*, WWW 2011, section 4).
//!
//! ```text
//! L = sum over columns c of  w_c L(labels c)        gradient and hessian alike
//! ```
//!
//! Each column has its own copy of the objective, so that what an objective computes from all labels
//! ([`Objective::prepare`]) is computed from the labels of that column. With a kept metric
//! (`goal=keep(metric, tolerance)`), one more term is the kept metric on the data's own labels, with
//! weight 1; the terms of the columns then leave out every pair whose swap changes the kept metric by
//! more than the tolerance ([`QueryView::kept_labels`]). Cost: that of the objective for each column.
//! The loss is the weighted sum of the terms' losses; there is none if a term has none.

use rankwright_data::Dataset;
use rankwright_spec::{Conflict, Spec, SpecError};

use super::{
    Derivatives, Objective, ObjectiveBuffers, PairLambda, QueryView, TrainingDocuments,
    check_shape, parse_objective,
};
use crate::error::LearnError;
use crate::session::LabelWeights;
use crate::simd::Simd;

/// A term of the sum, before the labels are known.
#[derive(Debug)]
pub(crate) struct LabelTerm {
    weight: f64,
    /// The column of labels; `None` for the data's own.
    column: Option<String>,
    objective: Box<dyn Objective>,
    /// Whether pairs are left out whose swap changes the kept metric, on the data's own labels, by
    /// more than its tolerance.
    is_within_kept: bool,
}

impl LabelTerm {
    /// The labels that the term learns from; an error if the data does not have the column.
    pub(crate) fn labels<'d>(&self, data: &'d Dataset) -> Result<&'d [f64], LearnError> {
        match &self.column {
            Some(name) => label_column(data, name),
            None => Ok(data.labels()),
        }
    }
}

/// The terms of an objective, given as a spec, for these columns of labels. An error if the
/// objective fits numbers to its labels, such as the thresholds of `ordinal`: the header of a model
/// has place for those of one column only.
pub(crate) fn label_terms(
    objective: &str,
    weights: &LabelWeights,
    learner: &str,
) -> Result<Vec<LabelTerm>, SpecError> {
    let spec = Spec::parse(objective)?;
    let mut terms = Vec::new();
    let kept_metric = spec.get("goal").and_then(|goal| kept_metric_of(goal)).map(str::to_owned);
    if let Some(metric) = &kept_metric {
        let mut kept = spec.clone();
        kept.args.retain(|(key, _)| key != "goal");
        let objective = parse_objective(&kept.with("metric", metric.as_str()))?;
        terms.push(LabelTerm { weight: 1.0, column: None, objective, is_within_kept: false });
    }
    for (name, weight) in weights.columns() {
        let objective = parse_objective(&spec)?;
        if objective.has_notes() {
            let setting = format!("labels={weights}");
            let reason = "its loss has thresholds or widths of one column of labels";
            return Err(SpecError::conflict(learner, Conflict::NotSupported { setting, reason }));
        }
        let column = Some(name.to_owned());
        terms.push(LabelTerm { weight, column, objective, is_within_kept: kept_metric.is_some() });
    }
    Ok(terms)
}

/// The metric of `keep(metric, tolerance)`; `None` for `none`.
fn kept_metric_of(goal: &str) -> Option<&str> {
    let inside = goal.strip_prefix("keep(")?.strip_suffix(')')?;
    inside.rsplit_once(',').map(|(metric, _)| metric.trim())
}

/// The sum of an objective over columns of labels.
#[derive(Debug)]
pub(crate) struct LabelSum {
    terms: Vec<LabelTerm>,
    /// The labels of each term, of all rows.
    labels: Vec<Vec<f64>>,
    /// The data's own labels.
    own_labels: Vec<f64>,
    /// The first row of each query.
    starts: Vec<usize>,
}

/// Buffers of one thread.
#[derive(Debug, Default)]
pub(super) struct LabelSumBuffers {
    /// The derivatives of one term.
    gradient: Vec<f32>,
    hessian: Vec<f32>,
    /// The weighted sums of gradient and hessian over the terms, for each document.
    sums: Vec<[f64; 2]>,
    /// Buffers of each term.
    terms: Vec<ObjectiveBuffers>,
}

impl LabelSum {
    /// The sum of these terms on a data set; an error if it lacks one of the columns, or has
    /// preference pairs, which replace labels.
    pub(crate) fn new(terms: Vec<LabelTerm>, data: &Dataset) -> Result<Self, LearnError> {
        if data.pairs().is_some() {
            return Err(LearnError::LabelsOfPairs);
        }
        let labels = terms.iter().map(|term| term.labels(data).map(<[f64]>::to_vec));
        let labels = labels.collect::<Result<_, LearnError>>()?;
        let starts = (0..data.queries()).map(|query| data.query_rows(query).start).collect();
        Ok(Self { terms, labels, own_labels: data.labels().to_vec(), starts })
    }

    /// The query with the labels of the term of this number.
    fn view<'b>(&'b self, term: usize, query: &QueryView<'b>) -> QueryView<'b> {
        let start = self.starts[query.query];
        let rows = start..start + query.scores.len();
        let (labels, own) = (&self.labels[term][rows.clone()], &self.own_labels[rows]);
        let kept_labels = self.terms[term].is_within_kept.then_some(own);
        QueryView { labels, kept_labels, ..*query }
    }

    /// Calls `visit` with each term, its view of a query and its buffers.
    fn each_term(
        &self,
        query: &QueryView<'_>,
        buffers: &mut Vec<ObjectiveBuffers>,
        mut visit: impl FnMut(
            &LabelTerm,
            QueryView<'_>,
            &mut ObjectiveBuffers,
        ) -> Result<(), LearnError>,
    ) -> Result<(), LearnError> {
        buffers.resize_with(self.terms.len(), ObjectiveBuffers::default);
        for (number, (term, term_buffers)) in self.terms.iter().zip(buffers).enumerate() {
            visit(term, self.view(number, query), term_buffers)?;
        }
        Ok(())
    }
}

/// The labels of a column; the error names the columns that there are.
pub(crate) fn label_column<'d>(data: &'d Dataset, name: &str) -> Result<&'d [f64], LearnError> {
    data.label_column(name).ok_or_else(|| LearnError::LabelColumnMissing {
        name: name.to_owned(),
        known: data.label_column_names().map(str::to_owned).collect(),
    })
}

impl Objective for LabelSum {
    fn derivatives(
        &self,
        query: &QueryView<'_>,
        buffers: &mut ObjectiveBuffers,
        out: &mut Derivatives<'_>,
    ) -> Result<(), LearnError> {
        check_shape(query, out)?;
        let n = query.scores.len();
        let LabelSumBuffers { gradient, hessian, sums, terms } = &mut buffers.label_sum;
        gradient.resize(n, 0.0);
        hessian.resize(n, 0.0);
        sums.clear();
        sums.resize(n, [0.0; 2]);
        // The cache keeps the order of the scores for the next iteration. All terms have the same
        // scores, so it is enough that the first one uses it.
        let mut cache = Some(&mut *out.cache);
        self.each_term(query, terms, |term, view, term_buffers| {
            let (gradient, hessian) = (&mut gradient[..n], &mut hessian[..n]);
            let cache = cache.take().unwrap_or_default();
            let mut part = Derivatives { gradient, hessian, cache };
            term.objective.derivatives(&view, term_buffers, &mut part)?;
            for (sum, (g, h)) in sums.iter_mut().zip(part.gradient.iter().zip(&*part.hessian)) {
                sum[0] += term.weight * f64::from(*g);
                sum[1] += term.weight * f64::from(*h);
            }
            Ok(())
        })?;
        for (document, [g, h]) in sums.iter().enumerate() {
            (out.gradient[document], out.hessian[document]) = (*g as f32, *h as f32);
        }
        Ok(())
    }

    fn loss(
        &self,
        query: &QueryView<'_>,
        buffers: &mut ObjectiveBuffers,
    ) -> Result<Option<f64>, LearnError> {
        let mut sum = Some(0.0);
        self.each_term(query, &mut buffers.label_sum.terms, |term, view, term_buffers| {
            let loss = term.objective.loss(&view, term_buffers)?;
            sum = sum.zip(loss).map(|(sum, loss)| sum + term.weight * loss);
            Ok(())
        })?;
        Ok(sum)
    }

    /// The initial score is the weighted mean of the initial scores of the terms.
    fn prepare(&mut self, all: &TrainingDocuments<'_>) -> Result<f64, LearnError> {
        let (mut score_sum, mut weight_sum) = (0.0, 0.0);
        for (term, labels) in self.terms.iter_mut().zip(&self.labels) {
            let score = term.objective.prepare(&TrainingDocuments { labels, ..*all })?;
            score_sum += term.weight * score;
            weight_sum += term.weight;
        }
        Ok(score_sum / weight_sum)
    }

    fn refresh(&mut self, all: &TrainingDocuments<'_>) -> Result<(), LearnError> {
        for (term, labels) in self.terms.iter_mut().zip(&self.labels) {
            term.objective.refresh(&TrainingDocuments { labels, ..*all })?;
        }
        Ok(())
    }

    fn pair_hessians(
        &self,
        query: &QueryView<'_>,
        buffers: &mut ObjectiveBuffers,
        visit: &mut dyn FnMut(usize, usize, f64),
    ) -> Result<bool, LearnError> {
        let mut has_pairs = true;
        self.each_term(query, &mut buffers.label_sum.terms, |term, view, term_buffers| {
            let mut weighted = |i: usize, j: usize, h: f64| visit(i, j, term.weight * h);
            has_pairs &= term.objective.pair_hessians(&view, term_buffers, &mut weighted)?;
            Ok(())
        })?;
        Ok(has_pairs)
    }

    fn pair_lambdas(
        &self,
        query: &QueryView<'_>,
        buffers: &mut ObjectiveBuffers,
        visit: &mut dyn FnMut(PairLambda),
    ) -> Result<bool, LearnError> {
        let mut has_pairs = true;
        self.each_term(query, &mut buffers.label_sum.terms, |term, view, term_buffers| {
            let mut weighted =
                |pair: PairLambda| visit(PairLambda { size: term.weight * pair.size, ..pair });
            has_pairs &= term.objective.pair_lambdas(&view, term_buffers, &mut weighted)?;
            Ok(())
        })?;
        Ok(has_pairs)
    }

    fn samples_pairs(&self, documents: usize) -> bool {
        self.terms.iter().any(|term| term.objective.samples_pairs(documents))
    }

    fn set_simd(&mut self, simd: Simd) {
        self.terms.iter_mut().for_each(|term| term.objective.set_simd(simd));
    }

    fn cost(&self, documents: usize) -> u64 {
        self.terms.iter().map(|term| term.objective.cost(documents)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three documents with these labels and clicks, in two queries that are alike, so that numbers
    /// of rows beyond the first query are used, too.
    fn data() -> Dataset {
        let [relevance, clicks] = [[2.0, 1.0, 0.0], [0.0, 1.0, 3.0]];
        let data = Dataset::builder().rows((0..6).map(|row| [row as f32]));
        let data = data.labels([relevance, relevance].concat());
        let data = data.label_column("clicks", [clicks, clicks].concat());
        data.query_ids(["a", "a", "a", "b", "b", "b"]).build().unwrap()
    }

    fn sum(objective: &str, labels: &str) -> LabelSum {
        let weights = LabelWeights::parse(labels).unwrap();
        let mut sum =
            LabelSum::new(label_terms(objective, &weights, "test").unwrap(), &data()).unwrap();
        sum.prepare(&TrainingDocuments { labels: &[], weights: &[], scores: &[] }).unwrap();
        sum
    }

    fn derivatives(sum: &dyn Objective, query: usize, scores: &[f64]) -> ([f64; 3], [f64; 3]) {
        let data = data();
        let view = QueryView { query, ..QueryView::new(data.query(query).labels, scores) };
        let (mut gradient, mut hessian, mut cache) = ([0.0; 3], [0.0; 3], [0; 3]);
        let mut out =
            Derivatives { gradient: &mut gradient, hessian: &mut hessian, cache: &mut cache };
        sum.derivatives(&view, &mut ObjectiveBuffers::default(), &mut out).unwrap();
        (gradient.map(f64::from), hessian.map(f64::from))
    }

    fn assert_near(found: [f64; 3], expected: [f64; 3]) {
        let is_near = found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 2e-5);
        assert!(is_near, "{found:?} {expected:?}");
    }

    /// The objective of the tests, whose lambdas are worked out by hand. The scores are 2, 1, 0
    /// (times ln 2), so that the documents are at ranks 1, 2 and 3. The model's probability that the
    /// first document of a pair is the better one is 2/3 for (1, 2), 4/5 for (1, 3) and 2/3 for
    /// (2, 3). DCG with linear gains has the discounts 1, 0.63093 and 0.5. A swap changes it by the
    /// difference of the discounts times the difference of the labels:
    ///
    /// ```text
    ///            difference of discounts    relevance 2 1 0    clicks 0 1 3
    /// (1, 2)             0.36907                0.36907           0.36907
    /// (1, 3)             0.5                    1                 1.5
    /// (2, 3)             0.13093                0.13093           0.26186
    /// ```
    ///
    /// By relevance, the first document of each pair is the better one, so that the probability of
    /// the wrong order (rho) is 1/3, 1/5, 1/3; by clicks the second one is, and rho is 2/3, 4/5, 2/3.
    /// With w the weight of the clicks:
    ///
    /// ```text
    /// gradient of 1 = -(0.36907/3 + 1/5) + w (0.36907 2/3 + 1.5 4/5) = -0.32302 + w 1.44605
    /// gradient of 3 =  (1/5 + 0.13093/3) - w (1.5 4/5 + 0.26186 2/3) =  0.24364 - w 1.37457
    /// ```
    const DCG: &str = "lambda(metric=dcg(gain=linear), norm_gap=false, norm_query=false)";

    fn scores() -> [f64; 3] {
        [2.0, 1.0, 0.0].map(|score: f64| score * std::f64::consts::LN_2)
    }

    #[test]
    fn lambdas_of_two_columns_are_those_worked_out_by_hand() {
        for (labels, w) in [("label:1+clicks:0.2", 0.2), ("label+clicks:1", 1.0)] {
            for query in 0..2 {
                let (gradient, hessian) = derivatives(&sum(DCG, labels), query, &scores());
                let (first, last) = (-0.32302 + w * 1.44605, 0.24364 - w * 1.37457);
                assert_near(gradient, [first, -first - last, last]);
                // rho (1 - rho) is the same for both columns: 2/9, 4/25 and 2/9.
                let (pair, far) = (2.0 / 9.0, 4.0 / 25.0);
                let first = pair * 0.36907 * (1.0 + w) + far * (1.0 + 1.5 * w);
                let last = far * (1.0 + 1.5 * w) + pair * (0.13093 + w * 0.26186);
                let middle = pair * (0.36907 * (1.0 + w) + 0.13093 + w * 0.26186);
                assert_near(hessian, [first, middle, last]);
            }
        }
        // The weight where the two columns balance for the first document.
        let even = 0.32302 / 1.44605;
        let (gradient, _) = derivatives(&sum(DCG, &format!("label:1+clicks:{even}")), 0, &scores());
        assert!(gradient[0].abs() < 1e-5, "{gradient:?}");
    }

    /// DCG of relevance is kept within 0.3. It decides the pairs (1, 2) and (1, 3), whose swaps
    /// change it by 0.36907 and 1; only (2, 3), which changes it by 0.13093, is left to the clicks.
    #[test]
    fn a_kept_metric_leaves_the_clicks_the_pairs_within_its_tolerance() {
        let kept = "lambda(metric=dcg(gain=linear), goal=keep(dcg(gain=linear), 0.3), \
                    norm_gap=false, norm_query=false)";
        let (gradient, _) = derivatives(&sum(kept, "clicks:2"), 1, &scores());
        let (first, last) = (-0.32302, 0.24364 - 2.0 * 0.26186 * 2.0 / 3.0);
        assert_near(gradient, [first, -first - last, last]);
        // With a tolerance above every change, relevance and clicks count for all pairs; with the
        // tolerance 0, relevance alone does.
        let all = kept.replace("0.3)", "9)");
        let both = derivatives(&sum(DCG, "label:1+clicks:2"), 0, &scores());
        assert_near(derivatives(&sum(&all, "clicks:2"), 0, &scores()).0, both.0);
        let none = kept.replace("0.3)", "0)");
        let own = derivatives(&sum(DCG, "label:1"), 0, &scores());
        assert_near(derivatives(&sum(&none, "clicks:2"), 0, &scores()).0, own.0);
    }

    #[test]
    fn gradients_are_the_differences_of_the_summed_loss() {
        for objective in [
            "pair-logistic(sigma=1.3)",
            "softmax(target=gain)",
            "xendcg(terms=1)",
            "squared",
            "query-rmse",
            "listmle",
            "approxndcg",
        ] {
            let sum = sum(objective, "label:0.7+clicks:0.4");
            let scores = [0.4, -0.3, 0.9];
            let (gradient, _) = derivatives(&sum, 1, &scores);
            let data = data();
            let loss = |scores: &[f64]| {
                let view = QueryView { query: 1, ..QueryView::new(data.query(1).labels, scores) };
                sum.loss(&view, &mut ObjectiveBuffers::default()).unwrap().unwrap()
            };
            for (document, gradient) in gradient.iter().enumerate() {
                let moved = |step: f64| {
                    let mut scores = scores;
                    scores[document] += step;
                    loss(&scores)
                };
                let expected = (moved(1e-5) - moved(-1e-5)) / 2e-5;
                assert!((gradient - expected).abs() < 2e-4, "{objective} {gradient} {expected}");
            }
        }
    }

    #[test]
    fn one_column_alone_is_the_objective_on_its_labels() {
        let clicks = data().label_column("clicks").unwrap().to_vec();
        let plain = parse_objective(&Spec::parse(DCG).unwrap()).unwrap();
        let scores = [0.1, 0.2, 0.3];
        let view = QueryView::new(&clicks[..3], &scores);
        let (mut gradient, mut hessian) = ([0.0; 3], [0.0; 3]);
        let mut out =
            Derivatives { gradient: &mut gradient, hessian: &mut hessian, cache: &mut [] };
        plain.derivatives(&view, &mut ObjectiveBuffers::default(), &mut out).unwrap();
        let found = derivatives(&sum(DCG, "clicks:1"), 0, &scores);
        assert_eq!(found, (gradient.map(f64::from), hessian.map(f64::from)));
    }

    #[test]
    fn objectives_with_thresholds_of_one_column_are_refused() {
        let weights = LabelWeights::parse("label+clicks").unwrap();
        let error = label_terms("ordinal", &weights, "mart").unwrap_err().to_string();
        assert!(error.contains("thresholds"), "{error}");
        let missing = LabelWeights::parse("label+sales").unwrap();
        let terms = label_terms("squared", &missing, "mart").unwrap();
        let error = LabelSum::new(terms, &data()).unwrap_err().to_string();
        assert!(error.contains("'sales'") && error.contains("label, clicks"), "{error}");
    }
}
