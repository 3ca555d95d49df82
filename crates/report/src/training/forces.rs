//! Forces: one query's ranked list with an arrow at each document, for RankNet and for LambdaRank
//! side by side (Burges, MSR-TR-2010-82, figure 1: the black arrows and the red ones).
//!
//! With both, the force on a document is minus its lambda: the sum over its pairs of `sigma *
//! weight * rho`, upwards for the document with the higher label of the pair and downwards for the
//! other; `rho = 1 / (1 + exp(sigma * (score of the better - score of the worse)))`. RankNet's
//! weight is 1, so that the document with the most wrong pairs has the largest force, whatever its
//! rank. LambdaRank's weight is the change of the metric if the two documents swapped ranks, so
//! that forces concentrate at the top. Pairs are neither truncated nor normalised here, and the
//! metric keeps its cut-off: the plot shows the principle, not one learner's settings. The forces
//! of a list sum to 0.
//!
//! Cost: O(pairs of the query) per stage. In a query of equal labels all forces are 0.

use rankwright_data::Dataset;
use rankwright_eval::{Evaluation, Measure, MetricSpec, SourceKind};
use rankwright_learn::LearnError;
use rankwright_learn::objective::{
    CutoffMode, Lambda, LambdaConfig, Objective, ObjectiveBuffers, QueryView, WeightSource,
};
use rankwright_spec::{Spec, SpecError};
use serde::Serialize;

use super::stages::{STAGES, Stages};
use super::{OmissionReason, ReportPart};
use crate::chart::{Axis, Body, Chart, ForceArrow, Forces};
use crate::error::ReportError;
use crate::known::KnownNames;
use crate::page::{ChoiceControl, PageBlock, Section};

/// Maximum number of documents of a list that are shown.
const SHOWN: usize = 20;

/// A query's list with its forces at a few stages.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct QueryForces {
    /// The query's id.
    pub query: String,
    /// Number of the query's documents.
    pub documents: usize,
    /// The metric of LambdaRank's weights.
    pub metric: String,
    /// Steepness of the logistic function in the pairwise loss.
    pub sigma: f64,
    /// The stages, in order.
    pub stages: Vec<StageForces>,
}

/// A query's list with its forces at one stage.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StageForces {
    /// Number of rounds.
    pub stage: usize,
    /// The metric of this list; none if it is undefined.
    pub value: Option<f64>,
    /// The first documents of the list, by rank.
    pub documents: Vec<DocumentForces>,
}

/// A document of a list with its forces.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DocumentForces {
    /// The document's id, or its number within the query.
    pub name: String,
    /// The document's label.
    pub label: f64,
    /// The document's score at this stage.
    pub score: f64,
    /// RankNet's force; above 0 is upwards.
    pub ranknet: f64,
    /// LambdaRank's force; above 0 is upwards.
    pub lambdarank: f64,
}

/// Records the forces on one query's documents at each stage.
#[derive(Debug)]
pub struct ForceRecorder<'a> {
    data: &'a Dataset,
    /// Index of the query.
    query: usize,
    /// The metric of LambdaRank's weights.
    measure: Measure,
    sigma: f64,
    /// Seed of the order of documents with equal scores.
    seed: u64,
    ranknet: Lambda,
    lambdarank: Lambda,
    stages: Vec<StageForces>,
}

