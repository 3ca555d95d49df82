//! Feature importance: gain and number of splits in the trees, and the loss of a metric when the
//! values of a feature are permuted among the rows.
//!
//! Permutation is the expensive one: it is computed for the features of most gain (for models
//! without gains: for all used features), 3 times each, on as many whole queries (drawn by the
//! seed) as a budget of work allows, so that a report takes seconds.

use rankwright_data::{Dataset, Random};
use rankwright_eval::Measure;
use rankwright_eval::table::{Align, Cell, Table};
use rankwright_learn::LearnError;
use rankwright_learn::permutation::{Permutation, PermutationPlan};
use rankwright_model::{Model, ModelBody, ScoreOptions};
use rankwright_spec::words::counted;
use serde::{Serialize, Serializer};

use super::{LeftOut, ReportPart};
use crate::chart::{Axis, BarSeries, Bars, Body, Chart, Grouping};
use crate::error::ReportError;
use crate::page::{PageBlock, Section};

/// Maximum number of features that are shown.
const SHOWN: usize = 20;
/// Maximum number of features that are permuted where the model has no gains.
const MOST: usize = 200;
/// Number of shuffles of each feature.
const REPEATS: usize = 3;
/// Budget: evaluated trees, summed over rows and shuffles.
const BUDGET: usize = 200_000_000;
/// Least and greatest number of rows to shuffle.
const ROWS: (usize, usize) = (1_000, 20_000);

/// A feature and its importance.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ReportedImportance {
    /// Its name.
    pub name: String,
    /// Sum of the gains of its splits (of a linear net: the absolute value of its weight).
    pub gain: Option<f64>,
    /// Number of splits that test it.
    pub splits: Option<u64>,
    /// Mean loss of the metric when it is permuted.
    pub loss: Option<f64>,
    /// Standard deviation of that loss; none for one shuffle.
    pub loss_deviation: Option<f64>,
}

/// The features of a model by importance.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Importances {
    /// The measured features: sorted by gain where there are gains, else by loss.
    pub features: Vec<ReportedImportance>,
    /// Number of features that the model uses.
    pub used: usize,
    /// Whether `gain` and `splits` come from trees.
    #[serde(skip)]
    pub trees: bool,
    /// The data of the shuffling; the reason if it was not done.
    #[serde(rename = "permutation", serialize_with = "if_permuted")]
    pub permuted: ReportPart<PermutationData>,
}

/// The data and metric of the shuffling.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PermutationData {
    /// The metric.
    pub metric: String,
    /// Its convention: how ties, unjudged documents and so on are treated.
    pub convention: String,
    /// Its value on these queries without shuffling.
    pub value: f64,
    /// The data's name.
    pub data: String,
    /// Number of queries that were permuted.
    pub queries: usize,
    /// Number of queries of the data.
    pub of_queries: usize,
    /// Number of shuffles of each feature.
    pub repeats: usize,
}

