//! A tree as plain SVG: boxes for splits and leaves, edges labelled yes or no.
//!
//! Leaves are placed side by side in slots of equal width; a split is placed midway between its
//! children, one row above them. Two boxes of a row belong to subtrees without a leaf in common, so
//! they are at least a slot apart and never overlap; edges run between rows and cross no box. There
//! is no script, no style sheet and no font to load. Boxes have their own light background, edges
//! have a grey that is visible on white and on black. Numbers in boxes are rounded; the tooltip of
//! a box (its `title`) has all digits. Size: linear in the leaves; nothing recurses.

use std::fmt::Write;

use rankwright_data::FeatureNames;

use super::{condition_text, printable, rows, shortest};
use crate::tree::{Child, Side, Tree};

const LINE: usize = 16;
const HEIGHT: usize = 3 * LINE + 12;
const ROW: usize = HEIGHT + 46;
const GAP: usize = 14;
const MARGIN: usize = 16;
/// Width of a character of the monospace font at its size, rounded up.
const CHARACTER: usize = 8;
/// Minimum width: the word beside an edge reaches neither the next edge nor the border.
const MIN_WIDTH: usize = 136;
/// Maximum number of characters of a name in a box.
const NAME: usize = 24;

/// Draws a tree with a title.
///
/// ```
/// use rankwright_data::FeatureNames;
/// use rankwright_model::{Tree, draw::tree_svg};
///
/// let svg = tree_svg(&Tree::constant(0.5, 10)?, &FeatureNames::Named(vec![]), "tree 1 of 1");
/// assert!(svg.starts_with("<svg ") && svg.contains("0.5"));
/// # Ok::<(), rankwright_model::ModelError>(())
/// ```
pub fn tree_svg(tree: &Tree, names: &FeatureNames, title: &str) -> String {
    let boxes = layout(tree);
    let texts: Vec<BoxText> = boxes.iter().map(|b| BoxText::new(tree, names, b.node)).collect();
    let longest = texts.iter().flat_map(|t| &t.lines).map(|line| line.chars().count()).max();
    let width = (longest.unwrap_or(0) * CHARACTER + 16).max(MIN_WIDTH);
    let slot = width + GAP;
    let place = |b: &Placed| {
        (MARGIN as f64 + width as f64 / 2.0 + b.slot * slot as f64, MARGIN + b.row * ROW)
    };
    let all_width = 2 * MARGIN + tree.leaves().len() * slot - GAP;
    let all_height = 2 * MARGIN + boxes.iter().map(|b| b.row).max().unwrap_or(0) * ROW + HEIGHT;
    let mut svg = open(all_width, all_height, title, tree);
    for b in &boxes {
        if let Some((parent, side)) = b.parent {
            edge(
                &mut svg,
                place(&boxes[parent]),
                place(b),
                side,
                missing_side(tree, boxes[parent].node),
            );
        }
    }
    for (b, text) in boxes.iter().zip(&texts) {
        draw_box(&mut svg, place(b), width, text);
    }
    svg.push_str("</svg>\n");
    svg
}

/// The position of a box: its centre in slots from the left, and its row from the top.
struct Placed {
    node: Child,
    slot: f64,
    row: usize,
    /// Number of the parent's box, and the side of this one.
    parent: Option<(usize, Side)>,
}

/// Places every split and leaf, parents before children, leaves from left to right.
fn layout(tree: &Tree) -> Vec<Placed> {
    let mut boxes: Vec<Placed> = Vec::with_capacity(tree.leaves().len() * 2 - 1);
    let mut open = vec![(tree.root(), None)];
    let mut leaves = 0;
    while let Some((node, parent)) = open.pop() {
        let row = parent.map_or(0, |(at, _): (usize, Side)| boxes[at].row + 1);
        let number = boxes.len();
        let slot = leaves as f64;
        boxes.push(Placed { node, slot, row, parent });
        match node {
            Child::Leaf(_) => leaves += 1,
            Child::Split(split) => {
                let split = &tree.splits()[split as usize];
                open.push((split.right, Some((number, Side::Right))));
                open.push((split.left, Some((number, Side::Left))));
            }
        }
    }
    // In a backward loop the children of a split are placed before it.
    let mut ends = vec![(0.0, 0.0); boxes.len()];
    for number in (0..boxes.len()).rev() {
        if let Child::Split(_) = boxes[number].node {
            boxes[number].slot = (ends[number].0 + ends[number].1) / 2.0;
        }
        match boxes[number].parent {
            Some((parent, Side::Left)) => ends[parent].0 = boxes[number].slot,
            Some((parent, Side::Right)) => ends[parent].1 = boxes[number].slot,
            None => {}
        }
    }
    boxes
}

