//! Near-duplicate features: Spearman's rank correlation between features, over a seeded sample of
//! rows.
//!
//! ```text
//! rho = sum((r_a - mean) (r_b - mean)) / sqrt(sum((r_a - mean)^2) * sum((r_b - mean)^2))
//! ```
//!
//! where the sums are over rows, and r_a and r_b are the ranks of the features a and b among the
//! rows, with mean ranks for ties (Spearman, American Journal of Psychology, 1904). Ranks, because
//! trees see no difference between a feature and its logarithm. A missing value is a value of its
//! own, below all others, so that two features are the same only if they are missing in the same
//! rows.
//!
//! Two features are linked if the absolute value of their correlation is above a bound. Features
//! that are linked directly or through other features are a group of near-duplicates. Cost
//! O(features x rows log rows + features^2 x rows) on the sample, in parallel.
//! Edge cases: a feature that is constant in the sample has no correlation.

use rankwright_data::Dataset;
use rankwright_eval::table::{Align, Cell, Table};
use rankwright_spec::words::counted;
use rayon::prelude::*;

use super::{DataReport, fixed, signed};
use crate::chart::{Axis, Body, Chart, HeatMap};
use crate::page::{PageBlock, Section};

/// Maximum number of groups, and of members of a group, shown on the page.
const SHOWN: usize = 30;

/// Correlations between features.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct FeatureCorrelations {
    /// Number of rows in the sample.
    pub(super) rows: usize,
    /// Groups of near-duplicates: the column of each member and its correlation with the first
    /// member.
    pub(super) groups: Vec<Vec<(usize, f64)>>,
    /// The columns in the heat map.
    pub(super) top: Vec<usize>,
    /// The correlations of each column in the heat map with all of them; NaN for constant columns.
    pub(super) correlations: Vec<Vec<f64>>,
}

impl FeatureCorrelations {
    /// Compares all features on these rows; `top` are the columns in the heat map, and an absolute
    /// correlation above `bound` makes near-duplicates.
    pub(super) fn of(
        data: &Dataset,
        rows: &[usize],
        top: &[usize],
        bound: f64,
    ) -> FeatureCorrelations {
        let columns: Vec<usize> = (0..data.columns()).collect();
        let ranks: Vec<Option<Vec<f64>>> = columns
            .par_iter()
            .map(|&c| {
                let values: Vec<f32> = rows.iter().map(|&row| data.matrix().get(row, c)).collect();
                standard_ranks(&values)
            })
            .collect();
        let rho = |a: usize, b: usize| match (ranks.get(a), ranks.get(b)) {
            (Some(Some(a)), Some(Some(b))) => dot(a, b),
            _ => f64::NAN,
        };
        let links: Vec<Vec<usize>> = columns
            .par_iter()
            .map(|&a| (a + 1..columns.len()).filter(|&b| rho(a, b).abs() > bound).collect())
            .collect();
        let groups = components(&links);
        let with_rho = |group: Vec<usize>| -> Vec<(usize, f64)> {
            let first = group.first().copied().unwrap_or_default();
            group.into_iter().map(|c| (c, rho(first, c))).collect()
        };
        FeatureCorrelations {
            rows: rows.len(),
            groups: groups.into_iter().map(with_rho).collect(),
            top: top.to_vec(),
            correlations: top.iter().map(|&a| top.iter().map(|&b| rho(a, b)).collect()).collect(),
        }
    }
}

/// Ranks of the values, with mean ranks for ties, shifted to mean 0 and scaled to length 1, so that
/// rho is a dot product; none if all values are equal.
fn standard_ranks(values: &[f32]) -> Option<Vec<f64>> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    // Missing below everything; 0 and -0 are the same value.
    let key = |row: &usize| values.get(*row).map(|v| (!v.is_nan(), *v + 0.0));
    let compare = |a: &usize, b: &usize| match (key(a), key(b)) {
        (Some((true, a)), Some((true, b))) => a.total_cmp(&b),
        (a, b) => a.map(|(known, _)| known).cmp(&b.map(|(known, _)| known)),
    };
    order.sort_by(compare);
    let mean = (values.len() as f64 - 1.0) / 2.0;
    let mut ranks = vec![0.0; values.len()];
    let mut start = 0;
    for tied in order.chunk_by(|a, b| compare(a, b).is_eq()) {
        let rank = start as f64 + (tied.len() as f64 - 1.0) / 2.0 - mean;
        for &row in tied {
            if let Some(slot) = ranks.get_mut(row) {
                *slot = rank;
            }
        }
        start += tied.len();
    }
    let length = dot(&ranks, &ranks).sqrt();
    (length > 0.0).then(|| ranks.into_iter().map(|rank| rank / length).collect())
}

/// The dot product, summed in the order of the rows.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>()
}

