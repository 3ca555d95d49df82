//! A serialisable summary of a model: its origin, its size, and the importance of its features.

use std::collections::BTreeMap;

use rankwright_data::TableColumns;
use rankwright_spec::words::counted;
use serde::{Serialize, Serializer};

use crate::bias_factors::BiasFactors;
use crate::blend::{Blend, Normalise};
use crate::ensemble::Ensemble;
use crate::model::{BodyKind, Model, ModelBody};
use crate::net::{Layer, Net};
use crate::tree::Tree;

/// A summary of a model.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ModelSummary {
    /// The kind of model.
    pub kind: BodyKind,
    /// The learner that made the model, as a canonical spec.
    pub learner: String,
    /// The objective that training minimised.
    pub objective: String,
    /// The metric that training reported.
    pub metric: String,
    /// The conventions of that metric: how ties, unjudged documents and so on are treated.
    pub conventions: String,
    /// The seed of the training.
    pub seed: u64,
    /// Queries in the training data.
    pub queries: u64,
    /// Rows in the training data.
    pub rows: u64,
    /// The feature set of the training data, as TOML text; `None` if it is not known.
    pub feature_set: Option<String>,
    /// The columns of the table that the training data was read from, with the texts of categories;
    /// none if the names of the columns imply their roles and all features are numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub table_columns: Option<TableColumns>,
    /// The position bias that the clicks of the training data were corrected for; scores do not
    /// depend on it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position_bias: Option<BiasFactors>,
    /// Other facts about the model, by name.
    pub notes: BTreeMap<String, String>,
    /// The meaning of an absent feature of a sparse row: `zero` or `missing`.
    pub absent: &'static str,
    /// Number of features.
    pub features: usize,
    /// The hash of the feature names, 16 hexadecimal digits.
    pub feature_hash: String,
    /// The parts of the model.
    #[serde(flatten)]
    pub body: BodySummary,
    /// The weights other than 0 of a linear model, or of a net without hidden layers over its
    /// transformed features; sorted by absolute value, largest first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weights: Option<Vec<FeatureImportance>>,
    /// The features that trees test, the largest gain first. After [`ModelSummary::with_drops`]
    /// also the features of models without weights and trees, the largest drop first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub importance: Option<Vec<FeatureImportance>>,
}

/// The parts of a model, by kind.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum BodySummary {
    /// A sum of trees.
    Trees {
        /// The score of every row before the first tree.
        base: f64,
        /// Sizes over all trees.
        trees: TreesSummary,
    },
    /// A weight for each feature.
    Linear {
        /// The score of a row of zeros.
        bias: f64,
    },
    /// Layers over transformed features.
    Net {
        /// The transforms of features in words.
        transform: String,
        /// Number of weights and biases, and of scales and shifts of normalised layers.
        parameters: usize,
        /// The layers, from the inputs on.
        layers: Vec<LayerSummary>,
    },
    /// A weighted sum of other models' scores.
    Blend {
        /// The normalisation of members' scores; `None`, serialised as `mixed`, if members have
        /// different ones.
        #[serde(serialize_with = "or_mixed")]
        normalise: Option<Normalise>,
        /// The members, in the order in which they are added.
        members: Vec<MemberSummary>,
    },
}

/// Serialises the normalisation that all members have in common, or `mixed`.
fn or_mixed<S: Serializer>(common: &Option<Normalise>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(common.map_or("mixed", Normalise::name))
}

/// Sizes over all trees of a model.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TreesSummary {
    /// Number of trees.
    pub count: usize,
    /// Number of leaves of all trees.
    pub leaves: usize,
    /// Number of leaves of the largest tree.
    pub most_leaves: usize,
    /// The longest path from a root to a leaf, in splits.
    pub depth: usize,
    /// The mean over trees of their depth.
    pub mean_depth: f64,
}

/// A layer of a net.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct LayerSummary {
    /// Number of inputs.
    pub inputs: usize,
    /// Number of outputs.
    pub outputs: usize,
    /// Whether outputs are normalised over the layer.
    pub norm: bool,
    /// The name of the activation.
    pub activation: &'static str,
    /// Number of weights and biases, and of scales and shifts if the outputs are normalised.
    pub parameters: usize,
}

