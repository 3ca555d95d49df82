//! The search space: the values that each parameter may take.
//!
//! ```text
//! space = parameter "=" range { "," parameter "=" range }
//! range = "choice(" value { "," value } ")"   one of the values, all equally likely
//!       | "int(" low "," high ")"             a whole number, both ends included, uniform
//!       | "logint(" low "," high ")"          a whole number, uniform in its logarithm
//!       | "uniform(" low "," high ")"         a number, uniform
//!       | "log(" low "," high ")"             a number, uniform in its logarithm
//!       | value                               always this
//! ```
//!
//! The numbers of `uniform` and `log` are rounded to three significant digits, so that a spec stays
//! readable, but always lie within the range. A range of one point (`int(5,5)`) gives that point.
//! Cost: a draw for each parameter.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use rankwright_data::Random;
use rankwright_spec::{Spec, SpecError, split_specs};

use crate::exp::exp;

/// The values that one parameter may take.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Range {
    /// Always this value.
    Fixed(String),
    /// One of several values, each with the same probability.
    Choice(Vec<String>),
    /// A whole number from the first to the second, uniformly.
    Int(i64, i64),
    /// A whole number from the first to the second, uniform in its logarithm.
    LogInt(i64, i64),
    /// A number between both, uniformly.
    Uniform(f64, f64),
    /// A number between both, uniform in its logarithm.
    Log(f64, f64),
}

/// Parameters and their ranges, in the order written.
///
/// ```
/// use rankwright_learn::tune::Space;
///
/// let space = Space::parse("rate=log(0.01, 0.3), leaves=choice(7,15), depth=6")?;
/// assert_eq!(space.to_string(), "rate=log(0.01,0.3), leaves=choice(7,15), depth=6");
/// // A draw depends on the seed and the number of the trial alone.
/// assert_eq!(space.draw(1, 3), space.draw(1, 3));
/// let wrong = Space::parse("rate=lgo(0.01,0.3)").unwrap_err().to_string();
/// assert!(wrong.contains("did you mean `log`?"));
/// # Ok::<(), rankwright_spec::SpecError>(())
/// ```
///
/// A program can build one without text:
///
/// ```
/// use rankwright_learn::tune::Space;
///
/// let space = Space::new().int("leaves", 4..=15).log("rate", 0.05..=0.3).choice("l2", [0.1, 1.0]);
/// assert_eq!(space.to_string(), "leaves=int(4,15), rate=log(0.05,0.3), l2=choice(0.1,1)");
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Space {
    parameters: Vec<(String, Range)>,
}

/// The names of the ranges.
const RANGE_NAMES: [&str; 5] = ["choice", "int", "logint", "uniform", "log"];

/// Text put before the space, so that it parses as the arguments of a spec.
const PREFIX: &str = "space(";

impl Space {
    /// A space without parameters.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a whole number, uniform.
    #[must_use]
    pub fn int(self, name: &str, range: RangeInclusive<i64>) -> Self {
        self.with(name, Range::Int(*range.start(), *range.end()))
    }

    /// Adds a whole number, uniform in its logarithm.
    #[must_use]
    pub fn log_int(self, name: &str, range: RangeInclusive<i64>) -> Self {
        self.with(name, Range::LogInt(*range.start(), *range.end()))
    }

    /// Adds a number, uniform.
    #[must_use]
    pub fn uniform(self, name: &str, range: RangeInclusive<f64>) -> Self {
        self.with(name, Range::Uniform(*range.start(), *range.end()))
    }

    /// Adds a number, uniform in its logarithm.
    #[must_use]
    pub fn log(self, name: &str, range: RangeInclusive<f64>) -> Self {
        self.with(name, Range::Log(*range.start(), *range.end()))
    }

    /// Adds one of several values, each with the same probability.
    #[must_use]
    pub fn choice<T: ToString>(self, name: &str, values: impl IntoIterator<Item = T>) -> Self {
        let values = values.into_iter().map(|value| value.to_string());
        self.with(name, Range::Choice(values.collect()))
    }

