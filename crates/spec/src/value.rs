//! Values of parameters: reads each type from a spec and writes it into one.

use std::fmt;

use crate::def::{ParamKind, RangeDef};
use crate::error::{SpecError, ValueError};
use crate::spec::Spec;

/// A type that a parameter can have.
pub trait ParamValue: Clone + PartialEq + Sized {
    /// The type, for help texts and for bindings in other programming languages.
    fn kind() -> ParamKind;

    /// Reads a value; `range` is used only in the text of the error.
    fn read(text: &str, range: &RangeDef) -> Result<Self, ValueError>;

    /// The value as a spec writes it; reads back to itself.
    fn write(&self) -> String;

    /// Whether the value is within a range.
    fn in_range(&self, _range: &RangeDef) -> bool {
        true
    }

    /// Checks what neither the type nor the range ensures. Types that can hold any text check it
    /// here, as a program may set it without [`read`](Self::read).
    fn check(&self) -> Result<(), ValueError> {
        Ok(())
    }

    /// Whether the value stands for "not given": such a default makes the parameter required.
    fn is_absent(&self) -> bool {
        false
    }
}

/// A value that a builder method takes for a parameter of type `T`.
pub trait IntoParam<T> {
    /// The value of the parameter.
    fn into_param(self) -> T;
}

impl<T: ParamValue> IntoParam<T> for T {
    fn into_param(self) -> T {
        self
    }
}

/// The error of a text that is not a value of the type, or not in the range.
fn expected<T: ParamValue>(range: &RangeDef) -> ValueError {
    ValueError::Expected(T::kind().expected(range))
}

/// Implements [`ParamValue`] for whole numbers.
macro_rules! integers {
    ($($number:ty),*) => { $(
        impl ParamValue for $number {
            fn kind() -> ParamKind {
                ParamKind::Integer
            }

            fn read(text: &str, range: &RangeDef) -> Result<Self, ValueError> {
                // `1e3` and `100.0` are whole numbers too; written so, they must fit a `u32`.
                let is_whole = |x: &f64| x.fract() == 0.0 && (0.0..=4_294_967_295.0).contains(x);
                let number = || text.parse::<f64>().ok().filter(is_whole).map(|x| x as $number);
                text.parse().ok().or_else(number).ok_or_else(|| expected::<Self>(range))
            }

            fn write(&self) -> String {
                self.to_string()
            }

            fn in_range(&self, range: &RangeDef) -> bool {
                range.contains(*self as f64)
            }
        }
    )* };
}

integers!(u32, u64, usize);

/// A finite number. NaN as a default means "not given".
impl ParamValue for f64 {
    fn kind() -> ParamKind {
        ParamKind::Number
    }

    fn is_absent(&self) -> bool {
        self.is_nan()
    }

    fn read(text: &str, range: &RangeDef) -> Result<Self, ValueError> {
        text.parse().map_err(|_| expected::<Self>(range))
    }

    fn write(&self) -> String {
        match *self {
            0.0 => "0".to_owned(),
            // Numbers outside of these limits are shorter with an exponent.
            x if (1e-5..1e15).contains(&x.abs()) => x.to_string(),
            x => format!("{x:e}"),
        }
    }

    fn in_range(&self, range: &RangeDef) -> bool {
        self.is_finite() && range.contains(*self)
    }
}

impl ParamValue for bool {
    fn kind() -> ParamKind {
        ParamKind::Boolean
    }

    fn read(text: &str, range: &RangeDef) -> Result<Self, ValueError> {
        match text {
            "true" | "yes" | "on" => Ok(true),
            "false" | "no" | "off" => Ok(false),
            _ => Err(expected::<Self>(range)),
        }
    }

    fn write(&self) -> String {
        self.to_string()
    }
}

/// A text without white space around it. An empty one means "not given".
impl ParamValue for String {
    fn kind() -> ParamKind {
        ParamKind::Text
    }

