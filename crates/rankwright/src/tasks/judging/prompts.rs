//! Questions to judges: which of two documents is better for a query.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use rankwright_clicks::judge::{
    CandidatePair, JudgePair, PROMPT_TEMPLATES, Placeholder, PromptError, PromptOptions,
    PromptTemplate, Question, ask, choose_pairs, disagreements, near_ties, write_questions,
};
use rankwright_data::bytes::read_text_file;
use rankwright_data::store::write_atomic;
use rankwright_search::{Document, Documents, Query, Value};
use rankwright_spec::check_params;
use serde::{Deserialize, Serialize};

use crate::tasks::clicks::ranked_run::RankedRun;
use crate::tasks::context::RunningTask;
use crate::tasks::{
    Context, DocumentsSource, QueriesSource, RunSource, TaskError, TaskInputs, Warning,
};

/// The text of questions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum PromptSource {
    /// A built-in template.
    Named(String),
    /// A file with a template.
    File(PathBuf),
    /// The text of a template, such as `Which fits {query}: {a} or {b}?`.
    Text(String),
}

impl PromptSource {
    /// The name of the template if none is given.
    pub const DEFAULT_NAME: &'static str = "search";

    /// The template that a text means: the name of a built-in one, a template itself if it has a
    /// brace, otherwise a file.
    ///
    /// ```
    /// use rankwright::tasks::PromptSource;
    ///
    /// assert_eq!(PromptSource::parse("answer"), PromptSource::Named("answer".to_owned()));
    /// assert_eq!(PromptSource::parse("my.txt"), PromptSource::File("my.txt".into()));
    /// assert!(matches!(PromptSource::parse("{query}: {a} or {b}?"), PromptSource::Text(_)));
    /// ```
    pub fn parse(text: &str) -> Self {
        if PROMPT_TEMPLATES.iter().any(|(known, _)| *known == text) {
            return PromptSource::Named(text.to_owned());
        }
        match text.contains('{') {
            true => PromptSource::Text(text.to_owned()),
            false => PromptSource::File(text.into()),
        }
    }
}

/// Runs whose documents are compared, and the form of the questions.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct JudgePromptsRequest {
    /// Runs. Of several, pairs that they order differently are asked about; of one, pairs whose
    /// scores differ least.
    pub runs: Vec<RunSource>,
    /// The queries with their texts.
    pub queries: QueriesSource,
    /// The documents.
    pub documents: DocumentsSource,
    /// The text of the questions.
    #[serde(default)]
    pub template: PromptSource,
    /// Fields of a document that are shown; all texts if empty.
    #[serde(default)]
    pub fields: Vec<String>,
    /// The pairs that are chosen, and the length of what is shown of documents.
    #[serde(default)]
    pub options: PromptOptions,
    /// File for the questions; without one, the result has them.
    pub out: Option<PathBuf>,
}

impl TaskInputs for JudgePromptsRequest {
    fn inputs(&self) -> Vec<PathBuf> {
        let documents = self.documents.paths();
        let template = match &self.template {
            PromptSource::File(path) => Some(path.as_path()),
            PromptSource::Named(_) | PromptSource::Text(_) => None,
        };
        let files = self.runs.iter().filter_map(RunSource::path).chain(documents).chain(template);
        files.chain(self.queries.path()).map(Path::to_owned).collect()
    }
}

/// The template `search`.
impl Default for PromptSource {
    fn default() -> Self {
        PromptSource::Named(Self::DEFAULT_NAME.to_owned())
    }
}

impl JudgePromptsRequest {
    /// Up to 100 pairs among the first ten documents of each query, asked about in both orders with
    /// the template `search`.
    pub fn new(
        runs: impl IntoIterator<Item = impl Into<RunSource>>,
        queries: impl Into<QueriesSource>,
        documents: impl Into<DocumentsSource>,
    ) -> Self {
        Self {
            runs: runs.into_iter().map(Into::into).collect(),
            queries: queries.into(),
            documents: documents.into(),
            template: PromptSource::default(),
            fields: Vec::new(),
            options: PromptOptions::default(),
            out: None,
        }
    }