    /// Adds a parameter that has one value.
    #[must_use]
    pub fn fixed(self, name: &str, value: impl ToString) -> Self {
        self.with(name, Range::Fixed(value.to_string()))
    }

    /// Adds a parameter; replaces one with the same name.
    fn with(mut self, name: &str, range: Range) -> Self {
        self.parameters.retain(|(other, _)| other != name);
        self.parameters.push((name.to_owned(), range));
        self
    }

    /// Reads a space; the error names the column or the parameter.
    pub fn parse(text: &str) -> Result<Self, SpecError> {
        check_parentheses(text)?;
        let spec = Spec::parse(&format!("{PREFIX}{text})")).map_err(|e| as_written(e, text))?;
        if spec.args.is_empty() {
            let expected = "a parameter and a range, such as rate=log(0.01,0.3)";
            return Err(syntax(text, 1, "the end".to_owned(), expected));
        }
        let read = |(key, value): &(String, String)| Ok((key.clone(), Range::read(key, value)?));
        Ok(Self { parameters: spec.args.iter().map(read).collect::<Result<_, SpecError>>()? })
    }

    /// Parameters and their ranges.
    pub fn parameters(&self) -> &[(String, Range)] {
        &self.parameters
    }

    /// The range of a parameter; `None` if the space does not contain it.
    pub fn get(&self, name: &str) -> Option<&Range> {
        self.parameters.iter().find(|(key, _)| key == name).map(|(_, range)| range)
    }

    /// The space without the parameters whose names `drop` accepts; the result may be empty.
    #[must_use]
    pub fn without(mut self, drop: impl Fn(&str) -> bool) -> Self {
        self.parameters.retain(|(name, _)| !drop(name));
        self
    }

    /// The space with those values of its choices that `keep` accepts. A choice none of whose values
    /// is accepted stays as it is, so that the error of a trial says why.
    #[must_use]
    pub(super) fn with_choices(mut self, keep: impl Fn(&str, &str) -> bool) -> Self {
        for (name, range) in &mut self.parameters {
            let Range::Choice(values) = range else { continue };
            if values.iter().any(|value| keep(name, value)) {
                values.retain(|value| keep(name, value));
            }
        }
        self
    }

    /// The values of one trial, in the order of the parameters. A choice without values, which only
    /// a program can build and a [`TunePlan`](super::TunePlan) rejects, is left out.
    pub fn draw(&self, seed: u64, trial: usize) -> Vec<(String, String)> {
        let mut random = Random::new(seed, RANDOM_STREAM + trial as u64);
        let draw = |(name, range): &(String, Range)| Some((name.clone(), range.draw(&mut random)?));
        self.parameters.iter().filter_map(draw).collect()
    }
}

/// Any constant: keeps the draws of trials apart from other random numbers of the same seed.
const RANDOM_STREAM: u64 = 0x7475_6e65_0000_0000;

