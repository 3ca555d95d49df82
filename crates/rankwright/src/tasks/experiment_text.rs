//! Feature data that an experiment computes from text: an index and features for each `[[text]]` of
//! its file, before anything is trained.
//!
//! Everything is kept in the folder `text` of the results: the data of a text, its index, and a
//! file with everything that determines the data (settings, and checksums of all inputs). While
//! these stay the same, the data is not computed again. Documents in a folder are always read
//! again.

use std::path::{Path, PathBuf};

use rankwright_data::bytes::read_blocks;
use rankwright_data::format::{Format, write};
use rankwright_data::generate::{HomepagesOptions, StoreOptions};
use rankwright_data::store::write_atomic;
use rankwright_data::{DataError, Dataset};
use rankwright_experiment::{
    ExperimentRequest, FilePath, TextFeature, TextOrigin, TextSource, VERSION,
};
use rankwright_search::{
    Analysis, BuildOptions, Existing, FEATURE_VERSION, FeatureSet, FirstStage, QueryOptions, Schema,
};
use rankwright_spec::{Spec, SpecError, read_spec};
use serde_json::json;
use sha2::{Digest, Sha256};

use super::split_data::make_folder;
use super::{
    BuildIndexRequest, CandidateOptions, Context, ExtractFeaturesRequest, FeatureSource, QueryFile,
    TaskError, Warning, build_index, extract_features,
};

/// Computes the data of each text of an experiment, unless it is there already; returns warnings
/// about documents, queries and judgements.
pub(super) fn prepare_texts(
    request: &ExperimentRequest,
    context: &Context<'_>,
) -> Result<Vec<Warning>, TaskError> {
    let mut warnings = Vec::new();
    for text in &request.experiment()?.texts {
        let data = request.text_file(&text.name);
        warnings.extend(PreparedText { text, data: &data }.prepare(context)?);
    }
    Ok(warnings)
}

/// A text and the file of its data.
struct PreparedText<'a> {
    text: &'a TextSource,
    data: &'a Path,
}

/// Files of documents, queries and judgements.
struct TextFiles {
    documents: Vec<PathBuf>,
    queries: PathBuf,
    qrels: PathBuf,
}

