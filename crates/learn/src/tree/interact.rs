//! Interaction constraints: which features may still be asked for, given those above.
//!
//! Groups of features are given; all features on a path from the root must be members of one
//! group. A feature in no group is a group by itself: it meets no other on any path. A tree
//! without groups has no constraint, and none of this runs. Cost: one pass over the features and
//! the groups that are left, for each split.

use std::sync::Arc;

use super::evaluate::SplitFeature;

/// The groups of each place.
#[derive(Debug)]
pub(super) struct Interactions {
    of_place: Vec<Vec<u32>>,
    groups: u32,
}

/// What may be asked for below a path.
#[derive(Debug)]
pub(super) struct Allowed {
    /// Groups that hold all features of the path, ascending.
    groups: Vec<u32>,
    /// Which places may be used.
    pub(super) active: Vec<bool>,
}

impl Interactions {
    /// The groups by place; `None` without groups.
    pub(super) fn new(groups: &[Vec<u32>], places: &[SplitFeature]) -> Option<Self> {
        if groups.is_empty() {
            return None;
        }
        let mut count = groups.len() as u32;
        let mut groups_of = |place: &SplitFeature| {
            let feature = place.member.feature;
            let with = groups.iter().enumerate().filter(|(_, group)| group.contains(&feature));
            let mut found: Vec<u32> = with.map(|(number, _)| number as u32).collect();
            if found.is_empty() {
                found.push(count);
                count += 1;
            }
            found
        };
        let of_place = places.iter().map(&mut groups_of).collect();
        Some(Self { of_place, groups: count })
    }

    /// What the root may ask for: any feature that the tree may use.
    pub(super) fn at_root(&self, active: &[bool]) -> Arc<Allowed> {
        Arc::new(Allowed { groups: (0..self.groups).collect(), active: active.to_vec() })
    }

    /// What may be asked for below a split on a place.
    pub(super) fn below(&self, above: &Allowed, place: usize) -> Arc<Allowed> {
        let of = |place: usize| self.of_place.get(place).map_or(&[][..], Vec::as_slice);
        let left = above.groups.iter().filter(|group| of(place).contains(group));
        let groups: Vec<u32> = left.copied().collect();
        let shares = |(place, active): (usize, &bool)| {
            *active && of(place).iter().any(|group| groups.binary_search(group).is_ok())
        };
        let active = above.active.iter().enumerate().map(shares).collect();
        Arc::new(Allowed { groups, active })
    }
}