    fn read(text: &str, _: &RangeDef) -> Result<Self, ValueError> {
        Ok(text.trim().to_owned())
    }

    fn write(&self) -> String {
        self.clone()
    }

    fn is_absent(&self) -> bool {
        self.is_empty()
    }
}

/// A type of parameters that holds a text, so that builder methods take a `&str` for it, for an
/// `Option` of it and for an [`Auto`] of it. The text is checked in [`ParamValue::check`].
pub trait TextValue: ParamValue {
    /// The value of a text, not checked yet.
    fn from_text(text: &str) -> Self;
}

impl TextValue for String {
    fn from_text(text: &str) -> Self {
        text.to_owned()
    }
}

impl<T: TextValue> IntoParam<T> for &str {
    fn into_param(self) -> T {
        T::from_text(self)
    }
}

impl<T: TextValue> IntoParam<Option<T>> for &str {
    fn into_param(self) -> Option<T> {
        Some(T::from_text(self))
    }
}

impl<T: TextValue> IntoParam<Auto<T>> for &str {
    fn into_param(self) -> Auto<T> {
        Auto::Given(T::from_text(self))
    }
}

/// `none`, or a value.
impl<T: ParamValue> ParamValue for Option<T> {
    fn kind() -> ParamKind {
        ParamKind::Either { word: "none", or: Box::new(T::kind()) }
    }

    fn read(text: &str, range: &RangeDef) -> Result<Self, ValueError> {
        match text {
            "none" => Ok(None),
            _ => T::read(text, range)
                .map(Some)
                .map_err(|error| with_outer_expectation::<Self>(error, range)),
        }
    }

    fn write(&self) -> String {
        self.as_ref().map_or_else(|| "none".to_owned(), T::write)
    }

    fn in_range(&self, range: &RangeDef) -> bool {
        self.as_ref().is_none_or(|value| value.in_range(range))
    }

    fn check(&self) -> Result<(), ValueError> {
        self.as_ref().map_or(Ok(()), T::check)
    }
}

/// The error of an inner type, such as the `T` of `Option<T>`, with the expected values of the
/// outer type.
fn with_outer_expectation<T: ParamValue>(error: ValueError, range: &RangeDef) -> ValueError {
    match error {
        ValueError::Expected(_) => expected::<T>(range),
        ValueError::Spec(error) => ValueError::Spec(error),
    }
}

impl<T: ParamValue> IntoParam<Option<T>> for T {
    fn into_param(self) -> Option<T> {
        Some(self)
    }
}

/// A value, or `auto`: chosen by other parameters or by the data, as the help describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Auto<T> {
    /// Chosen automatically.
    #[default]
    Auto,
    /// Given by the user.
    Given(T),
}

impl<T> Auto<T> {
    /// The given value, or `chosen` for `auto`.
    pub fn or(self, chosen: T) -> T {
        match self {
            Self::Auto => chosen,
            Self::Given(value) => value,
        }
    }

    /// The given value; `None` for `auto`.
    pub fn given(self) -> Option<T> {
        match self {
            Self::Auto => None,
            Self::Given(value) => Some(value),
        }
    }
}

impl<T: ParamValue> ParamValue for Auto<T> {
    fn kind() -> ParamKind {
        ParamKind::Either { word: "auto", or: Box::new(T::kind()) }
    }

    fn read(text: &str, range: &RangeDef) -> Result<Self, ValueError> {
        match text {
            "auto" => Ok(Self::Auto),
            _ => T::read(text, range)
                .map(Self::Given)
                .map_err(|e| with_outer_expectation::<Self>(e, range)),
        }
    }

    fn write(&self) -> String {
        match self {
            Self::Auto => "auto".to_owned(),
            Self::Given(value) => value.write(),
        }
    }

    fn in_range(&self, range: &RangeDef) -> bool {
        match self {
            Self::Auto => true,
            Self::Given(value) => value.in_range(range),
        }
    }

