//! Readers of files that an earlier run has left in a folder: logs, checkpoints, stored results,
//! side files, and the list of changes of an interrupted write of several files.

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use rankwright::data::Dataset;
use rankwright::data::bytes::Input;
use rankwright::data::generate::LetorOptions;
use rankwright::experiment::{ExperimentRequest, PlanOptions};
use rankwright::learn::tune::{Space, TuneData, TuneJob, TunePlan, TuneSettings};
use rankwright::learn::{Checkpoints, LearnerSpec, NoProgress, TrainRequest, TrainingLog};
use rankwright::search::{
    BuildOptions, Document, Extractor, FeatureSet, Index, Query, Ranker, RowOptions, build_index,
};

use crate::{TemporaryPath, with_correct_checksums};

/// A small data set, the same each time: checkpoints and logs name their data by its content.
static DATA: LazyLock<Dataset> = LazyLock::new(|| {
    LetorOptions { queries: 4, documents: 5, seed: 1 }.generate().expect("it is small")
});

/// The log beside a model.
pub(crate) fn training_log(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let _ = TrainingLog::parse(text);
}

/// The log of a parameter search of two trials: a trial that is in the log is taken from it, any
/// other is trained and added. After a search that accepted the log, a second search must find all
/// trials in it.
pub(crate) fn tune_log(bytes: &[u8]) {
    let file = TemporaryPath::with(bytes);
    let learner = LearnerSpec::parse("mart(trees=1, leaves=2, min_rows=1)").expect("it is valid");
    let space = Space::parse("leaves=int(2, 3)").expect("it is valid");
    let evaluated_on = TuneData::Folds { count: 2, valid_part: None };
    let settings = TuneSettings::new(evaluated_on).trials(2).space(space);
    let plan = TunePlan::new(&learner, settings).expect("it is valid");
    let run = || plan.run(&TuneJob::new(&DATA).log(file.path().to_owned()));
    if run().is_ok() {
        let first = fs::read(file.path()).expect("the log is there");
        assert!(run().is_ok(), "the log can be read again");
        assert_eq!(fs::read(file.path()).expect("the log is there"), first, "nothing was missing");
    }
}

/// A checkpoint, with correct checksums: the training resumes, begins anew, or is refused.
pub(crate) fn checkpoint(bytes: &[u8]) {
    let folder = TemporaryPath::folder();
    let checkpoints = Checkpoints::new(folder.path());
    fs::write(checkpoints.file(), with_correct_checksums(bytes)).expect("the folder is there");
    let learner = LearnerSpec::parse("mart(trees=3, leaves=2, min_rows=1)").expect("it is valid");
    if let Ok(result) = learner.train(TrainRequest::new(&DATA).checkpoints(checkpoints)) {
        assert!(result.finished && result.history.iterations.len() <= 3);
        assert!(result.model.score_row(&[0.5; 64]).is_finite());
    }
}

/// Word vectors: the feature has a number for every document.
pub(crate) fn vectors(bytes: &[u8]) {
    static INDEX: LazyLock<Arc<Index>> = LazyLock::new(|| {
        let documents = [("1", "red shoe"), ("2", "blue train"), ("3", "")];
        let documents = documents.map(|(id, text)| Document::new(id).with("text", text));
        Arc::new(Index::in_memory(documents).expect("the sample can be indexed"))
    });
    let file = TemporaryPath::with(bytes);
    let set = FeatureSet::new(vec![format!("dense(file={})", file.path().display())]);
    let Ok(extractor) = Extractor::new(INDEX.clone(), &set) else { return };
    let queries = [Query::new("q", "red train")];
    let data = extractor.dataset(&queries, None, &RowOptions::new()).expect("two documents match");
    assert!(data.matrix().values().iter().all(|value| (-1.001..=1.001).contains(value)));
}

/// One of the side files of a data file, chosen by the first byte.
pub(crate) fn side_files(bytes: &[u8]) {
    let Some((kind, content)) = bytes.split_first() else { return };
    let folder = TemporaryPath::folder();
    let data = folder.path().join("data");
    let (extension, text) = match kind % 3 {
        0 => ("query", "1 1:1\n0 1:2\n2 1:3\n0 1:4\n"),
        1 => ("weight", "1 qid:a 1:1\n0 qid:a 1:2\n2 qid:b 1:3\n0 qid:b 1:4\n"),
        _ => ("position", "1 qid:a 1:1\n0 qid:a 1:2\n2 qid:b 1:3\n0 qid:b 1:4\n"),
    };
    fs::write(&data, text).expect("the folder is there");
    fs::write(data.with_extension(extension), content).expect("the folder is there");
    if let Ok(data) = Dataset::read(&data) {
        assert_eq!(data.rows(), 4);
        let weights = data.row_weights().into_iter().flatten();
        assert!(weights.into_iter().all(|weight| weight.is_finite() && *weight >= 0.0));
    }
}

