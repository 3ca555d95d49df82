//! Groups of linked ranks, which links join in whatever order they come.

/// Groups of linked ranks. At first every rank is a group of its own.
#[derive(Debug, Clone)]
pub(crate) struct RankGroups {
    /// For each rank a rank of its group with a smaller number; the first of a group has itself.
    parents: Vec<usize>,
}

impl RankGroups {
    /// Groups of this many ranks.
    pub(crate) fn new(ranks: usize) -> Self {
        Self { parents: (0..ranks).collect() }
    }

    /// Joins the groups of two ranks, from 0.
    pub(crate) fn link(&mut self, one: usize, other: usize) {
        let (one, other) = (self.first(one), self.first(other));
        self.parents[one.max(other)] = one.min(other);
    }

    /// The first rank of a rank's group.
    pub(crate) fn first(&self, mut rank: usize) -> usize {
        while self.parents[rank] != rank {
            rank = self.parents[rank];
        }
        rank
    }

    /// The groups as ranks from 1, each sorted; groups are sorted by their first rank.
    pub(crate) fn groups(&self) -> Vec<Vec<usize>> {
        let mut groups: Vec<Vec<usize>> = vec![Vec::new(); self.parents.len()];
        for rank in 0..self.parents.len() {
            groups[self.first(rank)].push(rank + 1);
        }
        groups.retain(|group| !group.is_empty());
        groups
    }
}
