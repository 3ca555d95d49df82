//! Relevance labels from clicks, for training without judgements.
//!
//! ```text
//! coec   clicks / sum over the impressions of the click rate of their rank
//! sdbn   attraction x satisfaction of the simplified DBN: the probability that the document is
//!        clicked and satisfies, once examined
//! ips    sum over the clicks of 1 / examination(rank), divided by the impressions
//! ```
//!
//! COEC (clicks over expected clicks, Zhang and Jones 2007) is 1 for a document that is clicked as
//! often as others at its ranks. `ips` (Joachims, Swaminathan and Schnabel 2017) estimates the
//! probability of a click on the examined document, and needs the examination of each rank from
//! [`position_bias`](crate::bias::position_bias). Its weights 1 / examination are limited by `clip`
//! only if that is given.

use rankwright_spec::choices;
use serde::Serialize;

use crate::model::{ClickModel, NamedParameter};
use crate::pages::Pages;
use rankwright_spec::SpecError;

choices! {
    /// A source of labels.
    pub enum LabelSource {
        /// Clicks over expected clicks.
        Coec = "coec",
        /// The simplified DBN.
        Sdbn = "sdbn",
        /// Inverse propensity scores.
        Ips = "ips",
    }
}

/// The label of a pair of query and document.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ClickLabel {
    /// The query.
    pub query: String,
    /// The document.
    pub document: String,
    /// The label.
    pub value: f64,
    /// Number of impressions of the document for the query.
    pub shown: u64,
    /// Number of impressions in which it was clicked.
    pub clicked: u64,
}

/// The reason why labels cannot be estimated.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LabelError {
    /// Inverse propensity scores need the examination of the ranks.
    #[error(
        "labels by inverse propensity scores need the examination of every rank; rank {rank} has none"
    )]
    NoExamination {
        /// The first rank without an examination, from 1.
        rank: usize,
    },
    /// The click model behind the labels cannot be made.
    #[error(transparent)]
    Spec(#[from] SpecError),
}

/// The labels of all pairs of a log. `examination` is the examination of each rank for
/// [`LabelSource::Ips`], relative to rank 1; `clip` limits its weights.
pub fn click_labels(
    pages: &Pages,
    source: LabelSource,
    examination: &[Option<f64>],
    clip: Option<f64>,
) -> Result<Vec<ClickLabel>, LabelError> {
    let counts = PairCounts::new(pages);
    let values = match source {
        LabelSource::Coec => counts.coec(pages),
        LabelSource::Sdbn => sdbn(pages)?,
        LabelSource::Ips => counts.ips(pages, examination, clip)?,
    };
    let labels = pages.named_pairs().zip(values).zip(&counts.pairs);
    Ok(labels
        .map(|(((query, document), value), (shown, clicked))| ClickLabel {
            query: query.to_owned(),
            document: document.to_owned(),
            value,
            shown: *shown,
            clicked: *clicked,
        })
        .collect())
}

/// Impressions and clicks of each pair.
struct PairCounts {
    pairs: Vec<(u64, u64)>,
}

impl PairCounts {
    fn new(pages: &Pages) -> Self {
        let mut pairs = vec![(0, 0); pages.pairs()];
        for page in pages.iter() {
            for (pair, clicked) in page.pairs.iter().zip(page.clicked) {
                let (shown, clicks) = &mut pairs[*pair as usize];
                *shown += page.count;
                *clicks += if *clicked { page.count } else { 0 };
            }
        }
        Self { pairs }
    }

    fn coec(&self, pages: &Pages) -> Vec<f64> {
        let rates = rank_rates(pages);
        let mut expected = vec![0.0; pages.pairs()];
        for page in pages.iter() {
            for (pair, rate) in page.pairs.iter().zip(&rates) {
                expected[*pair as usize] += page.count as f64 * rate;
            }
        }
        let label = |((_, clicked), expected): (&(u64, u64), f64)| match expected > 0.0 {
            true => *clicked as f64 / expected,
            // No document was ever clicked at these ranks.
            false => 0.0,
        };
        self.pairs.iter().zip(expected).map(label).collect()
    }

