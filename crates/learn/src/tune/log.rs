//! The log of a search: finished trials survive an interruption.
//!
//! The log is a file of JSON lines. The first line identifies the search; each other line is a
//! [`Trial`], appended by one write and synced to disk. A line is valid only with its line end: a
//! killed process or a full disk loses at most the trial that was being written, whose incomplete
//! line is cut off when the log is opened again. The file is locked before anything is read or
//! written, so that only one process at a time uses a log.

use std::collections::BTreeMap;
use std::fs::{File, TryLockError};
use std::io::{Error, ErrorKind, Write};
use std::path::{Path, PathBuf};

use rankwright_data::DataError;
use rankwright_data::bytes::read_whole;
use serde::{Deserialize, Serialize};

use super::error::{SettingDifference, TuneError, TuneLogProblem};
use super::trial::Trial;
use crate::error::LearnError;

/// The first line of a log, which identifies the search.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct LogHeader {
    /// Version of the format.
    #[serde(rename = "rankwright-tune")]
    version: u32,
    /// The settings of the search, and checksums of its data, by name.
    search: BTreeMap<String, String>,
}

/// Version of the format.
const VERSION: u32 = 1;

/// Finished trials, in a file or in memory only.
#[derive(Debug)]
pub(super) struct Log {
    /// The file and its path; `None` for a log in memory.
    file: Option<(File, PathBuf)>,
    trials: Vec<Trial>,
}

impl Log {
    /// A log in memory only.
    pub(super) fn in_memory() -> Self {
        Self { file: None, trials: Vec::new() }
    }

    /// Opens the log of a search, or creates it; `search` holds names and values of its settings.
    pub(super) fn open(path: &Path, search: &[(&str, String)]) -> Result<Self, LearnError> {
        let search = search.iter().map(|(name, text)| ((*name).to_owned(), text.clone()));
        let header = LogHeader { version: VERSION, search: search.collect() };
        let header_line = json_line(&header)?;
        let io = |action: &'static str| {
            move |error| DataError::io(action, path.display().to_string(), error)
        };
        let mut options = File::options();
        let options = options.read(true).append(true).create(true);
        let mut file = options.open(path).map_err(io("open"))?;
        if !file.metadata().map_err(io("open"))?.is_file() {
            let kind = ErrorKind::InvalidInput;
            return Err(io("open")(Error::new(kind, "it is not an ordinary file")).into());
        }
        if let Err(TryLockError::WouldBlock) = file.try_lock() {
            return Err(TuneError::LogInUse { path: path.display().to_string() }.into());
        }
        let mut bytes = read_whole(&path.display().to_string(), &mut file)?;
        // A new log, or one whose first line was being written when its process was killed.
        if bytes.len() < header_line.len() && header_line.as_bytes().starts_with(&bytes) {
            file.set_len(0).map_err(io("repair"))?;
            file.write_all(header_line.as_bytes())
                .and_then(|()| file.sync_data())
                .map_err(io("write"))?;
            bytes = header_line.into_bytes();
        }
        let complete = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
        let text = String::from_utf8_lossy(bytes.get(..complete).unwrap_or_default());
        let trials = read_trials(path, &text, &header)?;
        if complete < bytes.len() {
            file.set_len(complete as u64).map_err(io("repair"))?;
        }
        Ok(Self { file: Some((file, path.to_owned())), trials })
    }

    /// The finished trial of this number and limit of rounds; `None` if it is not in the log.
    pub(super) fn find(&self, trial: usize, limit: Option<usize>) -> Option<&Trial> {
        self.trials.iter().find(|found| found.trial == trial && found.limit == limit)
    }

    /// Every finished trial.
    pub(super) fn trials(&self) -> &[Trial] {
        &self.trials
    }

    /// Adds a finished trial.
    pub(super) fn add(&mut self, trial: Trial) -> Result<(), LearnError> {
        if let Some((file, path)) = &mut self.file {
            let line = json_line(&trial)?;
            let written = file.write_all(line.as_bytes()).and_then(|()| file.sync_data());
            written.map_err(|e| DataError::io("write", path.display().to_string(), e))?;
        }
        self.trials.push(trial);
        Ok(())
    }
}

/// A value as JSON, with a line end.
fn json_line(value: &impl Serialize) -> Result<String, LearnError> {
    let text = serde_json::to_string(value).map_err(|_| LearnError::Internal {
        invariant: "a line of the log can be written as JSON",
    })?;
    Ok(text + "\n")
}

