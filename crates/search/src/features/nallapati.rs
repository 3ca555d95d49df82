//! The six features of Nallapati (2004): sums over the different terms q of the query.
//!
//! tf is the frequency of q in the document, |D| the number of terms of the document, |C| the
//! number of terms of all documents, cf the number of those that are q, and
//! idf = ln((N+1)/(df+0.5)), which is always above 0, for N documents of which df contain q. A
//! document without a match, or of length 0, has 0. The closures below receive tf, |D|, and idf and
//! |C|/cf (`rarity`) of a matched term.

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
