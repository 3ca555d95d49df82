//! Tests over the table of learners, and specs as users write them.

use std::collections::HashMap;
use std::sync::LazyLock;

use rankwright_data::Dataset;
use rankwright_data::generate::LetorOptions;
use rankwright_model::ModelBody;
use rankwright_spec::{ParamDef, ParamKind, RangeDef};

use super::*;
use crate::session::{NoProgress, ValidationSet};
use crate::simd::Simd;
use crate::trainer::ValidationUse;

/// Generated data of 12 queries.
fn tiny(seed: u64) -> Dataset {
    LetorOptions { queries: 12, documents: 30, seed }.generate().unwrap()
}

/// The message of the error for a wrong spec.
fn error_message(text: &str) -> String {
    LearnerSpec::parse(text).unwrap_err().to_string()
}

/// The data with a position for each document, in row order; with `clicks`, the labels are clicks.
fn with_positions(data: &Dataset, clicks: bool) -> Dataset {
    let positions = (0..data.queries()).flat_map(|query| 1..=data.query_rows(query).len() as u32);
    let label = |label: &f64| if clicks { f64::from(u8::from(*label > 1.0)) } else { *label };
    Dataset::builder()
        .dense(data.matrix().values(), data.columns())
        .labels(data.labels().iter().map(label))
        .query_ids(data.query_of_rows())
        .positions(positions.collect::<Vec<u32>>())
        .build()
        .map(with_label_column)
        .unwrap()
}

/// The data with a second column of labels.
fn with_label_column(data: Dataset) -> Dataset {
    let labels = (0..data.rows()).map(|row| (row % 3) as f64).collect();
    data.with_label_column("other", labels).unwrap()
}

/// The bytes of the model of a spec, trained on tiny data with validation data.
fn model_bytes(text: &str) -> Vec<u8> {
    static DATA: LazyLock<[Dataset; 3]> = LazyLock::new(|| {
        [
            with_positions(&tiny(7), false),
            with_label_column(tiny(8)),
            with_positions(&tiny(7), true),
        ]
    });
    let [graded, valid, clicked] = &*DATA;
    // Doubly robust labels are made of clicks.
    let data = if text.contains("bias=dr") { clicked } else { graded };
    let valid_set = ValidationSet::new("valid", valid);
    let request = TrainRequest::new(data).validation_sets([valid_set]);
    let result = LearnerSpec::parse(text).unwrap().train(request);
    let result = result.unwrap_or_else(|error| panic!("{text}: {error}"));
    // The specs in the header would always differ.
    let (mut header, body) = result.model.into_parts();
    header.learner.clear();
    header.objective.clear();
    Model::new(header, body).unwrap().to_bytes()
}

#[test]
fn every_learner_has_a_help_line_and_an_example_that_prints_back_to_itself() {
    for def in LEARNERS {
        assert!(!def.help.is_empty() && def.help.len() < 120, "{}", def.name);
        let spec = LearnerSpec::parse(def.example).unwrap();
        assert_eq!(spec.def().name, def.name);
        let again = LearnerSpec::parse(&spec.to_string()).unwrap();
        assert_eq!(again.canonical(), spec.canonical());
        let keys: Vec<&str> = def.params().iter().map(|p| p.name).collect();
        for (n, key) in keys.iter().enumerate() {
            assert!(!keys[..n].contains(key), "{} has {key} twice", def.name);
        }
        assert!(def.params().iter().all(|p| p.help.ends_with('.')));
    }
}

#[test]
fn the_declaration_of_each_learner_accepts_the_same_as_its_trainer() {
    for def in LEARNERS {
        let spec = LearnerSpec::parse(def.example).unwrap();
        assert_eq!(def.accepts.start, spec.accepts_start_model(), "{}", def.name);
        // A learner that contains a learner or an objective accepts pairs if that one does.
        let is_inside = |param: &ParamDef| {
            let nested = matches!(param.kind, ParamKind::Spec { of: "learner" | "objective" });
            nested || param.name == "members"
        };
        if !def.params().iter().any(is_inside) {
            assert_eq!(def.accepts.pairs, spec.accepts_pairs(), "{}", def.name);
        }
    }
}

#[test]
fn a_learner_built_by_a_program_has_the_parameters_of_its_bare_name() {
    let built = [
        LearnerSpec::new(crate::LambdaMart::new()),
        LearnerSpec::new(crate::Mart::new()),
        LearnerSpec::new(crate::RankSvm::new()),
        LearnerSpec::new(crate::RankNet::new()),
    ];
    for (built, name) in built.into_iter().zip(["lambdamart", "mart", "ranksvm", "ranknet"]) {
        let (built, read) = (built.unwrap(), LearnerSpec::parse(name).unwrap());
        for def in read.def().params() {
            assert_eq!(built.parameter(def.name), read.parameter(def.name), "{name} {}", def.name);
        }
    }
}

/// Pretends to be one of two processes; every exchange with the other one fails with `EmptyData`.
#[derive(Debug)]
struct TwoProcesses;

impl crate::collective::Collective for TwoProcesses {
    fn size(&self) -> usize {
        2
    }

    fn rank(&self) -> usize {
        0
    }

    fn sum(&self, _: &mut [u64]) -> Result<(), LearnError> {
        Err(LearnError::EmptyData)
    }

    fn max(&self, _: &mut [u64]) -> Result<(), LearnError> {
        Err(LearnError::EmptyData)
    }

    fn gather(&self, _: &mut Vec<u32>) -> Result<(), LearnError> {
        Err(LearnError::EmptyData)
    }
}