/// A member of a blend.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct MemberSummary {
    /// The weight in the blend.
    pub weight: f64,
    /// The normalisation of its scores within a query.
    pub normalise: Normalise,
    /// The kind of model.
    pub kind: BodyKind,
    /// The size in words: `300 trees`.
    pub size: String,
    /// The learner that made the member.
    pub learner: String,
}

/// The importance of one feature.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct FeatureImportance {
    /// The name, or the id as text.
    #[serde(rename = "feature")]
    pub name: String,
    /// The number in the model, from 0.
    #[serde(skip)]
    pub number: usize,
    /// The weight; `None` in models without weights.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
    /// The sum of the gains of all splits on the feature; `None` without trees.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gain: Option<f64>,
    /// Number of splits on the feature; `None` without trees.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub splits: Option<u64>,
    /// The drop of a metric from shuffling the feature; `None` if that was not measured.
    #[serde(flatten)]
    pub drop: Option<MetricDrop>,
}

/// The drop of a metric when the values of a feature are shuffled among the rows.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct MetricDrop {
    /// The mean over several shuffles.
    #[serde(rename = "drop")]
    pub mean: f64,
    /// The standard deviation over the shuffles; `None` for a single shuffle.
    #[serde(rename = "drop_spread")]
    pub spread: Option<f64>,
}

impl Model {
    /// A summary of the model.
    ///
    /// ```
    /// use rankwright_data::{Absent, FeatureNames};
    /// use rankwright_model::{Header, Linear, Model, ModelBody};
    ///
    /// let names = FeatureNames::Named(vec!["bm25".into(), "pagerank".into()]);
    /// let linear = ModelBody::Linear(Linear::new(0.5, vec![0.0, 2.0])?);
    /// let summary = Model::new(Header::new(names, Absent::Zero), linear)?.summary();
    /// let json = serde_json::to_value(&summary)?;
    /// assert_eq!((&json["kind"], &json["bias"]), (&"linear".into(), &0.5.into()));
    /// assert_eq!(json["weights"], serde_json::json!([{ "feature": "pagerank", "weight": 2.0 }]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn summary(&self) -> ModelSummary {
        let header = self.header();
        ModelSummary {
            kind: self.body().kind(),
            learner: header.learner.clone(),
            objective: header.objective.clone(),
            metric: header.metric.clone(),
            conventions: header.conventions.clone(),
            seed: header.seed,
            queries: header.queries,
            rows: header.rows,
            feature_set: header.feature_set.clone(),
            table_columns: header.table_columns.as_deref().cloned(),
            position_bias: header.position_bias.clone(),
            notes: header.notes.clone(),
            absent: header.absent.name(),
            features: header.features.len(),
            feature_hash: format!("{:016x}", header.feature_hash()),
            body: BodySummary::of(self.body()),
            weights: self.weights().map(|weights| weight_rows(self, &weights)),
            importance: match self.body() {
                ModelBody::Trees(_) => Some(gain_rows(self)),
                _ => None,
            },
        }
    }

    /// The weight of each feature of a linear model, or of a net without hidden layers over its
    /// transformed features; `None` for other models.
    pub fn weights(&self) -> Option<Vec<f64>> {
        match self.body() {
            ModelBody::Linear(linear) => Some(linear.weights().to_vec()),
            ModelBody::Net(net) => {
                Some(net.linear_weights()?.iter().map(|weight| f64::from(*weight)).collect())
            }
            ModelBody::Trees(_) | ModelBody::Blend(_) => None,
        }
    }
}

impl ModelSummary {
    /// Adds the drops of a metric from shuffling features, given with the number of each feature.
    /// For a model without weights and trees, the importance then lists these features, the largest
    /// drop first.
    #[must_use]
    pub fn with_drops(mut self, model: &Model, drops: &[(usize, MetricDrop)]) -> ModelSummary {
        if self.weights.is_none() && self.importance.is_none() {
            let mut order = drops.to_vec();
            order.sort_by(|a, b| b.1.mean.total_cmp(&a.1.mean));
            let row = |(number, _): &(usize, MetricDrop)| FeatureImportance::new(model, *number);
            self.importance = Some(order.iter().map(row).collect());
        }
        for row in self.weights.iter_mut().chain(&mut self.importance).flatten() {
            let found = drops.iter().find(|(number, _)| *number == row.number);
            row.drop = found.map(|(_, drop)| *drop);
        }
        self
    }

