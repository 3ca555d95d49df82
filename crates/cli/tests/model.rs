//! Tests of `score`, `eval` and `compare` with models, and of `model inspect`.

use crate::common::Bench;
use rankwright::data::{Absent, FeatureNames};
use rankwright::model::{
    Activation, Blend, Child, Ensemble, Header, Layer, LayerNorm, Leaf, Linear, Model, ModelBody,
    Net, Normalise, Side, Split, SplitCondition, TransformStep, Transforms, Tree,
};

/// Feature 1 determines the label, feature 2 has no effect; rows of query a are not adjacent.
const DATA: &str = "2 qid:a 1:3 2:1\n0 qid:a 1:1 2:1\n1 qid:b 1:2 2:1\n1 qid:a 1:2\n0 qid:b 1:1\n";

fn ids(count: usize) -> Header {
    Header::new(FeatureNames::Ids { first: 1, count }, Absent::Zero)
}

/// Steps of feature 1 and, in the second tree, of feature 2.
fn trees(header: Header) -> Model {
    let split = |feature, threshold, left, right, gain| Split {
        feature,
        rule: SplitCondition::AtMost(threshold),
        missing: Side::Left,
        left,
        right,
        gain,
        rows: 5,
    };
    let leaves = |values: &[f64]| values.iter().map(|&value| Leaf { value, rows: 2 }).collect();
    let first = vec![
        split(0, 1.5, Child::Leaf(0), Child::Split(1), 3.0),
        split(0, 2.5, Child::Leaf(1), Child::Leaf(2), 1.0),
    ];
    let first = Tree::new(first, leaves(&[0.1, 0.2, 0.3])).unwrap();
    let second = vec![split(1, 0.5, Child::Leaf(0), Child::Leaf(1), 0.5)];
    let second = Tree::new(second, leaves(&[0.0, 1e-9])).unwrap();
    Model::new(header, ModelBody::Trees(Ensemble::new(0.5, vec![first, second]).unwrap())).unwrap()
}

fn linear_model(weights: &str) -> Model {
    let weights = Linear::parse_weights(weights).unwrap();
    let names = Linear::names_of(&weights).unwrap();
    let line = Linear::from_weights(&names, 0.0, &weights).unwrap();
    Model::new(Header::new(names, Absent::Zero), ModelBody::Linear(line)).unwrap()
}

/// A net of features 1 and 2; `within` first scales them to 0..1 within their query.
fn net(layers: Vec<Layer>, within: bool) -> Model {
    let transforms =
        Transforms::new(vec![vec![TransformStep::SignedLog]; 2], vec![0.0; 2], within).unwrap();
    Model::new(ids(2), ModelBody::Net(Net::new(transforms, layers).unwrap())).unwrap()
}

fn deep(within: bool) -> Model {
    let norm = LayerNorm { scale: vec![1.0; 3], shift: vec![0.0; 3] };
    let weights = vec![2.0, 0.0, 1.0, 0.5, -1.0, 0.0];
    let first = Layer::new(2, weights, vec![0.0; 3], Some(norm), Activation::Relu).unwrap();
    let last = Layer::new(3, vec![1.0, 0.5, -1.0], vec![0.0], None, Activation::None).unwrap();
    net(vec![first, last], within)
}

/// A blend of the negated linear model of `l.model` and trees.
fn blend() -> Model {
    let members = vec![(-0.75, linear_model("1:-1/2:0.5")), (0.25, trees(ids(2)))];
    Model::new(ids(2), ModelBody::Blend(Blend::new(Normalise::MinMax, members).unwrap())).unwrap()
}

fn bench() -> Bench {
    let bench = Bench::new();
    bench.put("data.txt", DATA);
    let mut header = ids(2);
    header.learner = "lambdamart(trees=2)".into();
    header.metric = "ndcg@5".into();
    (header.queries, header.rows, header.seed) = (2, 5, 7);
    header.notes.insert("stopped".into(), "after 2 trees".into());
    trees(header).save(bench.path("t.model")).unwrap();
    linear_model("1:-1/2:0.5").save(bench.path("l.model")).unwrap();
    bench
}

