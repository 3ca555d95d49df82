//! An explanation as a page: bars for each of the first documents, for the compared pair and for
//! the list; value against contribution for the most important features; curves of partial
//! dependence.
//!
//! The 20 largest features of each are shown; all others share one bar, so that bars still sum to
//! the number in the caption.

use rankwright_model::Dependence;
use rankwright_spec::words::counted;

use super::text::above;
use super::{
    EffectSummary, ExplainedDocument, FeatureEffect, PairExplanation, QueryExplanation,
    RankingExplanation,
};
use crate::chart::{Axis, BarSeries, Bars, Body, Chart, Grouping, Series, SeriesColour};
use crate::page::{ChoiceForm, Page, PageBlock, Section};

/// Maximum number of features in a plot.
const FEATURES: usize = 20;
/// Maximum number of documents to choose from.
const DOCUMENTS: usize = 10;

impl RankingExplanation {
    /// The explanation as a page.
    pub fn page(&self) -> Page {
        let exact = if self.sampled { "estimated by sampling" } else { "exact" };
        let mut facts = vec![
            ("Model".to_owned(), self.model.clone()),
            ("Data".to_owned(), self.data.clone()),
            ("Relative to".to_owned(), self.relative_to.clone()),
            ("Shapley values".to_owned(), exact.to_owned()),
        ];
        let (title, lead, mut sections) = match (&self.query, &self.summary) {
            (Some(query), _) => {
                facts.push(("Documents".to_owned(), query.size.to_string()));
                let title = format!("Explanation of the ranking of query {}", query.query);
                (title, self.query_lead(query), query_sections(query))
            }
            (None, Some(summary)) => {
                facts.push(("Documents".to_owned(), summary.documents.to_string()));
                let title = "Effects of the features on the scores".to_owned();
                (title, summary_lead(summary), summary_sections(summary))
            }
            (None, None) => ("Explanation".to_owned(), String::new(), Vec::new()),
        };
        if !self.dependence.is_empty() {
            let charts = self.dependence.iter().enumerate();
            let blocks =
                charts.map(|(number, found)| PageBlock::Chart(line(number, found))).collect();
            let (id, title) =
                ("dependence".into(), "Partial dependence of scores on a feature".into());
            sections.push(Section { id, title, blocks });
        }
        Page { title, lead, facts, sections, ..Page::default() }
    }

    fn query_lead(&self, query: &QueryExplanation) -> String {
        let largest: Vec<&str> =
            query.list.iter().take(3).map(|effect| effect.feature.as_str()).collect();
        format!(
            "The score of a document is the base score {:.4} plus the contribution of each feature. \
             The features that distinguish the documents of this list most are {}.",
            query.base,
            words(&largest)
        )
    }
}

fn summary_lead(summary: &EffectSummary) -> String {
    let largest: Vec<&str> =
        summary.features.iter().take(3).map(|feature| feature.feature.as_str()).collect();
    format!(
        "Over {} of {}, the features with the largest contributions to scores are {}.",
        counted(summary.documents, "document"),
        counted(summary.queries, "query"),
        words(&largest)
    )
}

/// Names joined as a part of a sentence.
fn words(names: &[&str]) -> String {
    match names {
        [] => "no feature".to_owned(),
        [one] => (*one).to_owned(),
        [rest @ .., last] => format!("{} and {last}", rest.join(", ")),
    }
}

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
        blocks: vec![PageBlock::Choice { id, label, groups, form: ChoiceForm::List }],
    }];
    if let Some(pair) = &query.pair {
        sections.push(Section {
            id: "pair".into(),
            title: format!("Why {} is {} {}", pair.a.doc, above(pair), pair.b.doc),
            blocks: vec![PageBlock::Chart(pair_chart(pair))],
        });
    }
    let blocks =
        vec![PageBlock::Chart(spread_chart(query)), PageBlock::Chart(agreement_chart(query))];
    sections.push(Section { id: "list".into(), title: "The list".into(), blocks });
    sections
}

fn document_chart(document: &ExplainedDocument, query: &QueryExplanation) -> Chart {
    let named = document
        .contributions
        .iter()
        .map(|part| (format!("{} = {}", part.feature, shown(part.value)), part.contribution));
    bars(
        format!("document-{}", document.rank),
        format!("Rank {}: document {}", document.rank, document.doc),
        format!(
            "Score {:.4}, label {}. The bars sum to the score minus the base score {:.4}.",
            document.score, document.label, query.base
        ),
        "contribution to the score",
        named.collect(),
    )
}

