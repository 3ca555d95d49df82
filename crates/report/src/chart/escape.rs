//! Escapes text from outside (names, ids, labels) for HTML, SVG and attributes in double or single
//! quotes.
//!
//! Characters that XML 1.0 does not allow (most control characters) become U+FFFD, because a single
//! one of them makes a whole SVG file unreadable. So do the characters that reverse the direction
//! of all text after them, as U+202E does: a number behind such a name would be read backwards.
//! Line breaks and tabs become spaces.

/// The text with every character escaped that could end the text or begin markup.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(replace_control_char(c)),
        }
    }
    out
}

/// The character, or a replacement for one that has an effect on other text: a space for line
/// breaks and tabs, U+FFFD for other control characters.
pub(crate) fn replace_control_char(c: char) -> char {
    match c {
        '\n' | '\r' | '\t' | '\u{2028}' | '\u{2029}' => ' ',
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{fffe}' | '\u{ffff}' => '\u{fffd}',
        c if c.is_control() => '\u{fffd}',
        c => c,
    }
}

/// The text cut to at most `max_chars` characters; the last one is `…` if something was cut off.
pub(crate) fn shorten(text: &str, max_chars: usize) -> String {
    if text.chars().count() <= max_chars {
        return text.to_owned();
    }
    text.chars().take(max_chars.saturating_sub(1)).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_and_quotes_lose_their_meaning() {
        assert_eq!(
            escape("<script>alert('&\"')</script>"),
            "&lt;script&gt;alert(&#39;&amp;&quot;&#39;)&lt;/script&gt;"
        );
    }

    #[test]
    fn characters_that_xml_forbids_are_replaced() {
        assert_eq!(escape("a\u{0}b\u{1b}\nc"), "a\u{fffd}b\u{fffd} c");
        assert_eq!(escape("שלום 🚀 é"), "שלום 🚀 é");
    }

    #[test]
    fn characters_that_reverse_the_text_after_them_are_replaced() {
        assert_eq!(escape("a\u{202e}b\u{2066}c\u{2029}d"), "a\u{fffd}b\u{fffd}c d");
        assert_eq!(escape("\u{200f}א"), "\u{200f}א", "marks for single letters stay");
    }

    #[test]
    fn long_text_is_cut_between_characters() {
        assert_eq!(shorten("абвгд", 4), "абв…");
        assert_eq!(shorten("абвг", 4), "абвг");
        assert_eq!(shorten("ab", 1), "…");
    }
}
