//! Advice on the command to type after an error.
//!
//! Library errors describe the wrong value and do not name flags or commands. This is the only
//! place where an error becomes a line that names flags and commands of `rankwright`. There is one
//! function for each crate's error; it matches variants, never message texts. An error without an
//! entry falls back to the help of the library.

use std::path::PathBuf;

use rankwright::clicks::ClicksError;
use rankwright::clicks::bias::BiasRefusal;
use rankwright::clicks::interleave::InterleavingError;
use rankwright::clicks::judge::PromptError;
use rankwright::data::format::{Role, Roles};
use rankwright::data::{DataError, Remedy, WarningKind};
use rankwright::eval::EvalError;
use rankwright::experiment::ExperimentError;
use rankwright::learn::LearnError;
use rankwright::learn::tune::TuneError;
use rankwright::model::ModelError;
use rankwright::report::ReportError;
use rankwright::search::{SearchError, SearchWarning};
use rankwright::spec::SpecError;
use rankwright::tasks::{SavedTraining, TaskError, TrainOption, Warning};

use crate::failure::Failure;

/// One line of advice on what to type, where there is any.
pub(crate) fn advice(failure: &Failure) -> Option<String> {
    match failure {
        Failure::Task(error) => task(error),
        Failure::NotALog { .. } => {
            Some("give --log-file a new file, or one that it has written".into())
        }
        Failure::Stopped | Failure::Request(_) | Failure::Usage(_) | Failure::Output(_) => None,
    }
}

/// Adds to the error of a broken document, if it has no other advice, that it can be skipped.
pub(crate) fn offer_skipping(failure: Failure) -> Failure {
    let Failure::Task(TaskError::Search(SearchError::Data(error))) = failure else {
        return failure;
    };
    let error = match *error {
        error @ DataError::Malformed { remedy: None, .. } => {
            error.with_help("mend the document, or leave broken ones out with --skip-broken")
        }
        other => other,
    };
    Failure::Task(TaskError::Search(error.into()))
}

/// Advice on what to type after a warning, where there is any.
pub(crate) fn advice_on_warning(warning: &Warning) -> Option<String> {
    let warning = match warning {
        Warning::Search(warning) => warning,
        Warning::Data(warning) if warning.kind == WarningKind::PossibleLabels => {
            let roles = Roles::parse(warning.examples.first()?).ok()?;
            return Some(format!("for instance: {}", columns_flag(&roles)));
        }
        Warning::OtherParts { files } => return Some(format!("for instance: rm {}", words(files))),
        _ => return None,
    };
    Some(match warning {
        SearchWarning::MissingQueryFields { fields } => {
            let flags: Vec<String> =
                fields.iter().map(|field| format!("--query-field {field}=VALUE")).collect();
            format!("give {}", flags.join(" "))
        }
        SearchWarning::QueriesWithoutFields { .. } => {
            "add them to the file of queries, as keys or columns".to_owned()
        }
        SearchWarning::RelevantLeftOut { .. } => {
            "add them with --judged, or give more --candidates".to_owned()
        }
        SearchWarning::PlainOperators { .. } => "give --query-syntax simple".to_owned(),
        SearchWarning::BooleanWord { simple: Some(simple), .. } => {
            format!("perhaps --query-syntax simple {}", shell_word(simple))
        }
        SearchWarning::Codes { field, .. } => format!("for a number: --schema '{field}:number'"),
        SearchWarning::NearlyOfKind { field, kind, .. } => {
            let kind = kind.name();
            format!("for a {kind}: --schema '{field}:{kind}'")
        }
        SearchWarning::NotIndexed { field, is_late: true, .. } => {
            format!("for instance --schema '{field}:category'")
        }
        SearchWarning::NotIndexed { is_late: false, .. } => {
            "give all documents and --rebuild".to_owned()
        }
        _ => return None,
    })
}

