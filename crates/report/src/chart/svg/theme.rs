//! Colours by role. The plotting library gets a placeholder colour for each role; the canvas writes
//! a CSS class, and a style sheet gives the class its colour for light and dark mode.
//!
//! The series' colours are derived from Okabe and Ito's set for colour-blind readers, darkened or
//! lightened until each has a contrast of at least 3 to 1 with its background. The colours of an
//! ordered scale go from weak to strong: their contrast with the background rises from step to
//! step, and their hue changes, so that neighbours can be told apart.

use plotters::style::{RGBAColor, RGBColor};

use crate::chart::SeriesColour;

/// The role of a colour in a chart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ColourRole {
    /// The series with this index; colours repeat after the last.
    Series(usize),
    /// This step of the ordered scale, from 0 to 7.
    Ordinal(usize),
    /// Text.
    Ink,
    /// Secondary text: tick labels, axis labels.
    Soft,
    /// Grid lines.
    Grid,
    /// The background, for text on strong colours and gaps between areas.
    Background,
    /// Values above 0 and forces upwards.
    Up,
    /// Values below 0 and forces downwards.
    Down,
}

/// CSS class, colour in light mode, colour in dark mode; in the order of [`ColourRole::index`].
const COLOURS: [(&str, &str, &str); 22] = [
    ("ink", "#1b1f24", "#e8eaed"),
    ("soft", "#535a63", "#a9b1bb"),
    ("grid", "#e3e6ea", "#33393f"),
    ("ground", "#ffffff", "#15181c"),
    ("up", "#0b6aa8", "#5cb8ee"),
    ("down", "#c4500a", "#ff9a57"),
    ("s1", "#0072b2", "#56b4e9"),
    ("s2", "#d55e00", "#ff9143"),
    ("s3", "#008f68", "#2fc69c"),
    ("s4", "#a8518a", "#e39ac9"),
    ("s5", "#9a6c00", "#f0c246"),
    ("s6", "#5b6470", "#b4c0cd"),
    ("s7", "#6a4bb5", "#b8a1f5"),
    ("s8", "#b3282d", "#ff8f88"),
    ("o1", "#b07d00", "#7d63c9"),
    ("o2", "#8a8a00", "#6f7fd8"),
    ("o3", "#5c8f1e", "#5a9ade"),
    ("o4", "#1e8a5a", "#45b3c9"),
    ("o5", "#1b7788", "#45c79a"),
    ("o6", "#2f5f9e", "#8ad45f"),
    ("o7", "#46409a", "#c9dc45"),
    ("o8", "#440a5c", "#fde74c"),
];

/// Number of series with a colour of their own.
const SERIES: usize = 8;
/// Number of steps of the ordered scale.
const STEPS: usize = 8;

impl ColourRole {
    /// Index into [`COLOURS`].
    fn index(self) -> usize {
        match self {
            ColourRole::Ink => 0,
            ColourRole::Soft => 1,
            ColourRole::Grid => 2,
            ColourRole::Background => 3,
            ColourRole::Up => 4,
            ColourRole::Down => 5,
            ColourRole::Series(n) => 6 + n % SERIES,
            ColourRole::Ordinal(step) => 6 + SERIES + step.min(STEPS - 1),
        }
    }

    /// The colour of the series with this index; of its values above 0 if it has a colour for each
    /// sign.
    pub(crate) fn of(colour: SeriesColour, series: usize) -> ColourRole {
        Self::of_value(colour, series, 1.0)
    }

    /// The colour of a value of the series with this index.
    pub(crate) fn of_value(colour: SeriesColour, series: usize, value: f64) -> ColourRole {
        match colour {
            SeriesColour::Distinct => ColourRole::Series(series),
            // Few labels are spread over the whole scale; a single one is the strongest.
            SeriesColour::Ordinal { step, of } => {
                let last = of.saturating_sub(1);
                let share = if last == 0 { 1.0 } else { step.min(last) as f64 / last as f64 };
                ColourRole::Ordinal((share * (STEPS - 1) as f64).round() as usize)
            }
            SeriesColour::Signed if value < 0.0 => ColourRole::Down,
            SeriesColour::Signed => ColourRole::Up,
        }
    }

