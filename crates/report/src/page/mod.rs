//! A report as data: a title, facts, and sections of blocks; written as HTML, as text and as
//! separate files.

mod assets;
mod html;
mod ids;
mod text;

use std::path::{Path, PathBuf};

use rankwright_eval::table::Table;

use crate::ReportError;
use crate::chart::Chart;

/// A complete report, independent of its output format.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Page {
    /// The heading, and the title of the window.
    pub title: String,
    /// One or two sentences that summarise the results.
    pub summary: String,
    /// Name and value of facts about the origin of the report: data, spec, seed, version...
    pub facts: Vec<(String, String)>,
    /// The conventions of the metrics (how ties, unjudged documents and so on are treated), a line
    /// each; shown once for the whole page, collapsed.
    pub conventions: Vec<String>,
    /// The sections, in order; each is in the table of contents.
    pub sections: Vec<Section>,
}

/// A section of a report.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Section {
    /// Anchor: ASCII letters, digits and `-`, unique on the page.
    pub id: String,
    /// The heading.
    pub title: String,
    /// The content, in order.
    pub blocks: Vec<PageBlock>,
}

/// A block of a section.
#[derive(Debug, Clone, PartialEq)]
pub enum PageBlock {
    /// A paragraph, as plain text.
    Text(String),
    /// A chart.
    Chart(Chart),
    /// A table with a heading.
    Table {
        /// File name stem and anchor: ASCII letters, digits and `-`, unique on the page.
        id: String,
        /// The heading of the table.
        title: String,
        /// The table.
        table: Table,
    },
    /// A drawing that is SVG already, such as a tree.
    Drawing {
        /// File name stem and anchor: ASCII letters, digits and `-`, unique on the page.
        id: String,
        /// The heading of the drawing.
        title: String,
        /// The SVG document.
        svg: String,
    },
    /// Several groups of blocks of which one is shown at a time, chosen by name; in print all of
    /// them.
    Choice {
        /// Anchor: ASCII letters, digits and `-`, unique on the page.
        id: String,
        /// The name of what is chosen, such as "Query".
        label: String,
        /// Name and blocks of each group.
        groups: Vec<(String, Vec<PageBlock>)>,
        /// The control with which the reader chooses.
        control: ChoiceControl,
    },
}

/// The control with which the reader chooses one of several groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ChoiceControl {
    /// A list of names.
    #[default]
    List,
    /// A slider with a button that plays the groups one after the other, for stages of a training.
    Slider,
}

impl Page {
    /// The report as one HTML file that needs nothing else: no network, no second file.
    ///
    /// ```
    /// use rankwright_report::Page;
    /// let page = Page { title: "Better & faster".into(), ..Page::default() };
    /// assert!(page.to_html()?.contains("<title>Better &amp; faster</title>"));
    /// # Ok::<(), rankwright_report::ReportError>(())
    /// ```
    pub fn to_html(&self) -> Result<String, ReportError> {
        html::render(self)
    }

    /// The main results as text, for a terminal of this many columns: title, summary, facts,
    /// conventions, up to three charts (lines, bars, stacked areas) and the first rows of each
    /// table. Paragraphs and drawings are left out; of a choice only the first group is shown.
    pub fn to_text(&self, width: usize) -> String {
        text::render(self, width)
    }

    /// Writes every chart and drawing as SVG and every chart's and table's numbers as CSV and JSON
    /// into a folder, which is created if needed; returns the paths of the files.
    pub fn write_assets(&self, folder: &Path) -> Result<Vec<PathBuf>, ReportError> {
        assets::write(self, folder)
    }

    /// The paths of the files that [`Page::write_assets`] writes into a folder.
    pub fn asset_files(&self, folder: &Path) -> Vec<PathBuf> {
        assets::files(self, folder)
    }
}