fn pair_chart(pair: &PairExplanation) -> Chart {
    let named = pair.shares.iter().map(|share| {
        let [a, b] = share.values.map(shown);
        (format!("{}: {a} against {b}", share.feature), share.difference)
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
        named.collect(),
    )
}

fn spread_chart(query: &QueryExplanation) -> Chart {
    let named = query.list.iter().take(FEATURES);
    bars(
        "spread".into(),
        "Features that distinguish the documents".into(),
        "The mean absolute contribution of a feature after its mean over the list is subtracted: a \
         contribution that is equal for all documents cannot change their order."
            .into(),
        "spread",
        named.map(|effect| (effect.feature.clone(), effect.spread)).collect(),
    )
}

fn agreement_chart(query: &QueryExplanation) -> Chart {
    let named = query.list.iter().take(FEATURES);
    let agreement = |tau: Option<f64>| tau.unwrap_or(f64::NAN);
    let mut chart = bars(
        "agreement".into(),
        "Agreement of features with the ranking".into(),
        "Kendall's tau between the contributions of a feature and the scores: 1 means that the feature \
         alone would give the same order, -1 the reverse order. The features with the largest \
         spread are shown."
            .into(),
        "agreement (Kendall's tau)",
        named.map(|effect| (effect.feature.clone(), agreement(effect.agreement))).collect(),
    );
    chart.y.range = Some((-1.0, 1.0));
    chart
}

/// Horizontal bars of the largest features, with all others in one bar.
fn bars(
    id: String,
    title: String,
    caption: String,
    label: &str,
    mut named: Vec<(String, f64)>,
) -> Chart {
    if named.len() > FEATURES {
        let rest = named.split_off(FEATURES);
        let sum = rest.iter().map(|(_, value)| value).sum();
        named.push((format!("sum of {}", counted(rest.len(), "other")), sum));
    }
    let (categories, values) = named.into_iter().unzip();
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

fn summary_sections(summary: &EffectSummary) -> Vec<Section> {
    let features = summary.features.iter().take(FEATURES);
    let series = |name: &str, of: fn(&FeatureEffect) -> f64| BarSeries {
        name: name.to_owned(),
        values: features.clone().map(of).collect(),
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
    let pointed = summary.features.iter().filter(|feature| !feature.points.is_empty());
    let group = |(number, feature): (usize, &FeatureEffect)| {
        (feature.feature.clone(), vec![PageBlock::Chart(points_chart(number, feature))])
    };
    let groups = pointed.enumerate().map(group).collect();
    let choice = PageBlock::Choice {
        id: "value".into(),
        label: "Feature".into(),
        groups,
        form: ChoiceForm::List,
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

fn points_chart(number: usize, feature: &FeatureEffect) -> Chart {
    let known = feature.points.iter().filter(|point| point.value.is_finite());
    let points = known.clone().map(|point| (f64::from(point.value), point.contribution)).collect();
    let names = known.map(|point| format!("row {}", point.row)).collect();
    let missing = feature.points.iter().filter(|point| point.value.is_nan()).count();
    let missing = match missing {
        0 => String::new(),
        n => format!(" Not shown: {} without a value.", counted(n, "document")),
    };
    Chart {
        id: format!("value-{}", number + 1),
        title: format!("{}: value and contribution", feature.feature),
        caption: format!(
            "Each point is a document: the value of the feature and its contribution to the score. \
             Documents with equal values have different contributions where the feature interacts \
             with others.{missing}"
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

fn line(number: usize, found: &Dependence) -> Chart {
    let at = |scores: &[f64]| -> Vec<(f64, f64)> {
        let points = found.values.iter().map(|value| f64::from(*value)).zip(scores.iter().copied());
        points.filter(|(value, _)| value.is_finite()).collect()
    };
    let mut series =
        vec![Series { name: "mean score".into(), points: at(&found.means), ..Series::default() }];
    series.extend(found.curves.iter().map(|(row, scores)| Series {
        name: format!("row {row}"),
        points: at(scores),
        dashed: true,
        ..Series::default()
    }));
    let missing = found.missing.map_or(String::new(), |mean| {
        format!(" Where the feature is missing the mean score is {mean:.4}.")
    });
    Chart {
        id: format!("dependence-{}", number + 1),
        title: format!("Mean score as {} changes", found.name),
        caption: format!(
            "{} {} scored with the feature set to each value and all other features unchanged.{missing}",
            counted(found.documents, "document"),
            if found.documents == 1 { "is" } else { "are" }
        ),
        x: Axis { label: found.name.clone(), ..Axis::default() },
        y: Axis { label: "mean score".into(), ..Axis::default() },
        body: Body::Lines(series),
    }
}

fn shown(value: f32) -> String {
    if value.is_nan() { "missing".into() } else { value.to_string() }
}