impl Range {
    /// Reads the range of the parameter `key`.
    fn read(key: &str, text: &str) -> Result<Self, SpecError> {
        let Some((kind, after_parenthesis)) = text.split_once('(') else {
            return Ok(Range::Fixed(text.to_owned()));
        };
        let kind = kind.trim();
        if !RANGE_NAMES.contains(&kind) {
            return Err(SpecError::unknown("range", kind, &RANGE_NAMES));
        }
        let rejected = |expected: &str| SpecError::BadValue {
            name: "space".to_owned(),
            key: key.to_owned(),
            value: text.to_owned(),
            expected: expected.to_owned(),
        };
        let Some(inner) = after_parenthesis.strip_suffix(')') else {
            return Err(rejected("a range that ends with its parenthesis"));
        };
        let parts = split_specs(inner);
        if kind == "choice" {
            return choice(inner, &parts).map_err(|expected| rejected(&expected));
        }
        let [low, high] = parts[..] else {
            return Err(rejected(&format!("{kind}(low,high)")));
        };
        match kind {
            "int" | "logint" => {
                const EXPECTED: &str = "two whole numbers, the lower one first";
                let ends = low.parse::<i64>().ok().zip(high.parse::<i64>().ok());
                match ends.filter(|(low, high)| low <= high) {
                    Some((low, high)) if kind == "int" => Ok(Range::Int(low, high)),
                    Some((low, high)) if low >= 1 => Ok(Range::LogInt(low, high)),
                    Some(_) => {
                        Err(rejected("whole numbers from 1 on; int allows 0 and negative numbers"))
                    }
                    None => Err(rejected(EXPECTED)),
                }
            }
            _ => {
                let ends = low.parse::<f64>().ok().zip(high.parse::<f64>().ok());
                let is_range = |(low, high): &(f64, f64)| low <= high && (high - low).is_finite();
                match ends.filter(is_range) {
                    Some((low, high)) if kind == "uniform" => Ok(Range::Uniform(low, high)),
                    Some((low, high)) if low > 0.0 => Ok(Range::Log(low, high)),
                    Some(_) => {
                        Err(rejected("numbers above 0; uniform allows 0 and negative numbers"))
                    }
                    None => Err(rejected("two numbers, the lower one first")),
                }
            }
        }
    }

    /// Values that represent the range: all values of a choice, or the lowest and the highest
    /// number.
    pub fn representative_values(&self) -> Vec<String> {
        match self {
            Range::Fixed(value) => vec![value.clone()],
            Range::Choice(values) => values.clone(),
            Range::Int(low, high) | Range::LogInt(low, high) => {
                vec![low.to_string(), high.to_string()]
            }
            Range::Uniform(low, high) | Range::Log(low, high) => {
                vec![low.to_string(), high.to_string()]
            }
        }
    }

    /// A random value; `None` for a choice without values.
    fn draw(&self, random: &mut Random) -> Option<String> {
        // A random number is drawn even if there is nothing to choose, so that the draws of the
        // other parameters do not depend on this range.
        let fraction = random.unit();
        Some(match self {
            Range::Fixed(value) => value.clone(),
            Range::Choice(values) => {
                let index = (fraction * values.len() as f64) as usize;
                values.get(index).or(values.last())?.clone()
            }
            Range::Int(low, high) => {
                integer_text(*low, *high, *low as f64 + fraction * span(*low, *high))
            }
            Range::LogInt(low, high) => {
                let value = log_interpolated(*low as f64, *high as f64 + 1.0, fraction);
                integer_text(*low, *high, value)
            }
            Range::Uniform(low, high) => rounded_text(*low, *high, low + fraction * (high - low)),
            Range::Log(low, high) => {
                rounded_text(*low, *high, log_interpolated(*low, *high, fraction))
            }
        })
    }
}

/// The number of whole numbers in a range.
fn span(low: i64, high: i64) -> f64 {
    high as f64 - low as f64 + 1.0
}

/// `low * (high / low)^fraction`: `low` for the fraction 0, `high` for 1.
fn log_interpolated(low: f64, high: f64, fraction: f64) -> f64 {
    low * exp(fraction * (high / low).ln())
}

/// The value rounded down, within the range.
fn integer_text(low: i64, high: i64, value: f64) -> String {
    (value.floor() as i64).clamp(low, high).to_string()
}

/// The value to three significant digits, within the range.
fn rounded_text(low: f64, high: f64, value: f64) -> String {
    let rounded = format!("{value:.2e}").parse::<f64>().unwrap_or(value);
    rounded.clamp(low, high).to_string()
}

/// Reads a choice from the text in its parentheses, which `parts` holds split at the commas; the
/// error says what was expected.
fn choice(inner: &str, parts: &[&str]) -> Result<Range, String> {
    let mut depth = 0_i32;
    let mut commas = 0;
    for c in inner.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => commas += 1,
            _ => {}
        }
    }
    if parts.len() != commas + 1 {
        return Err("values separated by commas, none of them empty".to_owned());
    }
    if let Some(twice) = (1..parts.len()).find(|n| parts[..*n].contains(&parts[*n])) {
        return Err(format!("each value once; {} is given twice", parts[twice]));
    }
    Ok(Range::Choice(parts.iter().map(|part| (*part).to_owned()).collect()))
}

