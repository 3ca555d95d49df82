//! SVM-map (Yue, Finley, Radlinski and Joachims, SIGIR 2007): a linear model with a margin in
//! average precision.
//!
//! ```text
//! minimise 1/2 |w|^2 + C xi
//! with  w mean of (Psi(correct) - Psi(y_q)) >= mean of (1 - AP(y_q)) - xi   for all rankings y_q
//! ```
//!
//! Both means are over the queries q, by their weights; xi is the slack, Psi the joint features of
//! a query and a ranking ([`violated`]), and the correct ranking has all relevant documents first.
//! Of the many constraints only a few are active: the rankings that the current model violates most
//! ([`violated`]) become one more cutting plane, and the model is fitted to all planes ([`qp`]),
//! until no constraint is violated by more than `epsilon` beyond xi (one slack for all queries:
//! Joachims, Finley and Yu, *Cutting-Plane Training of Structural SVMs*, Machine Learning 2009).
//!
//! Documents with a label of `rel` or more are relevant. Queries with only relevant or only other
//! documents are ignored; data without any other query is an error. Weights of documents do not
//! enter average precision. Cost of a round: rows x features, and R N for each query of R relevant
//! and N other documents. The number of rounds does not grow with the data.

mod newton;
mod qp;
mod violated;

use rankwright_data::Dataset;
use rankwright_eval::EvalError;
use rankwright_spec::{SpecError, above, param_groups, params};
use rayon::prelude::*;

use self::qp::QuadraticProgram;
use self::violated::{ViolatedRanking, most_violated};
use super::{TransformedData, float_state};
use crate::error::LearnError;
use crate::learner::{DeclaredLearner, LearnerDef, TargetOptions, TargetParams, Tuning};
use crate::session::{RoundPlan, RoundStatus, Session, TrainRequest, TrainResult};
use crate::trainer::Trainer;
use crate::transform::{TRANSFORM_SPACE, TransformOptions, TransformParams};

params! {
    /// Parameters of SVM-map.
    pub struct SvmMapParams {
        c: f64 = 1.0, above(0.0),
            "Cost of a unit of lost average precision, relative to half the squared norm of the \
             weights.";
        epsilon: f64 = 0.001, above(0.0),
            "Training stops when no constraint is violated by more than this beyond the slack.";
        rounds: usize = 500, 1.., "Maximum number of cutting planes.";
        rel: f64 = 1.0, .., "Lowest label that counts as relevant.";
    }
    /// Builder methods for the parameters of SVM-map.
    pub trait SvmMapOptions: svm_map_params;
}

param_groups! {
    /// SVM-map: a linear model with a margin in average precision, by cutting planes.
    pub struct SvmMap {
        svm: SvmMapParams, SvmMapOptions::svm_map_params;
        features: TransformParams, TransformOptions::transform_params;
        // The metric of reports.
        target: TargetParams, TargetOptions::target_params;
    }
}

impl DeclaredLearner for SvmMap {
    const DEF: &'static LearnerDef = &LearnerDef {
        name: "svmmap",
        help: "A linear model with a margin in average precision, by cutting planes (Yue 2007).",
        example: "svmmap(c=0.3, epsilon=0.01)",
        tuning: Tuning::without_rounds(&["c=log(0.01,100)", TRANSFORM_SPACE]),
        ..LearnerDef::of::<Self>()
    };

    fn prepare(&self) -> Result<Box<dyn Trainer>, SpecError> {
        let SvmMapParams { c, epsilon, rounds, rel } = self.svm;
        let transform = self.features.clone();
        Ok(Box::new(SvmMapTrainer { c, epsilon, rounds, rel, transform }))
    }
}

/// Trains SVM-map.
#[derive(Debug)]
struct SvmMapTrainer {
    c: f64,
    epsilon: f64,
    rounds: usize,
    rel: f64,
    transform: TransformParams,
}

/// A cutting plane: a constraint on all queries together.
#[derive(Debug, Clone, PartialEq)]
struct Plane {
    /// The right side without xi: the mean of 1 - AP.
    loss: f64,
    /// The factor of w: the mean of Psi(correct) - Psi(y_q).
    gradient: Vec<f64>,
}

