//! Text from outside (ids, names, titles) in the lines of a file or on a terminal.
//!
//! A tab or a line break in an id would add columns and rows to a table of tab-separated values, an
//! escape sequence would change a terminal, and characters that change the direction of writing
//! would show a text in another order. Such characters are written as escapes: `\t`, `\n`,
//! `\u{1b}`. In a text with one of them a backslash is written as `\\`; other texts stay as they
//! are.

use std::borrow::Cow;

/// Whether a character acts instead of being shown: a control character, a line or paragraph
/// separator, or one that overrides the direction of writing.
pub fn is_control(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The text on one line, with control characters as escapes.
///
/// ```
/// use rankwright_spec::visible::one_line;
///
/// assert_eq!(one_line("Größe\\1"), "Größe\\1");
/// assert_eq!(one_line("a\tb\n\\"), "a\\tb\\n\\\\");
/// ```
pub fn one_line(text: &str) -> Cow<'_, str> {
    escaped(text, is_control)
}

/// The text with its line breaks and tabs, and other control characters as escapes: for a terminal.
///
/// ```
/// use rankwright_spec::visible::lines;
///
/// assert_eq!(lines("red \u{1b}[31m\nnext"), "red \\u{1b}[31m\nnext");
/// ```
pub fn lines(text: &str) -> Cow<'_, str> {
    escaped(text, |c| is_control(c) && !matches!(c, '\n' | '\t'))
}

/// A JSON text without control characters except line breaks. JSON libraries escape only some of
/// them; the others occur within strings alone, so that they can be escaped afterwards.
///
/// ```
/// use rankwright_spec::visible::json;
///
/// assert_eq!(json("{\"id\": \"a\u{9b}\"}\n"), "{\"id\": \"a\\u009b\"}\n");
/// ```
pub fn json(text: &str) -> Cow<'_, str> {
    let is_escaped = |c: char| is_control(c) && c != '\n';
    if !text.contains(is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match is_escaped(c) {
            // All of them are below U+FFFF.
            true => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            false => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// The text with the characters that `is_escaped` accepts written as escapes.
fn escaped(text: &str, is_escaped: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            // Not `escape_debug`, which leaves some of these characters as they are.
            '\t' | '\n' | '\r' if is_escaped(c) => out.extend(c.escape_default()),
            c if is_escaped(c) => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_control_character_is_left() {
        let all: String = ('\0'..='\u{a0}').chain('\u{2000}'..='\u{2070}').collect();
        assert!(!one_line(&all).contains(is_control));
        assert!(!lines(&all).contains(|c| is_control(c) && c != '\n' && c != '\t'));
    }

    #[test]
    fn escapes_are_short_or_name_the_code_point() {
        assert_eq!(one_line("\0\r\u{9b}\u{202e}"), "\\u{0}\\r\\u{9b}\\u{202e}");
        assert_eq!(lines("a\tb\\\n"), "a\tb\\\n");
    }

    #[test]
    fn ordinary_text_of_every_script_stays_as_it_is() {
        for text in ["q-1", "naïve café", "日本語", "עברית", "👍🏽", "C:\\docs", ""] {
            assert!(matches!(one_line(text), Cow::Borrowed(same) if same == text));
        }
    }
}