fn task(error: &TaskError) -> Option<String> {
    match error {
        TaskError::Data(error) => data(error),
        TaskError::Eval(error) => eval(error),
        TaskError::Spec(error) => spec(error),
        TaskError::Model(error) => model(error),
        TaskError::Learn(error) => learn(error),
        TaskError::Report(error) => report(error),
        TaskError::Experiment(error) => experiment(error),
        TaskError::NoModel { .. } => Some(
            "give a model before the data, or the scores of the data with --scores FILE".into(),
        ),
        TaskError::ScoresAmongData { .. } => Some("give files of scores with --scores FILE".into()),
        TaskError::NoData => Some("give feature data besides the models".into()),
        TaskError::NoSystems => Some(
            "give models besides the data, score files with --scores, or judgements with --qrels \
             where the files are runs"
                .into(),
        ),
        TaskError::NoModelToMatch => {
            Some("leave out --ignore-extra and --match-by, which apply to models".into())
        }
        TaskError::UnknownExtension { .. } => {
            Some("use a known extension, or give the format with --to FORMAT".into())
        }
        TaskError::FeaturesHaveNames => Some("leave out --first-feature".into()),
        TaskError::SeveralModels { .. } => Some("`rankwright compare` takes several models".into()),
        TaskError::AbsentContradictsModel { requested, .. } => {
            Some(format!("leave out --absent {}, which contradicts the model", requested.name()))
        }
        TaskError::AbsentRecorded { .. } => Some("leave out --absent".into()),
        TaskError::AbsentRulesDiffer { .. } => Some(
            "score the data with each model (`rankwright score`) and compare the score files with \
             --scores"
                .into(),
        ),
        TaskError::NoTrainingData { .. } => Some("give feature data with labels".into()),
        TaskError::NothingToMatch => {
            Some("give --valid or --start, or leave out --ignore-extra and --match-by".into())
        }
        TaskError::NamesAndNumbers { .. } => Some(NAMES_AND_NUMBERS.into()),
        TaskError::NothingTrained { option, .. } => Some(format!("leave out {}", flag(*option))),
        TaskError::OptionNeedsData { option } => Some(format!(
            "give DATA too, or leave out {} (`rankwright eval` can evaluate the model later)",
            flag(*option)
        )),
        TaskError::NoCheckpoints { .. } => Some("leave out --checkpoint".into()),
        TaskError::Interleaving {
            source: InterleavingError::RankingCount { found: 3.., .. },
            ..
        } => Some("give --method multileave, which takes any number of runs".into()),
        TaskError::Interleaving { source: InterleavingError::ManyRanks { max, .. }, .. } => {
            Some(format!("give -k {max}, or another --method"))
        }
        TaskError::SessionsOfLists { .. } => {
            Some("leave out --sessions, and make several lists with `interleave --repeat N`".into())
        }
        TaskError::NoAnswers { .. } => Some(
            "give the questions with --prompts, or answers with query and documents of their own"
                .into(),
        ),
        TaskError::Prompt { source: PromptError::NoValue { .. }, .. } => Some(
            "add it to the file of queries as a key or column, or give another --template".into(),
        ),
        TaskError::CheckpointIsNoFolder { .. } => {
            Some("move it, or give a folder with --checkpoint".into())
        }
        TaskError::UnknownFeatures { .. } => Some(
            "check that both have the same features, or ignore extra ones with --ignore-extra"
                .into(),
        ),
        TaskError::OptionUnused { option, .. } => {
            Some(format!("leave out --{}", unused_flag(option)))
        }
        TaskError::ValidPartUnused => {
            Some("leave stop=none out of the spec, or leave out --valid-part".into())
        }
        TaskError::NoValidationForBest => {
            Some("give --valid, or leave out --out and train the best learner later".into())
        }
        TaskError::SameFile { .. } => Some("give a file of its own to each result".into()),
        TaskError::PartExists { .. } => {
            Some("replace them with --force, or give another folder with --out".into())
        }
        TaskError::TrainingStopped { unit, saved, .. } => stopped(unit, saved),
        TaskError::SearchStopped { log: Some(log), .. } => Some(format!(
            "finished trainings are in {}; run the command again to resume",
            log.display()
        )),
        TaskError::SearchStopped { log: None, .. } => {
            Some("nothing was kept; with --log FILE the command can be run again to resume".into())
        }
        TaskError::RunOfPredictions { .. } => {
            Some("give another format with --to, or leave out --as".into())
        }
        TaskError::TagNotOneWord { .. } => Some("give one word with --tag".into()),
        TaskError::NoFeatureSet { .. } => {
            Some("give data that `rankwright features` wrote, or specs of features".into())
        }
        TaskError::Search(error) => search(error),
        TaskError::Clicks(error) | TaskError::ModelValue { error, .. } => {
            clicks(error).map(str::to_owned)
        }
        TaskError::UnknownFeature { .. } => {
            Some("`rankwright data inspect DATA` lists the features".into())
        }
        other => other.help(),
    }
}

