//! Feature importance: gain and number of splits in the trees, and the drop of a metric when the
//! values of a feature are permuted among the rows (permutation importance).
//!
//! Permutation importance is expensive: it is computed for the features with the largest gain (for
//! models without gains: for the used features), 3 times each, on as many whole queries (drawn with
//! the seed) as a budget of work allows, so that a report takes seconds.

use rankwright_data::{Dataset, Random};
use rankwright_eval::Measure;
use rankwright_eval::table::{Align, Cell, Table};
use rankwright_learn::LearnError;
use rankwright_learn::permutation::{PermutationImportance, PermutationPlan};
use rankwright_model::{Model, ModelBody, ScoreOptions};
use rankwright_spec::words::counted;
use serde::{Serialize, Serializer};

use super::{OmissionReason, ReportPart};
use crate::chart::{Axis, BarSeries, Bars, Body, Chart, Grouping};
use crate::error::ReportError;
use crate::page::{PageBlock, Section};

/// Maximum number of features that are shown.
const SHOWN: usize = 20;
/// Maximum number of features that are permuted where the model has no gains.
const MAX_WITHOUT_GAINS: usize = 200;
/// Number of permutations of each feature.
const REPEATS: usize = 3;
/// Budget: evaluated trees, summed over rows and permutations.
const BUDGET: usize = 200_000_000;
/// Least number of rows to permute, even if that exceeds the budget.
const MIN_ROWS: usize = 1_000;
/// Greatest number of rows to permute.
const MAX_ROWS: usize = 20_000;
/// Stream of random numbers for the choice of queries. Any constant; keeps this stream apart from
/// the other uses of the seed.
const QUERY_STREAM: u64 = 0x9e2d;

/// A feature and its importance.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ReportedImportance {
    /// The feature's name.
    pub name: String,
    /// Sum of the gains of the splits on the feature (in a linear net: the absolute value of its
    /// weight).
    pub gain: Option<f64>,
    /// Number of splits on the feature.
    pub splits: Option<u64>,
    /// Mean drop of the metric when the feature is permuted.
    pub drop: Option<f64>,
    /// Standard deviation of that drop over the permutations; none for one permutation.
    pub drop_deviation: Option<f64>,
}

/// The features of a model by importance.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Importances {
    /// The measured features: sorted by gain where there are gains, else by drop.
    pub features: Vec<ReportedImportance>,
    /// Number of features that the model uses.
    pub used: usize,
    /// Whether `gain` and `splits` come from trees.
    #[serde(skip)]
    pub trees: bool,
    /// The data and metric of the permutations, or the reason why nothing was permuted.
    #[serde(rename = "permutation", serialize_with = "if_permuted")]
    pub permuted: ReportPart<PermutationData>,
}

/// The data and metric of the permutations.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PermutationData {
    /// The metric.
    pub metric: String,
    /// The conventions of the metric: how ties, unjudged documents and so on are treated.
    pub convention: String,
    /// The value of the metric on these queries without a permutation.
    pub value: f64,
    /// The data's name.
    pub data: String,
    /// Number of queries that were permuted.
    pub queries: usize,
    /// Number of queries of the data.
    pub of_queries: usize,
    /// Number of permutations of each feature.
    pub repeats: usize,
}