impl<'a> ForceRecorder<'a> {
    /// Starts with the query of this id. Without an id an informative query is chosen by
    /// `evaluation`, the evaluation of the whole model, whose first measure is `measure`.
    /// `objective` and `seed` are those of the model's training.
    pub fn new(
        data: &'a Dataset,
        (objective, seed): (&str, u64),
        measure: &Measure,
        id: Option<&str>,
        evaluation: &Evaluation,
    ) -> Result<ReportPart<ForceRecorder<'a>>, ReportError> {
        let query = match id {
            Some(id) => Some(find(data, id)?),
            None => choose(data, evaluation),
        };
        let Some(query) = query else {
            return Ok(Err(OmissionReason::EqualLabels));
        };
        let spec = Spec::parse(objective).ok();
        let sigma = spec.and_then(|spec| spec.get("sigma")?.parse::<f64>().ok());
        let sigma = sigma.filter(|sigma| sigma.is_finite() && *sigma > 0.0).unwrap_or(1.0);
        let default_measure = MetricSpec::parse("ndcg@10")?.resolve(SourceKind::Features)?;
        let weighted =
            |measure: &Measure| unnormalised_lambda(sigma, WeightSource::Custom(measure.clone()));
        let (measure, lambdarank) = match weighted(measure) {
            Ok(lambdarank) => (measure.clone(), lambdarank),
            // Metrics such as Kendall's tau define no change under swaps.
            Err(_) => (default_measure.clone(), weighted(&default_measure)?),
        };
        let ranknet = unnormalised_lambda(sigma, WeightSource::One)?;
        let stages = Vec::new();
        Ok(Ok(ForceRecorder { data, query, measure, sigma, seed, ranknet, lambdarank, stages }))
    }

    /// The stages to show: the start, the end, and some between them, closer together at the start,
    /// where the order changes most.
    pub fn selected_stages(stages: &Stages) -> Vec<usize> {
        stages.spread(STAGES)
    }

    /// Records a stage; `scores` are those of the whole data.
    pub fn add(&mut self, stage: usize, scores: &[f64]) -> Result<(), ReportError> {
        let (query, rows) = (self.query, self.data.query_rows(self.query));
        let labels = self.data.query(query).labels;
        let scores = &scores[rows.clone()];
        let view = QueryView { query, seed: self.seed, ..QueryView::new(labels, scores) };
        let ranknet = forces(&self.ranknet, &view)?;
        let lambdarank = forces(&self.lambdarank, &view)?;
        let doc_ids = self.data.doc_ids();
        let document = |index: u32| {
            let index = index as usize;
            DocumentForces {
                name: match doc_ids {
                    Some(ids) => ids.get(rows.start + index).to_owned(),
                    None => format!("document {}", index + 1),
                },
                label: labels[index],
                score: scores[index],
                ranknet: ranknet[index],
                lambdarank: lambdarank[index],
            }
        };
        let order = view.order()?;
        let documents = order.into_iter().take(SHOWN).map(document).collect();
        let value = self.measure.of(scores, labels)?;
        self.stages.push(StageForces { stage, value, documents });
        Ok(())
    }

    /// The recorded stages.
    pub fn finish(self) -> QueryForces {
        QueryForces {
            query: self.data.query_ids().get(self.query).to_owned(),
            documents: self.data.query_rows(self.query).len(),
            metric: self.measure.to_string(),
            sigma: self.sigma,
            stages: self.stages,
        }
    }
}

/// The pairwise logistic loss with this weight, without normalisation and truncation.
fn unnormalised_lambda(sigma: f64, weight: WeightSource) -> Result<Lambda, SpecError> {
    let config = LambdaConfig::new().sigma(sigma).pair_weight(weight);
    config.truncation(usize::MAX).cut(CutoffMode::Hard).check()
}

/// The force on each document: minus its lambda.
pub(super) fn forces(objective: &Lambda, query: &QueryView<'_>) -> Result<Vec<f64>, LearnError> {
    let mut forces = vec![0.0; query.scores.len()];
    objective.pair_lambdas(query, &mut ObjectiveBuffers::default(), &mut |pair| {
        forces[pair.pushed_up.document] += pair.size;
        forces[pair.pushed_down.document] -= pair.size;
    })?;
    Ok(forces)
}

/// The index of a query by its id.
fn find(data: &Dataset, id: &str) -> Result<usize, ReportError> {
    data.query_ids().iter().position(|known| known == id).ok_or_else(|| {
        let known = KnownNames::similar_to(id, data.query_ids().iter());
        ReportError::UnknownQuery { data: "training data", query: id.to_owned(), known }
    })
}

