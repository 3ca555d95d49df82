//! The page of worked examples: a section for each, with its steps as a table, and its pictures.

use rankwright_eval::table::{Align, Cell, Table};
use rankwright_report::{Page, PageBlock, Section};

use super::{LectureExample, LectureStep};

/// The page.
pub(super) fn page(examples: &[LectureExample]) -> Page {
    let steps = || examples.iter().flat_map(|example| &example.steps);
    let printed = steps().filter(|step| step.agrees.is_some()).count();
    let different = steps().filter(|step| step.agrees == Some(false)).count();
    Page {
        title: "Worked examples of lectures on learning to rank".into(),
        summary: format!(
            "Every value is computed by the library. Slides print {printed} of them; {different} \
             differ from the slide, for the reason beside them."
        ),
        sections: examples.iter().map(section).collect(),
        ..Page::default()
    }
}

fn section(example: &LectureExample) -> Section {
    let about = &example.about;
    let source = PageBlock::Text(format!("From: {}.", about.lectures.join("; ")));
    let table = PageBlock::Table {
        id: format!("{}-steps", about.name),
        title: "Steps".into(),
        table: table(&example.steps),
    };
    let blocks = [source, table].into_iter().chain(example.pictures.iter().cloned()).collect();
    Section { id: about.name.into(), title: about.title.into(), blocks }
}

/// The steps as a table: quantity, computed value, value of the slide, note.
fn table(steps: &[LectureStep]) -> Table {
    let columns = [
        ("step", Align::Left),
        ("computed", Align::Right),
        ("slide", Align::Right),
        ("note", Align::Left),
    ];
    let mut table = Table::new(columns);
    table.rows.extend(steps.iter().map(|step| {
        let slide = step.slide.clone().unwrap_or_default();
        [step.text.clone(), step.value_text(), slide, step.note.clone()].map(Cell::new).to_vec()
    }));
    table
}

impl LectureExample {
    /// The steps as a table: quantity, computed value, value of the slide, note.
    pub fn table(&self) -> Table {
        table(&self.steps)
    }
}
