//! The table of learners.

use rankwright_eval::ParamInfo;

use super::LearnerInfo;
use super::objective::{LOSS, params_of};
use super::params::{BOOSTING, METRIC, NEWTON, TREE};

/// What kind of learner stands behind a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    Mart,
    RankMart,
    LambdaMart,
    Xendcg,
    Tree,
    /// Weights that someone wrote down.
    Given,
}

/// Every learner there is.
pub const LEARNERS: &[LearnerInfo] = &[
    LearnerInfo {
        name: "lambdamart",
        doc: "boosted trees on pairs weighted by the change of a metric (Burges 2010)",
        example: "lambdamart(trees=500, leaves=31, rate=0.05, metric=ndcg@10)",
        params: &LAMBDAMART,
        family: Family::LambdaMart,
    },
    LearnerInfo {
        name: "rankmart",
        doc: "boosted trees on the pair logistic loss of RankNet, every pair alike",
        example: "rankmart(trees=200, leaves=15, sigma=1)",
        params: &RANKMART,
        family: Family::RankMart,
    },
    LearnerInfo {
        name: "xendcg",
        doc: "boosted trees on a listwise cross entropy that bounds NDCG (Bruch 2021)",
        example: "xendcg(trees=200, leaves=31)",
        params: &XENDCG,
        family: Family::Xendcg,
    },
    LearnerInfo {
        name: "mart",
        doc: "boosted trees on a loss of each document's label (Friedman 2001), or of a list",
        example: "mart(loss=query-rmse, trees=200, leaves=31)",
        params: &MART,
        family: Family::Mart,
    },
    LearnerInfo {
        name: "tree",
        doc: "one regression tree on the labels, each leaf the mean of its documents",
        example: "tree(leaves=8, min_rows=5)",
        params: &ONE_TREE,
        family: Family::Tree,
    },
    LearnerInfo {
        name: "linear",
        doc: "a line of given weights: nothing is learnt, the baseline that someone tuned by hand",
        example: "linear(weights=22:0.03/72:0.06, bias=0)",
        params: GIVEN,
        family: Family::Given,
    },
];

/// Parameters of `linear`.
const GIVEN: &[ParamInfo] = &[
    ParamInfo {
        name: "weights",
        doc: "weights by feature name or id, parted by slashes: 22:0.03/72:0.06",
        default: "must be given",
    },
    ParamInfo { name: "bias", doc: "what every score begins with", default: "0" },
    METRIC,
];

/// What every boosted learner takes.
const COMMON: usize = BOOSTING.len() + TREE.len();
const PAIR: &[ParamInfo] = params_of("pair-logistic");
const LAMBDA: &[ParamInfo] = params_of("lambda");
const LISTS: &[ParamInfo] = params_of("xendcg");
const LOGLOSS: &[ParamInfo] = params_of("logloss");
const HUBER: &[ParamInfo] = params_of("huber");
const SOFTMAX: &[ParamInfo] = params_of("softmax");
const LOSSES: usize = 1 + LOGLOSS.len() + HUBER.len() + SOFTMAX.len();

static LAMBDAMART: [ParamInfo; COMMON + LAMBDA.len() + NEWTON.len()] =
    join(&[BOOSTING, TREE, LAMBDA, NEWTON]);
static RANKMART: [ParamInfo; COMMON + 1 + PAIR.len() + NEWTON.len()] =
    join(&[BOOSTING, TREE, &[METRIC], PAIR, NEWTON]);
static XENDCG: [ParamInfo; COMMON + 1 + LISTS.len()] = join(&[BOOSTING, TREE, &[METRIC], LISTS]);
static MART: [ParamInfo; LOSSES + COMMON + 1] =
    join(&[&[LOSS], LOGLOSS, HUBER, SOFTMAX, BOOSTING, TREE, &[METRIC]]);
static ONE_TREE: [ParamInfo; TREE.len() + 1] = join(&[TREE, &[METRIC]]);

/// Several lists as one.
const fn join<const N: usize>(parts: &[&[ParamInfo]]) -> [ParamInfo; N] {
    let mut all = [METRIC; N];
    let (mut part, mut to) = (0, 0);
    while part < parts.len() {
        let mut from = 0;
        while from < parts[part].len() {
            all[to] = parts[part][from];
            from += 1;
            to += 1;
        }
        part += 1;
    }
    all
}
