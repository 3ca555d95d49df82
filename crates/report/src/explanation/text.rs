//! An explanation as tables for a terminal: numbers with small bars, left of the middle for
//! negative contributions and right of it for positive ones.

use rankwright_eval::table::{Align, Cell, Table};
use rankwright_model::Dependence;
use rankwright_spec::words::counted;

use super::{
    Contribution, EffectSummary, ExplainedDocument, PairExplanation, QueryExplanation,
    RankingExplanation,
};

/// Half the width of a bar.
const HALF: usize = 10;
impl RankingExplanation {
    /// The main tables, each with its `top` largest features; of a query the first `documents`.
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
        let how = if self.sampled { "sampled" } else { "exact" };
        let mut parts = vec![format!(
            "query {}: {}; base score {}; contributions are relative to {} ({how})\n",
            query.query,
            counted(query.size, "document"),
            signed(query.base),
            self.relative_to
        )];
        let shown = query.documents.iter().take(documents);
        parts.extend(shown.map(|doc| document_text(doc, query, top)));
        if query.documents.len() > documents {
            let all = counted(query.documents.len(), "document");
            parts.push(format!("The first {documents} of {all} are shown.\n"));
        }
        if let Some(pair) = &query.pair {
            parts.push(pair_text(pair, top));
        }
        parts.push(list_text(query, top));
        parts
    }

    fn summary_text(&self, summary: &EffectSummary, top: usize) -> String {
        let most = summary.features.first().map_or(0.0, |feature| feature.size);
        let mut table = Table::new([
            ("feature", Align::Left),
            ("mean size", Align::Right),
            ("within query", Align::Right),
            ("", Align::Left),
        ]);
        for feature in summary.features.iter().take(top) {
            table.rows.push(vec![
                Cell::new(&feature.feature),
                Cell::new(short(feature.size)),
                Cell::new(short(feature.spread)),
                Cell::new("█".repeat(length(feature.size, most, 2 * HALF))),
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

fn document_text(document: &ExplainedDocument, query: &QueryExplanation, top: usize) -> String {
    let name = format!("rank {}: document {}", document.rank, document.doc);
    let mut table = Table::new([
        (name.as_str(), Align::Left),
        ("value", Align::Right),
        ("contribution", Align::Right),
        ("", Align::Left),
    ]);
    let most = size(document.contributions.first().map(|part| part.contribution));
    let row = |part: &Contribution| {
        let value = if part.value.is_nan() { "missing".into() } else { part.value.to_string() };
        let bar = bar(part.contribution, most);
        [part.feature.clone(), value, signed(part.contribution), bar].map(Cell::new).to_vec()
    };
    table.rows.extend(document.contributions.iter().take(top).map(row));
    let rest = document.contributions.iter().skip(top).map(|part| part.contribution);
    add_rest(&mut table, document.contributions.len(), top, rest.sum(), most);
    let sum: f64 = document.contributions.iter().map(|part| part.contribution).sum();
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

/// Adds a row for the features that are not shown.
fn add_rest(table: &mut Table, all: usize, top: usize, rest: f64, most: f64) {
    if all > top {
        let what = format!("sum of {}", counted(all - top, "other"));
        let empty_cells = table.header.len() - 3;
        let mut row = vec![what];
        row.extend(std::iter::repeat_n(String::new(), empty_cells));
        row.extend([signed(rest), bar(rest, most)]);
        table.rows.push(row.into_iter().map(Cell::new).collect());
    }
}

fn pair_text(pair: &PairExplanation, top: usize) -> String {
    let (a, b) = (&pair.a, &pair.b);
    let mut table = Table::new([
        (format!("why {} is {} {}", a.doc, above(pair), b.doc), Align::Left),
        (a.doc.clone(), Align::Right),
        (b.doc.clone(), Align::Right),
        ("contribution".into(), Align::Right),
        (String::new(), Align::Left),
    ]);
    let most = size(pair.shares.first().map(|share| share.difference));
    for share in pair.shares.iter().take(top) {
        let values =
            share.values.map(|v| if v.is_nan() { "missing".into() } else { v.to_string() });
        let [x, y] = values;
        let cells =
            [share.feature.clone(), x, y, signed(share.difference), bar(share.difference, most)];
        table.rows.push(cells.map(Cell::new).to_vec());
    }
    let rest = pair.shares.iter().skip(top).map(|share| share.difference).sum();
    add_rest(&mut table, pair.shares.len(), top, rest, most);
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
pub(super) fn above(pair: &PairExplanation) -> &'static str {
    if pair.a.rank < pair.b.rank { "above" } else { "not above" }
}

fn list_text(query: &QueryExplanation, top: usize) -> String {
    let mut table = Table::new([
        ("over the list", Align::Left),
        ("spread", Align::Right),
        ("agreement", Align::Right),
        ("", Align::Left),
    ]);
    let most = query.list.first().map_or(0.0, |effect| effect.spread);
    for effect in query.list.iter().take(top) {
        table.rows.push(vec![
            Cell::new(&effect.feature),
            Cell::new(short(effect.spread)),
            Cell::new(effect.agreement.map_or("-".into(), |tau| format!("{tau:+.2}"))),
            Cell::new("█".repeat(length(effect.spread, most, 2 * HALF))),
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

fn dependence_text(found: &Dependence) -> String {
    let header = format!("feature {}", found.name);
    let mut table = Table::new([
        (header.as_str(), Align::Right),
        ("mean score", Align::Right),
        ("", Align::Left),
    ]);
    let low = found.means.iter().copied().fold(f64::INFINITY, f64::min);
    let high = found.means.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    for (value, mean) in found.values.iter().zip(&found.means) {
        let bar = "█".repeat(length(mean - low, high - low, 2 * HALF));
        table.rows.push([value.to_string(), short(*mean), bar].map(Cell::new).to_vec());
    }
    if let Some(mean) = found.missing {
        table.rows.push(["missing".into(), short(mean)].map(Cell::new).to_vec());
    }
    let documents = counted(found.documents, "document");
    table.notes.push(format!("mean score of {documents} with the feature set to each value"));
    table.to_text()
}

/// A bar to the left or to the right of the middle.
fn bar(value: f64, most: f64) -> String {
    let length = length(value.abs(), most, HALF);
    match value < 0.0 {
        true => format!("{}{}│", " ".repeat(HALF - length), "█".repeat(length)),
        false => format!("{}│{}", " ".repeat(HALF), "█".repeat(length)),
    }
}

fn length(value: f64, most: f64, width: usize) -> usize {
    let part = if most > 0.0 { (value / most).clamp(0.0, 1.0) } else { 0.0 };
    (part * width as f64).round() as usize
}

fn size(value: Option<f64>) -> f64 {
    value.map_or(0.0, f64::abs)
}

fn signed(value: f64) -> String {
    format!("{value:+.4}")
}

fn short(value: f64) -> String {
    format!("{value:.4}")
}
