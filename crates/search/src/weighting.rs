//! How well a term's frequency speaks for a document: BM25, cosine and three language models.
//!
//! For a query of terms q with counts, a document of length |D| with frequency tf(q), N documents of
//! mean length m, df(q) documents with the term, |C| terms in all, of which cf(q) are the term
//! (p = cf / |C|):
//!
//! - BM25 (Robertson et al. 1994): sum of idf * tf (k1 + 1) / (tf + k1 (1 - b + b |D| / m)) with
//!   idf = ln(1 + (N - df + 0.5) / (df + 0.5)), which is never negative;
//! - cosine of tf-idf vectors (Salton; SMART's lnc.ltc): document weights 1 + ln tf, query weights
//!   (1 + ln count) idf with idf = ln((N + 1) / (df + 0.5)), both of length 1;
//! - query likelihood ln P(Q|D) (Ponte and Croft 1998; smoothing after Zhai and Lafferty 2004):
//!   Dirichlet (tf + mu p) / (|D| + mu); Jelinek-Mercer (1 - lambda) tf / |D| + lambda p; absolute
//!   discounting (max(tf - delta, 0) + delta u p) / |D| where u is the number of different terms in D.
//!
//! Each is a sum over matched terms, a part of the document, and a constant of the query, so that a
//! document costs only its matched terms. Terms that the collection does not have are left out.

use rankwright_eval::{ParamInfo, Params};
use rankwright_spec::SpecError;

use crate::index::{Index, Stat, TermStats, TextField};
use crate::{SearchError, terms::Terms};

/// A way to weigh terms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Weighting {
    Bm25 { k1: f64, b: f64 },
    Cosine,
    Dirichlet { mu: f64 },
    JelinekMercer { lambda: f64 },
    Absolute { delta: f64 },
}

pub(crate) const K1: ParamInfo =
    ParamInfo { name: "k1", doc: "how soon more occurrences stop counting", default: "1.2" };
pub(crate) const B: ParamInfo =
    ParamInfo { name: "b", doc: "how much long documents are held back, 0 to 1", default: "0.75" };
pub(crate) const MU: ParamInfo =
    ParamInfo { name: "mu", doc: "terms that the collection adds to a document", default: "2000" };
pub(crate) const LAMBDA: ParamInfo =
    ParamInfo { name: "lambda", doc: "share of the collection's model, 0 to 1", default: "0.5" };
pub(crate) const DELTA: ParamInfo =
    ParamInfo { name: "delta", doc: "what is taken off each frequency, 0 to 1", default: "0.7" };

impl Weighting {
    /// The names of all, as first stages and features use them.
    pub(crate) const NAMES: [&'static str; 5] =
        ["bm25", "cosine", "dirichlet", "jelinek-mercer", "absolute-discount"];

    /// Reads the one that a spec names.
    pub(crate) fn read(params: &Params<'_>) -> Result<Weighting, SpecError> {
        let share = |key, default| {
            params.f64_in(key, default, |v| v > 0.0 && v < 1.0, "a number between 0 and 1")
        };
        match params.name() {
            "bm25" => Ok(Weighting::Bm25 { k1: read_k1(params)?, b: read_b(params)? }),
            "cosine" => Ok(Weighting::Cosine),
            "dirichlet" => {
                let mu = params.f64_in("mu", 2000.0, |v| v > 0.0, "a number above 0")?;
                Ok(Weighting::Dirichlet { mu })
            }
            "jelinek-mercer" => Ok(Weighting::JelinekMercer { lambda: share("lambda", 0.5)? }),
            "absolute-discount" => Ok(Weighting::Absolute { delta: share("delta", 0.7)? }),
            other => Err(SpecError::unknown("weighting", other, &Self::NAMES)),
        }
    }
}

pub(crate) fn read_k1(params: &Params<'_>) -> Result<f64, SpecError> {
    params.f64_in("k1", 1.2, |v| v >= 0.0, "a number from 0 on")
}

pub(crate) fn read_b(params: &Params<'_>) -> Result<f64, SpecError> {
    params.f64_in("b", 0.75, |v| (0.0..=1.0).contains(&v), "a number from 0 to 1")
}

/// ln(1 + (N - df + 0.5) / (df + 0.5)).
pub(crate) fn bm25_idf(documents: f64, df: f64) -> f64 {
    (1.0 + (documents - df + 0.5) / (df + 0.5)).ln()
}

/// ln((N + 1) / (df + 0.5)), which stays above 0.
pub(crate) fn idf(documents: f64, df: f64) -> f64 {
    ((documents + 1.0) / (df + 0.5)).ln()
}

/// A weighting made ready for one query and one text field.
#[derive(Debug, Clone)]
pub(crate) struct Weigher {
    weighting: Weighting,
    mean_length: f64,
    /// What a term brings with it: weight in the query, and idf or share of the collection.
    terms: Vec<(f64, f64)>,
    /// Terms of the query that the collection has, repeated ones included.
    known: f64,
    constant: f64,
}

/// What a weighting looks at in a document.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DocumentStats {
    pub(crate) length: f64,
    pub(crate) distinct: f64,
    pub(crate) norm: f64,
}