/// The text in a box, and the text of its tooltip.
struct BoxText {
    lines: Vec<String>,
    whole: String,
    leaf: bool,
}

impl BoxText {
    fn new(tree: &Tree, names: &FeatureNames, node: Child) -> BoxText {
        match node {
            Child::Leaf(number) => {
                let leaf = &tree.leaves()[number as usize];
                let lines = vec![rounded(leaf.value), rows(leaf.rows)];
                let value = shortest(leaf.value);
                let whole = format!("leaf {number}: {value}, {}", rows(leaf.rows));
                BoxText { lines, whole, leaf: true }
            }
            Child::Split(number) => {
                let split = &tree.splits()[number as usize];
                let name = names.name(split.feature as usize);
                let asked = condition_text(split.rule, tree.sets(), "\u{2264}");
                let lines = vec![
                    printable(&name, NAME),
                    printable(&asked, NAME),
                    format!("{}, gain {}", rows(split.rows), rounded(split.gain)),
                ];
                let gain = shortest(split.gain);
                let name = printable(&name, usize::MAX);
                let whole = format!(
                    "split {number}: {name} {}, {}, gain {gain}",
                    condition_text(split.rule, tree.sets(), "<="),
                    rows(split.rows)
                );
                BoxText { lines, whole, leaf: false }
            }
        }
    }
}

/// A number to about five digits.
fn rounded(value: f64) -> String {
    let exact = shortest(value);
    match value.abs() {
        _ if exact.len() <= 7 => exact,
        size if (1e-3..1e6).contains(&size) => {
            let text = format!("{value:.5}");
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
        _ => format!("{value:.4e}"),
    }
}

fn missing_side(tree: &Tree, node: Child) -> Option<Side> {
    match node {
        Child::Split(number) => Some(tree.splits()[number as usize].missing),
        Child::Leaf(_) => None,
    }
}

fn open(width: usize, height: usize, title: &str, tree: &Tree) -> String {
    let title = escaped(&printable(title, usize::MAX));
    let (leaves, depth) = (tree.leaves().len(), tree.depth());
    let leaves = if leaves == 1 { "1 leaf".to_owned() } else { format!("{leaves} leaves") };
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" role=\"img\" aria-labelledby=\"title about\" \
         font-family=\"monospace\" font-size=\"13\" text-anchor=\"middle\">\n\
         <title id=\"title\">{title}</title>\n\
         <desc id=\"about\">A decision tree of {leaves} and depth {depth}. From a box the \
         left edge is for yes, the right one for no.</desc>\n"
    )
}

/// Draws an edge of three straight pieces, with its word beside the last one.
fn edge(svg: &mut String, from: (f64, usize), to: (f64, usize), side: Side, missing: Option<Side>) {
    let (x1, y1, x2, y2) = (from.0, from.1 + HEIGHT, to.0, to.1);
    let middle = y2 - (ROW - HEIGHT) / 2;
    let _ = writeln!(
        svg,
        "<path d=\"M{x1} {y1}V{middle}H{x2}V{y2}\" fill=\"none\" stroke=\"#767676\"/>"
    );
    let word = if side == Side::Left { "yes" } else { "no" };
    let also = if missing == Some(side) { ", missing" } else { "" };
    let (x, y) = (x2 + 5.0, y2 - 6);
    let _ = writeln!(
        svg,
        "<text x=\"{x}\" y=\"{y}\" font-size=\"11\" text-anchor=\"start\" \
         fill=\"#767676\">{word}{also}</text>"
    );
}

