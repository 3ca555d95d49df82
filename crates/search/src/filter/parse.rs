//! The parser of filter expressions, by recursive descent: one function per rule of the grammar.
//!
//! ```text
//! or        = and { "OR" and }
//! and       = not { ["AND"] not }
//! not       = "NOT" not | "-" not | "+" not | primary
//! primary   = "(" or ")" | condition
//! condition = field operator value | field equal set | field "IN" set | field equal range
//!           | field equal "*" | "*" | value
//! equal     = ":" | "=" | "==" | ":=" | "!="
//! operator  = equal | "<" | "<=" | ">" | ">=", the last four also after ":"
//! set       = "(" value { { "," | "OR" } value } { "," | "OR" } ")", also "[" and "]" after IN
//! range     = ("[" | "{") end "TO" end ("]" | "}"), with end = value | "*"
//! field, value = word | '"' text '"' | "'" text "'", also in typographic quotes
//! ```
//!
//! AND, OR, NOT, IN and TO may be written in lower case. The depth of nesting, the number of
//! conditions and the length of the text are limited, so that no filter can exhaust the stack or
//! take long.

use super::error::{ConditionOrigin, FilterError, FilterProblem};
use super::expression::{
    Comparison, FieldTest, FilterExpression, Literal, Node, RangeEnd, ValueTest,
};

/// Maximum number of levels of brackets and NOT.
const MAX_LEVELS: usize = 64;
/// Maximum number of conditions; each value of a set counts as a further one.
const MAX_CONDITIONS: usize = 1_000;
/// Maximum number of characters of a filter.
const MAX_CHARACTERS: usize = 100_000;

impl FilterExpression {
    /// Parses an expression; docs/filters.md describes the language.
    pub fn parse(text: &str) -> Result<Self, FilterError> {
        if text.chars().nth(MAX_CHARACTERS).is_some() {
            let problem = FilterProblem::TooLong { most: MAX_CHARACTERS };
            return Err(FilterError::new("", 0, problem));
        }
        let mut parser = Parser { text, offset: 0, level: 0, conditions: 0 };
        let root = parser
            .expression()
            .map_err(|(offset, problem)| FilterError::new(text, offset, problem))?;
        Ok(Self { text: text.to_owned(), root, origin: ConditionOrigin::Filter })
    }
}

/// A result, or a problem and the byte of the text at which it is.
type Parsed<T> = Result<T, (usize, FilterProblem)>;

/// The text, and the state of its parsing.
struct Parser<'a> {
    text: &'a str,
    /// The next byte to read.
    offset: usize,
    /// Number of brackets and NOT around this byte.
    level: usize,
    /// Number of conditions so far.
    conditions: usize,
}

impl<'a> Parser<'a> {
    /// The whole text.
    fn expression(&mut self) -> Parsed<Node> {
        if self.peek().is_none() {
            return Err((0, FilterProblem::Empty));
        }
        let root = self.or()?;
        match self.peek() {
            None => Ok(root),
            Some(found) => Err((self.offset, FilterProblem::UnexpectedCharacter { found })),
        }
    }

    /// The rule `or`; the functions below are named after their rules too.
    fn or(&mut self) -> Parsed<Node> {
        let mut parts = vec![self.and()?];
        while self.take_keyword("OR") {
            parts.push(self.and()?);
        }
        Ok(joined(parts, Node::Or))
    }

    fn and(&mut self) -> Parsed<Node> {
        let mut parts = vec![self.not()?];
        while self.take_keyword("AND") || self.is_before_condition() {
            parts.push(self.not()?);
        }
        Ok(joined(parts, Node::And))
    }

    /// Whether a further condition follows without an operator before it.
    fn is_before_condition(&mut self) -> bool {
        let is_or = self.keyword("OR").is_some();
        self.peek().is_some_and(|c| !matches!(c, ')' | ']' | '}' | ',')) && !is_or
    }

