//! A page as one HTML file: style, script, charts and numbers are all inside, and its content
//! security policy forbids the network and every script but the page's own.
//!
//! Without scripts everything can still be read: all groups of a choice are shown then, and the
//! numbers are below each chart. All text from outside is escaped, and the JSON inside the page has
//! no `<`, so that it cannot end its `<script>` element.

use base64::prelude::{BASE64_STANDARD, Engine};
use rankwright_eval::compare::Mark;
use rankwright_eval::table::{Align, Cell, Table};
use rankwright_spec::words::counted;
use sha2::{Digest, Sha256};

use super::{ChoiceControl, Page, PageBlock, Section};
use crate::ReportError;
use crate::chart::escape::{escape, replace_control_char};
use crate::chart::numbers::TableValue;
use crate::chart::svg::theme::page_css;
use crate::chart::svg::{Picture, PictureForm};
use crate::chart::{Chart, tooltips};

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");
/// Maximum number of rows of numbers below a chart.
const ROWS: usize = 100;

pub(super) fn render(page: &Page) -> Result<String, ReportError> {
    let page = page.with_safe_ids();
    let mut out = String::with_capacity(1 << 18);
    out.push_str(&head(&page));
    out.push_str("<div class=\"layout\">\n");
    out.push_str(&contents(&page));
    out.push_str("<main id=\"main\" tabindex=\"-1\">\n");
    out.push_str(&facts(&page));
    out.push_str(&conventions(&page));
    for section in &page.sections {
        write_section(section, &mut out)?;
    }
    out.push_str(&format!(
        "</main>\n</div>\n<script>{}</script>\n</body>\n</html>\n",
        script_text()
    ));
    Ok(out)
}

/// The content security policy: nothing is fetched or sent, and only our script runs, identified by
/// its hash.
fn policy() -> String {
    let hash = BASE64_STANDARD.encode(Sha256::digest(script_text()));
    format!(
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{hash}'; base-uri \
         'none'; form-action 'none'"
    )
}

/// The text between the script tags, from which the hash is computed.
fn script_text() -> String {
    format!("\n{SCRIPT}")
}

/// The beginning of the file up to the heading and summary of the page.
fn head(page: &Page) -> String {
    let title = escape(&page.title);
    let summary = match page.summary.is_empty() {
        true => String::new(),
        false => format!("<p class=\"summary\">{}</p>\n", escape(&page.summary)),
    };
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta name=\"generator\" content=\"rankwright {}\">\n\
         <title>{title}</title>\n<style>\n{}\n{STYLE}</style>\n</head>\n<body>\n\
         <a class=\"skip\" href=\"#main\">Skip to the report</a>\n\
         <header class=\"top\">\n<h1 dir=\"auto\">{title}</h1>\n{summary}\
         <button type=\"button\" class=\"theme\" hidden>Dark colours</button>\n</header>\n",
        policy(),
        env!("CARGO_PKG_VERSION"),
        page_css()
    )
}

/// The table of contents.
fn contents(page: &Page) -> String {
    let item = |s: &Section| {
        format!("<li><a href=\"#{}\" dir=\"auto\">{}</a></li>\n", s.id, escape(&s.title))
    };
    let items: String = page.sections.iter().map(item).collect();
    format!(
        "<nav aria-labelledby=\"contents\">\n<h2 id=\"contents\">Contents</h2>\n<ol>\n{items}</ol>\n\
         </nav>\n"
    )
}

/// The facts about the origin of the report, as a list of names and values.
fn facts(page: &Page) -> String {
    if page.facts.is_empty() {
        return String::new();
    }
    let fact = |(name, value): &(String, String)| {
        format!("<dt>{}</dt><dd dir=\"auto\">{}</dd>\n", escape(name), escape(value))
    };
    let all: String = page.facts.iter().map(fact).collect();
    format!("<dl class=\"facts\" id=\"facts\">\n{all}</dl>\n")
}

/// The conventions of the metrics (their treatment of ties, unjudged documents and so on),
/// collapsed.
fn conventions(page: &Page) -> String {
    if page.conventions.is_empty() {
        return String::new();
    }
    let line = |text: &String| format!("<li dir=\"auto\">{}</li>\n", escape(text));
    let lines: String = page.conventions.iter().map(line).collect();
    format!(
        "<details class=\"conventions\" id=\"conventions\">\n<summary>Conventions of the metrics\
         </summary>\n<ul>\n{lines}</ul>\n</details>\n"
    )
}

fn write_section(section: &Section, out: &mut String) -> Result<(), ReportError> {
    let (id, title) = (&section.id, escape(&section.title));
    out.push_str(&format!(
        "<section id=\"{id}\" aria-labelledby=\"{id}--title\">\n\
         <h2 id=\"{id}--title\" dir=\"auto\">{title}</h2>\n"
    ));
    for block in &section.blocks {
        write_block(block, 3, out)?;
    }
    out.push_str("</section>\n");
    Ok(())
}

