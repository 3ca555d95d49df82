//! Splits a data set by query: no query is ever in two parts.

use std::fmt;

use rankwright_spec::{
    Conflict, ParamKind, ParamValue, RangeDef, ValueError, check_params, params,
};

use crate::dataset::Dataset;
use crate::error::DataError;
use crate::random::{DEFAULT_SEED, Random};

/// Smallest number of folds: one part to train on, one to validate on and one to test on.
pub const MIN_FOLDS: usize = 3;

params! {
    /// The division of a data set by query: named parts, or folds for cross validation.
    ///
    /// ```
    /// use rankwright_data::split::{Parts, SplitOptions};
    ///
    /// let options = SplitOptions::default().parts(Parts::parse("train=0.8,test=0.2")?).seed(7);
    /// let parts = options.divide(10)?;
    /// assert_eq!((parts[0].name.as_str(), parts[0].queries.len()), ("train", 8));
    /// assert_eq!(SplitOptions::default().folds(5).divide(10)?[3].fold, Some(2));
    /// # Ok::<(), rankwright_data::DataError>(())
    /// ```
    pub struct SplitOptions, check = check_one_division {
        parts: Parts = Parts::default(), .., "Named parts and their shares.";
        folds: Option<usize> = None, MIN_FOLDS as u32..,
            "Number of folds instead of parts, each with train, valid and test.";
        seed: u64 = DEFAULT_SEED, .., "Seed of the shuffle.";
    }
}

/// Rejects parts and folds given together.
fn check_one_division(options: &SplitOptions) -> Result<(), Conflict> {
    match options.folds.is_some() && options.parts != Parts::default() {
        true => {
            let reason = "both divide the queries";
            Err(Conflict::OnlyOneOf { keys: &["parts", "folds"], reason })
        }
        false => Ok(()),
    }
}

/// One part of a division.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SplitPart {
    /// Number of the fold, from 1; `None` in a division without folds.
    pub fold: Option<usize>,
    /// Name of the part.
    pub name: String,
    /// Numbers of its queries, from 0, ascending.
    pub queries: Vec<usize>,
}

impl SplitOptions {
    /// Divides this many queries. Parts may be empty if there are few queries.
    pub fn divide(&self, queries: usize) -> Result<Vec<SplitPart>, DataError> {
        check_params(self, "split")?;
        let Some(count) = self.folds else {
            let part = |(name, queries)| SplitPart { fold: None, name, queries };
            return Ok(self.parts.split(queries, self.seed).into_iter().map(part).collect());
        };
        let parts_of = |(number, fold): (usize, Fold)| {
            let parts = [("train", fold.train), ("valid", fold.valid), ("test", fold.test)];
            parts.map(|(name, queries)| SplitPart {
                fold: Some(number),
                name: name.to_owned(),
                queries,
            })
        };
        Ok((1..).zip(folds(queries, count, self.seed)?).flat_map(parts_of).collect())
    }
}

/// Named parts of a split, each with its share of the queries. The default is `train=0.6`,
/// `valid=0.2` and `test=0.2`.
#[derive(Debug, Clone, PartialEq)]
pub struct Parts(Vec<(String, f64)>);

impl Default for Parts {
    fn default() -> Self {
        let parts = [("train", 0.6), ("valid", 0.2), ("test", 0.2)];
        Parts(parts.map(|(name, share)| (name.to_owned(), share)).into())
    }
}

/// The text that [`Parts::parse`] reads.
impl fmt::Display for Parts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, (name, share)) in self.0.iter().enumerate() {
            let comma = if number == 0 { "" } else { "," };
            write!(f, "{comma}{name}={share}")?;
        }
        Ok(())
    }
}

/// In a spec, slashes stand for the commas.
impl ParamValue for Parts {
    fn kind() -> ParamKind {
        ParamKind::Text
    }

    fn read(text: &str, _: &RangeDef) -> Result<Self, ValueError> {
        Self::parse(&text.replace('/', ",")).map_err(|error| {
            ValueError::Expected(match error {
                DataError::InvalidParts { found, expected } => {
                    format!("{expected} instead of '{found}'")
                }
                other => other.to_string(),
            })
        })
    }

    fn write(&self) -> String {
        self.to_string().replace(',', "/")
    }
}

