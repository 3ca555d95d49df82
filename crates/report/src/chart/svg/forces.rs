//! Ranked lists side by side with an arrow at each document: the direction and strength of its
//! training force.
//!
//! Arrows are drawn in lanes beside each other, so that those of neighbours do not cover each
//! other; the longest arrow of a list is as long as three rows. A box in front of a name shows the
//! label: the stronger its colour, the higher the label among all lists.

use super::frame::{LINE, width_of};
use super::pen::{DrawError, DrawResult, Pen, Position, TextAnchor};
use super::theme::ColourRole;
use super::{LETTER, Picture, PictureForm};
use crate::chart::escape::shorten;
use crate::chart::number::short;
use crate::chart::{ForceArrow, Forces};

/// Lanes of arrows in a list.
const LANES: usize = 5;
/// Distance between lanes.
const LANE: f64 = 13.0;
/// Height of a document's row.
const ROW: f64 = LINE + 6.0;
/// Length of the longest arrow.
const LONGEST: f64 = 2.6 * ROW;

pub(super) fn draw(forces: &Forces, form: PictureForm) -> Result<Picture, DrawError> {
    let across = forces.lists.len().clamp(1, form.lists_per_row());
    let width = form.width() / across as f64;
    let longest = forces.lists.iter().map(|(_, list)| list.len()).max().unwrap_or(0).max(2);
    let block = 3.0 * LINE + longest as f64 * ROW + ROW;
    let down = forces.lists.len().div_ceil(across).max(1);
    let height = down as f64 * block;
    let highest = labels(forces).fold(0.0, f64::max);

    let pen = Pen::new(form.width(), height);
    let mut positions = Vec::new();
    for (i, (name, list)) in forces.lists.iter().enumerate() {
        let corner = ((i % across) as f64 * width, (i / across) as f64 * block);
        pen.series(name, false, || {
            let title = shorten(name, ((width - 8.0) / (13.0 * LETTER * 1.06)) as usize);
            pen.bold(&title, (corner.0 + 4.0, corner.1 + 12.0), TextAnchor::Left, ColourRole::Ink)?;
            one(&pen, list, corner, width, highest, &mut positions)
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
    Ok(Picture { width: form.width(), height, body: pen.sheet.take(), positions })
}

fn labels(forces: &Forces) -> impl Iterator<Item = f64> {
    let documents = forces.lists.iter().flat_map(|(_, list)| list);
    documents.map(|document| document.label).filter(|label| label.is_finite())
}

fn one(
    pen: &Pen,
    list: &[ForceArrow],
    corner: Position,
    width: f64,
    highest: f64,
    positions: &mut Vec<Option<Position>>,
) -> DrawResult {
    let known = list.iter().map(|d| d.force.abs()).filter(|f| f.is_finite());
    let strongest = known.fold(0.0, f64::max);
    let right = corner.0 + width - 14.0 - (LANES - 1) as f64 * LANE;
    let most = ((right - corner.0 - 78.0) / (13.0 * LETTER)).max(3.0) as usize;
    let names = list.iter().map(|d| width_of(&shorten(&d.name, most))).fold(0.0, f64::max);
    let lanes = right.min(corner.0 + 62.0 + names + 26.0);
    for (rank, document) in list.iter().enumerate() {
        let y = corner.1 + 3.0 * LINE + rank as f64 * ROW + ROW / 2.0;
        let x = corner.0 + 4.0;
        pen.text(&(rank + 1).to_string(), (x + 18.0, y), TextAnchor::Right, ColourRole::Soft)?;
        label_box(pen, (x + 24.0, y), document.label, highest)?;
        pen.text(&shorten(&document.name, most), (x + 58.0, y), TextAnchor::Left, ColourRole::Ink)?;
        let lane = lanes + (rank % LANES) as f64 * LANE;
        let length = if strongest > 0.0 { document.force / strongest * LONGEST } else { 0.0 };
        positions.push(Some((lane, y)));
        arrow(pen, (lane, y), length)?;
    }
    Ok(())
}

fn label_box(pen: &Pen, (x, y): Position, label: f64, highest: f64) -> DrawResult {
    let strength =
        if highest > 0.0 && label.is_finite() { (label / highest).max(0.0) } else { 0.0 };
    let (from, to) = ((x, y - 9.0), (x + 27.0, y + 9.0));
    pen.rect(from, to, ColourRole::Series(2), 0.9 * strength)?;
    pen.outline(from, to, ColourRole::Series(2), 1.0)?;
    let ink = if strength > 0.55 { ColourRole::Ground } else { ColourRole::Ink };
    pen.text(&shorten(&short(label), 4), (x + 13.5, y), TextAnchor::Middle, ink)
}

/// An arrow, upwards where the length is above 0; a dot where the force is close to 0.
fn arrow(pen: &Pen, (x, y): Position, length: f64) -> DrawResult {
    if !length.is_finite() || length.abs() < 2.0 {
        return pen.rect((x - 1.5, y - 1.5), (x + 1.5, y + 1.5), ColourRole::Soft, 1.0);
    }
    let role = if length > 0.0 { ColourRole::Up } else { ColourRole::Down };
    let tip = y - length;
    let head = length.abs().min(8.0) * length.signum();
    pen.line(&[(x, y), (x, tip + head * 0.8)], role, 1.0, 2.4)?;
    pen.area(vec![(x, tip), (x + 5.0, tip + head), (x - 5.0, tip + head)], role, 1.0)
}