impl Importances {
    /// Computes the importances of a model; features are permuted in the data, which has this name.
    pub fn new(
        model: &Model,
        (name, data): (&str, &Dataset),
        measure: &Measure,
        seed: u64,
        options: ScoreOptions,
    ) -> Result<Importances, ReportError> {
        let gains = model.importance();
        let used = model.used_features();
        let chosen: Vec<usize> = match gains.is_empty() {
            false => gains.iter().take(SHOWN).map(|gain| gain.feature).collect(),
            true => used.iter().copied().take(MAX_WITHOUT_GAINS).collect(),
        };
        let queries = sample(model, data, chosen.len(), seed);
        let sampled = data.select_queries(&queries)?;
        let plan = PermutationPlan::new().repeats(REPEATS).seed(seed).options(options);
        let result = PermutationImportance::of_features(
            model,
            &sampled,
            measure.clone(),
            plan,
            chosen.clone(),
        );
        let permutation = match result {
            // A metric without a value on these queries still leaves the other importances.
            Err(LearnError::MetricUndefined { metric, convention }) => {
                Err(OmissionReason::MetricUndefined { metric, convention })
            }
            other => Ok(other?),
        };
        let trees = matches!(model.body(), ModelBody::Trees(_));
        let importance = |feature: usize| {
            let gain = gains.iter().find(|gain| gain.feature == feature);
            let permutation = permutation.as_ref().ok();
            let drop = permutation.and_then(|p| p.mean_and_deviation(feature));
            ReportedImportance {
                name: model.header().features.name(feature).into_owned(),
                gain: gain.map(|gain| gain.gain),
                splits: gain.filter(|_| trees).map(|gain| gain.splits),
                drop: drop.map(|(mean, _)| mean),
                drop_deviation: drop.and_then(|(_, deviation)| deviation),
            }
        };
        let all: Vec<usize> = match gains.is_empty() {
            false => gains.iter().map(|gain| gain.feature).collect(),
            true => chosen,
        };
        let mut features: Vec<ReportedImportance> = all.into_iter().map(importance).collect();
        if gains.is_empty() {
            let drop = |f: &ReportedImportance| f.drop.unwrap_or(f64::NEG_INFINITY);
            features.sort_by(|a, b| drop(b).total_cmp(&drop(a)));
        }
        let permuted = permutation.map(|permutation| PermutationData {
            metric: permutation.measure.to_string(),
            convention: permutation.measure.convention().to_owned(),
            value: permutation.value,
            data: name.to_owned(),
            queries: queries.len(),
            of_queries: data.queries(),
            repeats: REPEATS,
        });
        Ok(Importances { features, used: used.len(), trees, permuted })
    }

    /// The section: a chart for each kind of importance, and a table.
    pub(super) fn section(&self) -> Section {
        let mut blocks = Vec::new();
        if self.features.is_empty() {
            blocks.push(PageBlock::Text("The model uses no feature.".into()));
        }
        let gain = if self.trees { "gain" } else { "size of weight" };
        let by_gain = "The sum of the gains in training of all splits on the feature.";
        let by_weight = "Absolute weights of the features after the learner has scaled them.";
        let caption = if self.trees { by_gain } else { by_weight };
        blocks.extend(self.chart("gain", gain, caption, |f| f.gain.map(|gain| (gain, None))));
        let caption = "The number of splits on the feature. Splits with a small gain count as much as others.";
        blocks.extend(self.chart("splits", "number of splits", caption, |f| {
            f.splits.map(|splits| (splits as f64, None))
        }));
        match &self.permuted {
            Err(reason) => blocks.push(PageBlock::Text(reason.to_string())),
            Ok(permuted) => {
                let has_gains = self.features.iter().any(|f| f.gain.is_some());
                let selection = match (self.trees, has_gains) {
                    (true, _) => " The features with the largest gains were permuted.",
                    (false, true) => " The features with the largest weights were permuted.",
                    _ => "",
                };
                let caption = permuted.caption(selection);
                let label = format!("drop of {}", permuted.metric);
                let value = |f: &ReportedImportance| Some((f.drop?, f.drop_deviation));
                blocks.extend(self.chart("permutation", &label, &caption, value));
            }
        }
        if !self.features.is_empty() {
            let (id, title) = ("importance-table".into(), "Importance of features".into());
            blocks.push(PageBlock::Table { id, title, table: self.table() });
        }
        Section { id: "importance".into(), title: "Feature importance".into(), blocks }
    }

    /// A chart of the features with the largest values; `value` gives the value of a feature and
    /// its standard deviation. None if no feature has a value.
    fn chart(
        &self,
        id: &str,
        label: &str,
        caption: &str,
        value: impl Fn(&ReportedImportance) -> Option<(f64, Option<f64>)>,
    ) -> Option<PageBlock> {
        let shown = self.features.iter().filter_map(|f| Some((f.name.as_str(), value(f)?)));
        let mut shown: Vec<(&str, (f64, Option<f64>))> = shown.collect();
        shown.sort_by(|(_, (a, _)), (_, (b, _))| b.total_cmp(a));
        shown.truncate(SHOWN);
        if shown.is_empty() {
            return None;
        }
        let band = |(_, (value, deviation)): &(&str, (f64, Option<f64>))| {
            let deviation = deviation.unwrap_or(0.0);
            (value - deviation, value + deviation)
        };
        let has_bands = shown.iter().any(|(_, (_, deviation))| deviation.is_some());
        Some(PageBlock::Chart(Chart {
            id: format!("importance-{id}"),
            title: format!("Features by {label}"),
            caption: caption.to_owned(),
            x: Axis { label: "feature".into(), ..Axis::default() },
            y: Axis { label: label.to_owned(), ..Axis::default() },
            body: Body::Bars(Bars {
                categories: shown.iter().map(|(name, _)| (*name).to_owned()).collect(),
                series: vec![BarSeries {
                    name: label.to_owned(),
                    values: shown.iter().map(|(_, (value, _))| *value).collect(),
                    band: if has_bands { shown.iter().map(band).collect() } else { Vec::new() },
                    ..BarSeries::default()
                }],
                grouping: Grouping::Beside,
                horizontal: true,
            }),
        }))
    }