    fn not(&mut self) -> Parsed<Node> {
        let offset = self.offset;
        if self.take_keyword("NOT") {
            return self.nested(offset, |parser| Ok(Node::Not(Box::new(parser.not()?))));
        }
        let sign = self.peek();
        let has_operand = self.unread().chars().nth(1).is_some_and(|c| !is_whitespace_or(c, ")"));
        match sign.filter(|_| has_operand) {
            Some('-') => {
                self.offset += 1;
                self.nested(offset, |parser| Ok(Node::Not(Box::new(parser.not()?))))
            }
            Some('+') => {
                self.offset += 1;
                self.nested(offset, Self::not)
            }
            _ => self.primary(),
        }
    }

    /// Applies a rule one level deeper; `offset` is the byte for an error.
    fn nested(&mut self, offset: usize, rule: impl Fn(&mut Self) -> Parsed<Node>) -> Parsed<Node> {
        if self.level == MAX_LEVELS {
            return Err((offset, FilterProblem::TooDeep { most: MAX_LEVELS }));
        }
        self.level += 1;
        let node = rule(self);
        self.level -= 1;
        node
    }

    fn primary(&mut self) -> Parsed<Node> {
        match self.peek() {
            Some('(') => {
                let open = self.offset;
                self.offset += 1;
                let node = self.nested(open, Self::or)?;
                self.close(open, '(', &[')'])?;
                Ok(node)
            }
            _ => self.condition(),
        }
    }

    fn condition(&mut self) -> Parsed<Node> {
        let start = self.offset;
        let missing = |offset| Err((offset, FilterProblem::MissingCondition));
        let is_keyword = ["AND", "OR"].iter().any(|word| self.keyword(word).is_some());
        match self.peek() {
            None | Some(')') => return missing(self.offset),
            _ if is_keyword => return missing(self.offset),
            _ => {}
        }
        let name = self.literal(|c| is_whitespace_or(c, "()[]{}:=<>!,\"'"))?;
        let Some(name) = name else {
            let found = self.peek().unwrap_or(' ');
            return Err((self.offset, FilterProblem::UnexpectedCharacter { found }));
        };
        self.count_condition(start)?;
        let name_end = self.offset;
        if self.keyword("IN").is_some_and(|after| self.is_set(after)) {
            self.take_keyword("IN");
            let test = ValueTest::OneOf(Comparison::Equals, self.set()?);
            return Ok(Node::Test(FieldTest { field: Some(name), test }));
        }
        let Some((operator, comparison)) = self.operator() else {
            self.offset = name_end;
            return Ok(Node::Test(test_without_field(name)));
        };
        let is_negated = operator == "!=";
        let test = self.value_test(operator, comparison)?;
        let node = Node::Test(FieldTest { field: Some(name), test });
        Ok(if is_negated { Node::Not(Box::new(node)) } else { node })
    }

    /// Whether a set begins at this byte, after whitespace.
    fn is_set(&self, offset: usize) -> bool {
        self.text[offset..].trim_start().starts_with(['(', '['])
    }

    /// Reads an operator, if one comes next: as written, and as a comparison.
    fn operator(&mut self) -> Option<(&'a str, Comparison)> {
        self.peek()?;
        let unread = self.unread();
        // An operator stands before those that it begins with.
        let operators = [
            (":<=", Comparison::AtMost),
            (":>=", Comparison::AtLeast),
            (":<", Comparison::Less),
            (":>", Comparison::Greater),
            (":=", Comparison::Equals),
            (":", Comparison::Matches),
            ("!=", Comparison::Equals),
            ("==", Comparison::Equals),
            ("=", Comparison::Equals),
            ("<=", Comparison::AtMost),
            (">=", Comparison::AtLeast),
            ("<", Comparison::Less),
            (">", Comparison::Greater),
        ];
        let (symbol, comparison) =
            operators.into_iter().find(|(symbol, _)| unread.starts_with(symbol))?;
        self.offset += symbol.len();
        Some((symbol, comparison))
    }

