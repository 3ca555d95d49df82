//! Help texts, defaults, ranges and names of flags that are parameters of the library, from their
//! declarations.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use rankwright::spec::{NamedChoice, ParamDef, ParamGroup, ParamValue, RangeDef, ValueError};

/// The declaration of a parameter.
fn declaration<G: ParamGroup + Default>(name: &str) -> ParamDef {
    let def = G::default().defs().into_iter().find(|def| def.name == name);
    def.expect("a flag has the name of a declared parameter")
}

/// The help of a parameter, as the command writes help: without a full stop at the end.
pub(crate) fn help<G: ParamGroup + Default>(name: &str) -> String {
    declaration::<G>(name).help.trim_end_matches('.').to_owned()
}

/// A parser of the values of a parameter, within the range of its declaration. A parameter that may
/// be `none` is a flag that may be left out, so its type here is that of its other values.
pub(crate) fn value<G, T>(name: &str) -> impl Fn(&str) -> Result<T, String> + Clone + use<G, T>
where
    G: ParamGroup + Default,
    T: ParamValue,
{
    let range = declaration::<G>(name).range;
    move |text| {
        let value = T::read(text, &range).map_err(message)?;
        match value.in_range(&range) {
            true => value.check().map(|()| value).map_err(message),
            false => Err(message(ValueError::Expected(T::kind().expected(&range)))),
        }
    }
}

/// The choice of this name.
pub(crate) fn choice<T: ParamValue>(name: &str) -> Result<T, String> {
    T::read(name, &RangeDef::default()).map_err(message)
}

fn message(error: ValueError) -> String {
    match error {
        ValueError::Expected(expected) => format!("expected {expected}"),
        ValueError::Spec(error) => error.to_string(),
    }
}

