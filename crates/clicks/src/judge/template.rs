//! The text of a question to a judge, with placeholders:
//!
//! | placeholder | stands for |
//! |---|---|
//! | `{query}` | the text of the query |
//! | `{query.NAME}` | a further value of the query, such as a ground-truth answer |
//! | `{a}`, `{b}` | the document shown first, and the one shown second |
//! | `{a.NAME}`, `{b.NAME}` | a field of the document |
//! | `{{`, `}}` | a brace |
//!
//! Three templates are built in (folder `prompts`): a search, a recommendation, and answers to a
//! question whose right answer is known.

use rankwright_spec::error_kinds;

/// The templates that are built in: name and text.
pub const PROMPT_TEMPLATES: [(&str, &str); 3] = [
    ("search", include_str!("prompts/search.txt")),
    ("recommendation", include_str!("prompts/recommendation.txt")),
    ("answer", include_str!("prompts/answer.txt")),
];

/// A template of questions.
///
/// ```
/// use rankwright_clicks::judge::{Placeholder, PromptTemplate};
///
/// let template = PromptTemplate::parse("Which one is about {query}? A: {a.title} B: {b.title}")?;
/// let text = template.fill(|placeholder| match placeholder {
///     Placeholder::Query { field: None } => Some("jazz".to_owned()),
///     Placeholder::First { .. } => Some("Blue Train".to_owned()),
///     Placeholder::Second { .. } => Some("Abbey Road".to_owned()),
///     _ => None,
/// })?;
/// assert_eq!(text, "Which one is about jazz? A: Blue Train B: Abbey Road");
/// # Ok::<(), rankwright_clicks::judge::PromptError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptTemplate {
    parts: Vec<TemplatePart>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum TemplatePart {
    Text(String),
    Value(Placeholder),
}

/// A placeholder of a template. `field` is the name of a value; `None` stands for the whole text.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Placeholder {
    /// The query.
    Query {
        /// Name of a further value of the query.
        field: Option<String>,
    },
    /// The document that is shown first.
    First {
        /// Name of a field of the document.
        field: Option<String>,
    },
    /// The document that is shown second.
    Second {
        /// Name of a field of the document.
        field: Option<String>,
    },
}

impl Placeholder {
    /// The placeholder with this text between its braces.
    fn parse(text: &str) -> Option<Self> {
        let (name, field) = match text.split_once('.') {
            Some((name, field)) => (name, Some(field.trim()).filter(|field| !field.is_empty())?),
            None => (text, ""),
        };
        let field = (!field.is_empty()).then(|| field.to_owned());
        match name.trim() {
            "query" => Some(Self::Query { field }),
            "a" => Some(Self::First { field }),
            "b" => Some(Self::Second { field }),
            _ => None,
        }
    }

    /// The text between the braces.
    fn name(&self) -> String {
        let (name, field) = match self {
            Self::Query { field } => ("query", field),
            Self::First { field } => ("a", field),
            Self::Second { field } => ("b", field),
        };
        field.as_ref().map_or(name.to_owned(), |field| format!("{name}.{field}"))
    }
}

/// The reason why a question cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PromptError {
    /// A template has a placeholder of an unknown name.
    #[error(
        "line {line} of the template has the placeholder {{{placeholder}}}; known are {{query}}, {{a}} \
         and {{b}}, each also with a field as in {{a.title}}"
    )]
    UnknownPlaceholder {
        /// The text between the braces.
        placeholder: String,
        /// The line, from 1.
        line: usize,
    },
    /// A brace of a template has no partner.
    #[error(
        "line {line} of the template has a brace without a partner; a plain brace is written twice"
    )]
    LoneBrace {
        /// The line, from 1.
        line: usize,
    },
    /// A template does not show both documents.
    #[error(
        "the template does not have {{{placeholder}}}, so the judge would not see both documents"
    )]
    NoDocument {
        /// The placeholder that it lacks.
        placeholder: &'static str,
    },
    /// There is no built-in template of a name.
    #[error("there is no template '{name}'; known are search, recommendation and answer")]
    UnknownTemplate {
        /// The name.
        name: String,
    },
    /// No document has a field that questions are to show.
    #[error("no document has the field '{field}'; the documents have {}", known.join(", "))]
    UnknownField {
        /// The name of the field.
        field: String,
        /// The fields of the documents.
        known: Vec<String>,
    },
    /// A placeholder has no value.
    #[error("there is no value for {{{placeholder}}}")]
    NoValue {
        /// The text between the braces.
        placeholder: String,
    },
}

error_kinds! {
    PromptError {
        Self::UnknownPlaceholder { .. } => "unknown-placeholder",
        Self::LoneBrace { .. } => "lone-brace",
        Self::NoDocument { .. } => "no-document",
        Self::UnknownTemplate { .. } => "unknown-template",
        Self::UnknownField { .. } => "unknown-field",
        Self::NoValue { .. } => "no-value",
    }
    wraps {}
}

