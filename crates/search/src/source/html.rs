//! The title, the text, the links and the number of images of an HTML page.
//!
//! One pass over the page, linear for any text. Comments, declarations, scripts, styles, templates,
//! `noscript` and `svg` are dropped, block tags separate lines, other tags separate nothing
//! (`<b>W</b>ord` is one word). An unclosed element extends to the end of the page, as in browsers.
//! Runs of whitespace become one space, except that lines stay lines.

use memchr::{memchr_iter, memmem};

use super::entities;

/// The parts of a page that are indexed.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct HtmlPage {
    pub(super) title: String,
    pub(super) text: String,
    /// Values of `href`, as written, in order.
    pub(super) links: Vec<String>,
    /// Number of `img` elements.
    pub(super) images: usize,
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
    // The text without tags; whitespace and character references are still as written.
    let mut raw = String::new();
    let mut unread = html;
    while let Some((before, tag)) = unread.split_once('<') {
        raw.push_str(before);
        unread = match tag.as_bytes() {
            [b'!', b'-', b'-', ..] => after_comment(tag.get(3..).unwrap_or("")),
            [b'!' | b'?', ..] => after(tag, ">"),
            [b'/', c, ..] | [c, ..] if c.is_ascii_alphabetic() => element(tag, &mut page, &mut raw),
            _ => {
                raw.push('<');
                tag
            }
        };
    }
    raw.push_str(unread);
    page.text = single_spaces(&entities::decode(&raw));
    page
}

/// The text after the first `mark`; empty if the mark does not occur.
fn after<'a>(text: &'a str, mark: &str) -> &'a str {
    text.split_once(mark).map_or("", |(_, after)| after)
}

/// The text after a comment; `text` begins after `<!--`. A comment ends with `-->` or `--!>`;
/// `<!-->` and `<!--->` are comments without content.
fn after_comment(text: &str) -> &str {
    if let Some(after) = text.strip_prefix('>').or_else(|| text.strip_prefix("->")) {
        return after;
    }
    let is_end = |at: &usize| {
        let before = text.get(..*at).unwrap_or("");
        before.ends_with("--") || before.ends_with("--!")
    };
    let end = memchr_iter(b'>', text.as_bytes()).find(is_end);
    end.and_then(|at| text.get(at + 1..)).unwrap_or("")
}

/// Reads a tag (without its `<`), and the content of a hidden element or of the title; returns the
/// text after that.
fn element<'a>(tag: &'a str, page: &mut HtmlPage, raw: &mut String) -> &'a str {
    let (is_closing, tag) = match tag.strip_prefix('/') {
        Some(tag) => (true, tag),
        None => (false, tag),
    };
    let end = tag.find(|c: char| !c.is_ascii_alphanumeric() && c != '-').unwrap_or(tag.len());
    let (name, attributes) = tag.split_at(end);
    let name = name.to_ascii_lowercase();
    let (href, after_tag) = scan_attributes(attributes);
    if !INLINE.contains(&name.as_str()) {
        raw.push('\n');
    }
    if is_closing {
        return after_tag;
    }
    if matches!(name.as_str(), "a" | "area") {
        page.links.extend(href);
    }
    page.images += usize::from(name == "img");
    if HIDDEN.contains(&name.as_str()) {
        return split_at_closing_tag(after_tag, &name).1;
    }
    if name == "title" && page.title.is_empty() {
        let (title, after_title) = split_at_closing_tag(after_tag, &name);
        page.title = super::parts::single_spaced(&entities::decode(title));
        return after_title;
    }
    after_tag
}

/// The content before `</name`, and the text after this closing tag.
fn split_at_closing_tag<'a>(text: &'a str, name: &str) -> (&'a str, &'a str) {
    for position in memmem::find_iter(text.as_bytes(), b"</") {
        let tag = text.as_bytes().get(position + 2..).unwrap_or(&[]);
        let Some((found, after_name)) = tag.split_at_checked(name.len()) else { continue };
        // `</scripts>` does not close a script.
        let is_whole_name =
            after_name.first().is_none_or(|c| c.is_ascii_whitespace() || b"/>".contains(c));
        if is_whole_name && found.eq_ignore_ascii_case(name.as_bytes()) {
            let (content, closing) = text.split_at(position);
            return (content, after(closing, ">"));
        }
    }
    (text, "")
}

/// The value of `href`, decoded, and the text after the tag's `>`. `text` begins after the tag's
/// name.
fn scan_attributes(text: &str) -> (Option<String>, &str) {
    let mut href = None;
    let mut unread = text;
    loop {
        let is_separator = |c: char| c.is_ascii_whitespace() || c == '/' || c == '=';
        unread = unread.trim_start_matches(is_separator);
        if unread.is_empty() {
            return (href, "");
        }
        if let Some(after_tag) = unread.strip_prefix('>') {
            return (href, after_tag);
        }
        let ends_name = |c: char| c.is_ascii_whitespace() || matches!(c, '=' | '>' | '/');
        let (name, after_name) = unread.split_at(unread.find(ends_name).unwrap_or(unread.len()));
        unread = after_name;
        if let Some(value) = after_name.trim_ascii_start().strip_prefix('=') {
            let (value, after_value) = attribute_value(value.trim_ascii_start());
            if href.is_none() && name.eq_ignore_ascii_case("href") {
                href = Some(entities::decode(value).trim().to_owned());
            }
            unread = after_value;
        }
    }
}

/// The value of an attribute, quoted or not, and the text after it.
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
             <IMG src=a.png><img src='b.png' alt='a > b'/><svg><img></svg>\
             <a class=k HREF=\"b.html?x=1&amp;y=2\">B</a><a href=c.html>C</a><a href = 'd'>D</a>",
        );
        assert_eq!(page.title, "A & B");
        assert_eq!(page.text, "Head\nx < y\nz\n1 < 2\nBCD");
        assert_eq!(page.links, ["b.html?x=1&y=2", "c.html", "d"]);
        assert_eq!(page.images, 2, "drawings inside of the page are hidden elements");
    }

    #[test]
    fn comments_end_as_in_browsers() {
        for comment in ["<!-->", "<!--->", "<!---->", "<!-- x -->", "<!-- > ->x--->", "<!--x--!>"] {
            let page = page(&format!("a{comment}b<!-- c -->d"));
            assert_eq!(page.text, "abd", "{comment}");
        }
    }

    #[test]
    fn only_the_whole_name_closes_an_element() {
        for html in [
            "a<script>'</scripts>' x</script>b",
            "a<STYLE></style-x> x</style\n>b",
            "a<svg></svgs></svg/>b",
        ] {
            assert_eq!(page(html).text, "a\nb", "{html}");
        }
        assert_eq!(page("<title>a</titles>b</title>c").title, "a</titles>b");
    }

    #[test]
    fn unclosed_elements_end_with_the_page() {
        for html in ["a<script>b", "a<!-- b", "a<p x=\"b", "a<title>", "a</", "a<b", "a<"] {
            let page = page(html);
            assert!(page.text.starts_with('a') && !page.text.contains('b'), "{html}: {page:?}");
        }
    }
}