fn draw_box(svg: &mut String, (x, y): (f64, usize), width: usize, text: &BoxText) {
    let (fill, stroke) = match text.leaf {
        true => ("#eaf5ea", "#4d8a57"),
        false => ("#e9f0fa", "#4f75ad"),
    };
    let left = x - width as f64 / 2.0;
    let _ = writeln!(
        svg,
        "<g><title>{}</title><rect x=\"{left}\" y=\"{y}\" width=\"{width}\" height=\"{HEIGHT}\" \
         rx=\"5\" fill=\"{fill}\" stroke=\"{stroke}\"/>",
        escaped(&text.whole)
    );
    let first = y + (HEIGHT - text.lines.len() * LINE) / 2 + 12;
    for (number, line) in text.lines.iter().enumerate() {
        let baseline = first + number * LINE;
        let line = escaped(line);
        let _ = writeln!(svg, "<text x=\"{x}\" y=\"{baseline}\" fill=\"#1c1c1c\">{line}</text>");
    }
    svg.push_str("</g>\n");
}

/// Text for XML; characters that XML does not allow are replaced.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::tests::{chain, random, small};
    use roxmltree::Document;

    fn names() -> FeatureNames {
        FeatureNames::Named(vec!["bm25 <\"&'>\u{1}".into(), "x".repeat(99), "y".into(), "z".into()])
    }

    /// Every box as left, top, right, bottom.
    fn rectangles(document: &Document<'_>) -> Vec<[f64; 4]> {
        let of = |node: roxmltree::Node<'_, '_>| {
            let [x, y, w, h] = ["x", "y", "width", "height"]
                .map(|key| node.attribute(key).unwrap().parse::<f64>().unwrap());
            [x, y, x + w, y + h]
        };
        document.descendants().filter(|n| n.has_tag_name("rect")).map(of).collect()
    }

    fn check(tree: &Tree) {
        let svg = tree_svg(tree, &names(), "tree <1> & more\u{0}");
        let document = Document::parse(&svg).unwrap();
        let root = document.root_element();
        let size = |key| root.attribute(key).unwrap().parse::<f64>().unwrap();
        let boxes = rectangles(&document);
        assert_eq!(boxes.len(), tree.splits().len() + tree.leaves().len());
        for (i, a) in boxes.iter().enumerate() {
            assert!(a[0] >= 0.0 && a[1] >= 0.0 && a[2] <= size("width") && a[3] <= size("height"));
            for b in &boxes[..i] {
                let apart = a[2] < b[0] || b[2] < a[0] || a[3] < b[1] || b[3] < a[1];
                assert!(apart, "{a:?} overlaps {b:?}");
            }
        }
        let titles: Vec<&str> = document.descendants().filter_map(|n| n.text()).collect();
        for (number, leaf) in tree.leaves().iter().enumerate() {
            let start = format!("leaf {number}: {}, ", shortest(leaf.value));
            assert!(titles.iter().any(|title| title.starts_with(&start)), "{start}");
        }
        assert_eq!(svg.matches("<path ").count(), 2 * tree.splits().len());
        assert!(!svg.contains("<script") && !svg.contains("href"));
    }

    #[test]
    fn pictures_are_well_formed_and_boxes_do_not_overlap() {
        check(&Tree::constant(-0.1, 3).unwrap());
        check(&small());
        check(&chain(60));
        for seed in 0..20 {
            check(&random(seed, 1 + seed as usize * 8, 4));
        }
        check(&random(99, 254, 4));
    }

    #[test]
    fn edges_say_where_missing_values_go() {
        let svg = tree_svg(&small(), &names(), "t");
        assert_eq!(svg.matches(">no, missing<").count(), 1);
        assert_eq!(svg.matches(">yes, missing<").count(), 1);
    }

    #[test]
    fn numbers_in_boxes_are_short() {
        assert_eq!(rounded(0.25), "0.25");
        assert_eq!(rounded(0.123456789), "0.12346");
        assert_eq!(rounded(-1.23456789e-9), "-1.2346e-9");
        assert_eq!(rounded(123456.7891), "123456.7891");
    }
}
