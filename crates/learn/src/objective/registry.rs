//! The one table of objectives: it feeds the help, the errors of the parser and the tests.
//!
//! A learner's spec holds the parameters of its objective beside its own: check the spec once
//! against both lists, then hand the same [`Params`] to [`ObjectiveInfo::build`].

use rankwright_eval::{ParamInfo, Params};
use rankwright_spec::{Spec, SpecError};

use super::approxndcg::ApproxNdcg;
use super::huber::Huber;
use super::lambda::{LAMBDA_PARAMS, LambdaParams, PAIR_PARAMS};
use super::listmle::ListMle;
use super::logloss::LogLoss;
use super::softmax::Softmax;
use super::xendcg::XeNdcg;
use super::yeti::Yeti;
use super::{Objective, Ordinal, QueryRmse, Squared};
use super::{approxndcg, huber, listmle, logloss, softmax, xendcg, yeti};

/// What the second derivative that an objective gives is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Curvature {
    /// The second derivative itself (with order, weights and thresholds fixed).
    Exact,
    /// Something that takes its place; the objective's page says what.
    Approximate,
}

/// One objective of the table.
#[derive(Debug)]
pub struct ObjectiveInfo {
    /// Name in specs.
    pub name: &'static str,
    /// One line: what it makes small.
    pub doc: &'static str,
    /// A spec that works, with the most useful parameters.
    pub example: &'static str,
    /// Its parameters.
    pub params: &'static [ParamInfo],
    /// What its second derivative is.
    pub curvature: Curvature,
    /// Whether it can learn from preference pairs.
    pub preferences: bool,
    build: fn(&Params<'_>) -> Result<Box<dyn Objective>, SpecError>,
}

impl ObjectiveInfo {
    /// Makes the objective from parameters that were checked against at least its own list.
    pub fn build(&self, params: &Params<'_>) -> Result<Box<dyn Objective>, SpecError> {
        (self.build)(params)
    }
}

/// Every objective.
pub const OBJECTIVES: &[ObjectiveInfo] = &[
    ObjectiveInfo {
        name: "squared",
        doc: "squared error on the labels",
        example: "squared",
        params: &[],
        curvature: Curvature::Exact,
        preferences: false,
        build: |_| Ok(Box::new(Squared)),
    },
    ObjectiveInfo {
        name: "query-rmse",
        doc: "squared error on the labels, up to a constant for each query",
        example: "query-rmse",
        params: &[],
        curvature: Curvature::Approximate,
        preferences: false,
        build: |_| Ok(Box::new(QueryRmse)),
    },
    ObjectiveInfo {
        name: "logloss",
        doc: "binary log-loss on relevant or not",
        example: "logloss(rel=1)",
        params: logloss::PARAMS,
        curvature: Curvature::Exact,
        preferences: false,
        build: |params| Ok(Box::new(LogLoss::read(params)?)),
    },
    ObjectiveInfo {
        name: "huber",
        doc: "squared error on the labels for most rows, absolute error for the outliers",
        example: "huber(alpha=0.9)",
        params: huber::PARAMS,
        curvature: Curvature::Approximate,
        preferences: false,
        build: |params| Ok(Box::new(Huber::read(params)?)),
    },
    ObjectiveInfo {
        name: "ordinal",
        doc: "ordinal regression: cumulative logit on up to 255 grades",
        example: "ordinal",
        params: &[],
        curvature: Curvature::Exact,
        preferences: false,
        build: |_| Ok(Box::new(Ordinal::default())),
    },
    ObjectiveInfo {
        name: "pair-logistic",
        doc: "logistic loss of pairs, each with weight 1 (RankNet, RankMART)",
        example: "pair-logistic(sigma=1, ties=half)",
        params: PAIR_PARAMS,
        curvature: Curvature::Exact,
        preferences: true,
        build: |params| Ok(Box::new(LambdaParams::read(params, false)?.check()?)),
    },
    ObjectiveInfo {
        name: "lambda",
        doc: "logistic loss of pairs, weighted by what a metric gains from their swap (LambdaMART)",
        example: "lambda(metric=ndcg@10, truncation=30)",
        params: LAMBDA_PARAMS,
        curvature: Curvature::Exact,
        preferences: true,
        build: |params| Ok(Box::new(LambdaParams::read(params, true)?.check()?)),
    },
    ObjectiveInfo {
        name: "yeti",
        doc: "a metric made smooth by noise on the scores: swaps of neighbours (YetiLoss)",
        example: "yeti(metric=ap, samples=10)",
        params: yeti::PARAMS,
        curvature: Curvature::Exact,
        preferences: false,
        build: |params| Ok(Box::new(Yeti::read(params)?)),
    },
    ObjectiveInfo {
        name: "xendcg",
        doc: "cross entropy that bounds NDCG (XE-NDCG-MART)",
        example: "xendcg(terms=3)",
        params: xendcg::PARAMS,
        curvature: Curvature::Exact,
        preferences: false,
        build: |params| Ok(Box::new(XeNdcg::read(params)?)),
    },
    ObjectiveInfo {
        name: "softmax",
        doc: "cross entropy between labels and scores as distributions (ListNet)",
        example: "softmax(target=gain)",
        params: softmax::PARAMS,
        curvature: Curvature::Exact,
        preferences: false,
        build: |params| Ok(Box::new(Softmax::read(params)?)),
    },
    ObjectiveInfo {
        name: "listmle",
        doc: "likelihood of the best order under a Plackett-Luce model (ListMLE)",
        example: "listmle(top=10)",
        params: listmle::PARAMS,
        curvature: Curvature::Exact,
        preferences: false,
        build: |params| Ok(Box::new(ListMle::read(params)?)),
    },
    ObjectiveInfo {
        name: "approxndcg",
        doc: "NDCG with ranks made smooth (ApproxNDCG)",
        example: "approxndcg(temperature=0.1)",
        params: approxndcg::PARAMS,
        curvature: Curvature::Approximate,
        preferences: false,
        build: |params| Ok(Box::new(ApproxNdcg::read(params)?)),
    },
];

/// The entry of a name; the error lists the known ones.
pub fn find_objective(name: &str) -> Result<&'static ObjectiveInfo, SpecError> {
    OBJECTIVES.iter().find(|o| o.name == name).ok_or_else(|| {
        let known: Vec<&str> = OBJECTIVES.iter().map(|o| o.name).collect();
        SpecError::unknown("objective", name, &known)
    })
}

/// Makes an objective from its own spec.
///
/// ```
/// use rankwright_spec::Spec;
/// use rankwright_learn::objective::parse_objective;
///
/// assert!(parse_objective(&Spec::parse("lambda(metric=err@10)")?).is_ok());
/// let slip = parse_objective(&Spec::parse("lambda(metrik=err@10)")?).unwrap_err();
/// assert!(slip.to_string().contains("did you mean `metric`?"));
/// # Ok::<(), rankwright_spec::SpecError>(())
/// ```
pub fn parse_objective(spec: &Spec) -> Result<Box<dyn Objective>, SpecError> {
    let info = find_objective(&spec.name)?;
    let params = Params::new(spec, info.params, &[])?;
    if spec.cutoff.is_some() {
        return Err(params.conflict("takes no cut-off; say metric=...@k"));
    }
    info.build(&params)
}
