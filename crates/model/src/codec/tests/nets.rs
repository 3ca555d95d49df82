//! Tests of the codec for nets and blends: round trips are exact, damage is detected.

use super::*;
use crate::net::tests::{MIN_MAX, NO_MIN_MAX, random_net};
use crate::{Activation, Blend, Layer, LayerNorm, Net, Normalise, TransformStep, Transforms};

fn header(count: usize) -> Header {
    Header::new(FeatureNames::Ids { first: 1, count }, Absent::Missing)
}

/// A net with one step of each kind and a hidden layer with a norm.
fn small_net() -> Model {
    let table = TransformStep::Table { from: vec![0.0, 1.0], to: vec![-1.0, 1.0] };
    let steps = vec![
        vec![TransformStep::Clip { low: -1.0, high: 1.0 }, TransformStep::SignedLog],
        vec![TransformStep::Affine { shift: 0.5, scale: 2.0 }, table],
    ];
    let transforms = Transforms::new(steps, vec![0.0, -0.25], MIN_MAX).unwrap();
    let norm = LayerNorm { scale: vec![1.0, 2.0], shift: vec![0.0, -1.0] };
    let hidden =
        Layer::new(2, vec![1.0, 2.0, 3.0, 4.0], vec![0.1, 0.2], Some(norm), Activation::Gelu);
    let last = Layer::new(2, vec![1.0, -1.0], vec![0.5], None, Activation::None);
    let net = Net::new(transforms, vec![hidden.unwrap(), last.unwrap()]).unwrap();
    Model::new(header(2), ModelBody::Net(net)).unwrap()
}

fn blend(seed: u64, normalise: Normalise) -> Model {
    let net = ModelBody::Net(random_net(seed, 3, &[2], MIN_MAX));
    let net = Model::new(header(3), net).unwrap();
    let trees = Ensemble::new(0.5, vec![random_tree(seed, 4, 3)]).unwrap();
    let trees = Model::new(header(3), ModelBody::Trees(trees)).unwrap();
    let members = vec![(0.5, net), (-1.0, trees), (0.25, linear_model())];
    Model::new(header(3), ModelBody::Blend(Blend::new(normalise, members).unwrap())).unwrap()
}

#[test]
fn nets_and_blends_are_read_back_equal_from_version_3() {
    let mut models = vec![small_net()];
    for seed in 0..40 {
        // Up to three hidden layers, of 1 to 5, 1 to 3 and 1 to 17 outputs.
        let hidden = [5, 3, 17].map(|most| 1 + (seed as usize * 7) % most);
        let min_max = seed % 2 == 0;
        let net = random_net(seed, 4, &hidden[..seed as usize % 4], min_max);
        models.push(Model::new(header(4), ModelBody::Net(net)).unwrap());
    }
    models.extend(Normalise::ALL.map(|normalise| blend(3, normalise)));
    for model in models {
        let bytes = model.to_bytes();
        assert!(bytes.starts_with(b"RANKWRIGHT MODEL 3\n"));
        let back = Model::from_bytes(&bytes).unwrap();
        assert_eq!(back, model);
        assert_eq!(back.to_bytes(), bytes);
    }
}

#[test]
fn every_truncation_and_changed_byte_of_a_net_or_blend_is_an_error() {
    for model in [small_net(), blend(1, Normalise::Rank)] {
        let bytes = model.to_bytes();
        for end in 0..bytes.len() {
            assert!(Model::from_bytes(&bytes[..end]).is_err(), "cut at {end}");
            // Missing bytes before a valid checksum are detected too.
            if end > body_start(&bytes) && end != bytes.len() - 8 {
                let cut = sealed([&bytes[..end], &[0; 8]].concat());
                assert!(Model::from_bytes(&cut).is_err(), "cut and sealed at {end}");
            }
        }
        let mut changed = bytes.clone();
        for index in 0..bytes.len() {
            for flip in [1, 2, 16, 128, 255] {
                changed[index] = bytes[index] ^ flip;
                assert!(Model::from_bytes(&changed).is_err(), "byte {index} flipped by {flip}");
            }
            changed[index] = bytes[index];
        }
    }
}

