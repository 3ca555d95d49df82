//! The golden record: SHA-256 digests of the scores and of the model's body of every learner and
//! objective, so that no change of the code changes a number unnoticed.
//!
//! `tests/golden/record.tsv` has a row for each data set and spec: the digest of the scores on the
//! training data (f64, little-endian, in row order) and of the model file without its header and
//! checksum. A change that is meant to change numbers rewrites the file and is listed in
//! CHANGELOG.md:
//!
//! ```text
//! cargo xtask records
//! ```
//!
//! Matrix products of nets depend on the instruction set of the processor, so their rows are
//! checked only on processors of the kind that wrote them: those with AVX2 and fused multiply-add.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use rankwright_data::generate::LetorOptions;
use rankwright_data::{Absent, Dataset};
use rankwright_learn::objective::OBJECTIVES;
use rankwright_learn::{LEARNERS, LearnerDef, LearnerSpec, TrainRequest, ValidationSet};
use rankwright_model::{Model, ModelBody, ScoreOptions};
use rankwright_spec::{ParamDef, ParamKind, Spec};
use sha2::{Digest, Sha256};

const RECORD: &str = include_str!("golden/record.tsv");

/// Specs of the record; [`specs`] adds learners and losses that are not among them.
const SPECS: &[&str] = &[
    "lambdamart(trees=12, leaves=7, min_rows=5)",
    "lambdamart(trees=8, leaves=7, min_rows=5, metric=ap)",
    "lambdamart(trees=8, leaves=7, min_rows=5, metric=err@10)",
    "lambdamart(trees=8, leaves=7, min_rows=5, metric=rbp)",
    "lambdamart(trees=8, leaves=7, min_rows=5, metric=rr, sigma=2)",
    "lambdamart(trees=8, leaves=7, min_rows=5, metric=p@5)",
    "lambdamart(trees=8, leaves=7, min_rows=5, newton=cross-leaf)",
    "lambdamart(trees=8, leaves=7, min_rows=5, newton=joint, ridge=0.1)",
    "lambdamart(trees=8, leaves=7, min_rows=5, weight=loss2++)",
    "lambdamart(trees=8, leaves=7, min_rows=5, truncation=none, norm_query=false, pairs=coherent)",
    "lambdamart(trees=12, leaves=7, min_rows=5, sample_queries=0.7, sample_features=0.5)",
    "lambdamart(trees=14, leaves=7, min_rows=5, rate=0.3, goss_top=0.3, goss_rest=0.3)",
    "lambdamart(trees=10, leaves=7, min_rows=5, drop_trees=0.3, drop_skip=0)",
    "lambdamart(trees=10, leaves=7, min_rows=5, drop_trees=0.3, drop_scale=forest)",
    "lambdamart(trees=8, growth=oblivious, depth=3, min_rows=5)",
    "lambdamart(trees=8, leaves=7, growth=depth, depth=3, min_rows=5, l1=0.01, l2=1)",
    "lambdamart(trees=8, leaves=7, min_rows=5, line_search=true)",
    "lambdamart(trees=40, leaves=7, min_rows=5, stop=4)",
    "rankmart(trees=10, leaves=7, min_rows=5)",
    "rankmart(trees=8, leaves=7, min_rows=5, ties=half, norm_query=true)",
    "xendcg(trees=10, leaves=7, min_rows=5)",
    "xendcg(trees=8, leaves=7, min_rows=5, terms=3)",
    "yetirank(trees=8, leaves=7, min_rows=5)",
    "yetirank(trees=8, leaves=7, min_rows=5, metric=ap, samples=3)",
    "mart(trees=10, leaves=7, min_rows=5)",
    "mart(loss=query-rmse, trees=8, leaves=7, min_rows=5)",
    "mart(loss=logloss, trees=8, leaves=7, min_rows=5)",
    "mart(loss=huber, alpha=0.8, trees=8, leaves=7, min_rows=5)",
    "mart(loss=ordinal, trees=8, leaves=7, min_rows=5)",
    "mart(loss=softmax, trees=8, leaves=7, min_rows=5)",
    "mart(loss=listmle, top=5, trees=8, leaves=7, min_rows=5)",
    "mart(loss=approxndcg, trees=8, leaves=7, min_rows=5)",
    "mart(trees=8, leaves=7, min_rows=5, monotone=2:+/3:-, bins=31)",
    "mart(trees=8, leaves=7, min_rows=5, interactions=1+2+3/4+5, feature_cost=2:0.5)",
    "mart(trees=8, leaves=7, min_rows=5, categorical=5, cat_smooth=1, cat_l2=1)",
    "tree(leaves=8, min_rows=5)",
    "tree(leaves=30, min_rows=2, impurity=0.05)",
    "ranksvm",
    "ranksvm(loss=hinge, c=2, norm_query=true, transform=standard)",
    "ranksvm(c=0.1/1/10)",
    "pairwise-logistic(c=20)",
    "linear-regression",
    "logistic(rel=2)",
    "linear-svm(loss=hinge, c=3)",
    "ordinal(c=100)",
    "rankboost(trees=20)",
    "rankboost(trees=20, sample_queries=0.5, norm_query=false)",
    "adarank(rounds=30, metric=ap)",
    "svmmap(c=0.3, epsilon=0.01, rounds=50)",
    "coordinate-ascent(restarts=1, passes=2)",
    "random-forest(trees=10, leaves=10, min_rows=3)",
    "bagging(learner=lambdamart(trees=6, leaves=7, min_rows=5), bags=3)",
    "blend(members=lambdamart(trees=6, leaves=7, min_rows=5)+ranksvm+random-forest(trees=5))",
    "linear(weights=1:0.5/3:-0.25, bias=1)",
    "lambdarank(layers=8, epochs=3)",
    "lambdarank(layers=0, epochs=3, metric=ap, transform=gauss)",
    "ranknet(layers=8/4, epochs=3, norm=layer, activation=gelu)",
    "ranknet(layers=8, epochs=2, factored=false)",
    "listnet(layers=8, epochs=3, optimiser=sgd)",
    "listmle(layers=8, epochs=3, dropout=0.2)",
    "softmax(layers=8, epochs=3, target=gain, norm=batch)",
    "approxndcg(layers=8, epochs=3, activation=tanh)",
];

