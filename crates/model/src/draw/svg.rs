//! A tree as SVG without scripts and styles: boxes for splits and leaves, edges labelled yes or no.
//!
//! Leaves are placed side by side in slots of equal width; a split is placed midway between its
//! children, one row above them. Two boxes of a row belong to subtrees without a leaf in common, so
//! they are at least a slot apart and never overlap; edges run between rows and cross no box. There
//! is no script, no style sheet and no font to load. Boxes have their own light background, edges
//! have a grey that is visible on white and on black. Numbers in boxes are rounded; the tooltip of
//! a box (its `title`) has all digits. Size: linear in the leaves; nothing recurses.

use std::fmt::Write;

use super::{DrawnNames, condition_text, impurity_text, printable, rows_text, shortest};
use crate::impurity::SplitImpurity;
use crate::tree::{Child, Side, Tree};

// Sizes are in pixels.
/// Height of a line of text.
const LINE_HEIGHT: usize = 16;
/// Height of a box besides its lines of text.
const BOX_PADDING: usize = 12;
/// Distance from the bottom of a row of boxes to the top of the next row.
const ROW_GAP: usize = 46;
/// Distance between two boxes side by side.
const BOX_GAP: usize = 14;
/// Distance from the boxes to the border of the picture.
const MARGIN: usize = 16;
/// Width of a character of the monospace font, rounded up.
const CHARACTER_WIDTH: usize = 8;
/// Minimum width of a box, so that the word beside an edge (`yes, missing`) reaches neither the
/// next edge nor the border.
const MIN_BOX_WIDTH: usize = 136;
/// Maximum number of characters of a feature's name, and of a condition, in a box.
const MAX_CHARACTERS: usize = 24;

/// Draws a tree with a title; returns the text of the SVG file. `names` are the names of the
/// features, or the header of the tree's model, which also has the texts of categories.
///
/// ```
/// use rankwright_data::FeatureNames;
/// use rankwright_model::{Tree, draw::tree_svg};
///
/// let svg = tree_svg(&Tree::constant(0.5, 10)?, &FeatureNames::Named(vec![]), "tree 1 of 1");
/// assert!(svg.starts_with("<svg ") && svg.contains("0.5"));
/// # Ok::<(), rankwright_model::ModelError>(())
/// ```
pub fn tree_svg<'a>(tree: &Tree, names: impl Into<DrawnNames<'a>>, title: &str) -> String {
    tree_svg_with(tree, names, title, &[])
}

/// Draws a tree with a title and with the impurity of each split that has one, by the number of the
/// split.
pub fn tree_svg_with<'a>(
    tree: &Tree,
    names: impl Into<DrawnNames<'a>>,
    title: &str,
    impurities: &[SplitImpurity],
) -> String {
    let names = names.into();
    let boxes = layout(tree);
    let text = |b: &PlacedBox| BoxText::new(tree, names, b.node, impurities);
    let texts: Vec<BoxText> = boxes.iter().map(text).collect();
    let most_lines = texts.iter().map(|t| t.lines.len()).max().unwrap_or(0);
    let height = most_lines.max(3) * LINE_HEIGHT + BOX_PADDING;
    let longest = texts.iter().flat_map(|t| &t.lines).map(|line| line.chars().count()).max();
    // With 8 pixels of padding on each side of the text.
    let width = (longest.unwrap_or(0) * CHARACTER_WIDTH + 16).max(MIN_BOX_WIDTH);
    let slot_width = width + BOX_GAP;
    // The middle of a box's upper edge, in pixels.
    let top_middle = |b: &PlacedBox| {
        let x = MARGIN as f64 + width as f64 / 2.0 + b.slot * slot_width as f64;
        (x, MARGIN + b.row * (height + ROW_GAP))
    };
    let picture_width = 2 * MARGIN + tree.leaves().len() * slot_width - BOX_GAP;
    let last_row = boxes.iter().map(|b| b.row).max().unwrap_or(0);
    let picture_height = 2 * MARGIN + last_row * (height + ROW_GAP) + height;
    let mut svg = svg_start(picture_width, picture_height, title, tree);
    for b in &boxes {
        if let Some((parent, side)) = b.parent {
            let missing = missing_side(tree, boxes[parent].node);
            let (x, y) = top_middle(&boxes[parent]);
            draw_edge(&mut svg, (x, y + height), top_middle(b), side, missing);
        }
    }
    for (b, text) in boxes.iter().zip(&texts) {
        draw_box(&mut svg, top_middle(b), (width, height), text);
    }
    svg.push_str("</svg>\n");
    svg
}

