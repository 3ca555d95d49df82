//! A page as one HTML file: style, script, plots and numbers are all inside, and its content
//! security policy forbids the network and every script but the page's own.
//!
//! Without scripts everything can still be read: all groups of a choice are shown then, and the
//! numbers are below each plot. All text from outside is escaped, and the JSON inside the page has
//! no `<`, so that it cannot end its element.

use base64::prelude::{BASE64_STANDARD, Engine};
use rankwright_eval::compare::Mark;
use rankwright_eval::table::{Align, Cell, Table};
use rankwright_spec::words::counted;
use sha2::{Digest, Sha256};

use super::{ChoiceForm, Page, PageBlock, Section};
use crate::ReportError;
use crate::chart::escape::{escape, replace_control_char};
use crate::chart::numbers::TableValue;
use crate::chart::svg::theme::page_css;
use crate::chart::svg::{Picture, PictureForm};
use crate::chart::{Chart, tooltips};

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");
/// Maximum number of rows of numbers below a plot.
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
    for one in &page.sections {
        section(one, &mut out)?;
    }
    out.push_str(&format!(
        "</main>\n</div>\n<script>{}</script>\n</body>\n</html>\n",
        own_script()
    ));
    Ok(out)
}

/// The content security policy: nothing is fetched or sent, and only our script runs, identified by
/// its hash.
fn policy() -> String {
    let hash = BASE64_STANDARD.encode(Sha256::digest(own_script()));
    format!(
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{hash}'; base-uri \
         'none'; form-action 'none'"
    )
}

/// The text between the script tags, which the hash covers.
fn own_script() -> String {
    format!("\n{SCRIPT}")
}

fn head(page: &Page) -> String {
    let title = escape(&page.title);
    let lead = match page.lead.is_empty() {
        true => String::new(),
        false => format!("<p class=\"lead\">{}</p>\n", escape(&page.lead)),
    };
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta name=\"generator\" content=\"rankwright {}\">\n\
         <title>{title}</title>\n<style>\n{}\n{STYLE}</style>\n</head>\n<body>\n\
         <a class=\"skip\" href=\"#main\">Skip to the report</a>\n\
         <header class=\"top\">\n<h1 dir=\"auto\">{title}</h1>\n{lead}\
         <button type=\"button\" class=\"theme\" hidden>Dark colours</button>\n</header>\n",
        policy(),
        env!("CARGO_PKG_VERSION"),
        page_css()
    )
}

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

fn section(one: &Section, out: &mut String) -> Result<(), ReportError> {
    let (id, title) = (&one.id, escape(&one.title));
    out.push_str(&format!(
        "<section id=\"{id}\" aria-labelledby=\"{id}--title\">\n\
         <h2 id=\"{id}--title\" dir=\"auto\">{title}</h2>\n"
    ));
    for each in &one.blocks {
        block(each, 3, out)?;
    }
    out.push_str("</section>\n");
    Ok(())
}

/// Writes a block; `level` is that of its heading.
fn block(block: &PageBlock, level: usize, out: &mut String) -> Result<(), ReportError> {
    match block {
        PageBlock::Text(text) => out.push_str(&format!("<p dir=\"auto\">{}</p>\n", escape(text))),
        PageBlock::Chart(chart) => out.push_str(&figure(chart, level)?),
        PageBlock::Table { id, title, table: content } => {
            let table = table(id, title, content);
            out.push_str(&format!("<div class=\"block\">\n{table}</div>\n"));
        }
        PageBlock::Drawing { id, title, svg } => out.push_str(&drawing(id, title, svg, level)),
        PageBlock::Choice { id, label, groups, form } => {
            choice((id, label, *form), groups, level, out)?;
        }
    }
    Ok(())
}

