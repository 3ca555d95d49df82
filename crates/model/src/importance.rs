//! Feature importance of a model: the gain and the number of splits in trees, the weights of a net
//! of one layer.
//!
//! Gain is the reduction of the training loss by the splits on a feature; it favours features with
//! many values and says nothing about new data. The weight of a feature in a net of one layer is
//! the change of the score when the transformed value grows by 1. Permutation importance (the drop
//! of a metric when a feature's values are shuffled among rows) needs metrics and is computed
//! elsewhere, from [`Model::score_permuted`], for every kind of model. Features without importance
//! are not listed; linear models (whose weights can be read directly), deeper nets and blends have
//! no importance.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{Model, ModelBody};

/// The importance of one feature in trees or weights.
#[derive(Debug, Clone, PartialEq)]
pub struct Importance {
    /// Number of the feature, from 0.
    pub feature: usize,
    /// The feature's name.
    pub name: String,
    /// The gain of all splits on the feature; in a net of one layer the absolute value of its
    /// weight.
    pub gain: f64,
    /// The number of splits on the feature; 0 in a net.
    pub splits: u64,
}

impl Model {
    /// The features with importance, by gain, largest first (then by splits, then by number).
    pub fn importance(&self) -> Vec<Importance> {
        let mut sums: BTreeMap<usize, (f64, u64)> = BTreeMap::new();
        match self.body() {
            ModelBody::Trees(ensemble) => {
                for split in ensemble.trees().iter().flat_map(|tree| tree.splits()) {
                    let (gain, splits) = sums.entry(split.feature as usize).or_default();
                    *gain += split.gain;
                    *splits += 1;
                }
            }
            ModelBody::Net(net) => {
                let weights = net.linear_weights().unwrap_or_default().iter().enumerate();
                let used = weights.filter(|(_, weight)| **weight != 0.0);
                sums.extend(used.map(|(feature, weight)| (feature, (f64::from(weight.abs()), 0))));
            }
            ModelBody::Linear(_) | ModelBody::Blend(_) => {}
        }
        let named = |(feature, (gain, splits)): (usize, (f64, u64))| {
            let name = self.header().features.name(feature).into_owned();
            Importance { feature, name, gain, splits }
        };
        let mut all: Vec<Importance> = sums.into_iter().map(named).collect();
        // The sort is stable: features of equal importance stay in the order of their numbers.
        all.sort_by(|a, b| b.gain.total_cmp(&a.gain).then(b.splits.cmp(&a.splits)));
        all
    }

    /// The numbers of the features that a score can depend on, ascending: those that a split tests,
    /// or that have a weight other than 0; in a blend those of the members with a weight other than
    /// 0.
    pub fn used_features(&self) -> Vec<usize> {
        let used: BTreeSet<usize> = match self.body() {
            ModelBody::Trees(ensemble) => {
                let splits = ensemble.trees().iter().flat_map(|tree| tree.splits());
                splits.map(|split| split.feature as usize).collect()
            }
            ModelBody::Linear(linear) => not_zero(linear.weights().iter().copied()).collect(),
            ModelBody::Net(net) => {
                let first_layer = net.layers().iter().take(1);
                // For each output of the layer the weights of all features.
                let weights =
                    first_layer.flat_map(|layer| layer.weights().chunks(layer.inputs().max(1)));
                weights
                    .flat_map(|of_output| not_zero(of_output.iter().map(|w| f64::from(*w))))
                    .collect()
            }
            ModelBody::Blend(blend) => {
                let members = blend.members().iter().zip(self.member_matchings());
                let used = members.filter(|((weight, _), _)| *weight != 0.0);
                let columns = used.flat_map(|((_, member), matching)| {
                    let features = member.used_features().into_iter();
                    features.filter_map(|feature| matching.column(feature))
                });
                columns.collect()
            }
        };
        used.into_iter().collect()
    }
}

