//! An explanation as a page: bars for each of the first documents, for the compared pair and for
//! the list; value against contribution for the most important features; curves of partial
//! dependence.
//!
//! Each chart of contributions shows the 20 features with the largest contributions; all others
//! share one bar, so that the bars still sum to the number in the caption.

use std::collections::BTreeMap;

use rankwright_model::Dependence;
use rankwright_spec::words::counted;

use super::text::{above_or_not, pair_values, value_text};
use super::{
    EffectSummary, ExplainedDocument, FeatureEffect, PairExplanation, QueryExplanation,
    RankingExplanation,
};
use crate::chart::{Axis, BarSeries, Bars, Body, Chart, Grouping, Series, SeriesColour};
use crate::page::{ChoiceControl, Page, PageBlock, Section};

/// Maximum number of features in a plot.
const FEATURES: usize = 20;
/// Maximum number of documents to choose from.
const DOCUMENTS: usize = 10;

impl RankingExplanation {
    /// The explanation as a page.
    pub fn page(&self) -> Page {
        let method = if self.sampled { "estimated by sampling" } else { "exact" };
        let mut facts = vec![
            ("Model".to_owned(), self.model.clone()),
            ("Data".to_owned(), self.data.clone()),
            ("Relative to".to_owned(), self.relative_to.clone()),
            ("Shapley values".to_owned(), method.to_owned()),
        ];
        let (title, summary, mut sections) = match (&self.query, &self.summary) {
            (Some(query), _) => {
                facts.push(("Documents".to_owned(), query.size.to_string()));
                let title = format!("Explanation of the ranking of query {}", query.query);
                (title, self.summary_of_query(query), query_sections(query))
            }
            (None, Some(summary)) => {
                facts.push(("Documents".to_owned(), summary.documents.to_string()));
                let title = "Effects of the features on the scores".to_owned();
                (title, summary_of_effects(summary), summary_sections(summary))
            }
            (None, None) => ("Explanation".to_owned(), String::new(), Vec::new()),
        };
        if !self.dependence.is_empty() {
            let chart = |(index, dependence): (usize, &Dependence)| {
                PageBlock::Chart(dependence_chart(index + 1, dependence))
            };
            let blocks = self.dependence.iter().enumerate().map(chart).collect();
            let (id, title) =
                ("dependence".into(), "Partial dependence of scores on a feature".into());
            sections.push(Section { id, title, blocks });
        }
        Page { title, summary, facts, sections, ..Page::default() }
    }

    fn summary_of_query(&self, query: &QueryExplanation) -> String {
        let largest: Vec<&str> =
            query.effects.iter().take(3).map(|effect| effect.feature.as_str()).collect();
        format!(
            "The score of a document is the base score {:.4} plus the contribution of each feature. \
             The features that distinguish the documents of this list most are {}.",
            query.base,
            joined(&largest)
        )
    }
}

fn summary_of_effects(summary: &EffectSummary) -> String {
    let largest: Vec<&str> =
        summary.features.iter().take(3).map(|feature| feature.feature.as_str()).collect();
    format!(
        "Over {} of {}, the features with the largest contributions to scores are {}.",
        counted(summary.documents, "document"),
        counted(summary.queries, "query"),
        joined(&largest)
    )
}

/// Names joined as a part of a sentence: `a, b and c`.
fn joined(names: &[&str]) -> String {
    match names {
        [] => "no feature".to_owned(),
        [name] => (*name).to_owned(),
        [others @ .., last] => format!("{} and {last}", others.join(", ")),
    }
}