    fn check(&self) -> Result<(), ValueError> {
        match self {
            Self::Auto => Ok(()),
            Self::Given(value) => value.check(),
        }
    }
}

impl<T: ParamValue> IntoParam<Auto<T>> for T {
    fn into_param(self) -> Auto<T> {
        Auto::Given(self)
    }
}

/// One or more values; a spec separates them by slashes: `64/32`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Slashed<T>(pub Vec<T>);

impl<T: ParamValue> ParamValue for Slashed<T> {
    fn kind() -> ParamKind {
        ParamKind::List { of: Box::new(T::kind()) }
    }

    fn read(text: &str, range: &RangeDef) -> Result<Self, ValueError> {
        let read = |part: &str| {
            T::read(part.trim(), range).map_err(|e| with_outer_expectation::<Self>(e, range))
        };
        text.split('/').map(read).collect::<Result<_, _>>().map(Self)
    }

    fn write(&self) -> String {
        self.0.iter().map(T::write).collect::<Vec<_>>().join("/")
    }

    fn in_range(&self, range: &RangeDef) -> bool {
        !self.0.is_empty() && self.0.iter().all(|value| value.in_range(range))
    }
}

impl<T: ParamValue> IntoParam<Slashed<T>> for T {
    fn into_param(self) -> Slashed<T> {
        Slashed(vec![self])
    }
}

impl<T: ParamValue> IntoParam<Auto<Slashed<T>>> for T {
    fn into_param(self) -> Auto<Slashed<T>> {
        Auto::Given(Slashed(vec![self]))
    }
}

impl<T: ParamValue> IntoParam<Slashed<T>> for Vec<T> {
    fn into_param(self) -> Slashed<T> {
        Slashed(self)
    }
}

impl<T: ParamValue> IntoParam<Slashed<T>> for &[T] {
    fn into_param(self) -> Slashed<T> {
        Slashed(self.to_vec())
    }
}

impl<T: ParamValue, const N: usize> IntoParam<Slashed<T>> for [T; N] {
    fn into_param(self) -> Slashed<T> {
        Slashed(self.into())
    }
}

impl<T: ParamValue> IntoParam<Option<Slashed<T>>> for Vec<T> {
    fn into_param(self) -> Option<Slashed<T>> {
        Some(Slashed(self))
    }
}

impl<T: ParamValue, const N: usize> IntoParam<Option<Slashed<T>>> for [T; N] {
    fn into_param(self) -> Option<Slashed<T>> {
        Some(Slashed(self.into()))
    }
}

impl<T: ParamValue> fmt::Display for Slashed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.write())
    }
}

/// A spec of any kind, not checked further.
impl ParamValue for Spec {
    fn kind() -> ParamKind {
        ParamKind::Spec { of: "spec" }
    }

    fn read(text: &str, _: &RangeDef) -> Result<Self, ValueError> {
        Self::parse(text).map_err(ValueError::Spec)
    }

    fn write(&self) -> String {
        self.to_string()
    }
}

impl From<SpecError> for ValueError {
    fn from(error: SpecError) -> Self {
        Self::Spec(error)
    }
}

/// A choice among names, with its help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChoiceDef<T> {
    /// Name in specs.
    pub name: &'static str,
    /// One or more sentences of help.
    pub help: &'static str,
    /// The value of this name.
    pub value: T,
}

/// A type of parameters whose values have names; [`choices!`](crate::choices) declares such types.
pub trait NamedChoice: ParamValue + Copy + Send + Sync + 'static {
    /// Every choice, the default first.
    fn choices() -> Vec<ChoiceDef<Self>>;
}

/// The choice with the name `text`, among choices with their names.
pub fn choice_named<T: Copy>(text: &str, choices: &[(&'static str, T)]) -> Result<T, ValueError> {
    let named = choices.iter().find(|(name, _)| *name == text);
    named.map(|(_, value)| *value).ok_or_else(|| {
        let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
        ValueError::Expected(names.join(" | "))
    })
}
