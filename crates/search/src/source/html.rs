//! The title, the words and the links of an HTML page.
//!
//! One pass, linear in the page, on any text: comments, declarations, scripts, styles and templates
//! are dropped, block tags separate lines, other tags separate nothing (`<b>W</b>ord` is one word).
//! An unclosed element extends to the end of the page, as in browsers. Runs of whitespace become
//! one space, except that lines stay lines.

use memchr::memmem;

use super::entities;

/// The parts of a page that are indexed.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct HtmlPage {
    pub(super) title: String,
    pub(super) text: String,
    /// Values of `href`, as written, in order.
    pub(super) links: Vec<String>,
}

/// Elements whose content is not text.
const HIDDEN: [&str; 5] = ["script", "style", "template", "noscript", "svg"];

/// Elements that do not separate words.
const INLINE: [&str; 24] = [
    "a", "abbr", "b", "bdi", "bdo", "cite", "code", "dfn", "em", "font", "i", "kbd", "mark", "q",
    "s", "samp", "small", "span", "strong", "sub", "sup", "u", "var", "wbr",
];

/// Parses a page.
pub(super) fn page(html: &str) -> HtmlPage {
    let mut page = HtmlPage::default();
    let mut raw = String::new();
    let mut rest = html;
    while let Some((before, tag)) = rest.split_once('<') {
        raw.push_str(before);
        rest = match tag.as_bytes() {
            [b'!', b'-', b'-', ..] => after(tag.get(3..).unwrap_or(""), "-->"),
            [b'!' | b'?', ..] => after(tag, ">"),
            [b'/', c, ..] | [c, ..] if c.is_ascii_alphabetic() => element(tag, &mut page, &mut raw),
            _ => {
                raw.push('<');
                tag
            }
        };
    }
    raw.push_str(rest);
    page.text = single_spaces(&entities::decode(&raw));
    page
}

/// The text after a mark; empty if the mark does not occur.
fn after<'a>(text: &'a str, mark: &str) -> &'a str {
    text.split_once(mark).map_or("", |(_, rest)| rest)
}

/// Processes an element's tag (without its `<`) and returns the text after it.
fn element<'a>(tag: &'a str, page: &mut HtmlPage, raw: &mut String) -> &'a str {
    let (close, tag) = match tag.strip_prefix('/') {
        Some(tag) => (true, tag),
        None => (false, tag),
    };
    let end = tag.find(|c: char| !c.is_ascii_alphanumeric() && c != '-').unwrap_or(tag.len());
    let (name, attributes) = tag.split_at(end);
    let name = name.to_ascii_lowercase();
    let (href, rest) = scan_attributes(attributes);
    if !INLINE.contains(&name.as_str()) {
        raw.push('\n');
    }
    if close {
        return rest;
    }
    if matches!(name.as_str(), "a" | "area") {
        page.links.extend(href);
    }
    if HIDDEN.contains(&name.as_str()) {
        return after_close(rest, &name).1;
    }
    if name == "title" && page.title.is_empty() {
        let (title, rest) = after_close(rest, &name);
        page.title = super::parts::single_spaced(&entities::decode(title));
        return rest;
    }
    rest
}

/// The content up to `</name`, and the text after that.
fn after_close<'a>(text: &'a str, name: &str) -> (&'a str, &'a str) {
    for at in memmem::find_iter(text.as_bytes(), b"</") {
        let tag = text.as_bytes().get(at + 2..at + 2 + name.len()).unwrap_or(&[]);
        if tag.eq_ignore_ascii_case(name.as_bytes()) {
            let (content, closing) = text.split_at(at);
            return (content, after(closing, ">"));
        }
    }
    (text, "")
}

/// The value of `href`, decoded, and the text after the tag's `>`.
fn scan_attributes(text: &str) -> (Option<String>, &str) {
    let mut href = None;
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '/' || c == '=');
        if rest.is_empty() {
            return (href, "");
        }
        if let Some(rest) = rest.strip_prefix('>') {
            return (href, rest);
        }
        let name_ends = |c: char| c.is_ascii_whitespace() || matches!(c, '=' | '>' | '/');
        let (name, tail) = rest.split_at(rest.find(name_ends).unwrap_or(rest.len()));
        let spaced = tail.trim_ascii_start();
        rest = tail;
        if let Some(value) = spaced.strip_prefix('=') {
            let (value, tail) = attribute_value(value.trim_ascii_start());
            if href.is_none() && name.eq_ignore_ascii_case("href") {
                href = Some(entities::decode(value).trim().to_owned());
            }
            rest = tail;
        }
    }
}

/// A value, quoted or bare, and the text after it.
fn attribute_value(text: &str) -> (&str, &str) {
    for quote in ['"', '\''] {
        if let Some(inner) = text.strip_prefix(quote) {
            return inner.split_once(quote).unwrap_or((inner, ""));
        }
    }
    let end = text.find(|c: char| c.is_ascii_whitespace() || c == '>').unwrap_or(text.len());
    text.split_at(end)
}

/// The text with single spaces inside lines, and without blank lines.
fn single_spaces(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        let start = out.len();
        for word in line.split_whitespace() {
            if out.len() > start {
                out.push(' ');
            } else if start > 0 {
                out.push('\n');
            }
            out.push_str(word);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn title_words_and_links_are_taken_and_code_is_not() {
        let page = page(
            "<!DOCTYPE html><html><head><TITLE>A &amp;\n B</TITLE>\
             <style>p { x: '<p>' }</style><script>if (a<b) '</p>'</script ></head>\
             <body class='>'><h1>He<b>ad</b></h1><!-- no <p> --><p>x &lt; y\n z<br/>1 < 2</p>\
             <a class=k HREF=\"b.html?x=1&amp;y=2\">B</a><a href=c.html>C</a><a href = 'd'>D</a>",
        );
        assert_eq!(page.title, "A & B");
        assert_eq!(page.text, "Head\nx < y\nz\n1 < 2\nBCD");
        assert_eq!(page.links, ["b.html?x=1&y=2", "c.html", "d"]);
    }

    #[test]
    fn unclosed_elements_end_with_the_page() {
        for html in ["a<script>b", "a<!-- b", "a<p x=\"b", "a<title>", "a</", "a<b", "a<"] {
            let page = page(html);
            assert!(page.text.starts_with('a') && !page.text.contains('b'), "{html}: {page:?}");
        }
    }
}