/// Rejects a `)` without its `(` and a `(` without its `)`: the text is parsed within the
/// parentheses of a spec, whose end they would shift.
fn check_parentheses(text: &str) -> Result<(), SpecError> {
    let mut depth = 0_usize;
    for (index, c) in text.chars().enumerate() {
        match c {
            '(' => depth += 1,
            ')' if depth == 0 => {
                return Err(syntax(text, index + 1, "`)`".to_owned(), "no `)` without its `(`"));
            }
            ')' => depth -= 1,
            _ => {}
        }
    }
    match depth {
        0 => Ok(()),
        _ => {
            let end = text.chars().count() + 1;
            Err(syntax(text, end, "the end".to_owned(), "`)` to close an open `(`"))
        }
    }
}

/// The error of a space that does not follow the grammar.
fn syntax(text: &str, column: usize, found: String, expected: &'static str) -> SpecError {
    SpecError::Syntax { spec: text.to_owned(), column, found, expected }
}

/// Changes an error about the spec `space(TEXT)`, which was parsed, into an error about the text.
fn as_written(error: SpecError, text: &str) -> SpecError {
    match error {
        SpecError::Syntax { column, found, expected, .. } => {
            let column = column.saturating_sub(PREFIX.len()).max(1);
            let length = text.chars().count();
            match column > length {
                true => syntax(text, length + 1, "the end".to_owned(), expected),
                // `found` may end with the added parenthesis, so it is read from the text again.
                false => {
                    let from_column = text.chars().skip(column - 1);
                    let word: String =
                        from_column.take_while(|c| !c.is_whitespace()).take(20).collect();
                    let found = if word.is_empty() { found } else { format!("`{word}`") };
                    syntax(text, column, found, expected)
                }
            }
        }
        SpecError::TooDeep { column, most } => {
            SpecError::TooDeep { column: column.saturating_sub(PREFIX.len()).max(1), most }
        }
        other => other,
    }
}

impl FromStr for Space {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        Self::parse(text)
    }
}