/// Writes a block; its heading has this level (3 for `<h3>`).
fn write_block(block: &PageBlock, level: usize, out: &mut String) -> Result<(), ReportError> {
    match block {
        PageBlock::Text(text) => out.push_str(&format!("<p dir=\"auto\">{}</p>\n", escape(text))),
        PageBlock::Chart(chart) => out.push_str(&figure(chart, level)?),
        PageBlock::Table { id, title, table: content } => {
            let table = table(id, title, content);
            out.push_str(&format!("<div class=\"block\">\n{table}</div>\n"));
        }
        PageBlock::Drawing { id, title, svg } => out.push_str(&drawing(id, title, svg, level)),
        PageBlock::Choice { id, label, groups, control } => {
            write_choice((id, label, *control), groups, level, out)?;
        }
    }
    Ok(())
}

/// A chart as a figure: its picture in both forms, its caption, numbers and tooltips.
fn figure(chart: &Chart, level: usize) -> Result<String, ReportError> {
    let (wide, narrow) =
        (Picture::of(chart, PictureForm::Wide)?, Picture::of(chart, PictureForm::Narrow)?);
    let tooltips_json =
        tooltips::to_json(chart, &wide, &narrow).to_string().replace('<', "\\u003c");
    let tooltips_json: String = tooltips_json.chars().map(replace_control_char).collect();
    let (id, title) = (&chart.id, escape(&chart.title));
    Ok(format!(
        "<figure id=\"{id}\" data-chart=\"{id}\">\n<h{level} dir=\"auto\">{title}</h{level}>\n\
         <div class=\"chart\" tabindex=\"0\" role=\"group\" \
         aria-label=\"{title}. Arrow keys move through the values.\">\n{}{}\
         <output class=\"tip\" aria-live=\"polite\"></output>\n</div>\n\
         <figcaption dir=\"auto\">{}</figcaption>\n{}\
         <script type=\"application/json\">{tooltips_json}</script>\n</figure>\n",
        wide.inline(PictureForm::Wide, &chart.title),
        narrow.inline(PictureForm::Narrow, &chart.title),
        escape(&chart.caption),
        numbers(chart)
    ))
}