/// The flag of an option of a request that has no effect.
fn unused_flag(option: &str) -> &str {
    match option {
        "examination" => "bias and --bias-estimator",
        "bias" => "min-shown and --random-ranker",
        "facet_values" => "facet-values",
        same => same,
    }
}

/// Advice on an estimate from a click log.
fn clicks(error: &ClicksError) -> Option<&'static str> {
    Some(match error {
        ClicksError::NoOverlap { .. } => {
            "use --estimator dr or dm, which predict the rest by features, or accept less with \
             --min-overlap"
        }
        ClicksError::NoExamination { .. } => "give --bias FILE with the examination of every rank",
        ClicksError::NoBias { reason: BiasRefusal::RanksNotLinked, .. } => {
            "estimate by features (regression-em, with --features), log some pages in random order, or \
             give the examination with --bias"
        }
        ClicksError::NoBias { reason: BiasRefusal::NoFeatures, .. } => "give --features DATA",
        ClicksError::NoBias { reason: BiasRefusal::NoRandomPages, .. } => {
            "name the ranker of random pages with --random-ranker"
        }
        ClicksError::NoPropensities { .. } => "leave out --propensity page",
        ClicksError::NoKnownDocuments => {
            "check that the log and --features have the same ids of queries and documents"
        }
        _ => return None,
    })
}

/// Advice on resuming an interrupted training.
fn stopped(unit: &str, saved: &SavedTraining) -> Option<String> {
    match saved {
        SavedTraining::Checkpoint { .. } => Some("run the same command again to resume".into()),
        SavedTraining::Partial { file, .. } if unit == "tree" => {
            Some(format!("train with --start {} to add trees to it", file.display()))
        }
        SavedTraining::Nothing { .. } => {
            Some("give a folder for checkpoints with --checkpoint DIR".into())
        }
        _ => None,
    }
}

/// The flag of an option of a training.
fn flag(option: TrainOption) -> &'static str {
    match option {
        TrainOption::Start => "--start",
        TrainOption::Teacher => "--teacher",
        TrainOption::Seed => "--seed",
        TrainOption::Checkpoint => "--checkpoint",
        TrainOption::Validation => "--valid",
        TrainOption::Metrics => "--metric",
        TrainOption::EvalTrain => "--eval-train",
        TrainOption::Format => "--format",
        TrainOption::Absent => "--absent",
        TrainOption::Roles => "--columns",
        TrainOption::Pairs => "--pairs",
        _ => "the option",
    }
}

fn data(error: &DataError) -> Option<String> {
    match error {
        DataError::Spec(error) => spec(error),
        other => other.remedy().as_ref().map(remedy_text),
    }
}