#[test]
fn a_learner_that_exchanges_nothing_refuses_several_processes() {
    let data = tiny(1);
    for def in LEARNERS {
        let spec = LearnerSpec::parse(def.example).unwrap();
        if spec.validation_use() == ValidationUse::Required {
            continue;
        }
        match spec.train(TrainRequest::new(&data).collective(&TwoProcesses)) {
            Err(LearnError::CollectiveUnsupported { learner, processes: 2 }) => {
                assert_eq!(learner, def.name);
            }
            // The learner tried an exchange, so it supports several processes.
            Err(LearnError::EmptyData) => {}
            other => panic!("{}: {other:?}", def.name),
        }
    }
}

#[test]
fn every_example_trains_the_header_has_the_spec_and_bare_names_are_read() {
    let data = tiny(1);
    for def in LEARNERS {
        let small = match def.params().iter().any(|p| p.name == "trees") {
            true => LearnerSpec::from_spec(Spec::parse(def.example).unwrap().with("trees", "3")),
            false => LearnerSpec::from_spec(Spec::parse(def.example).unwrap()),
        };
        let result = small.unwrap().train(TrainRequest::new(&data)).unwrap();
        assert!(result.finished);
        let learner = &result.model.header().learner;
        assert_eq!(LearnerSpec::parse(learner).unwrap().def().name, def.name);
        if let ModelBody::Trees(trees) = result.model.body() {
            assert!(trees.trees().iter().all(|tree| tree.leaves().len() > 1), "{}", def.name);
            assert!(!result.model.header().objective.is_empty());
        }
        if def.name != "linear" {
            LearnerSpec::parse(def.name).unwrap();
        }
    }
}

#[test]
fn models_of_every_learner_carry_the_feature_set_of_their_data() {
    let data = tiny(1).with_feature_set(Some("analysis = \"english\"\n"));
    for name in ["mart(trees=2)", "linear-regression", "ranknet(epochs=1)", "linear(weights=1:1)"] {
        let learner = LearnerSpec::parse(name).unwrap();
        let model = learner.train(TrainRequest::new(&data)).unwrap().model;
        assert_eq!(model.header().feature_set.as_deref(), data.feature_set(), "{name}");
        assert_eq!(Model::from_bytes(&model.to_bytes()).unwrap(), model, "{name}");
    }
}

/// Parameters with a value that changes the model trained by [`spec_with_effect`], and a value that
/// is rejected. Values in parentheses stand for lists of all features ([`values_of`]). The values
/// of other parameters follow from their declaration.
const VALUES: &[(&str, &str, &str)] = &[
    ("trees", "3", "0"),
    ("rate", "0.5", "0"),
    ("stop", "1", "-1"),
    ("sample_queries", "0.5", "1.5"),
    ("sample_features", "0.3", "0"),
    ("newton", "cross-leaf", "exact"),
    ("ridge", "0.5", "-1"),
    ("line_search", "true", "maybe"),
    ("goss_top", "0.3", "0"),
    ("goss_rest", "0.5", "0"),
    ("drop_trees", "0.5", "1.5"),
    ("drop_skip", "0", "1"),
    ("drop_most", "1", "-1"),
    ("drop_scale", "forest", "both"),
    ("leaves", "3", "0"),
    ("depth", "1", "-1"),
    ("min_rows", "60", "x"),
    ("min_hessian", "1000000", "-1"),
    ("min_gain", "1000000", "nan"),
    ("impurity", "1000000", "-1"),
    ("l1", "5", "-1"),
    ("l2", "50", "inf"),
    ("bins", "4", "256"),
    ("growth", "depth", "wide"),
    ("monotone", "(all falling)", "134"),
    ("interactions", "1+2/3+4", "1++2"),
    ("feature_cost", "(all expensive)", "134"),
    ("cost_weight", "0", "-1"),
    ("categorical", "(all categorical)", "3/3"),
    ("cat_smooth", "0", "-1"),
    ("cat_l2", "100", "-1"),
    ("max_categories", "1", "0"),
    ("metric", "ap", "ndgc"),
    ("sigma", "3", "0"),
    ("truncation", "2", "0"),
    ("ties", "half", "none"),
    ("norm_gap", "true", "2"),
    ("norm_query", "true", "2"),
    ("cut", "hard", "blunt"),
    ("weight", "loss2", "loss3"),
    ("mu", "3", "-1"),
    ("pairs", "coherent", "all"),
    ("loss", "huber", "cubic"),
    ("alpha", "0.5", "0"),
    ("delta", "0.3", "0"),
    ("terms", "1", "4"),
    ("target", "gain", "labels"),
    ("rel", "3", "x"),
    ("weights", "22:1", "22"),
    ("bias", "3", "nan"),
    ("bias_l2", "0.5", "-1"),
    ("bias_norm", "3", "-1"),
    ("examination", "(steep)", "1/-1"),
    ("click_noise", "0.3/0.2", "2"),
    ("bias_clip", "0.9", "0"),
    ("labels", "label:1+other:0.5", "other:x"),
    ("layers", "5", "x"),
    ("activation", "tanh", "step"),
    ("dropout", "0.5", "1"),
    ("norm", "layer", "group"),
    ("noise", "0.5", "-1"),
    ("samples", "2", "0"),
    ("optimiser", "sgd", "lbfgs"),
    ("momentum", "0.1", "2"),
    ("decay", "5", "-1"),
    ("schedule", "constant", "linear"),
    ("warmup", "1", "9"),
    ("drop", "0.5", "0"),
    ("drop_every", "2", "0"),
    ("batch", "3", "0"),
    ("epochs", "3", "0"),
    ("factored", "false", "maybe"),
    ("top", "2", "0"),
    ("temperature", "2", "0"),
    ("c", "7", "0"),
    ("steps", "1", "0"),
    ("tolerance", "0.5", "-1"),
    ("transform", "min-max", "whiten"),
    ("clip", "1", "0"),
    ("rounds", "2", "0"),
    ("directions", "falling", "up"),
    ("restarts", "4", "0"),
    ("passes", "4", "0"),
    ("epsilon", "0.5", "0"),
    ("objective", "squared", "sqared"),
    ("learner", "mart(trees=2)", "adarank"),
    ("bags", "3", "0"),
    ("members", "tree+rankboost(trees=3)", "mart+"),
    ("normalise", "rank", "z"),
    ("hold_out", "0.5", "1"),
    ("candidates", "mart(trees=3)+ranksvm", "mart+"),
    ("folds", "4", "2"),
    ("minutes", "0.000001", "0"),
    ("serve", "fast", "slow"),
    ("goal", "keep(ap, 0.001)", "keep(ap)"),
    ("repeats", "1", "0"),
];

