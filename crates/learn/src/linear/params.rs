//! Parameters of the linear learners, and how a spec writes them.
//!
//! The defaults of c and l2 are those that did well on the validation parts of MQ2008, MQ2007 and a
//! sample of MSLR-WEB alike; as losses are means, they do not grow with the data.

use std::sync::Arc;

use rankwright_eval::{MetricSpec, ParamInfo, Params};
use rankwright_spec::SpecError;

use super::line::{Fit, Line, What};
use super::loss::Shape;
use crate::trainer::Trainer;
use crate::transform::{TransformPlan, transform_params};

const fn info(name: &'static str, doc: &'static str, default: &'static str) -> ParamInfo {
    ParamInfo { name, doc, default }
}

const C_DOC: &str = "weight of the mean loss against half the squared length of the weights; several \
                     parted by slashes (c=1/10/100): the best on validation data";
const STEPS: ParamInfo = info("steps", "most steps of Newton's method, for each c", "100");
const TOLERANCE: ParamInfo =
    info("tolerance", "stop when the gradient has fallen to this part of the first", "0.0001");
const REL: ParamInfo = info("rel", "lowest label that counts as relevant", "1");
const LOSS: ParamInfo =
    info("loss", "squared-hinge | hinge (smoothed to a width of 0.04)", "squared-hinge");
const NORM_QUERY: ParamInfo =
    info("norm_query", "whether every query counts alike, however many pairs it has", "false");
const TRANSFORM: ParamInfo = transform_params("auto")[0];
const CLIP: ParamInfo = transform_params("auto")[1];

/// Parameters of `ranksvm`.
pub(crate) const RANKSVM_PARAMS: &[ParamInfo] =
    &[LOSS, info("c", C_DOC, "5 (hinge: 20)"), NORM_QUERY, STEPS, TOLERANCE, TRANSFORM, CLIP];
/// Parameters of `pairwise-logistic`.
pub(crate) const PAIRWISE_PARAMS: &[ParamInfo] =
    &[info("c", C_DOC, "30"), NORM_QUERY, STEPS, TOLERANCE, TRANSFORM, CLIP];
/// Parameters of `linear-regression`.
pub(crate) const REGRESSION_PARAMS: &[ParamInfo] = &[
    info("l2", "penalty on the weights' squared length against the mean squared error", "0.1"),
    TRANSFORM,
    CLIP,
];
/// Parameters of `logistic`.
pub(crate) const LOGISTIC_PARAMS: &[ParamInfo] =
    &[REL, info("c", C_DOC, "100"), STEPS, TOLERANCE, TRANSFORM, CLIP];
/// Parameters of `linear-svm`.
pub(crate) const SVM_PARAMS: &[ParamInfo] =
    &[LOSS, REL, info("c", C_DOC, "10"), STEPS, TOLERANCE, TRANSFORM, CLIP];
/// Parameters of `ordinal`.
pub(crate) const ORDINAL_PARAMS: &[ParamInfo] =
    &[info("c", C_DOC, "30"), STEPS, TOLERANCE, TRANSFORM, CLIP];

type Read = Result<Arc<dyn Trainer>, SpecError>;

/// Reads `ranksvm`.
pub(crate) fn read_ranksvm(params: &Params<'_>, _: &MetricSpec) -> Read {
    let norm_query = params.bool("norm_query", false)?;
    let shape = hinge(params)?;
    let c = if shape == Shape::Squared { 5.0 } else { 20.0 };
    line(params, What::RankSvm { shape, norm_query }, c)
}

/// Reads `pairwise-logistic`.
pub(crate) fn read_pairwise_logistic(params: &Params<'_>, _: &MetricSpec) -> Read {
    let norm_query = params.bool("norm_query", false)?;
    line(params, What::LogisticPairs { norm_query }, 30.0)
}

/// Reads `linear-regression`.
pub(crate) fn read_regression(params: &Params<'_>, _: &MetricSpec) -> Read {
    let l2 = params.f64_in("l2", 0.1, |x| x >= 0.0, "0 or more")?;
    line(params, What::Regression { l2 }, 1.0)
}

/// Reads `logistic`.
pub(crate) fn read_logistic(params: &Params<'_>, _: &MetricSpec) -> Read {
    line(params, What::Signed { shape: Shape::Logistic, rel: params.f64("rel", 1.0)? }, 100.0)
}

/// Reads `linear-svm`.
pub(crate) fn read_svm(params: &Params<'_>, _: &MetricSpec) -> Read {
    line(params, What::Signed { shape: hinge(params)?, rel: params.f64("rel", 1.0)? }, 10.0)
}

/// Reads `ordinal`.
pub(crate) fn read_ordinal(params: &Params<'_>, _: &MetricSpec) -> Read {
    line(params, What::Ordinal, 30.0)
}

fn hinge(params: &Params<'_>) -> Result<Shape, SpecError> {
    let shapes = [("squared-hinge", Shape::Squared), ("hinge", Shape::Hinge(1.0))];
    params.choice("loss", &shapes, Shape::Squared)
}

fn line(params: &Params<'_>, what: What, c: f64) -> Read {
    let fit = Fit {
        path: path(params, c)?,
        steps: match params.u32("steps", 100)? {
            0 => return Err(params.bad("steps", "0", "a whole number from 1 on")),
            steps => steps as usize,
        },
        tolerance: params.f64_in(
            "tolerance",
            1e-4,
            |x| x > 0.0 && x < 1.0,
            "a number above 0 and below 1",
        )?,
        transform: TransformPlan::read(params, "auto")?,
    };
    Ok(Arc::new(Line { what, fit }))
}

/// The values of c, rising.
fn path(params: &Params<'_>, default: f64) -> Result<Vec<f64>, SpecError> {
    let Some(text) = params.text("c") else { return Ok(vec![default]) };
    let wrong =
        || params.bad("c", text, "a number above 0, or several that rise, such as 1/10/100");
    let number = |part: &str| part.trim().parse().ok().filter(|c: &f64| *c > 0.0 && c.is_finite());
    let all: Vec<f64> = text.split('/').map(number).collect::<Option<_>>().ok_or_else(wrong)?;
    // From weak to strong, each begins where the one before ended.
    if all.is_sorted_by(|a, b| a < b) { Ok(all) } else { Err(wrong()) }
}