    fn ips(
        &self,
        pages: &Pages,
        examination: &[Option<f64>],
        clip: Option<f64>,
    ) -> Result<Vec<f64>, LabelError> {
        let weight = |rank: usize| {
            let known = examination.get(rank).copied().flatten().filter(|value| *value > 0.0);
            let examination = known.ok_or(LabelError::NoExamination { rank: rank + 1 })?;
            Ok((1.0 / examination).min(clip.unwrap_or(f64::INFINITY)))
        };
        let weights: Vec<f64> =
            (0..pages.max_ranks()).map(weight).collect::<Result<_, LabelError>>()?;
        let mut sums = vec![0.0; pages.pairs()];
        for page in pages.iter() {
            for ((pair, clicked), weight) in page.pairs.iter().zip(page.clicked).zip(&weights) {
                sums[*pair as usize] += if *clicked { page.count as f64 * weight } else { 0.0 };
            }
        }
        Ok(sums.iter().zip(&self.pairs).map(|(sum, (shown, _))| sum / *shown as f64).collect())
    }
}

/// The click rate of each rank.
fn rank_rates(pages: &Pages) -> Vec<f64> {
    let mut counts = vec![(0.0, 0.0); pages.max_ranks()];
    for page in pages.iter() {
        for ((shown, clicks), clicked) in counts.iter_mut().zip(page.clicked) {
            *shown += page.count as f64;
            *clicks += if *clicked { page.count as f64 } else { 0.0 };
        }
    }
    counts.into_iter().map(|(shown, clicks)| clicks / shown).collect()
}

fn sdbn(pages: &Pages) -> Result<Vec<f64>, LabelError> {
    let parameters = ClickModel::parse("sdbn")?.fit(pages).parameters();
    let values = |name: &str| {
        let found = parameters.iter().find(|parameter: &&NamedParameter| parameter.name == name);
        found.map(|parameter| parameter.values.as_slice()).unwrap_or_default()
    };
    let both = values("attraction").iter().zip(values("satisfaction"));
    Ok(both.map(|(attraction, satisfaction)| attraction * satisfaction).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::impression::Impression;

    fn values(labels: &[ClickLabel]) -> Vec<(&str, f64)> {
        labels.iter().map(|label| (label.document.as_str(), label.value)).collect()
    }

    /// Rank 1 has 3 clicks of 4, rank 2 has 1 of 4.
    fn pages() -> Pages {
        Pages::collect(&[
            Impression::new("q", ["a", "b"]).clicked([1]),
            Impression::new("q", ["a", "b"]).clicked([1, 2]),
            Impression::new("q", ["b", "a"]).clicked([1]),
            Impression::new("q", ["b", "a"]),
        ])
    }

    #[test]
    fn labels_are_those_worked_out_by_hand() {
        let coec = click_labels(&pages(), LabelSource::Coec, &[], None).unwrap();
        // Expected clicks of either document: 2 x 3/4 + 2 x 1/4 = 2.
        assert_eq!(values(&coec), [("a", 1.0), ("b", 1.0)]);
        assert_eq!((coec[0].shown, coec[0].clicked), (4, 2));
        let bias = [Some(1.0), Some(0.25)];
        let ips = click_labels(&pages(), LabelSource::Ips, &bias, None).unwrap();
        // a: 2 clicks at rank 1; b: one at rank 1 and one at rank 2, which counts 4.
        assert_eq!(values(&ips), [("a", 0.5), ("b", 1.25)]);
        let clipped = click_labels(&pages(), LabelSource::Ips, &bias, Some(2.0)).unwrap();
        assert_eq!(values(&clipped), [("a", 0.5), ("b", 0.75)]);
        let error = click_labels(&pages(), LabelSource::Ips, &[Some(1.0), None], None).unwrap_err();
        assert!(error.to_string().contains("rank 2 has none"), "{error}");
        let sdbn = click_labels(&pages(), LabelSource::Sdbn, &[], None).unwrap();
        assert!(sdbn.iter().all(|label| (0.0..1.0).contains(&label.value)));
    }
}
