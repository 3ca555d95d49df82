//! Charts as SVG, in a wide and a narrow form.
//!
//! Text in both is 13 units high: the wide form is shown at about its own size on a desktop screen,
//! the narrow one on a phone, so that text stays readable in both. The marks (lines, bars, cells
//! ...) of each series are in a group with `data-series`, and colours are CSS classes (see
//! `theme`).

mod bars;
mod canvas;
mod forces;
mod frame;
pub(crate) mod heat;
mod pen;
mod series;
pub(crate) mod theme;

pub(crate) use canvas::FONT;
pub(crate) use pen::Position;

use super::escape::escape;
use super::{Body, Chart};
use crate::ReportError;

/// Width of a letter as a share of the text's size, on average.
const LETTER: f64 = 0.56;

/// The two forms of a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PictureForm {
    /// For desktop screens and paper.
    Wide,
    /// For phones.
    Narrow,
}

impl PictureForm {
    pub(crate) fn width(self) -> f64 {
        match self {
            PictureForm::Wide => 860.0,
            PictureForm::Narrow => 350.0,
        }
    }

    /// Height of the plot area without the frame.
    fn height(self) -> f64 {
        match self {
            PictureForm::Wide => 320.0,
            PictureForm::Narrow => 230.0,
        }
    }

    /// Approximate number of ticks from left to right.
    fn ticks(self) -> usize {
        match self {
            PictureForm::Wide => 9,
            PictureForm::Narrow => 4,
        }
    }

    /// Maximum number of letters of a name in the legend.
    fn letters(self) -> usize {
        match self {
            PictureForm::Wide => 60,
            PictureForm::Narrow => 36,
        }
    }

    /// Number of ranked lists side by side in a chart of forces (see [`super::Forces`]).
    fn lists_per_row(self) -> usize {
        match self {
            PictureForm::Wide => 4,
            PictureForm::Narrow => 1,
        }
    }

    /// Class of the `<svg>` element in a page.
    pub(crate) fn class(self) -> &'static str {
        match self {
            PictureForm::Wide => "wide",
            PictureForm::Narrow => "narrow",
        }
    }
}

/// A drawn chart.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Picture {
    pub(crate) width: f64,
    pub(crate) height: f64,
    /// Content of the `<svg>` element.
    pub(crate) body: String,
    /// The position of each value, in the order of the rows of the chart's CSV; none for a gap.
    pub(crate) positions: Vec<Option<Position>>,
}

impl Picture {
    /// Draws a chart.
    pub(crate) fn of(chart: &Chart, form: PictureForm) -> Result<Picture, ReportError> {
        let picture = match &chart.body {
            Body::Lines(series) => series::lines(chart, series, form),
            Body::Points(series) => series::points(chart, series, form),
            Body::Stack(series) => series::stack(chart, series, form),
            Body::Bars(bars) => bars::draw(chart, bars, form),
            Body::HeatMap(heat) => heat::draw(chart, heat, form),
            Body::Forces(forces) => forces::draw(forces, form),
        };
        let error = |why: pen::DrawError| ReportError::Draw {
            chart: chart.id.clone(),
            why: why.to_string(),
        };
        picture.map_err(error)
    }

    /// The `<svg>` element for a page; the page defines the colours and the label describes the
    /// chart.
    pub(crate) fn inline(&self, form: PictureForm, label: &str) -> String {
        format!(
            "<svg class=\"{}\" role=\"img\" aria-label=\"{}\" viewBox=\"0 0 {} {}\" \
             font-size=\"{FONT}\">\n{}</svg>\n",
            form.class(),
            escape(label),
            self.width,
            self.height.ceil(),
            self.body
        )
    }
}

impl Chart {
    /// The chart as a standalone SVG file, with colours for light and dark mode.
    ///
    /// ```
    /// use rankwright_report::chart::{Axis, Body, Chart, Series};
    /// let series = Series { name: "train".into(), points: vec![(1.0, 0.4), (2.0, 0.5)], ..Series::default() };
    /// let chart = Chart {
    ///     id: "curve".into(),
    ///     title: "NDCG@10 by iteration".into(),
    ///     caption: String::new(),
    ///     x: Axis::default(),
    ///     y: Axis::default(),
    ///     body: Body::Lines(vec![series]),
    /// };
    /// assert!(chart.to_svg()?.contains("data-series=\"train\""));
    /// # Ok::<(), rankwright_report::ReportError>(())
    /// ```
    pub fn to_svg(&self) -> Result<String, ReportError> {
        let picture = Picture::of(self, PictureForm::Wide)?;
        // The title fits into one line; there is a margin of 16 left and right, 44 above with the
        // title, and 12 below.
        let title = super::escape::shorten(&self.title, 104);
        let (width, height) = (picture.width + 32.0, picture.height.ceil() + 56.0);
        Ok(format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"-16 -44 {width} {height}\" \
             role=\"img\" font-family=\"system-ui, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, \
             sans-serif\" font-size=\"{FONT}\">\n<title>{}</title>\n<desc>{}</desc>\n\
             <style>{}</style>\n<rect class=\"ground\" fill=\"currentColor\" x=\"-16\" y=\"-44\" \
             width=\"{width}\" height=\"{height}\"/>\n<text class=\"ink\" fill=\"currentColor\" \
             font-size=\"16\" font-weight=\"600\" x=\"2\" y=\"-18\">{}</text>\n{}</svg>\n",
            escape(&self.title),
            escape(&self.caption),
            theme::standalone_css(),
            escape(&title),
            picture.body
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::samples;

    /// The groups of series in a file, which must be well-formed.
    fn groups(svg: &str) -> Vec<String> {
        let file = roxmltree::Document::parse(svg).unwrap();
        let named = file.descendants().filter_map(|n| n.attribute("data-series"));
        named.map(str::to_owned).collect()
    }

    #[test]
    fn every_kind_of_plot_has_a_group_for_each_series() {
        for (chart, series) in samples::all() {
            let svg = chart.to_svg().unwrap();
            assert_eq!(groups(&svg).len(), series, "{}", chart.id);
            assert!(svg.contains("viewBox") && !svg.contains("NaN"), "{}", chart.id);
        }
    }

    #[test]
    fn in_both_forms_every_value_has_a_position_inside_the_picture() {
        for (chart, _) in samples::all() {
            let (wide, narrow) = (
                Picture::of(&chart, PictureForm::Wide).unwrap(),
                Picture::of(&chart, PictureForm::Narrow).unwrap(),
            );
            assert_eq!(wide.positions.len(), narrow.positions.len(), "{}", chart.id);
            for picture in [wide, narrow] {
                for (x, y) in picture.positions.iter().flatten() {
                    assert!((0.0..=picture.width).contains(x), "{}", chart.id);
                    assert!((0.0..=picture.height).contains(y), "{}", chart.id);
                }
            }
        }
    }

    #[test]
    fn charts_without_values_say_so() {
        for chart in samples::empty() {
            let svg = chart.to_svg().unwrap();
            assert!(svg.contains("no values"), "{}", chart.id);
            roxmltree::Document::parse(&svg).unwrap();
        }
    }

    #[test]
    fn names_from_outside_cannot_become_markup() {
        let nasty = "<script>alert(1)</script> &\"' \u{202e}שלום 🚀 \u{0}";
        for (chart, _) in samples::all() {
            let svg = samples::renamed(chart, nasty).to_svg().unwrap();
            let file = roxmltree::Document::parse(&svg).unwrap();
            assert!(!file.descendants().any(|n| n.has_tag_name("script")));
        }
    }
}
