//! The parameter `stop`: when a training in rounds ends, and which of its rounds are kept.

use rankwright_spec::{IntoParam, ParamKind, ParamValue, RangeDef, ValueError};

/// The value of `stop=`: when a training in rounds ends, and which of its rounds are kept.
///
/// Without validation data, `auto` and `none` are the same: all rounds are trained and kept.
///
/// ```
/// use rankwright_data::generate::LetorOptions;
/// use rankwright_learn::prelude::*;
/// use rankwright_learn::Stop;
///
/// let [train, valid] = [1, 2].map(|seed| LetorOptions { queries: 20, documents: 20, seed });
/// let (train, valid) = (train.generate()?, valid.generate()?);
/// let request = || TrainRequest::new(&train).validation(&valid);
/// let rounds = |stop: Stop| -> Result<usize, rankwright_learn::LearnError> {
///     let result = Mart::new().trees(40).rate(0.5).stop(stop).fit(request())?;
///     Ok(result.history.kept.map_or(0, |kept| kept.rounds))
/// };
/// assert!(rounds(Stop::Auto)? < 40);
/// assert_eq!(rounds(Stop::None)?, 40);
/// # Ok::<(), rankwright_learn::LearnError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Stop {
    /// With validation data, the number of rounds that is best on it is kept; nets also end after
    /// 15 epochs without improvement.
    #[default]
    Auto,
    /// All rounds are trained and kept; validation data is only evaluated. `stop=0` means the same.
    None,
    /// Training ends after this many rounds without improvement on the validation data, and the
    /// best number of rounds is kept. Needs validation data.
    After(usize),
}

impl Stop {
    /// The rounds without improvement after which training ends; `None` unless a number was given.
    pub(crate) fn patience(self) -> Option<usize> {
        match self {
            Stop::After(rounds) => Some(rounds),
            Stop::Auto | Stop::None => None,
        }
    }
}

impl ParamValue for Stop {
    fn kind() -> ParamKind {
        let number = ParamKind::Either { word: "none", or: Box::new(usize::kind()) };
        ParamKind::Either { word: "auto", or: Box::new(number) }
    }

    fn read(text: &str, range: &RangeDef) -> Result<Self, ValueError> {
        match text {
            "auto" => Ok(Stop::Auto),
            "none" => Ok(Stop::None),
            _ => match usize::read(text, range) {
                Ok(rounds) => Ok(rounds.into_param()),
                Err(_) => Err(ValueError::Expected(Self::kind().expected(range))),
            },
        }
    }

    fn write(&self) -> String {
        match self {
            Stop::Auto => "auto".to_owned(),
            Stop::None => "none".to_owned(),
            Stop::After(rounds) => rounds.write(),
        }
    }
}

/// A number of rounds; 0 is [`Stop::None`].
impl IntoParam<Stop> for usize {
    fn into_param(self) -> Stop {
        match self {
            0 => Stop::None,
            rounds => Stop::After(rounds),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_read_and_written_back() {
        let read = |text: &str| Stop::read(text, &RangeDef::default());
        for (text, stop) in [("auto", Stop::Auto), ("none", Stop::None), ("20", Stop::After(20))] {
            assert_eq!(read(text).unwrap(), stop);
            assert_eq!(stop.write(), text);
        }
        assert_eq!(read("0").unwrap(), Stop::None);
        let Err(ValueError::Expected(expected)) = read("never") else { panic!("it was read") };
        assert_eq!(expected, "auto | none | a whole number from 0 on");
    }
}
