//! An explanation as tables for a terminal: numbers with small bars, left of the middle for
//! negative contributions and right of it for positive ones.

use rankwright_eval::table::{Align, Cell, Table};
use rankwright_model::Dependence;
use rankwright_spec::words::counted;

use super::{
    Contribution, EffectSummary, ExplainedDocument, PairContribution, PairExplanation,
    QueryExplanation, RankingExplanation,
};

/// Width of each half of a bar, in characters.
const HALF: usize = 10;

impl RankingExplanation {
    /// The main tables, each with its `top` largest features; for a query there is a table for each
    /// of the first `documents` documents.
    pub fn to_text(&self, top: usize, documents: usize) -> String {
        let mut parts = Vec::new();
        if let Some(query) = &self.query {
            parts.extend(self.query_text(query, top, documents));
        }
        if let Some(summary) = &self.summary {
            parts.push(self.summary_text(summary, top));
        }
        parts.extend(self.dependence.iter().map(dependence_text));
        parts.join("\n")
    }

    fn query_text(&self, query: &QueryExplanation, top: usize, documents: usize) -> Vec<String> {
        let method = if self.sampled { "sampled" } else { "exact" };
        let mut parts = vec![format!(
            "query {}: {}; base score {}; contributions are relative to {} ({method})\n",
            query.query,
            counted(query.size, "document"),
            signed(query.base),
            self.relative_to
        )];
        let shown = query.documents.iter().take(documents);
        parts.extend(shown.map(|doc| document_text(doc, query, top)));
        if query.documents.len() > documents {
            let all = counted(query.documents.len(), "document");
            parts.push(format!("Shown: the first {documents} of {all}.\n"));
        }
        if let Some(pair) = &query.pair {
            parts.push(pair_text(pair, top));
        }
        parts.push(list_text(query, top));
        parts
    }

    fn summary_text(&self, summary: &EffectSummary, top: usize) -> String {
        let largest = summary.features.first().map_or(0.0, |feature| feature.size);
        let mut table = Table::new([
            ("feature", Align::Left),
            ("mean size", Align::Right),
            ("within query", Align::Right),
            ("", Align::Left),
        ]);
        for feature in summary.features.iter().take(top) {
            table.rows.push(vec![
                Cell::new(&feature.feature),
                Cell::new(unsigned(feature.size)),
                Cell::new(unsigned(feature.spread)),
                Cell::new("█".repeat(bar_length(feature.size, largest, 2 * HALF))),
            ]);
        }
        table.notes.push(format!(
            "mean size: mean absolute contribution to the score, over {}, relative to {}",
            summary.sample_in_words(),
            self.relative_to
        ));
        table.notes.push(
            "within query: the same after the query's mean is subtracted; only this part can change \
             the order"
                .into(),
        );
        table.to_text()
    }
}

/// The contributions to the score of a document.
fn document_text(document: &ExplainedDocument, query: &QueryExplanation, top: usize) -> String {
    let name = format!("rank {}: document {}", document.rank, document.doc);
    let mut table = Table::new([
        (name.as_str(), Align::Left),
        ("value", Align::Right),
        ("contribution", Align::Right),
        ("", Align::Left),
    ]);
    let largest = document.contributions.first().map_or(0.0, |c| c.contribution.abs());
    let row = |c: &Contribution| {
        let bar = bar(c.contribution, largest);
        let cells = [
            c.feature.clone(),
            value_text(c.value, c.text.as_deref()),
            signed(c.contribution),
            bar,
        ];
        cells.map(Cell::new).to_vec()
    };
    table.rows.extend(document.contributions.iter().take(top).map(row));
    let others = document.contributions.iter().skip(top).map(|c| c.contribution);
    add_sum_of_others(&mut table, others, largest);
    let sum: f64 = document.contributions.iter().map(|c| c.contribution).sum();
    table.notes.push(format!(
        "label {}, score {:.6} = {:.6} {} {:.6}",
        document.label,
        document.score,
        query.base,
        if sum < 0.0 { '-' } else { '+' },
        sum.abs()
    ));
    table.to_text()
}

/// Adds a row with the sum of the contributions that are not shown, if there are any.
fn add_sum_of_others(table: &mut Table, others: impl Iterator<Item = f64> + Clone, largest: f64) {
    let count = others.clone().count();
    if count > 0 {
        let sum: f64 = others.sum();
        let mut row = vec![format!("sum of {}", counted(count, "other"))];
        // Empty cells between the name and the last two columns.
        row.extend(std::iter::repeat_n(String::new(), table.header.len() - 3));
        row.extend([signed(sum), bar(sum, largest)]);
        table.rows.push(row.into_iter().map(Cell::new).collect());
    }
}