#[test]
fn content_with_a_valid_checksum_is_checked_in_nets() {
    let nan = f32::NAN.to_le_bytes();
    let huge = u32::MAX.to_le_bytes();
    // Offsets in the body: the number of columns (4 bytes), the flag (1), the replacements of
    // missing values (8); then the first feature's number of steps and the steps clip (9) and log
    // (1).
    let (columns, flag, missing, steps) = (0, 4, 5, 13);
    // The second feature's number of steps (1), an affine step (9), and a table: its kind (1), its
    // size (4), four numbers (16).
    let (affine, table) = (steps + 11 + 1, steps + 11 + 1 + 9);
    // The number of layers (4); of the first layer the numbers of inputs (4) and outputs (4), the
    // activation (1), the flag of its norm (1), the weights.
    let layers = table + 1 + 4 + 16;
    let (inputs, outputs, activation, weights) = (layers + 4, layers + 8, layers + 12, layers + 14);
    for (offset, new, reason) in [
        (columns, &huge[..], "4294967295 features do not fit"),
        (columns, &1_u32.to_le_bytes(), "damaged"),
        (flag, &[2], "the byte 2 is no known flag"),
        (missing, &nan, "missing values of feature number 0 is NaN"),
        (steps, &[9], "is no known transform step"),
        (steps + 1, &[4], "the byte 4 is no known transform step"),
        (
            steps + 2,
            &nan,
            "feature number 0: the step 'clipped' is not valid; expected finite bounds",
        ),
        (affine + 1, &nan, "feature number 1: the step 'shifted and scaled'"),
        (table + 1, &huge, "bytes should follow, but"),
        (table + 5, &2_f32.to_le_bytes(), "a table whose points rise"),
        (layers, &huge, "4294967295 layers do not fit"),
        (layers, &1_u32.to_le_bytes(), "a last layer with 2 outputs"),
        (layers, &3_u32.to_le_bytes(), "layer 2: the model is damaged: 4 bytes should follow"),
        (inputs, &huge, "layer 0: "),
        (outputs, &huge, "layer 0: "),
        (
            outputs,
            &0_u32.to_le_bytes(),
            "layer 0: a layer of 2 inputs and 0 outputs with 0 weights",
        ),
        (activation, &[4], "layer 0: the model is damaged: the byte 4 is no known activation"),
        (activation + 1, &[3], "the byte 3 is no known flag"),
        (weights, &nan, "layer 0: a parameter of a layer is NaN"),
    ] {
        let error = refusal(&small_net(), offset, new);
        assert!(error.contains(reason), "{offset}: {error}");
    }
    let error = header_refusal(&small_net(), "MODEL 3\n", "MODEL 2\n");
    assert!(error.contains("marked as version 2, and its content is that of version 3"), "{error}");
    let error = header_refusal(&tree_model(vec![two_split_tree()]), "MODEL 1\n", "MODEL 3\n");
    assert!(error.contains("damaged"), "{error}");
}

#[test]
fn a_blend_of_different_normalisations_reads_back() {
    let ranked = blend(3, Normalise::Rank);
    let (header, _) = ranked.clone().into_parts();
    let added = Model::new(header.clone(), tree_model(vec![two_split_tree()]).into_parts().1);
    let sum = Blend::sum(ranked, added.unwrap()).unwrap();
    assert_eq!(sum.common_normalisation(), None);
    let model = Model::new(header, ModelBody::Blend(sum)).unwrap();
    let bytes = model.to_bytes();
    assert!(bytes.starts_with(b"RANKWRIGHT MODEL 4\n"));
    assert_eq!(Model::from_bytes(&bytes).unwrap(), model);
    // The first member's normalisation comes after the byte 255 (1) and the number of members (4).
    assert!(refusal(&model, 5, &[9]).contains("the byte 9 is no known normalisation"));
    assert!(refusal(&model, 0, &[0]).contains("damaged"));
}

/// The bytes of a blend of one member, whose file consists of the bytes `member`.
fn blend_of_file(weight: f64, member: &[u8]) -> Vec<u8> {
    let one = Blend::new(Normalise::MinMax, vec![(1.0, linear_model())]).unwrap();
    let model = Model::new(linear_model().header().clone(), ModelBody::Blend(one)).unwrap();
    let bytes = model.to_bytes();
    // Up to the number of members: the normalisation has 1 byte, the number 4.
    let start = &bytes[..body_start(&bytes) + 5];
    let length = (member.len() as u64).to_le_bytes();
    sealed([start, &weight.to_le_bytes(), &length, member, &[0; 8]].concat())
}

