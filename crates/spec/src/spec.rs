//! The small language of specs: `name`, `name(key=value, ...)`, `name(...)@k`.
//!
//! Metrics, learners, features and first stages are all written in it, so that
//! `lambdamart(metric=ndcg(gain=linear)@10, leaves=31)` reads like `ndcg@10`.
//!
//! ```text
//! spec  = name [ "(" [ arg { "," arg } ] ")" ] [ "@" cutoff ]
//! arg   = key "=" value
//! name  = letter or digit, then letters, digits, "_", "-", "."
//! value = any text without "," or ")" outside of balanced parentheses
//! ```
//!
//! A value may be a spec itself, or several joined by `+`: `blend(members=mart(trees=9)+ranksvm)`.
//! White space around the pieces is dropped. `Display` writes the canonical form
//! (`name(a=b, c=d)@10`) and parsing that gives the same [`Spec`] again. The cut-off is a whole
//! number from 1 on. Parentheses nest at most [`MAX_DEPTH`] deep, since specs within specs are read
//! by recursion. Cost: two passes over the text.

use std::fmt;
use std::str::FromStr;

use crate::error::SpecError;

/// The most levels of nested parentheses in a spec.
pub const MAX_DEPTH: usize = 64;

/// A parsed spec: a name, its arguments in the order written, and a cut-off.
///
/// ```
/// use rankwright_spec::Spec;
///
/// let spec: Spec = "ndcg( gain=linear,ties=mean ) @ 10".parse()?;
/// assert_eq!(spec.name, "ndcg");
/// assert_eq!(spec.get("gain"), Some("linear"));
/// assert_eq!(spec.cutoff, Some(10));
/// assert_eq!(spec.to_string(), "ndcg(gain=linear, ties=mean)@10");
/// # Ok::<(), rankwright_spec::SpecError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Spec {
    /// The name of a metric, a learner, a feature or a first stage.
    pub name: String,
    /// Arguments as written; a value may itself be a spec.
    pub args: Vec<(String, String)>,
    /// The `@k` at the end; `None` without one.
    pub cutoff: Option<u32>,
}

impl Spec {
    /// A bare name, without arguments or cut-off.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), args: Vec::new(), cutoff: None }
    }

    /// Reads a spec; the error names the column.
    pub fn parse(text: &str) -> Result<Self, SpecError> {
        check_depth(text)?;
        Parser { text, offset: 0 }.spec()
    }

    /// The value of a parameter; `None` if it was not written.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.args.iter().find(|(k, _)| k == key).map(|(_, v)| v.as_str())
    }

    /// The same spec with `key=value` set (replaced if it was already there).
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<String>) -> Self {
        let value = value.into();
        match self.args.iter_mut().find(|(k, _)| k == key) {
            Some(slot) => slot.1 = value,
            None => self.args.push((key.to_owned(), value)),
        }
        self
    }

    /// The same spec with a cut-off.
    #[must_use]
    pub fn at(mut self, cutoff: u32) -> Self {
        self.cutoff = Some(cutoff);
        self
    }
}

impl FromStr for Spec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        Self::parse(text)
    }
}

impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        for (i, (key, value)) in self.args.iter().enumerate() {
            write!(f, "{}{key}={value}", if i == 0 { "(" } else { ", " })?;
        }
        if !self.args.is_empty() {
            f.write_str(")")?;
        }
        match self.cutoff {
            Some(k) => write!(f, "@{k}"),
            None => Ok(()),
        }
    }
}

/// Splits `a, b(c=1, d=2)@3, e` at the commas that stand outside of parentheses.
///
/// ```
/// assert_eq!(rankwright_spec::split_specs("rr, ndcg(gain=linear, ties=mean)@5").len(), 2);
/// ```
pub fn split_specs(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut depth, mut start) = (0_i32, 0);
    for (offset, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(text[start..offset].trim());
                start = offset + 1;
            }
            _ => {}
        }
    }
    parts.push(text[start..].trim());
    parts.retain(|p| !p.is_empty());
    parts
}

/// Rejects a text with too many levels of nested parentheses.
fn check_depth(text: &str) -> Result<(), SpecError> {
    let mut depth = 0_usize;
    for (index, c) in text.chars().enumerate() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_DEPTH {
            return Err(SpecError::TooDeep { column: index + 1, most: MAX_DEPTH });
        }
    }
    Ok(())
}