impl Weigher {
    /// Gathers what is known of the query's terms.
    pub(crate) fn new(
        weighting: Weighting,
        index: &Index,
        text_field: TextField,
        query: &Terms,
        stats: &[TermStats],
    ) -> Weigher {
        let documents = index.documents() as f64;
        let all = index.terms(text_field) as f64;
        let mut terms = Vec::with_capacity(stats.len());
        let (mut known, mut constant, mut norm) = (0.0, 0.0, 0.0_f64);
        for (count, stats) in query.counts().zip(stats) {
            let (count, df) = (f64::from(count), stats.documents as f64);
            if stats.documents == 0 {
                terms.push((0.0, 1.0));
                continue;
            }
            let share = stats.occurrences as f64 / all;
            known += count;
            constant += count * weighting.constant(share);
            terms.push(match weighting {
                Weighting::Bm25 { .. } => (count, bm25_idf(documents, df)),
                Weighting::Cosine => ((1.0 + count.ln()) * idf(documents, df), 1.0),
                _ => (count, share),
            });
            norm += terms.last().map_or(0.0, |(weight, _)| weight * weight);
        }
        if weighting == Weighting::Cosine && norm > 0.0 {
            terms.iter_mut().for_each(|(weight, _)| *weight /= norm.sqrt());
        }
        Weigher { weighting, mean_length: index.mean_length(text_field), terms, known, constant }
    }

    /// What a matched term adds.
    #[inline]
    pub(crate) fn matched(&self, term: usize, tf: f64, document: &DocumentStats) -> f64 {
        let (weight, fact) = self.terms[term];
        let length = document.length;
        weight
            * match self.weighting {
                Weighting::Bm25 { k1, b } => {
                    let norm = k1 * (1.0 - b + b * length / self.mean_length);
                    fact * (tf * (k1 + 1.0) / (tf + norm))
                }
                Weighting::Cosine => (1.0 + tf.ln()) / document.norm,
                Weighting::Dirichlet { mu } => (1.0 + tf / (mu * fact)).ln(),
                Weighting::JelinekMercer { lambda } => {
                    (1.0 + (1.0 - lambda) * tf / (length * lambda * fact)).ln()
                }
                Weighting::Absolute { delta } => {
                    (1.0 + (tf - delta).max(0.0) / (delta * document.distinct * fact)).ln()
                }
            }
    }

    /// What a document gets whatever it matches.
    pub(crate) fn document(&self, document: &DocumentStats) -> f64 {
        let length = document.length;
        self.constant
            + match self.weighting {
                Weighting::Dirichlet { mu } => self.known * (mu / (length + mu)).ln(),
                Weighting::Absolute { delta } if length > 0.0 => {
                    self.known * (delta * document.distinct / length).ln()
                }
                _ => 0.0,
            }
    }
}

impl Weighting {
    /// What a term of this share of the collection gives every document.
    fn constant(self, share: f64) -> f64 {
        match self {
            Weighting::Dirichlet { .. } | Weighting::Absolute { .. } => share.ln(),
            Weighting::JelinekMercer { lambda } => (lambda * share).ln(),
            _ => 0.0,
        }
    }
}

/// The columns that weightings look at, for one text field.
pub(crate) struct DocumentColumns {
    lengths: std::sync::Arc<Vec<f64>>,
    distinct: Option<std::sync::Arc<Vec<f64>>>,
    norms: Option<std::sync::Arc<Vec<f64>>>,
}

impl DocumentColumns {
    /// Those that these weightings need.
    pub(crate) fn new(
        index: &Index,
        text_field: TextField,
        weightings: &[Weighting],
    ) -> Result<Self, SearchError> {
        let absolute = weightings.iter().any(|w| matches!(w, Weighting::Absolute { .. }));
        let cosine = weightings.contains(&Weighting::Cosine);
        let stat = |wanted: bool, stat| wanted.then(|| index.stat(text_field, stat)).transpose();
        Ok(Self {
            lengths: index.lengths(text_field).clone(),
            distinct: stat(absolute, Stat::Distinct)?,
            norms: stat(cosine, Stat::Norm)?,
        })
    }

    /// Those of one document.
    #[inline]
    pub(crate) fn of(&self, doc: u32) -> DocumentStats {
        let at = |column: &Option<std::sync::Arc<Vec<f64>>>| {
            column.as_ref().map_or(0.0, |column| column[doc as usize])
        };
        DocumentStats {
            length: self.lengths[doc as usize],
            distinct: at(&self.distinct),
            norm: at(&self.norms),
        }
    }
}
