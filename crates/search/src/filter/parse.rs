//! The parser of filter expressions: one function per rule of the grammar.
//!
//! ```text
//! or        = and { "OR" and }
//! and       = not { ["AND"] not }
//! not       = "NOT" not | "-" not | "+" not | primary
//! primary   = "(" or ")" | condition
//! condition = field operator value | field equal set | field "IN" set | field equal range
//!           | field ":*" | "*" | value
//! equal     = ":" | "=" | "!="
//! operator  = ":" | "=" | "!=" | "<" | "<=" | ">" | ">=", the last four also after ":"
//! set       = "(" value { "," value } ")", also "[" and "]" after IN
//! range     = ("[" | "{") end "TO" end ("]" | "}"), with end = value | "*"
//! field, value = word | '"' text '"' | "'" text "'", also in typographic quotes
//! ```
//!
//! Operators may be written in small letters. The depth of nesting, the number of conditions and
//! the length of the text are limited, so that no filter can exhaust the stack or take long.

use super::error::{ConditionOrigin, FilterError, FilterProblem};
use super::expression::{
    Comparison, FieldTest, FilterExpression, Literal, Node, RangeEnd, ValueTest,
};

/// Maximum number of levels of brackets and NOT.
const MOST_LEVELS: usize = 64;
/// Maximum number of conditions; a set counts its values.
const MOST_CONDITIONS: usize = 1_000;
/// Maximum number of characters of a filter.
const MOST_CHARACTERS: usize = 100_000;

impl FilterExpression {
    /// Parses an expression; docs/filters.md describes the language.
    pub fn parse(text: &str) -> Result<Self, FilterError> {
        if text.chars().nth(MOST_CHARACTERS).is_some() {
            let problem = FilterProblem::TooLong { most: MOST_CHARACTERS };
            return Err(FilterError::new("", 0, problem));
        }
        let mut parser = Parser { text, offset: 0, level: 0, conditions: 0 };
        let root =
            parser.whole().map_err(|(offset, problem)| FilterError::new(text, offset, problem))?;
        Ok(Self { text: text.to_owned(), root, origin: ConditionOrigin::Filter })
    }
}

/// A problem at a byte of the text.
type Parsed<T> = Result<T, (usize, FilterProblem)>;

struct Parser<'a> {
    text: &'a str,
    /// The current byte.
    offset: usize,
    /// Levels of brackets and NOT around it.
    level: usize,
    conditions: usize,
}

impl<'a> Parser<'a> {
    fn whole(&mut self) -> Parsed<Node> {
        if self.peek().is_none() {
            return Err((0, FilterProblem::Empty));
        }
        let root = self.or()?;
        match self.peek() {
            None => Ok(root),
            Some(found) => Err((self.offset, FilterProblem::UnexpectedCharacter { found })),
        }
    }

    fn or(&mut self) -> Parsed<Node> {
        let mut parts = vec![self.and()?];
        while self.take_keyword("OR") {
            parts.push(self.and()?);
        }
        Ok(joined(parts, Node::Or))
    }

    fn and(&mut self) -> Parsed<Node> {
        let mut parts = vec![self.not()?];
        while self.take_keyword("AND") || self.begins_condition() {
            parts.push(self.not()?);
        }
        Ok(joined(parts, Node::And))
    }

    /// Whether a further condition follows without an operator before it.
    fn begins_condition(&mut self) -> bool {
        let is_or = self.keyword("OR").is_some();
        self.peek().is_some_and(|c| !matches!(c, ')' | ']' | '}' | ',')) && !is_or
    }