/// The sections of a query: its documents, the compared pair and the whole list.
fn query_sections(query: &QueryExplanation) -> Vec<Section> {
    let group = |document: &ExplainedDocument| {
        let name = format!("{}: {}", document.rank, document.doc);
        (name, vec![PageBlock::Chart(document_chart(document, query))])
    };
    let groups = query.documents.iter().take(DOCUMENTS).map(group).collect();
    let (id, label) = ("document".into(), "Document".into());
    let mut sections = vec![Section {
        id: "documents".into(),
        title: "Documents".into(),
        blocks: vec![PageBlock::Choice { id, label, groups, control: ChoiceControl::List }],
    }];
    if let Some(pair) = &query.pair {
        sections.push(Section {
            id: "pair".into(),
            title: format!("Why {} is {} {}", pair.a.doc, above_or_not(pair), pair.b.doc),
            blocks: vec![PageBlock::Chart(pair_chart(pair))],
        });
    }
    let blocks =
        vec![PageBlock::Chart(spread_chart(query)), PageBlock::Chart(agreement_chart(query))];
    sections.push(Section { id: "list".into(), title: "The list".into(), blocks });
    sections
}

/// The contributions to the score of a document.
fn document_chart(document: &ExplainedDocument, query: &QueryExplanation) -> Chart {
    let values = document.contributions.iter().map(|c| {
        (format!("{} = {}", c.feature, value_text(c.value, c.text.as_deref())), c.contribution)
    });
    bars(
        format!("document-{}", document.rank),
        format!("Rank {}: document {}", document.rank, document.doc),
        format!(
            "Score {:.4}, label {}. The bars sum to the score minus the base score {:.4}.",
            document.score, document.label, query.base
        ),
        "contribution to the score",
        values.collect(),
    )
}

/// The contributions to the difference of two scores.
fn pair_chart(pair: &PairExplanation) -> Chart {
    let values = pair.contributions.iter().map(|contribution| {
        let [a, b] = pair_values(contribution);
        (format!("{}: {a} against {b}", contribution.feature), contribution.difference)
    });
    let (a, b) = (&pair.a, &pair.b);
    bars(
        "pair".into(),
        format!("Document {} (rank {}) against {} (rank {})", a.doc, a.rank, b.doc, b.rank),
        format!(
            "Scores {:.4} and {:.4}, labels {} and {}. Bars to the right are in favour of {}; all \
             bars sum to the difference of the scores, {:+.4}.",
            a.score, b.score, a.label, b.label, a.doc, pair.difference
        ),
        "contribution to the difference",
        values.collect(),
    )
}

/// The features whose contributions differ most between the documents.
fn spread_chart(query: &QueryExplanation) -> Chart {
    let effects = query.effects.iter().take(FEATURES);
    bars(
        "spread".into(),
        "Features that distinguish the documents".into(),
        "The mean absolute contribution of a feature after its mean over the list is subtracted: a \
         contribution that is equal for all documents cannot change their order."
            .into(),
        "spread",
        effects.map(|effect| (effect.feature.clone(), effect.spread)).collect(),
    )
}

/// The agreement of the order by each feature's contributions with the ranking.
fn agreement_chart(query: &QueryExplanation) -> Chart {
    let effects = query.effects.iter().take(FEATURES);
    let agreement = |tau: Option<f64>| tau.unwrap_or(f64::NAN);
    let mut chart = bars(
        "agreement".into(),
        "Agreement of features with the ranking".into(),
        "Kendall's tau between the contributions of a feature and the scores: 1 means that the feature \
         alone would give the same order, -1 the reverse order. The features with the largest \
         spread are shown."
            .into(),
        "agreement (Kendall's tau)",
        effects.map(|effect| (effect.feature.clone(), agreement(effect.agreement))).collect(),
    );
    chart.y.range = Some((-1.0, 1.0));
    chart
}

/// Horizontal bars of the first features, with all others in one bar; `values` are names and
/// lengths of the bars, sorted by size.
fn bars(
    id: String,
    title: String,
    caption: String,
    label: &str,
    mut values: Vec<(String, f64)>,
) -> Chart {
    if values.len() > FEATURES {
        let others = values.split_off(FEATURES);
        let sum = others.iter().map(|(_, value)| value).sum();
        values.push((format!("sum of {}", counted(others.len(), "other")), sum));
    }
    all_bars(id, title, caption, label, values)
}