    /// The CSS class in the SVG.
    pub(crate) fn class(self) -> &'static str {
        class_of(self.index())
    }

    /// The placeholder colour that the plotting library passes on to the canvas: its blue component
    /// is the index of the role.
    pub(super) fn placeholder(self, opacity: f64) -> RGBAColor {
        let RGBColor(r, g, b) = RGBColor(0, 0, self.index() as u8);
        RGBAColor(r, g, b, opacity)
    }
}

/// The CSS class of the role with this index.
pub(super) fn class_of(index: usize) -> &'static str {
    COLOURS.get(index).map_or("ink", |(class, ..)| class)
}

/// CSS rules for a standalone file: light, and dark where the reader's system is in dark mode.
pub(super) fn standalone_css() -> String {
    let rules = |pick: fn(&(&str, &'static str, &'static str)) -> &'static str| {
        COLOURS.iter().map(|c| format!(".{}{{color:{}}}", c.0, pick(c))).collect::<String>()
    };
    format!("{}@media(prefers-color-scheme:dark){{{}}}", rules(|c| c.1), rules(|c| c.2))
}

/// CSS rules for a page: a variable for each colour, which follows the page's colour scheme.
pub(crate) fn page_css() -> String {
    let mut out = String::from(":root{");
    for (class, light, dark) in COLOURS {
        out.push_str(&format!("--{class}:light-dark({light},{dark});"));
    }
    out.push('}');
    for (class, ..) in COLOURS {
        out.push_str(&format!(".chart .{class}{{color:var(--{class})}}"));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Relative luminance by the definition of WCAG 2 (Web Content Accessibility Guidelines).
    fn luminance(colour: &str) -> f64 {
        let part = |from: usize| {
            let v = u8::from_str_radix(&colour[from..from + 2], 16).unwrap() as f64 / 255.0;
            if v <= 0.04045 { v / 12.92 } else { ((v + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5)
    }

    /// Contrast ratio by the definition of WCAG 2.
    fn contrast(a: &str, b: &str) -> f64 {
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn marks_have_contrast_three_and_text_four_and_a_half_on_both_backgrounds() {
        let (_, light, dark) = COLOURS[ColourRole::Background.index()];
        for (class, on_light, on_dark) in COLOURS {
            // The minimum of WCAG 2 (level AA) for text and for graphics.
            let least = match class {
                "grid" | "ground" => continue,
                "ink" | "soft" => 4.5,
                _ => 3.0,
            };
            assert!(contrast(on_light, light) >= least, "{class} on light");
            assert!(contrast(on_dark, dark) >= least, "{class} on dark");
        }
    }

    #[test]
    fn the_ordered_scale_gets_stronger_from_step_to_step() {
        let (_, light, dark) = COLOURS[ColourRole::Background.index()];
        let step = |n: usize| COLOURS[ColourRole::Ordinal(n).index()];
        for n in 1..STEPS {
            let (weak, strong) = (step(n - 1), step(n));
            assert!(contrast(strong.1, light) > contrast(weak.1, light), "{} on light", strong.0);
            assert!(contrast(strong.2, dark) > contrast(weak.2, dark), "{} on dark", strong.0);
        }
        let class = |step, of| ColourRole::of(SeriesColour::Ordinal { step, of }, 3).class();
        assert_eq!([class(0, 5), class(2, 5), class(4, 5), class(0, 1)], ["o1", "o5", "o8", "o8"]);
        assert_eq!(ColourRole::of_value(SeriesColour::Signed, 0, -1.0), ColourRole::Down);
    }

    #[test]
    fn colours_repeat_after_the_last_one() {
        assert_eq!(ColourRole::Series(0).class(), "s1");
        assert_eq!(ColourRole::Series(8).class(), "s1");
        assert_eq!(class_of(ColourRole::Series(7).placeholder(1.0).2 as usize), "s8");
    }
}