/// A remedy of the library as flags and commands to type.
fn remedy_text(remedy: &Remedy) -> String {
    match remedy {
        Remedy::IgnoreColumn { roles, .. } => {
            format!("leave out a column that is not a feature: {}", columns_flag(roles))
        }
        Remedy::FewerColumns => {
            "leave out columns with `--columns ignore=NAME`, or read fewer rows".into()
        }
        Remedy::ChooseColumn { role, one, other } => {
            let mut roles = Roles::default();
            // Both are different columns, so neither can have a role already.
            let given = roles.set(*role, one).and_then(|()| roles.set(Role::Ignore, other));
            match given {
                Ok(()) => format!("choose one, or the other way round: {}", columns_flag(&roles)),
                Err(error) => error.to_string(),
            }
        }
        Remedy::NameColumn { role, optional: false } => {
            format!("name the column: `--columns {role}=NAME`")
        }
        Remedy::NameColumn { role, optional: true } => format!(
            "name the column: `--columns {role}=NAME`, or `--columns {role}=none` for data \
             without {role}s"
        ),
        Remedy::GiveRoles { roles, optional, needs_rewriting } => {
            let rewrite = match needs_rewriting {
                true => "write these values differently; or ",
                false => "",
            };
            let none: String = optional.iter().map(without_role).collect();
            let lines: Vec<String> = roles.iter().map(columns_flag).collect();
            match lines.as_slice() {
                [line] => format!("{rewrite}give the roles of the columns{none}: {line}"),
                lines => format!(
                    "{rewrite}give the roles of the columns, by the right one of these lines{none}:\
                     \n  {}",
                    lines.join("\n  ")
                ),
            }
        }
        Remedy::MendValue { column } => format!(
            "'{column}' is a feature of the model: write the value as expected, or leave the cell \
             empty, which is a missing value"
        ),
        Remedy::CheckRoles { nearest: None } => "check the names given to `--columns`".into(),
        Remedy::NoRoles => "leave out --columns".into(),
        Remedy::EvaluateScores => {
            "give files of scores with --scores FILE besides the data, to `eval` or `compare`"
                .into()
        }
        Remedy::EvaluateRun { formats } => format!(
            "evaluate it with `rankwright eval --run RUN --qrels QRELS`; feature data is one of \
             {formats}"
        ),
        Remedy::IsQrels => "this looks like judgements; is it the --qrels file?".into(),
        Remedy::IsRun => "this looks like a run; is it the --run file?".into(),
        Remedy::OneCache => {
            "convert the sources together into one cache with `rankwright data convert`".into()
        }
        Remedy::WriteCache => "write one with `rankwright data convert DATA OUT.rwd`".into(),
        Remedy::Rewrite => {
            "write the file again from its source with `rankwright data convert`".into()
        }
        Remedy::AllowMemory => {
            "if you trust the file and it really is this large, allow it with --max-memory SIZE, \
             such as --max-memory 8G"
                .into()
        }
        Remedy::NamePairColumn => {
            "add a first line `qid better worse weight` (or `probability`), or give --pair-column \
             weight or --pair-column probability"
                .into()
        }
        other => other.to_string(),
    }
}

/// Paths as words for a shell.
fn words(paths: &[PathBuf]) -> String {
    let words: Vec<String> =
        paths.iter().map(|path| shell_word(&path.display().to_string())).collect();
    words.join(" ")
}

/// What to type if no column has a role.
fn without_role(role: &Role) -> String {
    match role {
        Role::Query => " (`qid=none` if all rows are one list)".to_owned(),
        role => format!(" (`{0}=none` if there is no {0})", role.name()),
    }
}

/// The flag that gives roles, ready to be pasted into a shell.
fn columns_flag(roles: &Roles) -> String {
    format!("--columns {}", shell_word(&roles.to_string()))
}

/// A text with the quotes that make it one word for a shell.
fn shell_word(text: &str) -> String {
    let needs_no_quotes = |c: char| c.is_ascii_alphanumeric() || "_-=+,.:/".contains(c);
    match text.chars().all(needs_no_quotes) && !text.is_empty() {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', "'\\''")),
    }
}

/// Advice if the features of one side have names and those of the other side numbers.
const NAMES_AND_NUMBERS: &str = "name the features of both alike; or give --match-by position, if both have the same \
     features in the same order";

