//! Interaction constraints: the features that a split may use, given the splits above it.
//!
//! Groups of features are given; all features on a path from the root must be members of one group.
//! A feature in no group is a group by itself: it shares no path with another feature. If no groups
//! are given, there is no constraint, and this code does not run. Cost: for each split, one pass
//! over the features and the groups that still apply. A *split feature* is one with more than one
//! bin, so that it can be split on.

use std::sync::Arc;

use super::evaluate::SplitFeature;

/// The groups of each split feature.
#[derive(Debug)]
pub(super) struct Interactions {
    /// For each split feature, the groups that it is a member of.
    groups_of_feature: Vec<Vec<u32>>,
    /// Number of groups, including those of a single feature that is in no given group.
    groups: u32,
}

/// The features allowed below a path from the root.
#[derive(Debug)]
pub(super) struct AllowedFeatures {
    /// Groups that hold all features of the path, ascending.
    groups: Vec<u32>,
    /// For each split feature, whether it may be used.
    pub(super) active: Vec<bool>,
}

impl Interactions {
    /// The groups by split feature; `None` if there are no groups.
    pub(super) fn new(groups: &[Vec<u32>], split_features: &[SplitFeature]) -> Option<Self> {
        if groups.is_empty() {
            return None;
        }
        let mut count = groups.len() as u32;
        let mut groups_of = |split_feature: &SplitFeature| {
            let feature = split_feature.packing.feature;
            let containing =
                groups.iter().enumerate().filter(|(_, group)| group.contains(&feature));
            let mut numbers: Vec<u32> = containing.map(|(number, _)| number as u32).collect();
            if numbers.is_empty() {
                // A group of this feature alone.
                numbers.push(count);
                count += 1;
            }
            numbers
        };
        let groups_of_feature = split_features.iter().map(&mut groups_of).collect();
        Some(Self { groups_of_feature, groups: count })
    }

    /// The features allowed at the root: all that the tree may use.
    pub(super) fn at_root(&self, active: &[bool]) -> Arc<AllowedFeatures> {
        Arc::new(AllowedFeatures { groups: (0..self.groups).collect(), active: active.to_vec() })
    }

    /// The features allowed below a split on the split feature with this index, given those that
    /// are allowed above.
    pub(super) fn below(
        &self,
        above: &AllowedFeatures,
        feature_index: usize,
    ) -> Arc<AllowedFeatures> {
        let groups_of = |feature_index: usize| {
            self.groups_of_feature.get(feature_index).map_or(&[][..], Vec::as_slice)
        };
        let of_feature = groups_of(feature_index);
        let remaining = above.groups.iter().filter(|group| of_feature.contains(group));
        let groups: Vec<u32> = remaining.copied().collect();
        let is_allowed = |(index, active): (usize, &bool)| {
            *active && groups_of(index).iter().any(|group| groups.binary_search(group).is_ok())
        };
        let active = above.active.iter().enumerate().map(is_allowed).collect();
        Arc::new(AllowedFeatures { groups, active })
    }
}