    /// Sets the file for the questions.
    pub fn out(mut self, file: impl Into<PathBuf>) -> Self {
        self.out = Some(file.into());
        self
    }

    /// Sets the text of the questions.
    pub fn template(mut self, template: PromptSource) -> Self {
        self.template = template;
        self
    }

    /// Sets the fields that are shown.
    pub fn fields(mut self, fields: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.fields = fields.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the number of words of a field that are shown.
    pub fn max_words(mut self, words: usize) -> Self {
        self.options.max_words = words;
        self
    }

    /// Sets the number of first documents among which pairs are chosen.
    pub fn depth(mut self, depth: usize) -> Self {
        self.options.depth = depth;
        self
    }

    /// Sets the largest number of pairs.
    pub fn max_pairs(mut self, pairs: usize) -> Self {
        self.options.max_pairs = pairs;
        self
    }

    /// Sets whether each pair is asked about in both orders.
    pub fn both_orders(mut self, both: bool) -> Self {
        self.options.both_orders = both;
        self
    }

    /// Sets the seed.
    pub fn seed(mut self, seed: u64) -> Self {
        self.options.seed = seed;
        self
    }
}

/// Questions to judges, in a file or in memory.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct JudgePromptsResult {
    /// The file that was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub out: Option<PathBuf>,
    /// The questions, if no file was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows: Option<Vec<Question>>,
    /// The reason why pairs were chosen: `disagreement` of runs, or `uncertainty` of one.
    pub chosen_by: &'static str,
    /// Number of pairs that could have been chosen.
    pub candidates: usize,
    /// Number of pairs that were chosen.
    pub pairs: usize,
    /// Number of queries with a chosen pair.
    pub queries: usize,
    /// Number of questions.
    pub questions: usize,
    /// Warnings about queries and documents.
    pub warnings: Vec<Warning>,
}

/// Chooses pairs of documents and makes questions about them for a person or a language model.
pub fn judge_prompts(
    request: &JudgePromptsRequest,
    context: &Context<'_>,
) -> Result<JudgePromptsResult, TaskError> {
    check_params(&request.options, "prompts")?;
    let PromptOptions { depth, max_pairs, both_orders, seed, .. } = request.options;
    let mut task = RunningTask::new(context);
    request.check_files(request.out.as_deref())?;
    let template = request.template.load()?;
    let queries = request.queries.load(&mut task)?;
    let queries: HashMap<&str, &Query> =
        queries.iter().map(|query| (query.id.as_str(), query)).collect();
    let mut runs = Vec::new();
    for source in &request.runs {
        runs.push(RankedRun::load(source, &mut task)?);
    }
    let candidates = candidates(&runs, &queries, depth, &mut task);
    let count = candidates.iter().map(|(_, pairs)| pairs.len()).sum();
    let mut pairs = choose_pairs(candidates, max_pairs, seed);
    if pairs.is_empty() {
        let reason = match runs.len() {
            1 => "no query of the run has two documents",
            _ => "the runs order all of their first documents alike",
        };
        return Err(TaskError::NoPairs { reason });
    }
    let documents = load_documents(request, &pairs, &mut task)?;
    let has_both = |pair: &JudgePair| {
        [&pair.first, &pair.second].iter().all(|id| documents.contains_key(id.as_str()))
    };
    pairs.retain(has_both);
    if pairs.is_empty() {
        return Err(TaskError::NoPairs { reason: "the collection has none of the documents" });
    }
    let mut questions = ask(&pairs, if both_orders { 2 } else { 1 }, seed);
    let texts = PromptTexts { template, queries, documents, request };
    texts.check_fields()?;
    for question in &mut questions {
        question.prompt = texts.text(question)?;
    }
    if let Some(out) = &request.out {
        let step = format!("writing {}", out.display());
        task.step(&step, || write_atomic(out, |file| write_questions(file, &questions)))?;
    }
    let with_pair: BTreeSet<&str> = pairs.iter().map(|pair| pair.query.as_str()).collect();
    Ok(JudgePromptsResult {
        out: request.out.clone(),
        chosen_by: if runs.len() > 1 { "disagreement" } else { "uncertainty" },
        candidates: count,
        pairs: pairs.len(),
        queries: with_pair.len(),
        questions: questions.len(),
        rows: request.out.is_none().then_some(questions),
        warnings: task.into_warnings(),
    })
}

