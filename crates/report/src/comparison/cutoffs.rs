//! A metric at every cut-off from 1 to 20.
//!
//! The metric is the first requested one with a cut-off, or else the first that can have a cut-off;
//! its other parameters stay as requested. Cost: one evaluation of each system, which ranks every
//! query once for all cut-offs. Edge cases: without such a built-in metric there are no curves;
//! confidence intervals need two queries.

use rankwright_eval::{
    EvalOptions, Evaluation, Measure, MeasureResult, MetricSpec, QuerySource, SourceKind, evaluate,
};
use rankwright_spec::{Spec, SpecError};
use serde::Serialize;

use crate::chart::{Axis, Body, Chart, Series};
use crate::error::ReportError;
use crate::page::{PageBlock, Section};

/// The last cut-off.
pub(super) const LAST: u32 = 20;

/// The metric of each system at each cut-off.
#[derive(Debug, Clone)]
pub(super) struct Curves {
    /// Name of the metric, with `@k`.
    pub(super) metric: String,
    /// Conventions of the metric (how ties, unjudged documents and so on are treated), with
    /// `cutoff=k`.
    pub(super) convention: String,
    /// Lowest and highest possible value of the metric.
    pub(super) limits: Option<(f64, f64)>,
    /// The values of each system, from cut-off 1 on.
    pub(super) systems: Vec<Vec<CutoffPoint>>,
}

/// The value at one cut-off, with its confidence interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(super) struct CutoffPoint {
    pub(super) cutoff: u32,
    pub(super) value: f64,
    pub(super) ci95: Option<(f64, f64)>,
}

/// Evaluates every system at every cut-off.
pub(super) fn curves(
    systems: &[(String, Evaluation)],
    sources: &[&dyn QuerySource],
    options: EvalOptions,
) -> Result<Option<Curves>, ReportError> {
    let results = systems.first().map_or(&[][..], |(_, e)| &e.results);
    let (Some(spec), Some(first)) = (curve_metric(results), sources.first()) else {
        return Ok(None);
    };
    let measures = (1..=LAST).map(|k| with_cutoff(&spec, k, first.kind()));
    let measures = measures.collect::<Result<Vec<Measure>, SpecError>>()?;
    let convention = measures.last().map(|m| m.convention().to_owned()).unwrap_or_default();
    let curve = |source: &&dyn QuerySource| -> Result<Vec<CutoffPoint>, ReportError> {
        let results = evaluate(*source, &measures, options)?.results;
        let point = |(cutoff, r): (u32, &MeasureResult)| CutoffPoint {
            cutoff,
            value: r.value,
            ci95: r.ci95,
        };
        Ok((1..=LAST).zip(&results).map(point).collect())
    };
    Ok(Some(Curves {
        metric: format!("{}@k", Spec { cutoff: None, ..spec.clone() }),
        convention: convention.replace(&format!("cutoff={LAST}"), "cutoff=k"),
        limits: measures.first().map(|measure| measure.metric().range()),
        systems: sources.iter().map(curve).collect::<Result<_, _>>()?,
    }))
}

/// The metric that is drawn, as a spec.
fn curve_metric(results: &[MeasureResult]) -> Option<Spec> {
    let can_have_cutoff = |result: &MeasureResult| {
        let spec = MetricSpec::from_spec(result.measure.spec().clone()).ok()?;
        spec.def().cutoff.then(|| spec.canonical().clone())
    };
    let specs: Vec<Spec> = results.iter().filter_map(can_have_cutoff).collect();
    specs.iter().find(|spec| spec.cutoff.is_some()).or(specs.first()).cloned()
}

fn with_cutoff(spec: &Spec, cutoff: u32, kind: SourceKind) -> Result<Measure, SpecError> {
    MetricSpec::from_spec(Spec { cutoff: Some(cutoff), ..spec.clone() })?.resolve(kind)
}

/// The section: a line with a band for each system.
pub(super) fn section(curves: &Curves, systems: &[(String, Evaluation)]) -> Section {
    let series = |((name, _), points): (&(String, Evaluation), &Vec<CutoffPoint>)| Series {
        name: name.clone(),
        points: points.iter().map(|p| (f64::from(p.cutoff), p.value)).collect(),
        band: points.iter().map(|p| p.ci95.unwrap_or((f64::NAN, f64::NAN))).collect(),
        ..Series::default()
    };
    let chart = Chart {
        id: "cutoffs-chart".to_owned(),
        title: format!("{} for k from 1 to {LAST}", curves.metric),
        caption:
            "The metric on the first k documents of each query, over all queries; the band is the \
                  95% confidence interval."
                .to_owned(),
        x: Axis { label: "Cut-off k".to_owned(), ..Axis::default() },
        y: Axis { label: curves.metric.clone(), limits: curves.limits, ..Axis::default() },
        body: Body::Lines(systems.iter().zip(&curves.systems).map(series).collect()),
    };
    let title = "Values at each cut-off".to_owned();
    Section { id: "cutoffs".to_owned(), title, blocks: vec![PageBlock::Chart(chart)] }
}
