//! Ranked lists side by side with an arrow at each document: the direction and strength of its
//! force, minus the derivative of the training loss with respect to the document's score.
//!
//! Arrows are drawn in lanes beside each other, so that those of neighbours do not cover each
//! other; the longest arrow of a list is as long as 2.6 rows. A box in front of a name shows the
//! label: the stronger its colour, the higher the label among all lists.

use super::canvas::FONT;
use super::frame::{LINE, width_of};
use super::pen::{DrawError, DrawResult, Pen, Position, TextAnchor};
use super::theme::ColourRole;
use super::{LETTER, Picture, PictureForm};
use crate::chart::escape::shorten;
use crate::chart::number::short;
use crate::chart::{ForceArrow, Forces};

/// Number of lanes of arrows in a list.
const LANES: usize = 5;
/// Distance between lanes.
const LANE_DISTANCE: f64 = 13.0;
/// Height of a document's row.
const ROW: f64 = LINE + 6.0;
/// Length of the longest arrow.
const LONGEST: f64 = 2.6 * ROW;
/// Width of bold text relative to normal text.
const BOLD: f64 = 1.06;
/// Height of the title of a list, with room for the longest arrow upwards from the first row.
const HEADER: f64 = LINE + LONGEST - ROW / 2.0 + 4.0;
/// Room below the last row for the longest arrow downwards.
const FOOTER: f64 = LONGEST - ROW / 2.0 + 4.0;
/// Room left of the ranks and titles of a list.
const LEFT_MARGIN: f64 = 4.0;
/// Room right of the last lane, for half of an arrow's head.
const RIGHT_MARGIN: f64 = 14.0;
/// Room between the longest name and the first lane.
const LANE_GAP: f64 = 26.0;
/// The same where the list is so narrow that names are shortened.
const NARROW_LANE_GAP: f64 = 16.0;
/// Names are shortened to no fewer letters.
const MIN_LETTERS: f64 = 3.0;
/// Width and height of the box of a label.
const BOX_SIZE: (f64, f64) = (27.0, 18.0);
/// A shorter arrow is drawn as a dot.
const SHORTEST: f64 = 2.0;
/// Half of the width of a dot.
const HALF_DOT: f64 = 1.5;
/// Length and half of the width of an arrow's head.
const HEAD: (f64, f64) = (8.0, 5.0);

// The x positions inside a row, from its left end: rank (right-aligned), box of the label, name.
const RANK_X: f64 = 18.0;
const BOX_X: f64 = 24.0;
const NAME_X: f64 = 58.0;

pub(super) fn draw(forces: &Forces, form: PictureForm) -> Result<Picture, DrawError> {
    let lists_per_row = forces.lists.len().clamp(1, form.lists_per_row());
    let list_width = form.width() / lists_per_row as f64;
    let most_documents = forces.lists.iter().map(|(_, list)| list.len()).max().unwrap_or(0).max(2);
    let list_height = HEADER + most_documents as f64 * ROW + FOOTER;
    let rows_of_lists = forces.lists.len().div_ceil(lists_per_row).max(1);
    let height = rows_of_lists as f64 * list_height;
    let highest_label = labels(forces).fold(0.0, f64::max);

    let pen = Pen::new(form.width(), height);
    let mut positions = Vec::new();
    for (i, (name, list)) in forces.lists.iter().enumerate() {
        let (column, row) = (i % lists_per_row, i / lists_per_row);
        let corner = (column as f64 * list_width, row as f64 * list_height);
        pen.series(name, || {
            let max_letters = ((list_width - 8.0) / (FONT * LETTER * BOLD)) as usize;
            let position = (corner.0 + LEFT_MARGIN, corner.1 + 12.0);
            pen.bold(&shorten(name, max_letters), position, TextAnchor::Left, ColourRole::Ink)?;
            draw_list(&pen, list, corner, list_width, highest_label, &mut positions)
        })?;
    }
    if positions.is_empty() {
        pen.text(
            "no values",
            (form.width() / 2.0, height / 2.0),
            TextAnchor::Middle,
            ColourRole::Soft,
        )?;
    }
    Ok(Picture { width: form.width(), height, body: pen.svg.take(), positions })
}