/// The indices of numbers other than 0.
fn not_zero(numbers: impl Iterator<Item = f64>) -> impl Iterator<Item = usize> {
    numbers.enumerate().filter(|(_, number)| *number != 0.0).map(|(index, _)| index)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::tests::{chain_tree, two_split_tree};
    use crate::{Activation, Blend, Ensemble, Header, Layer, Linear, Net, Normalise, Transforms};
    use rankwright_data::{Absent, FeatureNames};

    #[test]
    fn gains_and_splits_are_added_up_and_the_largest_gain_comes_first() {
        let names = FeatureNames::Named(["a", "b", "c"].map(String::from).to_vec());
        let trees = vec![two_split_tree(), two_split_tree(), chain_tree(3)];
        let trees = Ensemble::new(0.0, trees).unwrap();
        let header = Header::new(names, Absent::Zero);
        let model = Model::new(header.clone(), ModelBody::Trees(trees)).unwrap();
        let found: Vec<_> = model.importance();
        let named: Vec<_> = found.iter().map(|i| (i.name.as_str(), i.gain, i.splits)).collect();
        // Each tree of two splits gains 2.5 by feature a and 1 by b; the chain three times 1 by a.
        assert_eq!(named, [("a", 8.0, 5), ("b", 2.0, 2)]);
        let linear = ModelBody::Linear(Linear::new(0.0, vec![1.0; 3]).unwrap());
        assert!(Model::new(header, linear).unwrap().importance().is_empty());
    }

    fn model_with(names: &[&str], body: ModelBody) -> Model {
        let names = FeatureNames::Named(names.iter().map(|name| name.to_string()).collect());
        Model::new(Header::new(names, Absent::Zero), body).unwrap()
    }

    /// A net of layers, each given as its number of inputs and its weights.
    fn net(layers: &[(usize, &[f32])]) -> ModelBody {
        let layer = |(inputs, weights): &(usize, &[f32])| {
            let biases = vec![0.0; weights.len() / inputs];
            Layer::new(*inputs, weights.to_vec(), biases, None, Activation::None).unwrap()
        };
        let layers: Vec<Layer> = layers.iter().map(layer).collect();
        ModelBody::Net(Net::new(Transforms::identity(layers[0].inputs()), layers).unwrap())
    }

    #[test]
    fn the_importance_in_a_net_of_one_layer_is_the_size_of_the_weight() {
        let model = model_with(&["a", "b", "c"], net(&[(3, &[0.5, 0.0, -2.0])]));
        let found = model.importance();
        let found: Vec<_> = found.iter().map(|i| (i.name.as_str(), i.gain, i.splits)).collect();
        assert_eq!(found, [("c", 2.0, 0), ("a", 0.5, 0)]);
        let deep = model_with(&["a"], net(&[(1, &[1.0, 1.0]), (2, &[1.0, 1.0])]));
        assert!(deep.importance().is_empty());
    }

    #[test]
    fn used_features_are_those_that_a_score_can_depend_on() {
        let trees = Ensemble::new(0.0, vec![two_split_tree(), chain_tree(3)]).unwrap();
        let trees = model_with(&["x", "y", "z"], ModelBody::Trees(trees));
        assert_eq!(trees.used_features(), [0, 1]);
        let linear =
            model_with(&["z", "x"], ModelBody::Linear(Linear::new(1.0, vec![-1.0, 0.0]).unwrap()));
        assert_eq!(linear.used_features(), [0]);
        let deep = net(&[(3, &[0.0, 0.0, 1.0, 2.0, 0.0, 1.0]), (2, &[1.0, 1.0])]);
        assert_eq!(model_with(&["a", "b", "c"], deep).used_features(), [0, 2]);
        let blend = |weight| {
            let members = vec![(1.0, linear.clone()), (weight, trees.clone())];
            let blend = Blend::new(Normalise::Rank, members).unwrap();
            model_with(&["w", "z", "y", "x"], ModelBody::Blend(blend))
        };
        assert_eq!(blend(1.0).used_features(), [1, 2, 3]);
        assert_eq!(blend(0.0).used_features(), [1]);
        assert!(blend(1.0).importance().is_empty());
    }
}