/// A parser of the names of a declared choice, which the help lists with their meanings.
pub(crate) fn choices<T: NamedChoice>() -> impl TypedValueParser<Value = T> {
    let values = T::choices()
        .into_iter()
        .map(|choice| PossibleValue::new(choice.name).help(choice.help.trim_end_matches('.')));
    PossibleValuesParser::new(values).try_map(|name| choice::<T>(&name))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::{Arg, Command, CommandFactory};
    use rankwright::clicks::bias::BiasOptions;
    use rankwright::clicks::interleave::{InterleaveOptions, InterleavingOptions};
    use rankwright::clicks::judge::{BradleyTerryOptions, PromptOptions};
    use rankwright::clicks::labels::ClickLabelOptions;
    use rankwright::clicks::log::BotLimits;
    use rankwright::clicks::off_policy::OffPolicyOptions;
    use rankwright::clicks::{CountOptions, CountedUnit, PairOptions};
    use rankwright::data::generate::{HomepagesOptions, LetorOptions, StoreOptions};
    use rankwright::data::split::SplitOptions;
    use rankwright::eval::DEFAULT_METRIC;
    use rankwright::eval::compare::CompareOptions;
    use rankwright::experiment::PlanOptions;
    use rankwright::learn::permutation::PermutationParams;
    use rankwright::learn::tune::{TuneMethod, TuneParams};
    use rankwright::learn::{Checkpoints, DEFAULT_LEARNER, FoldParams};
    use rankwright::model::{DependenceOptions, ExplainParams, MatchBy};
    use rankwright::report::data::DataOptions;
    use rankwright::report::training::TrainingReportParams;
    use rankwright::tasks::{
        ClickPairsRequest, DemoParams, EvaluateClicksRequest, ExtractFeaturesRequest,
        InterleaveRunsRequest, JudgeAggregateRequest, JudgePromptsRequest, LabelClicksRequest,
        ReportShrinkageRequest, ReportTradeOffRequest, RunQueriesRequest, ScoreInterleavingRequest,
        ScoreRequest, SearchIndexRequest, SimulateClicksRequest, SimulateOptions,
        SimulateRunOptions, ValidateClassifierRequest,
    };
    use serde::Serialize;
    use serde::de::DeserializeOwned;
    use serde_json::Value;

    use super::*;

    /// Flags by command and name, whose defaults were compared with those of the library.
    type Compared = BTreeSet<(String, String)>;

    /// A flag of a command.
    fn flag(path: &[&str], name: &str) -> Arg {
        let root = crate::Cli::command();
        let find = |command: &Command, name: &&str| command.find_subcommand(name).unwrap().clone();
        let command = path.iter().fold(root, |command, name| find(&command, name));
        let arg = command.get_arguments().find(|arg| arg.get_long() == Some(name));
        arg.unwrap_or_else(|| panic!("{path:?} has no --{name}")).clone()
    }

    /// The default of a flag, the values of a list separated by commas.
    fn default_of(arg: &Arg) -> String {
        let values = arg.get_default_values().iter();
        values.map(|text| text.to_string_lossy().into_owned()).collect::<Vec<_>>().join(",")
    }

    /// Compares help and defaults of flags with those of the parameters of the same names.
    fn check<G: ParamGroup + Default>(compared: &mut Compared, path: &[&str], names: &[&str]) {
        for name in names {
            let arg = flag(path, &name.replace('_', "-"));
            assert_eq!(arg.get_help().unwrap().to_string(), help::<G>(name), "{path:?} --{name}");
            let (default, declared) = (default_of(&arg), G::default().text(name).unwrap());
            let is_default = default == declared || default.replace(',', "/") == declared;
            assert!(is_default || declared == "none", "{path:?} --{name}: {default} {declared}");
            compared.insert((path.join(" "), name.replace('_', "-")));
        }
    }

    /// Compares the default of a flag with a value of the library.
    fn compare(compared: &mut Compared, path: &str, name: &str, library: impl ToString) {
        let words: Vec<&str> = path.split(' ').collect();
        assert_eq!(default_of(&flag(&words, name)), library.to_string(), "{path} --{name}");
        compared.insert((path.to_owned(), name.to_owned()));
    }

    /// Compares the defaults of flags with fields of a request whose JSON leaves them out.
    fn compare_request<R: Serialize + DeserializeOwned>(
        compared: &mut Compared,
        path: &str,
        shortest: &str,
        flags: &[(&str, &str)],
    ) {
        let request: R = serde_json::from_str(shortest).unwrap();
        let json = serde_json::to_value(&request).unwrap();
        fn text(value: &Value) -> String {
            match value {
                Value::String(text) => text.clone(),
                Value::Number(number) => number.as_f64().unwrap().to_string(),
                Value::Array(list) => list.iter().map(text).collect::<Vec<_>>().join(","),
                other => panic!("{other} is the default of no flag"),
            }
        }
        for (name, field) in flags {
            let value = json.pointer(field).unwrap_or_else(|| panic!("{json} has no {field}"));
            compare(compared, path, name, text(value));
        }
    }

    fn check_declared(compared: &mut Compared) {
        let letor = ["queries", "documents", "seed"];
        check::<LetorOptions>(compared, &["data", "generate", "letor"], &letor);
        let store = ["records", "queries", "seed", "genre_overlap"];
        check::<StoreOptions>(compared, &["data", "generate", "store"], &store);
        let homepages = ["sites", "pages", "queries", "seed"];
        check::<HomepagesOptions>(compared, &["data", "generate", "homepages"], &homepages);
        check::<SplitOptions>(compared, &["data", "split"], &["parts", "folds", "seed"]);
        let names = ["baseline", "test", "correction", "alpha", "samples", "seed"];
        check::<CompareOptions>(compared, &["compare"], &names);
        check::<CompareOptions>(compared, &["report", "compare"], &names);
        check::<FoldParams>(compared, &["cv"], &["folds", "seed", "valid_part"]);
        check::<TuneParams>(compared, &["tune"], &["trials", "method", "seed"]);
        for path in [["clicks", "bias"], ["report", "clicks"]] {
            let names = ["min_shown", "samples", "seed", "random_ranker"];
            check::<BiasOptions>(compared, &path, &names);
        }
        for path in [["clicks", "labels"], ["clicks", "evaluate"]] {
            check::<BiasOptions>(compared, &path, &["min_shown", "random_ranker"]);
        }
        let names = ["clip", "min_overlap", "samples", "seed", "unit"];
        check::<OffPolicyOptions>(compared, &["clicks", "evaluate"], &names);
        check::<ClickLabelOptions>(compared, &["clicks", "labels"], &["clip", "grades"]);
        let names = ["sessions", "top", "seed"];
        check::<SimulateOptions>(compared, &["clicks", "simulate"], &names);
        let names = ["sessions", "users", "seed"];
        check::<SimulateRunOptions>(compared, &["interleave", "simulate"], &names);
        check::<InterleavingOptions>(compared, &["interleave", "score"], &["samples", "seed"]);
        check::<BradleyTerryOptions>(compared, &["judge", "aggregate"], &["prior", "grades"]);
        check::<ExplainParams>(compared, &["explain"], &["permutations", "seed"]);
        check::<DependenceOptions>(compared, &["explain"], &["curves"]);
        check::<PermutationParams>(compared, &["model", "inspect"], &["repeats", "seed"]);
        check::<DemoParams>(compared, &["demo"], &["records", "queries", "seed"]);
        let names = ["points", "trees", "seed"];
        check::<TrainingReportParams>(compared, &["report", "train"], &names);
        check::<DataOptions>(compared, &["report", "data"], &["metric", "top", "sample", "seed"]);
    }

    fn compare_requests(compared: &mut Compared) {
        compare_request::<ScoreRequest>(
            compared,
            "score",
            r#"{"model": "m", "data": "d"}"#,
            &[("tag", "/tag")],
        );
        compare_request::<SearchIndexRequest>(
            compared,
            "search",
            r#"{"index": "i", "query": "q"}"#,
            &[
                ("top", "/top"),
                ("query-syntax", "/candidates/syntax"),
                ("facet-values", "/facet_values"),
            ],
        );
        let queries = r#"{"index": "i", "queries": "q"}"#;
        let flags =
            [("topic-part", "/queries/options/parts"), ("query-syntax", "/candidates/syntax")];
        compare_request::<RunQueriesRequest>(compared, "run", queries, &flags);
        let of_run = [("top", "/top"), ("tag", "/tag")];
        compare_request::<RunQueriesRequest>(compared, "run", queries, &of_run);
        compare_request::<ExtractFeaturesRequest>(compared, "features", queries, &flags);
        let features = [("features", "/features")];
        compare_request::<ExtractFeaturesRequest>(compared, "features", queries, &features);
        compare_request::<ValidateClassifierRequest>(
            compared,
            "classify",
            r#"{"labelled": {"files": ["f"], "label": "l"}}"#,
            &[
                ("classifier", "/labelled/options/classifier"),
                ("analysis", "/labelled/options/analysis"),
                ("folds", "/folds"),
                ("seed", "/seed"),
            ],
        );
        compare_request::<ClickPairsRequest>(
            compared,
            "clicks pairs",
            r#"{"log": "l", "out": "o"}"#,
            &[("rule", "/rules")],
        );
        compare_request::<LabelClicksRequest>(
            compared,
            "clicks labels",
            r#"{"log": "l", "features": "f", "out": "o"}"#,
            &[
                ("from", "/source"),
                ("bias-estimator", "/examination/estimator"),
                ("unshown", "/unshown"),
            ],
        );
        compare_request::<SimulateClicksRequest>(
            compared,
            "clicks simulate",
            r#"{"data": "d", "scores": {"feature": "f"}, "user": "pbm", "out": "o"}"#,
            &[("ranker", "/ranker")],
        );
        compare_request::<EvaluateClicksRequest>(
            compared,
            "clicks evaluate",
            r#"{"log": "l", "models": ["m"], "features": "f", "metric": "dcg@10"}"#,
            &[("bias-estimator", "/examination/estimator")],
        );
        compare_request::<InterleaveRunsRequest>(
            compared,
            "interleave",
            r#"{"runs": ["a", "b"], "out": "o"}"#,
            &[("repeat", "/requests/per_query"), ("to", "/format")],
        );
        compare_request::<ScoreInterleavingRequest>(
            compared,
            "interleave score",
            r#"{"log": "l", "lists": "o"}"#,
            &[("by", "/cluster"), ("correction", "/correction")],
        );
        compare_request::<JudgePromptsRequest>(
            compared,
            "judge prompts",
            r#"{"runs": ["a"], "queries": "q", "documents": {"index": "i"}, "out": "o"}"#,
            &[("template", "/template/named"), ("topic-part", "/queries/options/parts")],
        );
        compare_request::<JudgeAggregateRequest>(
            compared,
            "judge aggregate",
            r#"{"judgements": ["j"], "out": "o"}"#,
            &[("to", "/format")],
        );
        compare_request::<ReportShrinkageRequest>(
            compared,
            "report shrinkage",
            r#"{"learner": "mart", "rates": [0.1], "data": "d"}"#,
            &[("seed", "/seed")],
        );
        compare_request::<ReportTradeOffRequest>(
            compared,
            "report tradeoff",
            r#"{"learner": "mart", "goals": ["ndcg@10", "ap"], "data": "d"}"#,
            &[("weights", "/weights"), ("seed", "/seed")],
        );
    }

    fn compare_constants(compared: &mut Compared) {
        for path in ["train", "cv", "tune"] {
            compare(compared, path, "learner", DEFAULT_LEARNER);
        }
        let learner = ReportShrinkageRequest::DEFAULT_LEARNER;
        compare(compared, "report shrinkage", "learner", learner);
        let rates = ReportShrinkageRequest::DEFAULT_RATES.map(|rate| rate.to_string()).join(",");
        compare(compared, "report shrinkage", "rates", rates);
        let learner = ReportTradeOffRequest::DEFAULT_LEARNER;
        compare(compared, "report tradeoff", "learner", learner);
        compare(compared, "report tradeoff", "first", DEFAULT_METRIC);
        let seconds = Checkpoints::DEFAULT_INTERVAL.as_secs();
        compare(compared, "train", "checkpoint-seconds", seconds);
        let seconds = PlanOptions::default().checkpoint.as_secs();
        compare(compared, "experiment", "checkpoint-seconds", seconds);
        compare(compared, "clicks counts", "by", CountedUnit::default().name());
        compare(compared, "clicks counts", "min", CountOptions::default().min_count);
        compare(compared, "clicks pairs", "min", PairOptions::default().min_count);
        let interleave = InterleaveOptions::default();
        compare(compared, "interleave", "top", interleave.length);
        compare(compared, "interleave", "seed", interleave.seed);
        let prompts = PromptOptions::default();
        compare(compared, "judge prompts", "max-words", prompts.max_words);
        compare(compared, "judge prompts", "depth", prompts.depth);
        compare(compared, "judge prompts", "max", prompts.max_pairs);
        compare(compared, "judge prompts", "seed", prompts.seed);
        let length = SimulateRunOptions::default().length;
        compare(compared, "interleave simulate", "top", length);
        let off_policy = OffPolicyOptions::default();
        for name in ["estimator", "propensity"] {
            compare(compared, "clicks evaluate", name, off_policy.text(name).unwrap());
        }
        // Flags that several commands have.
        let bots = BotLimits::default();
        for (path, arg) in flags_with_defaults() {
            let library = match arg.get_long() {
                Some("match-by") => MatchBy::default().name().to_owned(),
                Some("bot-impressions") => bots.text("impressions").unwrap(),
                Some("bot-seconds") => bots.text("seconds").unwrap(),
                _ => continue,
            };
            compare(compared, &path, arg.get_long().unwrap(), library);
        }
    }

    /// Defaults that are the command's own: what is shown, the file of a page, and values without
    /// which a request of the library cannot be made. An empty command stands for all.
    const OWN_DEFAULTS: &[(&str, &str)] = &[
        ("", "threads"),
        ("", "table"),
        ("tune", "top"),
        ("explain", "documents"),
        ("explain", "top"),
        ("report train", "out"),
        ("report shrinkage", "out"),
        ("report tradeoff", "out"),
        ("report compare", "out"),
        ("report data", "out"),
        ("report clicks", "out"),
        ("model convert", "to"),
        ("clicks fit", "model"),
        ("clicks simulate", "user"),
        ("clicks evaluate", "metric"),
        ("interleave simulate", "user"),
    ];

    /// Every flag with a default, with the path of its command.
    fn flags_with_defaults() -> Vec<(String, Arg)> {
        fn collect(command: &Command, path: &str, found: &mut Vec<(String, Arg)>) {
            let has_default = |arg: &&Arg| {
                arg.get_action().takes_values()
                    && arg.get_long().is_some()
                    && !default_of(arg).is_empty()
            };
            let flags = command.get_arguments().filter(has_default);
            found.extend(flags.map(|arg| (path.to_owned(), arg.clone())));
            for inner in command.get_subcommands() {
                collect(inner, format!("{path} {}", inner.get_name()).trim_start(), found);
            }
        }
        let mut found = Vec::new();
        collect(&crate::Cli::command(), "", &mut found);
        found
    }

    #[test]
    fn every_default_of_a_flag_is_that_of_the_library() {
        let mut compared = Compared::new();
        check_declared(&mut compared);
        compare_requests(&mut compared);
        compare_constants(&mut compared);
        let all = flags_with_defaults();
        assert!(all.len() > 100, "{}", all.len());
        let missing = all.iter().filter(|(path, arg)| {
            let name = arg.get_long().unwrap();
            let is_own = |own: &(&str, &str)| (own.0.is_empty() || own.0 == path) && own.1 == name;
            !compared.contains(&(path.clone(), name.to_owned())) && !OWN_DEFAULTS.iter().any(is_own)
        });
        let missing: Vec<String> =
            missing.map(|(path, arg)| format!("{path} --{}", arg.get_long().unwrap())).collect();
        assert!(missing.is_empty(), "not compared with the library: {}", missing.join(", "));
    }

    #[test]
    fn values_of_flags_have_the_ranges_of_the_declarations() {
        let samples = value::<InterleavingOptions, usize>("samples");
        assert_eq!(samples("0"), Ok(0));
        assert_eq!(samples("-1").unwrap_err(), samples("100001").unwrap_err());
        assert_eq!(samples("x").unwrap_err(), "expected a whole number from 0 to 100000");
        let clip = value::<OffPolicyOptions, f64>("clip");
        assert_eq!(clip("1.5"), Ok(1.5));
        for text in ["0.5", "nan", "inf", "none"] {
            assert!(clip(text).is_err(), "{text}");
        }
        let seconds = value::<BotLimits, f64>("seconds");
        assert!(seconds("0").is_ok() && seconds("-1").is_err());
    }

    #[test]
    fn the_names_of_a_choice_are_listed_with_their_meanings() {
        let names: Vec<_> = choices::<TuneMethod>().possible_values().unwrap().collect();
        assert_eq!(names.len(), 2);
        assert!(names.iter().all(|name| name.get_help().is_some()), "{names:?}");
    }
}
