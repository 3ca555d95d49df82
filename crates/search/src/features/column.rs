//! Features of the document alone: one number per document, independent of the query.

use std::sync::Arc;

use rankwright_spec::{Auto, Spec, choices, params};

use super::Feature;
use super::def::FeatureDef;
use super::fields::{field_or_only, text_field};
use super::frequency::of_text;
use super::statistics::CandidateStatistics;
use crate::error::SearchError;
use crate::index::{Index, Stat};
use crate::params::read_params;
use crate::schema::FieldKind;

choices! {
    /// The number that is computed from a web address.
    pub enum UrlPart {
        /// Number of parts of the path.
        Depth = "depth",
        /// Number of characters.
        Length = "length",
        /// Number of slashes.
        Slashes = "slashes",
    }
}

params! {
    /// Parameters of the feature `url`.
    pub struct UrlParams {
        field: Auto<String> = Auto::Auto, .., "Field of web addresses; auto: the only one.";
        part: UrlPart = UrlPart::Depth, .., "Number of parts of the path, of characters or of slashes.";
    }
}

params! {
    /// Parameters of the feature `number`.
    pub struct NumberParams {
        field: Auto<String> = Auto::Auto, .., "Number field; auto: the only one.";
        log: bool = false, .., "ln(1 + |x|) with the sign of x.";
    }
}

params! {
    /// Parameters of the feature `recency`.
    pub struct RecencyParams {
        field: Auto<String> = Auto::Auto, .., "Date field; auto: the only one.";
        half_life: f64 = 365.0, rankwright_spec::above(0.0), "Days in which the value halves.";
        now: Auto<f64> = Auto::Auto, .., "Seconds since 1970; auto: the newest date.";
    }
}

pub(super) static LENGTH: FeatureDef = FeatureDef {
    name: "length",
    help: "Number of terms.",
    example: "length(field=text)",
    ..of_text(|index, spec| statistic(index, spec, Stat::Length))
};

pub(super) static DISTINCT: FeatureDef = FeatureDef {
    name: "distinct",
    help: "Number of different terms.",
    example: "distinct(field=text)",
    ..of_text(|index, spec| statistic(index, spec, Stat::Distinct))
};

pub(super) static ENTROPY: FeatureDef = FeatureDef {
    name: "entropy",
    help: "Entropy of the terms in bits.",
    example: "entropy(field=text)",
    ..of_text(|index, spec| statistic(index, spec, Stat::Entropy))
};

pub(super) static STOP_SHARE: FeatureDef = FeatureDef {
    name: "stop-share",
    help: "Share of words that the analysis removed.",
    example: "stop-share(field=text)",
    ..of_text(|index, spec| {
        let field = text_field(index, spec)?;
        let (terms, words) = (index.stat(field, Stat::Length)?, index.stat(field, Stat::Words)?);
        let share =
            |(terms, words): (&f64, &f64)| if *words > 0.0 { 1.0 - terms / words } else { 0.0 };
        column(terms.iter().zip(words.iter()).map(share).collect())
    })
};

pub(super) static URL: FeatureDef = FeatureDef {
    name: "url",
    help: "Number of path parts, characters or slashes of a web address.",
    example: "url(field=url, part=length)",
    field: Some(FieldKind::Url),
    star_values: Some(("part", &["depth", "length", "slashes"])),
    ..FeatureDef::of::<UrlParams>(|index, spec| {
        let params: UrlParams = read_params(spec)?;
        let field = field_or_only(index, spec, &params.field, FieldKind::Url)?;
        Ok(Box::new(DocumentColumn(index.url_values(&field, params.part.name())?)))
    })
};

pub(super) static NUMBER: FeatureDef = FeatureDef {
    name: "number",
    help: "A number field: popularity, clicks, dwell time, a year.",
    example: "number(field=plays, log=true)",
    field: Some(FieldKind::Number),
    star_values: Some(("log", &["false", "true"])),
    ..FeatureDef::of::<NumberParams>(|index, spec| {
        let params: NumberParams = read_params(spec)?;
        let field = field_or_only(index, spec, &params.field, FieldKind::Number)?;
        let values = index.values(&field, FieldKind::Number)?;
        match params.log {
            true => column(values.iter().map(|&value| signed_log(value)).collect()),
            false => Ok(Box::new(DocumentColumn(values))),
        }
    })
};

pub(super) static RECENCY: FeatureDef = FeatureDef {
    name: "recency",
    help: "1 for the date `now`, halved with each half-life of age.",
    example: "recency(field=date, half_life=30)",
    field: Some(FieldKind::Date),
    ..FeatureDef::of::<RecencyParams>(|index, spec| {
        let params: RecencyParams = read_params(spec)?;
        let field = field_or_only(index, spec, &params.field, FieldKind::Date)?;
        let values = index.values(&field, FieldKind::Date)?;
        let newest = values.iter().copied().filter(|v| !v.is_nan()).fold(f64::MIN, f64::max);
        let now = params.now.or(newest);
        column(values.iter().map(|&date| recency(date, now, params.half_life)).collect())
    })
};

/// A feature whose value is a number of the document, by document number.
pub(super) struct DocumentColumn(pub(super) Arc<Vec<f64>>);

/// The feature of a column of numbers.
fn column(values: Vec<f64>) -> Result<Box<dyn Feature>, SearchError> {
    Ok(Box::new(DocumentColumn(Arc::new(values))))
}

/// The feature of a statistic of a text field.
fn statistic(index: &Index, spec: &Spec, stat: Stat) -> Result<Box<dyn Feature>, SearchError> {
    Ok(Box::new(DocumentColumn(index.stat(text_field(index, spec)?, stat)?)))
}

impl Feature for DocumentColumn {
    fn values(
        &self,
        statistics: &CandidateStatistics<'_>,
        out: &mut [f64],
    ) -> Result<(), SearchError> {
        for (value, &doc) in out.iter_mut().zip(statistics.docs) {
            *value = self.0[doc as usize];
        }
        Ok(())
    }
}

/// ln(1 + |x|) with the sign of x.
pub(super) fn signed_log(value: f64) -> f64 {
    value.abs().ln_1p().copysign(value)
}

/// exp(-ln 2 * age / half-life): 1 at the time `now`, 1/2 a half-life before. Later dates count as
/// `now`; a missing date (NaN) gives a missing value.
fn recency(seconds: f64, now: f64, half_life_days: f64) -> f64 {
    if seconds.is_nan() {
        return f64::NAN;
    }
    let days = ((now - seconds) / 86_400.0).max(0.0);
    (-std::f64::consts::LN_2 * days / half_life_days).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recency_halves_with_each_half_life() {
        let day = 86_400.0;
        assert_eq!(recency(0.0, 0.0, 365.0), 1.0);
        assert!((recency(0.0, 365.0 * day, 365.0) - 0.5).abs() < 1e-12);
        assert_eq!(recency(9.0 * day, 0.0, 365.0), 1.0);
        assert!(recency(f64::NAN, 0.0, 365.0).is_nan());
    }

    #[test]
    fn logarithms_keep_the_sign() {
        assert_eq!(signed_log(0.0), 0.0);
        assert_eq!(signed_log(-1.0), -signed_log(1.0));
    }
}