    /// The features with weights, or else those with importance.
    pub fn feature_rows(&self) -> &[FeatureImportance] {
        self.weights.as_deref().or(self.importance.as_deref()).unwrap_or(&[])
    }
}

impl BodySummary {
    fn of(body: &ModelBody) -> BodySummary {
        match body {
            ModelBody::Trees(ensemble) => {
                BodySummary::Trees { base: ensemble.base(), trees: TreesSummary::of(ensemble) }
            }
            ModelBody::Linear(linear) => BodySummary::Linear { bias: linear.bias() },
            ModelBody::Net(net) => BodySummary::of_net(net),
            ModelBody::Blend(blend) => BodySummary::of_blend(blend),
        }
    }

    fn of_net(net: &Net) -> BodySummary {
        BodySummary::Net {
            transform: net.transforms().describe(),
            parameters: net.parameters(),
            layers: net.layers().iter().map(LayerSummary::of).collect(),
        }
    }

    fn of_blend(blend: &Blend) -> BodySummary {
        let member = |((weight, member), normalise): (&(f64, Model), &Normalise)| MemberSummary {
            weight: *weight,
            normalise: *normalise,
            kind: member.body().kind(),
            size: size_text(member),
            learner: member.header().learner.clone(),
        };
        BodySummary::Blend {
            normalise: blend.common_normalisation(),
            members: blend.members().iter().zip(blend.normalisations()).map(member).collect(),
        }
    }
}

impl TreesSummary {
    fn of(ensemble: &Ensemble) -> TreesSummary {
        let leaves = || ensemble.trees().iter().map(|tree| tree.leaves().len());
        let depths: Vec<usize> = ensemble.trees().iter().map(Tree::depth).collect();
        TreesSummary {
            count: ensemble.trees().len(),
            leaves: leaves().sum(),
            most_leaves: leaves().max().unwrap_or(0),
            depth: depths.iter().copied().max().unwrap_or(0),
            mean_depth: depths.iter().sum::<usize>() as f64 / depths.len().max(1) as f64,
        }
    }
}

impl LayerSummary {
    fn of(layer: &Layer) -> LayerSummary {
        LayerSummary {
            inputs: layer.inputs(),
            outputs: layer.outputs(),
            norm: layer.norm().is_some(),
            activation: layer.activation().name(),
            parameters: layer.parameters(),
        }
    }
}

impl FeatureImportance {
    fn new(model: &Model, number: usize) -> FeatureImportance {
        let name = model.header().features.name(number).into_owned();
        FeatureImportance { name, number, weight: None, gain: None, splits: None, drop: None }
    }
}

/// Weights other than 0, by absolute value, the largest first.
fn weight_rows(model: &Model, weights: &[f64]) -> Vec<FeatureImportance> {
    let all = weights.iter().copied().enumerate();
    let mut used: Vec<(usize, f64)> = all.filter(|(_, weight)| *weight != 0.0).collect();
    used.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
    let row = |(number, weight)| FeatureImportance {
        weight: Some(weight),
        ..FeatureImportance::new(model, number)
    };
    used.into_iter().map(row).collect()
}

/// The features that trees test, the largest gain first.
fn gain_rows(model: &Model) -> Vec<FeatureImportance> {
    let row = |importance: crate::Importance| FeatureImportance {
        gain: Some(importance.gain),
        splits: Some(importance.splits),
        ..FeatureImportance::new(model, importance.feature)
    };
    model.importance().into_iter().map(row).collect()
}

/// The size of a model in words.
fn size_text(model: &Model) -> String {
    let (count, noun) = match model.body() {
        ModelBody::Trees(ensemble) => (ensemble.trees().len(), "tree"),
        ModelBody::Net(net) => (net.parameters(), "parameter"),
        _ => (model.used_features().len(), "feature"),
    };
    counted(count, noun)
}

#[cfg(test)]
mod tests;
