//! Features: what a learnt ranker sees of a query and a document, each by name.
//!
//! A feature is a spec: `bm25(field=title)`, `pagerank`, `recency(field=date, half_life=30)`. The spec is
//! the name of the column in data files and models, so that a model says by itself what must be
//! computed, and training and serving run the same code ([`Extractor`]). `field=*` stands for every
//! field that will do, `stat=*` for every summary; [`FeatureSet`] expands them.

mod classes;
mod dense;
mod document;
mod evidence;
mod extract;
mod given;
mod graph;
mod proximity;
mod query;
mod set;
mod table;
mod text;

pub use extract::{Extractor, FeatureRows};
pub use set::{FEATURE_VERSION, FeatureSet};
pub use table::{FEATURES, FeatureInfo};

use crate::error::SearchError;
use evidence::{Evidence, Needs};

/// One number for each candidate of a query.
trait Feature: Send + Sync {
    /// What has to be gathered.
    fn needs(&self) -> Needs;

    /// The value of each candidate; NaN is missing.
    fn values(&self, evidence: &Evidence<'_>, out: &mut [f64]) -> Result<(), SearchError>;
}

/// How values of several terms become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Summary {
    Sum,
    Min,
    Max,
    Mean,
    Variance,
}

impl Summary {
    const ALL: [(&'static str, Summary); 5] = [
        ("sum", Summary::Sum),
        ("min", Summary::Min),
        ("max", Summary::Max),
        ("mean", Summary::Mean),
        ("variance", Summary::Variance),
    ];

    /// Of these values and as many zeros as there are to `count`; 0 of nothing.
    fn of(self, values: &[f64], count: usize) -> f64 {
        let zeros = count > values.len();
        let sum: f64 = values.iter().sum();
        let n = count.max(values.len()) as f64;
        if n == 0.0 {
            return 0.0;
        }
        let fold = |start: Option<f64>, f: fn(f64, f64) -> f64| {
            values.iter().copied().chain(start).reduce(f).unwrap_or(0.0)
        };
        match self {
            Summary::Sum => sum,
            Summary::Mean => sum / n,
            Summary::Min => fold(zeros.then_some(0.0), f64::min),
            Summary::Max => fold(zeros.then_some(0.0), f64::max),
            Summary::Variance => {
                let mean = sum / n;
                let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
                (squares + (n - values.len() as f64) * mean * mean) / n
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summaries_count_absent_terms_as_zeros() {
        let of = |summary: Summary| summary.of(&[1.0, 3.0], 4);
        assert_eq!(of(Summary::Sum), 4.0);
        assert_eq!(of(Summary::Mean), 1.0);
        assert_eq!(of(Summary::Min), 0.0);
        assert_eq!(of(Summary::Max), 3.0);
        assert_eq!(of(Summary::Variance), 1.5);
        assert_eq!(Summary::Min.of(&[], 0), 0.0);
        assert_eq!(Summary::Min.of(&[2.0, 1.0], 2), 1.0);
    }
}