/// The specs of the record, trained on both data sets: those above, the example of every other
/// learner, every other choice of `loss=`, and every objective that none of these minimises.
fn specs() -> Vec<String> {
    let mut specs = specs_of_learners();
    let reached = objectives_of(&specs);
    for def in OBJECTIVES.iter().filter(|def| !reached.iter().any(|name| name == def.name)) {
        let objective = def.example;
        specs.push(format!("boosting(objective={objective}, trees=8, leaves=7, min_rows=5)"));
    }
    specs
}

/// The names of the objectives that boosted trees minimise, of these specs.
fn objectives_of(specs: &[String]) -> Vec<String> {
    let learners = specs.iter().map(|spec| LearnerSpec::parse(spec).unwrap());
    let boosted = learners.filter(|learner| learner.boosting().is_some());
    boosted.map(|learner| Spec::parse(&learner.objective()).unwrap().name).collect()
}

/// The specs above, the example of every other learner and every other choice of `loss=`.
fn specs_of_learners() -> Vec<String> {
    let mut specs: Vec<String> = SPECS.iter().map(|spec| spec.to_string()).collect();
    for def in LEARNERS {
        let of_learner = |spec: &&str| spec.split('(').next() == Some(def.name);
        if !SPECS.iter().any(of_learner) {
            specs.push(def.example.to_owned());
        }
        let params = def.params();
        let Some(loss) = params.iter().find(|param| param.name == "loss") else { continue };
        let ParamKind::Choice { values } = &loss.kind else { continue };
        for value in values.iter().filter(|value| loss.default.as_deref() != Some(**value)) {
            let given = format!("loss={value}");
            let is_there = |spec: &&str| of_learner(spec) && spec.contains(&given);
            if !SPECS.iter().any(is_there) {
                specs.push(format!("{}({given})", def.name));
            }
        }
    }
    specs
}

/// The digests in a row of the record: of the scores and of the model's body.
type Digests = (String, String);