/// A box and its position.
struct PlacedBox {
    node: Child,
    /// The centre of the box: the number of slots from the left, 0 for the leftmost leaf.
    slot: f64,
    /// The row, from 0 at the top.
    row: usize,
    /// Number of the parent's box, and the side on which this box is; `None` for the root.
    parent: Option<(usize, Side)>,
}

/// Places every split and leaf, parents before children, leaves from left to right.
fn layout(tree: &Tree) -> Vec<PlacedBox> {
    let mut boxes: Vec<PlacedBox> = Vec::with_capacity(tree.leaves().len() * 2 - 1);
    let mut pending = vec![(tree.root(), None)];
    let mut leaves = 0;
    while let Some((node, parent)) = pending.pop() {
        let row = parent.map_or(0, |(parent, _): (usize, Side)| boxes[parent].row + 1);
        let number = boxes.len();
        let slot = leaves as f64;
        boxes.push(PlacedBox { node, slot, row, parent });
        match node {
            Child::Leaf(_) => leaves += 1,
            Child::Split(split) => {
                let split = &tree.splits()[split as usize];
                pending.push((split.right, Some((number, Side::Right))));
                pending.push((split.left, Some((number, Side::Left))));
            }
        }
    }
    // The slots of splits follow from those of their children, so the loop runs backwards: children
    // before their parent. For each split the slots of its left and right child:
    let mut child_slots = vec![(0.0, 0.0); boxes.len()];
    for number in (0..boxes.len()).rev() {
        if let Child::Split(_) = boxes[number].node {
            boxes[number].slot = (child_slots[number].0 + child_slots[number].1) / 2.0;
        }
        match boxes[number].parent {
            Some((parent, Side::Left)) => child_slots[parent].0 = boxes[number].slot,
            Some((parent, Side::Right)) => child_slots[parent].1 = boxes[number].slot,
            None => {}
        }
    }
    boxes
}

/// The lines of text in a box, and the text of its tooltip.
struct BoxText {
    lines: Vec<String>,
    tooltip: String,
    is_leaf: bool,
}

impl BoxText {
    fn new(
        tree: &Tree,
        names: DrawnNames<'_>,
        node: Child,
        impurities: &[SplitImpurity],
    ) -> BoxText {
        match node {
            Child::Leaf(number) => {
                let leaf = &tree.leaves()[number as usize];
                let lines = vec![rounded(leaf.value), rows_text(leaf.rows)];
                let value = shortest(leaf.value);
                let tooltip = format!("leaf {number}: {value}, {}", rows_text(leaf.rows));
                BoxText { lines, tooltip, is_leaf: true }
            }
            Child::Split(number) => {
                let split = &tree.splits()[number as usize];
                let condition = condition_text(split, tree.sets(), names, "\u{2264}");
                let impurity = impurities.get(number as usize);
                let mut lines = vec![
                    names.feature(split.feature, MAX_CHARACTERS),
                    printable(&condition, MAX_CHARACTERS),
                    format!("{}, gain {}", rows_text(split.rows), rounded(split.gain)),
                ];
                lines.extend(impurity.map(impurity_text));
                let gain = shortest(split.gain);
                let name = names.feature(split.feature, usize::MAX);
                let mut tooltip = format!(
                    "split {number}: {name} {}, {}, gain {gain}",
                    condition_text(split, tree.sets(), names, "<="),
                    rows_text(split.rows)
                );
                if let Some(SplitImpurity { after, before, .. }) = impurity {
                    let (after, before) = (shortest(*after), shortest(*before));
                    let _ = write!(tooltip, ", G {after}, before {before}");
                }
                BoxText { lines, tooltip, is_leaf: false }
            }
        }
    }
}