/// A value other than the default, and one that is rejected; there is none for a parameter that
/// takes any text. They are those of the table above if they suit the declaration; otherwise they
/// follow from the declaration or, for a text, from the learner's example.
fn values_of(def: &LearnerDef, param: &ParamDef) -> (String, Option<String>) {
    let listed = VALUES.iter().find(|(key, ..)| *key == param.name);
    let default = param.default.as_deref();
    let suits = |value: &str| match &param.kind {
        ParamKind::Choice { values } => values.contains(&value),
        _ => true,
    };
    let listed_value = listed.map(|(_, value, _)| match *value {
        "(all falling)" => all_features(":-"),
        "(all expensive)" => all_features(":1e9"),
        "(all categorical)" => all_features(""),
        "(steep)" => examination(1.0),
        value => value.to_owned(),
    });
    let value = listed_value
        .filter(|value| default != Some(value) && suits(value))
        .or_else(|| declared_value(&param.kind, &param.range, default.unwrap_or_default()))
        .or_else(|| Spec::parse(def.example).unwrap().get(param.name).map(str::to_owned));
    let value = value.unwrap_or_else(|| {
        panic!("the example of `{}` should set `{}`, a text", def.name, param.name)
    });
    let rejected = match (listed, &param.kind) {
        (Some((.., rejected)), _) => Some(rejected.to_string()),
        (None, ParamKind::Text) => None,
        (None, _) => Some("neither-a-number-nor-a-choice".to_owned()),
    };
    (value, rejected)
}

/// A value other than the default that a declaration allows; `None` for texts.
fn declared_value(kind: &ParamKind, range: &RangeDef, default: &str) -> Option<String> {
    match kind {
        ParamKind::Boolean => Some((default != "true").to_string()),
        ParamKind::Integer | ParamKind::Number => {
            let number = default.parse().unwrap_or(2.0);
            let mut candidates = vec![number + 1.0, number - 1.0];
            if *kind == ParamKind::Number {
                candidates.splice(..0, [number / 2.0, (number + 1.0) / 2.0]);
            }
            candidates.extend(range.min.into_iter().chain(range.max));
            let allowed = |x: &f64| range.contains(*x) && *x >= 0.0 && x.to_string() != default;
            candidates.into_iter().find(allowed).map(|x| x.to_string())
        }
        ParamKind::Choice { values } => {
            values.iter().find(|value| **value != default).map(|value| value.to_string())
        }
        ParamKind::Spec { of: "metric" } => Some("ap".to_owned()),
        ParamKind::Spec { of: "objective" } => Some("squared".to_owned()),
        ParamKind::Spec { of: "learner" } => Some("mart(trees=2)".to_owned()),
        ParamKind::List { of } | ParamKind::Either { or: of, .. } => {
            declared_value(of, range, default)
        }
        _ => None,
    }
}

/// A list of all feature ids, each followed by `suffix`, separated by slashes.
fn all_features(suffix: &str) -> String {
    let all: Vec<String> = (1..=136).map(|id| format!("{id}{suffix}")).collect();
    all.join("/")
}

/// The examination of 200 positions, which falls with a power of the position.
fn examination(power: f64) -> String {
    let all: Vec<String> = (1..=200).map(|k| f64::from(k).powf(-power).to_string()).collect();
    all.join("/")
}

/// Values with which any learner that has these parameters trains a small model quickly.
const SMALL: &[(&str, &str)] = &[
    ("layers", "8"),
    ("epochs", "2"),
    ("trees", "4"),
    ("leaves", "8"),
    ("min_rows", "1"),
    ("restarts", "1"),
    ("passes", "1"),
    ("learner", "mart(trees=3)"),
    ("bags", "2"),
    ("members", "mart(trees=3)+tree(leaves=4)"),
    ("candidates", "mart(trees=2)+xendcg(trees=2)"),
];

/// Parameters that have an effect on a small model only beside others: the parameter, and another
/// one with its value. Conditions that are declared (`requires`) are met without a line here.
const BESIDE: &[(&str, &str, &str)] = &[
    // With one step in an epoch, momentum has no effect yet.
    ("momentum", "batch", "3"),
    ("drop", "epochs", "3"),
    ("drop", "drop_every", "1"),
    ("drop_every", "epochs", "3"),
    ("pairs", "truncation", "3"),
    ("cat_smooth", "categorical", "(all)"),
    ("cat_l2", "categorical", "(all)"),
    ("max_categories", "categorical", "(all)"),
    // The first 1/rate trees are grown from all queries.
    ("goss_top", "rate", "1"),
    ("goss_rest", "rate", "1"),
    ("drop_skip", "trees", "8"),
    ("drop_skip", "drop_trees", "0.9"),
    ("drop_most", "trees", "8"),
    ("drop_most", "drop_trees", "0.9"),
    ("drop_scale", "trees", "8"),
    ("drop_scale", "drop_trees", "0.9"),
    // Growing level by level differs only if the leaf limit is reached within a level.
    ("growth", "leaves", "21"),
    ("stop", "trees", "40"),
    ("stop", "rate", "1"),
    ("examination", "examination", "(flat)"),
    ("bias_clip", "examination", "(flat)"),
    ("click_noise", "examination", "(flat)"),
];

