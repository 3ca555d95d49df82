//! The rankings to evaluate: the documents of each query of a log by the scores of a model.

use rankwright_eval::{EvalError, OrderRule, Orderer, Rows};

use super::{LoggedPages, TargetDocument};
use crate::feature_rows::{LogFeatureRows, document_id};
use crate::regression::RelevanceModel;

impl LoggedPages {
    /// The first `depth` documents of each query of the log by these scores, one for each row of the
    /// data, with the relevance that a regression predicts; `None` for a query that the data does
    /// not have.
    pub fn rankings(
        &self,
        rows: &LogFeatureRows<'_>,
        scores: &[f64],
        relevance: Option<&RelevanceModel>,
        depth: usize,
    ) -> Result<Vec<Option<Vec<TargetDocument>>>, EvalError> {
        let (data, mut orderer) = (rows.data(), Orderer::default());
        let mut ranking = |query: &String| {
            let Some(query) = rows.query(query) else { return Ok(None) };
            let range = data.query_rows(query);
            let order =
                orderer.order(Rows::of_scores(&scores[range.clone()]), OrderRule::STABLE)?;
            let document = |index: &u32| {
                let row = range.start + *index as usize;
                let predicted = relevance.map(|model| model.relevance(data.matrix().row(row)));
                TargetDocument { id: document_id(data, row), relevance: predicted.unwrap_or(0.0) }
            };
            Ok(Some(order.iter().take(depth).map(document).collect()))
        };
        self.queries().iter().map(&mut ranking).collect()
    }
}

#[cfg(test)]
mod tests {
    use rankwright_data::Dataset;

    use super::super::{LoggedPagesBuilder, PropensityKind};
    use super::*;
    use crate::Impression;

    #[test]
    fn documents_are_in_the_order_of_their_scores_and_unknown_queries_have_none() {
        let data = Dataset::from_rows([[1.0], [2.0], [3.0]], ["x"]);
        let data = data.query_ids(["a", "a", "a"]).build().unwrap();
        let mut builder = LoggedPagesBuilder::new(PropensityKind::Examination);
        for query in ["a", "b"] {
            builder.add(&Impression::new(query, ["0", "1"]));
        }
        let logged = builder.finish().unwrap();
        let rows = LogFeatureRows::new(&data);
        let found = logged.rankings(&rows, &[0.5, 0.1, 0.9], None, 2).unwrap();
        let ids = |ranking: &Option<Vec<TargetDocument>>| {
            ranking.as_ref().map(|documents| documents.iter().map(|d| d.id.clone()).collect())
        };
        let expected: Vec<Option<Vec<String>>> = vec![Some(vec!["2".into(), "0".into()]), None];
        assert_eq!(found.iter().map(ids).collect::<Vec<_>>(), expected);
    }
}
