//! The fuzz targets: functions of any bytes, one for each reader, that panic if the reader breaks a
//! guarantee (such as: what was written can be read again). `tests/smoke.rs` runs them on the seeds
//! and on mutations of the seeds, with any compiler; the programs in `fuzz_targets/` run them under
//! libFuzzer.

mod clicks;
mod state;
pub mod targets;

use std::path::{Path, PathBuf};
use std::sync::Once;
use std::sync::atomic::{AtomicU64, Ordering};

use rankwright::data::bytes::Input;
use rankwright::data::format::{Format, ReadOptions, read_inputs, write};
use rankwright::data::{Dataset, Qrels, Run, panics_are_caught};
use rankwright::eval::{EvalOptions, JudgedRun, SourceKind, evaluate, parse_metrics};
use rankwright::model::draw::{tree_svg, tree_text};
use rankwright::model::{Model, ModelBody, ModelFormat, ScoreBuffers};
use xxhash_rust::xxh3::xxh3_64;

/// Bytes as an input that is not decompressed: the projects of the compression formats fuzz their
/// own code.
fn input(bytes: &[u8]) -> Input {
    Input::raw("fuzz", bytes.to_vec())
}

/// The path of a temporary file or folder, which is removed on drop.
struct TemporaryPath(PathBuf);

impl TemporaryPath {
    fn new(extension: &str) -> Self {
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        let (process, number) = (std::process::id(), COUNTER.fetch_add(1, Ordering::Relaxed));
        let name = format!("rankwright-fuzz-{process}-{number}{extension}");
        Self(std::env::temp_dir().join(name))
    }

    /// A file with these bytes.
    fn with(bytes: &[u8]) -> Self {
        let file = Self::new("");
        std::fs::write(&file.0, bytes).expect("a temporary file can be written");
        file
    }

    /// An empty folder.
    fn folder() -> Self {
        let folder = Self::new("");
        std::fs::create_dir(&folder.0).expect("a temporary folder can be made");
        folder
    }

    fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for TemporaryPath {
    fn drop(&mut self) {
        let _ = match self.0.is_dir() {
            true => std::fs::remove_dir_all(&self.0),
            false => std::fs::remove_file(&self.0),
        };
    }
}

/// Reads bytes as a data set; the same data set must be read again from a cache file of it.
fn data_set(bytes: &[u8], format: Format) {
    let options = ReadOptions::new().format(format).max_matrix_bytes(1 << 24);
    if matches!(format, Format::Parquet | Format::Arrow) {
        allow_caught_panics();
    }
    let Ok(loaded) = read_inputs(vec![input(bytes)], &options) else { return };
    let data = loaded.data;
    assert_eq!(data.matrix().values().len(), data.rows() * data.columns());
    let rows: usize = data.iter_queries().map(|query| query.rows.len()).sum();
    assert_eq!(rows, data.rows());
    let file = TemporaryPath::new(".rwd");
    write(&data, file.path(), Format::Cache).expect("what was read can be written");
    let back = read_inputs(
        vec![Input::open(file.path()).expect("the file is there")],
        &ReadOptions::new().format(Format::Cache),
    );
    assert_eq!(back.expect("what was written can be read").data, data);
}

/// Lets the readers of Parquet and Arrow catch panics of the arrow crates, which they report as
/// damage of the file; otherwise the panic hook of the fuzzer would abort first.
fn allow_caught_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let abort_hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if !panics_are_caught() {
                abort_hook(panic);
            }
        }));
    });
}

/// Reads a run and judgements, and evaluates the run against the judgements.
fn run_with_qrels(run: &[u8], qrels: &[u8]) {
    let (Ok((run, _)), Ok((qrels, _))) = (Run::read(input(run)), Qrels::read(input(qrels))) else {
        return;
    };
    let specs = parse_metrics("ndcg(gain=linear)@10, ap, rr, bpref, rbp, judged@5, recall@3")
        .unwrap_or_default();
    let measures: Vec<_> =
        specs.iter().filter_map(|spec| spec.resolve(SourceKind::Run).ok()).collect();
    let Ok(found) = evaluate(&JudgedRun::new(&run, &qrels), &measures, EvalOptions::default())
    else {
        return;
    };
    for value in found.results.iter().flat_map(|r| r.values.iter().flatten()) {
        assert!((0.0..=1.0 + 1e-12).contains(value), "{value}");
    }
}

