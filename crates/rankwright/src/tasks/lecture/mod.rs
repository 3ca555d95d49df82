//! Worked examples of lectures on learning to rank, computed step by step by the library.
//!
//! A step has the computed value, the value that the slide shows, and a note where the two differ.
//! Nothing here is a printed constant: metrics are evaluated, models are trained, and losses are
//! those of the objectives. An example is a file with its numbers and a line in [`EXAMPLES`].
//! Several slides lost their pictures; the notes say where coordinates are our own.

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
mod step;
mod swap;
mod tree;

use rankwright_report::{Page, PageBlock};
use rankwright_spec::SpecError;
use serde::Serialize;

use super::context::RunningTask;
use super::{Context, TaskError, Warning};

pub use step::{LectureStep, StepValue};

/// Lectures that the examples are from.
mod sources {
    pub(super) const WICAKSONO: &str = "A. F. Wicaksono, Learning-To-Rank";
    pub(super) const ZHANG: &str = "Y. Zhang, CSCE 670, week 5: Learning to Rank";
    pub(super) const PAIRWISE: &str = "Pairwise approach (in Russian)";
    pub(super) const GRABOCKA: &str = "J. Grabocka, Business Analytics";
    pub(super) const TUNYS: &str = "T. Tunys, LambdaMART Demystified";
}

/// The declaration of an example.
struct ExampleDef {
    name: &'static str,
    title: &'static str,
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
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LectureRequest {
    /// Names of examples, see [`list_lectures`]; all if there are none.
    pub names: Vec<String>,
}

impl LectureRequest {
    /// All examples.
    pub fn new() -> Self {
        Self::default()
    }

    /// Computes the examples with these names alone.
    pub fn names<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.names = names.into_iter().map(Into::into).collect();
        self
    }
}

/// Worked examples, step by step.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct LectureResult {
    /// The examples, in the order of the request.
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

/// All examples.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct LectureList {
    /// The examples, in the order of a course.
    pub examples: Vec<LectureSummary>,
}

impl ExampleDef {
    fn summary(&self) -> LectureSummary {
        LectureSummary { name: self.name, title: self.title, lectures: self.lectures }
    }
}

/// Lists all examples.
///
/// ```
/// use rankwright::tasks::list_lectures;
/// assert!(list_lectures().examples.iter().any(|example| example.name == "mart"));
/// ```
pub fn list_lectures() -> LectureList {
    LectureList { examples: EXAMPLES.iter().map(ExampleDef::summary).collect() }
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
    let chosen: Vec<&ExampleDef> = match request.names.as_slice() {
        [] => EXAMPLES.iter().collect(),
        names => names.iter().map(|name| find(name)).collect::<Result<_, _>>()?,
    };
    let mut examples = Vec::with_capacity(chosen.len());
    for def in chosen {
        let (worked, _) = task.step(&format!("computing {}", def.name), def.compute)?;
        let Worked { steps, pictures } = worked;
        examples.push(LectureExample { about: def.summary(), steps, pictures });
    }
    Ok(LectureResult { examples, warnings: task.into_warnings() })
}

/// The example with a name; the error lists the known names.
fn find(name: &str) -> Result<&'static ExampleDef, TaskError> {
    let known: Vec<&str> = EXAMPLES.iter().map(|def| def.name).collect();
    let found = EXAMPLES.iter().find(|def| def.name == name);
    found.ok_or_else(|| SpecError::unknown("example", name, &known).into())
}

#[cfg(test)]
mod tests;