impl Importances {
    /// Computes the importances of a model; shuffles the named data.
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
            true => used.iter().copied().take(MOST).collect(),
        };
        let queries = sample(model, data, chosen.len(), seed);
        let part = data.select_queries(&queries)?;
        let plan = PermutationPlan::new().repeats(REPEATS).seed(seed).options(options);
        let found = Permutation::of_features(model, &part, measure.clone(), plan, chosen.clone());
        let found = match found {
            // A metric without a value on these queries still leaves the other importances.
            Err(LearnError::MetricUndefined { metric, convention }) => {
                Err(LeftOut::MetricUndefined { metric, convention })
            }
            other => Ok(other?),
        };
        let trees = matches!(model.body(), ModelBody::Trees(_));
        let importance = |feature: usize| {
            let gain = gains.iter().find(|gain| gain.feature == feature);
            let loss = found.as_ref().ok().and_then(|found| found.mean_and_deviation(feature));
            ReportedImportance {
                name: model.header().features.name(feature).into_owned(),
                gain: gain.map(|gain| gain.gain),
                splits: gain.filter(|_| trees).map(|gain| gain.splits),
                loss: loss.map(|(mean, _)| mean),
                loss_deviation: loss.and_then(|(_, deviation)| deviation),
            }
        };
        let all: Vec<usize> = match gains.is_empty() {
            false => gains.iter().map(|gain| gain.feature).collect(),
            true => chosen,
        };
        let mut features: Vec<ReportedImportance> = all.into_iter().map(importance).collect();
        if gains.is_empty() {
            let loss = |f: &ReportedImportance| f.loss.unwrap_or(f64::NEG_INFINITY);
            features.sort_by(|a, b| loss(b).total_cmp(&loss(a)));
        }
        let permuted = found.map(|found| PermutationData {
            metric: found.measure.to_string(),
            convention: found.measure.convention().to_owned(),
            value: found.value,
            data: name.to_owned(),
            queries: queries.len(),
            of_queries: data.queries(),
            repeats: REPEATS,
        });
        Ok(Importances { features, used: used.len(), trees, permuted })
    }

    pub(super) fn section(&self) -> Section {
        let mut blocks = Vec::new();
        if self.features.is_empty() {
            blocks.push(PageBlock::Text("The model uses no feature.".into()));
        }
        let gain = if self.trees { "gain" } else { "size of weight" };
        let by_gain = "The sum of the gains in training of all splits on the feature.";
        let by_weight = "Absolute weights of the features after the learner has scaled them.";
        let how = if self.trees { by_gain } else { by_weight };
        blocks.extend(self.chart("gain", gain, how, |f| f.gain.map(|gain| (gain, None))));
        let how = "The number of splits on the feature. Splits with a small gain count as much as others.";
        blocks.extend(self.chart("splits", "number of splits", how, |f| {
            f.splits.map(|splits| (splits as f64, None))
        }));
        match &self.permuted {
            Err(reason) => blocks.push(PageBlock::Text(reason.to_string())),
            Ok(permuted) => {
                let which = match (self.trees, self.features.iter().any(|f| f.gain.is_some())) {
                    (true, _) => " The features with the largest gains were permuted.",
                    (false, true) => " The features with the largest weights were permuted.",
                    _ => "",
                };
                let how = permuted.caption(which);
                let label = format!("loss of {}", permuted.metric);
                blocks.extend(
                    self.chart("permutation", &label, &how, |f| Some((f.loss?, f.loss_deviation))),
                );
            }
        }
        if !self.features.is_empty() {
            let (id, title) = ("importance-table".into(), "Importance of features".into());
            blocks.push(PageBlock::Table { id, title, table: self.table() });
        }
        Section { id: "importance".into(), title: "Feature importance".into(), blocks }
    }

    /// A chart of the features with the largest values of one kind.
    fn chart(
        &self,
        id: &str,
        label: &str,
        caption: &str,
        of: impl Fn(&ReportedImportance) -> Option<(f64, Option<f64>)>,
    ) -> Option<PageBlock> {
        let known = self.features.iter().filter_map(|f| Some((f.name.as_str(), of(f)?)));
        let mut known: Vec<(&str, (f64, Option<f64>))> = known.collect();
        known.sort_by(|a, b| b.1.0.total_cmp(&a.1.0));
        known.truncate(SHOWN);
        if known.is_empty() {
            return None;
        }
        let band = |(_, (value, deviation)): &(&str, (f64, Option<f64>))| {
            let deviation = deviation.unwrap_or(0.0);
            (value - deviation, value + deviation)
        };
        let bands = known.iter().any(|(_, (_, deviation))| deviation.is_some());
        Some(PageBlock::Chart(Chart {
            id: format!("importance-{id}"),
            title: format!("Features by {label}"),
            caption: caption.to_owned(),
            x: Axis { label: "feature".into(), ..Axis::default() },
            y: Axis { label: label.to_owned(), ..Axis::default() },
            body: Body::Bars(Bars {
                categories: known.iter().map(|(name, _)| (*name).to_owned()).collect(),
                series: vec![BarSeries {
                    name: label.to_owned(),
                    values: known.iter().map(|(_, (value, _))| *value).collect(),
                    band: if bands { known.iter().map(band).collect() } else { Vec::new() },
                    ..BarSeries::default()
                }],
                grouping: Grouping::Beside,
                horizontal: true,
            }),
        }))
    }

    fn table(&self) -> Table {
        let gain = if self.trees { "gain" } else { "size of weight" };
        let loss = self
            .permuted
            .as_ref()
            .map_or_else(|_| "loss".into(), |s| format!("loss of {}", s.metric));
        let mut table = Table::new([
            ("feature".to_owned(), Align::Left),
            (gain.to_owned(), Align::Right),
            ("splits".to_owned(), Align::Right),
            (loss, Align::Right),
            ("+-".to_owned(), Align::Right),
        ]);
        let text = |value: Option<String>| Cell::new(value.unwrap_or_else(|| "-".to_owned()));
        for f in self.features.iter().take(SHOWN) {
            table.rows.push(vec![
                Cell::new(f.name.as_str()),
                text(f.gain.map(|gain| format!("{gain:.4}"))),
                text(f.splits.map(|splits| splits.to_string())),
                text(f.loss.map(|mean| format!("{mean:.4}"))),
                text(f.loss_deviation.map(|deviation| format!("{deviation:.4}"))),
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

/// Serialises the data of the shuffling; null where nothing was permuted.
fn if_permuted<S: Serializer>(
    part: &ReportPart<PermutationData>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    part.as_ref().ok().serialize(serializer)
}

impl PermutationData {
    fn caption(&self, which: &str) -> String {
        let (queries, of) = (self.queries, self.of_queries);
        let seen = match queries == of {
            true => format!("all {} of {}", counted(of, "query"), self.data),
            false => format!("{queries} of the {of} queries of {}, drawn with the seed", self.data),
        };
        format!(
            "The loss of {}, which is {:.4} for the unchanged data, when the values of a feature are \
             randomly permuted among the rows of {seen}: the mean over {REPEATS} permutations and \
             their standard deviation.{which}",
            self.metric, self.value
        )
    }
}

/// Queries in a seeded random order until there are enough rows, then sorted in the data's order.
fn sample(model: &Model, data: &Dataset, features: usize, seed: u64) -> Vec<usize> {
    let work = work_of(model) * features.max(1) * REPEATS;
    let rows = (BUDGET / work.max(1)).clamp(ROWS.0, ROWS.1);
    let mut order: Vec<usize> = (0..data.queries()).collect();
    Random::new(seed, 0x9e2d).shuffle(&mut order);
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

/// Approximate cost of scoring a row, in trees.
fn work_of(model: &Model) -> usize {
    match model.body() {
        ModelBody::Trees(ensemble) => ensemble.trees().len().max(20),
        ModelBody::Net(net) => (net.parameters() / 32).max(20),
        ModelBody::Blend(blend) => blend.members().iter().map(|(_, member)| work_of(member)).sum(),
        _ => 20,
    }
}