#[test]
fn scores_stand_in_the_order_of_the_input_and_read_back() {
    let bench = bench();
    let out = bench.run("score t.model data.txt").ok().out();
    let expected = [0.5 + 0.3 + 1e-9, 0.5 + 0.1 + 1e-9, 0.5 + 0.2 + 1e-9, 0.5 + 0.2, 0.5 + 0.1];
    let found: Vec<f64> = out.lines().map(|line| line.parse().unwrap()).collect();
    assert_eq!(found, expected);
    let result = bench.run("score t.model data.txt --out s.txt --json").json();
    assert_eq!(result["rows"], 5);
    assert!(result["seconds"]["load"].is_f64() && result["seconds"]["score"].is_f64());
    assert_eq!(bench.text("s.txt"), out);
    bench.run("score t.model data.txt --threads 1 --out one.txt").ok();
    assert_eq!(bench.text("one.txt"), out);
}

#[test]
fn a_model_is_measured_like_its_scores() {
    let bench = bench();
    bench.run("score t.model data.txt --out s.txt").ok();
    let direct = bench.run("eval t.model data.txt --metric ndcg@5,ap --json").json();
    assert_eq!(direct, bench.run("eval --scores s.txt data.txt --metric ndcg@5,ap --json").json());
    assert_eq!(direct["metrics"][0]["value"], 1.0);
    assert_eq!(direct["rows"], 5);
}

#[test]
fn models_and_score_files_are_compared_on_one_data_set() {
    let bench = bench();
    bench.put("more.txt", "1 qid:c 1:9 2:1\n0 qid:c 1:1 2:2\n");
    let found = bench
        .run("compare data.txt t.model more.txt l.model --metric rr --json --per-query p.tsv")
        .json();
    assert_eq!(found["baseline"], "t.model");
    let systems = &found["metrics"][0]["systems"];
    assert_eq!((&systems[0]["value"], &systems[1]["system"]), (&1.0.into(), &"l.model".into()));
    assert_eq!(systems[1]["versus_baseline"]["losses"], 3);
    assert!(bench.text("p.tsv").starts_with("metric\tquery\tt.model\tl.model\n"));
    bench.run("score l.model data.txt --out l.txt").ok();
    let mixed = bench
        .run(
            "compare data.txt l.model t.model --scores l.txt --baseline t.model --metric ap --json",
        )
        .json();
    let systems = &mixed["metrics"][0]["systems"];
    assert_eq!(systems[0]["value"], systems[2]["value"]);
    assert_eq!(mixed["baseline"], "t.model");
}

#[test]
fn files_that_are_no_model_or_no_data_are_named() {
    let bench = bench();
    bench.put("s.txt", "1\n2\n3\n4\n5\n").put("x.run", "1 Q0 b 1 9 t\n").put("qrels", "1 0 b 1\n");
    std::fs::write(bench.path("cut.model"), &std::fs::read(bench.path("t.model")).unwrap()[..200])
        .unwrap();
    for (line, code, message) in [
        ("score data.txt data.txt", 1, "data.txt: this is no model: its beginning is unlike"),
        ("score t.model l.model", 1, "l.model is a model; feature data is expected here"),
        ("score cut.model data.txt", 1, "cut.model: the model is damaged: its checksum"),
        ("score gone data.txt", 1, "cannot read gone"),
        ("score t.model data.txt --pairs p", 2, "leave out --pairs"),
        ("score t.model", 2, "DATA"),
        ("score - -", 1, "standard input (-) can be read only once"),
        ("eval data.txt", 2, "data.txt is not a model\n help: give a model before the data"),
        ("eval t.model", 2, "give feature data besides the models"),
        ("eval t.model l.model data.txt", 2, "`rankwright compare` takes several"),
        ("eval --scores s.txt t.model", 1, "t.model is a model; feature data is expected"),
        ("eval --scores s.txt data.txt --ignore-extra", 2, "--ignore-extra"),
        ("eval --run t.model --qrels qrels", 1, "t.model is a model; a run is expected"),
        ("compare t.model l.model", 2, "give feature data besides the models"),
        ("compare data.txt", 2, "none of the files is a model"),
        ("compare data.txt --scores s.txt --ignore-extra", 2, "leave out --ignore-extra"),
        ("compare --qrels qrels x.run t.model", 1, "t.model is a model; a run is expected"),
        ("data inspect t.model", 1, "t.model is a model; feature data is expected here"),
        ("model inspect data.txt", 1, "data.txt: this is no model"),
        ("model inspect t.model --tree 3", 1, "there is no tree 3; the model has 2"),
        ("model inspect l.model --svg a.svg", 1, "this model is linear and has no trees"),
        ("model inspect t.model --repeats 3", 2, "--data"),
        ("model inspect t.model --absent zero", 2, "apply to --data"),
    ] {
        let ran = bench.run(line);
        assert_eq!(ran.code(), code, "{line}: {}", ran.err());
        assert!(ran.err().contains(message), "{line}: {}", ran.err());
        assert!(ran.out().is_empty(), "{line} wrote a result");
    }
}

