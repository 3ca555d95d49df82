//! Which loss each net learner has: an objective of the one table, and how queries are shown to it.
//!
//! | learner | objective |
//! |---|---|
//! | `ranknet` | `pair-logistic`, on whole queries or pair by pair |
//! | `lambdarank` | `lambda` for any metric with a swap |
//! | `listnet` | `softmax(target=softmax)` |
//! | `softmax` | `softmax(target=gain)` or `target=label`; `target=noisy-gain` is `xendcg(terms=1)` |
//! | `listmle`, `approxndcg` | the objectives of these names |
//!
//! RankNet's gradient by the net's numbers is a sum over pairs of lambda_ij (ds_i/dw - ds_j/dw).
//! Factored (Burges, MSR-TR-2010-82, section 2.1), the lambdas of a document are added up first, and
//! the net is gone through once a document instead of twice a pair. `factored=false` goes the long
//! way: same gradient, cost by pairs instead of documents.
//!
//! A preference of weight p and its opposite of weight 1 - p make a soft label: the cross entropy
//! with P = p. Equal pairs are P = 1/2.

use rankwright_data::Dataset;
use rankwright_eval::{MetricSpec, ParamInfo, Params};
use rankwright_spec::{Spec, SpecError};

use super::params::check_use;
use super::passes::{Derive, List, Lists};
use crate::boost::queries::Source;
use crate::error::LearnError;
use crate::objective::{Derivatives, Objective, Preference, QueryView, Workspace, find_objective};
use crate::preferences::Preferences;

/// What `ranknet` has besides the parameters of its objective.
pub(crate) const FACTORED: &[ParamInfo] = &[ParamInfo {
    name: "factored",
    doc: "add up lambdas by document first (Burges 2010); false: the net is run for each pair",
    default: "true",
}];

/// The target of `softmax`.
pub(crate) const SOFTMAX_TARGET: &[ParamInfo] = &[ParamInfo {
    name: "target",
    doc: "distribution that scores should have: gain (2^label - 1) | label | noisy-gain (2^label \
          less a random number below 1, drawn anew each time; Bruch 2021)",
    default: "gain",
}];

/// A learner of this folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Learner {
    RankNet,
    LambdaRank,
    ListNet,
    ListMle,
    Softmax,
    ApproxNdcg,
}

/// A loss, as a learner's spec asks for it.
#[derive(Debug, Clone)]
pub(super) struct Loss {
    learner: Learner,
    pub(super) objective: Spec,
    factored: bool,
    ties: bool,
}

impl Loss {
    /// Reads and checks the parameters of the loss.
    pub(super) fn read(
        learner: Learner,
        params: &Params<'_>,
        target: &MetricSpec,
    ) -> Result<Self, SpecError> {
        let plain = Spec::new;
        let mut factored = true;
        let objective = match learner {
            Learner::RankNet => {
                factored = params.bool("factored", true)?;
                let whole = ["truncation", "norm_gap", "norm_query"];
                check_use(params, &whole, factored, "whole queries (factored=true)")?;
                if !factored && params.text("norm") == Some("batch") {
                    return Err(params.conflict(
                        "norm=batch looks at whole mini-batches, which factored=true has; use \
                         norm=layer, or leave factored=false out",
                    ));
                }
                handed_on("pair-logistic", params, target)?
            }
            Learner::LambdaRank => handed_on("lambda", params, target)?,
            Learner::ListNet => plain("softmax").with("target", "softmax"),
            Learner::ListMle => handed_on("listmle", params, target)?,
            Learner::ApproxNdcg => handed_on("approxndcg", params, target)?,
            Learner::Softmax => {
                let targets = [("gain", "gain"), ("label", "label"), ("noisy-gain", "noisy-gain")];
                match params.choice("target", &targets, "gain")? {
                    "noisy-gain" => plain("xendcg").with("terms", "1"),
                    target => plain("softmax").with("target", target),
                }
            }
        };
        let ties = params.text("ties") == Some("half");
        Ok(Self { learner, objective, factored, ties })
    }

    /// Whether pairs of a query of so many documents are sampled.
    pub(super) fn samples_pairs(&self, objective: &dyn Objective, documents: usize) -> bool {
        self.factored && objective.samples_pairs(documents)
    }

    /// Whether it learns from preference pairs.
    pub(super) fn takes_pairs(&self) -> bool {
        matches!(self.learner, Learner::RankNet | Learner::LambdaRank)
    }

