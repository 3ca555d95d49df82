//! A report as data: a title, facts, and sections of blocks; written as HTML, as text and in parts.

mod assets;
mod html;
mod ids;
mod text;

use std::path::{Path, PathBuf};

use rankwright_eval::table::Table;

use crate::ReportError;
use crate::chart::Chart;

/// A whole report.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Page {
    /// The heading, and the title of the window.
    pub title: String,
    /// One or two sentences that say what was found.
    pub lead: String,
    /// What it was made from: data, spec, seed, version, convention...
    pub facts: Vec<(String, String)>,
    /// The parts, in order; each is in the table of contents.
    pub sections: Vec<Section>,
}

/// A part of a report.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Section {
    /// Anchor: letters, digits and `-`, unique on the page.
    pub id: String,
    /// The heading.
    pub title: String,
    /// What it shows.
    pub blocks: Vec<PageBlock>,
}

/// A piece of a section.
#[derive(Debug, Clone, PartialEq)]
pub enum PageBlock {
    /// A paragraph, as plain text.
    Text(String),
    /// A plot.
    Chart(Chart),
    /// A table, with what it is called.
    Table {
        /// File name stem and anchor: letters, digits and `-`, unique on the page.
        id: String,
        /// The heading of the table.
        title: String,
        /// The numbers.
        table: Table,
    },
    /// A drawing that is SVG already, such as a tree.
    Drawing {
        /// File name stem and anchor: letters, digits and `-`, unique on the page.
        id: String,
        /// What is seen.
        title: String,
        /// The SVG document.
        svg: String,
    },
    /// One of several groups of blocks is seen at a time, chosen by name; all of them in print.
    Choice {
        /// Anchor: letters, digits and `-`, unique on the page.
        id: String,
        /// What is chosen, such as "Query".
        label: String,
        /// Name and blocks of each group.
        groups: Vec<(String, Vec<PageBlock>)>,
    },
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

    /// The main things for a terminal of this many columns.
    pub fn to_text(&self, width: usize) -> String {
        text::render(self, width)
    }

    /// Writes every plot and drawing as SVG and every chart's and table's numbers as CSV and JSON
    /// into a folder, which is made where there is none; gives the files written.
    pub fn write_assets(&self, folder: &Path) -> Result<Vec<PathBuf>, ReportError> {
        assets::write(self, folder)
    }
}