/// An informative query: preferably of 10 to 20 documents, else of more, else of fewer; among these
/// one with as many different labels as possible; among these the one whose metric is nearest to
/// the median of all queries. None if all queries have equal labels.
fn choose(data: &Dataset, evaluation: &Evaluation) -> Option<usize> {
    let values = evaluation.results.first().map_or(&[][..], |result| &result.values);
    let mut sorted: Vec<f64> = values.iter().flatten().copied().collect();
    sorted.sort_by(f64::total_cmp);
    let median = sorted.get(sorted.len() / 2).copied().unwrap_or(0.0);
    // The query with the lowest key is chosen.
    let key = |query: usize| {
        let mut labels = data.query(query).labels.to_vec();
        let size_class = match labels.len() {
            10..=20 => 0,
            21.. => 1,
            _ => 2,
        };
        labels.sort_by(f64::total_cmp);
        labels.dedup();
        let value = values.get(query).copied().flatten();
        let distance = value.map_or(f64::INFINITY, |value| (value - median).abs());
        (labels.len() > 1).then_some((size_class, std::cmp::Reverse(labels.len()), distance))
    };
    let all = (0..data.queries()).filter_map(|query| Some((key(query)?, query)));
    let lowest =
        all.min_by(|((a, b, c), _), ((x, y, z), _)| a.cmp(x).then(b.cmp(y)).then(c.total_cmp(z)));
    lowest.map(|(_, query)| query)
}

impl QueryForces {
    /// The section: a chart for each stage, chosen with a slider.
    pub(super) fn section(&self, stages: &Stages) -> Section {
        let text = format!(
            "The arrows show in which direction and how strongly training moves each document of \
             query {}. In each pair of documents with different labels, the better one is moved up \
             and the other one down, the more strongly the more their scores contradict the labels; \
             the force on a document is the sum over its pairs. RankNet weights all wrong pairs equally, so the documents with the most \
             wrong pairs have the longest arrows, even far down the list. LambdaRank multiplies \
             each pair by the change of {} if its two documents were swapped, so the arrows are \
             longest at the ranks that the metric weights most.",
            self.query, self.metric
        );
        let groups = self.stages.iter().map(|at_stage| {
            let name = stages.name(at_stage.stage);
            let chart = PageBlock::Chart(self.chart(at_stage, &name));
            (name, vec![chart])
        });
        let mut groups: Vec<(String, Vec<PageBlock>)> = groups.collect();
        let mut blocks = vec![PageBlock::Text(text)];
        match groups.len() {
            1 => blocks.extend(groups.remove(0).1),
            _ => {
                let (id, label) = ("forces-stage".to_owned(), "Stage".to_owned());
                blocks.push(PageBlock::Choice {
                    id,
                    label,
                    groups,
                    control: ChoiceControl::Slider,
                });
            }
        }
        Section { id: "forces".into(), title: "Forces on a ranked list".into(), blocks }
    }

