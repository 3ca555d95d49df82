//! Which features the trees of a model lean on: total gain and number of splits.
//!
//! Gain is what the splits on a feature took off the training loss; it favours features with many
//! values and says nothing about new data. Permutation importance (the drop of a metric when a
//! feature's values are exchanged among rows) needs metrics and is computed elsewhere, from
//! [`Model::score_permuted`]. Features that no split asks for are not listed; a line has none.

use std::collections::BTreeMap;

use crate::model::{Kind, Model};

/// How much one feature matters.
#[derive(Debug, Clone, PartialEq)]
pub struct Importance {
    /// Number of the feature, from 0.
    pub feature: usize,
    /// Its name.
    pub name: String,
    /// The gain of all splits on it.
    pub gain: f64,
    /// The number of splits on it.
    pub splits: u64,
}

impl Model {
    /// The features that splits ask for, by gain, largest first (then by splits, then by number).
    pub fn importance(&self) -> Vec<Importance> {
        let Kind::Trees(ensemble) = self.kind() else { return Vec::new() };
        let mut sums: BTreeMap<u32, (f64, u64)> = BTreeMap::new();
        for split in ensemble.trees().iter().flat_map(|tree| tree.splits()) {
            let (gain, splits) = sums.entry(split.feature).or_default();
            *gain += split.gain;
            *splits += 1;
        }
        let named = |(feature, (gain, splits)): (u32, (f64, u64))| {
            let feature = feature as usize;
            let name = self.header().features.name(feature).into_owned();
            Importance { feature, name, gain, splits }
        };
        let mut all: Vec<Importance> = sums.into_iter().map(named).collect();
        // Stable: equal ones stay in the order of their numbers.
        all.sort_by(|a, b| b.gain.total_cmp(&a.gain).then(b.splits.cmp(&a.splits)));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::tests::{chain, small};
    use crate::{Ensemble, Header, Linear};
    use rankwright_data::{Absent, FeatureNames};

    #[test]
    fn gains_and_splits_are_added_up_and_the_largest_gain_comes_first() {
        let names = FeatureNames::Named(["a", "b", "c"].map(String::from).to_vec());
        let trees = Ensemble::new(0.0, vec![small(), small(), chain(3)]).unwrap();
        let header = Header::new(names, Absent::Zero);
        let model = Model::new(header.clone(), Kind::Trees(trees)).unwrap();
        let found: Vec<_> = model.importance();
        let named: Vec<_> = found.iter().map(|i| (i.name.as_str(), i.gain, i.splits)).collect();
        assert_eq!(named, [("a", 8.0, 5), ("b", 2.0, 2)]);
        let line = Kind::Linear(Linear::new(0.0, vec![1.0; 3]).unwrap());
        assert!(Model::new(header, line).unwrap().importance().is_empty());
    }
}