impl fmt::Display for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (name, range)) in self.parameters.iter().enumerate() {
            write!(f, "{}{name}={range}", if index == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self {
            Range::Fixed(value) => return f.write_str(value),
            Range::Choice(_) => "choice",
            Range::Int(..) => "int",
            Range::LogInt(..) => "logint",
            Range::Uniform(..) => "uniform",
            Range::Log(..) => "log",
        };
        write!(f, "{kind}({})", self.representative_values().join(","))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn errors_name_the_position_and_what_was_expected() {
        for (text, expected) in [
            ("", "column 1: found the end, expected a parameter"),
            ("rate", "column 5: found the end, expected `=`"),
            ("rate=", "expected a value"),
            ("rate=log(1,2),", "column 15: found the end, expected a parameter name"),
            ("rate=log(1,2", "to close"),
            ("rate=log(1,2))", "column 14: found `)`, expected no `)` without its `(`"),
            ("rate=lgo(1,2)", "unknown range `lgo` (did you mean `log`?); known: choice, int"),
            ("rate=log(1)", "rate=log(1) is not allowed; expected log(low,high)"),
            ("rate=log(1,2,3)", "expected log(low,high)"),
            ("rate=log(0,2)", "numbers above 0; uniform"),
            ("rate=log(2,1)", "the lower one first"),
            ("rate=log(1,2)x", "ends with its parenthesis"),
            ("rate=uniform(a,b)", "two numbers"),
            ("rate=uniform(0,inf)", "two numbers"),
            ("rate=uniform(nan,1)", "two numbers"),
            ("leaves=int(1.5,3)", "two whole numbers"),
            ("leaves=logint(0,3)", "from 1 on"),
            ("leaves=choice()", "none of them empty"),
            ("leaves=choice(7,,15)", "none of them empty"),
            ("leaves=choice(7,15,7)", "each value once; 7 is given twice"),
            ("leaves=7, leaves=8", "`leaves` twice"),
            ("leaves 7", "column 8: found `7`, expected `=`"),
        ] {
            let message = Space::parse(text).unwrap_err().to_string();
            assert!(message.contains(expected), "{text}: {message}");
            assert!(!message.contains("space("), "{text}: {message}");
        }
    }

    #[test]
    fn values_may_be_specs_themselves() {
        let text = "metric=choice(ndcg@10,err(max=4, rel=1)@5), layers=choice(64/32,none)";
        let space = Space::parse(text).unwrap();
        let Some(Range::Choice(values)) = space.get("metric") else { panic!() };
        assert_eq!(values[1], "err(max=4, rel=1)@5");
        assert_eq!(space.to_string(), text);
    }

    #[test]
    fn a_choice_without_values_is_left_out_and_never_an_empty_text() {
        let nothing: [u32; 0] = [];
        let space = Space::new().choice("leaves", nothing).fixed("rate", 0.1);
        assert_eq!(space.draw(1, 1), [("rate".to_owned(), "0.1".to_owned())]);
        assert!(Space::parse(&space.to_string()).is_err());
    }

    #[test]
    fn every_value_of_a_small_range_is_drawn_with_its_probability() {
        let space = Space::parse("a=choice(x,y,z), b=int(-1,2), c=logint(1,2)").unwrap();
        let draws: Vec<_> = (1..=6000).map(|trial| space.draw(5, trial)).collect();
        let frequency = |parameter: usize, value: &str| {
            draws.iter().filter(|draw| draw[parameter].1 == value).count() as f64 / 6000.0
        };
        for value in ["x", "y", "z"] {
            assert!((frequency(0, value) - 1.0 / 3.0).abs() < 0.03, "{value}");
        }
        for value in ["-1", "0", "1", "2"] {
            assert!((frequency(1, value) - 0.25).abs() < 0.03, "{value}");
        }
        // logint(1,2) draws a number from 1 to 3, uniform in its logarithm, and rounds it down: it
        // is below 2 with probability ln 2 / ln 3.
        assert!((frequency(2, "1") - 0.631).abs() < 0.03);
    }

    #[test]
    fn half_of_the_logarithms_lie_below_the_geometric_mean() {
        let space = Space::parse("a=log(0.01,1), b=uniform(0,10)").unwrap();
        let draws: Vec<_> = (0..4000).map(|trial| space.draw(9, trial)).collect();
        let fraction_below = |parameter: usize, bound: f64| {
            let value = |draw: &Vec<(String, String)>| draw[parameter].1.parse::<f64>().unwrap();
            draws.iter().filter(|draw| value(draw) < bound).count() as f64 / 4000.0
        };
        assert!((fraction_below(0, 0.1) - 0.5).abs() < 0.03);
        assert!((fraction_below(1, 5.0) - 0.5).abs() < 0.03);
    }

    proptest! {
        #[test]
        fn draws_stay_within_the_range_and_have_three_digits(
            low in 1e-4_f64..10.0, more in 0.0_f64..1e4, seed: u64, trial in 0_usize..1000,
        ) {
            let high = low + more;
            let text = format!("a=log({low},{high}), b=uniform({low},{high})");
            for (_, value) in Space::parse(&text).unwrap().draw(seed, trial) {
                let number: f64 = value.parse().unwrap();
                prop_assert!(low <= number && number <= high, "{text} {value}");
                let rounded: f64 = format!("{number:.2e}").parse().unwrap();
                prop_assert!(number == rounded || number == low || number == high);
            }
        }

        #[test]
        fn any_text_gives_a_space_that_reads_back_or_an_error(text in "[a-c=(),.0-9 loginthuf]{0,24}") {
            if let Ok(space) = Space::parse(&text) {
                prop_assert_eq!(Space::parse(&space.to_string()).unwrap(), space);
            }
        }
    }
}