impl PromptSource {
    fn load(&self) -> Result<PromptTemplate, TaskError> {
        let template = match self {
            Self::File(path) => PromptTemplate::parse(&read_text_file(path)?),
            Self::Text(text) => PromptTemplate::parse(text),
            Self::Named(name) => PromptTemplate::named(name)
                .unwrap_or_else(|| Err(PromptError::UnknownTemplate { name: name.clone() })),
        };
        template.map_err(|source| TaskError::Prompt { query: None, source })
    }
}

/// The pairs of each query, from which some are chosen. Queries without a text are a warning.
fn candidates(
    runs: &[RankedRun],
    queries: &HashMap<&str, &Query>,
    depth: usize,
    task: &mut RunningTask<'_>,
) -> Vec<(String, Vec<CandidatePair>)> {
    let all: BTreeSet<&str> = runs.iter().flat_map(RankedRun::queries).collect();
    let without_text = all.iter().filter(|query| !queries.contains_key(*query)).count();
    if without_text > 0 {
        task.warn(Warning::QueriesWithoutText { queries: without_text });
    }
    let pairs = |query: &str| match runs {
        [run] => {
            let scored: Vec<(&String, f64)> =
                run.documents(query).iter().zip(run.scores(query).iter().copied()).collect();
            near_ties(&scored, depth)
        }
        _ => {
            let rankings: Vec<Vec<&String>> =
                runs.iter().map(|run| run.documents(query).iter().collect()).collect();
            disagreements(&rankings, depth)
        }
    };
    let known = all.into_iter().filter(|query| queries.contains_key(query));
    known.map(|query| (query.to_owned(), pairs(query))).collect()
}

/// The documents of the pairs. Those that the collection lacks are a warning.
fn load_documents(
    request: &JudgePromptsRequest,
    pairs: &[JudgePair],
    task: &mut RunningTask<'_>,
) -> Result<HashMap<String, Document>, TaskError> {
    let needed: BTreeSet<&str> =
        pairs.iter().flat_map(|pair| [pair.first.as_str(), pair.second.as_str()]).collect();
    let mut found = HashMap::new();
    match &request.documents {
        DocumentsSource::Index(source) => {
            let index = source.open(task)?;
            for id in &needed {
                if let Some(document) = index.document(id)? {
                    found.insert((*id).to_owned(), document);
                }
            }
        }
        DocumentsSource::Memory(documents) => {
            let needed = documents.iter().filter(|document| needed.contains(document.id.as_str()));
            found.extend(needed.map(|document| (document.id.clone(), document.clone())));
        }
        DocumentsSource::Files(files) => {
            let read = || {
                for document in Documents::open_all(files, None)? {
                    let document = document?;
                    if needed.contains(document.id.as_str()) {
                        found.insert(document.id.clone(), document);
                    }
                }
                Ok::<_, TaskError>(())
            };
            task.step("reading documents", read)?;
        }
    }
    match needed.len() - found.len() {
        0 => {}
        documents => task.warn(Warning::DocumentsWithoutText { documents }),
    }
    Ok(found)
}

/// Everything that the text of a question is made of.
struct PromptTexts<'a> {
    template: PromptTemplate,
    queries: HashMap<&'a str, &'a Query>,
    documents: HashMap<String, Document>,
    request: &'a JudgePromptsRequest,
}