/// The digest of bytes, as hexadecimal digits.
fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The numbers of a model: the bytes of its file between the two lines of text and the checksum; of
/// a blend, whose file has its members' headers inside, the weights and the members' numbers.
fn body(model: &Model) -> Vec<u8> {
    if let ModelBody::Blend(blend) = model.body() {
        let member = |(weight, member): &(f64, Model)| {
            [weight.to_le_bytes().to_vec(), body(member)].concat()
        };
        return blend.members().iter().flat_map(member).collect();
    }
    let bytes = model.to_bytes();
    let line_ends =
        bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
    let start = line_ends.take(2).last().unwrap();
    let checksum_bytes = 8;
    bytes[start..bytes.len() - checksum_bytes].to_vec()
}

fn letor(seed: u64) -> Dataset {
    LetorOptions { queries: 16, documents: 20, seed }.generate().unwrap()
}

/// Few columns, of the kinds that real data has: missing values, few distinct values, categories, a
/// constant; with weights of rows and queries, and rows of a query that are not next to each other.
fn table(seed: u64) -> Dataset {
    let mut state = seed;
    let mut draw = move || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) as f64) / f64::from(1_u32 << 31)
    };
    let (rows, columns) = (300, 7);
    let (mut values, mut labels, mut queries, mut weights) = (vec![], vec![], vec![], vec![]);
    let mut query_weights = vec![];
    for _ in 0..rows {
        let query = (draw() * 14.0).floor();
        let draws: Vec<f64> = (0..columns).map(|_| draw()).collect();
        let category = (draws[4] * 6.0).floor();
        let relevance = 2.0 * draws[0] - draws[1] + f64::from(u8::from(category % 2.0 == 0.0));
        labels.push(((relevance + 1.0 + 0.6 * (draw() - 0.5)) * 1.3).floor().clamp(0.0, 4.0));
        let sometimes_missing = if draws[2] < 0.2 { f32::NAN } else { draws[2] as f32 };
        let one_of_three = (draws[3] * 3.0).floor() as f32;
        values.extend([draws[0] as f32, draws[1] as f32, sometimes_missing, one_of_three]);
        values.extend([category as f32, 1.0, (draws[6] * 1000.0 - 500.0) as f32]);
        queries.push(format!("q{query}"));
        weights.push(0.5 + draws[5] as f32);
        query_weights.push(1.0 + (query % 3.0) as f32);
    }
    let data = Dataset::builder().dense(values, columns).labels(labels).query_ids(queries);
    let data = data.weights(weights).query_weights(query_weights).absent(Absent::Missing);
    data.build().unwrap()
}

/// Trains a spec and computes the digests of the model.
fn trained_digests(spec: &str, train: &Dataset, valid: &Dataset) -> Digests {
    let learner = LearnerSpec::parse(&with_recorded_defaults(spec)).unwrap();
    let mut request = TrainRequest::new(train);
    request.valid = vec![ValidationSet::new("valid", valid)];
    request.seed = 7;
    let model = match learner.train(request) {
        Ok(result) => result.model,
        Err(error) => panic!("{spec}: {error}"),
    };
    let scores = model.score(train, ScoreOptions::default()).unwrap();
    let bytes: Vec<u8> = scores.iter().flat_map(|score| score.to_le_bytes()).collect();
    (digest(&bytes), digest(&body(&model)))
}

/// The spec with the settings that were defaults when the record was written, where it does not
/// give others: `stop=none` and `rate=0.1` for every learner of trees in it.
fn with_recorded_defaults(spec: &str) -> String {
    let mut text = spec.to_owned();
    let has = |def: &LearnerDef, name: &str, default: &str| {
        let is_there = |p: &ParamDef| p.name == name && p.default.as_deref() == Some(default);
        def.params().iter().any(is_there)
    };
    for (key, default, setting) in [("stop", "auto", "stop=none"), ("rate", "auto", "rate=0.1")] {
        if spec.contains(&format!("{key}=")) {
            continue;
        }
        let trees = |def: &&&LearnerDef| has(def, key, default) && has_parameter(def, "trees");
        for def in LEARNERS.iter().filter(trees) {
            text = with_setting(&text, def.name, setting);
        }
    }
    text
}

