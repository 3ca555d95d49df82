//! Grids and lists of forces in characters.

use super::{name, pad, pad_left};
use crate::chart::number::short;
use crate::chart::svg::heat::{Shades, cell};
use crate::chart::{Forces, HeatMap};

const SHADES: [char; 5] = ['·', '░', '▒', '▓', '█'];

/// A grid as characters of increasing density, with a minus before values below 0.
pub(super) fn heat(heat: &HeatMap, width: usize) -> String {
    let Some(shades) = Shades::of(heat) else { return String::new() };
    let left = heat.rows.iter().map(|n| n.chars().count()).max().unwrap_or(0).min(width / 3);
    let columns = heat.columns.len().min((width - left - 1) / 3);
    let mut out = String::new();
    for (r, row) in heat.rows.iter().enumerate() {
        let mut line = pad(&name(row, left), left) + " ";
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

/// `columns: a, b, ...`, cut to the width.
fn column_names(heat: &HeatMap, columns: usize, width: usize) -> String {
    let more = heat.columns.len() - columns;
    let rest = if more > 0 { format!(" (the first {columns})") } else { String::new() };
    let names = heat.columns.iter().take(columns).cloned().collect::<Vec<_>>().join(", ");
    format!("{}\n", name(&format!("columns{rest}: {names}"), width))
}

/// One line per document: rank, name, label and arrows, more of them for a stronger force.
pub(super) fn forces(forces: &Forces, width: usize) -> String {
    const ARROWS: f64 = 8.0;
    let mut out = String::new();
    for (list, documents) in forces.lists.iter().filter(|(_, list)| !list.is_empty()) {
        out.push_str(&format!("{}\n", name(list, width)));
        let known = documents.iter().map(|d| d.force.abs()).filter(|f| f.is_finite());
        let strongest = known.fold(0.0, f64::max);
        for (rank, d) in documents.iter().enumerate() {
            // An infinite force has all arrows; it is not among the finite ones that set the scale.
            let share = match d.force {
                force if force.is_infinite() => force.signum(),
                force if strongest > 0.0 => (force / strongest).clamp(-1.0, 1.0),
                _ => 0.0,
            };
            let arrow = if share < 0.0 { "↓" } else { "↑" };
            let arrows = arrow.repeat((share.abs() * ARROWS).ceil() as usize);
            let line = format!(
                "{} {} label {} {} {}",
                pad_left(&(rank + 1).to_string(), 3),
                pad(&name(&d.name, width - 34), (width - 34).min(24)),
                pad(&short(d.label), 3),
                pad(&arrows, ARROWS as usize),
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
