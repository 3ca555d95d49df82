//! The data of an experiment while it runs: read when first needed, shared by cells, dropped after
//! the last cell that needs it. A cell is one training run: data set x fold x learner x seed.
//!
//! Test parts are kept to the end, because the report is computed on them. Several cells that need
//! the same part wait for the cell that reads it. An error is kept too: each cell reports it, but
//! no file is read twice.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rankwright_data::format::read;
use rankwright_data::split::folds;
use rankwright_data::{DataError, Dataset};

use super::file::{DataOrigin, DataSet, DataSource, QueryDivision};
use super::paths::FilePath;

/// A value that is computed once and kept until it is dropped explicitly.
#[derive(Debug)]
struct Cached<T>(Mutex<Option<Result<Arc<T>, Arc<DataError>>>>);

impl<T> Default for Cached<T> {
    fn default() -> Self {
        Self(Mutex::new(None))
    }
}

impl<T> Cached<T> {
    /// The value; computed by `make` if there is none.
    fn get(
        &self,
        make: impl FnOnce() -> Result<T, Arc<DataError>>,
    ) -> Result<Arc<T>, Arc<DataError>> {
        let mut slot = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        slot.get_or_insert_with(|| make().map(Arc::new)).clone()
    }

    /// Drops the value.
    fn clear(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// Training and validation data of a fold.
#[derive(Debug)]
pub(super) struct TrainingParts {
    pub(super) train: Dataset,
    /// `None` if the fold has no validation part.
    pub(super) valid: Option<Dataset>,
}

/// The parts of a data set, loaded on demand.
#[derive(Debug)]
pub(super) struct DataParts<'e> {
    set: &'e DataSet,
    /// The undivided data, if the experiment divides it.
    whole: Cached<Dataset>,
    folds: Vec<FoldParts>,
}

/// The parts of a fold.
#[derive(Debug, Default)]
struct FoldParts {
    training: Cached<TrainingParts>,
    test: Cached<Dataset>,
    /// Number of cells that still need the training data.
    remaining_uses: AtomicUsize,
}

/// Query indices of a fold's parts.
struct FoldQueries {
    train: Vec<usize>,
    valid: Vec<usize>,
    test: Vec<usize>,
}

impl<'e> DataParts<'e> {
    pub(super) fn new(set: &'e DataSet) -> Self {
        let folds = (0..set.folds()).map(|_| FoldParts::default()).collect();
        Self { set, whole: Cached::default(), folds }
    }

    /// Registers a cell that will train on a fold; folds count from 0.
    pub(super) fn register_use(&self, fold: usize) {
        if let Some(fold) = self.folds.get(fold) {
            fold.remaining_uses.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// Called when a registered cell has ended; drops the fold's training data after the last one.
    pub(super) fn release(&self, fold: usize) {
        let Some(fold) = self.folds.get(fold) else { return };
        if fold.remaining_uses.fetch_sub(1, Ordering::SeqCst) == 1 {
            fold.training.clear();
        }
        if self.folds.iter().all(|fold| fold.remaining_uses.load(Ordering::SeqCst) == 0) {
            self.whole.clear();
        }
    }

    /// The training and validation data of a fold.
    pub(super) fn training(&self, fold: usize) -> Result<Arc<TrainingParts>, Arc<DataError>> {
        self.fold(fold)?.training.get(|| match &self.set.source {
            DataSource::Folds(folds) => {
                let files = folds.get(fold).ok_or_else(no_such_fold)?;
                let valid = (!files.valid.is_empty()).then(|| self.read(&files.valid));
                Ok(TrainingParts { train: self.read(&files.train)?, valid: valid.transpose()? })
            }
            DataSource::Whole { .. } => {
                let whole = self.whole()?;
                let queries = self.queries(&whole, fold)?;
                let part = |queries: &[usize]| whole.select_queries(queries).map_err(Arc::new);
                let valid = (!queries.valid.is_empty()).then(|| part(&queries.valid));
                Ok(TrainingParts { train: part(&queries.train)?, valid: valid.transpose()? })
            }
        })
    }

    /// The test data of a fold.
    pub(super) fn test(&self, fold: usize) -> Result<Arc<Dataset>, Arc<DataError>> {
        self.fold(fold)?.test.get(|| match &self.set.source {
            DataSource::Folds(folds) => self.read(&folds.get(fold).ok_or_else(no_such_fold)?.test),
            DataSource::Whole { .. } => {
                let whole = self.whole()?;
                let queries = self.queries(&whole, fold)?;
                Ok(whole.select_queries(&queries.test)?)
            }
        })
    }

    /// The test parts of all folds; other data that was read for them is dropped.
    pub(super) fn tests(&self) -> Result<Vec<Arc<Dataset>>, Arc<DataError>> {
        let tests = (0..self.folds.len()).map(|fold| self.test(fold)).collect();
        self.whole.clear();
        tests
    }

    fn fold(&self, fold: usize) -> Result<&FoldParts, Arc<DataError>> {
        self.folds.get(fold).ok_or_else(no_such_fold)
    }

    /// The undivided data.
    fn whole(&self) -> Result<Arc<Dataset>, Arc<DataError>> {
        self.whole.get(|| match &self.set.source {
            DataSource::Whole { origin: DataOrigin::Files(files), .. } => self.read(files),
            DataSource::Whole { origin: DataOrigin::Generated(options), .. } => {
                Ok(options.generate()?)
            }
            DataSource::Folds(_) => Err(Arc::new(NOT_WHOLE)),
        })
    }

    /// Reads several files as one data set.
    fn read(&self, files: &[FilePath]) -> Result<Dataset, Arc<DataError>> {
        let paths: Vec<_> = files.iter().map(|file| file.path.clone()).collect();
        // Errors become part of the report, so they must not show the content of a file: an
        // experiment may name any file.
        Ok(read(&paths, &self.set.options()?).map_err(DataError::without_content)?.data)
    }

    /// The queries of a fold's parts.
    fn queries(&self, whole: &Dataset, fold: usize) -> Result<FoldQueries, Arc<DataError>> {
        let DataSource::Whole { division, .. } = &self.set.source else {
            return Err(Arc::new(NOT_WHOLE));
        };
        match division {
            QueryDivision::Folds { count, seed } => {
                let all = folds(whole.queries(), *count, *seed)?;
                let fold = all.into_iter().nth(fold).ok_or_else(no_such_fold)?;
                Ok(FoldQueries { train: fold.train, valid: fold.valid, test: fold.test })
            }
            QueryDivision::Split { parts, seed, .. } => {
                let mut named = parts.split(whole.queries(), *seed);
                let mut take = |name: &str| {
                    let part = named.iter_mut().find(|(other, _)| other == name);
                    part.map(|(_, queries)| std::mem::take(queries))
                };
                let (train, valid, test) = (take("train"), take("valid"), take("test"));
                let (Some(train), Some(test)) = (train, test) else {
                    return Err(Arc::new(NO_SUCH_PART));
                };
                // A split need not have validation queries.
                Ok(FoldQueries { train, valid: valid.unwrap_or_default(), test })
            }
        }
    }
}

/// The error of dividing data that is given in parts.
const NOT_WHOLE: DataError = DataError::Internal { invariant: "only undivided data is divided" };

/// The error of a split that lacks a part.
const NO_SUCH_PART: DataError =
    DataError::Internal { invariant: "a split has training and test queries" };

fn no_such_fold() -> Arc<DataError> {
    Arc::new(DataError::Internal { invariant: "a cell belongs to a fold of its data" })
}