/// The numbers as a collapsible table.
fn numbers(chart: &Chart) -> String {
    let (header, rows) = chart.table();
    if rows.is_empty() {
        return String::new();
    }
    let title = escape(&chart.title);
    let mut out = format!(
        "<details><summary>Numbers</summary>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" \
         aria-label=\"Numbers: {title}\">\n<table>\n<caption>{title}</caption>\n<thead><tr>"
    );
    let is_text = |c: usize| rows.iter().any(|row| matches!(row.get(c), Some(TableValue::Name(_))));
    let text_columns: Vec<bool> = (0..header.len()).map(is_text).collect();
    for (name, is_text) in header.iter().zip(&text_columns) {
        out.push_str(&format!("<th scope=\"col\"{}>{}</th>", alignment(*is_text), escape(name)));
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for row in rows.iter().take(ROWS) {
        out.push_str("<tr>");
        for (c, (value, is_text)) in row.iter().zip(&text_columns).enumerate() {
            out.push_str(&data_cell(&escape(&value.short()), c == 0, *is_text));
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody>\n</table>\n</div>\n");
    if rows.len() > ROWS {
        let omitted = rows.len() - ROWS;
        out.push_str(&format!(
            "<p class=\"note\">Not shown: {}. The file {}.csv, one of the page's assets, has all \
             rows.</p>\n",
            counted(omitted, "more row"),
            chart.id
        ));
    }
    out.push_str("</details>\n");
    out
}

/// The class attribute of a cell: text is aligned to the left, numbers to the right.
fn alignment(is_text: bool) -> &'static str {
    if is_text { " class=\"l\"" } else { "" }
}

/// A cell; the first one of a row is a row heading.
fn data_cell(content: &str, is_first: bool, is_text: bool) -> String {
    let class = alignment(is_text);
    match is_first {
        true => format!("<th scope=\"row\"{class}>{content}</th>"),
        false => format!("<td{class}>{content}</td>"),
    }
}

/// A sortable table with its notes below.
fn table(id: &str, title: &str, table: &Table) -> String {
    let title = escape(title);
    let columns = table.rows.iter().map(Vec::len).fold(table.header.len(), usize::max);
    let is_text = |c: usize| table.align.get(c).copied().unwrap_or_default() == Align::Left;
    let mut out = format!(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{title}\">\n\
         <table id=\"{id}\" data-table=\"{id}\" data-sortable>\n\
         <caption dir=\"auto\">{title}</caption>\n<thead><tr>"
    );
    for c in 0..columns {
        let name = table.header.get(c).map(|name| escape(name)).unwrap_or_default();
        out.push_str(&format!("<th scope=\"col\"{}>{name}</th>", alignment(is_text(c))));
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for row in &table.rows {
        out.push_str("<tr>");
        for c in 0..columns {
            let content = row.get(c).map(cell_content).unwrap_or_default();
            out.push_str(&data_cell(&content, c == 0, is_text(c)));
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody>\n</table>\n</div>\n");
    for note in &table.notes {
        out.push_str(&format!("<p class=\"note\" dir=\"auto\">{}</p>\n", escape(note)));
    }
    out
}

/// The text of a cell, bold for the best value, with the mark of a significant difference.
fn cell_content(cell: &Cell) -> String {
    let mut out = escape(&cell.text);
    if cell.best {
        out = format!("<strong>{out}</strong>");
    }
    let meaning = match cell.mark {
        Mark::Better => "significantly better",
        Mark::Worse => "significantly worse",
        Mark::None => return out,
    };
    format!(
        "{out}<span class=\"mark\" role=\"img\" aria-label=\"{meaning}\" title=\"{meaning}\">{}</span>",
        cell.mark.symbol()
    )
}

/// A drawing as a figure: its `<svg>` element, without anything that comes before it in the file.
fn drawing(id: &str, title: &str, svg: &str, level: usize) -> String {
    let start = svg.find("<svg").unwrap_or(0);
    let svg = with_prefixed_ids(svg.get(start..).unwrap_or_default(), id);
    let title = escape(title);
    format!(
        "<figure class=\"drawing\" id=\"{id}\" data-drawing=\"{id}\">\n\
         <h{level} dir=\"auto\">{title}</h{level}>\n<div class=\"scroll\" tabindex=\"0\" \
         role=\"region\" aria-label=\"{title}\">\n{svg}\n</div>\n</figure>\n"
    )
}

/// The drawing with a prefix before its ids, which makes them unique on the page: all drawings of
/// trees have an element with the id `title`.
fn with_prefixed_ids(svg: &str, prefix: &str) -> String {
    const LABELLED_BY: &str = " aria-labelledby=\"";
    let ids = svg.split(" id=\"").skip(1).filter_map(|after| after.split('"').next());
    let mut ids: Vec<&str> = ids.filter(|id| !id.is_empty()).collect();
    // Sorted, because `dedup` removes only equal neighbours.
    ids.sort_unstable();
    ids.dedup();
    let mut out = svg.to_owned();
    for id in ids {
        for (before, after) in [(" id=\"", "\""), ("url(#", ")"), ("href=\"#", "\"")] {
            let old = format!("{before}{id}{after}");
            out = out.replace(&old, &format!("{before}{prefix}--{id}{after}"));
        }
    }
    // This attribute refers to ids by their old names. It is removed, because the element around
    // the drawing has a label with the same text.
    match out.find(LABELLED_BY) {
        Some(start) => {
            let value = start + LABELLED_BY.len();
            let length = out.get(value..).unwrap_or_default().find('"');
            let end = length.map_or(out.len(), |length| value + length + 1);
            let after = out.get(end..).unwrap_or_default();
            format!("{}{after}", out.get(..start).unwrap_or_default())
        }
        None => out,
    }
}

/// Writes a control to choose one of the groups, and all groups.
fn write_choice(
    (id, label, control): (&str, &str, ChoiceControl),
    groups: &[(String, Vec<PageBlock>)],
    level: usize,
    out: &mut String,
) -> Result<(), ReportError> {
    let options: String =
        groups.iter().map(|(name, _)| format!("<option>{}</option>", escape(name))).collect();
    let label = escape(label);
    out.push_str(&format!("<div class=\"choice\" id=\"{id}\" data-choice=\"{id}\">\n"));
    out.push_str(&match control {
        ChoiceControl::List => format!(
            "<label class=\"chooser\" hidden>{label}\n\
             <select autocomplete=\"off\">{options}</select></label>\n"
        ),
        // The hidden list has the names of the groups, from which the script takes them.
        ChoiceControl::Slider => format!(
            "<div class=\"chooser stages\" hidden>\n\
             <button type=\"button\" class=\"play\" aria-pressed=\"false\">\
             <span aria-hidden=\"true\">\u{25b6}</span> Play</button>\n\
             <label>{label}\n<input type=\"range\" min=\"0\" max=\"{}\" step=\"1\" value=\"0\" \
             autocomplete=\"off\"></label>\n<output></output>\n\
             <select autocomplete=\"off\" hidden>{options}</select>\n</div>\n",
            groups.len().saturating_sub(1)
        ),
    });
    for (name, blocks) in groups {
        let name = escape(name);
        out.push_str(&format!(
            "<div class=\"group\" role=\"group\" aria-label=\"{label} {name}\">\n\
             <h{level} dir=\"auto\">{label} {name}</h{level}>\n"
        ));
        for block in blocks {
            write_block(block, (level + 1).min(6), out)?;
        }
        out.push_str("</div>\n");
    }
    out.push_str("</div>\n");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_inside_a_drawing_get_the_prefix() {
        let svg = "<svg aria-labelledby=\"t about\" role=\"img\"><title id=\"t\">x</title>\
                   <g id=\"t2\" fill=\"url(#t)\"/></svg>";
        assert_eq!(
            with_prefixed_ids(svg, "tree"),
            "<svg role=\"img\"><title id=\"tree--t\">x</title>\
             <g id=\"tree--t2\" fill=\"url(#tree--t)\"/></svg>"
        );
        assert_eq!(with_prefixed_ids("<svg/>", "tree"), "<svg/>");
    }
}