impl PreparedText<'_> {
    fn prepare(&self, context: &Context<'_>) -> Result<Vec<Warning>, TaskError> {
        let key = self.key()?;
        let key_file = self.data.with_extension("json");
        let stored = std::fs::read_to_string(&key_file).ok();
        if self.data.is_file() && key.is_some() && stored == key {
            return Ok(Vec::new());
        }
        if let Some(folder) = self.data.parent() {
            make_folder(folder)?;
        }
        let warnings = self.compute(context)?;
        // Written last: without it the data is computed again.
        let key = key.unwrap_or_default();
        write_atomic(&key_file, |out| out.write_all(key.as_bytes()))?;
        Ok(warnings)
    }

    /// Everything that determines the data; `None` if an input is a folder.
    fn key(&self) -> Result<Option<String>, TaskError> {
        let text = self.text;
        let origin = match &text.origin {
            TextOrigin::Files { documents, queries, qrels } => {
                let files = documents.iter().chain([queries, qrels]);
                let files: Vec<&FilePath> = files.chain(self.feature_files()).collect();
                if files.iter().any(|file| file.path.is_dir()) {
                    return Ok(None);
                }
                let sums = files.into_iter().map(|file| checksum(&file.path));
                json!({ "files": sums.collect::<Result<Vec<String>, _>>()? })
            }
            TextOrigin::Generated { generator, seed } => {
                let sums = self.feature_files().map(|file| checksum(&file.path));
                let files = sums.collect::<Result<Vec<String>, _>>()?;
                json!({ "generate": generator, "seed": seed, "files": files })
            }
            _ => return Err(unknown_origin()),
        };
        let features: Vec<&str> = text.features.iter().map(|feature| &*feature.written).collect();
        let key = json!({
            "version": VERSION,
            "feature_version": FEATURE_VERSION,
            "origin": origin,
            "schema": text.schema,
            "analysis": text.analysis,
            "number_queries": text.number_queries,
            "features": features,
            "first_stage": text.first_stage,
            "candidates": text.candidates,
            "judged": text.judged,
        });
        Ok(Some(format!("{key:#}\n")))
    }

    /// The files that features read.
    fn feature_files(&self) -> impl Iterator<Item = &FilePath> {
        self.text.features.iter().filter_map(|feature| feature.file.as_ref())
    }

    /// Builds the index and computes the features.
    fn compute(&self, context: &Context<'_>) -> Result<Vec<Warning>, TaskError> {
        let text = self.text;
        let files = self.files()?;
        let index = self.data.with_extension("index");
        let analysis = text.analysis.as_deref().map(Analysis::parse).transpose()?;
        let options = BuildOptions::new().schema(Schema::parse(&text.schema)?);
        let options = options.analysis(analysis).existing(Existing::Replace);
        let build = BuildIndexRequest::new(files.documents, &index).options(options);
        let mut warnings = build_index(&build, context)?.warnings;
        let options = QueryOptions::new().number_by_position(text.number_queries);
        let queries = QueryFile::new(files.queries).options(options);
        let specs = text.features.iter().map(|feature| feature.resolved.clone()).collect();
        let extract = ExtractFeaturesRequest::new(&index, queries)
            .out(self.data)
            .qrels(files.qrels)
            .features(FeatureSource::Set(FeatureSet::new(specs)))
            .candidates(self.candidates()?)
            .judged(text.judged);
        warnings.extend(extract_features(&extract, context)?.warnings);
        if self.feature_files().next().is_some() {
            self.write_names_as_written()?;
        }
        Ok(warnings)
    }

    fn candidates(&self) -> Result<CandidateOptions, TaskError> {
        let mut candidates = CandidateOptions::new();
        if let Some(stage) = &self.text.first_stage {
            candidates = candidates.first_stage(FirstStage::parse(stage)?);
        }
        Ok(match self.text.candidates {
            Some(count) => candidates.count(count),
            None => candidates,
        })
    }

    /// The files of the text; generated ones are written beside the data.
    fn files(&self) -> Result<TextFiles, TaskError> {
        let (generator, seed) = match &self.text.origin {
            TextOrigin::Files { documents, queries, qrels } => {
                return Ok(TextFiles {
                    documents: documents.iter().map(|file| file.path.clone()).collect(),
                    queries: queries.path.clone(),
                    qrels: qrels.path.clone(),
                });
            }
            TextOrigin::Generated { generator, seed } => (generator, *seed),
            _ => return Err(unknown_origin()),
        };
        let folder = self.data.with_extension("");
        make_folder(&folder)?;
        let spec = Spec::parse(generator)?;
        match spec.name.as_str() {
            "homepages" => {
                read_spec::<HomepagesOptions>(&spec)?.seed(seed).generate()?.write(&folder)?
            }
            "store" => read_spec::<StoreOptions>(&spec)?.seed(seed).generate()?.write(&folder)?,
            other => {
                return Err(SpecError::unknown("generator", other, &["homepages", "store"]).into());
            }
        }
        let [documents, queries, qrels] =
            ["documents.jsonl", "queries.jsonl", "qrels.txt"].map(|name| folder.join(name));
        Ok(TextFiles { documents: vec![documents], queries, qrels })
    }

    /// Writes the data again with the paths in names of features as the experiment has them, so
    /// that results are the same on every machine.
    fn write_names_as_written(&self) -> Result<(), TaskError> {
        let data = Dataset::read(self.data)?;
        let names = data.features().iter().map(|name| self.as_written(&name)).collect();
        let set = data.feature_set().map(|set| self.as_written(set));
        let data = data.with_feature_names(names)?.with_feature_set(set.as_deref());
        write(&data, self.data, Format::Cache)?;
        Ok(())
    }

    /// A text with the paths of features as the experiment has them.
    fn as_written(&self, text: &str) -> String {
        let files = self.text.features.iter().filter_map(|TextFeature { file, .. }| file.as_ref());
        files.fold(text.to_owned(), |text, file| {
            text.replace(&*file.path.to_string_lossy(), &file.written)
        })
    }
}

/// The error of an origin that this file does not know.
fn unknown_origin() -> TaskError {
    let invariant = "a text of an experiment comes from files or from a generator".to_owned();
    TaskError::Internal { invariant }
}

/// SHA-256 of a file, in hexadecimal.
fn checksum(path: &Path) -> Result<String, DataError> {
    let mut digest = Sha256::new();
    read_blocks(path, |block| digest.update(block))?;
    Ok(digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}