/// A spec of a learner to which the parameter `key` can be added such that it has an effect.
fn spec_with_effect(def: &LearnerDef, key: &str) -> Spec {
    let params = def.params();
    let param = |name: &str| params.iter().find(|param| param.name == name);
    let set = |spec: Spec, name: &str, value: &str| match param(name) {
        Some(_) => spec.with(name, value),
        None => spec,
    };
    let mut spec = Spec::new(def.name);
    let example = Spec::parse(def.example).unwrap();
    for required in params.iter().filter(|param| param.default.is_none()) {
        let value = example.get(required.name).expect("an example has what is required");
        spec = spec.with(required.name, value);
    }
    spec = SMALL.iter().fold(spec, |spec, (name, value)| set(spec, name, value));
    if param("trees").is_some() {
        // All trees are kept: parameters may change those that validation would leave out.
        spec = set(spec, "stop", "none");
    }
    for (_, name, value) in BESIDE.iter().filter(|(of, ..)| *of == key) {
        let value = value.replace("(all)", &all_features(""));
        spec = set(spec, name, &value.replace("(flat)", &examination(0.5)));
    }
    match param(key).and_then(|param| param.requires) {
        Some(condition) => with_condition(spec, def, condition),
        None => spec,
    }
}

/// The spec with a value for which a declared condition (`newton=joint`, `drop_trees>0`) holds,
/// unless the spec sets the parameter of the condition already.
fn with_condition(spec: Spec, def: &LearnerDef, condition: &str) -> Spec {
    let (name, test) = condition.split_at(condition.find(['=', '!', '<', '>']).unwrap());
    if spec.get(name).is_some() {
        return spec;
    }
    let params = def.params();
    let param = params.iter().find(|param| param.name == name).expect("a parameter it has");
    match test.strip_prefix('=') {
        Some(values) if values.split('|').any(|value| param.default.as_deref() == Some(value)) => {
            spec
        }
        Some(values) => spec.with(name, values.split('|').next().unwrap()),
        None => spec.with(name, values_of(def, param).0),
    }
}

#[test]
fn every_parameter_has_an_effect_and_a_checked_range() {
    let mut without_effect = Vec::new();
    let mut base_models: HashMap<String, Vec<u8>> = HashMap::new();
    for def in LEARNERS {
        for param in def.params() {
            let (value, rejected) = values_of(def, &param);
            let base = spec_with_effect(def, param.name);
            // Not every loss can be corrected for position bias in every way.
            let is_possible = |spec: &Spec| LearnerSpec::from_spec(spec.clone()).is_ok();
            let is_of_bias = |name: &str| name == "bias" || name == "examination";
            let depends_on_bias =
                is_of_bias(param.name) || param.requires.is_some_and(|of| of.starts_with("bias="));
            let changed = base.clone().with(param.name, value.as_str());
            if depends_on_bias && !(is_possible(&base) && is_possible(&changed)) {
                continue;
            }
            if let Some(rejected) = rejected {
                let spec = base.clone().with(param.name, rejected.as_str());
                assert!(LearnerSpec::from_spec(spec.clone()).is_err(), "{spec} is accepted");
            }
            let spec = base.clone().with(param.name, value);
            let base_model =
                base_models.entry(base.to_string()).or_insert_with_key(|text| model_bytes(text));
            // With validation data, as here, `hold_out`, `restarts` and `passes` may have no
            // effect, nor `stop` of a net; other tests check them without validation data.
            let is_net = def.params().iter().any(|param| param.name == "epochs");
            // The hessians of yetirank are so small beside the default of cat_l2 that no split by a
            // sorted set of categories gains anything.
            let is_categorical = ["cat_smooth", "cat_l2", "max_categories"].contains(&param.name);
            let may_have_no_effect = ["hold_out", "restarts", "passes"].contains(&param.name)
                || is_net && param.name == "stop"
                || def.name == "yetirank" && is_categorical;
            if model_bytes(&spec.to_string()) == *base_model && !may_have_no_effect {
                without_effect.push(spec.to_string());
            }
        }
    }
    assert!(without_effect.is_empty(), "without effect: {without_effect:#?}");
}

#[test]
fn boosting_on_an_objective_grows_the_trees_of_the_learner_that_has_it() {
    for (objective, learner, parameters) in [
        ("lambda(metric=ap)", "lambdamart", ""),
        ("pair-logistic(sigma=2)", "rankmart", ", sigma=2"),
        ("huber(alpha=0.8)", "mart", ", loss=huber, alpha=0.8"),
        ("xendcg", "xendcg", ""),
    ] {
        let settings = "metric=ap, trees=3, leaves=5";
        let boosting = format!("boosting(objective={objective}, {settings})");
        let learner = format!("{learner}({settings}{parameters})");
        assert!(model_bytes(&boosting) == model_bytes(&learner), "{boosting} {learner}");
        let objective = LearnerSpec::parse(&boosting).unwrap().objective();
        assert_eq!(objective, LearnerSpec::parse(&learner).unwrap().objective());
    }
}

