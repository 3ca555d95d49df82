//! Plots as plain data: what is shown, without a word on how it is drawn.
//!
//! A [`Chart`] is made by a report and handed to a [`Page`](crate::Page). The plotting library stays
//! behind this folder: nothing of it can be seen from outside. The same chart becomes SVG, a few
//! lines of text for the terminal, and a table of numbers (CSV and JSON).
//!
//! Edge cases: a value that is no number leaves a gap; a chart without any value is drawn empty and
//! says so; a range of width 0 is widened.

mod axis;
pub(crate) mod escape;
pub(crate) mod number;
pub(crate) mod numbers;
#[cfg(test)]
pub(crate) mod samples;
pub(crate) mod stops;
pub(crate) mod svg;
pub(crate) mod text;

/// A plot.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// Short name, unique on its page: letters, digits and `-`. Names the files and the anchor.
    pub id: String,
    /// What is seen.
    pub title: String,
    /// What is to be noticed, how it was computed; one or two sentences below the plot.
    pub caption: String,
    /// The axis from left to right (for [`Body::Bars`] the axis along which bars stand).
    pub x: Axis,
    /// The axis upwards (for bars and histograms that of the values).
    pub y: Axis,
    /// The values.
    pub body: Body,
}

/// An axis: what it measures and how it is divided.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Axis {
    /// What it measures, with the unit where there is one.
    pub label: String,
    /// Linear or logarithmic; not looked at where categories stand on the axis.
    pub scale: Scale,
    /// Ends of the axis; what the values need where not given.
    pub range: Option<(f64, f64)>,
}

/// How an axis is divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scale {
    /// Evenly.
    #[default]
    Linear,
    /// By powers of ten; values of 0 or less are gaps.
    Log,
}

/// What is plotted.
#[derive(Debug, Clone, PartialEq)]
pub enum Body {
    /// A line through each series' points.
    Lines(Vec<Series>),
    /// Points without lines; a point may have a name of its own.
    Points(Vec<Series>),
    /// Areas on top of each other: parts of a whole along x. All series have the same xs.
    Stack(Vec<Series>),
    /// Bars.
    Bars(Bars),
    /// A grid of colours.
    Heat(Heat),
    /// A ranked list with arrows at its documents.
    Forces(Forces),
}

/// Points with a name. NaN in y is a gap.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Series {
    /// What the legend says.
    pub name: String,
    /// x and y, by x.
    pub points: Vec<(f64, f64)>,
    /// Lower and upper end of an interval around each point; empty where there is none.
    pub band: Vec<(f64, f64)>,
    /// What is said of each point besides its numbers, such as a document's id; may be empty.
    pub names: Vec<String>,
    /// A broken line, for what is a reference rather than a result.
    pub dashed: bool,
}

/// Bars in categories.
#[derive(Debug, Clone, PartialEq)]
pub struct Bars {
    /// Names of the categories, in order.
    pub categories: Vec<String>,
    /// A value for each category, and the name of the series (one series needs no legend). Bands are
    /// error bars.
    pub series: Vec<BarSeries>,
    /// How several series share a category.
    pub grouping: Grouping,
    /// Bars go to the right and categories down, for long names.
    pub horizontal: bool,
}

/// The bars of one colour.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct BarSeries {
    /// What the legend says.
    pub name: String,
    /// A value for each category; NaN where there is none.
    pub values: Vec<f64>,
    /// Lower and upper end of an interval at each value; empty where there is none.
    pub band: Vec<(f64, f64)>,
}

/// How several series of bars share a category.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Grouping {
    /// Side by side.
    #[default]
    Beside,
    /// On top of each other.
    Stacked,
}

/// A grid of values as colours, from the smallest to the largest; with values on both sides of 0
/// the colours part there.
#[derive(Debug, Clone, PartialEq)]
pub struct Heat {
    /// Names of the columns, left to right.
    pub columns: Vec<String>,
    /// Names of the rows, top to bottom.
    pub rows: Vec<String>,
    /// What a value is.
    pub value: String,
    /// Row by row; NaN is an empty cell.
    pub cells: Vec<Vec<f64>>,
}

/// One or more ranked lists side by side, each with an arrow at every document: how strongly, and
/// in which direction, training pushes it.
#[derive(Debug, Clone, PartialEq)]
pub struct Forces {
    /// What each list is called, with its documents in rank order, the first at the top.
    pub lists: Vec<(String, Vec<Pushed>)>,
}

/// A document in a list of forces.
#[derive(Debug, Clone, PartialEq)]
pub struct Pushed {
    /// Its name.
    pub name: String,
    /// Its label, which is its colour.
    pub label: f64,
    /// The push; above 0 is upwards. Arrows of a list are scaled by the largest of that list.
    pub force: f64,
}
