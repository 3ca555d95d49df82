//! Tests of whole nets: gradients by finite differences, both forms of RankNet (factored by
//! document, and pair by pair), threads, interruptions, and rejected input.

mod gradients;
mod refused;
mod trained;

use rankwright_data::bytes::Input;
use rankwright_data::{Dataset, PairColumn, Random};
use rankwright_spec::{Spec, read_spec};

use super::learners::{ApproxNdcgNet, LambdaRank, ListMleNet, ListNet, RankNet, SoftmaxNet};
use super::loss::{NetLoss, PreparedLoss};
use super::matrix::NetMatrix;
use super::passes::{PassBuffers, PassInput, RowLists};
use super::shape::NetShape;
use crate::boost::queries::TrainingQueries;
use crate::preferences::Preferences;

/// The names of the learners of this folder.
fn nets() -> impl Iterator<Item = &'static str> {
    super::learners::LEARNERS.iter().map(|def| def.name)
}

/// Random features and labels 0 to 3, in queries of these sizes.
pub(super) fn data(sizes: &[usize], columns: usize, seed: u64) -> Dataset {
    let mut random = Random::new(seed, 4);
    let rows: usize = sizes.iter().sum();
    let values = (0..rows * columns).map(|_| random.normal() as f32).collect();
    let labels = (0..rows).map(|_| random.below(4) as f64).collect();
    labelled_data(sizes, columns, values, labels)
}

/// These features and labels, in queries of these sizes.
fn labelled_data(sizes: &[usize], columns: usize, values: Vec<f32>, labels: Vec<f64>) -> Dataset {
    let ids = sizes.iter().enumerate().flat_map(|(query, size)| vec![query; *size]);
    Dataset::from_dense(values, columns, labels, ids).unwrap()
}

/// Adds preference pairs to a data set. A line of the text is a query id, two rows and a weight:
/// the better row first, with or without `>` between them, or rows that are equal, with `=`. The
/// weight is 1 if it is not given. Rows count from 0 in the whole data set.
fn with_pairs(data: Dataset, text: &str) -> Dataset {
    let text = format!("qid better worse weight\n{text}");
    let input = Input::from_bytes("pairs", text.into_bytes()).unwrap();
    data.with_pairs(&input).unwrap().0
}

/// Adds soft targets to a data set, given as lines of query, two rows, and the probability that the
/// first is better.
fn with_probabilities(data: Dataset, text: &str) -> Dataset {
    let input = Input::from_bytes("pairs", text.as_bytes().to_vec()).unwrap();
    data.with_pairs_as(&input, Some(PairColumn::Probability)).unwrap().0
}

/// The loss of the learner of a spec.
fn loss(text: &str) -> NetLoss {
    let spec = Spec::parse(text).unwrap();
    let loss = match spec.name.as_str() {
        "ranknet" => read_spec::<RankNet>(&spec).unwrap().loss(),
        "lambdarank" => read_spec::<LambdaRank>(&spec).unwrap().loss(),
        "listnet" => read_spec::<ListNet>(&spec).unwrap().loss(),
        "listmle" => read_spec::<ListMleNet>(&spec).unwrap().loss(),
        "softmax" => read_spec::<SoftmaxNet>(&spec).unwrap().loss(),
        "approxndcg" => read_spec::<ApproxNdcgNet>(&spec).unwrap().loss(),
        other => panic!("the loss of `{other}` is not listed here"),
    };
    loss.unwrap()
}

/// A net with its data and loss.
struct NetFixture<'a> {
    data: &'a Dataset,
    loss: NetLoss,
    shape: NetShape,
    parameters: Vec<f32>,
}

impl<'a> NetFixture<'a> {
    fn new(text: &str, data: &'a Dataset, shape: NetShape) -> Self {
        let loss = loss(text);
        // Scales other than 1 and shifts other than 0, so that mistakes in their use show.
        let mut parameters = shape.initial_parameters(3);
        let mut random = Random::new(5, 5);
        parameters.iter_mut().for_each(|p| *p += 0.1 * random.normal() as f32);
        Self { data, loss, shape, parameters }
    }

    /// The queries that influence the gradient.
    fn queries(&self) -> Vec<usize> {
        self.loss.queries(&Preferences::new(self.data), self.data, None).unwrap()
    }

    /// The gradient of the sum of the losses of all queries.
    fn gradient(&self) -> Vec<f32> {
        let mut passes = PassBuffers::new(self.shape.clone());
        self.with_input(|input, preferences| {
            let mut lists = RowLists::default();
            let add = |lists: &RowLists| passes.add_gradient(lists, input);
            self.loss.pass_rows(&self.queries(), self.data, preferences, &mut lists, add).unwrap();
        });
        passes.parameter_gradient
    }

    /// Calls `run` with the input of a pass and the preferences of the data.
    fn with_input(&self, run: impl FnOnce(PassInput<'_>, &Preferences<'_>)) {
        let queries = TrainingQueries::new(self.data, self.loss.objective.as_ref());
        let prepared_loss = PreparedLoss {
            shared_queries: queries.shared(),
            objective: self.loss.objective.as_ref(),
            data: self.data,
            terms: None,
            seed: 7,
        };
        let input = PassInput {
            parameters: &self.parameters,
            data: NetMatrix::by_rows(self.data.matrix().values(), self.data.columns()),
            loss: &prepared_loss,
            scale: 1.0,
            noise_levels: Default::default(),
            draw_seed: 1,
            pass_number: 1,
        };
        run(input, &Preferences::new(self.data));
    }

    /// The scores of all rows, all queries in one batch.
    fn scores(&self, parameters: &[f32]) -> Vec<f64> {
        let mut passes = PassBuffers::new(self.shape.clone());
        let mut lists = RowLists::default();
        for query in 0..self.data.queries() {
            lists.push(query, self.data.query_rows(query).map(|row| row as u32), None);
        }
        let mut scores = Vec::new();
        self.with_input(|input, _| {
            scores = passes.score(&lists, PassInput { parameters, ..input });
        });
        scores
    }
}

/// The Euclidean norm.
fn norm(values: &[f64]) -> f64 {
    values.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// The norm of the difference divided by the norm of the expected values.
fn relative_difference(found: &[f32], expected: &[f64]) -> f64 {
    let difference: Vec<f64> = found.iter().zip(expected).map(|(f, e)| f64::from(*f) - e).collect();
    norm(&difference) / norm(expected)
}
