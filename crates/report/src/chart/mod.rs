//! Charts as plain data, independent of how they are drawn.
//!
//! A [`Chart`] is made by a report and handed to a [`Page`](crate::Page). The plotting library is
//! private to this folder: no public type exposes it. The same chart becomes SVG, a few lines of
//! text for the terminal, and a table of numbers (CSV and JSON).
//!
//! Edge cases: a value that is not a number leaves a gap; a chart without any value is drawn empty
//! with a note that says so; a range of width 0 is widened.

mod axis;
pub(crate) mod escape;
pub(crate) mod number;
pub(crate) mod numbers;
#[cfg(test)]
pub(crate) mod samples;
pub(crate) mod svg;
pub(crate) mod text;
pub(crate) mod tooltips;

/// A chart.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// Short name, unique on its page: letters, digits and `-`. Names the files and the anchor.
    pub id: String,
    /// Heading of the chart.
    pub title: String,
    /// The main observation and how it was computed; one or two sentences below the chart.
    pub caption: String,
    /// The axis from left to right (for [`Body::Bars`] the axis of the categories).
    pub x: Axis,
    /// The axis upwards (for bars and histograms the axis of the values).
    pub y: Axis,
    /// The values.
    pub body: Body,
}

/// An axis: its label, scale and range.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Axis {
    /// The quantity on the axis, with the unit if there is one.
    pub label: String,
    /// Linear or logarithmic; ignored on an axis of categories.
    pub scale: Scale,
    /// Ends of the axis; derived from the values if not given. Lines and points outside of the
    /// range of x are not drawn.
    pub range: Option<(f64, f64)>,
    /// The lowest and the highest value that the quantity can have, which ends of the axis do not
    /// pass; such as 0 and 1 for NDCG.
    pub limits: Option<(f64, f64)>,
    /// Whether the low end is at the top, as for ranks. Only for the axis upwards of lines and
    /// points.
    pub reversed: bool,
}

impl Axis {
    /// Whether a value is between the given ends.
    pub(crate) fn is_inside(&self, value: f64) -> bool {
        self.range.is_none_or(|(low, high)| (low..=high).contains(&value))
    }
}

/// The colour of a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SeriesColour {
    /// A colour of its own, chosen by the index of the series.
    #[default]
    Distinct,
    /// A step of an ordered scale from weak to strong, for labels: step 0 is the lowest of them.
    Ordinal {
        /// Index of the step, from 0.
        step: usize,
        /// Number of all steps.
        of: usize,
    },
    /// One colour for values from 0 on and another one for values below.
    Signed,
}

/// The scale of an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scale {
    /// Equal distances are equal differences.
    #[default]
    Linear,
    /// Powers of ten; values of 0 or less are gaps.
    Log,
}

/// The values of a chart, by kind of chart.
#[derive(Debug, Clone, PartialEq)]
pub enum Body {
    /// A line through each series' points.
    Lines(Vec<Series>),
    /// Points without lines; a point may have a name of its own. A dashed series is a line among
    /// the points, such as the border between two classes.
    Points(Vec<Series>),
    /// Areas on top of each other: parts of a whole along x. All series have the same xs.
    Stack(Vec<Series>),
    /// Bars.
    Bars(Bars),
    /// A grid of coloured cells.
    HeatMap(HeatMap),
    /// Ranked lists with an arrow at each document: the force of its gradient in training.
    Forces(Forces),
}

/// Points with a name. NaN in y is a gap.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Series {
    /// Name in the legend.
    pub name: String,
    /// x and y, sorted by x.
    pub points: Vec<(f64, f64)>,
    /// Lower and upper end of an interval around each point; empty if there are no intervals.
    pub band: Vec<(f64, f64)>,
    /// A label for each point, such as a document's id; may be empty.
    pub names: Vec<String>,
    /// Whether the line is dashed, for a reference rather than a result.
    pub dashed: bool,
    /// Its colour.
    pub colour: SeriesColour,
}

/// Bars in categories.
#[derive(Debug, Clone, PartialEq)]
pub struct Bars {
    /// Names of the categories, in order.
    pub categories: Vec<String>,
    /// A value for each category, and the name of the series (one series needs no legend). Bands
    /// are error bars.
    pub series: Vec<BarSeries>,
    /// The arrangement of several series within a category.
    pub grouping: Grouping,
    /// Draws bars to the right and categories downwards, for long names.
    pub horizontal: bool,
}

/// The bars of one colour.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct BarSeries {
    /// Name in the legend.
    pub name: String,
    /// A value for each category; NaN if there is none.
    pub values: Vec<f64>,
    /// Lower and upper end of an interval at each value; empty if there are no intervals.
    pub band: Vec<(f64, f64)>,
    /// Its colour.
    pub colour: SeriesColour,
}

/// The arrangement of several series of bars within a category.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Grouping {
    /// Side by side.
    #[default]
    Beside,
    /// On top of each other.
    Stacked,
}

/// A grid of values as colours, from the smallest to the largest; with values on both sides of 0,
/// each sign has its own colour.
#[derive(Debug, Clone, PartialEq)]
pub struct HeatMap {
    /// Names of the columns, left to right.
    pub columns: Vec<String>,
    /// Names of the rows, top to bottom.
    pub rows: Vec<String>,
    /// Name of the quantity that the cells show.
    pub value: String,
    /// The values, row by row; NaN is an empty cell.
    pub cells: Vec<Vec<f64>>,
}

/// One or more ranked lists side by side, with an arrow at each document that shows strength and
/// direction of its force: minus the derivative of the training loss with respect to its score.
#[derive(Debug, Clone, PartialEq)]
pub struct Forces {
    /// Name of each list, with its documents in rank order, the first at the top.
    pub lists: Vec<(String, Vec<ForceArrow>)>,
}

/// A document in a list of forces.
#[derive(Debug, Clone, PartialEq)]
pub struct ForceArrow {
    /// The document's name.
    pub name: String,
    /// The document's label, shown as a colour.
    pub label: f64,
    /// The force; above 0 is upwards. Arrows of a list are scaled by the largest of that list.
    pub force: f64,
}
