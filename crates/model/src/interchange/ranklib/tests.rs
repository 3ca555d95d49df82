//! Tests of reading and writing RankLib's files; the files are hand-written after RankLib's own.

use proptest::prelude::*;
use rankwright_data::{Absent, FeatureNames};

use super::{detect, read, write};
use crate::interchange::common::side_of_zero;
use crate::interchange::test_support::{
    assert_round_trip, damage, linear_model, model, names, small_tree,
};
use crate::tree::tests::chain_tree;
use crate::{Categories, Ensemble, Header, Model, ModelBody, Side, SplitCondition, Tree};

/// `0.5 (x2 <= 0.5 ? -2 : (x4 <= -1.5 ? 4 : 0.1)) + 2 x 3`, features counted from 1.
const ENSEMBLE: &str = r#"## LambdaMART
## No. of trees = 2
## No. of leaves = 10
## Learning rate = 0.1

<ensemble>
	<tree id="1" weight="0.5">
		<split>
			<feature> 2 </feature>
			<threshold> 0.5 </threshold>
			<split pos="left">
				<output> -2.0 </output>
			</split>
			<split pos="right">
				<feature> 4 </feature>
				<threshold> -1.5 </threshold>
				<split pos="left">
					<output> 4.0 </output>
				</split>
				<split pos="right">
					<output> 1.0E-1 </output>
				</split>
			</split>
		</split>
	</tree>
	<tree id="2" weight="2.0">
		<split>
			<output> 3.0 </output>
		</split>
	</tree>
</ensemble>
"#;

const LINEAR: &str = "## Coordinate Ascent
## Restart = 5
## Slack = 0.001
1:0.5 3:-2.0E-1";

const LINEAR_WITH_BIAS: &str = "## Linear Regression
## Lambda = 1.0E-10
0:1.5 1:2.0 2:-1.0 ";

fn parse(text: &str) -> Result<Model, String> {
    read(text.as_bytes()).map_err(|error| error.to_string())
}

#[test]
fn an_ensemble_is_read_with_the_weights_of_its_trees() {
    assert!(detect(ENSEMBLE.as_bytes()) && detect(b"<ensemble>") && detect(b"## MART\n"));
    let model = parse(ENSEMBLE).unwrap();
    for (row, score) in [
        ([9.0, 0.5, 9.0, 9.0], -1.0 + 6.0),
        ([9.0, 0.6, 9.0, -1.5], 2.0 + 6.0),
        ([9.0, 0.6, 9.0, -1.4], 0.5 * 0.1 + 6.0),
        // Missing values are 0 in RankLib: left of 0.5, right of -1.5.
        ([f32::NAN; 4], -1.0 + 6.0),
        ([9.0, 1.0, 9.0, f32::NAN], 0.5 * 0.1 + 6.0),
    ] {
        assert_eq!(model.score_row(&row), score, "{row:?}");
    }
    assert_eq!(model.header().features, FeatureNames::Ids { first: 1, count: 4 });
    assert_eq!(model.header().absent, Absent::Zero);
    assert_eq!(model.header().notes["from"], "RankLib LambdaMART");
    let bare = &ENSEMBLE[ENSEMBLE.find("<ens").unwrap()..];
    assert_eq!(parse(bare).unwrap().body(), model.body());
    // As RankLib itself reads it: trimmed lines without ends.
    let joined: String = bare.lines().map(str::trim).collect();
    assert_eq!(parse(&joined).unwrap().body(), model.body());
}

#[test]
fn a_random_forest_is_the_mean_of_its_ensembles() {
    let tree = |value: &str| {
        format!(
            "<ensemble><tree id=\"1\" weight=\"1.0\"><split><output>{value}</output></split></tree></ensemble>\n"
        )
    };
    let text = format!("## Random Forests\n## No. of bags = 2\n\n{}{}", tree("1.0"), tree("4.0"));
    assert_eq!(parse(&text).unwrap().score_row(&[]), 2.5);
    let as_mart = text.replace("Random Forests", "MART");
    assert!(parse(&as_mart).unwrap_err().contains("several ensembles"));
}

