//! Grids and lists of forces in characters.

use super::{name, pad, pad_left};
use crate::chart::number::short;
use crate::chart::svg::heat::{Shades, cell};
use crate::chart::{Forces, HeatMap};

/// Number of arrows of the strongest force in a list.
const ARROWS: usize = 8;
/// Characters of increasing density.
const SHADES: [char; 5] = ['·', '░', '▒', '▓', '█'];

/// A grid as characters of increasing density; if there are values on both sides of 0, with a minus
/// before those below.
pub(super) fn heat(heat: &HeatMap, width: usize) -> String {
    let Some(shades) = Shades::of(heat) else { return String::new() };
    let longest = heat.rows.iter().map(|n| n.chars().count()).max().unwrap_or(0);
    let name_width = longest.min(width / 3);
    // Each column takes three characters: the sign and two of the shade.
    let columns = heat.columns.len().min((width - name_width - 1) / 3);
    let mut out = String::new();
    for (r, row) in heat.rows.iter().enumerate() {
        let mut line = pad(&name(row, name_width), name_width) + " ";
        for c in 0..columns {
            match cell(heat, r, c) {
                Some(value) => {
                    let (below, strength) = shades.strength(value);
                    let shade = (strength * (SHADES.len() - 1) as f64).round() as usize;
                    let shade = SHADES.get(shade).copied().unwrap_or('█');
                    line.push(if below { '-' } else { ' ' });
                    line.extend([shade, shade]);
                }
                None => line.push_str("   "),
            }
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    let ends = shades.ends();
    out.push_str(&column_names(heat, columns, width));
    let key = format!("{}: · {} to █ {}", heat.value, short(ends.0), short(ends.1));
    let key = if shades.has_both_signs() { format!("{key}, - below 0") } else { key };
    out + &name(&key, width) + "\n"
}

/// `columns: a, b, ...` for the shown columns, cut to the width.
fn column_names(heat: &HeatMap, shown: usize, width: usize) -> String {
    let omitted = heat.columns.len() - shown;
    let note = if omitted > 0 { format!(" (the first {shown})") } else { String::new() };
    let names = heat.columns.iter().take(shown).cloned().collect::<Vec<_>>().join(", ");
    format!("{}\n", name(&format!("columns{note}: {names}"), width))
}

/// One line per document: rank, name, label and arrows, more of them for a stronger force.
pub(super) fn forces(forces: &Forces, width: usize) -> String {
    // The other columns of a line take 34 characters.
    let name_width = width - 34;
    let mut out = String::new();
    for (list, documents) in forces.lists.iter().filter(|(_, list)| !list.is_empty()) {
        out.push_str(&format!("{}\n", name(list, width)));
        let finite = documents.iter().map(|d| d.force.abs()).filter(|f| f.is_finite());
        let strongest = finite.fold(0.0, f64::max);
        for (rank, d) in documents.iter().enumerate() {
            // An infinite force has all arrows; the strongest finite force sets the scale.
            let share = match d.force {
                force if force.is_infinite() => force.signum(),
                force if strongest > 0.0 => (force / strongest).clamp(-1.0, 1.0),
                _ => 0.0,
            };
            let arrow = if share < 0.0 { "↓" } else { "↑" };
            let arrows = arrow.repeat((share.abs() * ARROWS as f64).ceil() as usize);
            let line = format!(
                "{} {} label {} {} {}",
                pad_left(&(rank + 1).to_string(), 3),
                pad(&name(&d.name, name_width), name_width.min(24)),
                pad(&short(d.label), 3),
                pad(&arrows, ARROWS),
                short(d.force)
            );
            out.push_str(&format!("{}\n", name(line.trim_end(), width)));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::ForceArrow;

    #[test]
    fn infinite_forces_have_as_many_arrows_as_the_strongest() {
        let document = |force: f64| ForceArrow { name: "d".to_owned(), label: 1.0, force };
        let arrows = |all: &[f64]| -> Vec<usize> {
            let list = all.iter().map(|force| document(*force)).collect();
            let text = forces(&Forces { lists: vec![("q".to_owned(), list)] }, 80);
            let arrow = |c: &char| matches!(c, '↑' | '↓');
            text.lines().skip(1).map(|line| line.chars().filter(arrow).count()).collect()
        };
        assert_eq!(arrows(&[f64::INFINITY, 2.0, 1.0, f64::NEG_INFINITY]), [8, 8, 4, 8]);
        assert_eq!(arrows(&[f64::INFINITY, f64::NAN, 0.0]), [8, 0, 0]);
    }
}