    /// Reads the value, set or range after an operator.
    fn value_test(&mut self, operator: &str, comparison: Comparison) -> Parsed<ValueTest> {
        let is_equality = matches!(comparison, Comparison::Matches | Comparison::Equals);
        match self.peek() {
            Some('(') if is_equality => Ok(ValueTest::OneOf(comparison, self.set()?)),
            Some('[' | '{') if is_equality => self.range(),
            Some(found @ ('<' | '>' | '=' | '!')) => {
                Err((self.offset, FilterProblem::UnexpectedCharacter { found }))
            }
            _ => {
                let missing = FilterProblem::MissingValue { operator: operator.to_owned() };
                let value =
                    self.literal(|c| is_whitespace_or(c, "()"))?.ok_or((self.offset, missing))?;
                // `a:1, b:2`, `a:1,b:2`, `a:b]`: conditions are not separated by commas, and a
                // closing bracket needs an opening one.
                let last = value.text.chars().next_back().filter(|_| !value.is_quoted);
                if let Some(found @ (',' | ']' | '}')) = last {
                    return Err((self.offset - 1, FilterProblem::UnexpectedCharacter { found }));
                }
                if let Some(at) = comma_before_condition(&value) {
                    let problem = FilterProblem::UnexpectedCharacter { found: ',' };
                    return Err((value.offset + at, problem));
                }
                let is_present = is_equality && !value.is_quoted && value.text == "*";
                Ok(if is_present {
                    ValueTest::Present
                } else {
                    ValueTest::Compare(comparison, value)
                })
            }
        }
    }

    /// Reads the values between brackets, separated by commas, `OR` or whitespace.
    fn set(&mut self) -> Parsed<Vec<Literal>> {
        self.peek();
        let open = self.offset;
        let is_square = self.unread().starts_with('[');
        let (bracket, closing) = if is_square { ('[', ']') } else { ('(', ')') };
        self.offset += 1;
        let mut values = Vec::new();
        loop {
            let start = self.offset;
            match self.peek() {
                None => return Err((open, FilterProblem::UnclosedBracket { open: bracket })),
                Some(c) if c == closing => break,
                Some(',') if !values.is_empty() => self.offset += 1,
                _ if !values.is_empty() && self.take_keyword("OR") => {}
                _ => {
                    let value = self.literal(|c| is_whitespace_or(c, ",()[]"))?;
                    let found = self.peek().unwrap_or(' ');
                    let problem = FilterProblem::UnexpectedCharacter { found };
                    values.push(value.ok_or((self.offset, problem))?);
                    self.count_condition(start)?;
                }
            }
        }
        if values.is_empty() {
            let operator = bracket.to_string();
            return Err((self.offset, FilterProblem::MissingValue { operator }));
        }
        self.offset += 1;
        Ok(values)
    }

    /// Reads `[low TO high]`, with `{` and `}` for ends that are excluded.
    fn range(&mut self) -> Parsed<ValueTest> {
        let bracket = if self.unread().starts_with('[') { '[' } else { '{' };
        let open = self.offset;
        self.offset += 1;
        let low = self.range_end()?;
        if !self.take_keyword("TO") {
            return Err((self.offset, FilterProblem::MissingTo));
        }
        let high = self.range_end()?;
        let close = self.close(open, bracket, &[']', '}'])?;
        let low = RangeEnd { value: low, included: bracket == '[' };
        let high = RangeEnd { value: high, included: close == ']' };
        Ok(ValueTest::Range { low, high })
    }

    /// Reads an end of a range; `None` for `*`, an open end.
    fn range_end(&mut self) -> Parsed<Option<Literal>> {
        let value = self.literal(|c| is_whitespace_or(c, "[]{}"))?;
        let missing = FilterProblem::MissingValue { operator: "range".into() };
        let value = value.ok_or((self.offset, missing))?;
        Ok((value.is_quoted || value.text != "*").then_some(value))
    }

    /// Reads one of the closing brackets; `open` is the byte of the opening `bracket`.
    fn close(&mut self, open: usize, bracket: char, closing: &[char]) -> Parsed<char> {
        match self.peek() {
            Some(c) if closing.contains(&c) => {
                self.offset += 1;
                Ok(c)
            }
            Some(found) => Err((self.offset, FilterProblem::UnexpectedCharacter { found })),
            None => Err((open, FilterProblem::UnclosedBracket { open: bracket })),
        }
    }