/// The contributions to the difference of two scores.
fn pair_text(pair: &PairExplanation, top: usize) -> String {
    let (a, b) = (&pair.a, &pair.b);
    let mut table = Table::new([
        (format!("why {} is {} {}", a.doc, above_or_not(pair), b.doc), Align::Left),
        (a.doc.clone(), Align::Right),
        (b.doc.clone(), Align::Right),
        ("contribution".into(), Align::Right),
        (String::new(), Align::Left),
    ]);
    let largest = pair.contributions.first().map_or(0.0, |c| c.difference.abs());
    for c in pair.contributions.iter().take(top) {
        let [value_a, value_b] = pair_values(c);
        let bar = bar(c.difference, largest);
        let cells = [c.feature.clone(), value_a, value_b, signed(c.difference), bar];
        table.rows.push(cells.map(Cell::new).to_vec());
    }
    let others = pair.contributions.iter().skip(top).map(|c| c.difference);
    add_sum_of_others(&mut table, others, largest);
    table.notes.push(format!(
        "ranks {} and {}, labels {} and {}: scores {:.6} - {:.6} = {}",
        a.rank,
        b.rank,
        a.label,
        b.label,
        a.score,
        b.score,
        signed(pair.difference)
    ));
    table.to_text()
}

/// "above" or "not above": the rank of the first document relative to the second.
pub(super) fn above_or_not(pair: &PairExplanation) -> &'static str {
    if pair.a.rank < pair.b.rank { "above" } else { "not above" }
}

/// The effect of each feature on the order of the list.
fn list_text(query: &QueryExplanation, top: usize) -> String {
    let mut table = Table::new([
        ("over the list", Align::Left),
        ("spread", Align::Right),
        ("agreement", Align::Right),
        ("", Align::Left),
    ]);
    let largest = query.effects.first().map_or(0.0, |effect| effect.spread);
    for effect in query.effects.iter().take(top) {
        table.rows.push(vec![
            Cell::new(&effect.feature),
            Cell::new(unsigned(effect.spread)),
            Cell::new(effect.agreement.map_or("-".into(), |tau| format!("{tau:+.2}"))),
            Cell::new("█".repeat(bar_length(effect.spread, largest, 2 * HALF))),
        ]);
    }
    table
        .notes
        .push("spread: mean absolute contribution after the list's mean is subtracted".into());
    table.notes.push(
        "agreement: Kendall's tau of the contributions with the scores; 1: the same order".into(),
    );
    table.to_text()
}

/// The mean score at each value of a feature.
fn dependence_text(dependence: &Dependence) -> String {
    let header = format!("feature {}", dependence.name);
    let mut table = Table::new([
        (header.as_str(), Align::Right),
        ("mean score", Align::Right),
        ("", Align::Left),
    ]);
    let low = dependence.means.iter().copied().fold(f64::INFINITY, f64::min);
    let high = dependence.means.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    for (index, (value, mean)) in dependence.values.iter().zip(&dependence.means).enumerate() {
        let bar = "█".repeat(bar_length(mean - low, high - low, 2 * HALF));
        let value = value_text(*value, dependence.texts.get(index).map(String::as_str));
        table.rows.push([value, unsigned(*mean), bar].map(Cell::new).to_vec());
    }
    if let Some(mean) = dependence.missing {
        table.rows.push(["missing".into(), unsigned(mean)].map(Cell::new).to_vec());
    }
    let documents = counted(dependence.documents, "document");
    table.notes.push(format!("mean score of {documents} with the feature set to each value"));
    table.to_text()
}

/// A bar to the left of the middle for values below 0, else to the right; `largest` fills its half.
fn bar(value: f64, largest: f64) -> String {
    let length = bar_length(value.abs(), largest, HALF);
    match value < 0.0 {
        true => format!("{}{}│", " ".repeat(HALF - length), "█".repeat(length)),
        false => format!("{}│{}", " ".repeat(HALF), "█".repeat(length)),
    }
}

/// Number of characters of a bar; `largest` has all of `width`.
fn bar_length(value: f64, largest: f64, width: usize) -> usize {
    let share = if largest > 0.0 { (value / largest).clamp(0.0, 1.0) } else { 0.0 };
    (share * width as f64).round() as usize
}

/// Four decimals with a sign.
fn signed(value: f64) -> String {
    format!("{value:+.4}")
}

/// Four decimals; a sign only for values below 0.
fn unsigned(value: f64) -> String {
    format!("{value:.4}")
}

/// The values of a feature in two documents, as text.
pub(super) fn pair_values(contribution: &PairContribution) -> [String; 2] {
    let ([a, b], [text_a, text_b]) = (contribution.values, &contribution.texts);
    [value_text(a, text_a.as_deref()), value_text(b, text_b.as_deref())]
}

/// The text of a category, the value of another feature, or `missing`.
pub(super) fn value_text(value: f32, text: Option<&str>) -> String {
    match text {
        Some(text) => text.to_owned(),
        None if value.is_nan() => "missing".into(),
        None => value.to_string(),
    }
}
