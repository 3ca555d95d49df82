//! Tests of reading and writing ONNX, on hand-made and random models. The numbers of fields of
//! protocol buffers are listed in `fields.rs`.

use proptest::prelude::*;
use rankwright_data::FeatureNames;

use super::wire::{Message, WireWriter};
use super::{detect, read, write};
use crate::interchange::test_support::{
    assert_round_trip, damage, linear_model, model, small_tree,
};
use crate::net::tests::{MIN_MAX, NO_MIN_MAX, random_net};
use crate::{Blend, Categories, Ensemble, Model, ModelBody, Normalise, Side, SplitCondition, Tree};

/// An ONNX model to be built; every attribute can be changed.
#[derive(Clone)]
struct Sample {
    ints: Vec<(&'static str, Vec<i64>)>,
    floats: Vec<(&'static str, Vec<f32>)>,
    texts: Vec<(&'static str, &'static str)>,
    modes: Vec<&'static str>,
    /// Whether the numbers of an attribute are packed in one field.
    packed: bool,
}

/// `10 + (x0 <= 0.5 ? 1 : (x1 > -2 ? 4 : 2)) + 0.5`: a base, and two trees with the ids 0 and 7. A
/// missing x0 goes to the side of 1, a missing x1 to the side of 2.
fn sample() -> Sample {
    Sample {
        ints: vec![
            ("nodes_treeids", vec![0, 0, 0, 0, 0, 7]),
            ("nodes_nodeids", vec![0, 1, 2, 3, 4, 0]),
            ("nodes_featureids", vec![0, 0, 1, 0, 0, 0]),
            ("nodes_truenodeids", vec![1, 0, 3, 0, 0, 0]),
            ("nodes_falsenodeids", vec![2, 0, 4, 0, 0, 0]),
            ("nodes_missing_value_tracks_true", vec![1, 0, 0, 0, 0, 0]),
            ("target_treeids", vec![0, 0, 0, 7]),
            ("target_nodeids", vec![1, 3, 4, 0]),
            ("target_ids", vec![0; 4]),
        ],
        floats: vec![
            ("nodes_values", vec![0.5, 0.0, -2.0, 0.0, 0.0, 0.0]),
            ("target_weights", vec![1.0, 4.0, 2.0, 0.5]),
            ("base_values", vec![10.0]),
        ],
        texts: vec![("aggregate_function", "SUM"), ("post_transform", "NONE")],
        modes: vec!["BRANCH_LEQ", "LEAF", "BRANCH_GT", "LEAF", "LEAF", "LEAF"],
        packed: false,
    }
}

impl Sample {
    /// The sample with another list of whole numbers as the attribute `name`.
    fn ints(mut self, name: &str, values: &[i64]) -> Sample {
        self.ints.iter_mut().find(|entry| entry.0 == name).unwrap().1 = values.to_vec();
        self
    }

    /// The node of the ensemble, with the input `X` and the output `variable`.
    fn node(&self) -> WireWriter {
        let mut node = WireWriter::default();
        node.text(1, "X").text(2, "variable").text(4, "TreeEnsembleRegressor");
        node.text(7, "ai.onnx.ml");
        let mut put = |name: &str, fill: &dyn Fn(&mut WireWriter)| {
            let mut attribute = WireWriter::default();
            attribute.text(1, name);
            fill(&mut attribute);
            node.message(5, &attribute);
        };
        for (name, values) in &self.ints {
            put(name, &|to| match self.packed {
                true => drop(to.bytes(8, &values.iter().map(|v| *v as u8).collect::<Vec<_>>())),
                false => values.iter().for_each(|value| {
                    to.int(8, *value);
                }),
            });
        }
        for (name, values) in &self.floats {
            let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
            put(name, &|to| match self.packed {
                true => drop(to.bytes(7, &bytes)),
                false => values.iter().for_each(|value| {
                    to.float(7, *value);
                }),
            });
        }
        for (name, text) in &self.texts {
            put(name, &|to| {
                to.text(4, text);
            });
        }
        put("n_targets", &|to| {
            to.int(3, 1);
        });
        put("nodes_modes", &|to| {
            for mode in &self.modes {
                to.text(9, mode);
            }
        });
        node
    }

    fn file(&self) -> Vec<u8> {
        file(&[self.node()], "variable", 3)
    }

    fn read(&self) -> Result<Model, String> {
        read(&self.file()).map_err(|error| error.to_string())
    }
}

/// A file whose graph has these nodes, the input `X` of `columns` columns, and this output.
fn file(nodes: &[WireWriter], output: &str, columns: i64) -> Vec<u8> {
    let tensor = |name: &str, columns| {
        let (mut dim, mut shape, mut tensor_type) =
            (WireWriter::default(), WireWriter::default(), WireWriter::default());
        dim.int(1, columns);
        shape.bytes(1, &[]).message(1, &dim);
        tensor_type.int(1, 1).message(2, &shape);
        let (mut kind, mut info) = (WireWriter::default(), WireWriter::default());
        kind.message(1, &tensor_type);
        info.text(1, name).message(2, &kind);
        info
    };
    let mut graph = WireWriter::default();
    for node in nodes {
        graph.message(1, node);
    }
    graph.message(11, &tensor("X", columns)).message(12, &tensor(output, 1));
    let mut file = WireWriter::default();
    file.int(1, 8).text(2, "by hand").text(3, "1").message(7, &graph);
    file.done()
}

/// A node that is no ensemble, from one tensor to another; `cast` is the type to which a `Cast`
/// converts.
fn other_node(op: &str, from: &str, to: &str, cast: Option<i64>) -> WireWriter {
    let mut node = WireWriter::default();
    node.text(1, from).text(1, "shape").text(2, to).text(4, op);
    if let Some(kind) = cast {
        let mut attribute = WireWriter::default();
        attribute.text(1, "to").int(3, kind);
        node.message(5, &attribute);
    }
    node
}

const INF: f32 = f32::INFINITY;

#[test]
fn an_ensemble_is_read_packed_or_not() {
    let (unpacked, mut packed) = (sample(), sample());
    packed.packed = true;
    for sample in [unpacked, packed] {
        let bytes = sample.file();
        assert!(detect(&bytes));
        let model = read(&bytes).unwrap();
        assert_eq!(model.header().features, FeatureNames::Ids { first: 0, count: 3 });
        assert_eq!(model.header().notes["from"], "ONNX by hand 1");
        for (row, score) in [
            ([0.5, 0.0], 11.5),
            ([f32::NAN, 0.0], 11.5),
            ([0.6, -2.0], 12.5),
            ([INF, -1.9], 14.5),
            ([0.6, f32::NAN], 12.5),
        ] {
            assert_eq!(model.score_row(&row), score, "{row:?}");
        }
    }
}

#[test]
fn every_mode_compares_as_its_name_says() {
    // Whether a value goes to the true side.
    let goes_true = |mode: &'static str, tracks: i64, x: f32| {
        let mut sample = sample().ints("nodes_missing_value_tracks_true", &[tracks, 0, 0, 0, 0, 0]);
        sample.modes[0] = mode;
        // The leaf of the true side is 1; with the base and the other tree the score is 11.5.
        sample.read().unwrap().score_row(&[x, 0.0]) == 11.5
    };
    let (low, high) = (0.5_f32.next_down(), 0.5_f32.next_up());
    for (mode, truth) in [
        ("BRANCH_LEQ", [true, true, false]),
        ("BRANCH_LT", [true, false, false]),
        ("BRANCH_GTE", [false, true, true]),
        ("BRANCH_GT", [false, false, true]),
    ] {
        for tracks in [0, 1] {
            assert_eq!([low, 0.5, high].map(|x| goes_true(mode, tracks, x)), truth, "{mode}");
            assert_eq!(goes_true(mode, tracks, f32::NAN), tracks == 1, "{mode} NaN {tracks}");
        }
    }
}

#[test]
fn nodes_may_come_in_any_order_and_trees_may_be_averaged() {
    let mut reordered = sample()
        .ints("nodes_treeids", &[7, 0, 0, 0, 0, 0])
        .ints("nodes_nodeids", &[0, 9, 1, 2, 3, 4])
        .ints("nodes_featureids", &[0, 0, 0, 1, 0, 0])
        .ints("nodes_truenodeids", &[0, 1, 0, 3, 0, 0])
        .ints("nodes_falsenodeids", &[0, 2, 0, 4, 0, 0])
        .ints("nodes_missing_value_tracks_true", &[0, 1, 0, 0, 0, 0]);
    reordered.modes.rotate_right(1);
    reordered.floats[0].1.rotate_right(1);
    assert_eq!(reordered.read().unwrap(), sample().read().unwrap());
    reordered.texts[0].1 = "AVERAGE";
    assert_eq!(reordered.read().unwrap().score_row(&[0.6, 0.0]), 10.0 + (4.0 + 0.5) / 2.0);
}

/// The file of the sample with its thresholds in a tensor.
fn with_thresholds(tensor: &WireWriter) -> Vec<u8> {
    let mut sample = sample();
    sample.floats.remove(0);
    let mut node = sample.node();
    let mut attribute = WireWriter::default();
    attribute.text(1, "nodes_values_as_tensor").message(5, tensor);
    node.message(5, &attribute);
    file(&[node], "variable", 3)
}

#[test]
fn a_tensor_may_say_that_its_numbers_are_in_the_file_but_not_in_another() {
    let raw: Vec<u8> = [0.5_f64; 6].iter().flat_map(|value| value.to_le_bytes()).collect();
    let located = |location: i64| {
        let mut tensor = WireWriter::default();
        tensor.int(2, 11).bytes(9, &raw).int(14, location);
        read(&with_thresholds(&tensor))
    };
    assert!(located(0).is_ok());
    let error = located(1).unwrap_err().to_string();
    assert!(error.contains("the numbers of a tensor are in another file"), "{error}");
}

#[test]
fn thresholds_may_be_64_bit_numbers_in_a_tensor_and_are_rounded_down() {
    let values = [0.1_f64, 0.0, -2.0, 0.0, 0.0, 0.0];
    let raw: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    let mut tensor = WireWriter::default();
    tensor.int(2, 11).bytes(9, &raw);
    let model = read(&with_thresholds(&tensor)).unwrap();
    // 0.1 as f32 is above 0.1 as f64, so it goes right.
    assert_eq!(model.score_row(&[0.1_f32, 0.0]), 14.5);
    assert_eq!(model.score_row(&[0.1_f32.next_down(), 0.0]), 11.5);
}

#[test]
fn nodes_that_change_no_number_are_passed_over_and_all_others_refused_by_name() {
    let read_nodes =
        |nodes: &[WireWriter]| read(&file(nodes, "variable", 3)).map_err(|error| error.to_string());
    // The sample's ensemble, with the input Z and the output Y.
    let inner = || {
        let mut node = WireWriter::default();
        node.text(1, "Z").text(2, "Y").text(4, "TreeEnsembleRegressor").text(7, "ai.onnx.ml");
        for field in Message::new(&sample().node().done()) {
            if let (5, field) = field.unwrap() {
                node.bytes(5, field.bytes().unwrap());
            }
        }
        node
    };
    let before = || other_node("Cast", "X", "Z", Some(1));
    let after = |op| other_node(op, "Y", "variable", None);
    for op in ["Identity", "Reshape", "Flatten", "Squeeze", "Unsqueeze"] {
        let model = read_nodes(&[before(), inner(), after(op)]).unwrap();
        assert_eq!(model, sample().read().unwrap(), "{op}");
    }
    for (nodes, reason) in [
        (vec![before(), inner(), after("Sigmoid")], "the operator Sigmoid is not known"),
        (vec![other_node("Scaler", "X", "Z", None), inner()], "operator Scaler"),
        (vec![other_node("Cast", "X", "Z", Some(6)), inner()], "a Cast to type 6"),
        (vec![other_node("Cast", "X", "Z", None), inner()], "a Cast to an unknown type"),
        (vec![other_node("Reshape", "X", "Z", None), inner()], "Reshape comes before the trees"),
        (vec![before(), inner(), other_node("Identity", "a", "b", None)], "do not form one path"),
        (vec![before(), inner()], "the output 'variable' besides the scores"),
        (vec![before()], "there is no TreeEnsembleRegressor"),
        (vec![inner(), inner()], "more than one TreeEnsembleRegressor"),
        (vec![other_node("Identity", "Y", "Y", None), inner()], "do not form one path"),
    ] {
        let error = read_nodes(&nodes).unwrap_err();
        assert!(error.contains(reason), "{error}");
    }
}

#[test]
fn files_that_are_unsupported_or_inconsistent_are_refused_with_a_reason() {
    let changed = |change: &dyn Fn(&mut Sample)| {
        let mut sample = sample();
        change(&mut sample);
        sample.read().unwrap_err()
    };
    let ints = |name: &str, values: &[i64]| sample().ints(name, values).read().unwrap_err();
    for (error, reason) in [
        (changed(&|s| s.modes[0] = "BRANCH_EQ"), "node number 0 has the mode 'BRANCH_EQ'"),
        (changed(&|s| s.texts[0].1 = "MAX"), "aggregate_function is 'MAX'"),
        (changed(&|s| s.texts[1].1 = "LOGISTIC"), "post_transform is 'LOGISTIC'"),
        (changed(&|s| s.texts[1].0 = "nodes_speed"), "attribute 'nodes_speed' is not known"),
        (changed(&|s| s.floats[2].1.push(1.0)), "more than one base value"),
        (changed(&|s| s.floats[2].1[0] = f32::NAN), "the base score is NaN"),
        (changed(&|s| s.floats[1].1[1] = INF), "tree 0: the value of leaf 2 is inf"),
        (changed(&|s| s.floats[0].1[0] = f32::NAN), "tree 0: the threshold of split 0 is NaN"),
        (changed(&|s| s.modes.truncate(5)), "nodes_modes has 5 entries; expected 6"),
        (changed(&|s| s.modes[5] = "BRANCH_LT"), "a weight for node 0 of tree 7"),
        (ints("target_ids", &[0, 1, 0, 0]), "more than one target"),
        (ints("target_nodeids", &[1, 3, 2, 0]), "a weight for node 2 of tree 0"),
        (ints("target_nodeids", &[1, 3, 3, 0]), "two weights for node 3 of tree 0"),
        (ints("target_nodeids", &[1, 3]), "target_nodeids has 2 entries"),
        (ints("nodes_nodeids", &[0, 1, 2, 3, 3, 0]), "two nodes of tree 0 have the number 3"),
        (ints("nodes_truenodeids", &[9, 0, 3, 0, 0, 0]), "a split leads to node 9"),
        (ints("nodes_truenodeids", &[0, 0, 3, 0, 0, 0]), "cannot be reached from the root"),
        (ints("nodes_truenodeids", &[1, 0, 1, 0, 0, 0]), "no single root"),
        (ints("nodes_featureids", &[-1, 0, 1, 0, 0, 0]), "tests feature 4294967295"),
        (ints("nodes_featureids", &[3, 0, 1, 0, 0, 0]), "uses 4 features; its header has 3"),
    ] {
        assert!(error.contains(reason), "{error}");
    }
    let wide = read(&file(&[sample().node()], "variable", 1 << 40)).unwrap_err().to_string();
    assert!(wide.contains("columns; expected at most 16777216"), "{wide}");
    assert!(!detect(b"RANKWRIGHT MODEL 1") && !detect(b"{\"a\"") && !detect(&[8]) && !detect(&[]));
}

#[test]
fn models_that_cannot_be_written_are_refused_with_a_reason() {
    let tree = small_tree([Side::Left, Side::Right]);
    let write_trees = |trees: Vec<Tree>, base: f64| {
        let header = linear_model(0.0).header().clone();
        let body = ModelBody::Trees(Ensemble::new(base, trees).unwrap());
        write(&Model::new(header, body).unwrap()).map_err(|error| error.to_string())
    };
    let with_condition = |rule: SplitCondition, missing: Side| {
        let mut splits = tree.splits().to_vec();
        (splits[0].rule, splits[0].missing) = (rule, missing);
        let sets = vec![Categories::new([1]).unwrap()];
        write_trees(vec![Tree::with_sets(splits, tree.leaves().to_vec(), sets).unwrap()], 0.0)
    };
    assert!(
        with_condition(SplitCondition::NonZeroAtMost(0.5), Side::Left).is_ok(),
        "the same as a threshold"
    );
    let write_body = |body: ModelBody| {
        let model = Model::new(linear_model(0.0).header().clone(), body).unwrap();
        write(&model).map_err(|error| error.to_string())
    };
    let ranked = Blend::new(Normalise::Rank, vec![(1.0, linear_model(0.0))]).unwrap();
    let listwise = write_body(ModelBody::Blend(ranked));
    let scaled = write_body(ModelBody::Net(random_net(1, 4, &[2], MIN_MAX)));
    for (error, reason) in [
        (
            with_condition(SplitCondition::In(0), Side::Left),
            "ONNX model: tree 0: split 0 tests categories",
        ),
        (
            with_condition(SplitCondition::NonZeroAtMost(0.5), Side::Right),
            "split 0 counts 0 as missing",
        ),
        (
            with_condition(SplitCondition::NonZeroAtMost(0.0), Side::Left),
            "split 0 counts 0 as missing",
        ),
        (write_trees(vec![Tree::constant(1e39, 1).unwrap()], 0.0), "tree 0: a leaf value is 1e39"),
        (write_trees(vec![], -1e39), "the base score is -1e39"),
        (listwise, "ONNX model: a blend whose scores depend on the other documents of a query"),
        (scaled, "ONNX model: a net whose scores depend on the other documents of a query"),
    ] {
        let error = error.unwrap_err();
        assert!(error.contains(reason), "{error}");
    }
}

/// The operators of the nodes of a file, in their order.
fn operators(bytes: &[u8]) -> Vec<String> {
    texts_of_nodes(bytes, 4)
}

/// The texts that the nodes of a file have in the field with this number, in their order.
fn texts_of_nodes(bytes: &[u8], number: u64) -> Vec<String> {
    let fields = |bytes: &[u8], number: u64| -> Vec<Vec<u8>> {
        let found = Message::new(bytes).map(Result::unwrap).filter(|(found, _)| *found == number);
        found.map(|(_, field)| field.bytes().unwrap().to_vec()).collect()
    };
    let nodes = fields(&fields(bytes, 7)[0], 1);
    let texts = nodes.iter().flat_map(|node| fields(node, number));
    texts.map(|text| String::from_utf8(text).unwrap()).collect()
}

/// Runtimes refuse a file in which two nodes have the same name, or write to the same tensor.
#[test]
fn the_nodes_of_several_tree_members_have_different_names() {
    let linear = linear_model(0.25);
    let trees = |base: f64| {
        let trees = Ensemble::new(base, vec![small_tree([Side::Left, Side::Right])]).unwrap();
        Model::new(linear.header().clone(), ModelBody::Trees(trees)).unwrap()
    };
    let members = vec![(1.0, trees(0.5)), (0.25, trees(-1.0)), (1.0, linear.clone())];
    let blend = ModelBody::Blend(Blend::new(Normalise::None, members).unwrap());
    let bytes = write(&Model::new(linear.header().clone(), blend).unwrap()).unwrap();
    let ensembles = operators(&bytes).iter().filter(|o| *o == "TreeEnsembleRegressor").count();
    assert_eq!(ensembles, 2);
    for field in [3, 2] {
        let mut names = texts_of_nodes(&bytes, field);
        names.sort();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
    }
    assert_eq!(texts_of_nodes(&bytes, 3).len(), 2, "the nodes of trees are named");
}

#[test]
fn a_sum_of_a_linear_model_and_trees_is_a_graph_of_both_that_is_not_read_back() {
    let linear = linear_model(0.25);
    let trees = Ensemble::new(0.5, vec![small_tree([Side::Left, Side::Right])]).unwrap();
    let trees = Model::new(linear.header().clone(), ModelBody::Trees(trees)).unwrap();
    let sum = ModelBody::Blend(Blend::sum(linear.clone(), trees).unwrap());
    let sum = Model::new(linear.header().clone(), sum).unwrap();
    let bytes = write(&sum).unwrap();
    assert!(detect(&bytes));
    let operators = operators(&bytes);
    for (operator, count) in [("MatMul", 1), ("TreeEnsembleRegressor", 1), ("Add", 2)] {
        let found = operators.iter().filter(|found| *found == operator).count();
        assert_eq!(found, count, "{operator} in {operators:?}");
    }
    assert_eq!(operators.last().unwrap(), "Cast", "the score is a float");
    let error = read(&bytes).unwrap_err();
    assert!(error.to_string().contains("kind 'blend'"), "{error}");
    assert!(error.help().unwrap().contains("written from"), "{error:?}");
    let net = ModelBody::Net(random_net(3, 4, &[5], NO_MIN_MAX));
    let error = read(&write(&Model::new(linear.header().clone(), net).unwrap()).unwrap());
    assert!(error.unwrap_err().to_string().contains("kind 'net'"));
}

#[test]
fn damaged_files_give_a_model_or_an_error() {
    let written = write(&model(1, |_, side| side, |value| value)).unwrap();
    assert!(damage(&sample().file(), read) + damage(&written, read) > 10_000);
}

#[test]
fn too_many_nodes_or_trees_are_refused() {
    let mut graph = WireWriter::default();
    for _ in 0..100_000 {
        graph.message(1, &other_node("Identity", "a", "b", None));
    }
    let mut file = WireWriter::default();
    file.int(1, 8).message(7, &graph);
    assert!(
        read(&file.done()).unwrap_err().to_string().contains("more than 64 nodes of the graph")
    );
    let many = crate::interchange::common::MAX_TREES as i64 + 1;
    let mut sample = sample();
    for entry in &mut sample.ints {
        entry.1 = match entry.0 {
            "nodes_treeids" | "target_treeids" => (0..many).collect(),
            _ => vec![0; many as usize],
        };
    }
    sample.floats[0].1 = vec![0.0; many as usize];
    sample.floats[1].1 = vec![1.0; many as usize];
    sample.modes = vec!["LEAF"; many as usize];
    assert!(sample.read().unwrap_err().contains("more than 131072 trees"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Leaf values that fit into f32 are kept exactly, and so are names and sides of missing
    /// values.
    #[test]
    fn models_of_32_bit_values_are_read_back_with_the_same_scores(seed in 0..u64::MAX - 100) {
        let model = model(seed, |_, side| side, |value| f64::from(value as f32));
        assert_round_trip(&model, seed, read, write);
    }

    #[test]
    fn any_bytes_give_a_model_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = read(&[&[0x08, 8][..], &bytes].concat());
    }
}