    /// Reads a quoted text, or a word up to a character of which `ends_word` is true; `None` if
    /// there is no word.
    fn literal(&mut self, ends_word: impl Fn(char) -> bool) -> Parsed<Option<Literal>> {
        let Some(first) = self.peek() else { return Ok(None) };
        let offset = self.offset;
        if let Some(closing) = closing_quotes(first) {
            let text = self.quoted(closing)?;
            return Ok(Some(Literal { text, is_quoted: true, offset }));
        }
        let unread = self.unread();
        let word = &unread[..unread.find(&ends_word).unwrap_or(unread.len())];
        self.offset += word.len();
        let literal = Literal { text: word.to_owned(), is_quoted: false, offset };
        Ok((!word.is_empty()).then_some(literal))
    }

    /// Reads a text in quotes, in which the character after a backslash stands for itself.
    /// `closing` are the quotes that can end it.
    fn quoted(&mut self, closing: &[char]) -> Parsed<String> {
        let open = self.offset;
        let mut text = String::new();
        let mut chars = self.unread().char_indices().skip(1);
        while let Some((_, c)) = chars.next() {
            if closing.contains(&c) {
                self.offset = chars.next().map_or(self.text.len(), |(next, _)| open + next);
                return Ok(text);
            }
            match c {
                '\\' => text.extend(chars.next().map(|(_, escaped)| escaped)),
                _ => text.push(c),
            }
        }
        Err((open, FilterProblem::UnclosedQuote))
    }

    /// Counts a condition; an error at `offset` if there are too many.
    fn count_condition(&mut self, offset: usize) -> Parsed<()> {
        self.conditions += 1;
        match self.conditions > MAX_CONDITIONS {
            true => Err((offset, FilterProblem::TooManyConditions { most: MAX_CONDITIONS })),
            false => Ok(()),
        }
    }

    /// Reads a keyword; false if it does not come next.
    fn take_keyword(&mut self, word: &str) -> bool {
        let after = self.keyword(word);
        self.offset = after.unwrap_or(self.offset);
        after.is_some()
    }

    /// The byte after a keyword, if it comes next as a word of its own and not as a field.
    fn keyword(&mut self, word: &str) -> Option<usize> {
        self.peek()?;
        let found = self.unread().get(..word.len())?;
        let after = self.unread().get(word.len()..)?;
        let is_word = after.chars().next().is_none_or(|c| is_whitespace_or(c, "()[]{}\"'-+"));
        let is_field = after.trim_start().starts_with([':', '=', '<', '>', '!']);
        let is_keyword = found.eq_ignore_ascii_case(word) && is_word && !is_field;
        is_keyword.then_some(self.offset + word.len())
    }

    /// Skips whitespace; returns the next character without reading it.
    fn peek(&mut self) -> Option<char> {
        self.offset = self.text.len() - self.unread().trim_start().len();
        self.unread().chars().next()
    }

    /// The text that is not read yet.
    fn unread(&self) -> &'a str {
        &self.text[self.offset..]
    }
}

/// The quotes that can end a text which begins with this quote; `None` if it is no quote.
/// Typographic quotes are included, as editors and phones write them.
pub(crate) fn closing_quotes(open: char) -> Option<&'static [char]> {
    match open {
        '"' => Some(&['"']),
        '\'' => Some(&['\'']),
        '“' | '”' | '„' => Some(&['”', '“']),
        '‘' | '’' | '‚' => Some(&['’', '‘']),
        '«' => Some(&['»']),
        _ => None,
    }
}

/// The byte of the first comma in an unquoted value that a name and an operator follow, as if a
/// further condition began there.
fn comma_before_condition(value: &Literal) -> Option<usize> {
    if value.is_quoted {
        return None;
    }
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    let begins_condition = |text: &str| {
        let after_name = text.trim_start_matches(is_name);
        after_name.len() < text.len()
            && [":", "=", "<", ">", "!="].iter().any(|operator| after_name.starts_with(operator))
    };
    let mut commas = value.text.match_indices(',').map(|(at, _)| at);
    commas.find(|at| begins_condition(&value.text[at + 1..]))
}

