//! Tests over the table of formats: every entry is described, detects the files that it writes, and
//! writes exactly the kinds of models that it lists.

use std::collections::HashSet;

use super::*;
use crate::{Blend, BodyKind, Ensemble, Header, ModelBody, Normalise, net};
use rankwright_data::{Absent, FeatureNames};
use rankwright_spec::visible;

/// A model of each kind that every format with that kind can express.
fn model_of_each_kind() -> Vec<Model> {
    let header = Header::new(FeatureNames::Ids { first: 1, count: 2 }, Absent::Zero);
    let net = |hidden: &[usize]| {
        let net = net::tests::random_net(1, 2, hidden, net::tests::NO_MIN_MAX);
        Model::new(header.clone(), ModelBody::Net(net)).unwrap()
    };
    let linear = test_support::linear_model(0.0);
    let blend = Blend::new(Normalise::None, vec![(1.0, linear.clone())]).unwrap();
    let blend = Model::new(linear.header().clone(), ModelBody::Blend(blend)).unwrap();
    vec![test_support::simple_model(), linear, net(&[]), net(&[2]), blend]
}

#[test]
fn every_format_is_described_under_a_name_of_its_own() {
    let names: HashSet<&str> = ModelFormat::all().iter().map(|format| format.name).collect();
    assert_eq!(names.len(), ModelFormat::all().len());
    for format in ModelFormat::all() {
        assert_eq!(ModelFormat::find(format.name).unwrap(), *format);
        assert!(!format.system.is_empty() && !format.reads.is_empty(), "{format}");
        assert!(!format.scores.is_empty() && !format.extensions.is_empty(), "{format}");
        assert_eq!(format.can_write(), !format.bodies.is_empty(), "{format}");
        assert_eq!(format.can_write(), !format.writes.is_empty(), "{format}");
        let json = serde_json::to_value(format).unwrap();
        assert_eq!(json["name"], format.name);
        assert_eq!(json["bodies"].as_array().unwrap().len(), format.bodies.len());
    }
    let error = ModelFormat::find("lightgmb").unwrap_err().to_string();
    assert!(error.starts_with("there is no model format 'lightgmb'; known are rankwright, "));
}

#[test]
fn a_format_writes_the_kinds_that_it_names_and_refuses_all_others() {
    for model in model_of_each_kind() {
        let kind = model.body().kind();
        for format in ModelFormat::all() {
            let written = model.to_bytes_as(format);
            assert_eq!(written.is_ok(), format.bodies.contains(&kind), "{format}: {kind:?}");
            match written {
                Ok(bytes) => {
                    assert_eq!(ModelFormat::detect(&bytes), Some(*format));
                    match Model::from_bytes(&bytes) {
                        Ok(back) => assert_eq!(back.body().kind(), kind, "{format}"),
                        // Written for other systems only, and the error says so.
                        Err(error) => {
                            assert!(format.name == "onnx" && kind != BodyKind::Trees, "{error}");
                            assert!(error.to_string().contains("not read back"), "{error}");
                            assert!(error.help().unwrap().contains("the model file"), "{error:?}");
                        }
                    }
                }
                Err(error) => {
                    let start = format!("{} model: ", format.system);
                    assert!(error.to_string().starts_with(&start), "{error}");
                }
            }
        }
    }
}

/// A terminal acts on such characters, and an editor shows the text after them in another order.
#[test]
fn control_characters_of_names_are_escaped_where_names_are_json() {
    let names = ["csi \u{9b}31m", "reversed \u{202e}x"];
    let (mut header, body) = test_support::simple_model().into_parts();
    header.features = FeatureNames::Named(names.map(String::from).to_vec());
    let model = Model::new(header, body).unwrap();
    for name in ["xgboost", "solr", "elasticsearch", "ranklib"] {
        let format = ModelFormat::all().iter().find(|format| format.name == name).unwrap();
        let bytes = model.to_bytes_as(format).unwrap();
        let text = std::str::from_utf8(&bytes).unwrap();
        assert!(!text.contains(|c| visible::is_control(c) && c != '\n'), "{name}: {text:?}");
        assert!(text.contains("\\u009b") && text.contains("\\u202e"), "{name}: {text}");
        let read = Model::from_bytes(&bytes).unwrap();
        let mut found: Vec<_> = read.header().features.iter().map(|n| n.into_owned()).collect();
        // A format that names only the features of splits reads them in the order of the splits.
        found.sort();
        assert_eq!(found, names, "{name}");
    }
}