    /// Both lists of arrows at one stage, which has this name.
    fn chart(&self, at_stage: &StageForces, name: &str) -> Chart {
        let list = |force: fn(&DocumentForces) -> f64| -> Vec<ForceArrow> {
            let arrow = |document: &DocumentForces| ForceArrow {
                name: document.name.clone(),
                label: document.label,
                force: force(document),
            };
            at_stage.documents.iter().map(arrow).collect()
        };
        let value = at_stage.value.map(|value| format!(" ({} {value:.4})", self.metric));
        let shown_note = match self.documents > at_stage.documents.len() {
            true => {
                format!(
                    " The first {} of {} documents are shown.",
                    at_stage.documents.len(),
                    self.documents
                )
            }
            false => String::new(),
        };
        Chart {
            id: format!("forces-at-{}", at_stage.stage),
            title: format!("Query {}, {name}{}", self.query, value.unwrap_or_default()),
            caption: format!(
                "The documents are sorted by score, the best first; an arrow up moves a document \
                 towards the top. Both use the pairwise logistic loss with sigma {}; LambdaRank \
                 multiplies each pair by |change of {}|. Each list has its own scale.{shown_note}",
                self.sigma, self.metric
            ),
            x: Axis { label: "force".into(), ..Axis::default() },
            y: Axis { label: "rank".into(), ..Axis::default() },
            body: Body::Forces(Forces {
                lists: vec![
                    ("RankNet".to_owned(), list(|document| document.ranknet)),
                    ("LambdaRank".to_owned(), list(|document| document.lambdarank)),
                ],
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::training::tests::lists;
    use rankwright_eval::ScoredDataset;

    fn ndcg() -> Measure {
        MetricSpec::parse("ndcg@10").unwrap().resolve(SourceKind::Features).unwrap()
    }

    fn recorder<'a>(data: &'a Dataset, scores: &[f64], id: Option<&str>) -> ForceRecorder<'a> {
        let found = ScoredDataset::new(data, scores).unwrap().evaluate(&[ndcg()]).unwrap();
        ForceRecorder::new(data, ("lambda(sigma=1)", 1), &ndcg(), id, &found).unwrap().unwrap()
    }

    /// Labels 2, 1, 0 with scores 0, ln 2, ln 4: the worst order. rho is 1 / (1 + 1/2) = 2/3 for
    /// pairs whose scores differ by ln 2, and 1 / (1 + 1/4) = 4/5 for ln 4. The gains of the labels
    /// are 3, 1, 0, the discounts of the ranks 1, 1/log2(3), 1/2.
    #[test]
    fn forces_of_three_documents_equal_those_computed_by_hand() {
        let data = lists(&[&[2.0, 1.0, 0.0]]);
        let scores = [0.0, 2.0_f64.ln(), 4.0_f64.ln()];
        let mut recorder = recorder(&data, &scores, None);
        recorder.add(7, &scores).unwrap();
        let found = recorder.finish();
        let documents = &found.stages[0].documents;
        let near = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-12, "{found}");
        // The documents by rank.
        assert_eq!(documents.iter().map(|d| d.label).collect::<Vec<_>>(), [0.0, 1.0, 2.0]);
        let two_thirds = 2.0 / 3.0;
        let expected = [-two_thirds - 0.8, two_thirds - two_thirds, two_thirds + 0.8];
        documents.iter().zip(expected).for_each(|(d, force)| near(d.ranknet, force));
        // Difference of gains times difference of discounts, by the ideal DCG, times rho, for the
        // pairs of labels 1 and 0, 2 and 0, 2 and 1.
        let second = 1.0 / 3.0_f64.log2();
        let ideal = 3.0 + second;
        let one_zero = (1.0 - second) / ideal * two_thirds;
        let two_zero = 1.5 / ideal * 0.8;
        let two_one = 2.0 * (second - 0.5) / ideal * two_thirds;
        let expected = [-one_zero - two_zero, one_zero - two_one, two_zero + two_one];
        documents.iter().zip(expected).for_each(|(d, force)| near(d.lambdarank, force));
        near(found.stages[0].value.unwrap(), (second + 1.5) / ideal);
    }

    #[test]
    fn a_query_of_suitable_length_with_different_labels_is_chosen() {
        let eleven = [2.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0];
        let data = lists(&[&[1.0, 0.0], &[0.0; 12], &eleven]);
        let found = recorder(&data, &vec![0.0; data.rows()], None).finish();
        assert_eq!((found.query.as_str(), found.documents), ("q3", 11));
        let requested = recorder(&data, &vec![0.0; data.rows()], Some("q1")).finish();
        assert_eq!(requested.query, "q1");
    }

    #[test]
    fn unknown_queries_and_data_without_pairs_are_reported() {
        let data = lists(&[&[1.0, 1.0]]);
        let found = ScoredDataset::new(&data, &[0.0; 2]).unwrap().evaluate(&[ndcg()]).unwrap();
        let none = ForceRecorder::new(&data, ("", 1), &ndcg(), None, &found).unwrap();
        assert_eq!(none.unwrap_err(), OmissionReason::EqualLabels);
        let error = ForceRecorder::new(&data, ("", 1), &ndcg(), Some("x"), &found).unwrap_err();
        assert!(error.to_string().contains("no query 'x'"), "{error}");
        assert!(error.help().unwrap().contains("q1"));
    }
}
