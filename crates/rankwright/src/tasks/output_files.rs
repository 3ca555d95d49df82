//! Files of results beside the usual output of a task: the values of every query, a drawing, and a
//! page with its plots. None of them is written over a file that the task read.

use std::path::{Path, PathBuf};

use rankwright_data::store::write_atomic;
use rankwright_eval::{Evaluation, PerQueryTable};
#[cfg(feature = "report")]
use rankwright_report::Page;
#[cfg(feature = "report")]
use serde::Serialize;

use super::{TaskError, check_outputs, check_standard_input};

/// A request that names the files which its task reads.
pub trait TaskInputs {
    /// All of these files.
    fn inputs(&self) -> Vec<PathBuf>;

    /// Rejects results that would be written over one of these files, or over each other.
    fn check_outputs<'a>(
        &self,
        outputs: impl IntoIterator<Item = &'a Path>,
    ) -> Result<(), TaskError>
    where
        Self: Sized,
    {
        let outputs: Vec<PathBuf> = outputs.into_iter().map(Path::to_owned).collect();
        let inputs = self.inputs();
        check_outputs(outputs.iter().map(PathBuf::as_path), inputs.iter().map(PathBuf::as_path))
    }

    /// The check at the start of every task: standard input is read once at most, and none of these
    /// results would be written over a file that is read, or over each other.
    fn check_files<'a>(&self, outputs: impl IntoIterator<Item = &'a Path>) -> Result<(), TaskError>
    where
        Self: Sized,
    {
        check_standard_input(self.inputs().iter().map(PathBuf::as_path))?;
        self.check_outputs(outputs)
    }
}

/// No files are read.
impl TaskInputs for () {
    fn inputs(&self) -> Vec<PathBuf> {
        Vec::new()
    }
}

/// Writes the values of every query, of each system: metric, query, and a column for each system
/// ([`PerQueryTable`]); separated by commas if the file ends in `.csv`, otherwise by tabs.
///
/// ```no_run
/// use rankwright::tasks::{Context, EvalInput, EvalRequest, eval, write_per_query};
///
/// let request = EvalRequest::new(EvalInput::model("model.model", "test.txt"));
/// let result = eval(&request, &Context::default())?;
/// write_per_query("queries.tsv".as_ref(), &[("value", &result.evaluation)], &request)?;
/// # Ok::<(), rankwright::tasks::TaskError>(())
/// ```
pub fn write_per_query(
    path: &Path,
    systems: &[(&str, &Evaluation)],
    request: &impl TaskInputs,
) -> Result<(), TaskError> {
    request.check_outputs([path])?;
    let table = PerQueryTable::new(systems)?;
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let name = name.to_ascii_lowercase();
    let stem = name.strip_suffix(".gz").or(name.strip_suffix(".zst")).unwrap_or(&name);
    write_atomic(path, |out| match stem.ends_with(".csv") {
        true => table.write_csv(out),
        false => table.write(out),
    })?;
    Ok(())
}

/// Writes a drawing, such as that of a tree.
pub fn write_drawing(path: &Path, svg: &str, request: &impl TaskInputs) -> Result<(), TaskError> {
    request.check_outputs([path])?;
    write_atomic(path, |out| out.write_all(svg.as_bytes()))?;
    Ok(())
}

/// The file of a page, and the folder for the files of its plots.
#[cfg(feature = "report")]
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PageFiles {
    /// The HTML file; `-` is standard output.
    pub html: PathBuf,
    /// The folder for every plot as SVG, and its numbers as CSV and JSON; created if needed.
    pub assets: Option<PathBuf>,
}

/// The files of a page that was written.
#[cfg(feature = "report")]
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct WrittenPage {
    /// The HTML file.
    pub html: PathBuf,
    /// The files of the plots, if there is a folder for them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assets: Option<Vec<PathBuf>>,
}

#[cfg(feature = "report")]
impl PageFiles {
    /// One HTML file, without files of its plots.
    pub fn new(html: impl Into<PathBuf>) -> Self {
        PageFiles { html: html.into(), assets: None }
    }

    /// Sets the folder for the files of the plots.
    pub fn assets(mut self, folder: impl Into<Option<PathBuf>>) -> Self {
        self.assets = folder.into();
        self
    }

    /// Writes a page; nothing is written if a file would replace one that the task read.
    pub fn write(&self, page: &Page, request: &impl TaskInputs) -> Result<WrittenPage, TaskError> {
        let text = page.to_html()?;
        let folder = self.assets.as_deref();
        let files = folder.map(|folder| page.asset_files(folder)).unwrap_or_default();
        request.check_outputs(files.iter().chain([&self.html]).map(PathBuf::as_path))?;
        let assets = folder.map(|folder| page.write_assets(folder)).transpose()?;
        write_atomic(&self.html, |file| file.write_all(text.as_bytes()))?;
        Ok(WrittenPage { html: self.html.clone(), assets })
    }
}

/// A result and the files of its page, serialised as one object: the keys of the result, and those
/// of [`WrittenPage`] if there is a page.
#[cfg(feature = "report")]
#[derive(Debug, Serialize)]
pub struct WithPage<'a, T: Serialize> {
    /// The result.
    #[serde(flatten)]
    pub result: &'a T,
    /// The files.
    #[serde(flatten)]
    pub page: Option<WrittenPage>,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A request that reads these files.
    struct Reads(Vec<PathBuf>);

    impl TaskInputs for Reads {
        fn inputs(&self) -> Vec<PathBuf> {
            self.0.clone()
        }
    }

    #[test]
    fn no_file_of_a_result_replaces_an_input() {
        let folder = tempfile::tempdir().unwrap();
        let input = folder.path().join("data.txt");
        std::fs::write(&input, "1 qid:1 1:1\n").unwrap();
        let request = Reads(vec![input.clone()]);
        let refused = |result: Result<(), TaskError>| {
            assert_eq!(result.unwrap_err().kind(), "output-is-input");
            assert_eq!(std::fs::read_to_string(&input).unwrap(), "1 qid:1 1:1\n");
        };
        refused(write_per_query(&input, &[], &request));
        refused(write_drawing(&input, "<svg/>", &request));
        #[cfg(feature = "report")]
        refused(PageFiles::new(&input).write(&Page::default(), &request).map(|_| ()));
        let svg = folder.path().join("tree.svg");
        write_drawing(&svg, "<svg/>", &request).unwrap();
        assert_eq!(std::fs::read_to_string(svg).unwrap(), "<svg/>");
    }

    #[cfg(feature = "report")]
    #[test]
    fn a_result_and_its_page_are_one_object() {
        let folder = tempfile::tempdir().unwrap();
        let (html, assets) = (folder.path().join("a.html"), folder.path().join("deep/assets"));
        let page = Page { title: "A report".into(), ..Page::default() };
        let files = PageFiles::new(&html).assets(assets.clone());
        let written = files.write(&page, &()).unwrap();
        assert!(std::fs::read_to_string(&html).unwrap().contains("A report") && assets.is_dir());
        let result = serde_json::json!({ "queries": 3 });
        let document = WithPage { result: &result, page: Some(written) };
        let document = serde_json::to_value(document).unwrap();
        assert_eq!(
            (&document["queries"], &document["assets"]),
            (&3.into(), &serde_json::json!([]))
        );
        assert_eq!(document["html"], serde_json::json!(html));
        let without = serde_json::to_value(WithPage { result: &result, page: None }).unwrap();
        assert_eq!(without, result);
    }
}