/// The training data of the cutting-plane method.
struct SvmMapData<'a> {
    data: &'a Dataset,
    inputs: &'a TransformedData,
    /// For each row, whether it is relevant.
    relevant: Vec<bool>,
    /// Weight of each query; the weights sum to 1 and are 0 for ignored queries.
    normalised_weights: Vec<f64>,
}

/// The planes so far and the linear model fitted to them.
struct PlaneFit {
    planes: Vec<Plane>,
    /// The quadratic programme of the planes, with the weights of the planes.
    program: QuadraticProgram,
    /// The weights of the features: w.
    weights: Vec<f64>,
}

impl Trainer for SvmMapTrainer {
    fn train(&mut self, request: &TrainRequest<'_>) -> Result<TrainResult, LearnError> {
        let inputs = TransformedData::new(&self.transform, request.train)?;
        let data = SvmMapData::new(request.train, &inputs, self.rel)?;
        let columns = request.train.columns();
        let (session, saved) =
            Session::begin(request, RoundPlan::new("round", self.rounds, request))?;
        // Only the weights of the last round satisfy all constraints that were found.
        let mut session = session.keeping_last();
        let mut fit = match saved.and_then(|saved| saved.learner_state) {
            Some(saved) => PlaneFit::read(&float_state::read(&saved)?, self.c, columns)?,
            None => PlaneFit::new(self.c, columns),
        };
        let mut finished = true;
        while !session.is_over() {
            let plane = data.plane(&fit.weights)?;
            let violation = plane.loss - dot(&fit.weights, &plane.gradient);
            if session.done() > 0 && violation <= fit.slack() + self.epsilon {
                break;
            }
            fit.add(plane, self.epsilon);
            let loss = Some(0.5 * dot(&fit.weights, &fit.weights) + self.c * fit.slack());
            let model = || inputs.model(&fit.weights);
            match session
                .end_round_with_model(loss, model, &|| float_state::write(&fit.to_numbers()))?
            {
                RoundStatus::Continue => {}
                RoundStatus::Over => break,
                RoundStatus::Cancelled => {
                    finished = false;
                    break;
                }
            }
        }
        Ok(inputs.with_weights(session.finish(finished)?))
    }

    fn objective(&self) -> String {
        format!("svm-map(c={}, rel={})", self.c, self.rel)
    }

    fn rounds(&self) -> Option<(usize, &'static str)> {
        Some((self.rounds, "round"))
    }
}

impl<'a> SvmMapData<'a> {
    /// Labels and query weights; fails if no query has both relevant and other documents.
    fn new(data: &'a Dataset, inputs: &'a TransformedData, rel: f64) -> Result<Self, LearnError> {
        let relevant: Vec<bool> = data.labels().iter().map(|label| *label >= rel).collect();
        let weight = |query: usize| {
            let query_relevant = &relevant[data.query_rows(query)];
            match query_relevant.contains(&true) && query_relevant.contains(&false) {
                true => data.query_weights().map_or(1.0, |weights| f64::from(weights[query])),
                false => 0.0,
            }
        };
        let mut normalised_weights: Vec<f64> = (0..data.queries()).map(weight).collect();
        let sum: f64 = normalised_weights.iter().sum();
        if sum <= 0.0 {
            return Err(LearnError::NothingRelevant { rel });
        }
        normalised_weights.iter_mut().for_each(|weight| *weight /= sum);
        Ok(Self { data, inputs, relevant, normalised_weights })
    }