#[test]
fn boosting_takes_pairs_and_newton_steps_where_its_objective_does() {
    let data = unlabelled_pairs();
    let train = |text: &str| LearnerSpec::parse(text).unwrap().train(TrainRequest::new(&data));
    assert!(train("boosting(objective=pair-logistic, trees=2)").is_ok());
    let error = train("boosting(objective=huber, trees=2)").unwrap_err();
    assert_eq!(error.kind(), "pairs-unsupported");
    let newton = "boosting(objective=huber, newton=cross-leaf, trees=2)";
    let error = LearnerSpec::parse(newton).unwrap().train(TrainRequest::new(&tiny(1))).unwrap_err();
    assert_eq!(error.kind(), "newton-without-pairs");
    for (text, expected) in [
        ("boosting(objective=hubber)", "did you mean `huber`?"),
        ("boosting(objective=huber(alfa=1))", "`huber` has no parameter `alfa`"),
        ("boosting(objective=huber(alpha=2))", "alpha=2"),
        ("boosting(objective=huber@3)", "takes no cut-off"),
    ] {
        let found = error_message(text);
        assert!(found.contains(expected), "{text}: {found}");
    }
    let canonical = LearnerSpec::parse("boosting(objective=huber( alpha = 0.9 ))").unwrap();
    assert_eq!(canonical.to_string(), "boosting(objective=huber)");
}

#[test]
fn errors_name_the_wrong_part_of_a_spec_and_the_known_names() {
    for (text, expected) in [
        (
            "lamdamart",
            "unknown learner `lamdamart` (did you mean `lambdamart`?); known: lambdamart, ",
        ),
        ("lambdamart(leafs=7)", "`lambdamart` has no parameter `leafs` (did you mean `leaves`?)"),
        ("lambdamart@10", "it takes no cut-off, and @10 was given"),
        ("lambdamart(sigma=0)", "`lambdamart`: sigma=0 is not allowed"),
        ("lambdamart(metric=ndgc)", "did you mean `ndcg`?"),
        ("lambdamart(metric=auc)", "change under swaps"),
        ("mart(loss=squared, delta=2)", "delta"),
        ("rankmart(ridge=1)", "newton=joint"),
        ("mart(drop_skip=0.1)", "drop_skip is for drop_trees above 0"),
        (
            "mart(drop_trees=0.1, line_search=true)",
            "drop_trees and line_search cannot be given together",
        ),
        ("mart(goss_rest=0.1)", "goss_rest is for goss_top below 1"),
        ("mart(goss_top=0.7, goss_rest=0.4)", "goss_top + goss_rest is above 1"),
        ("mart(goss_top=0.2, sample_queries=0.5)", "both choose the queries of a tree"),
        ("mart(linear_tree=true)", "`mart`: linear_tree is not supported: a leaf is one number"),
        ("random-forest(linear_leaves=true)", "not built"),
        ("ranksvm(linear_tree=true)", "`ranksvm` has no parameter `linear_tree`"),
        ("mart(newton=joint)", "`mart` has no parameter `newton`"),
        ("tree(trees=3)", "`tree` has no parameter `trees`"),
        ("linear", "`linear` needs `weights`"),
        ("linear(weights=22)", "22:0.03/72:0.06"),
        ("mart(monotone=22:up)", "22:+/72:-"),
    ] {
        let found = error_message(text);
        assert!(found.contains(expected), "{text}: {found}");
    }
}

#[test]
fn every_value_outside_the_range_of_a_parameter_has_the_same_message() {
    for (key, values) in [
        ("trees", ["0", "-1", "x", "1.5"]),
        ("leaves", ["0", "-1", "65537", "many"]),
        ("bins", ["1", "256", "-1", ""]),
        ("rate", ["0", "-1", "fast", "inf"]),
        ("sample_queries", ["0", "1.1", "all", "nan"]),
        ("sample_features", ["0", "1.1", "all", "nan"]),
        ("goss_top", ["0", "1.1", "all", "nan"]),
        ("drop_trees", ["-1", "1.1", "all", "nan"]),
        ("min_hessian", ["-1", "x", "inf", "nan"]),
        ("l2", ["-1", "x", "inf", "nan"]),
    ] {
        let expected_ranges = values.map(|value| {
            let spec = Spec::new("mart").with(key, value);
            let error = LearnerSpec::from_spec(spec).unwrap_err().to_string();
            let (found, expected) = error.split_once("; expected ").unwrap();
            assert_eq!(found, format!("`mart`: {key}={value} is not allowed"));
            expected.to_owned()
        });
        assert!(
            expected_ranges.iter().all(|expected| *expected == expected_ranges[0]),
            "{expected_ranges:?}"
        );
    }
}

#[test]
fn specs_are_printed_in_canonical_form() {
    let cases = [
        ("lambdamart()", "lambdamart"),
        ("mart(leaves = 7,trees=+5)", "mart(trees=5, leaves=7)"),
        (
            "rankmart(line_search=yes, min_hessian=1e-2)",
            "rankmart(line_search=true, min_hessian=0.01)",
        ),
        ("lambdamart(metric=ndcg( gain=linear )@5)", "lambdamart(metric=ndcg(gain=linear)@5)"),
        ("linear(bias=0.0, weights=22:1 / 72:2)", "linear(weights=22:1/72:2)"),
        ("mart(l2=1e-9)", "mart(l2=1e-9)"),
    ];
    for (text, expected) in cases {
        let spec = LearnerSpec::parse(text).unwrap();
        assert_eq!(spec.to_string(), expected);
        assert_eq!(LearnerSpec::parse(expected).unwrap().to_string(), expected);
    }
}

