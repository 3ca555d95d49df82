//! The expression of a filter, as parsed: conditions on fields, joined by AND, OR and NOT.
//!
//! An expression knows no index: whether its fields exist and its values fit them is checked by
//! [`super::condition`] when it is applied.

use std::fmt;

/// A parsed filter expression. It prints in a form that parses to an equal expression; two
/// expressions are equal if they parse to the same conditions, whatever their spacing.
///
/// ```
/// use rankwright_search::FilterExpression;
///
/// let filter = FilterExpression::parse("tags:red and not price>=20")?;
/// assert_eq!(filter.to_string(), "tags:red AND NOT price>=20");
/// assert_eq!(filter, FilterExpression::parse("tags:red AND NOT price>=20")?);
/// # Ok::<(), rankwright_search::FilterError>(())
/// ```
#[derive(Debug, Clone)]
pub struct FilterExpression {
    /// The text as given, for messages.
    pub(super) text: String,
    pub(super) root: Node,
}

/// The text as given does not count: the same conditions can be written in several ways.
impl PartialEq for FilterExpression {
    fn eq(&self, other: &Self) -> bool {
        self.root == other.root
    }
}

impl Eq for FilterExpression {}

/// A node of an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Node {
    /// Documents that pass every part.
    And(Vec<Node>),
    /// Documents that pass at least one part.
    Or(Vec<Node>),
    /// Documents that do not pass.
    Not(Box<Node>),
    /// Documents whose field passes a test.
    Test(FieldTest),
}

/// A test of one field, or of all text fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FieldTest {
    /// The field; `None` stands for all text fields.
    pub(super) field: Option<Literal>,
    pub(super) test: ValueTest,
}

/// A test of a field's values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ValueTest {
    /// The field has a value.
    Present,
    /// A value compares so with the literal.
    Compare(Comparison, Literal),
    /// A value equals one of the literals.
    OneOf(Vec<Literal>),
    /// A value lies in a range; an end without a literal is open.
    Range { low: RangeEnd, high: RangeEnd },
}

/// One end of a range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RangeEnd {
    pub(super) value: Option<Literal>,
    /// Whether the end itself belongs to the range.
    pub(super) included: bool,
}

/// A comparison of a value with a literal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comparison {
    /// `:`, equal for most kinds of fields; text and addresses contain the literal.
    Matches,
    /// `=`.
    Equals,
    /// `<`.
    Less,
    /// `<=`.
    AtMost,
    /// `>`.
    Greater,
    /// `>=`.
    AtLeast,
}

impl Comparison {
    pub(super) fn symbol(self) -> &'static str {
        match self {
            Self::Matches => ":",
            Self::Equals => "=",
            Self::Less => "<",
            Self::AtMost => "<=",
            Self::Greater => ">",
            Self::AtLeast => ">=",
        }
    }
}

/// A name or value of an expression, with its position in the text.
#[derive(Debug, Clone)]
pub(super) struct Literal {
    pub(super) text: String,
    pub(super) is_quoted: bool,
    /// Offset of its first byte in the text of the expression.
    pub(super) offset: usize,
}

/// Positions do not count: an expression equals itself printed and parsed.
impl PartialEq for Literal {
    fn eq(&self, other: &Self) -> bool {
        (&self.text, self.is_quoted) == (&other.text, other.is_quoted)
    }
}

impl Eq for Literal {}

impl fmt::Display for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.is_quoted {
            return f.write_str(&self.text);
        }
        f.write_str("\"")?;
        for c in self.text.chars() {
            if matches!(c, '"' | '\\') {
                f.write_str("\\")?;
            }
            write!(f, "{c}")?;
        }
        f.write_str("\"")
    }
}

impl fmt::Display for FilterExpression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.root.fmt(f)
    }
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Node::And(parts) => write_joined(f, parts, " AND "),
            Node::Or(parts) => write_joined(f, parts, " OR "),
            Node::Not(part) => {
                f.write_str("NOT ")?;
                part.write_in_brackets(f)
            }
            Node::Test(test) => test.fmt(f),
        }
    }
}

impl Node {
    fn write_in_brackets(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Node::And(_) | Node::Or(_) => write!(f, "({self})"),
            Node::Not(_) | Node::Test(_) => write!(f, "{self}"),
        }
    }
}

fn write_joined(f: &mut fmt::Formatter<'_>, parts: &[Node], operator: &str) -> fmt::Result {
    for (i, part) in parts.iter().enumerate() {
        if i > 0 {
            f.write_str(operator)?;
        }
        part.write_in_brackets(f)?;
    }
    Ok(())
}

impl fmt::Display for FieldTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(field) = &self.field {
            field.fmt(f)?;
        }
        match (&self.test, &self.field) {
            (ValueTest::Present, Some(_)) => f.write_str(":*"),
            (ValueTest::Present, None) => f.write_str("*"),
            (ValueTest::Compare(_, literal), None) => literal.fmt(f),
            (ValueTest::Compare(comparison, literal), Some(_)) => {
                write!(f, "{}{literal}", comparison.symbol())
            }
            (ValueTest::OneOf(literals), _) => {
                f.write_str(":(")?;
                for (i, literal) in literals.iter().enumerate() {
                    write!(f, "{}{literal}", if i == 0 { "" } else { ", " })?;
                }
                f.write_str(")")
            }
            (ValueTest::Range { low, high }, _) => {
                let open = if low.included { '[' } else { '{' };
                let close = if high.included { ']' } else { '}' };
                write!(f, ":{open}")?;
                low.write_value(f)?;
                f.write_str(" TO ")?;
                high.write_value(f)?;
                write!(f, "{close}")
            }
        }
    }
}

impl RangeEnd {
    fn write_value(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.value {
            Some(literal) => write!(f, "{literal}"),
            None => f.write_str("*"),
        }
    }
}