impl Parts {
    /// Reads `train=0.6,valid=0.2,test=0.2`; the shares must add up to 1.
    ///
    /// ```
    /// use rankwright_data::split::Parts;
    /// assert!(Parts::parse("train=0.8, test=0.2").is_ok());
    /// assert!(Parts::parse("train=0.8,test=0.3").is_err());
    /// ```
    pub fn parse(text: &str) -> Result<Parts, DataError> {
        let mut parts: Vec<(String, f64)> = Vec::new();
        for item in text.split(',') {
            let (name, share) =
                item.split_once('=').ok_or_else(|| invalid(item, "'name=share'"))?;
            let (name, share) = (name.trim(), share.trim());
            let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
            if name.is_empty() || !name.chars().all(is_allowed) {
                return Err(invalid(name, "a part's name of letters, digits, - and _"));
            }
            if parts.iter().any(|(other, _)| other == name) {
                return Err(invalid(name, "each part once"));
            }
            let share: f64 = share.parse().map_err(|_| invalid(share, "a share such as 0.2"))?;
            if !(share > 0.0 && share <= 1.0) {
                return Err(invalid(item, "a share above 0 and at most 1"));
            }
            parts.push((name.to_owned(), share));
        }
        let sum: f64 = parts.iter().map(|(_, share)| share).sum();
        if (sum - 1.0).abs() > 1e-6 {
            return Err(invalid(&format!("a sum of {sum}"), "shares that add up to 1"));
        }
        Ok(Parts(parts))
    }

    /// The name of each part and the numbers of its queries, ascending. The queries are shuffled by
    /// the seed and divided at the rounded cumulative shares.
    pub fn split(&self, queries: usize, seed: u64) -> Vec<(String, Vec<usize>)> {
        let order = shuffled(queries, seed);
        let mut sum = 0.0;
        let mut start = 0;
        let last = self.0.len().saturating_sub(1);
        let part = |(index, (name, share)): (usize, &(String, f64))| {
            sum += share;
            let end = if index == last { queries } else { (sum * queries as f64).round() as usize };
            let end = end.clamp(start, queries);
            let mut part = order[start..end].to_vec();
            part.sort_unstable();
            start = end;
            (name.clone(), part)
        };
        self.0.iter().enumerate().map(part).collect()
    }
}

fn invalid(found: &str, expected: &'static str) -> DataError {
    DataError::InvalidParts { found: found.to_owned(), expected }
}

/// The query numbers in random order.
fn shuffled(queries: usize, seed: u64) -> Vec<usize> {
    // Any constant; keeps this stream of random numbers apart from the others.
    const STREAM: u64 = 0x5917;
    let mut order: Vec<usize> = (0..queries).collect();
    Random::new(seed, STREAM).shuffle(&mut order);
    order
}

/// One fold of a cross validation: query numbers of its three parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fold {
    /// Queries to train on.
    pub train: Vec<usize>,
    /// Queries for model choice and early stopping.
    pub valid: Vec<usize>,
    /// Queries to report results on.
    pub test: Vec<usize>,
}

/// Divides the queries into `count` parts of nearly equal size and makes as many folds, as LETOR
/// does: each fold tests on one part, validates on another and trains on the rest, so that each
/// query is tested in exactly one fold.
pub fn folds(queries: usize, count: usize, seed: u64) -> Result<Vec<Fold>, DataError> {
    if count < MIN_FOLDS || count > queries {
        return Err(DataError::Folds { folds: count, queries, least: MIN_FOLDS });
    }
    let order = shuffled(queries, seed);
    let part_of_query: Vec<usize> = {
        let mut parts = vec![0; queries];
        for (index, &query) in order.iter().enumerate() {
            parts[query] = index * count / queries;
        }
        parts
    };
    let fold = |number: usize| {
        let (valid, test) = ((number + count - 2) % count, (number + count - 1) % count);
        let queries_of = |is_in: &dyn Fn(usize) -> bool| {
            let queries = part_of_query.iter().enumerate();
            queries.filter(|(_, part)| is_in(**part)).map(|(query, _)| query).collect()
        };
        Fold {
            train: queries_of(&|part| part != valid && part != test),
            valid: queries_of(&|part| part == valid),
            test: queries_of(&|part| part == test),
        }
    };
    Ok((0..count).map(fold).collect())
}

impl Dataset {
    /// The parts of this data set, each with its name.
    pub fn split(&self, parts: &Parts, seed: u64) -> Vec<(String, Dataset)> {
        let numbers = parts.split(self.queries(), seed);
        numbers.into_iter().map(|(name, queries)| (name, self.selected(&queries))).collect()
    }

