//! The systems of a comparison: models and score files on one data set, or runs.
//!
//! What they are evaluated on is kept, so that a report can show documents.

use std::path::{Path, PathBuf};

use rankwright::data::{Dataset, Qrels, Run};
use rankwright::eval::{
    EvalOptions, Evaluation, JudgedRun, QuerySource, ScoredDataset, SourceKind,
};
use rankwright::report::comparison::ComparisonReport;

use super::TestArgs;
use crate::eval::{read_qrels, read_run, scores_for, tell_missing};
use crate::failure::Failure;
use crate::input::{ReadArgs, name_of, one_stdin, open};
use crate::measures::MetricArgs;
use crate::models::{Sorted, score};
use crate::output::Output;
use crate::progress::timed;

/// What is compared, and how.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct SystemArgs {
    /// Feature data and models, or runs (with --qrels); all files of data are one data set
    #[arg(value_name = "DATA|MODEL|RUN", required = true)]
    inputs: Vec<PathBuf>,
    /// Judgements for the runs
    #[arg(long, value_name = "QRELS", conflicts_with_all = ["scores", "format", "absent", "columns", "pairs"])]
    qrels: Option<PathBuf>,
    /// Scores for the data, one number a line; repeat it for each system
    #[arg(long, value_name = "FILE")]
    scores: Vec<PathBuf>,
    /// Pass over features that a model does not know
    #[arg(long, conflicts_with = "qrels")]
    ignore_extra: bool,
    #[command(flatten)]
    metrics: MetricArgs,
    #[command(flatten)]
    pub(crate) tests: TestArgs,
    #[command(flatten)]
    read: ReadArgs,
}

impl SystemArgs {
    /// Every file that is read.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Path> {
        let files = self.inputs.iter().chain(&self.scores).chain(&self.qrels);
        files.chain(&self.read.pairs).map(PathBuf::as_path)
    }

    /// Reads everything and evaluates each system.
    pub(crate) fn load(&self, out: &Output) -> Result<Loaded, Failure> {
        one_stdin(self.files())?;
        match &self.qrels {
            Some(qrels) => self.of_runs(qrels, out),
            None => self.of_data(out),
        }
    }

    fn of_runs(&self, qrels: &Path, out: &Output) -> Result<Loaded, Failure> {
        let measures = self.metrics.measures(SourceKind::Run)?;
        let name = qrels.display().to_string();
        let qrels = read_qrels(qrels, out)?;
        let mut runs = Vec::new();
        let mut systems = Vec::new();
        for (path, name) in self.inputs.iter().zip(names(&self.inputs)) {
            let run = read_run(path, out)?;
            let joined = JudgedRun::new(&run, &qrels);
            tell_missing(&joined, &name, out);
            systems.push((name, self.metrics.evaluate(&joined, &measures)?));
            runs.push(run);
        }
        Ok(Loaded { systems, data: name, kept: Kept::Runs { qrels, runs } })
    }

    /// Models and score files on one data set.
    fn of_data(&self, out: &Output) -> Result<Loaded, Failure> {
        let measures = self.metrics.measures(SourceKind::Features)?;
        let Sorted { models, data } = Sorted::new(open(&self.inputs, out)?.0)?;
        self.check(models.len(), data.len())?;
        let files: Vec<String> = data.iter().map(|input| input.name.clone()).collect();
        let rule = Sorted::absent_rule(&models)?;
        let (loaded, _) = self.read.read_opened(data, rule, out)?;
        let paths = models.iter().map(|(name, _)| PathBuf::from(name)).chain(self.scores.clone());
        let names = names(&paths.collect::<Vec<_>>());
        let mut columns = Vec::new();
        for (_, model) in &models {
            columns.push(score(model, &loaded.data, self.ignore_extra, out)?.0);
        }
        for path in &self.scores {
            columns.push(scores_for(&loaded.data, path, &files)?);
        }
        let evaluate = |(name, scores): (String, &Vec<f64>)| -> Result<_, Failure> {
            let source = ScoredDataset::new(&loaded.data, scores)?;
            Ok((name, self.metrics.evaluate(&source, &measures)?))
        };
        let systems = names.into_iter().zip(&columns).map(evaluate).collect::<Result<_, _>>()?;
        let kept = Kept::Data { data: Box::new(loaded.data), columns };
        Ok(Loaded { systems, data: name_of(&files), kept })
    }

    /// There must be data, and something that ranks it.
    fn check(&self, models: usize, data: usize) -> Result<(), Failure> {
        if models == 0 && self.scores.is_empty() {
            return Err(Failure::usage(
                "none of the files is a model; give models beside the data, score files with \
                 --scores, or judgements with --qrels if the files are runs",
            ));
        }
        if data == 0 {
            return Err(Failure::usage(
                "all of the files are models; give feature data to compare them on",
            ));
        }
        match models == 0 && self.ignore_extra {
            true => Err(Failure::usage("--ignore-extra is for models, and there are none")),
            false => Ok(()),
        }
    }

    fn eval_options(&self) -> EvalOptions {
        EvalOptions { depth: self.metrics.depth.map(|n| n as usize) }
    }
}