fn is_whitespace_or(c: char, characters: &str) -> bool {
    c.is_whitespace() || characters.contains(c)
}

/// Joins parts into one node; a single part stays as it is.
fn joined(mut parts: Vec<Node>, join: impl Fn(Vec<Node>) -> Node) -> Node {
    match (parts.pop(), parts.is_empty()) {
        (Some(only), true) => only,
        (last, _) => {
            parts.extend(last);
            join(parts)
        }
    }
}

/// A condition without a field: all documents (`*`), or words in any text field.
fn test_without_field(word: Literal) -> FieldTest {
    let test = match !word.is_quoted && word.text == "*" {
        true => ValueTest::Present,
        false => ValueTest::Compare(Comparison::Matches, word),
    };
    FieldTest { field: None, test }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(text: &str) -> String {
        FilterExpression::parse(text).unwrap_or_else(|error| panic!("{text}: {error}")).to_string()
    }

    #[test]
    fn expressions_with_the_same_conditions_are_equal_in_any_spelling() {
        let parse = |text: &str| FilterExpression::parse(text).unwrap();
        assert_eq!(parse("a:1   and b:2"), parse("a:1 AND b:2"));
        assert_eq!(parse("a:1 -b:2"), parse("(a:1) AND NOT b:2"));
        assert_ne!(parse("a:1 AND b:2"), parse("a:1 OR b:2"));
        let text = "a:(x, y) or not price >= 20";
        assert_eq!(parse(&parse(text).to_string()), parse(text));
    }

    #[test]
    fn and_binds_stronger_than_or_and_whitespace_between_conditions_means_and() {
        for (text, expected) in [
            ("a:1 OR b:2 AND c:3", "a:1 OR (b:2 AND c:3)"),
            ("(a:1 or b:2) c:3", "(a:1 OR b:2) AND c:3"),
            ("a:1 -b:2", "a:1 AND NOT b:2"),
            ("NOT a:1 AND NOT NOT b:2", "NOT a:1 AND NOT NOT b:2"),
            ("not(a:1)", "NOT a:1"),
            ("-(a:1 b:2)", "NOT (a:1 AND b:2)"),
            ("+a:1 +b:2", "a:1 AND b:2"),
            ("price >= 20", "price>=20"),
            ("price:>=20", "price>=20"),
            ("price!=20", "NOT price=20"),
            ("price:-3", "price:-3"),
            ("a:(x, y OR 'z w' v)", "a:(x, y, \"z w\", v)"),
            ("a IN [x y]", "a=(x, y)"),
            ("a=(x, y)", "a=(x, y)"),
            ("in:3 or:4", "in:3 AND or:4"),
            ("a:[1 TO 2} b:{* to 3]", "a:[1 TO 2} AND b:{* TO 3]"),
            ("a:* *", "a:* AND *"),
            ("url:https://a.org/b?c=d:e", "url:https://a.org/b?c=d:e"),
            ("url:https://a.org/1,2?c=d,e&f=g", "url:https://a.org/1,2?c=d,e&f=g"),
            ("genre:rock,pop", "genre:rock,pop"),
            ("genre:\"rock,year:1990\"", "genre:\"rock,year:1990\""),
            ("\"my field\":\"a \\\"b\\\"\"", "\"my field\":\"a \\\"b\\\"\""),
            ("blue 'train ride'", "blue AND \"train ride\""),
            ("color:“Dark Green” title:‘it’", "color:\"Dark Green\" AND title:\"it\""),
            ("color:„Dark Green“ OR color:«red»", "color:\"Dark Green\" OR color:\"red\""),
            ("don’t", "don’t"),
            ("at:2024-05-31T12:00:00Z", "at:2024-05-31T12:00:00Z"),
        ] {
            assert_eq!(printed(text), expected, "{text}");
            assert_eq!(printed(&printed(text)), expected, "{text} printed and parsed");
        }
    }

    #[test]
    fn problems_have_the_position_of_their_cause() {
        for (text, position, message) in [
            ("", 0, "the filter is empty"),
            ("a:1 AND", 7, "a condition is missing here"),
            ("a:1 AND OR b:2", 8, "a condition is missing here"),
            ("()", 1, "a condition is missing here"),
            ("(a:1", 0, "`(` is not closed"),
            ("a:1)", 3, "`)` is not expected here"),
            ("é:\"x", 2, "this quote is not closed"),
            ("a:", 2, "a value is missing after `:`"),
            ("a>= )", 4, "a value is missing after `>=`"),
            ("a:[1 2]", 5, "`TO` is missing here"),
            ("a:[1 TO 2", 2, "`[` is not closed"),
            ("a:()", 3, "a value is missing after `(`"),
            ("a:(x", 2, "`(` is not closed"),
            (":3", 0, "`:` is not expected here"),
            ("a:1, b:2", 3, "`,` is not expected here"),
            ("genre:rock,year:1990", 10, "`,` is not expected here"),
            ("é:x,y,year>=1990 b:2", 5, "`,` is not expected here"),
            ("price<20,a.b!=3", 8, "`,` is not expected here"),
            ("a:1] b:2", 3, "`]` is not expected here"),
            ("a< =5", 3, "`=` is not expected here"),
            ("a b=", 4, "a value is missing after `=`"),
        ] {
            let error = FilterExpression::parse(text).unwrap_err();
            assert!(error.to_string().contains(message), "{text}: {error}");
            assert_eq!(error.position, position, "{text}: {error}");
        }
    }

    #[test]
    fn too_deep_and_too_long_filters_are_refused_and_do_not_exhaust_the_stack() {
        let deep = [
            "(".repeat(90_000),
            "NOT ".repeat(24_000) + "a:1",
            "-(".repeat(40_000),
            "-".repeat(90_000),
        ];
        let parse = move || {
            for text in deep {
                let error = FilterExpression::parse(&text).unwrap_err();
                let problem = error.problem.to_string();
                assert!(problem.contains("deep") || problem.contains("expected"), "{problem}");
            }
            let many = "a:1 ".repeat(1_001);
            let error = FilterExpression::parse(&many).unwrap_err();
            assert_eq!(error.problem, FilterProblem::TooManyConditions { most: 1_000 });
            let long = FilterExpression::parse(&"a".repeat(100_001)).unwrap_err();
            assert_eq!(long.problem, FilterProblem::TooLong { most: 100_000 });
            assert!(FilterExpression::parse(&("(".repeat(64) + "a:1" + &")".repeat(64))).is_ok());
        };
        std::thread::Builder::new().stack_size(512 << 10).spawn(parse).unwrap().join().unwrap();
    }

    #[test]
    fn the_pointer_shows_the_position_of_the_problem() {
        let error = FilterExpression::parse("tags:red AND price>=").unwrap_err();
        assert_eq!(error.pointer(), "tags:red AND price>=\n                    ^");
        let long = format!("{} )", "a:1 ".repeat(200));
        let error = FilterExpression::parse(&long).unwrap_err();
        assert!(error.pointer().lines().all(|line| line.chars().count() <= 76));
    }

    proptest::proptest! {
        #[test]
        fn any_text_gives_an_expression_that_prints_and_parses_again_or_an_error(
            text in "([a-c]|[ :=<>!*(),\\[\\]{}\"'\\\\+-]|AND|OR|NOT|IN|TO|é|[0-9]){0,24}",
        ) {
            match FilterExpression::parse(&text) {
                Ok(expression) => {
                    let again = FilterExpression::parse(&expression.to_string()).unwrap();
                    proptest::prop_assert_eq!(again.root, expression.root);
                }
                Err(error) => {
                    proptest::prop_assert!(error.position <= text.chars().count());
                    error.pointer();
                }
            }
        }
    }
}
