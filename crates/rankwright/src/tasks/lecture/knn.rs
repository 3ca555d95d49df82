//! The k nearest neighbours: k decides.

use rankwright_search::SearchError;
use rankwright_search::classify::{Distance, Knn};

use super::super::TaskError;
use super::rocchio::{EIGHT, NEW_OF_EIGHT, classes, vector};
use super::sources::ZHANG;
use super::{ExampleDef, LectureStep, Worked};

pub(super) const DEF: ExampleDef = ExampleDef {
    name: "knn",
    title: "kNN: the class of most of the 3 or 5 nearest neighbours",
    lectures: &[ZHANG],
    compute,
};

fn compute() -> Result<Worked, TaskError> {
    let vectors = EIGHT.iter().map(vector).collect::<Result<Vec<_>, _>>()?;
    let fit = |k: usize| -> Result<Knn, TaskError> {
        let knn = Knn::fit(&vectors, &classes(EIGHT.len()), k, Distance::Euclidean);
        Ok(knn.map_err(SearchError::from)?)
    };
    let (three, five) = (fit(3)?, fit(5)?);
    let point = vector(&NEW_OF_EIGHT)?;
    let slides = ["history", "history", "chemistry", "chemistry", "chemistry"];
    let mut steps = Vec::new();
    for (rank, (neighbour, slide)) in (1..).zip(five.neighbours(&point).into_iter().zip(slides)) {
        let text = format!(
            "neighbour {rank} of d9 = (0.4, 1.0): d{}, at distance {:.4}",
            neighbour.document + 1,
            neighbour.distance
        );
        steps.push(LectureStep::text(text, neighbour.class).slide(slide));
    }
    steps
        .push(LectureStep::text("class with k = 3", three.classify(&point).class).slide("history"));
    steps.push(
        LectureStep::text("class with k = 5", five.classify(&point).class)
            .note("the slide asks; the vote of its five neighbours is 3 to 2 for chemistry"),
    );
    Ok(Worked { steps, ..Worked::default() })
}