fn model(error: &ModelError) -> Option<String> {
    match error {
        ModelError::Data(error) => data(error),
        ModelError::InFile { error, .. } => model(error),
        ModelError::NotAModel { .. } => Some(
            "give a file that `rankwright train` wrote with --out, or a model of another system; \
             `rankwright list formats` shows which are read"
                .into(),
        ),
        ModelError::NamesAndNumbers { .. } => Some(NAMES_AND_NUMBERS.into()),
        ModelError::UnknownNumbers { .. } => Some(
            "give --match-by position, if both have the same features in the same order; or \
             --ignore-extra, if equal numbers are the same feature"
                .into(),
        ),
        ModelError::CountedFromZero { .. } => Some(
            "if feature 0 of the model is feature 1 of the data, write the model with `rankwright model \
             convert MODEL --first-feature 1 --out OUT`, or give --match-by position; if equal numbers \
             are the same feature, write it with --first-feature 0"
                .into(),
        ),
        ModelError::UnknownFeatures { .. } => Some(
            "check that this is the right data, or ignore extra features with --ignore-extra"
                .into(),
        ),
        ModelError::NoPrediction { .. } => {
            Some("train one of these with `rankwright train --learner`, or leave out --as".into())
        }
        ModelError::OtherRelevance { model, .. } => {
            Some(format!("give --rel {model}, or leave it out"))
        }
        ModelError::Absent { model, .. } => {
            Some(format!("read the data again from its source with --absent {model}"))
        }
        other => other.help(),
    }
}

fn learn(error: &LearnError) -> Option<String> {
    match error {
        LearnError::Data(error) => data(error),
        LearnError::Model(error) => model(error),
        LearnError::Eval(error) => eval(error),
        LearnError::Spec(error) => spec(error),
        LearnError::InQuery { error, .. } => learn(error),
        LearnError::Tune(error) => tuning(error),
        other => training(other).map(str::to_owned).or_else(|| other.help()),
    }
}

/// Advice on a rejected training.
fn training(error: &LearnError) -> Option<&'static str> {
    Some(match error {
        LearnError::MissingValidation { .. } => "give --valid DATA, or leave stop= out of the spec",
        LearnError::MissingFoldValidation { .. } => {
            "give --valid-part 0.2, or leave stop= out of the spec"
        }
        LearnError::HoldOut { .. } => "give --valid DATA, or set aside another part of the queries",
        LearnError::NoMetricValue { .. } => {
            "give data with relevant documents, or another --metric"
        }
        LearnError::PairsUnsupported { .. } => {
            "choose one of these with --learner, or train without pairs: leave --pairs out, or give data \
             that holds no pairs"
        }
        LearnError::NothingToRank => "give data with graded labels, or --pairs FILE",
        LearnError::NothingRelevant { .. } | LearnError::OneClass { .. } => {
            "give data with relevant and other documents, or set the lowest relevant label with \
             rel= in the spec"
        }
        LearnError::StartModelUnsupported { .. } => "leave --start out, or boost trees",
        LearnError::TeacherUnsupported { .. } => {
            "leave --teacher out, or choose one of these with --learner"
        }
        LearnError::CheckpointInUse { .. } => {
            "wait until it ends, or give another folder with --checkpoint"
        }
        LearnError::PositionsMissing { .. } => {
            "give data with a column `position`, or name one with --columns"
        }
        LearnError::ExaminationMissing { .. } => {
            "give --bias FILE, which `clicks bias LOG --json` writes, or set examination= in the spec; \
             bias=gam needs neither"
        }
        LearnError::ExaminationUnknown { .. } => {
            "give a --bias file with every position that has a click"
        }
        LearnError::LabelColumnMissing { .. } => {
            "name the column with --columns extra_label=NAME, or call it label:NAME in the file"
        }
        LearnError::LabelsOfPairs => "leave --pairs out, or the parameter labels",
        LearnError::BiasOfPairs { .. } => "leave --pairs out, or use bias=gam",
        LearnError::BiasFile { .. } => {
            "expected lines of position and examination, or the output of `clicks bias --json`"
        }
        LearnError::LabelsMissing => "choose one of these with --learner, or give data with labels",
        LearnError::Checkpoint { .. } | LearnError::CheckpointState(_) => {
            "give another --checkpoint folder, or delete this one to start from the beginning"
        }
        _ => return None,
    })
}