    /// The constraint that the weights violate most.
    fn plane(&self, weights: &[f64]) -> Result<Plane, LearnError> {
        let scores = self.inputs.scores(weights);
        let most_violated_ranking = |query: usize| {
            let rows = self.data.query_rows(query);
            let found = match self.normalised_weights[query] > 0.0 {
                true => most_violated(&scores[rows.clone()], &self.relevant[rows.clone()])?,
                false => None,
            };
            let coefficients = vec![0.0; rows.len()];
            Ok(found.unwrap_or(ViolatedRanking { loss: 0.0, coefficients }))
        };
        let queries = (0..self.normalised_weights.len()).into_par_iter();
        let rankings: Vec<ViolatedRanking> =
            queries.map(most_violated_ranking).collect::<Result<_, EvalError>>()?;
        let weighted = rankings.iter().zip(&self.normalised_weights);
        let loss = weighted.clone().map(|(ranking, weight)| ranking.loss * weight).sum();
        let row_coefficients = |(ranking, weight): (&ViolatedRanking, &f64)| -> Vec<f64> {
            ranking.coefficients.iter().map(|c| c * weight).collect()
        };
        let coefficients: Vec<f64> = weighted.flat_map(row_coefficients).collect();
        Ok(Plane { loss, gradient: self.weighted_sum(&coefficients) })
    }

    /// The sum of the rows times their coefficients, added in the order of fixed blocks.
    fn weighted_sum(&self, coefficients: &[f64]) -> Vec<f64> {
        // Rows that one task adds up; a constant, so that the order of additions is always the
        // same.
        const BLOCK_ROWS: usize = 1024;
        let columns = self.inputs.columns;
        let block_sum = |(rows, coefficients): (&[f32], &[f64])| {
            let mut sum = vec![0.0; columns];
            for (row, c) in rows.chunks(columns.max(1)).zip(coefficients) {
                if *c != 0.0 {
                    sum.iter_mut().zip(row).for_each(|(sum, x)| *sum += c * f64::from(*x));
                }
            }
            sum
        };
        let blocks = self.inputs.values.par_chunks((columns * BLOCK_ROWS).max(1));
        let sums: Vec<Vec<f64>> =
            blocks.zip(coefficients.par_chunks(BLOCK_ROWS)).map(block_sum).collect();
        let mut total = vec![0.0; columns];
        for sum in sums {
            total.iter_mut().zip(sum).for_each(|(total, sum)| *total += sum);
        }
        total
    }
}

impl PlaneFit {
    /// Weights of 0, without planes.
    fn new(c: f64, columns: usize) -> Self {
        Self { planes: Vec::new(), program: QuadraticProgram::new(c), weights: vec![0.0; columns] }
    }

    /// Adds a plane and fits the weights to all planes; `epsilon` is the tolerance of the training.
    fn add(&mut self, plane: Plane, epsilon: f64) {
        self.push(plane);
        // A tenth of the tolerance that ends training, so that an inexact solution does not end it.
        self.program.solve(0.1 * epsilon);
        self.set_weights();
    }

    /// Adds a plane, with weight 0.
    fn push(&mut self, plane: Plane) {
        self.planes.push(plane);
        let last = self.planes.last().map_or(&[][..], |plane| &plane.gradient);
        let products = self.planes.iter().map(|other| dot(&other.gradient, last)).collect();
        let loss = self.planes.last().map_or(0.0, |plane| plane.loss);
        self.program.add(loss, products);
    }

    /// Sets the weights to the weighted sum of the planes' gradients.
    fn set_weights(&mut self) {
        self.weights.fill(0.0);
        for (plane, a) in self.planes.iter().zip(self.program.weights()) {
            if *a != 0.0 {
                self.weights.iter_mut().zip(&plane.gradient).for_each(|(w, g)| *w += a * g);
            }
        }
    }

    /// The smallest slack xi that the planes so far allow.
    fn slack(&self) -> f64 {
        let violation = |plane: &Plane| plane.loss - dot(&self.weights, &plane.gradient);
        self.planes.iter().map(violation).fold(0.0, f64::max)
    }

    /// The state as numbers, for a checkpoint: each plane's weight, loss and gradient.
    fn to_numbers(&self) -> Vec<f64> {
        let plane_numbers = |(plane, a): (&Plane, &f64)| {
            let mut all = vec![*a, plane.loss];
            all.extend(&plane.gradient);
            all
        };
        self.planes.iter().zip(self.program.weights()).flat_map(plane_numbers).collect()
    }