impl PromptError {
    /// A remedy that holds for every caller; `None` if there is none.
    pub fn help(&self) -> Option<String> {
        match self {
            Self::NoValue { .. } => {
                Some("give each query a value of this name, or use another template".to_owned())
            }
            _ => None,
        }
    }
}

impl PromptTemplate {
    /// The built-in template of this name.
    pub fn named(name: &str) -> Option<Result<Self, PromptError>> {
        let found = PROMPT_TEMPLATES.iter().find(|(known, _)| *known == name);
        found.map(|(_, text)| Self::parse(text))
    }

    /// Reads a template.
    pub fn parse(text: &str) -> Result<Self, PromptError> {
        let mut parts = Vec::new();
        let mut plain = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            let (before, from) = rest.split_at(at);
            plain += before;
            let read = text.len() - from.len();
            let line = text.get(..read).unwrap_or_default().matches('\n').count() + 1;
            if let Some(brace) = ["{{", "}}"].iter().find(|two| from.starts_with(**two)) {
                plain += brace.get(..1).unwrap_or_default();
                rest = from.get(2..).unwrap_or_default();
                continue;
            }
            let inner = from.strip_prefix('{').and_then(|from| from.split_once('}'));
            let (name, after) = inner.ok_or(PromptError::LoneBrace { line })?;
            let placeholder = Placeholder::parse(name).ok_or_else(|| {
                PromptError::UnknownPlaceholder { placeholder: name.to_owned(), line }
            })?;
            parts.push(TemplatePart::Text(std::mem::take(&mut plain)));
            parts.push(TemplatePart::Value(placeholder));
            rest = after;
        }
        parts.push(TemplatePart::Text(plain + rest));
        let template = Self { parts };
        template.check_documents()?;
        Ok(template)
    }

    fn check_documents(&self) -> Result<(), PromptError> {
        let mut placeholders = self.placeholders();
        if !placeholders.any(|found| matches!(found, Placeholder::First { .. })) {
            return Err(PromptError::NoDocument { placeholder: "a" });
        }
        match self.placeholders().any(|found| matches!(found, Placeholder::Second { .. })) {
            true => Ok(()),
            false => Err(PromptError::NoDocument { placeholder: "b" }),
        }
    }

    /// The placeholders, in their order.
    pub fn placeholders(&self) -> impl Iterator<Item = &Placeholder> {
        self.parts.iter().filter_map(|part| match part {
            TemplatePart::Value(placeholder) => Some(placeholder),
            TemplatePart::Text(_) => None,
        })
    }

    /// The text of a question; `value` has the value of each placeholder, and one without a value
    /// is an error.
    pub fn fill(
        &self,
        value: impl Fn(&Placeholder) -> Option<String>,
    ) -> Result<String, PromptError> {
        let mut text = String::new();
        for part in &self.parts {
            match part {
                TemplatePart::Text(plain) => text += plain,
                TemplatePart::Value(placeholder) => {
                    let value = value(placeholder)
                        .ok_or_else(|| PromptError::NoValue { placeholder: placeholder.name() })?;
                    text += &value;
                }
            }
        }
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_templates_show_the_query_and_both_documents() {
        for (name, _) in PROMPT_TEMPLATES {
            let template = PromptTemplate::named(name).unwrap().unwrap();
            let text = template.fill(|placeholder| Some(format!("<{}>", placeholder.name())));
            let text = text.unwrap();
            for shown in ["<query>", "<a>", "<b>", "Output:", "A > B"] {
                assert!(text.contains(shown), "{name}: {text}");
            }
            assert_eq!(text.contains("<query.answer>"), name == "answer");
        }
        assert!(PromptTemplate::named("other").is_none());
    }

    #[test]
    fn braces_are_written_twice_and_mistakes_have_a_line() {
        let template = PromptTemplate::parse("{{\"x\": {a}}} {b.full name}").unwrap();
        let text = template.fill(|placeholder| Some(placeholder.name())).unwrap();
        assert_eq!(text, "{\"x\": a} b.full name");
        let error = |text: &str| PromptTemplate::parse(text).unwrap_err();
        let unknown =
            PromptError::UnknownPlaceholder { placeholder: "document".to_owned(), line: 2 };
        assert_eq!(error("{a}\n{document} {b}"), unknown);
        assert_eq!(error("{a}\n\n{b"), PromptError::LoneBrace { line: 3 });
        assert_eq!(error("{a} } {b}"), PromptError::LoneBrace { line: 1 });
        assert_eq!(error("{a} {query}"), PromptError::NoDocument { placeholder: "b" });
        assert_eq!(error("{b} {query}"), PromptError::NoDocument { placeholder: "a" });
        assert_eq!(error("{a.} {b}").kind(), "unknown-placeholder");
        let template = PromptTemplate::parse("{query.answer} {a} {b}").unwrap();
        let error = template.fill(|_| None).unwrap_err();
        assert_eq!(error.to_string(), "there is no value for {query.answer}");
    }
}