/// The connected components of two or more columns, by union-find; members and groups in column
/// order. `links` has the later columns that each column is linked with.
fn components(links: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut parents: Vec<usize> = (0..links.len()).collect();
    fn root_of(parents: &[usize], mut column: usize) -> usize {
        while let Some(&parent) = parents.get(column).filter(|parent| **parent != column) {
            column = parent;
        }
        column
    }
    for (a, linked) in links.iter().enumerate() {
        for &b in linked {
            let (x, y) = (root_of(&parents, a), root_of(&parents, b));
            // The smaller column is the root, so that it is the first of its group.
            if let Some(parent) = parents.get_mut(x.max(y)) {
                *parent = x.min(y);
            }
        }
    }
    let mut groups: Vec<Vec<usize>> = vec![Vec::new(); links.len()];
    for column in 0..links.len() {
        let root = root_of(&parents, column);
        if let Some(group) = groups.get_mut(root) {
            group.push(column);
        }
    }
    groups.retain(|group| group.len() > 1);
    groups
}

/// The section: a table of groups and a heat map of the strongest features.
pub(super) fn section(report: &DataReport) -> Section {
    let similar = &report.similar;
    let bound = report.options.duplicate_correlation;
    let sample_note = match similar.rows == report.summary.rows {
        true => "over all documents".to_owned(),
        false => {
            format!("over {}, seed {}", counted(similar.rows, "document"), report.options.seed)
        }
    };
    let mut blocks = Vec::new();
    match similar.groups.is_empty() {
        true => blocks.push(PageBlock::Text(format!(
            "No two features have an absolute rank correlation above {bound} ({sample_note})."
        ))),
        false => blocks.push(PageBlock::Table {
            id: "near-duplicates".to_owned(),
            title: "Near-duplicate features".to_owned(),
            table: table(report, &sample_note),
        }),
    }
    let names = || similar.top.iter().map(|c| report.name(*c).to_owned()).collect();
    blocks.push(PageBlock::Chart(Chart {
        id: "correlations".to_owned(),
        title: "Rank correlation between features".to_owned(),
        caption: format!(
            "Spearman's rho between the features with the strongest correlation with relevance, \
             {sample_note}. A strong colour means that two features rank documents almost alike or in \
             reverse."
        ),
        x: Axis { label: "Feature".to_owned(), ..Axis::default() },
        y: Axis { label: "Feature".to_owned(), ..Axis::default() },
        body: Body::HeatMap(HeatMap {
            columns: names(),
            rows: names(),
            value: "rank correlation".to_owned(),
            cells: similar.correlations.clone(),
        }),
    }));
    let title = "Similar features".to_owned();
    Section { id: "similar".to_owned(), title, blocks }
}

/// The table of groups of near-duplicates.
fn table(report: &DataReport, sample_note: &str) -> Table {
    let groups = &report.similar.groups;
    let mut table = Table::new([
        ("feature", Align::Left),
        ("near-duplicates", Align::Left),
        ("weakest correlation", Align::Right),
    ]);
    for group in groups.iter().take(SHOWN) {
        let Some(((first, _), duplicates)) = group.split_first() else { continue };
        let member = |(c, rho): &(usize, f64)| {
            let reversed = if *rho < 0.0 { " (reversed)" } else { "" };
            format!("{}{reversed}", report.name(*c))
        };
        let mut members: Vec<String> = duplicates.iter().take(SHOWN).map(member).collect();
        if duplicates.len() > SHOWN {
            members.push(format!("{} more", duplicates.len() - SHOWN));
        }
        let correlations = duplicates.iter().map(|(_, rho)| *rho);
        let weakest = correlations.reduce(|a, b| if b.abs() < a.abs() { b } else { a });
        let cells = [report.name(*first).to_owned(), members.join(", "), signed(weakest)];
        table.rows.push(cells.into_iter().map(Cell::new).collect());
    }
    table.notes.push(format!(
        "absolute rank correlation (Spearman) above {}, directly or through another feature of \
         the group; {sample_note}",
        fixed(Some(report.options.duplicate_correlation))
    ));
    if groups.len() > SHOWN {
        table.notes.push(format!("{} not shown", counted(groups.len() - SHOWN, "more group")));
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_of_ties_are_means_and_missing_is_lowest() {
        // Ranks 1.5, 1.5, 3, 0 less their mean, 1.5; of length sqrt(4.5).
        let found = standard_ranks(&[2.0, 2.0, 7.0, f32::NAN]).unwrap();
        let length = 4.5_f64.sqrt();
        assert_eq!(found, [0.0, 0.0, 1.5 / length, -1.5 / length]);
        assert_eq!(standard_ranks(&[0.0, -0.0]), None);
        assert_eq!(standard_ranks(&[]), None);
    }

    #[test]
    fn correlation_equals_spearman_by_hand() {
        // Ranks 0 1 2 3 and 1 0 3 2: 1 - 6 * (1 + 1 + 1 + 1) / (4 * 15) = 0.6.
        let a = standard_ranks(&[1.0, 2.0, 3.0, 4.0]).unwrap();
        let b = standard_ranks(&[20.0, 10.0, 40.0, 30.0]).unwrap();
        assert!((dot(&a, &b) - 0.6).abs() < 1e-15);
    }

    #[test]
    fn links_through_others_make_one_group() {
        let links = vec![vec![], vec![4], vec![3], vec![], vec![5], vec![]];
        assert_eq!(components(&links), [vec![1, 4, 5], vec![2, 3]]);
        let chain = vec![vec![2], vec![2], vec![]];
        assert_eq!(components(&chain), [vec![0, 1, 2]]);
    }
}
