//! A random forest (Breiman 2001): decision trees on bootstrap samples of the documents, each split
//! chosen among a few random features; the score of a class is the mean of its shares in the
//! leaves.
//!
//! A tree is grown on as many documents as there are, drawn with replacement. A split draws from
//! the features of its documents; if none of the drawn ones allows a split, it draws as many
//! others. Each tree has its own stream of random numbers, so that threads change nothing. Cost:
//! that of the trees.

use rankwright_data::Random;
use rayon::prelude::*;

use super::tree::{DrawnFeatures, GrowthLimits, LabelledRows, TreeNodes};
use super::{ClassNames, ClassifyError, SparseVector, TrainedClassifier};

/// A trained random forest.
#[derive(Debug, Clone)]
pub struct DecisionForest {
    classes: Vec<String>,
    trees: Vec<TreeNodes>,
}

/// The size and the random draws of a random forest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ForestOptions {
    /// Number of trees.
    pub trees: u32,
    /// Number of features that a split is chosen among.
    pub sample_features: usize,
    /// Limits on the growth of a tree.
    pub limits: GrowthLimits,
    /// Seed of the draws.
    pub seed: u64,
}

impl DecisionForest {
    /// Grows the trees on labelled vectors; `classes` has the class of each vector.
    pub fn fit<S: AsRef<str>>(
        documents: &[SparseVector],
        classes: &[S],
        options: ForestOptions,
    ) -> Result<DecisionForest, ClassifyError> {
        let ClassNames { names, numbers } = ClassNames::new(documents.len(), classes)?;
        let labelled = LabelledRows { documents, numbers: &numbers, classes: names.len() };
        let grow = |number: u32| {
            let mut random = Random::new(options.seed, u64::from(number));
            let draw = |_| random.below(documents.len()) as u32;
            let rows = (0..documents.len()).map(draw).collect();
            let drawn = DrawnFeatures { count: options.sample_features, random };
            labelled.grow(rows, options.limits, Some(drawn))
        };
        let trees = (0..options.trees).into_par_iter().map(grow).collect();
        Ok(DecisionForest { classes: names, trees })
    }
}

impl TrainedClassifier for DecisionForest {
    fn classes(&self) -> &[String] {
        &self.classes
    }

    fn class_scores(&self, vector: &SparseVector) -> Vec<f64> {
        let mut sums = vec![0.0; self.classes.len()];
        for tree in &self.trees {
            sums.iter_mut().zip(tree.leaf(vector)).for_each(|(sum, share)| *sum += share);
        }
        super::trained::shares(sums)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_forest_separates_two_rings_and_repeats_itself() {
        // Points at distance 1 and 2 from the origin, which no line separates.
        let points: Vec<SparseVector> = (0..60)
            .map(|i| {
                let (radius, angle) = (1.0 + f32::from((i % 2) as u8), i as f32 * 0.7);
                SparseVector::dense(&[radius * angle.cos(), radius * angle.sin()]).unwrap()
            })
            .collect();
        let classes: Vec<&str> = (0..60).map(|i| ["inner", "outer"][i % 2]).collect();
        let limits = GrowthLimits::default();
        let options = ForestOptions { trees: 30, sample_features: 1, limits, seed: 7 };
        let fit = |options| DecisionForest::fit(&points, &classes, options).unwrap();
        let forest = fit(options);
        let right = points.iter().zip(&classes).filter(|(p, c)| forest.decide(p).class == **c);
        assert_eq!(right.count(), 60);
        let scores = forest.class_scores(&points[3]);
        assert!((scores.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert_eq!(fit(options).class_scores(&points[3]), scores);
        // Trees of another seed disagree somewhere.
        let other = fit(ForestOptions { seed: 8, ..options });
        assert!(points.iter().any(|p| other.class_scores(p) != forest.class_scores(p)));
    }
}