#[test]
fn linear_models_are_read_with_and_without_a_bias() {
    let model = parse(LINEAR).unwrap();
    assert_eq!(model.score_row(&[2.0, 9.0, 10.0]), 1.0 - 2.0);
    assert_eq!(model.score_row(&[f32::NAN, f32::NAN, 10.0]), -2.0, "missing counts 0");
    assert_eq!(model.header().features, FeatureNames::Ids { first: 1, count: 3 });
    assert_eq!(parse(LINEAR_WITH_BIAS).unwrap().score_row(&[1.0, 1.0]), 2.5);
    for text in [LINEAR, LINEAR_WITH_BIAS] {
        assert!(detect(text.as_bytes()));
        let model = parse(text).unwrap();
        assert_eq!(read(&write(&model).unwrap()).unwrap().body(), model.body());
    }
}

#[test]
fn the_writer_gives_the_text_that_ranklib_reads() {
    let header = Header::new(FeatureNames::Ids { first: 1, count: 2 }, Absent::Zero);
    let tree = small_tree([Side::Left, Side::Right]);
    let body = ModelBody::Trees(Ensemble::new(0.25, vec![tree]).unwrap());
    let text = String::from_utf8(write(&Model::new(header, body).unwrap()).unwrap()).unwrap();
    let expected = r#"## LambdaMART
## No. of trees = 2

<ensemble>
<tree id="1" weight="1.0">
<split>
<output>0.25</output>
</split>
</tree>
<tree id="2" weight="1.0">
<split>
<feature>1</feature>
<threshold>0.5</threshold>
<split pos="left">
<output>1.0</output>
</split>
<split pos="right">
<feature>2</feature>
<threshold>-2.0</threshold>
<split pos="left">
<output>2.0</output>
</split>
<split pos="right">
<output>4.0</output>
</split>
</split>
</split>
</tree>
</ensemble>
"#;
    assert_eq!(text, expected);
    let text = String::from_utf8(write(&linear_model(0.0)).unwrap()).unwrap();
    let expected = r##"## Coordinate Ascent
## Feature 1 = "bm25"
## Feature 2 = "a \"b\" <c> & é"
## Feature 3 = "# d\n"
## Feature 4 = "e=1:2"
1:0.1 2:-2.5e-7 3:0.0 4:1e30
"##;
    assert_eq!(text, expected);
    for bias in [0.0, -2.5] {
        let back = read(&write(&linear_model(bias)).unwrap()).unwrap();
        assert_eq!((back.body(), &back.header().features), (linear_model(bias).body(), &names()));
    }
}

#[test]
fn invalid_files_are_refused_with_a_reason() {
    let changed = |from: &str, to: &str| {
        let base = [ENSEMBLE, LINEAR, LINEAR_WITH_BIAS]
            .into_iter()
            .find(|base| base.contains(from))
            .unwrap();
        parse(&base.replacen(from, to, 1)).unwrap_err()
    };
    for (from, to, reason) in [
        ("## LambdaMART", "## RankNet", "RankLib model: the ranker 'RankNet' is not known"),
        ("<threshold> 0.5", "<threshold> NaN", "tree 0: the threshold of split 0 is NaN"),
        ("<threshold> 0.5", "<threshold> x", "a value is 'x'; expected a number (before byte"),
        ("<feature> 2", "<feature> 0", "a feature id is '0'"),
        ("<feature> 2", "<feature> 16777217", "a feature id is '16777217'"),
        ("<feature> 2 </feature>", "", "a split in the wrong place"),
        (" -2.0 ", " 1e999 ", "tree 0: the value of leaf 0 is inf"),
        (" -2.0 ", " ", "an empty split"),
        (" -2.0 ", " 1 <!-- and --> 2 ", "a value given twice"),
        (" weight=\"2.0\"", "", "a tree without a weight"),
        (" weight=\"2.0\"", " weight=\"heavy\"", "'heavy'"),
        ("pos=\"left\"", "pos=\"right\"", "pos is 'right'; expected left"),
        ("<output> 3.0 </output>", "<output/>", "a tag of another kind"),
        ("<output> 3.0 </output>", "<sum> 3.0 </sum>", "the tag <sum>"),
        ("<output> 3.0 </output>", "&amp;", "a tag of another kind"),
        ("<output> 3.0 </output>", "3.0", "the text '3.0'"),
        ("\t<tree id=\"2\"", "and<tree id=\"2\"", "the text 'and'"),
        ("</ensemble>", "", "the file ends too early; expected </ensemble>"),
        ("</ensemble>", "</tree>", "RankLib model: byte"),
        ("<ensemble>", "<!DOCTYPE x><ensemble>", "a tag of another kind"),
        ("1:0.5 3:-2.0E-1", "", "ends too early; expected a line of id:weight"),
        ("1:0.5 3", "1:0.5 1", "two weights for feature 1"),
        ("1:0.5 3", "0:0.5 3", "a feature id is '0'"),
        ("1:0.5 3", "1:x 3", "a weight is '1:x'"),
        ("1:0.5 3", "1:NaN 3", "weight number 0 is NaN"),
        ("1:0.5 3", "1:1\n3", "after the weights"),
        ("1:0.5 3", "524289:1 3", "ids up to 524288"),
        ("0:1.5 1", "0:1.5 0", "two weights for feature 0"),
    ] {
        let error = changed(from, to);
        assert!(error.contains(reason), "{from} {to}: {error}");
    }
    assert!(!detect(b"## Nobody\n") && !detect(b"<ens") && !detect(b"") && !detect(b"{}"));
    assert!(read(&[0xff]).unwrap_err().to_string().contains("UTF-8"));
}