#[test]
fn feature_names_in_specs_are_looked_up_in_the_data() {
    let data = tiny(1);
    let train = |text: &str| LearnerSpec::parse(text).unwrap().train(TrainRequest::new(&data));
    let error = train("mart(trees=1, monotone=500:+)").unwrap_err().to_string();
    assert!(
        error.contains("monotone=500 is not allowed; expected a feature of the data: 1 to 136")
    );
    assert!(train("linear(weights=500:1)").unwrap_err().to_string().contains("500"));
    let model = LearnerSpec::parse("linear(weights=3:2, bias=1)").unwrap().model_without_data();
    assert_eq!(model.unwrap().unwrap().score_row(&[9.0, 9.0, 2.0]), 5.0);
    assert!(LearnerSpec::parse("mart").unwrap().model_without_data().is_none());
}

#[test]
fn the_metric_of_a_spec_is_optimised_and_reported() {
    let spec = LearnerSpec::parse("lambdamart(trees=2, metric=err@5)").unwrap();
    assert_eq!(spec.target().to_string(), "err@5");
    let data = tiny(1);
    let model = spec.train(TrainRequest::new(&data)).unwrap().model;
    assert_eq!(model.header().objective, "lambda(metric=err@5)");
    assert_eq!(model.header().metric, "err@5");
    assert_eq!(LearnerSpec::parse("mart").unwrap().target().to_string(), "ndcg@10");
}

#[test]
fn cross_validation_tests_each_query_once_on_a_model_that_has_not_seen_it() {
    let data = LetorOptions { queries: 31, documents: 12, seed: 3 }.generate().unwrap();
    let learner = LearnerSpec::parse("mart(trees=3, leaves=4, min_rows=2, stop=2)").unwrap();
    let options = CvOptions {
        division: FoldParams { folds: 4, seed: 5, valid_part: Some(0.25) },
        metrics: vec![learner.measure().unwrap()],
        simd: Simd::Auto,
        progress: &NoProgress,
    };
    let result = cross_validate(&learner, &data, &options).unwrap();
    let mut tested: Vec<usize> = result.folds.iter().flat_map(|f| f.queries.clone()).collect();
    tested.sort_unstable();
    assert_eq!(tested, (0..31).collect::<Vec<_>>());
    for fold in &result.folds {
        assert_eq!(fold.queries.len() + fold.trained + fold.validated, 31);
        assert!(fold.validated > 0 && fold.trees > 0);
    }
    // Pooled values are the folds' values, query by query.
    let pooled = &result.pooled.results[0];
    for fold in &result.folds {
        for (value, query) in fold.results[0].values.iter().zip(&fold.queries) {
            assert_eq!(*value, pooled.values[*query]);
        }
    }
    let again = cross_validate(&learner, &data, &options).unwrap();
    assert_eq!(again.scores, result.scores);
    // Without metrics, those of the learner on this data are computed.
    let options = CvOptions { metrics: Vec::new(), ..options };
    let by_default = cross_validate(&learner, &data, &options).unwrap();
    assert_eq!(by_default.scores, result.scores);
    assert_eq!(by_default.pooled.results[0].convention, result.pooled.results[0].convention);
}

#[test]
fn a_test_query_does_not_influence_its_own_scores() {
    let data = LetorOptions { queries: 12, documents: 12, seed: 3 }.generate().unwrap();
    let learner = LearnerSpec::parse("tree(leaves=4, min_rows=2)").unwrap();
    let options = CvOptions::new(vec![learner.measure().unwrap()]).folds(3);
    let result = cross_validate(&learner, &data, &options).unwrap();
    let fold = &result.folds[0];
    let others: Vec<usize> = (0..12).filter(|query| !fold.queries.contains(query)).collect();
    let model =
        learner.train(TrainRequest::new(&data.select_queries(&others).unwrap())).unwrap().model;
    for query in &fold.queries {
        for row in data.query_rows(*query) {
            assert_eq!(model.score_row(data.matrix().row(row)), result.scores[row]);
        }
    }
}

#[test]
fn with_two_folds_each_query_is_tested_by_a_model_of_the_other_half() {
    let data = LetorOptions { queries: 11, documents: 12, seed: 3 }.generate().unwrap();
    let learner = LearnerSpec::parse("tree(leaves=4, min_rows=2)").unwrap();
    let options = CvOptions::new(vec![learner.measure().unwrap()]).folds(2);
    let result = cross_validate(&learner, &data, &options).unwrap();
    let mut tested: Vec<usize> = result.folds.iter().flat_map(|f| f.queries.clone()).collect();
    tested.sort_unstable();
    assert_eq!(tested, (0..11).collect::<Vec<_>>());
    for fold in &result.folds {
        assert_eq!((fold.queries.len() + fold.trained, fold.validated), (11, 0));
        assert!(fold.queries.len() >= 5);
    }
}

#[test]
fn queries_are_set_aside_only_for_learners_that_use_validation_data() {
    let data = LetorOptions { queries: 20, documents: 12, seed: 3 }.generate().unwrap();
    let validate = |text: &str, valid_part| {
        let learner = LearnerSpec::parse(text).unwrap();
        let measures = vec![learner.measure().unwrap()];
        let options = CvOptions::new(measures).folds(4).valid_part(valid_part);
        cross_validate(&learner, &data, &options).unwrap()
    };
    let keeps_all = "mart(trees=3, stop=none)";
    let (with_part, without_part) = (validate(keeps_all, Some(0.2)), validate(keeps_all, None));
    assert!(with_part.folds.iter().all(|fold| (fold.trained, fold.validated) == (15, 0)));
    assert_eq!(with_part.scores, without_part.scores);
    let auto = validate("mart(trees=3)", None);
    assert_eq!(with_part.scores, auto.scores, "stop=auto without validation queries keeps all");
    for text in ["mart(trees=3, stop=2)", "mart(trees=3)"] {
        let stopping = validate(text, Some(0.2));
        assert!(stopping.folds.iter().all(|fold| (fold.trained, fold.validated) == (12, 3)));
    }
}