    fn not(&mut self) -> Parsed<Node> {
        let offset = self.offset;
        if self.take_keyword("NOT") {
            return self.nested(offset, |parser| Ok(Node::Not(Box::new(parser.not()?))));
        }
        let sign = self.peek();
        let has_operand = self.rest().chars().nth(1).is_some_and(|c| !is_whitespace_or(c, ")"));
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

    /// Applies a rule one level deeper.
    fn nested(&mut self, offset: usize, rule: impl Fn(&mut Self) -> Parsed<Node>) -> Parsed<Node> {
        if self.level == MOST_LEVELS {
            return Err((offset, FilterProblem::TooDeep { most: MOST_LEVELS }));
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
        let begin = self.offset;
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
        self.count(begin, 1)?;
        let end = self.offset;
        if self.keyword("IN").is_some_and(|behind| self.is_set(behind)) {
            self.take_keyword("IN");
            let test = ValueTest::OneOf(Comparison::Equals, self.set()?);
            return Ok(Node::Test(FieldTest { field: Some(name), test }));
        }
        let Some((operator, comparison)) = self.operator() else {
            self.offset = end;
            return Ok(Node::Test(bare(name)));
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

    /// The operator at the current place, as written and as a comparison.
    fn operator(&mut self) -> Option<(&'a str, Comparison)> {
        self.peek()?;
        let rest = self.rest();
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
            operators.into_iter().find(|(symbol, _)| rest.starts_with(symbol))?;
        self.offset += symbol.len();
        Some((symbol, comparison))
    }

    /// The value, set or range after an operator.
    fn value_test(&mut self, operator: &str, comparison: Comparison) -> Parsed<ValueTest> {
        let matches = matches!(comparison, Comparison::Matches | Comparison::Equals);
        match self.peek() {
            Some('(') if matches => Ok(ValueTest::OneOf(comparison, self.set()?)),
            Some('[' | '{') if matches => self.range(),
            Some(found @ ('<' | '>' | '=' | '!')) => {
                Err((self.offset, FilterProblem::UnexpectedCharacter { found }))
            }
            _ => {
                let missing = FilterProblem::MissingValue { operator: operator.to_owned() };
                let value =
                    self.literal(|c| is_whitespace_or(c, "()"))?.ok_or((self.offset, missing))?;
                // `a:1, b:2`, `a:b]`: conditions are not separated by commas, brackets have
                // partners.
                let last = value.text.chars().next_back().filter(|_| !value.is_quoted);
                if let Some(found @ (',' | ']' | '}')) = last {
                    return Err((self.offset - 1, FilterProblem::UnexpectedCharacter { found }));
                }
                let present = matches && !value.is_quoted && value.text == "*";
                Ok(if present { ValueTest::Present } else { ValueTest::Compare(comparison, value) })
            }
        }
    }

    /// The values between brackets, separated by commas, `OR` or whitespace.
    fn set(&mut self) -> Parsed<Vec<Literal>> {
        self.peek();
        let open = self.offset;
        let (bracket, ends) = if self.rest().starts_with('[') { ('[', ']') } else { ('(', ')') };
        self.offset += 1;
        let mut values = Vec::new();
        loop {
            let begin = self.offset;
            match self.peek() {
                None => return Err((open, FilterProblem::UnclosedBracket { open: bracket })),
                Some(c) if c == ends => break,
                Some(',') if !values.is_empty() => self.offset += 1,
                _ if !values.is_empty() && self.take_keyword("OR") => {}
                _ => {
                    let value = self.literal(|c| is_whitespace_or(c, ",()[]"))?;
                    let found = self.peek().unwrap_or(' ');
                    let problem = FilterProblem::UnexpectedCharacter { found };
                    values.push(value.ok_or((self.offset, problem))?);
                    self.count(begin, 1)?;
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

    /// `[low TO high]`, with `{` and `}` for ends that do not belong to the range.
    fn range(&mut self) -> Parsed<ValueTest> {
        let (open, bracket) = (self.offset, if self.rest().starts_with('[') { '[' } else { '{' });
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

    fn range_end(&mut self) -> Parsed<Option<Literal>> {
        let value = self.literal(|c| is_whitespace_or(c, "[]{}"))?;
        let missing = FilterProblem::MissingValue { operator: "range".into() };
        let value = value.ok_or((self.offset, missing))?;
        Ok((value.is_quoted || value.text != "*").then_some(value))
    }

    /// Takes one of the closing brackets.
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

    /// A quoted text, or a word that ends before a character of which `ends` is true; `None` if
    /// there is no word.
    fn literal(&mut self, ends: impl Fn(char) -> bool) -> Parsed<Option<Literal>> {
        let Some(first) = self.peek() else { return Ok(None) };
        let offset = self.offset;
        if let Some(closing) = closing_quotes(first) {
            let text = self.quoted(closing)?;
            return Ok(Some(Literal { text, is_quoted: true, offset }));
        }
        let word = self.rest();
        let word = &word[..word.find(&ends).unwrap_or(word.len())];
        self.offset += word.len();
        let literal = Literal { text: word.to_owned(), is_quoted: false, offset };
        Ok((!word.is_empty()).then_some(literal))
    }

    /// A text in quotes, in which the character after a backslash stands for itself.
    fn quoted(&mut self, closing: &[char]) -> Parsed<String> {
        let open = self.offset;
        let mut text = String::new();
        let mut chars = self.rest().char_indices().skip(1);
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

    fn count(&mut self, offset: usize, conditions: usize) -> Parsed<()> {
        self.conditions += conditions;
        match self.conditions > MOST_CONDITIONS {
            true => Err((offset, FilterProblem::TooManyConditions { most: MOST_CONDITIONS })),
            false => Ok(()),
        }
    }

    fn take_keyword(&mut self, word: &str) -> bool {
        let behind = self.keyword(word);
        self.offset = behind.unwrap_or(self.offset);
        behind.is_some()
    }

    /// The byte behind a keyword, if it comes next as a word of its own and not as a field.
    fn keyword(&mut self, word: &str) -> Option<usize> {
        self.peek()?;
        let found = self.rest().get(..word.len())?;
        let behind = self.rest().get(word.len()..)?;
        let is_word = behind.chars().next().is_none_or(|c| is_whitespace_or(c, "()[]{}\"'-+"));
        let is_field = behind.trim_start().starts_with([':', '=', '<', '>', '!']);
        let is_keyword = found.eq_ignore_ascii_case(word) && is_word && !is_field;
        is_keyword.then_some(self.offset + word.len())
    }

    /// The next character that is not whitespace.
    fn peek(&mut self) -> Option<char> {
        self.offset = self.text.len() - self.rest().trim_start().len();
        self.rest().chars().next()
    }

    fn rest(&self) -> &'a str {
        &self.text[self.offset..]
    }
}

/// The quotes that end a text which begins with this quote; `None` if it is no quote. Editors and
/// telephones write typographic quotes.
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

fn is_whitespace_or(c: char, others: &str) -> bool {
    c.is_whitespace() || others.contains(c)
}

fn joined(mut parts: Vec<Node>, join: impl Fn(Vec<Node>) -> Node) -> Node {
    match (parts.pop(), parts.is_empty()) {
        (Some(only), true) => only,
        (last, _) => {
            parts.extend(last);
            join(parts)
        }
    }
}

/// A condition without a field: all documents, or words in any text field.
fn bare(word: Literal) -> FieldTest {
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
    fn operators_bind_as_usual_and_blanks_between_conditions_mean_and() {
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
    fn problems_are_found_where_they_are() {
        for (text, position, said) in [
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
            ("a:1] b:2", 3, "`]` is not expected here"),
            ("a< =5", 3, "`=` is not expected here"),
            ("a b=", 4, "a value is missing after `=`"),
        ] {
            let error = FilterExpression::parse(text).unwrap_err();
            assert!(error.to_string().contains(said), "{text}: {error}");
            assert_eq!(error.position, position, "{text}: {error}");
        }
    }

    #[test]
    fn deep_long_and_many_are_refused_and_do_not_exhaust_the_stack() {
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
    fn the_pointer_shows_the_place() {
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
