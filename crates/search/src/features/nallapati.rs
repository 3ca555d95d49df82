//! The six features of Nallapati (2004), for query terms q, document D, collection C; |D| in terms,
//! sums over different terms of the query.
//!
//! Here idf(q) = ln((N+1)/(df+0.5)), which is always above 0, for N documents of which df contain
//! q. A document without a match, or of length 0, has 0.

use super::def::FeatureDef;
use super::frequency::{of_text, sum};

pub(super) static NALLAPATI_1: FeatureDef = FeatureDef {
    name: "nallapati-1",
    help: "Sum over matched terms of ln tf.",
    example: "nallapati-1(field=title)",
    ..of_text(|index, spec| sum(index, spec, |tf, _, _| tf.ln()))
};

pub(super) static NALLAPATI_2: FeatureDef = FeatureDef {
    name: "nallapati-2",
    help: "Sum over terms of ln(1 + tf/|D|).",
    example: "nallapati-2(field=title)",
    ..of_text(|index, spec| sum(index, spec, |tf, length, _| (1.0 + tf / length).ln()))
};

pub(super) static NALLAPATI_3: FeatureDef = FeatureDef {
    name: "nallapati-3",
    help: "Sum over matched terms of ln idf, idf = ln((N+1)/(df+0.5)).",
    example: "nallapati-3(field=title)",
    ..of_text(|index, spec| sum(index, spec, |_, _, term| term.idf.ln()))
};

pub(super) static NALLAPATI_4: FeatureDef = FeatureDef {
    name: "nallapati-4",
    help: "Sum over matched terms of ln(|C|/cf).",
    example: "nallapati-4(field=title)",
    ..of_text(|index, spec| sum(index, spec, |_, _, term| term.rarity.ln()))
};

pub(super) static NALLAPATI_5: FeatureDef = FeatureDef {
    name: "nallapati-5",
    help: "Sum over terms of ln(1 + idf * tf/|D|).",
    example: "nallapati-5(field=title)",
    ..of_text(|index, spec| {
        sum(index, spec, |tf, length, term| (1.0 + term.idf * (tf / length)).ln())
    })
};

pub(super) static NALLAPATI_6: FeatureDef = FeatureDef {
    name: "nallapati-6",
    help: "Sum over terms of ln(1 + tf/|D| * |C|/cf).",
    example: "nallapati-6(field=title)",
    ..of_text(|index, spec| {
        sum(index, spec, |tf, length, term| (1.0 + tf / length * term.rarity).ln())
    })
};
