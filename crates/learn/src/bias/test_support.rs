//! Simulated clicks with a known examination of positions.
//!
//! A document has four features. Its relevance depends on the first two; the third decides where it
//! was shown, so that a learner that takes clicks for relevance learns the third feature.

use rankwright_data::{Dataset, Random};
use rankwright_eval::{EvalOptions, MetricSpec, ScoredDataset, SourceKind, evaluate};
use rankwright_model::{Model, ScoreOptions};

use crate::learner::LearnerSpec;
use crate::session::TrainRequest;

/// Number of documents of a page.
pub(crate) const PAGE: usize = 10;

/// Probability of a click on an examined document, by grade.
const ATTRACTION: [f64; 3] = [0.05, 0.4, 0.9];

/// Pages that were shown, with grades or with clicks as labels.
pub(crate) struct ShownPages {
    features: Vec<[f32; 4]>,
    grades: Vec<usize>,
    positions: Vec<u32>,
    clicks: Vec<f64>,
}

/// The examination of a position.
pub(crate) fn examination(position: u32) -> f64 {
    1.0 / f64::from(position)
}

/// The examination of all positions as the value of a parameter.
pub(crate) fn examination_text() -> String {
    (1..=PAGE as u32).map(|p| examination(p).to_string()).collect::<Vec<_>>().join("/")
}

impl ShownPages {
    /// Draws pages; each is shown once.
    pub(crate) fn new(queries: usize, seed: u64) -> Self {
        let mut random = Random::new(seed, 0);
        let mut pages =
            Self { features: vec![], grades: vec![], positions: vec![], clicks: vec![] };
        for _ in 0..queries {
            let documents: Vec<[f32; 4]> =
                (0..PAGE).map(|_| [(); 4].map(|()| random.normal() as f32)).collect();
            // The score of the ranker that showed the page.
            let logged = |d: usize| documents[d][2] + 0.3 * documents[d][0];
            let mut order: Vec<usize> = (0..PAGE).collect();
            order.sort_by(|a, b| logged(*b).total_cmp(&logged(*a)));
            for (rank, document) in order.iter().enumerate() {
                let features = documents[*document];
                let utility = features[0] + 0.6 * features[1];
                let grade = usize::from(utility > 0.3) + usize::from(utility > 1.3);
                let position = rank as u32 + 1;
                let clicked = random.unit() < examination(position) * ATTRACTION[grade];
                pages.features.push(features);
                pages.grades.push(grade);
                pages.positions.push(position);
                pages.clicks.push(f64::from(u8::from(clicked)));
            }
        }
        pages
    }

    fn build(&self, labels: &[f64], with_positions: bool) -> Dataset {
        let queries = (0..labels.len()).map(|row| row / PAGE);
        let data = Dataset::builder().rows(&self.features).labels(labels).query_ids(queries);
        let data = if with_positions { data.positions(&self.positions) } else { data };
        data.build().unwrap()
    }

    /// Clicks as labels, with positions.
    pub(crate) fn clicked(&self) -> Dataset {
        self.build(&self.clicks, true)
    }

    /// The click rates of each page, shown `impressions` times, as labels, with positions.
    pub(crate) fn click_rates(&self, impressions: u32, seed: u64) -> Dataset {
        let rate = |(row, position): (usize, &u32)| {
            let mut random = Random::new(seed, row as u64);
            let click = examination(*position) * ATTRACTION[self.grades[row]];
            let clicks = (0..impressions).filter(|_| random.unit() < click).count();
            clicks as f64 / f64::from(impressions)
        };
        let rates: Vec<f64> = self.positions.iter().enumerate().map(rate).collect();
        self.build(&rates, true)
    }

    /// Clicks as labels, without positions.
    pub(crate) fn without_positions(&self) -> Dataset {
        self.build(&self.clicks, false)
    }

    /// Grades as labels.
    pub(crate) fn graded(&self) -> Dataset {
        let grades: Vec<f64> = self.grades.iter().map(|grade| *grade as f64).collect();
        self.build(&grades, false)
    }
}

/// Trains a learner.
pub(crate) fn train(learner: &str, data: &Dataset) -> Model {
    let result = LearnerSpec::parse(learner).unwrap().train(TrainRequest::new(data));
    result.unwrap_or_else(|error| panic!("{learner}: {error}")).model
}

/// NDCG@5 of a model.
pub(crate) fn ndcg(model: &Model, data: &Dataset) -> f64 {
    let scores = model.score(data, ScoreOptions::default()).unwrap();
    let measure = MetricSpec::parse("ndcg@5").unwrap().resolve(SourceKind::Features).unwrap();
    let source = ScoredDataset::new(data, &scores).unwrap();
    evaluate(&source, &[measure], EvalOptions::default()).unwrap().results[0].value
}

/// The correlation of two lists.
pub(crate) fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let mean = |x: &[f64]| x.iter().sum::<f64>() / x.len() as f64;
    let (mean_a, mean_b) = (mean(a), mean(b));
    let sum = |f: &dyn Fn(f64, f64) -> f64| -> f64 {
        a.iter().zip(b).map(|(x, y)| f(x - mean_a, y - mean_b)).sum()
    };
    sum(&|x, y| x * y) / (sum(&|x, _| x * x) * sum(&|_, y| y * y)).sqrt()
}
