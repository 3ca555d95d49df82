//! The golden record: SHA-256 digests of the scores and of the model's body of every learner and
//! objective, so that no change of the code changes a number unnoticed.
//!
//! `tests/golden/record.tsv` has a row for each data set and spec: the digest of the scores on the
//! training data (f64, little-endian, in row order) and of the model file without its header and
//! checksum. A change that is meant to change numbers rewrites the file and is listed in
//! CHANGELOG.md:
//!
//! ```text
//! cargo test -p rankwright-learn --test behaviour write_the_record -- --ignored
//! ```
//!
//! Matrix products of nets depend on the instruction set of the processor, so their rows are
//! checked only on processors of the kind that wrote them: those with AVX2 and fused multiply-add.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use rankwright_data::generate::LetorOptions;
use rankwright_data::{Absent, Dataset};
use rankwright_learn::{LEARNERS, LearnerDef, LearnerSpec, TrainRequest, ValidationSet};
use rankwright_model::{Model, ModelBody, ScoreOptions};
use sha2::{Digest, Sha256};

const RECORD: &str = include_str!("golden/record.tsv");

/// Learners that are nets, or have one inside.
const NETS: [&str; 6] = ["lambdarank", "ranknet", "listnet", "listmle", "softmax", "approxndcg"];

/// Trained on both data sets.
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

/// A row of the record: digests of scores and of the model's body.
type Digests = (String, String);

fn hex(bytes: &[u8]) -> String {
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
    let ends = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
    let start = ends.take(2).last().unwrap();
    bytes[start..bytes.len() - 8].to_vec()
}

fn letor(seed: u64) -> Dataset {
    LetorOptions { queries: 16, documents: 20, seed }.generate().unwrap()
}

/// Few columns, of the kinds that real tables have: missing values, few values, categories, a
/// constant; with weights of rows and queries, and rows of a query that do not stand together.
fn table(seed: u64) -> Dataset {
    let mut state = seed;
    let mut draw = move || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) as f64) / f64::from(1_u32 << 31)
    };
    let (rows, columns) = (300, 7);
    let (mut values, mut labels, mut queries, mut weights) = (vec![], vec![], vec![], vec![]);
    let mut by_query = vec![];
    for _ in 0..rows {
        let query = (draw() * 14.0).floor();
        let cells: Vec<f64> = (0..columns).map(|_| draw()).collect();
        let category = (cells[4] * 6.0).floor();
        let hidden = 2.0 * cells[0] - cells[1] + f64::from(u8::from(category % 2.0 == 0.0));
        labels.push(((hidden + 1.0 + 0.6 * (draw() - 0.5)) * 1.3).floor().clamp(0.0, 4.0));
        let missing = if cells[2] < 0.2 { f32::NAN } else { cells[2] as f32 };
        values.extend([cells[0] as f32, cells[1] as f32, missing, (cells[3] * 3.0).floor() as f32]);
        values.extend([category as f32, 1.0, (cells[6] * 1000.0 - 500.0) as f32]);
        queries.push(format!("q{query}"));
        weights.push(0.5 + cells[5] as f32);
        by_query.push(1.0 + (query % 3.0) as f32);
    }
    let data = Dataset::builder().dense(values, columns).labels(labels).query_ids(queries);
    let data = data.weights(weights).query_weights(by_query).absent(Absent::Missing);
    data.build().unwrap()
}

/// Trains a spec. The one place that knows how training is called.
fn trained(spec: &str, train: &Dataset, valid: &Dataset) -> Digests {
    let learner = LearnerSpec::parse(&keeping_all_rounds(spec)).unwrap();
    let mut request = TrainRequest::new(train);
    request.valid = vec![ValidationSet::new("valid", valid)];
    request.seed = 7;
    let model = match learner.train(request) {
        Ok(result) => result.model,
        Err(error) => panic!("{spec}: {error}"),
    };
    let scores = model.score(train, ScoreOptions::default()).unwrap();
    let bytes: Vec<u8> = scores.iter().flat_map(|score| score.to_le_bytes()).collect();
    (hex(&bytes), hex(&body(&model)))
}

/// The spec with `stop=none` for every learner of trees in it that does not stop early: the record
/// was written when all their trees were kept unless `stop` said otherwise.
fn keeping_all_rounds(spec: &str) -> String {
    let mut text = spec.to_owned();
    if text.contains("stop=") {
        return text;
    }
    let has = |def: &LearnerDef, name: &str| def.params().iter().any(|param| param.name == name);
    for def in LEARNERS.iter().filter(|def| has(def, "stop") && has(def, "trees")) {
        let (mut out, mut rest) = (String::new(), text.as_str());
        while let Some(at) = rest.find(def.name) {
            let (before, behind) = (&rest[..at], &rest[at + def.name.len()..]);
            let is_whole = !before.ends_with(|c: char| c.is_alphanumeric() || c == '-')
                && !behind.starts_with(|c: char| c.is_alphanumeric() || c == '-');
            out += before;
            out += def.name;
            rest = behind;
            if is_whole {
                match behind.strip_prefix('(') {
                    Some(inner) => (out, rest) = (out + "(stop=none, ", inner),
                    None => out += "(stop=none)",
                }
            }
        }
        text = out + rest;
    }
    text
}

fn is_net(spec: &str) -> bool {
    NETS.iter().any(|name| spec.starts_with(&format!("{name}(")))
}

fn computed() -> BTreeMap<(String, String), Digests> {
    let sets = [("letor", letor(1), letor(2)), ("table", table(1), table(2))];
    let mut found = BTreeMap::new();
    for (name, train, valid) in &sets {
        for spec in SPECS {
            found.insert((name.to_string(), spec.to_string()), trained(spec, train, valid));
        }
    }
    found
}

fn recorded() -> BTreeMap<(String, String), Digests> {
    let row = |line: &str| {
        let cells: Vec<String> = line.split('\t').map(str::to_owned).collect();
        let [data, spec, scores, body] = cells.try_into().unwrap();
        ((data, spec), (scores, body))
    };
    RECORD.lines().skip(1).map(row).collect()
}

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
    let compared = |spec: &str| nets_are_comparable() || !is_net(spec);
    let differ: Vec<_> = found
        .iter()
        .filter(|((_, spec), _)| compared(spec))
        .filter(|(key, digests)| record[*key] != **digests)
        .map(|((data, spec), (scores, _))| {
            let what =
                if record[&(data.clone(), spec.clone())].0 == *scores { "body" } else { "scores" };
            format!("{data}: {spec}: {what}")
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
fn every_learner_and_objective_is_in_the_record() {
    for info in LEARNERS {
        let named = |spec: &&str| Some(info.name) == spec.split('(').next();
        assert!(SPECS.iter().any(named), "{} is not in the record", info.name);
    }
    let train = letor(1);
    let valid = letor(2);
    let mut objectives: Vec<String> = vec![];
    for spec in SPECS.iter().filter(|spec| !is_net(spec)) {
        let mut request = TrainRequest::new(&train);
        request.valid = vec![ValidationSet::new("valid", &valid)];
        let text = LearnerSpec::parse(spec)
            .unwrap()
            .train(request)
            .unwrap()
            .model
            .header()
            .objective
            .clone();
        objectives.push(text.split('(').next().unwrap().to_owned());
    }
    for info in rankwright_learn::objective::OBJECTIVES {
        assert!(
            objectives.iter().any(|name| name == info.name),
            "{} is not in the record",
            info.name
        );
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