/// The finite labels of all documents.
fn labels(forces: &Forces) -> impl Iterator<Item = f64> {
    let documents = forces.lists.iter().flat_map(|(_, list)| list);
    documents.map(|document| document.label).filter(|label| label.is_finite())
}

/// Draws a list below `corner`, its upper left corner, and adds the position of each document.
fn draw_list(
    pen: &Pen,
    list: &[ForceArrow],
    corner: Position,
    width: f64,
    highest_label: f64,
    positions: &mut Vec<Option<Position>>,
) -> DrawResult {
    let finite = list.iter().map(|d| d.force.abs()).filter(|f| f.is_finite());
    let strongest = finite.fold(0.0, f64::max);
    let names_x = corner.0 + LEFT_MARGIN + NAME_X;
    // The largest x of the first lane with which all lanes fit.
    let rightmost = corner.0 + width - RIGHT_MARGIN - (LANES - 1) as f64 * LANE_DISTANCE;
    let name_room = rightmost - names_x - NARROW_LANE_GAP;
    let max_letters = (name_room / (FONT * LETTER)).max(MIN_LETTERS) as usize;
    let name_width =
        list.iter().map(|d| width_of(&shorten(&d.name, max_letters))).fold(0.0, f64::max);
    // The first lane is close to the names.
    let first_lane = rightmost.min(names_x + name_width + LANE_GAP);
    for (rank, document) in list.iter().enumerate() {
        let y = corner.1 + HEADER + rank as f64 * ROW + ROW / 2.0;
        let x = corner.0 + LEFT_MARGIN;
        let name = shorten(&document.name, max_letters);
        pen.text(&(rank + 1).to_string(), (x + RANK_X, y), TextAnchor::Right, ColourRole::Soft)?;
        label_box(pen, (x + BOX_X, y), document.label, highest_label)?;
        pen.text(&name, (x + NAME_X, y), TextAnchor::Left, ColourRole::Ink)?;
        let lane = first_lane + (rank % LANES) as f64 * LANE_DISTANCE;
        let length = if strongest > 0.0 { document.force / strongest * LONGEST } else { 0.0 };
        positions.push(Some((lane, y)));
        arrow(pen, (lane, y), length)?;
    }
    Ok(())
}

/// Draws a label in a box; `(x, y)` is the middle of the box's left side.
fn label_box(pen: &Pen, (x, y): Position, label: f64, highest_label: f64) -> DrawResult {
    let strength = if highest_label > 0.0 && label.is_finite() {
        (label / highest_label).max(0.0)
    } else {
        0.0
    };
    let (width, height) = BOX_SIZE;
    let (from, to) = ((x, y - height / 2.0), (x + width, y + height / 2.0));
    pen.rect(from, to, ColourRole::Series(2), 0.9 * strength)?;
    pen.outline(from, to, ColourRole::Series(2), 1.0)?;
    // Light text on a strong colour.
    let ink = if strength > 0.55 { ColourRole::Background } else { ColourRole::Ink };
    pen.text(&shorten(&short(label), 4), (x + width / 2.0, y), TextAnchor::Middle, ink)
}

/// An arrow, upwards where the length is above 0; a dot where the force is close to 0 or not
/// finite.
fn arrow(pen: &Pen, (x, y): Position, length: f64) -> DrawResult {
    if !length.is_finite() || length.abs() < SHORTEST {
        return pen.rect(
            (x - HALF_DOT, y - HALF_DOT),
            (x + HALF_DOT, y + HALF_DOT),
            ColourRole::Soft,
            1.0,
        );
    }
    let role = if length > 0.0 { ColourRole::Up } else { ColourRole::Down };
    let tip = y - length;
    let (head_length, half_width) = HEAD;
    let head = length.abs().min(head_length) * length.signum();
    pen.line(&[(x, y), (x, tip + head * 0.8)], role, 1.0, 2.4)?;
    pen.area(vec![(x, tip), (x + half_width, tip + head), (x - half_width, tip + head)], role, 1.0)
}