    /// Queries that can change anything, in their order; an error where there is nothing to learn
    /// from. Pairwise losses see nothing in queries of equal labels, listwise ones pull their scores
    /// together.
    pub(super) fn queries(
        &self,
        preferences: &Preferences<'_>,
        data: &Dataset,
    ) -> Result<Vec<usize>, LearnError> {
        preferences.check().map_err(|error| match self.takes_pairs() {
            true => error,
            false => LearnError::NothingToRank,
        })?;
        let pairwise = self.takes_pairs() && !self.ties;
        let matters = |query: &usize| {
            let weight = data.query_weights().map_or(1.0, |weights| weights[*query]);
            let differ = match preferences.own(*query) {
                Some(own) => !own.is_empty(),
                None => !pairwise || preferences.count(*query) > 0,
            };
            weight > 0.0 && data.query_rows(*query).len() > 1 && differ
        };
        let queries: Vec<usize> = (0..data.queries()).filter(matters).collect();
        if queries.is_empty() {
            return Err(LearnError::ZeroWeights);
        }
        Ok(queries)
    }

    /// Shows the net these queries, as lists, in one go or (pair by pair) in several.
    pub(super) fn show(
        &self,
        queries: &[usize],
        data: &Dataset,
        preferences: &Preferences<'_>,
        lists: &mut Lists,
        mut pass: impl FnMut(&Lists) -> Result<(), LearnError>,
    ) -> Result<(), LearnError> {
        lists.clear();
        for &query in queries {
            let rows = data.query_rows(query);
            if self.factored {
                lists.push(query, rows.map(|row| row as u32), None);
                continue;
            }
            let first = rows.start as u32;
            self.each_pair(query, data, preferences, &mut |pair| {
                let rows = [first + pair.better, first + pair.worse];
                lists.push(query, rows.into_iter(), Some(pair));
                if lists.rows.len() < MOST_ROWS {
                    return Ok(());
                }
                pass(lists)?;
                lists.clear();
                Ok(())
            })?;
        }
        pass(lists)
    }

    /// Every pair of a query, from its preferences or from the labels.
    fn each_pair(
        &self,
        query: usize,
        data: &Dataset,
        preferences: &Preferences<'_>,
        visit: &mut dyn FnMut(Preference) -> Result<(), LearnError>,
    ) -> Result<(), LearnError> {
        if let Some(own) = preferences.own(query) {
            return own.iter().try_for_each(|pair| visit(*pair));
        }
        let labels = data.query(query).labels;
        for (i, first) in labels.iter().enumerate() {
            for (j, second) in labels.iter().enumerate().skip(i + 1) {
                let equal = first == second;
                if equal && !self.ties {
                    continue;
                }
                let (better, worse) = if first < second { (j, i) } else { (i, j) };
                let (better, worse) = (better as u32, worse as u32);
                visit(Preference { better, worse, weight: 1.0, equal })?;
            }
        }
        Ok(())
    }
}

/// Rows that are shown at once, pair by pair.
const MOST_ROWS: usize = 1 << 16;

/// The objective of a name, with the parameters that the learner's spec has for it. Built once, so
/// that what is wrong is told of the learner as it was written.
fn handed_on(name: &str, params: &Params<'_>, target: &MetricSpec) -> Result<Spec, SpecError> {
    let info = find_objective(name)?;
    info.build(params)?;
    let mut spec = Spec::new(name);
    for info in info.params {
        match (info.name, params.text(info.name)) {
            ("metric", _) => spec = spec.with("metric", target.to_string()),
            (key, Some(value)) => spec = spec.with(key, value),
            _ => {}
        }
    }
    Ok(spec)
}

/// The loss on training data, ready for passes.
pub(super) struct Ready<'a> {
    pub(super) source: Source<'a>,
    pub(super) objective: &'a dyn Objective,
    pub(super) data: &'a Dataset,
    /// Of this epoch.
    pub(super) seed: u64,
}

impl Derive for Ready<'_> {
    fn derive(
        &self,
        list: &List,
        scores: &[f64],
        work: &mut Workspace,
        out: &mut Derivatives<'_>,
    ) -> Result<(), LearnError> {
        let Some(pair) = list.pair else {
            let view = self.source.view_of(list.query, scores, self.seed);
            return self.source.one(&view, self.objective, work, out);
        };
        let first = self.data.query_rows(list.query).start;
        let weight = |document: u32| {
            self.data.row_weights().map_or(1.0, |weights| weights[first + document as usize])
        };
        let weights = [weight(pair.better), weight(pair.worse)];
        let pairs = [Preference { better: 0, worse: 1, ..pair }];
        let view = QueryView {
            query: list.query,
            labels: &[],
            scores,
            weights: &weights,
            pairs: Some(&pairs),
            seed: self.seed,
        };
        self.source.one(&view, self.objective, work, out)
    }
}