/// A parser with its position in the text; every method moves it behind the text that it has read.
struct Parser<'t> {
    text: &'t str,
    offset: usize,
}

impl<'t> Parser<'t> {
    /// The whole spec.
    fn spec(mut self) -> Result<Spec, SpecError> {
        let name = self.word("a name (letters, digits, `_`, `-`, `.`)")?;
        let has_args = self.take('(');
        let args = if has_args { self.args(&name)? } else { Vec::new() };
        let cutoff = if self.take('@') { Some(self.cutoff()?) } else { None };
        self.skip_space();
        if self.rest().is_empty() {
            return Ok(Spec { name, args, cutoff });
        }
        Err(self.fail(match (has_args, cutoff) {
            (_, Some(_)) => "the end after the cut-off",
            (false, None) => "`(`, `@` or the end",
            (true, None) => "`@` or the end",
        }))
    }

    /// The arguments after `(`, up to and including `)`; `name` is the spec's, for the error.
    fn args(&mut self, name: &str) -> Result<Vec<(String, String)>, SpecError> {
        let mut args: Vec<(String, String)> = Vec::new();
        if self.take(')') {
            return Ok(args);
        }
        loop {
            let key = self.word("a parameter name")?;
            if !self.take('=') {
                return Err(self.fail("`=` and a value"));
            }
            let value = self.value()?;
            if args.iter().any(|(k, _)| *k == key) {
                return Err(SpecError::DuplicateKey { name: name.to_owned(), key });
            }
            args.push((key, value));
            if self.take(')') {
                return Ok(args);
            }
            if !self.take(',') {
                return Err(self.fail("`,` or `)`"));
            }
        }
    }

    /// Text up to the `,` or `)` that ends the argument; inner parentheses must balance.
    fn value(&mut self) -> Result<String, SpecError> {
        self.skip_space();
        let mut depth = 0_usize;
        let rest = self.rest();
        let mut end = rest.len();
        for (offset, c) in rest.char_indices() {
            match c {
                '(' => depth += 1,
                ')' | ',' if depth == 0 => {
                    end = offset;
                    break;
                }
                ')' => depth -= 1,
                _ => {}
            }
        }
        let value = rest[..end].trim();
        if value.is_empty() {
            return Err(self.fail("a value"));
        }
        self.offset += end;
        if depth > 0 {
            return Err(self.fail("`)` to close the value"));
        }
        Ok(value.to_owned())
    }

    /// The number after `@`.
    fn cutoff(&mut self) -> Result<u32, SpecError> {
        const EXPECTED: &str = "a whole number from 1 to 4294967295";
        self.skip_space();
        let rest = self.rest();
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        match rest[..end].parse::<u32>() {
            Ok(k) if k > 0 => {
                self.offset += end;
                Ok(k)
            }
            _ => Err(self.fail(EXPECTED)),
        }
    }

    /// A name or key; `expected` describes it in the error.
    fn word(&mut self, expected: &'static str) -> Result<String, SpecError> {
        self.skip_space();
        let rest = self.rest();
        let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        let end = rest.find(|c| !is_allowed(c)).unwrap_or(rest.len());
        if !rest.starts_with(|c: char| c.is_ascii_alphanumeric()) {
            return Err(self.fail(expected));
        }
        self.offset += end;
        Ok(rest[..end].to_owned())
    }

    /// Reads the character if it comes next; returns whether it does.
    fn take(&mut self, c: char) -> bool {
        self.skip_space();
        let found = self.rest().starts_with(c);
        if found {
            self.offset += c.len_utf8();
        }
        found
    }

    /// Skips white space.
    fn skip_space(&mut self) {
        let rest = self.rest();
        self.offset += rest.len() - rest.trim_start().len();
    }