    /// Holds out a share of the queries, drawn by the seed; returns the other queries and the
    /// held-out ones.
    ///
    /// ```
    /// use rankwright_data::generate::LetorOptions;
    ///
    /// let data = LetorOptions { queries: 20, documents: 5, seed: 1 }.generate()?;
    /// let (train, valid) = data.hold_out(0.2, 1)?;
    /// assert_eq!((train.queries(), valid.queries()), (16, 4));
    /// # Ok::<(), rankwright_data::DataError>(())
    /// ```
    pub fn hold_out(&self, share: f64, seed: u64) -> Result<(Dataset, Dataset), DataError> {
        let parts = Parts(vec![("rest".to_owned(), 1.0 - share), ("held".to_owned(), share)]);
        let mut parts = self.split(&parts, seed).into_iter().map(|(_, part)| part);
        match (parts.next(), parts.next()) {
            (Some(rest), Some(held)) if rest.queries() > 0 && held.queries() > 0 => {
                Ok((rest, held))
            }
            _ => Err(DataError::HoldOut { queries: self.queries(), share }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rankwright_spec::{Spec, read_spec, write_spec};

    proptest! {
        #[test]
        fn each_query_is_in_exactly_one_part(queries in 0usize..200, seed: u64) {
            let parts = Parts::parse("a=0.5,b=0.3,c=0.2").unwrap().split(queries, seed);
            let mut all: Vec<usize> = parts.iter().flat_map(|(_, part)| part.clone()).collect();
            all.sort_unstable();
            prop_assert_eq!(all, (0..queries).collect::<Vec<_>>());
            for ((_, part), share) in parts.iter().zip([0.5, 0.3, 0.2]) {
                prop_assert!((part.len() as f64 - share * queries as f64).abs() <= 1.0);
            }
        }

        #[test]
        fn each_query_is_tested_once_and_never_trained_on_in_that_fold(
            queries in 3usize..100, count in 3usize..8, seed: u64,
        ) {
            prop_assume!(count <= queries);
            let folds = folds(queries, count, seed).unwrap();
            let mut tested: Vec<usize> = folds.iter().flat_map(|f| f.test.clone()).collect();
            tested.sort_unstable();
            prop_assert_eq!(tested, (0..queries).collect::<Vec<_>>());
            for fold in folds {
                let mut all = [fold.train, fold.valid, fold.test].concat();
                all.sort_unstable();
                prop_assert_eq!(all, (0..queries).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn invalid_parts_are_refused() {
        for text in ["", "a", "a=x", "a=0", "a=0.5,a=0.5", "a/b=1", "a=0.5", "a=-1,b=2"] {
            assert!(Parts::parse(text).is_err(), "{text}");
        }
        assert!(folds(10, 2, 0).is_err() && folds(2, 3, 0).is_err());
        let Err(ValueError::Expected(expected)) = Parts::read("a=0.5/b=0.4", &RangeDef::default())
        else {
            panic!("the shares do not add up to 1");
        };
        assert_eq!(expected, "shares that add up to 1 instead of 'a sum of 0.9'");
    }

    #[test]
    fn divisions_are_read_and_written_as_specs() {
        let read = |text: &str| read_spec::<SplitOptions>(&Spec::parse(text).unwrap());
        let text = "split(parts=train=0.8/test=0.2, seed=7)";
        let options = read(text).unwrap();
        assert_eq!(options.parts.to_string(), "train=0.8,test=0.2");
        assert_eq!(write_spec("split", &options).to_string(), text);
        assert_eq!(Parts::parse(&Parts::default().to_string()).unwrap(), Parts::default());
        for wrong in ["split(folds=2)", "split(parts=a=0.5)", "split(parts=a=1, folds=3)"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

    /// Parts beside folds were ignored.
    #[test]
    fn a_division_by_parts_and_folds_is_refused() {
        let parts = Parts::parse("a=0.5,b=0.5").unwrap();
        let error = SplitOptions::default().parts(parts).folds(3).divide(9).unwrap_err();
        assert!(error.to_string().contains("parts") && error.to_string().contains("folds"));
        let few = SplitOptions::default().folds(2).divide(9).unwrap_err();
        assert_eq!(few.kind(), "bad-value");
    }

    #[test]
    fn folds_are_numbered_from_1_and_have_three_parts_each() {
        let parts = SplitOptions::default().folds(3).divide(9).unwrap();
        let names: Vec<(Option<usize>, &str)> =
            parts.iter().map(|part| (part.fold, part.name.as_str())).collect();
        assert_eq!(names[2..5], [(Some(1), "test"), (Some(2), "train"), (Some(2), "valid")]);
        assert_eq!(parts.len(), 9);
        assert!(parts.iter().all(|part| part.queries.len() == 3));
    }

    #[test]
    fn neither_side_of_a_held_out_share_is_empty() {
        let data = crate::generate::LetorOptions { queries: 2, documents: 3, seed: 1 };
        let error = data.generate().unwrap().hold_out(0.2, 1).unwrap_err();
        assert!(error.to_string().contains("cannot be held out of 2 queries"), "{error}");
    }
}