impl PromptTexts<'_> {
    /// Rejects a field that no document has: it is a mistake in its name.
    fn check_fields(&self) -> Result<(), TaskError> {
        let shown = self.request.fields.iter().map(String::as_str);
        let of_template =
            self.template.placeholders().filter_map(|placeholder| match placeholder {
                Placeholder::First { field: Some(field) }
                | Placeholder::Second { field: Some(field) } => Some(field.as_str()),
                _ => None,
            });
        for field in shown.chain(of_template) {
            if !self.documents.values().any(|document| document.get(field).is_some()) {
                let known: BTreeMap<&str, ()> = self
                    .documents
                    .values()
                    .flat_map(|document| document.fields.iter().map(|(name, _)| (&**name, ())))
                    .collect();
                let known = known.into_keys().map(str::to_owned).collect();
                let source = PromptError::UnknownField { field: field.to_owned(), known };
                return Err(TaskError::Prompt { query: None, source });
            }
        }
        Ok(())
    }

    fn text(&self, question: &Question) -> Result<String, TaskError> {
        let document = |id: &str, field: &Option<String>| {
            let document = self.documents.get(id)?;
            Some(match field {
                // A document may lack a field that others have.
                Some(field) => document.get(field).map_or(String::new(), |value| self.value(value)),
                None => self.whole(document),
            })
        };
        let value = |placeholder: &Placeholder| match placeholder {
            Placeholder::Query { field } => {
                let query = self.queries.get(question.query.as_str())?;
                match field {
                    None => Some(query.text.clone()),
                    Some(name) => {
                        let found = query.fields.iter().find(|(field, _)| field == name);
                        found.map(|(_, value)| self.value(value))
                    }
                }
            }
            Placeholder::First { field } => document(&question.a, field),
            Placeholder::Second { field } => document(&question.b, field),
            _ => None,
        };
        self.template
            .fill(value)
            .map_err(|source| TaskError::Prompt { query: Some(question.query.clone()), source })
    }

    /// A document as lines of field and value.
    fn whole(&self, document: &Document) -> String {
        let fields: Vec<&(String, Value)> = match self.request.fields.is_empty() {
            true => {
                let is_text = |(_, value): &&(String, Value)| !matches!(value, Value::Number(_));
                document.fields.iter().filter(is_text).collect()
            }
            false => {
                let of_name =
                    |name: &String| document.fields.iter().find(|(field, _)| field == name);
                self.request.fields.iter().filter_map(of_name).collect()
            }
        };
        let line = |(name, value): &&(String, Value)| {
            let mut letters = name.chars();
            let first: String =
                letters.next().map(|c| c.to_uppercase().collect()).unwrap_or_default();
            let name = format!("{first}{}", letters.as_str()).replace('_', " ");
            format!("{name}: {}", self.value(value))
        };
        fields.iter().map(line).collect::<Vec<_>>().join("\n")
    }

    /// A value as text, of at most `max_words` words.
    fn value(&self, value: &Value) -> String {
        let text = match value {
            Value::Text(text) => text.clone(),
            Value::Number(number) => number.to_string(),
            Value::Texts(texts) => texts.join(", "),
        };
        let mut words = text.split_whitespace();
        let shown: Vec<&str> = words.by_ref().take(self.request.options.max_words).collect();
        match words.next() {
            None => shown.join(" "),
            Some(_) => format!("{} ...", shown.join(" ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tasks::{BuildIndexRequest, QueryFile, build_index};
    use std::fs;
    use std::path::Path;

    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in [
            ("old.run", "q1 Q0 a 1 3 o\nq1 Q0 b 2 2 o\nq1 Q0 c 3 1 o\nq9 Q0 a 1 1 o\n"),
            ("new.run", "q1 Q0 b 1 3 n\nq1 Q0 a 2 2 n\nq1 Q0 c 3 1 n\n"),
            (
                "docs.jsonl",
                "{\"id\": \"a\", \"title\": \"Blue Train\", \"play_count\": 7, \"text\": \"one two \
                 three four\"}\n{\"id\": \"b\", \"title\": \"Abbey Road\", \"text\": \"five\"}\n",
            ),
            (
                "queries.jsonl",
                "{\"id\": \"q1\", \"text\": \"jazz record\", \"answer\": \"Coltrane\"}\n",
            ),
        ] {
            fs::write(folder.path().join(name), text).unwrap();
        }
        folder
    }

    fn request(folder: &Path, runs: &[&str]) -> JudgePromptsRequest {
        let documents = vec![folder.join("docs.jsonl")];
        let queries = QueryFile::new(folder.join("queries.jsonl"));
        let runs: Vec<PathBuf> = runs.iter().map(|name| folder.join(name)).collect();
        JudgePromptsRequest::new(runs, queries, documents).out(folder.join("questions"))
    }

    fn questions(folder: &Path) -> Vec<Question> {
        let text = fs::read_to_string(folder.join("questions")).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    #[test]
    fn pairs_that_two_runs_order_differently_are_asked_about_in_both_orders() {
        let folder = folder();
        let request = request(folder.path(), &["old.run", "new.run"]).max_words(3);
        let result = judge_prompts(&request, &Context::default()).unwrap();
        assert_eq!((result.chosen_by, result.pairs, result.questions), ("disagreement", 1, 2));
        assert_eq!(result.warnings[0].kind(), "queries-without-text");
        let found = questions(folder.path());
        assert_eq!((&found[0].a, &found[0].b), (&found[1].b, &found[1].a));
        let of_a = "Title: Blue Train\nText: one two three ...";
        for question in &found {
            assert!(question.prompt.contains("Query:\njazz record\n"), "{}", question.prompt);
            let side = if question.a == "a" { "A" } else { "B" };
            let shown = format!("Candidate Document {side}:\n{of_a}\n");
            assert!(question.prompt.contains(&shown), "{}", question.prompt);
        }
    }

    #[test]
    fn one_run_gives_the_pairs_that_it_can_hardly_tell_apart() {
        let folder = folder();
        let request = request(folder.path(), &["old.run"]).both_orders(false);
        let result = judge_prompts(&request, &Context::default()).unwrap();
        // c is not in the collection, so only the pair of a and b is asked about.
        assert_eq!((result.chosen_by, result.candidates, result.pairs), ("uncertainty", 3, 1));
        let kinds: Vec<&str> = result.warnings.iter().map(Warning::kind).collect();
        assert_eq!(kinds, ["queries-without-text", "documents-without-text"]);
        assert_eq!(questions(folder.path()).len(), 1);
    }

    #[test]
    fn templates_have_fields_and_documents_may_come_from_an_index() {
        let folder = folder();
        let build =
            BuildIndexRequest::new([folder.path().join("docs.jsonl")], folder.path().join("index"));
        build_index(&build, &Context::default()).unwrap();
        let template = folder.path().join("own.txt");
        fs::write(&template, "{query.answer}? {a.title} or {b.title} {a.play_count}").unwrap();
        let mut request = request(folder.path(), &["old.run", "new.run"])
            .template(PromptSource::File(template.clone()));
        request.documents = DocumentsSource::Index(folder.path().join("index").into());
        judge_prompts(&request, &Context::default()).unwrap();
        let prompts: BTreeSet<String> =
            questions(folder.path()).into_iter().map(|question| question.prompt).collect();
        let expected =
            ["Coltrane? Abbey Road or Blue Train ", "Coltrane? Blue Train or Abbey Road 7"];
        assert_eq!(prompts, expected.map(str::to_owned).into());
        fs::write(&template, "{a.titel} {b}").unwrap();
        let error = judge_prompts(&request, &Context::default()).unwrap_err();
        assert!(
            error.to_string().contains("titel") && error.to_string().contains("title"),
            "{error}"
        );
        fs::write(&template, "{query.reply} {a} {b}").unwrap();
        let error = judge_prompts(&request, &Context::default()).unwrap_err();
        assert_eq!(error.to_string(), "query 'q1': there is no value for {query.reply}");
        let unknown = request.template(PromptSource::Named("songs".to_owned()));
        assert_eq!(
            judge_prompts(&unknown, &Context::default()).unwrap_err().kind(),
            "unknown-template"
        );
    }

    #[test]
    fn runs_that_agree_leave_nothing_to_ask() {
        let folder = folder();
        let request = request(folder.path(), &["old.run", "old.run"]);
        let error = judge_prompts(&request, &Context::default()).unwrap_err();
        assert!(error.to_string().contains("alike"), "{error}");
    }
}