#[test]
fn content_with_a_valid_checksum_is_checked_in_blends() {
    let blend_bytes = blend_of_file(0.5, &linear_model().to_bytes());
    let (_, body_read) = Model::from_bytes(&blend_bytes).unwrap().into_parts();
    let ModelBody::Blend(blend_read) = body_read else { panic!() };
    assert_eq!(blend_read.members(), [(0.5, linear_model())]);
    let cut = &linear_model().to_bytes()[..60];
    let mut newer = linear_model().to_bytes();
    newer[super::MAGIC.len()] = b'7';
    let absent_missing = Header::new(FeatureNames::Ids { first: 1, count: 1 }, Absent::Missing);
    let net = ModelBody::Net(random_net(1, 1, &[], NO_MIN_MAX));
    let other_absent = Model::new(absent_missing, net).unwrap();
    for (bytes, reason) in [
        (blend_of_file(f64::NAN, &linear_model().to_bytes()), "the weight of member 0 is NaN"),
        (blend_of_file(1.0, cut), "member 0: the model is damaged: its checksum"),
        (blend_of_file(1.0, b"tree\n"), "member 0: this is no model"),
        (blend_of_file(1.0, &newer), "member 0: the model has format version 7"),
        (
            blend_of_file(1.0, &blend_bytes),
            "member 0: the model is damaged: it has a blend within a blend",
        ),
        (blend_of_file(1.0, &other_absent.to_bytes()), "member 0 takes absent features as missing"),
    ] {
        let error = Model::from_bytes(&bytes).unwrap_err().to_string();
        assert!(error.contains(reason), "{reason}: {error}");
    }
    // Offsets in the body: normalisation 0, number of members 1, the first member's weight 5 and
    // length 13.
    let model = blend(1, Normalise::None);
    for (offset, new, reason) in [
        (0, &[4][..], "the byte 4 is no known normalisation"),
        (0, &[255], "damaged"),
        (1, &0_u32.to_le_bytes(), "without members"),
        (1, &4_u32.to_le_bytes(), "bytes should follow, but"),
        (1, &u32::MAX.to_le_bytes(), "4294967295 members do not fit"),
        (13, &u64::MAX.to_le_bytes(), "bytes should follow, but"),
        (13, &8_u64.to_le_bytes(), "member 0: "),
    ] {
        let error = refusal(&model, offset, new);
        assert!(error.contains(reason), "{offset}: {error}");
    }
}

#[test]
fn deeply_nested_blends_are_refused_without_recursion() {
    let mut bytes = blend_of_file(1.0, &linear_model().to_bytes());
    for _ in 0..2_000 {
        bytes = blend_of_file(1.0, &bytes);
    }
    let error = Model::from_bytes(&bytes).unwrap_err().to_string();
    assert!(
        error.contains("member 0: the model is damaged: it has a blend within a blend"),
        "{error}"
    );
}

#[test]
fn a_member_with_a_huge_range_of_ids_takes_no_memory_for_them() {
    let huge = Header::new(FeatureNames::Ids { first: 1, count: 4_000_000_000 }, Absent::Missing);
    let trees = Ensemble::new(0.5, vec![two_split_tree()]).unwrap();
    let trees = Model::new(huge, ModelBody::Trees(trees)).unwrap();
    let blend = Blend::new(Normalise::None, vec![(2.0, trees.clone())]).unwrap();
    let model = Model::new(header(2), ModelBody::Blend(blend)).unwrap();
    let model = Model::from_bytes(&model.to_bytes()).unwrap();
    let row = [0.6, 0.2];
    assert_eq!(model.score_row(&row), 2.0 * trees.score_row(&row));
    let mut scores = [0.0];
    model.scorer().score_query(&row, &mut scores, &mut crate::ScoreBuffers::default()).unwrap();
    assert_eq!(scores[0], model.score_row(&row));
}

proptest! {
    #[test]
    fn damage_under_a_valid_checksum_gives_a_net_or_an_error(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        seed in 0u64..50,
    ) {
        let net = random_net(seed, 3, &[3, 2][..seed as usize % 3], NO_MIN_MAX);
        let mut bytes = Model::new(header(3), ModelBody::Net(net)).unwrap().to_bytes();
        let (start, end) = (body_start(&bytes), bytes.len() - 8);
        for (index, value) in changes {
            bytes[start + index.index(end - start)] = value;
        }
        if let Ok(model) = Model::from_bytes(&sealed(bytes.clone())) {
            prop_assert_eq!(model.to_bytes(), sealed(bytes), "a model has only one form as bytes");
            prop_assert!(model.score_row(&[1.0, f32::NAN]).is_finite());
        }
    }

    #[test]
    fn damage_of_a_member_under_a_valid_checksum_gives_a_blend_or_an_error(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        seed in 0u64..50,
    ) {
        let net = random_net(seed, 3, &[2], MIN_MAX);
        let mut member = Model::new(linear_model().header().clone(), ModelBody::Net(net)).unwrap().to_bytes();
        let end = member.len() - 8;
        for (index, value) in changes {
            member[index.index(end)] = value;
        }
        if let Ok(model) = Model::from_bytes(&blend_of_file(-0.5, &sealed(member))) {
            prop_assert!(!model.score_row(&[1.0, f32::NAN]).is_nan());
        }
    }
}