/// Systems with their evaluations, and what these were made on.
pub(crate) struct Loaded {
    pub(crate) systems: Vec<(String, Evaluation)>,
    /// What the data is called.
    data: String,
    kept: Kept,
}

enum Kept {
    Runs { qrels: Qrels, runs: Vec<Run> },
    Data { data: Box<Dataset>, columns: Vec<Vec<f64>> },
}

impl Kept {
    /// The queries of each system.
    fn sources(&self) -> Result<Vec<Box<dyn QuerySource + '_>>, Failure> {
        let mut sources: Vec<Box<dyn QuerySource + '_>> = Vec::new();
        match self {
            Kept::Runs { qrels, runs } => {
                for run in runs {
                    sources.push(Box::new(JudgedRun::new(run, qrels)));
                }
            }
            Kept::Data { data, columns } => {
                for scores in columns {
                    sources.push(Box::new(ScoredDataset::new(data, scores)?));
                }
            }
        }
        Ok(sources)
    }
}

impl Loaded {
    /// Compares the systems, by their evaluations alone.
    pub(crate) fn compare(
        self,
        args: &SystemArgs,
        out: &Output,
    ) -> Result<(ComparisonReport, Unopened), Failure> {
        let Loaded { systems, data, kept } = self;
        let title = format!("Comparison on {}", short_name(&data));
        let options = args.tests.options();
        let (report, _) =
            timed(out, "testing differences", || ComparisonReport::new(&title, systems, &options));
        // Of the usual metrics this one tells queries apart best; else the first asked for counts.
        let report = match args.metrics.metrics.is_empty() {
            true => report?.with_main("ndcg@10")?,
            false => report?,
        };
        Ok((report, Unopened { data, kept }))
    }
}

/// What a report can still look into.
pub(crate) struct Unopened {
    data: String,
    kept: Kept,
}

impl Unopened {
    /// Adds what only the documents show: cut-offs, sizes and the changes within these queries.
    pub(crate) fn add_query_details(
        &self,
        report: ComparisonReport,
        args: &SystemArgs,
        queries: &[String],
        out: &Output,
    ) -> Result<ComparisonReport, Failure> {
        let sources = self.kept.sources()?;
        let sources: Vec<&dyn QuerySource> = sources.iter().map(|source| &**source).collect();
        let what = match self.kept {
            Kept::Runs { .. } => "Judgements",
            Kept::Data { .. } => "Data",
        };
        let facts = vec![(what.to_owned(), self.data.clone())];
        let options = args.eval_options();
        let (report, _) = timed(out, "evaluating at every cut-off", || {
            report.with_facts(facts).with_sources(&sources, queries, options)
        });
        Ok(report?)
    }
}

/// The end of a path, for a title; what is no path stays as it is.
pub(crate) fn short_name(name: &str) -> &str {
    name.rsplit(['/', '\\']).next().filter(|end| !end.is_empty()).unwrap_or(name)
}

/// File names without folders where that tells them apart, else the whole paths.
pub(crate) fn names(paths: &[PathBuf]) -> Vec<String> {
    let short = |path: &Path| path.file_name().map(|n| n.to_string_lossy().into_owned());
    let shorts: Vec<Option<String>> = paths.iter().map(|path| short(path)).collect();
    let unique = |name: &Option<String>| shorts.iter().filter(|other| *other == name).count() == 1;
    paths
        .iter()
        .zip(&shorts)
        .map(|(path, name)| match name {
            Some(text) if unique(name) => text.clone(),
            _ => path.display().to_string(),
        })
        .collect()
}