fn has_parameter(def: &LearnerDef, name: &str) -> bool {
    def.params().iter().any(|param| param.name == name)
}

/// The text with a setting added to every spec of a learner in it.
fn with_setting(text: &str, learner: &str, setting: &str) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while let Some(at) = rest.find(learner) {
        let (before, after) = (&rest[..at], &rest[at + learner.len()..]);
        // An objective may have the name of a learner.
        let is_whole_word = !before.ends_with(|c: char| c.is_alphanumeric() || c == '-')
            && !before.ends_with("objective=")
            && !after.starts_with(|c: char| c.is_alphanumeric() || c == '-');
        out += before;
        out += learner;
        rest = after;
        if is_whole_word {
            match after.strip_prefix('(') {
                Some(inner) => (out, rest) = (format!("{out}({setting}, "), inner),
                None => out += &format!("({setting})"),
            }
        }
    }
    out + rest
}

/// Whether the learner of a spec is a net: nets are trained in epochs.
fn is_net(spec: &str) -> bool {
    has_parameter(LearnerSpec::parse(spec).unwrap().def(), "epochs")
}

/// The digests by data set and spec, computed now.
fn computed() -> BTreeMap<(String, String), Digests> {
    let sets = [("letor", letor(1), letor(2)), ("table", table(1), table(2))];
    let mut found = BTreeMap::new();
    for (name, train, valid) in &sets {
        for spec in specs() {
            let digests = trained_digests(&spec, train, valid);
            found.insert((name.to_string(), spec), digests);
        }
    }
    found
}

/// The digests by data set and spec, from the record.
fn recorded() -> BTreeMap<(String, String), Digests> {
    let row = |line: &str| {
        let cells: Vec<String> = line.split('\t').map(str::to_owned).collect();
        let [data, spec, scores, body] = cells.try_into().unwrap();
        ((data, spec), (scores, body))
    };
    RECORD.lines().skip(1).map(row).collect()
}

/// Whether this processor is of the kind that wrote the record.
#[cfg(target_arch = "x86_64")]
fn nets_are_comparable() -> bool {
    is_x86_feature_detected!("fma") && is_x86_feature_detected!("avx2")
}

#[cfg(not(target_arch = "x86_64"))]
fn nets_are_comparable() -> bool {
    false
}

#[test]
fn scores_and_models_are_those_of_the_record() {
    let (found, record) = (computed(), recorded());
    assert_eq!(found.keys().collect::<Vec<_>>(), record.keys().collect::<Vec<_>>());
    if !nets_are_comparable() {
        println!("nets are left out: the record was written on another kind of processor");
    }
    let is_comparable = |spec: &str| nets_are_comparable() || !is_net(spec);
    let differ: Vec<_> = found
        .iter()
        .filter(|((_, spec), _)| is_comparable(spec))
        .filter(|(key, digests)| record[*key] != **digests)
        .map(|((data, spec), (scores, _))| {
            let same_scores = record[&(data.clone(), spec.clone())].0 == *scores;
            let difference = if same_scores { "body" } else { "scores" };
            format!("{data}: {spec}: {difference}")
        })
        .collect();
    assert!(
        differ.is_empty(),
        "{} of {} differ:\n{}",
        differ.len(),
        found.len(),
        differ.join("\n")
    );
}

#[test]
fn every_objective_is_in_the_record() {
    let recorded: Vec<String> = recorded().into_keys().map(|(_, spec)| spec).collect();
    let objectives = objectives_of(&recorded);
    for def in OBJECTIVES {
        let is_there = objectives.iter().any(|name| name == def.name);
        assert!(is_there, "{} is not in the record: run `cargo xtask records`", def.name);
    }
}

#[test]
#[ignore = "rewrites the record"]
fn write_the_record() {
    let mut text = "data\tspec\tscores\tbody\n".to_owned();
    for ((data, spec), (scores, body)) in computed() {
        let _ = writeln!(text, "{data}\t{spec}\t{scores}\t{body}");
    }
    std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/record.tsv"), text).unwrap();
}