/// Advice on a rejected parameter search.
fn tuning(error: &TuneError) -> Option<String> {
    let text = match error {
        TuneError::NoDefaultSpace { .. } => "name the parameters to search with --space",
        TuneError::NothingToSearch { .. } => {
            "name the parameters to search with --space, or fix fewer parameters in the spec"
        }
        TuneError::NoRounds { .. } => "search with --method random",
        TuneError::ResourceInSpace { .. } => {
            "search with --method random, or leave the parameter out of --space"
        }
        TuneError::BadTrial { .. } => "leave values that conflict out of --space",
        TuneError::LogInUse { .. } => "wait until that search ends, or give another --log",
        TuneError::TuneLog { .. } => {
            "give another --log, or delete this one to start from the beginning"
        }
        other => return other.help(),
    };
    Some(text.to_owned())
}

fn search(error: &SearchError) -> Option<String> {
    match error {
        SearchError::Data(error) => data(error),
        SearchError::Model(error) => model(error),
        SearchError::Eval(error) => eval(error),
        SearchError::Spec(error) => spec(error),
        SearchError::Damaged { .. } => Some(
            "build it again from the documents: rankwright index DOCS --out INDEX --rebuild".into(),
        ),
        SearchError::IndexVersion { .. } => Some(
            "build it again from the documents: rankwright index DOCS --out INDEX --rebuild".into(),
        ),
        SearchError::NoRowsPass { .. } => {
            error.help().or_else(|| Some("try another --filter".into()))
        }
        SearchError::TableModel { .. } => Some(
            "compute features with `rankwright features INDEX` and train a model on them; `rankwright \
             score` takes this model and tables"
                .into(),
        ),
        SearchError::NoIndex { .. } => Some("build one: rankwright index DOCS --out INDEX".into()),
        SearchError::IndexExists { .. } => {
            Some("--add adds documents to it, --rebuild replaces it".into())
        }
        SearchError::AbsentField { .. } => {
            let help = error.help().unwrap_or_default();
            Some(format!("check --schema: {help}"))
        }
        SearchError::NoDocuments => {
            Some("give a file with documents; `rankwright index --help` shows the formats".into())
        }
        SearchError::NoTextField => Some("name a text field, such as --schema body:text".into()),
        SearchError::OtherBuild { .. } => {
            Some("leave out --analysis and --schema, or build a new index with --rebuild".into())
        }
        SearchError::Folds { documents, .. } => {
            Some(format!("give more documents, or at most --folds {documents}"))
        }
        SearchError::NoRows => Some("try some of the queries with `rankwright search`".into()),
        SearchError::NoJudgedQueries { .. } => Some(
            "check that queries and judgements have the same ids; --number-by-position numbers \
             queries by their position"
                .into(),
        ),
        other => other.help(),
    }
}

/// The text of an argument, and below it a line that points at the place of an error.
pub(crate) fn pointer(failure: &Failure) -> Option<String> {
    match failure {
        Failure::Task(TaskError::Search(SearchError::Filter(error))) => Some(error.pointer()),
        _ => None,
    }
}

fn report(error: &ReportError) -> Option<String> {
    match error {
        ReportError::Data(error) => data(error),
        ReportError::Model(error) => model(error),
        ReportError::Learn(error) => learn(error),
        ReportError::Eval(error) => eval(error),
        ReportError::Spec(error) => spec(error),
        ReportError::DocumentsWithoutQuery => Some("give the query with --query".into()),
        other => other.help(),
    }
}