/// A file of a stored cell of an experiment, chosen by the first byte. The cell counts as finished
/// only if its scores and its model are as they were written.
pub(crate) fn cell(bytes: &[u8]) {
    /// An experiment of one cell that has been run, and the files of that cell.
    struct Stored {
        request: ExperimentRequest,
        files: Vec<(PathBuf, Vec<u8>)>,
        _folder: TemporaryPath,
    }
    static STORED: LazyLock<Mutex<Stored>> = LazyLock::new(|| {
        let folder = TemporaryPath::folder();
        let file = folder.path().join("x.toml");
        let text = "name = \"x\"\nmetrics = [\"ndcg@5\"]\n[[data]]\nname = \"d\"\n\
                    generate = \"letor(queries=6, documents=5)\"\n\
                    [[learner]]\nspec = \"mart(trees=1, leaves=2)\"\n";
        fs::write(&file, text).expect("the folder is there");
        let options = PlanOptions::default().jobs(Some(1)).threads(1);
        let request = ExperimentRequest::new(&file).out(folder.path().join("out")).options(options);
        request.run(&NoProgress).expect("it is small");
        let cells = fs::read_dir(folder.path().join("out/cells")).expect("there is a cell");
        let cell = cells.flatten().next().expect("there is a cell").path();
        let mut files: Vec<_> = fs::read_dir(cell).expect("it has files").flatten().collect();
        files.sort_by_key(fs::DirEntry::file_name);
        let files = files
            .iter()
            .map(|entry| (entry.path(), fs::read(entry.path()).expect("the file can be read")));
        Mutex::new(Stored { request, files: files.collect(), _folder: folder })
    });
    let Some((number, content)) = bytes.split_first() else { return };
    let stored = STORED.lock().unwrap_or_else(PoisonError::into_inner);
    let (path, written) = &stored.files[*number as usize % stored.files.len()];
    fs::write(path, content).expect("the folder is there");
    let plan = stored.request.plan().expect("a damaged cell is no error");
    fs::write(path, written).expect("the folder is there");
    let is_scores_or_model = path.extension().is_some_and(|extension| extension != "json");
    let is_as_written = content == written;
    assert!(plan.pending() == usize::from(!is_as_written) || !is_scores_or_model);
}

/// The list of changes of an interrupted write of several files (a switch): the next reader
/// finishes that write or refuses the list, and in no case changes a file outside the folder of the
/// list.
pub(crate) fn switch(bytes: &[u8]) {
    let folder = TemporaryPath::folder();
    let outside = folder.path().join("outside");
    let inside = |name: &str| folder.path().join("inside").join(name);
    fs::create_dir(folder.path().join("inside")).expect("the folder is there");
    for path in [outside.clone(), inside("data"), inside("set.features.toml")] {
        fs::write(path, "old").expect("the folder is there");
    }
    fs::write(inside(".rankwright-1-1"), "new").expect("the folder is there");
    fs::write(inside(".rankwright-switch"), bytes).expect("the folder is there");
    let content = |path: &Path| fs::read(path).ok();
    match Input::open(inside("data")) {
        Ok(input) => assert!([&b"old"[..], b"new"].contains(&&*input.bytes)),
        Err(_) => assert!(inside("data").exists()),
    }
    assert_eq!(content(&outside).as_deref(), Some(&b"old"[..]));
}

/// A file of an index with its path below the folder of the index.
type IndexFile = (PathBuf, Vec<u8>);

/// The files of a small index, sorted by their extension, because the names of segments differ from
/// build to build, and empty files last: fast, fieldnorm, idx, `.managed.json`, `meta.json`,
/// `rankwright.json`, pos, store, term.
static INDEX_FILES: LazyLock<Vec<IndexFile>> = LazyLock::new(|| {
    let folder = TemporaryPath::folder();
    let documents = [("1", "red shoe", 3.0), ("2", "blue train", 30.0), ("3", "red train", 7.5)];
    let documents = documents.map(|(id, text, price)| {
        Ok(Document::new(id).with("text", text).with("tags", "a").with("price", price))
    });
    build_index(folder.path(), documents, &BuildOptions::new(), &mut |_| ControlFlow::Continue(()))
        .expect("the sample can be indexed");
    let mut files = Vec::new();
    files_below(folder.path(), folder.path(), &mut files);
    files.sort_by_key(|(path, content)| {
        let extension = path.extension().unwrap_or_default().to_owned();
        let name = path.file_name().filter(|_| extension == "json").unwrap_or_default();
        (content.is_empty(), extension, name.to_owned())
    });
    files
});

/// Appends all files of `folder` and of its folders to `found`, with their paths below `root`.
fn files_below(folder: &Path, root: &Path, found: &mut Vec<IndexFile>) {
    for entry in fs::read_dir(folder).expect("the folder is there").map_while(Result::ok) {
        let path = entry.path();
        if path.is_dir() {
            files_below(&path, root, found);
        } else if let (Ok(name), Ok(content)) = (path.strip_prefix(root), fs::read(&path)) {
            found.push((name.to_owned(), content));
        }
    }
}

/// A file of an index, chosen by the first byte and damaged as the second byte says.
pub(crate) fn index(bytes: &[u8]) {
    let [number, kind, rest @ ..] = bytes else { return };
    let chosen = usize::from(*number) % INDEX_FILES.len();
    let folder = TemporaryPath::folder();
    for (file, (name, content)) in INDEX_FILES.iter().enumerate() {
        let content = if file == chosen { damaged(content, *kind, rest) } else { content.clone() };
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("it is in the folder")).expect("it can be made");
        fs::write(path, content).expect("the folder is there");
    }
    let Ok(index) = Index::open(folder.path()) else { return };
    let Ok(ranker) = Ranker::first_stage(index) else { return };
    if let Ok(hits) = ranker.rank("red train", 10) {
        assert!(hits.len() <= 10);
    }
}

/// The content of a damaged file: `rest` if `kind` is even; otherwise each three bytes of `rest`
/// are a position in `content` and the byte to put there.
fn damaged(content: &[u8], kind: u8, rest: &[u8]) -> Vec<u8> {
    if kind.is_multiple_of(2) {
        return rest.to_vec();
    }
    let mut content = content.to_vec();
    for edit in rest.chunks_exact(3) {
        let position = usize::from(u16::from_be_bytes([edit[0], edit[1]])) % content.len().max(1);
        if let Some(byte) = content.get_mut(position) {
            *byte = edit[2];
        }
    }
    content
}