/// The trials of a log, after a check that the log belongs to this search.
fn read_trials(path: &Path, text: &str, expected: &LogHeader) -> Result<Vec<Trial>, LearnError> {
    let rejected = |problem| TuneError::TuneLog { path: path.display().to_string(), problem };
    let mut lines = text.lines().zip(1..);
    let header: Option<LogHeader> =
        lines.next().and_then(|(line, _)| serde_json::from_str(line).ok());
    let header = header.ok_or_else(|| rejected(TuneLogProblem::NotALog))?;
    if header.version != VERSION {
        let problem = TuneLogProblem::Version { found: header.version, supported: VERSION };
        return Err(rejected(problem).into());
    }
    if header != *expected {
        let differences = differences(&header.search, &expected.search);
        return Err(rejected(TuneLogProblem::OtherSearch { differences }).into());
    }
    let mut trials: Vec<Trial> = Vec::new();
    for (text, line) in lines {
        let trial = serde_json::from_str(text)
            .map_err(|error| rejected(TuneLogProblem::Damaged { line, error }))?;
        trials.push(trial);
    }
    Ok(trials)
}

/// The settings in which a logged search and the current one differ.
fn differences(
    logged: &BTreeMap<String, String>,
    current: &BTreeMap<String, String>,
) -> Vec<SettingDifference> {
    let only_logged = logged.keys().filter(|setting| !current.contains_key(*setting));
    let settings = current.keys().chain(only_logged);
    let different = settings.filter(|setting| logged.get(*setting) != current.get(*setting));
    let difference = |setting: &String| SettingDifference {
        setting: setting.clone(),
        logged: logged.get(setting).cloned(),
        current: current.get(setting).cloned(),
    };
    different.map(difference).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tune::TrialValues;

    /// The settings of a search with this seed.
    fn search(seed: &str) -> Vec<(&'static str, String)> {
        vec![("learner", "mart".to_owned()), ("seed", seed.to_owned())]
    }

    fn trial(trial: usize, limit: Option<usize>) -> Trial {
        let values = vec![Some(0.1 + 0.2), None];
        let value = Some(1.0 / 3.0);
        let result = TrialValues { trial, limit, value, ..TrialValues::default() };
        Trial { result, values, ..Trial::default() }
    }

    #[test]
    fn added_trials_are_read_back_bit_for_bit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let mut log = Log::open(&path, &search("1")).unwrap();
        log.add(trial(0, None)).unwrap();
        log.add(trial(3, Some(9))).unwrap();
        drop(log);
        let log = Log::open(&path, &search("1")).unwrap();
        assert_eq!(log.trials(), [trial(0, None), trial(3, Some(9))]);
        assert_eq!(log.find(3, Some(9)), Some(&trial(3, Some(9))));
        assert_eq!(log.find(3, None), None);
    }

    #[test]
    fn a_truncated_log_keeps_its_complete_lines() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let mut log = Log::open(&path, &search("1")).unwrap();
        let header_end = std::fs::read(&path).unwrap().len();
        log.add(trial(0, None)).unwrap();
        let first_end = std::fs::read(&path).unwrap().len();
        log.add(trial(1, None)).unwrap();
        drop(log);
        let bytes = std::fs::read(&path).unwrap();
        // Cuts every few bytes, and around the ends of lines.
        let line_ends = [first_end - 1, first_end, bytes.len()];
        for cut in (header_end..=bytes.len()).filter(|cut| cut % 29 == 0 || line_ends.contains(cut))
        {
            std::fs::write(&path, &bytes[..cut]).unwrap();
            let mut log = Log::open(&path, &search("1")).unwrap();
            let complete_trials = usize::from(cut >= first_end) + usize::from(cut == bytes.len());
            assert_eq!(log.trials().len(), complete_trials, "{cut}");
            log.add(trial(7, None)).unwrap();
            drop(log);
            let log = Log::open(&path, &search("1")).unwrap();
            assert_eq!(log.trials().len(), complete_trials + 1, "{cut}");
        }
    }

    #[test]
    fn other_files_and_other_searches_are_rejected_and_not_changed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        drop(Log::open(&path, &search("1")).unwrap());
        let error = Log::open(&path, &search("2")).unwrap_err().to_string();
        assert!(error.contains("seed was 1, now 2") && !error.contains("learner"), "{error}");
        let header = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, format!("{header}nonsense\n")).unwrap();
        let error = Log::open(&path, &search("1")).unwrap_err().to_string();
        assert!(error.contains("line 2"), "{error}");
        for text in ["my notes", "my notes\n", "{}\n"] {
            std::fs::write(&path, text).unwrap();
            let error = Log::open(&path, &search("1")).unwrap_err().to_string();
            assert!(error.contains("is not the log of a parameter search"), "{error}");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        }
        let missing = folder.path().join("no/where");
        assert!(Log::open(&missing, &search("1")).is_err());
    }

    #[test]
    fn a_log_is_open_for_one_search_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let first = Log::open(&path, &search("1")).unwrap();
        let error = Log::open(&path, &search("1")).unwrap_err().to_string();
        assert!(error.contains("another search is writing"), "{error}");
        drop(first);
        Log::open(&path, &search("1")).unwrap();
    }
}
