//! The score of a weighting, such as BM25, as a feature; the formula is that of the first stage.

use rankwright_spec::Spec;

use super::Feature;
use super::statistics::{CandidateStatistics, Needs};
use crate::error::SearchError;
use crate::index::{Index, TextField};
use crate::params::read_params;
use crate::retrieve::{DocumentColumns, QueryWeighting, Weighting};

/// The feature: a weighting on a text field.
struct WeightFeature<W> {
    field: TextField,
    weighting: W,
    columns: DocumentColumns,
}

/// Builds the feature of a weighting.
pub(super) fn build_weight<W: Weighting>(
    index: &Index,
    spec: &Spec,
) -> Result<Box<dyn Feature>, SearchError> {
    let weighting: W = read_params(spec)?;
    let field = index.text_field(weighting.field())?;
    let columns = DocumentColumns::of_weighting::<W>(index, field)?;
    Ok(Box::new(WeightFeature { field, weighting, columns }))
}

impl<W: Weighting> Feature for WeightFeature<W> {
    fn needs(&self) -> Needs {
        Needs::default().frequencies(self.field)
    }

    fn values(
        &self,
        statistics: &CandidateStatistics<'_>,
        out: &mut [f64],
    ) -> Result<(), SearchError> {
        let found = statistics.text_field(self.field)?;
        let (index, terms) = (statistics.index, statistics.terms);
        let weights = QueryWeighting::new(&self.weighting, index, self.field, terms, &found.stats);
        for (candidate, value) in out.iter_mut().enumerate() {
            let document = self.columns.of(statistics.docs[candidate]);
            let tfs = statistics.tfs(found, candidate).enumerate().filter(|(_, tf)| *tf > 0);
            let sum: f64 =
                tfs.map(|(term, tf)| weights.matched_part(term, f64::from(tf), &document)).sum();
            *value = sum + weights.document_part(&document);
        }
        Ok(())
    }
}