#[test]
fn models_that_cannot_be_written_are_refused_with_a_reason() {
    let write_tree = |tree: Tree| {
        let body = ModelBody::Trees(Ensemble::new(0.0, vec![tree]).unwrap());
        let model = Model::new(linear_model(0.0).header().clone(), body).unwrap();
        write(&model).unwrap_err().to_string()
    };
    let base = small_tree([Side::Left, Side::Right]);
    let mut splits = base.splits().to_vec();
    splits[0].rule = SplitCondition::In(0);
    let sets = vec![Categories::new([1]).unwrap()];
    let categories = Tree::with_sets(splits, base.leaves().to_vec(), sets).unwrap();
    for (error, reason) in [
        (
            write_tree(small_tree([Side::Left, Side::Left])),
            "tree 0: split 1 sends missing values to another side",
        ),
        (
            write_tree(Tree::constant(1e39, 1).unwrap()),
            "a leaf value is 1e39, out of the range of 32-bit numbers",
        ),
        (write_tree(categories), "tree 0: split 0"),
    ] {
        assert!(error.contains(reason), "{error}");
    }
}

#[test]
fn deep_trees_are_read_and_written_without_recursion() {
    let mut splits = chain_tree(50_000).splits().to_vec();
    splits.iter_mut().for_each(|split| split.missing = Side::Left);
    let tree = Tree::new(splits, chain_tree(50_000).leaves().to_vec()).unwrap();
    let body = ModelBody::Trees(Ensemble::new(0.0, vec![tree]).unwrap());
    let model = Model::new(linear_model(0.0).header().clone(), body).unwrap();
    let back = read(&write(&model).unwrap()).unwrap();
    let ModelBody::Trees(trees) = back.body() else { panic!() };
    assert_eq!(trees.trees()[0].depth(), 50_000);
}

#[test]
fn damaged_files_give_a_model_or_an_error() {
    let counts = [ENSEMBLE, LINEAR, LINEAR_WITH_BIAS].map(|text| damage(text.as_bytes(), read));
    assert!(counts.iter().sum::<usize>() > 10_000);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Everything is kept if missing values go to the side of 0; the base becomes a tree.
    #[test]
    fn models_without_missing_values_are_read_back_with_the_same_scores(seed in 0..u64::MAX - 100) {
        let model = model(seed, |threshold, _| side_of_zero(threshold), |value| value);
        assert_round_trip(&model, seed, read, write);
    }

    #[test]
    fn any_text_gives_a_model_or_an_error(text in "\\PC{0,60}") {
        let _ = parse(&format!("## LambdaMART\n<ensemble>{text}"));
        let _ = parse(&format!("## Coordinate Ascent\n{text}"));
    }
}