/// Reads preference pairs of a small data set.
fn pairs(bytes: &[u8]) {
    let text = b"1 qid:a 1:1 # d\n0 qid:b 1:2 # e\n2 qid:a 1:3 # f\n0 qid:b 1:4\n";
    let data: Dataset = read_inputs(vec![input(text)], &ReadOptions::default())
        .expect("the sample is well formed")
        .data;
    if let Ok((data, _)) = data.with_pairs(&input(bytes)) {
        for pair in data.pairs().unwrap_or_default() {
            let rows = data.query_rows(pair.query as usize);
            assert!(
                rows.contains(&(pair.better as usize)) && rows.contains(&(pair.worse as usize))
            );
        }
    }
}

/// The bytes of a model with a correct checksum, where each member of a blend has a correct
/// checksum too. The file of a member follows its length in bytes.
fn with_correct_checksums(bytes: &[u8]) -> Vec<u8> {
    const MAGIC: &[u8] = b"RANKWRIGHT MODEL ";
    let mut bytes = bytes.to_vec();
    for start in 8..bytes.len() {
        let (before, member) = bytes.split_at_mut(start);
        if !member.starts_with(MAGIC) {
            continue;
        }
        let length = before.last_chunk().map_or(0, |length| u64::from_le_bytes(*length));
        let file = member.get_mut(..usize::try_from(length).unwrap_or(usize::MAX));
        if let Some((content, checksum)) = file.and_then(|file| file.split_last_chunk_mut::<8>()) {
            *checksum = xxh3_64(content).to_le_bytes();
        }
    }
    if let Some((content, checksum)) = bytes.split_last_chunk_mut::<8>() {
        *checksum = xxh3_64(content).to_le_bytes();
    }
    bytes
}

/// Reads bytes as a model: as they are, and with correct checksums, so that the code after the
/// check of the checksum is fuzzed too. A model that is written must be read again as an equal
/// model, and every function of a model must work on it.
fn model(bytes: &[u8]) {
    let _ = Model::from_bytes(bytes);
    let Ok(model) = Model::from_bytes(&with_correct_checksums(bytes)) else { return };
    let written = model.to_bytes();
    assert_eq!(Model::from_bytes(&written).expect("what was written can be read"), model);
    assert!(!model.score_row(&[0.5, f32::NAN, -1.0, f32::INFINITY]).is_nan());
    let used = model.used_features();
    assert!(model.importance().iter().all(|importance| used.contains(&importance.feature)));
    scores_of_query(&model);
    if let ModelBody::Trees(ensemble) = model.body() {
        let names = &model.header().features;
        for tree in ensemble.trees() {
            assert!(tree.depth() < tree.leaves().len());
            assert_eq!(tree_text(tree, names).lines().count(), 2 * tree.leaves().len() - 1);
            assert!(tree_svg(tree, names, "tree").ends_with("</svg>\n"));
        }
    }
}

/// The rows of one query must have the same scores by the fast scorer as by the reference
/// implementation, and no score is NaN.
fn scores_of_query(model: &Model) {
    let scorer = model.scorer();
    let columns = scorer.columns();
    if columns > 1000 {
        return;
    }
    let values = [0.5, f32::NAN, 0.0, -1.0, f32::INFINITY, 3.0, 1e30];
    let rows: Vec<f32> = values.into_iter().cycle().take(9 * columns).collect();
    let slices: Vec<&[f32]> = (0..9).map(|row| &rows[row * columns..(row + 1) * columns]).collect();
    let (mut scores, mut buffers) = ([0.0; 9], ScoreBuffers::default());
    scorer.score_query(&rows, &mut scores, &mut buffers).expect("the rows have the right length");
    for (score, reference_score) in scores.iter().zip(model.score_query(&slices)) {
        assert!(!score.is_nan());
        assert_eq!(score.to_bits(), reference_score.to_bits());
    }
}

/// Reads bytes as a model of the system whose format they seem to have. A model must give the same
/// scores to a whole query as row by row, and every format that can hold it must be read again.
fn interchange(bytes: &[u8]) {
    let Ok(model) = Model::from_bytes(bytes) else { return };
    let scorer = model.scorer();
    if scorer.columns() > 1000 {
        return;
    }
    let values = [0.5, f32::NAN, 0.0, -1.0, f32::INFINITY];
    let row: Vec<f32> = values.into_iter().cycle().take(scorer.columns()).collect();
    let (mut scores, mut buffers) = ([0.0; 7], ScoreBuffers::default());
    scorer
        .score_query(&row.repeat(7), &mut scores, &mut buffers)
        .expect("the rows have the right length");
    assert_eq!(scores[6].to_bits(), model.score_row(&row).to_bits());
    for format in ModelFormat::writable() {
        if let Ok(written) = model.to_bytes_as(format) {
            assert_eq!(ModelFormat::detect(&written), Some(format));
            let _ = Model::from_bytes(&written);
        }
    }
}
