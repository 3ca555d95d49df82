//! Features that others give: the score or rank of a document in a run (Joachims' meta-search).
//!
//! A document that the run does not list for the query has a missing value, and so has every document
//! of a query that the run does not know.

use std::collections::HashMap;
use std::path::Path;

use rankwright_data::Run;
use rankwright_data::bytes::Input;

use crate::error::SearchError;
use crate::features::Feature;
use crate::features::evidence::{Evidence, Needs};

/// Scores or ranks by query and document.
pub(super) struct RunFeature {
    run: Run,
    ranks: bool,
}

impl RunFeature {
    pub(super) fn open(file: &str, ranks: bool) -> Result<Self, SearchError> {
        let (run, _) = Run::read(Input::open(Path::new(file))?)?;
        Ok(Self { run, ranks })
    }
}

impl Feature for RunFeature {
    fn needs(&self) -> Needs {
        Needs::default()
    }

    fn values(&self, evidence: &Evidence<'_>, out: &mut [f64]) -> Result<(), SearchError> {
        let lists = self.run.lists();
        out.fill(f64::NAN);
        let Some(query) = lists.find(&evidence.query.id) else { return Ok(()) };
        let mut listed: Vec<(&[u8], f64)> =
            lists.list(query).map(|document| (document.id, document.value)).collect();
        if self.ranks {
            // The order of runs: by score, then by id, both descending.
            listed.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then_with(|| b.0.cmp(a.0)));
            (1..).zip(&mut listed).for_each(|(rank, entry)| entry.1 = f64::from(rank));
        }
        let values: HashMap<&[u8], f64> = listed.into_iter().collect();
        let ids = evidence.index.ids()?;
        for (slot, &doc) in out.iter_mut().zip(evidence.docs) {
            if let Some(&value) = values.get(ids.get(doc).as_bytes()) {
                *slot = value;
            }
        }
        Ok(())
    }
}
