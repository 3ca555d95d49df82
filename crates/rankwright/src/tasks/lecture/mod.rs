//! Worked examples of lectures on learning to rank, computed step by step by the library.
//!
//! A step has the computed value, the value that the slide shows, and a note where the two differ.
//! Nothing here is a printed constant: metrics are evaluated, models are trained, and losses are
//! those of the objectives. An example is a file with its numbers and a line in [`EXAMPLES`].
//! Pictures of several slides are missing in the copies that we have. Where an example needs numbers
//! from such a picture (coordinates, ranks), they are our own, and the note of the step says so.

mod cross_entropy;
mod inversions;
mod knn;
mod lambdas;
mod mart;
mod metrics;
mod ndcg;
mod page;
mod pair_space;
mod points;
mod positions;
mod relevance;
mod rocchio;
mod sources;
mod step;
mod swap;
mod tree;

use rankwright_report::{Page, PageBlock};
use rankwright_spec::SpecError;
use serde::{Deserialize, Serialize};

use super::context::RunningTask;
use super::{Context, TaskError, Warning};

use sources::LECTURES;
pub use sources::LectureSource;
pub use step::{LectureStep, StepValue};

/// The declaration of an example.
struct ExampleDef {
    name: &'static str,
    title: &'static str,
    /// Titles of the lectures that it is from.
    lectures: &'static [&'static str],
    compute: fn() -> Result<Worked, TaskError>,
}

/// The steps and pictures of an example.
#[derive(Debug, Default)]
struct Worked {
    steps: Vec<LectureStep>,
    pictures: Vec<PageBlock>,
}

/// All examples, in the order of a course.
static EXAMPLES: &[ExampleDef] = &[
    ndcg::LINEAR,
    ndcg::EXPONENTIAL,
    swap::DEF,
    inversions::DEF,
    positions::DEF,
    rocchio::DEF,
    knn::DEF,
    relevance::DEF,
    pair_space::DEF,
    cross_entropy::DEF,
    lambdas::DEF,
    tree::DEF,
    mart::DEF,
];

/// The examples to compute.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct LectureRequest {
    /// Names of examples, or letters, numbers or names of lectures for all of their examples, see
    /// [`list_lectures`]; all examples if there are none.
    #[serde(default)]
    pub names: Vec<String>,
}

impl LectureRequest {
    /// All examples.
    pub fn new() -> Self {
        Self::default()
    }

    /// Computes the examples with these names, or of these lectures, alone.
    pub fn names<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.names = names.into_iter().map(Into::into).collect();
        self
    }
}

/// Worked examples, step by step.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct LectureResult {
    /// The examples, in the order of the request, each once.
    pub examples: Vec<LectureExample>,
    /// Warnings to the caller.
    pub warnings: Vec<Warning>,
}

impl LectureResult {
    /// The examples and their pictures as a page.
    pub fn page(&self) -> Page {
        page::page(&self.examples)
    }
}

/// A worked example.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct LectureExample {
    /// Name and title of the example, and the lectures that it is from.
    #[serde(flatten)]
    pub about: LectureSummary,
    /// The steps, in order.
    pub steps: Vec<LectureStep>,
    /// Pictures, for a page.
    #[serde(skip)]
    pub pictures: Vec<PageBlock>,
}

/// An example that can be computed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct LectureSummary {
    /// Name of the example.
    pub name: &'static str,
    /// One line: the subject of the example.
    pub title: &'static str,
    /// The lectures that it is from.
    pub lectures: &'static [&'static str],
}

impl LectureSummary {
    /// The lectures that it is from, by number.
    pub fn sources(&self) -> impl Iterator<Item = &'static LectureSource> {
        let titles = self.lectures;
        LECTURES.iter().filter(move |lecture| titles.contains(&lecture.title))
    }
}

/// All examples and lectures.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct LectureList {
    /// The examples, in the order of a course.
    pub examples: Vec<LectureSummary>,
    /// The lectures, by number.
    pub lectures: Vec<LectureSource>,
}

impl ExampleDef {
    fn summary(&self) -> LectureSummary {
        LectureSummary { name: self.name, title: self.title, lectures: self.lectures }
    }
}

/// Lists all examples and the lectures that they are from.
///
/// ```
/// use rankwright::tasks::list_lectures;
/// assert!(list_lectures().examples.iter().any(|example| example.name == "mart"));
/// ```
pub fn list_lectures() -> LectureList {
    LectureList {
        examples: EXAMPLES.iter().map(ExampleDef::summary).collect(),
        lectures: LECTURES.to_vec(),
    }
}

/// Computes worked examples of lectures.
///
/// ```
/// use rankwright::tasks::{Context, LectureRequest, lecture};
/// let request = LectureRequest::new().names(["ndcg"]);
/// let result = lecture(&request, &Context::default())?;
/// let dcg = &result.examples[0].steps[0];
/// assert_eq!((dcg.slide.as_deref(), dcg.agrees), (Some("1.45"), Some(true)));
/// # Ok::<(), rankwright::tasks::TaskError>(())
/// ```
pub fn lecture(
    request: &LectureRequest,
    context: &Context<'_>,
) -> Result<LectureResult, TaskError> {
    let task = RunningTask::new(context);
    let mut chosen: Vec<&ExampleDef> = Vec::new();
    for name in &request.names {
        for def in find(name)? {
            if chosen.iter().all(|other| other.name != def.name) {
                chosen.push(def);
            }
        }
    }
    if request.names.is_empty() {
        chosen.extend(EXAMPLES);
    }
    let mut examples = Vec::with_capacity(chosen.len());
    for def in chosen {
        let (worked, _) = task.step(&format!("computing {}", def.name), def.compute)?;
        let Worked { steps, pictures } = worked;
        examples.push(LectureExample { about: def.summary(), steps, pictures });
    }
    Ok(LectureResult { examples, warnings: task.into_warnings() })
}

/// The example with a name, or all examples of a lecture; the error lists the known names.
fn find(name: &str) -> Result<Vec<&'static ExampleDef>, TaskError> {
    if let Some(example) = EXAMPLES.iter().find(|def| def.name == name) {
        return Ok(vec![example]);
    }
    if let Some(lecture) = LectureSource::find(name) {
        let is_from = |def: &&ExampleDef| def.lectures.contains(&lecture.title);
        return Ok(EXAMPLES.iter().filter(is_from).collect());
    }
    let examples = EXAMPLES.iter().map(|def| def.name);
    let lectures = LECTURES.iter().flat_map(|lecture| [lecture.letter, lecture.number]);
    let known: Vec<&str> = examples.chain(lectures).collect();
    Err(SpecError::unknown("example or lecture", name, &known).into())
}

#[cfg(test)]
mod tests;