#[test]
fn features_are_matched_and_mismatches_are_listed() {
    let bench = bench();
    bench.put("wide.txt", "1 qid:a 1:3 3:1\n0 qid:a 1:1 4:1\n");
    let ran = bench.run("score t.model wide.txt");
    assert_eq!(ran.code(), 1);
    assert!(ran.err().contains("2 features that the model does not know: 3, 4"), "{}", ran.err());
    assert!(ran.err().contains("help: check that this is the right data, or ignore extra"));
    let scores = bench.run("score t.model wide.txt --ignore-extra").ok().out();
    assert_eq!(scores, "0.8\n0.6\n");
    bench.put("narrow.txt", "1 qid:a 1:3\n");
    assert_eq!(bench.run("score t.model narrow.txt").ok().out(), "0.8\n");

    let names = FeatureNames::Named(vec!["bm25".into(), "pr".into()]);
    trees(Header::new(names, Absent::Zero)).save(bench.path("n.model")).unwrap();
    bench.put("n.csv", "qid,label,pr,bm25\na,1,0,3\na,0,0,1\n");
    assert_eq!(bench.run("score n.model n.csv").ok().out(), "0.8\n0.6\n");
    bench.put("m.csv", "qid,label,bm25,rp\na,1,0,3\n");
    let ran = bench.run("score n.model m.csv --ignore-extra");
    assert!(ran.err().contains("lacks 1 of the model's features: pr"), "{}", ran.err());
}

#[test]
fn names_match_names_and_numbers_match_numbers_unless_positions_are_asked_for() {
    let bench = bench();
    let names = FeatureNames::Named(vec!["bm25".into(), "pr".into()]);
    trees(Header::new(names, Absent::Zero)).save(bench.path("n.model")).unwrap();
    // The features of the model have names and those of the data have numbers from 0: nothing says
    // which number belongs to which name.
    bench.put("zero.txt", "1 qid:a 0:3 1:0\n0 qid:a 0:1 1:0\n");
    let message =
        "the model's features have the names bm25, pr; those of the data have the numbers 0 to 1";
    let page = "--out p.html";
    for line in [
        "score n.model zero.txt".to_owned(),
        "eval n.model zero.txt".to_owned(),
        "compare zero.txt n.model n.model".to_owned(),
        "explain n.model zero.txt --query a".to_owned(),
        format!("report train n.model zero.txt {page}"),
        "model inspect n.model --data zero.txt".to_owned(),
    ] {
        for more in ["", " --ignore-extra"] {
            let ran = bench.run(&format!("{line}{more}"));
            assert_eq!(ran.code(), 1, "{line}{more}: {}{}", ran.out(), ran.err());
            assert!(ran.err().contains(message), "{line}: {}", ran.err());
            assert!(ran.err().contains("--match-by position"), "{line}: {}", ran.err());
            assert!(!ran.err().contains("with --ignore-extra"), "{line}: {}", ran.err());
        }
    }
    let scores = bench.run("score n.model zero.txt --match-by position").ok().out();
    assert_eq!(scores, "0.8\n0.6\n");
    bench.run("explain n.model zero.txt --query a --match-by position").ok();
    bench.run("eval n.model zero.txt --match-by position").ok();
    let base = "--learner mart(trees=2,min_rows=1) --out m";
    bench.put("n.csv", "qid,label,bm25,pr\na,1,3,0\na,0,1,0\n");
    let line = format!("train n.csv --valid zero.txt {base}");
    let ran = bench.run(&line);
    assert_eq!((ran.code(), bench.path("m").exists()), (1, false));
    let message = "the features of the training data have the names bm25, pr; those of zero.txt have the numbers 0 to 1";
    assert!(ran.err().contains(message), "{}", ran.err());
    bench.run(&format!("{line} --match-by position")).ok();
    // A member of a blend is matched like any model.
    trees(ids(2)).save(bench.path("numbers.model")).unwrap();
    let line = "train n.csv --learner blend(members=file:numbers.model+file:n.model,weights=equal) --out b";
    let ran = bench.run(line);
    assert_eq!((ran.code(), bench.path("b").exists()), (1, false), "{}", ran.err());
    assert!(ran.err().contains("the names bm25, pr"), "{}", ran.err());
    bench.run(&format!("{line} --match-by position")).ok();
    bench.run("score b n.csv").ok();
}