    /// All importances of the first features.
    fn table(&self) -> Table {
        let gain = if self.trees { "gain" } else { "size of weight" };
        let drop = self
            .permuted
            .as_ref()
            .map_or_else(|_| "drop".into(), |permuted| format!("drop of {}", permuted.metric));
        let mut table = Table::new([
            ("feature".to_owned(), Align::Left),
            (gain.to_owned(), Align::Right),
            ("splits".to_owned(), Align::Right),
            (drop, Align::Right),
            ("+-".to_owned(), Align::Right),
        ]);
        let text = |value: Option<String>| Cell::new(value.unwrap_or_else(|| "-".to_owned()));
        for f in self.features.iter().take(SHOWN) {
            table.rows.push(vec![
                Cell::new(f.name.as_str()),
                text(f.gain.map(|gain| format!("{gain:.4}"))),
                text(f.splits.map(|splits| splits.to_string())),
                text(f.drop.map(|mean| format!("{mean:.4}"))),
                text(f.drop_deviation.map(|deviation| format!("{deviation:.4}"))),
            ]);
        }
        if self.used > table.rows.len() {
            table.notes.push(format!(
                "{} of {} used features are shown",
                table.rows.len(),
                self.used
            ));
        }
        table
    }
}

/// Serialises the data of the permutations; null where nothing was permuted.
fn if_permuted<S: Serializer>(
    part: &ReportPart<PermutationData>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    part.as_ref().ok().serialize(serializer)
}

impl PermutationData {
    /// The caption of the chart; `selection` is a sentence on the features that were permuted.
    fn caption(&self, selection: &str) -> String {
        let (queries, all) = (self.queries, self.of_queries);
        let sample = match queries == all {
            true => format!("all {} of {}", counted(all, "query"), self.data),
            false => {
                format!("{queries} of the {all} queries of {}, drawn with the seed", self.data)
            }
        };
        format!(
            "The drop of {}, which is {:.4} for the unchanged data, when the values of a feature are \
             randomly permuted among the rows of {sample}: the mean over {REPEATS} permutations and \
             their standard deviation.{selection}",
            self.metric, self.value
        )
    }
}

/// Queries in a seeded random order until there are enough rows, then sorted in the data's order.
fn sample(model: &Model, data: &Dataset, features: usize, seed: u64) -> Vec<usize> {
    let cost_per_row = scoring_cost(model) * features.max(1) * REPEATS;
    let rows = (BUDGET / cost_per_row.max(1)).clamp(MIN_ROWS, MAX_ROWS);
    let mut order: Vec<usize> = (0..data.queries()).collect();
    Random::new(seed, QUERY_STREAM).shuffle(&mut order);
    let (mut chosen, mut rows_so_far) = (Vec::new(), 0);
    for query in order {
        if rows_so_far >= rows {
            break;
        }
        rows_so_far += data.query_rows(query).len();
        chosen.push(query);
    }
    chosen.sort_unstable();
    chosen
}

/// Approximate cost of scoring a row, in units of the time for one tree. A tree takes about as long
/// as 32 parameters of a net; no model costs less than 20 trees, because of the work around it.
fn scoring_cost(model: &Model) -> usize {
    match model.body() {
        ModelBody::Trees(ensemble) => ensemble.trees().len().max(20),
        ModelBody::Net(net) => (net.parameters() / 32).max(20),
        ModelBody::Blend(blend) => {
            blend.members().iter().map(|(_, member)| scoring_cost(member)).sum()
        }
        _ => 20,
    }
}
