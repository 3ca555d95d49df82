//! Feature data labelled by a click log: the labels of the log by the rows of the data, and the data
//! with labels, weights and positions.

use std::collections::HashMap;

use rankwright_data::{DataError, Dataset};
use rankwright_spec::choices;

use crate::error::ClicksError;
use crate::feature_rows::LogFeatureRows;
use crate::labels::{ClickLabel, grades};
use crate::regression::RelevanceModel;

choices! {
    /// The treatment of rows of feature data that the log does not show.
    pub enum UnshownRows {
        /// They are left out.
        Drop = "drop",
        /// They are kept, with weight 0 and label 0; those of `dr` have weight 1 and the label of
        /// the regression. Their position is one below the longest page.
        Keep = "keep",
    }
}

/// The form of labelled rows.
#[derive(Debug, Clone, Copy)]
pub struct LabelledRowsForm<'a> {
    /// The treatment of rows that the log does not show.
    pub unshown: UnshownRows,
    /// Number of grades that labels are cut into; `None` leaves them as they are.
    pub grades: Option<u32>,
    /// Number of documents of the longest page of the log.
    pub longest_page: usize,
    /// The regression of relevance on features, which labels rows that the log does not show.
    pub relevance: Option<&'a RelevanceModel>,
}

/// The labels of a log by the rows of feature data.
///
/// ```
/// use rankwright_clicks::labels::{
///     ClickLabels, LabelSource, LabelledRows, LabelledRowsForm, UnshownRows,
/// };
/// use rankwright_clicks::{Impression, LogFeatureRows, Pages};
/// use rankwright_data::Dataset;
///
/// let data = Dataset::from_rows([[1.0], [2.0], [3.0]], ["x"]).query_ids(["q", "q", "q"]).build()?;
/// let pages = Pages::collect(&[Impression::new("q", ["0", "2"]).clicked([2])]);
/// let labels = ClickLabels::new(LabelSource::Coec).of_pages(&pages)?;
/// let rows = LogFeatureRows::new(&data);
/// let labelled = LabelledRows::new(&labels, &rows)?;
/// assert_eq!((labelled.shown(), labelled.clicked(), labelled.unknown()), (2, 1, 0));
/// let form = LabelledRowsForm {
///     unshown: UnshownRows::Drop,
///     grades: None,
///     longest_page: pages.max_ranks(),
///     relevance: None,
/// };
/// assert_eq!(labelled.data(&form)?.rows(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct LabelledRows<'a> {
    data: &'a Dataset,
    by_row: HashMap<usize, &'a ClickLabel>,
    /// Number of pairs of the log that the data does not have.
    unknown: usize,
}

impl<'a> LabelledRows<'a> {
    /// Joins labels with rows; an error if the data has no document of the log.
    pub fn new(labels: &'a [ClickLabel], rows: &LogFeatureRows<'a>) -> Result<Self, ClicksError> {
        let mut joined = Self { data: rows.data(), by_row: HashMap::new(), unknown: 0 };
        for label in labels {
            match rows.row(&label.query, &label.document) {
                Some(row) => drop(joined.by_row.insert(row, label)),
                None => joined.unknown += 1,
            }
        }
        match joined.by_row.is_empty() {
            true => Err(ClicksError::NoKnownDocuments),
            false => Ok(joined),
        }
    }

    /// Number of rows that the log shows.
    pub fn shown(&self) -> usize {
        self.by_row.len()
    }

    /// Number of rows with a click.
    pub fn clicked(&self) -> usize {
        self.by_row.values().filter(|label| label.clicked > 0).count()
    }

    /// Number of pairs of the log that the data does not have.
    pub fn unknown(&self) -> usize {
        self.unknown
    }

    /// The data with labels, the number of impressions as weights, and the most frequent ranks as
    /// positions. Negative labels become 0.
    pub fn data(&self, form: &LabelledRowsForm<'_>) -> Result<Dataset, DataError> {
        let below = form.longest_page as u32 + 1;
        let (mut labels, mut weights, mut positions) = (Vec::new(), Vec::new(), Vec::new());
        for row in 0..self.data.rows() {
            let (label, weight, position) = match (self.by_row.get(&row), form.relevance) {
                (Some(label), _) => (label.value, label.shown as f32, label.rank),
                (None, Some(model)) => (model.relevance(self.data.matrix().row(row)), 1.0, below),
                (None, None) => (0.0, 0.0, below),
            };
            labels.push(label.max(0.0));
            weights.push(weight);
            positions.push(position);
        }
        let keep = |row: usize| form.unshown == UnshownRows::Keep || self.by_row.contains_key(&row);
        let labelled = self.data.clone().with_labels(labels)?.with_row_weights(weights)?;
        let selected = labelled.with_positions(positions)?.select_rows(keep);
        match form.grades {
            Some(count) => {
                let cut = grades(selected.labels(), count);
                selected.with_labels(cut)
            }
            None => Ok(selected),
        }
    }
}
