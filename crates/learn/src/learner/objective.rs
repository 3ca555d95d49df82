//! The objective inside a boosted learner: as a spec of its own, and built from it.
//!
//! A learner's parameters are those of boosting and those of its objective; the latter are handed
//! on as written, so `lambdamart(sigma=2)` makes `lambda(metric=ndcg@10, sigma=2)`. That text
//! goes into the model's header and tells checkpoints apart.

use rankwright_eval::{MetricSpec, ParamInfo, Params};
use rankwright_spec::{Spec, SpecError};

use super::registry::Family;
use crate::objective::{OBJECTIVES, ObjectiveInfo, find_objective};

/// The parameter of `mart` that chooses the loss.
pub(super) const LOSS: ParamInfo = ParamInfo {
    name: "loss",
    doc: "squared | query-rmse | logloss | huber | ordinal | softmax | listmle | approxndcg",
    default: "squared",
};

/// The losses of `mart`.
pub(super) const LOSSES: [&str; 8] =
    ["squared", "query-rmse", "logloss", "huber", "ordinal", "softmax", "listmle", "approxndcg"];

/// Parameters of an objective, from the table of objectives.
pub(super) const fn params_of(name: &str) -> &'static [ParamInfo] {
    let mut at = 0;
    while at < OBJECTIVES.len() {
        if same(OBJECTIVES[at].name, name) {
            return OBJECTIVES[at].params;
        }
        at += 1;
    }
    &[]
}

const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut equal = a.len() == b.len();
    let mut at = 0;
    while equal && at < a.len() {
        equal = a[at] == b[at];
        at += 1;
    }
    equal
}

/// The objective of a learner.
pub(super) fn spec(
    family: Family,
    params: &Params<'_>,
    target: &MetricSpec,
) -> Result<Spec, SpecError> {
    let name = match family {
        Family::LambdaMart => "lambda",
        Family::RankMart => "pair-logistic",
        Family::Xendcg => "xendcg",
        Family::Yeti => "yeti",
        Family::Mart => params.choice("loss", &LOSSES.map(|name| (name, name)), LOSSES[0])?,
        Family::Tree | Family::Given | Family::Other(_) => "squared",
    };
    let info = find_objective(name)?;
    if matches!(family, Family::Mart) {
        check_loss(params, info)?;
    }
    let mut spec = Spec::new(name);
    for info in info.params {
        match (info.name, params.text(info.name)) {
            // Said even where it is the default: it is what the model was made for.
            ("metric", _) => spec = spec.with("metric", target.to_string()),
            (key, Some(value)) => spec = spec.with(key, value),
            _ => {}
        }
    }
    Ok(spec)
}

/// Refuses parameters of a loss other than the chosen one.
fn check_loss(params: &Params<'_>, chosen: &ObjectiveInfo) -> Result<(), SpecError> {
    for loss in LOSSES {
        for ParamInfo { name: key, .. } in params_of(loss) {
            if params.is_written(key) && !chosen.params.iter().any(|p| p.name == *key) {
                return Err(params.conflict(format!(
                    "{key} is for loss={loss}; write that too, or leave it out"
                )));
            }
        }
    }
    Ok(())
}