fn experiment(error: &ExperimentError) -> Option<String> {
    match error {
        ExperimentError::Data(error) => data(error),
        ExperimentError::SharedData(error) => data(error),
        ExperimentError::Model(error) => model(error),
        ExperimentError::Learn(error) => learn(error),
        ExperimentError::Eval(error) => eval(error),
        ExperimentError::Spec(error) => spec(error),
        ExperimentError::Report(error) => report(error),
        ExperimentError::FolderInUse { .. } => {
            Some("wait until it ends, or give another folder with --out".into())
        }
        ExperimentError::NoRate { .. } => {
            Some("use boosted trees, such as --learner lambdamart".into())
        }
        ExperimentError::BadRate { .. } | ExperimentError::RateTwice { .. } => {
            Some("give different numbers above 0, such as --rates 1.0,0.5,0.1".into())
        }
        ExperimentError::Goals { .. } => Some(
            "give goals such as --first ndcg@10 --second p@5, or --second 'ndcg@10 on clicks'"
                .into(),
        ),
        ExperimentError::BadGoalWeight { .. } | ExperimentError::NoWeights => {
            Some("give numbers from 0 to 1, such as --weights 0,0.5,1".into())
        }
        ExperimentError::KeptLabels { .. } => {
            Some("leave --keep out, or make the goal on the data's own labels --first".into())
        }
        ExperimentError::NoRounds { .. } => {
            Some("use boosted trees, such as --learner lambdamart".into())
        }
        other => other.help(),
    }
}

/// Advice on metrics.
fn eval(error: &EvalError) -> Option<String> {
    error.help()
}

/// Advice on specs.
fn spec(error: &SpecError) -> Option<String> {
    error.help()
}

#[cfg(test)]
mod tests {
    use rankwright::data::FileDamage;
    use rankwright::eval::compare::CompareError;

    use super::*;

    #[test]
    fn a_note_on_columns_that_could_be_the_label_has_a_line_to_paste() {
        let first = rankwright::data::SourceLocation::file("t.csv");
        let mut note = rankwright::data::DataWarning::new(WarningKind::PossibleLabels, 1, first);
        note.examples.push("label=stars,ignore=clicked".to_owned());
        let line = "for instance: --columns label=stars,ignore=clicked";
        assert_eq!(advice_on_warning(&Warning::Data(note)).unwrap(), line);
    }

    #[test]
    fn advice_reaches_through_wrapped_errors() {
        let unknown = || ModelError::UnknownFeatures { count: 1, names: "f9".into() };
        let wrapped = [
            Failure::from(unknown()),
            Failure::from(unknown().in_file("m.model")),
            Failure::from(LearnError::from(unknown())),
            Failure::from(SearchError::from(unknown())),
            Failure::from(ReportError::from(LearnError::from(unknown()))),
        ];
        for failure in wrapped {
            let line = advice(&failure).unwrap();
            assert!(line.contains("--ignore-extra"), "{line}");
        }
    }

    #[test]
    fn the_help_of_a_comparison_reaches_through_every_error_around_it() {
        let compare = || CompareError::DifferentQueries {
            query: "q1".into(),
            has: "a".into(),
            lacks: "b".into(),
        };
        let help = compare().help();
        assert!(help.is_some());
        let report = || ReportError::from(compare());
        let experiment = || ExperimentError::from(compare());
        for failure in [
            Failure::from(compare()),
            Failure::from(report()),
            Failure::from(experiment()),
            Failure::from(ExperimentError::from(report())),
        ] {
            assert_eq!(advice(&failure), help, "{failure:?}");
        }
    }

    #[test]
    fn every_option_of_a_training_has_its_flag() {
        for option in TrainOption::ALL {
            assert!(flag(option).starts_with("--"), "{option}");
        }
    }

    #[test]
    fn a_library_error_without_an_entry_keeps_its_own_help() {
        let damaged =
            || DataError::Damaged { file: "a.rwd".into(), damage: FileDamage::HeaderChecksum };
        assert_eq!(advice(&Failure::from(damaged())), damaged().help());
    }
}