fn figure(chart: &Chart, level: usize) -> Result<String, ReportError> {
    let (wide, narrow) =
        (Picture::of(chart, PictureForm::Wide)?, Picture::of(chart, PictureForm::Narrow)?);
    let tooltips_json =
        tooltips::to_json(chart, &wide, &narrow).to_string().replace('<', "\\u003c");
    let tooltips_json: String = tooltips_json.chars().map(replace_control_char).collect();
    let (id, title) = (&chart.id, escape(&chart.title));
    Ok(format!(
        "<figure id=\"{id}\" data-chart=\"{id}\">\n<h{level} dir=\"auto\">{title}</h{level}>\n\
         <div class=\"plot\" tabindex=\"0\" role=\"group\" \
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
    let texts: Vec<bool> = (0..header.len()).map(is_text).collect();
    for (name, text) in header.iter().zip(&texts) {
        let side = if *text { " class=\"l\"" } else { "" };
        out.push_str(&format!("<th scope=\"col\"{side}>{}</th>", escape(name)));
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for row in rows.iter().take(ROWS) {
        out.push_str("<tr>");
        for (c, (entry, text)) in row.iter().zip(&texts).enumerate() {
            out.push_str(&data_cell(&escape(&entry.short()), c == 0, *text));
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody>\n</table>\n</div>\n");
    if rows.len() > ROWS {
        let left = rows.len() - ROWS;
        out.push_str(&format!(
            "<p class=\"note\">Not shown: {}. The file {}.csv, one of the page's assets, has all \
             rows.</p>\n",
            counted(left, "more row"),
            chart.id
        ));
    }
    out.push_str("</details>\n");
    out
}

/// A cell; the first one of a row is a row heading.
fn data_cell(content: &str, first: bool, text: bool) -> String {
    let side = if text { " class=\"l\"" } else { "" };
    match first {
        true => format!("<th scope=\"row\"{side}>{content}</th>"),
        false => format!("<td{side}>{content}</td>"),
    }
}

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
        let side = if is_text(c) { " class=\"l\"" } else { "" };
        out.push_str(&format!("<th scope=\"col\"{side}>{name}</th>"));
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for row in &table.rows {
        out.push_str("<tr>");
        for c in 0..columns {
            let content = row.get(c).map(cell).unwrap_or_default();
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

fn cell(cell: &Cell) -> String {
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
    let svg = scoped(svg.get(start..).unwrap_or_default(), id);
    let title = escape(title);
    format!(
        "<figure class=\"drawing\" id=\"{id}\" data-drawing=\"{id}\">\n\
         <h{level} dir=\"auto\">{title}</h{level}>\n<div class=\"scroll\" tabindex=\"0\" \
         role=\"region\" aria-label=\"{title}\">\n{svg}\n</div>\n</figure>\n"
    )
}

/// The drawing with its ids prefixed by that of its block: two trees both use the id `title`.
fn scoped(svg: &str, under: &str) -> String {
    let ids = svg.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next());
    let mut ids: Vec<&str> = ids.filter(|id| !id.is_empty()).collect();
    // Sorted, because `dedup` removes only equal neighbours.
    ids.sort_unstable();
    ids.dedup();
    let mut out = svg.to_owned();
    for id in ids {
        for (before, after) in [(" id=\"", "\""), ("url(#", ")"), ("href=\"#", "\"")] {
            let old = format!("{before}{id}{after}");
            out = out.replace(&old, &format!("{before}{under}--{id}{after}"));
        }
    }
    // The attribute holds a list of ids; the block's own label says the same.
    match out.find(" aria-labelledby=\"") {
        Some(at) => {
            let rest = out.get(at + 18..).unwrap_or_default();
            let end = rest.find('"').map_or(out.len(), |end| at + 18 + end + 1);
            let tail = out.get(end..).unwrap_or_default();
            format!("{}{tail}", out.get(..at).unwrap_or_default())
        }
        None => out,
    }
}

fn choice(
    (id, label, form): (&str, &str, ChoiceForm),
    groups: &[(String, Vec<PageBlock>)],
    level: usize,
    out: &mut String,
) -> Result<(), ReportError> {
    let options: String =
        groups.iter().map(|(name, _)| format!("<option>{}</option>", escape(name))).collect();
    let label = escape(label);
    out.push_str(&format!("<div class=\"choice\" id=\"{id}\" data-choice=\"{id}\">\n"));
    out.push_str(&match form {
        ChoiceForm::List => format!(
            "<label class=\"chooser\" hidden>{label}\n\
             <select autocomplete=\"off\">{options}</select></label>\n"
        ),
        // The list of names stays, for the script and for screen readers.
        ChoiceForm::Slider => format!(
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
        for each in blocks {
            block(each, (level + 1).min(6), out)?;
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
    fn ids_inside_a_drawing_are_put_under_its_own() {
        let svg = "<svg aria-labelledby=\"t about\" role=\"img\"><title id=\"t\">x</title>\
                   <g id=\"t2\" fill=\"url(#t)\"/></svg>";
        assert_eq!(
            scoped(svg, "tree"),
            "<svg role=\"img\"><title id=\"tree--t\">x</title>\
             <g id=\"tree--t2\" fill=\"url(#tree--t)\"/></svg>"
        );
        assert_eq!(scoped("<svg/>", "tree"), "<svg/>");
    }
}