#[test]
fn absent_features_have_the_value_that_the_model_defines() {
    let bench = bench();
    let mut header = ids(2);
    header.absent = Absent::Missing;
    let (header, kind) = trees(header).into_parts();
    let ModelBody::Trees(ensemble) = kind else { unreachable!() };
    // Missing values of feature 1 go right here, zeros go left.
    let change = |tree: &Tree| {
        let right = |split: &Split| Split { missing: Side::Right, ..*split };
        Tree::new(tree.splits().iter().map(right).collect(), tree.leaves().to_vec()).unwrap()
    };
    let changed = ensemble.trees().iter().map(change).collect();
    let kind = ModelBody::Trees(Ensemble::new(0.0, changed).unwrap());
    Model::new(header, kind).unwrap().save(bench.path("m.model")).unwrap();
    bench.put("s.txt", "1 qid:a 2:0\n0 qid:a 1:0 2:0\n");
    assert_eq!(bench.run("score m.model s.txt").ok().out(), "0.3\n0.1\n");
    assert_eq!(bench.run("score t.model s.txt").ok().out(), "0.6\n0.6\n");
    bench.run("data convert s.txt s.rwd").ok();
    for (line, message) in [
        ("score m.model s.rwd", "the model takes absent features as missing"),
        (
            "score m.model s.txt --absent zero",
            "leave out --absent zero, which contradicts the model",
        ),
        ("compare s.txt m.model t.model", "compare the score files with --scores"),
    ] {
        let ran = bench.run(line);
        assert_eq!(ran.code(), 1, "{line}");
        assert!(ran.err().contains(message), "{line}: {}", ran.err());
    }
    bench.run("compare s.txt m.model l.model --metric rr").ok();
}

#[test]
fn inspect_shows_the_training_and_the_importance_of_features() {
    let bench = bench();
    let out = bench.run("model inspect t.model --tree 1").ok().out();
    for part in [
        "lambdamart(trees=2)",
        "5 documents of 2 queries, seed 7",
        "after 2 trees",
        "2, ids 1 to 2",
        "5, at most 3 per tree",
        "1.5 on average, at most 2",
        "4.0000",
        "88.9 %",
        "tree 1:\n1 <= 1.5? missing: yes, 5 rows, gain 3\n  yes: 0.1 (2 rows)\n",
    ] {
        assert!(out.contains(part), "{part} is not in\n{out}");
    }
    let found = bench.run("model inspect t.model --json").json();
    assert_eq!(found["importance"][0]["feature"], "1");
    assert_eq!(found["importance"][0]["splits"], 2);
    assert_eq!(found["trees"]["leaves"], 5);
    assert_eq!(found["notes"]["stopped"], "after 2 trees");
    assert!(found.get("permutation").is_none());
    let line = bench.run("model inspect l.model").ok().out();
    assert!(line.contains("weight") && line.contains("-1\n"), "{line}");
}