    /// The fit of numbers that [`to_numbers`](Self::to_numbers) gave.
    fn read(saved: &[f64], c: f64, columns: usize) -> Result<Self, LearnError> {
        let planes = saved.chunks_exact(columns + 2);
        if !planes.remainder().is_empty() {
            return Err(float_state::unreadable());
        }
        let mut fit = Self::new(c, columns);
        let mut weights = Vec::new();
        for plane in planes {
            let [a, loss, gradient @ ..] = plane else { return Err(float_state::unreadable()) };
            weights.push(*a);
            fit.push(Plane { loss: *loss, gradient: gradient.to_vec() });
        }
        fit.program.set_weights(&weights);
        fit.set_weights();
        Ok(fit)
    }
}

/// The dot product.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ensemble::test_support::{rows, trains_reproducibly};
    use crate::learner::LearnerSpec;
    use rankwright_data::generate::LetorOptions;

    #[test]
    fn the_model_minimises_the_objective() {
        let data = LetorOptions { queries: 12, documents: 10, seed: 6 }.generate().unwrap();
        let inputs = TransformedData::new(&TransformParams::default(), &data).unwrap();
        let svm_data = SvmMapData::new(&data, &inputs, 1.0).unwrap();
        let objective = |weights: &[f64], c: f64| {
            let plane = svm_data.plane(weights).unwrap();
            let slack = (plane.loss - dot(weights, &plane.gradient)).max(0.0);
            0.5 * dot(weights, weights) + c * slack
        };
        let mut fit = PlaneFit::new(2.0, data.columns());
        loop {
            let plane = svm_data.plane(&fit.weights).unwrap();
            let violation = plane.loss - dot(&fit.weights, &plane.gradient);
            if !fit.planes.is_empty() && violation <= fit.slack() + 1e-4 {
                break;
            }
            fit.add(plane, 1e-4);
        }
        // The value of the programme of the planes is a lower bound of the objective of every
        // linear model; both are computed with tolerances of about 1e-4, times c = 2.
        let found = objective(&fit.weights, 2.0);
        assert!(found - fit.program.value() < 2.0 * 3e-4, "{found} {}", fit.program.value());
        for k in 0..20 {
            let mut other = fit.weights.clone();
            other[(7 * k) % data.columns()] += if k % 2 == 0 { 0.05 } else { -0.05 };
            assert!(objective(&other, 2.0) > found - 6e-4);
        }
    }

    #[test]
    fn relevant_documents_come_first_if_a_linear_model_can_rank_them_so() {
        let data = rows(&[
            ("a", 1.0, &[2.0, 5.0]),
            ("a", 0.0, &[1.0, 9.0]),
            ("a", 0.0, &[0.0, 2.0]),
            ("b", 0.0, &[3.0, 1.0]),
            ("b", 2.0, &[4.0, 1.0]),
            ("c", 0.0, &[9.0, 1.0]),
        ]);
        let learner = LearnerSpec::parse("svmmap(c=100)").unwrap();
        let model = learner.train(TrainRequest::new(&data)).unwrap().model;
        let score = |row: usize| model.score_row(data.matrix().row(row));
        assert!(score(0) > score(1) && score(0) > score(2) && score(4) > score(3));
    }

    #[test]
    fn bad_parameters_and_data_whose_queries_have_one_class_are_refused() {
        let parse = |text: &str| LearnerSpec::parse(text).unwrap_err().to_string();
        assert!(parse("svmmap(c=0)").contains("c=0"));
        assert!(parse("svmmap(epsilon=0)").contains("epsilon=0"));
        let one_class = rows(&[("a", 1.0, &[0.0]), ("a", 2.0, &[1.0]), ("b", 0.0, &[1.0])]);
        let learner = LearnerSpec::parse("svmmap").unwrap();
        let error = learner.train(TrainRequest::new(&one_class)).unwrap_err().to_string();
        assert!(
            error.contains("no query has both") && error.contains("a label of at least 1"),
            "{error}"
        );
        let learner = LearnerSpec::parse("svmmap(rel=2)").unwrap();
        assert!(learner.train(TrainRequest::new(&one_class)).is_ok());
    }

    #[test]
    fn threads_and_an_interruption_change_nothing() {
        trains_reproducibly("svmmap(rounds=12)");
    }
}