#[test]
fn queries_with_too_many_pairs_are_counted() {
    // Up to 20,000 x 20,000 pairs of a query are visited; those of a larger query are sampled.
    let ids = [vec!["small"; 20_000], vec!["large"; 20_001]].concat();
    let data = Dataset::from_dense(vec![0.0; ids.len()], 1, vec![0; ids.len()], ids).unwrap();
    for (text, expected) in [
        ("rankmart", 1),
        ("lambdamart(metric=ap)", 1),
        ("lambdamart", 0),
        ("rankmart(truncation=100)", 0),
        ("mart", 0),
        ("linear(weights=1:1)", 0),
    ] {
        let learner = LearnerSpec::parse(text).unwrap();
        assert_eq!(learner.queries_with_sampled_pairs(&data), expected, "{text}");
    }
}

#[test]
fn a_training_in_memory_warns_of_sampled_pairs_and_large_labels() {
    use crate::prelude::*;

    let rows = 20_001;
    let values: Vec<f32> = (0..rows).map(|row| row as f32).collect();
    let labels: Vec<f64> = (0..rows).map(|row| f64::from(u8::from(row > 10_000))).collect();
    let data = |labels: Vec<f64>| Dataset::from_dense(&values, 1, labels, vec!["q"; rows]).unwrap();
    let data_of_grades = data(labels.clone());
    let learner = crate::LambdaMart::new().metric("ap").trees(1).leaves(2);
    let result = learner.fit(&data_of_grades).unwrap();
    let kinds = |result: &TrainResult| -> Vec<&str> {
        result.warnings.iter().map(TrainWarning::kind).collect()
    };
    assert_eq!(kinds(&result), ["sampled-pairs"]);
    let json = serde_json::to_value(&result.warnings[0]).unwrap();
    assert_eq!((&json["queries"], &json["learner"]), (&1.into(), &"lambdamart".into()));
    let known = LearnerSpec::new(learner).unwrap();
    let known = known.warnings_about(&TrainRequest::new(&data_of_grades)).unwrap();
    assert_eq!(known, result.warnings);
    let large = data(labels.iter().map(|label| label * 100.0).collect());
    let train = |text: &str| LearnerSpec::parse(text).unwrap().train(TrainRequest::new(&large));
    assert_eq!(kinds(&train("mart(trees=1, metric=ndcg@5)").unwrap()), ["large-labels"]);
    assert_eq!(kinds(&train("mart(trees=1, metric=ndcg(gain=linear)@5)").unwrap()), [""; 0]);
}

#[test]
fn early_stopping_without_queries_to_validate_on_is_rejected() {
    let data = tiny(1);
    let learner = LearnerSpec::parse("mart(trees=3, stop=2)").unwrap();
    let options = CvOptions::new(vec![learner.measure().unwrap()]);
    let error =
        |options: &CvOptions<'_>| cross_validate(&learner, &data, options).unwrap_err().to_string();
    assert!(error(&options).contains("needs validation queries"));
    assert!(error(&options.clone().valid_part(1.0)).contains("set aside"));
    assert!(error(&options.clone().valid_part(0.01)).contains("a part of 0.01"));
    for folds in [0, 1, 13] {
        let wrong = options.clone().folds(folds).valid_part(0.2);
        assert!(error(&wrong).contains("at least 2 folds"), "{folds}");
    }
    let without_validation = learner.train(TrainRequest::new(&data)).unwrap_err().to_string();
    assert!(without_validation.contains("validation"), "{without_validation}");
}

#[test]
fn a_learner_that_takes_no_pairs_rejects_them_and_names_those_that_take_them() {
    let data = tiny(1);
    let query = data.query_rows(0);
    let text = format!("{} 0 1\n", data.query_ids().get(0));
    assert!(query.len() > 1);
    let input = rankwright_data::bytes::Input::from_bytes("pairs", text.into_bytes()).unwrap();
    let (data, _) = data.with_pairs(&input).unwrap();
    let train = |text: &str| LearnerSpec::parse(text).unwrap().train(TrainRequest::new(&data));
    let error = train("mart(trees=1)").unwrap_err().to_string();
    assert!(error.starts_with("mart does not learn from preference pairs; "), "{error}");
    for def in LEARNERS {
        let named = error.contains(&format!(" {}", def.name));
        assert!(named || !def.accepts.pairs, "{} is not named in: {error}", def.name);
    }
    assert!(train("rankmart(trees=1)").is_ok());
    // Bagging takes pairs if its learner does, so that the message names that.
    let error = train("bagging(learner=mart(trees=1))").unwrap_err().to_string();
    assert!(error.starts_with("bagging(learner=mart(trees=1)) does not learn"), "{error}");
}