#[test]
fn permutation_importance_finds_the_feature_that_matters() {
    let bench = bench();
    let mut text = String::new();
    for query in 0..40 {
        for (label, noise) in [(2, query % 3), (0, query % 2), (1, query % 5)] {
            text += &format!("{label} qid:{query} 1:{} 2:{noise}\n", label + 1);
        }
    }
    bench.put("many.txt", &text);
    let line = "model inspect t.model --data many.txt --repeats 4 --json";
    let found = bench.run(line).json();
    assert_eq!(found["permutation"]["metric"], "ndcg@5", "the metric of the training");
    assert_eq!(found["permutation"]["value"], 1.0);
    let [first, second] = [0, 1].map(|i| found["importance"][i]["drop"].as_f64().unwrap());
    assert!(first > 0.1, "{found}");
    assert_eq!(second, 0.0, "a step of 1e-9 changes no order");
    assert!(found["importance"][0]["drop_spread"].as_f64().unwrap() > 0.0);
    assert_eq!(found, bench.run(&format!("{line} --threads 1")).json());
    assert_ne!(found, bench.run(&format!("{line} --seed 2")).json());
    let out = bench.run("model inspect l.model --data many.txt --metric rr --repeats 1").ok().out();
    assert!(out.contains("how much worse rr = ") && out.contains("of 1 shuffle, seed 1"), "{out}");
    bench.put("blank.txt", "0 qid:a 1:1\n0 qid:a 1:2\n");
    let ran = bench.run("model inspect t.model --data blank.txt");
    assert_eq!(ran.code(), 1);
    assert!(ran.err().contains("no query of the data has a value for ndcg@5"), "{}", ran.err());
}

#[test]
fn a_tree_is_drawn() {
    let bench = bench();
    bench.run("model inspect t.model --svg t.svg --tree 2").ok();
    let svg = bench.text("t.svg");
    assert!(svg.starts_with("<svg ") && svg.contains("tree 2 of t.model"), "{svg}");
    assert_eq!(svg.matches("<rect ").count(), 3);
    let out = bench.run("model inspect t.model --svg -").ok().out();
    assert!(out.starts_with("<svg ") && out.ends_with("</svg>\n"));
    assert_eq!(bench.run("model inspect t.model --svg - --json").code(), 1);
}

#[test]
fn packed_models_are_models_too() {
    let bench = bench();
    trees(ids(2)).save(bench.path("t.model.gz")).unwrap();
    let plain = bench.run("score t.model data.txt").ok().out();
    assert_eq!(bench.run("score t.model.gz data.txt").ok().out(), plain);
    bench.run("eval t.model.gz data.txt").ok();
}

#[test]
fn models_are_converted_and_read_wherever_a_model_is_taken() {
    let bench = Bench::new();
    trees(ids(2)).save(bench.path("own.model")).unwrap();
    bench.put("data.txt", "0 qid:1 1:1 2:1\n1 qid:1 1:2\n2 qid:1 1:3 2:0.5\n");
    let own = bench.run("score own.model data.txt").ok().out();
    for format in ["lightgbm", "xgboost", "onnx", "rankwright"] {
        bench.run(&format!("model convert own.model --to {format} --out {format}.file")).ok();
        let ran = bench.run(&format!("model inspect {format}.file --json")).ok();
        assert!(ran.out().contains("\"trees\""), "{}", ran.out());
    }
    // LightGBM's text keeps the bits, as it sums in the same order.
    let data = "label,qid,1,2\n0,1,1,1\n1,1,2,0\n2,1,3,0.5\n";
    bench.put("named.csv", data);
    let through = bench.run("score lightgbm.file named.csv").ok().out();
    assert_eq!(through, own);
    let ran = bench.run("model convert own.model --to nowhere --out x");
    assert_eq!((ran.code(), ran.err().contains("lightgbm")), (2, true), "{}", ran.err());
    // The file to write is an option or the last file, as in `data convert`.
    bench.run("model convert own.model --out one.model").ok();
    bench.run("model convert own.model two.model").ok();
    let scores = |model: &str| bench.run(&format!("score {model} data.txt")).ok().out();
    assert_eq!(scores("one.model"), scores("two.model"));
    assert_eq!(bench.run("model convert own.model").code(), 2);
    assert_eq!(bench.run("model convert own.model two.model --out x").code(), 2);
    let ran = bench.run("model convert data.txt --out x");
    assert_eq!(ran.code(), 1);
    assert!(ran.err().contains("this is no model"), "{}", ran.err());
    let ran = bench.run("model convert own.model --first-feature 0 --out moved.model").ok();
    assert!(ran.out().contains("2 features"), "{}", ran.out());
    let ran = bench.run("score moved.model data.txt");
    assert!(ran.err().contains("does not know: 2"), "{}", ran.err());
    assert!(ran.err().contains("help: give --match-by position, if both"), "{}", ran.err());
}