/// Horizontal bars with these names and lengths.
fn all_bars(
    id: String,
    title: String,
    caption: String,
    label: &str,
    values: Vec<(String, f64)>,
) -> Chart {
    let (categories, values) = values.into_iter().unzip();
    let series = vec![BarSeries {
        name: label.to_owned(),
        values,
        colour: SeriesColour::Signed,
        ..BarSeries::default()
    }];
    Chart {
        id,
        title,
        caption,
        x: Axis { label: "feature".into(), ..Axis::default() },
        y: Axis { label: label.to_owned(), ..Axis::default() },
        body: Body::Bars(Bars { categories, series, grouping: Grouping::Beside, horizontal: true }),
    }
}

/// The sections on a whole data set: the size of contributions, and value against contribution.
fn summary_sections(summary: &EffectSummary) -> Vec<Section> {
    let features = summary.features.iter().take(FEATURES);
    let series = |name: &str, value: fn(&FeatureEffect) -> f64| BarSeries {
        name: name.to_owned(),
        values: features.clone().map(value).collect(),
        ..BarSeries::default()
    };
    let chart = Chart {
        id: "features".into(),
        title: "Size of the contributions of each feature".into(),
        caption: format!(
            "The mean absolute contribution of a feature over {}; and the same after the mean of \
             each query's documents is subtracted, which is the part that can change their order.",
            summary.sample_in_words()
        ),
        x: Axis { label: "feature".into(), ..Axis::default() },
        y: Axis { label: "mean absolute contribution".into(), ..Axis::default() },
        body: Body::Bars(Bars {
            categories: features.clone().map(|feature| feature.feature.clone()).collect(),
            series: vec![
                series("to the score", |feature| feature.size),
                series("within the query", |feature| feature.spread),
            ],
            grouping: Grouping::Beside,
            horizontal: true,
        }),
    };
    let with_points = summary.features.iter().filter(|feature| !feature.points.is_empty());
    let group = |(index, feature): (usize, &FeatureEffect)| {
        (feature.feature.clone(), vec![PageBlock::Chart(points_chart(index + 1, feature))])
    };
    let groups = with_points.enumerate().map(group).collect();
    let choice = PageBlock::Choice {
        id: "value".into(),
        label: "Feature".into(),
        groups,
        control: ChoiceControl::List,
    };
    vec![
        Section {
            id: "size".into(),
            title: "Features".into(),
            blocks: vec![PageBlock::Chart(chart)],
        },
        Section {
            id: "values".into(),
            title: "Value and contribution".into(),
            blocks: vec![choice],
        },
    ]
}

/// The mean contribution of each category of a feature; `number` makes the id unique.
fn categories_chart(number: usize, feature: &FeatureEffect) -> Chart {
    let mut sums: BTreeMap<&str, (f64, usize)> = BTreeMap::new();
    for point in &feature.points {
        let text = point.text.as_deref().unwrap_or("missing");
        let (sum, count) = sums.entry(text).or_default();
        (*sum, *count) = (*sum + point.contribution, *count + 1);
    }
    let mut means: Vec<(String, f64, usize)> = sums
        .into_iter()
        .map(|(text, (sum, count))| (text.to_owned(), sum / count as f64, count))
        .collect();
    means.sort_by_key(|(_, _, count)| std::cmp::Reverse(*count));
    let left_out = means.split_off(means.len().min(FEATURES));
    means.sort_by(|a, b| b.1.total_cmp(&a.1));
    let note = match left_out.len() {
        0 => String::new(),
        _ => format!(" The {FEATURES} most frequent categories are shown."),
    };
    let mut chart = bars(
        format!("value-{number}"),
        format!("{}: category and contribution", feature.feature),
        format!(
            "The mean contribution to the score of the documents with each category, in a sample \
             of {}.{note}",
            counted(feature.points.len(), "document")
        ),
        "mean contribution to the score",
        means.into_iter().map(|(text, mean, _)| (text, mean)).collect(),
    );
    chart.x.label = feature.feature.clone();
    chart
}