/// Twelve queries of four documents without labels, and pairs that prefer each row to the next one
/// of its query.
fn unlabelled_pairs() -> Dataset {
    let rows = 48;
    let values: Vec<f32> = (0..rows * 2).map(|n| (n % 8) as f32).collect();
    let queries: Vec<usize> = (0..rows).map(|row| row / 4).collect();
    let data = Dataset::from_dense(&values, 2, vec![0; rows], queries).unwrap();
    let pairs = |row: usize| format!("{} {row} > {}\n", row / 4, row + 1);
    let lines: String = (0..rows).filter(|row| row % 4 < 3).map(pairs).collect();
    let input = rankwright_data::bytes::Input::from_bytes("pairs", lines.into_bytes()).unwrap();
    data.with_pairs(&input).unwrap().0
}

#[test]
fn the_table_says_which_learners_take_pairs_without_labels() {
    let data = unlabelled_pairs();
    for def in LEARNERS {
        let Ok(learner) = LearnerSpec::parse(def.name) else { continue };
        if !learner.learns() {
            continue;
        }
        let result = learner.train(TrainRequest::new(&data));
        match result {
            Ok(_) => assert!(def.accepts.pairs_alone, "{} takes pairs alone", def.name),
            Err(error) => {
                assert!(!def.accepts.pairs_alone, "{}: {error}", def.name);
                let text = error.to_string();
                let names = "rankmart, ranksvm, pairwise-logistic, ranknet, rankboost";
                // `pair-logistic` is the name of an objective, not of a learner.
                let named = text.contains(names) && !text.contains("pair-logistic");
                assert!(named || def.name == "blend", "{}: {text}", def.name);
            }
        }
    }
}

/// Two documents of one query, the first better with probability P: the loss is lowest where the
/// model says the same, `1 / (1 + exp(-(s_1 - s_2))) = P`.
#[test]
fn soft_targets_are_learnt_as_probabilities() {
    for probability in [0.5_f32, 0.7, 0.95] {
        let data = Dataset::builder().rows([[0.0_f32], [1.0]]).labels([0.0, 0.0]);
        let data = data.query_ids(["q", "q"]).build().unwrap();
        let data = data
            .with_preferences(rankwright_data::Preference::with_probability(0, 1, probability))
            .unwrap();
        for spec in [
            "rankmart(trees=200, leaves=2, min_rows=1, min_hessian=0, l2=0, rate=0.5, \
             norm_gap=false, norm_query=false)",
            "pairwise-logistic(c=1e6, transform=none)",
            "ranknet(layers=0, transform=none, epochs=4000, rate=0.05, decay=0, noise=0)",
        ] {
            let learner = LearnerSpec::parse(spec).unwrap();
            let model = learner.train(TrainRequest::new(&data)).unwrap().model;
            let scores = model.predict(&data).unwrap();
            let found = 1.0 / (1.0 + (scores[1] - scores[0]).exp());
            assert!((found - f64::from(probability)).abs() < 0.01, "{spec}: {found} {probability}");
        }
    }
}

#[test]
fn the_preset_burges_stands_for_four_parameters() {
    let parameters = "truncation=none, norm_gap=false, norm_query=false, cut=hard";
    for learner in ["lambdamart(trees=4, leaves=5", "lambdarank(layers=4, epochs=2"] {
        let preset = model_bytes(&format!("{learner}, preset=burges)"));
        assert!(preset == model_bytes(&format!("{learner}, {parameters})")), "{learner}");
        assert!(preset != model_bytes(&format!("{learner})")), "{learner}");
    }
    let message = error_message("lambdamart(preset=burges, norm_gap=true)");
    assert!(message.contains("preset=none"), "{message}");
}

/// Regression: if the models of the folds had different boundaries, the values over all queries took
/// a threshold of 0.5.
#[test]
fn a_query_is_measured_at_the_boundary_of_its_folds_model() {
    let data = LetorOptions { queries: 12, documents: 10, seed: 3 }.generate().unwrap();
    let learner = LearnerSpec::parse("mart(loss=ordinal, trees=2, leaves=4, min_rows=5)").unwrap();
    let accuracy = MetricSpec::parse("accuracy(over=queries)").unwrap();
    let options = CvOptions::new(vec![accuracy.resolve(SourceKind::Features).unwrap()]).folds(3);
    let found = cross_validate(&learner, &data, &options).unwrap();
    let all = &found.pooled.results[0];
    for fold in &found.folds {
        let own = &fold.results[0];
        assert!(!own.convention.starts_with("threshold=0.5, "), "{}", own.convention);
        let of_fold: Vec<_> = fold.queries.iter().map(|query| all.values[*query]).collect();
        assert_eq!(of_fold, own.values);
    }
    assert!(all.convention.starts_with("threshold=each-model, "), "{}", all.convention);
}

/// Regression: only some learners refused such data; others gave models that rank nothing.
#[test]
fn every_learner_refuses_data_without_weight() {
    let data = LetorOptions { queries: 4, documents: 5, seed: 1 }.generate().unwrap();
    let of_rows = data.clone().with_row_weights(vec![0.0; data.rows()]).unwrap();
    let ids = data.query_of_rows();
    let rows = (0..data.rows()).map(|row| data.matrix().row(row));
    let names: Vec<String> = (0..data.columns()).map(|column| format!("f{column}")).collect();
    let of_queries = Dataset::from_rows(rows, names).labels(data.labels()).query_ids(ids);
    let of_queries = of_queries.query_weights(vec![0.0; data.rows()]).build().unwrap();
    for def in LEARNERS {
        let Ok(learner) = LearnerSpec::parse(def.name) else { continue };
        if !learner.learns() {
            continue;
        }
        for data in [&of_rows, &of_queries] {
            let request = TrainRequest::new(data).validation(data);
            let error = learner.train(request).unwrap_err();
            assert_eq!(error.kind(), "zero-weights", "{}: {error}", def.name);
        }
    }
}