/// A number with at most five decimals, and with an exponent if it is very large or small.
fn rounded(value: f64) -> String {
    let exact = shortest(value);
    match value.abs() {
        _ if exact.len() <= 7 => exact,
        magnitude if (1e-3..1e6).contains(&magnitude) => {
            let text = format!("{value:.5}");
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
        _ => format!("{value:.4e}"),
    }
}

/// The side to which a split sends missing values; `None` for a leaf.
fn missing_side(tree: &Tree, node: Child) -> Option<Side> {
    match node {
        Child::Split(number) => Some(tree.splits()[number as usize].missing),
        Child::Leaf(_) => None,
    }
}

/// The start of the SVG file, with a title and a description of the picture.
fn svg_start(width: usize, height: usize, title: &str, tree: &Tree) -> String {
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

/// Draws an edge from `from`, the middle of a box's lower edge, to `to`, the middle of the upper
/// edge of a box in the next row: three straight lines, with the word `yes` or `no` beside the last
/// one. `missing` is the side to which the upper box sends missing values.
fn draw_edge(
    svg: &mut String,
    from: (f64, usize),
    to: (f64, usize),
    side: Side,
    missing: Option<Side>,
) {
    let ((x1, y1), (x2, y2)) = (from, to);
    let middle = y2 - ROW_GAP / 2;
    let _ = writeln!(
        svg,
        "<path d=\"M{x1} {y1}V{middle}H{x2}V{y2}\" fill=\"none\" stroke=\"#767676\"/>"
    );
    let word = if side == Side::Left { "yes" } else { "no" };
    let also_missing = if missing == Some(side) { ", missing" } else { "" };
    let (x, y) = (x2 + 5.0, y2 - 6);
    let _ = writeln!(
        svg,
        "<text x=\"{x}\" y=\"{y}\" font-size=\"11\" text-anchor=\"start\" \
         fill=\"#767676\">{word}{also_missing}</text>"
    );
}

/// Draws a box with its lines of text; (x, y) is the middle of its upper edge.
fn draw_box(
    svg: &mut String,
    (x, y): (f64, usize),
    (width, height): (usize, usize),
    text: &BoxText,
) {
    let (fill, stroke) = match text.is_leaf {
        true => ("#eaf5ea", "#4d8a57"),
        false => ("#e9f0fa", "#4f75ad"),
    };
    let left = x - width as f64 / 2.0;
    let _ = writeln!(
        svg,
        "<g><title>{}</title><rect x=\"{left}\" y=\"{y}\" width=\"{width}\" \
         height=\"{height}\" rx=\"5\" fill=\"{fill}\" stroke=\"{stroke}\"/>",
        escaped(&text.tooltip)
    );
    // The baseline of the text is 12 pixels below the top of its line.
    let first_baseline = y + (height - text.lines.len() * LINE_HEIGHT) / 2 + 12;
    for (number, line) in text.lines.iter().enumerate() {
        let baseline = first_baseline + number * LINE_HEIGHT;
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
    use rankwright_data::FeatureNames;

    use super::*;
    use crate::tree::tests::{chain_tree, random_tree, two_split_tree};
    use roxmltree::Document;

    fn names() -> FeatureNames {
        FeatureNames::Named(vec!["bm25 <\"&'>\u{1}".into(), "x".repeat(99), "y".into(), "z".into()])
    }

    /// Every box as left, top, right, bottom.
    fn rectangles(document: &Document<'_>) -> Vec<[f64; 4]> {
        let sides = |node: roxmltree::Node<'_, '_>| {
            let [x, y, w, h] = ["x", "y", "width", "height"]
                .map(|key| node.attribute(key).unwrap().parse::<f64>().unwrap());
            [x, y, x + w, y + h]
        };
        document.descendants().filter(|n| n.has_tag_name("rect")).map(sides).collect()
    }

    /// Checks that the drawing of a tree is well-formed, has a box for each split and leaf, an edge
    /// for each child, and no boxes that overlap.
    fn check(tree: &Tree) {
        let impurity = |split| SplitImpurity { split, rows: 9, before: 0.5, after: 1.25e-7 };
        let impurities: Vec<SplitImpurity> = (0..tree.splits().len()).map(impurity).collect();
        let title = "tree <1> & more\u{0}";
        check_drawing(tree, &tree_svg(tree, &names(), title));
        let svg = tree_svg_with(tree, &names(), title, &impurities);
        check_drawing(tree, &svg);
        assert_eq!(svg.matches("G 1.250e-7, before 0.5000<").count(), tree.splits().len());
        assert_eq!(svg.matches("G 1.25e-7, before 0.5<").count(), tree.splits().len());
    }

    fn check_drawing(tree: &Tree, svg: &str) {
        let document = Document::parse(svg).unwrap();
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
    fn drawings_are_well_formed_and_boxes_do_not_overlap() {
        check(&Tree::constant(-0.1, 3).unwrap());
        check(&two_split_tree());
        check(&chain_tree(60));
        for seed in 0..20 {
            check(&random_tree(seed, 1 + seed as usize * 8, 4));
        }
        check(&random_tree(99, 254, 4));
    }

    #[test]
    fn edges_say_where_missing_values_go() {
        let svg = tree_svg(&two_split_tree(), &names(), "t");
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