/// A model of another system that has no names counts its columns from 0, LETOR data from 1.
#[test]
fn columns_of_another_system_are_not_shifted_by_one() {
    let bench = Bench::new();
    let header = Header::new(FeatureNames::Ids { first: 0, count: 2 }, Absent::Zero);
    trees(header).save(bench.path("own.model")).unwrap();
    bench.put("from0.txt", "0 qid:1 0:1 1:1\n1 qid:1 0:2\n2 qid:1 0:3 1:0.5\n");
    bench.put("from1.txt", "0 qid:1 1:1 2:1\n1 qid:1 1:2\n2 qid:1 1:3 2:0.5\n");
    // The last feature occurs nowhere, so that no number is too large for the model.
    bench.put("sparse.txt", "0 qid:1 1:1\n1 qid:1 1:2\n2 qid:1 1:3\n");
    for format in ["lightgbm", "xgboost", "onnx"] {
        let model = format!("{format}.file");
        bench.run(&format!("model convert own.model --to {format} --out {model}")).ok();
        let right = bench.run(&format!("score {model} from0.txt")).ok().out();
        for data in ["from1.txt", "sparse.txt"] {
            for more in ["", " --ignore-extra"] {
                let ran = bench.run(&format!("score {model} {data}{more}"));
                assert_eq!(ran.code(), 1, "{format} {data}{more}: {}", ran.out());
                assert!(ran.err().contains("counted from 0"), "{}", ran.err());
                assert!(ran.err().contains("--first-feature 1"), "{}", ran.err());
                assert!(!ran.err().contains("--ignore-extra"), "{}", ran.err());
            }
        }
        let ran = bench.run(&format!("score {model} from1.txt --match-by position")).ok();
        assert_eq!(ran.out(), right, "{format}");
        bench.run(&format!("model convert {model} --first-feature 1 --out moved.model")).ok();
        assert_eq!(bench.run("score moved.model from1.txt").ok().out(), right, "{format}");
        bench.run(&format!("model convert {model} --first-feature 0 --out meant.model")).ok();
        bench.run("score meant.model sparse.txt").ok();
    }
}

#[test]
fn nets_and_blends_score_each_query_by_itself() {
    let bench = bench();
    let one = Layer::new(2, vec![1.0, 0.0], vec![0.0], None, Activation::None).unwrap();
    net(vec![one], true).save(bench.path("n.model")).unwrap();
    blend().save(bench.path("b.model")).unwrap();
    // Feature 1 is 3, 1, 2 in query a and 2, 1 in query b.
    let scores = bench.run("score n.model data.txt").ok().out();
    let scores: Vec<f64> = scores.lines().map(|line| line.parse().unwrap()).collect();
    assert_eq!((scores[0], scores[1], scores[2], scores[4]), (1.0, 0.0, 1.0, 0.0));
    assert!(scores[3] > 0.5 && scores[3] < 0.6, "ln 1.5 / ln 2: {scores:?}");
    for model in ["n.model", "b.model"] {
        let found = bench.run(&format!("eval {model} data.txt --metric ndcg@5 --json")).json();
        assert_eq!(found["metrics"][0]["value"], 1.0);
        bench.run(&format!("score {model} data.txt --threads 1 --out one.txt")).ok();
        bench.run(&format!("score {model} data.txt --out many.txt")).ok();
        assert_eq!(bench.text("one.txt"), bench.text("many.txt"));
    }
    bench.run("compare data.txt t.model n.model b.model --metric rr").ok();
    bench.put("s.csv", "qid,label,1,2\na,1,3,1\na,0,1,1\n");
    bench.run("score n.model s.csv").ok();
}