#[test]
fn control_characters_of_names_are_refused_where_names_cannot_be_escaped() {
    let lightgbm = ModelFormat::all().iter().find(|format| format.name == "lightgbm").unwrap();
    for (name, is_written) in [("Größe", true), ("csi\u{9b}31m", false), ("x\u{202e}y", false)] {
        let (mut header, body) = test_support::simple_model().into_parts();
        header.features = FeatureNames::Named(vec![name.to_owned(), "b".to_owned()]);
        match Model::new(header, body).unwrap().to_bytes_as(lightgbm) {
            Ok(_) => assert!(is_written, "{name:?}"),
            Err(error) => {
                assert!(!is_written, "{name:?}");
                let message = error.to_string();
                assert!(message.contains("control characters"), "{message}");
                assert!(!message.contains(visible::is_control), "{message:?}");
            }
        }
    }
}

#[test]
fn a_sum_of_kinds_is_refused_with_advice_that_can_be_followed() {
    let linear = test_support::linear_model(0.0);
    let trees = ModelBody::Trees(Ensemble::new(0.5, Vec::new()).unwrap());
    let trees = Model::new(linear.header().clone(), trees).unwrap();
    let sum = Blend::sum(linear.clone(), trees).unwrap();
    let sum = Model::new(linear.header().clone(), ModelBody::Blend(sum)).unwrap();
    let written = |format: &&ModelFormat| sum.to_bytes_as(format).is_ok();
    let holders: Vec<&str> =
        ModelFormat::all().iter().copied().filter(written).map(|format| format.name).collect();
    assert_eq!(holders, ["rankwright", "onnx"]);
    for format in ModelFormat::all() {
        let Err(error) = sum.to_bytes_as(format) else { continue };
        if format.can_write() {
            let help = error.help().unwrap();
            assert!(holders.iter().all(|holder| help.contains(holder)), "{help}");
            let message = error.to_string();
            assert!(message.contains("a sum of a linear model and the trees"), "{message}");
            assert!(error.help().unwrap().contains("without a start model"), "{error:?}");
        }
    }
}

/// Three tree models of weight 1 have the form of a start model and added trees.
#[test]
fn a_blend_of_trees_is_no_start_model_with_added_trees() {
    let trees = ModelBody::Trees(Ensemble::new(0.5, Vec::new()).unwrap());
    let member = Model::new(test_support::linear_model(0.0).header().clone(), trees).unwrap();
    let blend = Blend::new(Normalise::None, vec![(1.0, member.clone()); 3]).unwrap();
    for (learner, is_sum) in [
        ("blend(members=mart+mart+mart)", false),
        ("", false),
        // Trees that were added to a blend of two tree models.
        ("lambdamart(trees=5)", true),
    ] {
        let header = Header { learner: learner.to_owned(), ..member.header().clone() };
        let model = Model::new(header, ModelBody::Blend(blend.clone())).unwrap();
        assert_eq!(model.added_trees().is_some(), is_sum, "{learner}");
    }
}

#[test]
fn bytes_of_no_format_are_refused_with_the_systems_that_are_known() {
    let error = Model::from_bytes(b"2 qid:1 1:0.5\n").unwrap_err().to_string();
    assert!(error.starts_with("this is no model: ") && !error.contains("qid"), "{error}");
    for format in ModelFormat::all() {
        assert!(error.contains(format.system), "{error}");
        assert!(!(format.detect)(b"2 qid:1 1:0.5\n"));
        assert!(Model::from_bytes_as(b"2 qid:1 1:0.5\n", format).is_err(), "{format}");
    }
}

/// The first two lines of the table of formats in the documentation.
const TABLE_HEAD: &str = "| system | name | read | written | kinds written | scores |\n\
                          | --- | --- | --- | --- | --- | --- |\n";
/// The page of the documentation with the table.
const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/interchange.md");

/// The table of formats, as the documentation should have it.
fn table() -> String {
    let row = |format: &&ModelFormat| {
        let ModelFormat { name, system, reads, writes, scores, .. } = format;
        let kinds: Vec<&str> = format.bodies.iter().map(|kind| kind.name()).collect();
        let kinds = kinds.join(", ");
        format!("| {system} | `{name}` | {reads} | {writes} | {kinds} | {scores} |\n")
    };
    TABLE_HEAD.to_owned() + &ModelFormat::all().iter().map(row).collect::<String>()
}

#[test]
fn the_documentation_has_the_table_of_formats() {
    let page = std::fs::read_to_string(PAGE).unwrap();
    assert!(page.contains(&table()), "docs/interchange.md should have this table:\n{}", table());
}

/// Rewrites the table in the documentation, after a change of a format.
#[test]
#[ignore = "rewrites the table"]
fn write_the_table_of_formats() {
    let page = std::fs::read_to_string(PAGE).unwrap();
    let (before, rest) = page.split_once(TABLE_HEAD).unwrap();
    let (_, after) = rest.split_once("\n\n").unwrap();
    std::fs::write(PAGE, format!("{before}{}\n{after}", table())).unwrap();
}