    /// The text from the position on.
    fn rest(&self) -> &'t str {
        self.text.get(self.offset..).unwrap_or_default()
    }

    /// The error that something else than `expected` is at the position.
    fn fail(&self, expected: &'static str) -> SpecError {
        let found = match self.rest().chars().next() {
            Some(_) => {
                let word: String =
                    self.rest().chars().take_while(|c| !c.is_whitespace()).take(20).collect();
                format!("`{word}`")
            }
            None => "the end".to_owned(),
        };
        let column = self.text.chars().count() - self.rest().chars().count() + 1;
        SpecError::Syntax { spec: self.text.to_owned(), column, found, expected }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_nested_spec_is_the_value_of_one_parameter() {
        let spec = Spec::parse("lambdamart(metric=ndcg(gain=linear)@10, leaves=31)").unwrap();
        assert_eq!(spec.get("metric"), Some("ndcg(gain=linear)@10"));
        assert_eq!(spec.get("leaves"), Some("31"));
        assert_eq!(spec.to_string(), "lambdamart(metric=ndcg(gain=linear)@10, leaves=31)");
    }

    #[test]
    fn errors_say_column_found_and_expected() {
        let cases = [
            ("", "column 1: found the end, expected a name"),
            ("ndcg@0", "column 6: found `0`, expected a whole number from 1"),
            ("ndcg@x", "column 6: found `x`"),
            ("ndcg@99999999999", "expected a whole number"),
            ("ndcg@10 5", "column 9: found `5`, expected the end after the cut-off"),
            ("ndcg(gain)", "column 10: found `)`, expected `=`"),
            ("ndcg(gain=)", "column 11: found `)`, expected a value"),
            ("ndcg(gain=exp", "column 14: found the end, expected `,` or `)`"),
            ("ndcg(gain=exp,)", "column 15: found `)`, expected a parameter name"),
            ("ndcg(a=f(x, b=2", "column 16: found the end, expected `)` to close the value"),
            ("ndcg)", "column 5: found `)`, expected `(`, `@` or the end"),
            ("ndcg()b", "column 7: found `b`, expected `@` or the end"),
            ("ndcg(a=1)b", "column 10: found `b`, expected `@` or the end"),
            ("nd\u{e9}g", "column 3: found `\u{e9}g`"),
        ];
        for (text, expected) in cases {
            let message = Spec::parse(text).unwrap_err().to_string();
            assert!(message.contains(expected), "{text}: {message}");
        }
        let twice = Spec::parse("ndcg(a=1, a=2)").unwrap_err().to_string();
        assert_eq!(twice, "`ndcg` is given `a` twice");
    }

    #[test]
    fn parentheses_nest_up_to_a_limit() {
        let nested = |levels: usize| format!("{}x{}", "a(b=".repeat(levels), ")".repeat(levels));
        assert!(Spec::parse(&nested(MAX_DEPTH)).is_ok());
        let error = Spec::parse(&nested(MAX_DEPTH + 1)).unwrap_err();
        // The 65th parenthesis: 64 times `a(b=`, and `a(`.
        assert_eq!(error, SpecError::TooDeep { column: 258, most: MAX_DEPTH });
        let expected = "spec, column 258: parentheses nest more than 64 levels deep";
        assert_eq!(error.to_string(), expected);
        assert_eq!(error.kind(), "too-deep");
        // Parentheses that are closed again do not add up.
        let many = format!("a(b={})", "c(d=1)+".repeat(1000) + "e");
        assert!(Spec::parse(&many).is_ok());
    }

    #[test]
    fn empty_parentheses_are_the_bare_name() {
        assert_eq!(Spec::parse("rr()").unwrap(), Spec::new("rr"));
        assert_eq!(Spec::parse("rr()@3").unwrap(), Spec::new("rr").at(3));
    }

    proptest! {
        #[test]
        fn printing_and_parsing_are_inverse(
            name in "[a-z][a-z0-9_.-]{0,8}",
            args in proptest::collection::btree_map("[a-z][a-z_]{0,5}",
                "[a-z0-9./-]{1,6}|[a-z]{1,3}\\([a-z]=[0-9]{1,3}(, [b-d]=x)?\\)(@[1-9])?", 0..4),
            cutoff in proptest::option::of(1_u32..),
        ) {
            let spec = Spec { name, args: args.into_iter().collect(), cutoff };
            prop_assert_eq!(Spec::parse(&spec.to_string()).unwrap(), spec);
        }

        #[test]
        fn any_text_gives_a_spec_or_an_error(text in "\\PC{0,40}") {
            if let Ok(spec) = Spec::parse(&text) {
                prop_assert_eq!(Spec::parse(&spec.to_string()).unwrap(), spec);
            }
        }
    }
}