#[test]
fn inspect_shows_the_layers_of_a_net() {
    let bench = bench();
    deep(true).save(bench.path("n.model")).unwrap();
    let out = bench.run("model inspect n.model").ok().out();
    for part in [
        "signed log, then 0 to 1 within the query",
        "2 to 3, layer norm, relu, 15 parameters",
        "3 to 1, 4 parameters",
        "19",
    ] {
        assert!(out.contains(part), "{part} is not in\n{out}");
    }
    let found = bench.run("model inspect n.model --json").json();
    assert_eq!((&found["kind"], &found["parameters"]), (&"net".into(), &19.into()));
    assert_eq!(
        (&found["layers"][0]["activation"], &found["layers"][0]["norm"]),
        (&"relu".into(), &true.into())
    );
    assert_eq!(found["layers"][1]["inputs"], 3);
    assert!(found.get("importance").is_none() && found.get("weights").is_none());
    let one = Layer::new(2, vec![0.5, -2.0], vec![0.25], None, Activation::None).unwrap();
    net(vec![one], false).save(bench.path("w.model")).unwrap();
    let found = bench.run("model inspect w.model --json").json();
    assert_eq!(found["weights"][0], serde_json::json!({ "feature": "2", "weight": -2.0 }));
    let out = bench.run("model inspect w.model").ok().out();
    assert!(out.contains("weights are those of the transformed features"), "{out}");
}

#[test]
fn inspect_shows_the_members_of_a_blend() {
    let bench = bench();
    blend().save(bench.path("b.model")).unwrap();
    let out = bench.run("model inspect b.model").ok().out();
    for part in ["scaled to 0 to 1 within each query", "-0.75", "linear", "0.25", "2 trees"] {
        assert!(out.contains(part), "{part} is not in\n{out}");
    }
    let found = bench.run("model inspect b.model --json").json();
    assert_eq!(found["normalise"], "min-max");
    assert_eq!(
        (&found["members"][0]["weight"], &found["members"][1]["kind"]),
        (&(-0.75).into(), &"trees".into())
    );
}

#[test]
fn features_of_nets_and_blends_are_shuffled_like_any_other() {
    let bench = bench();
    let mut text = String::new();
    for query in 0..40 {
        for (label, noise) in [(2, query % 3), (0, query % 2), (1, query % 5)] {
            text += &format!("{label} qid:{query} 1:{} 2:{noise}\n", label + 1);
        }
    }
    bench.put("many.txt", &text);
    deep(true).save(bench.path("n.model")).unwrap();
    blend().save(bench.path("b.model")).unwrap();
    for model in ["n.model", "b.model"] {
        let line = format!("model inspect {model} --data many.txt --metric ndcg@5 --repeats 3");
        let found = bench.run(&format!("{line} --json")).json();
        assert_eq!(found["importance"][0]["feature"], "1", "{found}");
        assert!(found["importance"][0]["drop"].as_f64().unwrap() > 0.1, "{found}");
        assert_eq!(found["importance"].as_array().unwrap().len(), 2);
        let out = bench.run(&line).ok().out();
        assert!(out.contains("how much worse ndcg@5 = "), "{out}");
        assert!(!out.contains("weights are those"), "there are drops alone:\n{out}");
    }
}

#[test]
fn what_only_trees_have_is_refused_for_nets_and_blends() {
    let bench = bench();
    deep(false).save(bench.path("n.model")).unwrap();
    blend().save(bench.path("b.model")).unwrap();
    for (line, message) in [
        ("model inspect n.model --tree 1", "this model is net and has no trees"),
        ("model inspect b.model --svg a.svg", "this model is blend and has no trees"),
        ("model convert n.model --to lightgbm --out x", "LightGBM model: a net"),
        ("model convert b.model --to onnx --out x", "ONNX model: a blend"),
    ] {
        let ran = bench.run(line);
        assert_eq!(ran.code(), 1, "{line}: {}", ran.err());
        assert!(ran.err().contains(message), "{line}: {}", ran.err());
    }
    bench.run("model convert b.model --out same.model").ok();
    let same = std::fs::read(bench.path("same.model")).unwrap();
    assert_eq!(same, std::fs::read(bench.path("b.model")).unwrap());
}