/// Value against contribution of a feature; `number` makes the id unique.
fn points_chart(number: usize, feature: &FeatureEffect) -> Chart {
    if feature.points.iter().any(|point| point.text.is_some()) {
        return categories_chart(number, feature);
    }
    let finite = feature.points.iter().filter(|point| point.value.is_finite());
    let points = finite.clone().map(|point| (f64::from(point.value), point.contribution)).collect();
    let names = finite.map(|point| format!("row {}", point.row)).collect();
    let count = |is_counted: fn(f32) -> bool| {
        feature.points.iter().filter(|point| is_counted(point.value)).count()
    };
    let not_shown = [
        (count(f32::is_nan), "without a value"),
        (count(f32::is_infinite), "with an infinite value"),
    ];
    let not_shown = not_shown.into_iter().filter(|(documents, _)| *documents > 0);
    let not_shown: Vec<String> = not_shown
        .map(|(documents, reason)| format!("{} {reason}", counted(documents, "document")))
        .collect();
    let not_shown_note = match not_shown.is_empty() {
        true => String::new(),
        false => format!(" Not shown: {}.", not_shown.join(", ")),
    };
    Chart {
        id: format!("value-{number}"),
        title: format!("{}: value and contribution", feature.feature),
        caption: format!(
            "Each point is a document: the value of the feature and its contribution to the score. \
             Documents with equal values have different contributions where the feature interacts \
             with others.{not_shown_note}"
        ),
        x: Axis { label: feature.feature.clone(), ..Axis::default() },
        y: Axis { label: "contribution to the score".into(), ..Axis::default() },
        body: Body::Points(vec![Series {
            name: feature.feature.clone(),
            points,
            names,
            ..Series::default()
        }]),
    }
}

/// The partial dependence of scores on a feature; `number` makes the id unique.
fn dependence_chart(number: usize, dependence: &Dependence) -> Chart {
    let points = |scores: &[f64]| -> Vec<(f64, f64)> {
        let values = dependence.values.iter().map(|value| f64::from(*value));
        values.zip(scores.iter().copied()).filter(|(value, _)| value.is_finite()).collect()
    };
    let mean = Series {
        name: "mean score".into(),
        points: points(&dependence.means),
        ..Series::default()
    };
    let mut series = vec![mean];
    series.extend(dependence.curves.iter().map(|(row, scores)| Series {
        name: format!("row {row}"),
        points: points(scores),
        dashed: true,
        ..Series::default()
    }));
    let missing_note = dependence.missing.map_or(String::new(), |mean| {
        format!(" Where the feature is missing the mean score is {mean:.4}.")
    });
    let id = format!("dependence-{number}");
    let title = format!("Mean score as {} changes", dependence.name);
    let caption = format!(
        "{} {} scored with the feature set to each value and all other features \
         unchanged.{missing_note}",
        counted(dependence.documents, "document"),
        if dependence.documents == 1 { "is" } else { "are" }
    );
    if !dependence.texts.is_empty() {
        let means = dependence.texts.iter().cloned().zip(dependence.means.iter().copied());
        let mut chart = all_bars(id, title, caption, "mean score", means.collect());
        chart.x.label = dependence.name.clone();
        return chart;
    }
    Chart {
        id,
        title,
        caption,
        x: Axis { label: dependence.name.clone(), ..Axis::default() },
        y: Axis { label: "mean score".into(), ..Axis::default() },
        body: Body::Lines(series),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explanation::FeaturePoint;

    #[test]
    fn documents_that_a_plot_cannot_show_are_counted() {
        let point = |value| FeaturePoint { row: 0, value, text: None, contribution: 0.5 };
        let values = [1.0, f32::NAN, f32::INFINITY, f32::NEG_INFINITY];
        let feature = FeatureEffect {
            feature: "f".into(),
            size: 0.5,
            spread: 0.5,
            points: values.map(point).to_vec(),
        };
        let chart = points_chart(1, &feature);
        let note = " Not shown: 1 document without a value, 2 documents with an infinite value.";
        assert!(chart.caption.ends_with(note), "{}", chart.caption);
        let Body::Points(series) = &chart.body else { panic!("points") };
        assert_eq!(series[0].points, [(1.0, 0.5)]);
    }
}
