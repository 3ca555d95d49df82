//! Studies: tables and learning curves by factors, with the other factors chosen on validation
//! data.
//!
//! A factor is a setting in which learners differ. `choice` finds the best learner of each table
//! cell, by fold or over all folds; `table` evaluates the chosen learners on the test parts and
//! compares rows within a column; `show` formats the tables; `curve` draws validation values by
//! rounds; `result` has tables and curves as serialisable results. Test values are never used to
//! choose.

mod choice;
mod curve;
mod result;
mod show;
mod table;
#[cfg(test)]
mod tests;

use std::collections::HashSet;

use rankwright_eval::table::{Table, escape_markdown};
use rankwright_report::chart::Chart;
use rankwright_report::page::{PageBlock, Section};

use super::file::Experiment;
use super::report::{SetResult, TextTable};
use crate::ExperimentError;

pub use result::{
    FactorCell, FactorLine, FactorPlotResult, FactorPosition, FactorSeconds, FactorTableResult,
    FactorTableTimes, FactorValues, FoldChoice,
};

/// All tables and plots of an experiment.
#[derive(Debug, Default)]
pub(super) struct Study {
    /// The tables of each `[[table]]`, one for each data set with results.
    tables: Vec<Vec<ShownTable>>,
    /// The charts of each `[[plot]]`.
    plots: Vec<curve::DrawnPlot>,
    /// The title of each `[[table]]`.
    table_titles: Vec<String>,
    /// The title of each `[[plot]]`.
    plot_titles: Vec<String>,
}

/// A table of a data set, formatted.
#[derive(Debug)]
struct ShownTable {
    heading: String,
    times_heading: String,
    /// The test values.
    values: Table,
    /// The chosen settings; `None` if there was nothing to choose and no rounds.
    chosen: Option<Table>,
    /// Milliseconds of a round; `None` if there are no rounds.
    times: Option<Table>,
    result: FactorTableResult,
    times_result: FactorTableTimes,
}

impl Study {
    /// Computes all tables and plots of an experiment on the data sets with results.
    pub(super) fn new(
        experiment: &Experiment,
        sets: &[SetResult],
    ) -> Result<Self, ExperimentError> {
        let mut study = Self::default();
        for table in &experiment.tables {
            let shown =
                table.layout.data.iter().filter_map(|data| sets.iter().find(|s| s.data == *data));
            let shown = shown.map(|set| {
                let numbers = table::TableData::new(experiment, table, set)?;
                Ok(show::shown(experiment, table, set, &numbers))
            });
            study.tables.push(shown.collect::<Result<_, ExperimentError>>()?);
            study.table_titles.push(table.layout.title.clone());
        }
        let mut ids = HashSet::new();
        for (index, plot) in experiment.plots.iter().enumerate() {
            study.plots.push(curve::draw_plot(experiment, plot, index, sets, &mut ids));
            study.plot_titles.push(plot.layout.title.clone());
        }
        Ok(study)
    }

    /// The tables as text, one after the other.
    pub(super) fn text(&self, form: TextTable) -> String {
        let mut text = String::new();
        for shown in self.tables.iter().flatten() {
            let tables = std::iter::once(&shown.values).chain(&shown.chosen);
            text += &match form {
                TextTable::Markdown => format!("### {}\n\n", escape_markdown(&shown.heading)),
                TextTable::Plain => format!("{}\n", shown.heading),
            };
            for table in tables {
                text += &match form {
                    TextTable::Markdown => table.to_markdown(),
                    TextTable::Plain => table.to_text(),
                };
                text.push('\n');
            }
        }
        text
    }

    /// Milliseconds of a round, as Markdown.
    pub(super) fn times(&self) -> String {
        let shown = self.tables.iter().flatten();
        let tables = shown.filter_map(|shown| Some((&shown.times_heading, shown.times.as_ref()?)));
        tables
            .map(|(heading, table)| (escape_markdown(heading), table.to_markdown()))
            .map(|(heading, table)| format!("### {heading}\n\n{table}\n"))
            .collect()
    }

    pub(super) fn table_times(&self) -> Vec<FactorTableTimes> {
        self.tables.iter().flatten().map(|shown| shown.times_result.clone()).collect()
    }

    pub(super) fn table_results(&self) -> Vec<FactorTableResult> {
        self.tables.iter().flatten().map(|shown| shown.result.clone()).collect()
    }

    pub(super) fn plot_results(&self) -> Vec<FactorPlotResult> {
        self.plots.iter().flat_map(|plot| plot.results.iter().cloned()).collect()
    }

    /// All charts, to be written beside the page.
    pub(super) fn charts(&self) -> Vec<Chart> {
        self.plots.iter().flat_map(|plot| plot.charts.iter().cloned()).collect()
    }

    /// A section for each table and each plot.
    pub(super) fn sections(&self) -> Vec<Section> {
        let mut sections = Vec::new();
        for (index, (title, shown)) in self.table_titles.iter().zip(&self.tables).enumerate() {
            let mut blocks = Vec::new();
            for (set, shown) in shown.iter().enumerate() {
                let id = |content: &str| format!("table-{}-{content}-{}", index + 1, set + 1);
                let block = |content: &str, title: String, table: &Table| PageBlock::Table {
                    id: id(content),
                    title,
                    table: table.clone(),
                };
                blocks.push(block("values", shown.heading.clone(), &shown.values));
                let title = "Chosen settings".to_owned();
                blocks.extend(shown.chosen.as_ref().map(|table| block("chosen", title, table)));
            }
            let id = format!("table-{}", index + 1);
            sections.push(Section { id, title: title.clone(), blocks });
        }
        for (index, (title, plot)) in self.plot_titles.iter().zip(&self.plots).enumerate() {
            let blocks = plot.charts.iter().cloned().map(PageBlock::Chart).collect();
            let id = format!("plot-{}", index + 1);
            sections.push(Section { id, title: title.clone(), blocks });
        }
        sections.retain(|section| !section.blocks.is_empty());
        sections
    }
}
