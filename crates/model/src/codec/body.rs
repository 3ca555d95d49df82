//! The body of a model file: numbers, little-endian, in the layout that the documentation of the
//! module `codec` gives.

use super::{Damage, blend, net};
use crate::categories::Categories;
use crate::ensemble::{Ensemble, MAX_TREES};
use crate::error::{ModelError, ModelPart};
use crate::linear::Linear;
use crate::model::ModelBody;
use crate::tree::{Child, Leaf, Side, Split, SplitCondition, Tree};

/// The bit that marks a child that is a leaf.
const LEAF_BIT: u32 = 1 << 31;
/// Bytes of the smallest tree: the number of splits, the value of one leaf, the rows of that leaf.
const MIN_TREE_BYTES: usize = 4 + 8 + 8;

/// The lowest version of the format that can hold a body: 1 for linear models, and for trees if
/// every split condition is a threshold; 2 for other trees; 3 for nets and for blends whose members
/// have the same normalisation; 4 for other blends.
pub(super) fn version(body: &ModelBody) -> u32 {
    let has_only_thresholds = |tree: &Tree| {
        tree.sets().is_empty()
            && tree.splits().iter().all(|split| matches!(split.rule, SplitCondition::AtMost(_)))
    };
    match body {
        ModelBody::Trees(ensemble) if !ensemble.trees().iter().all(has_only_thresholds) => 2,
        ModelBody::Trees(_) | ModelBody::Linear(_) => 1,
        ModelBody::Blend(blend) if blend.common_normalisation().is_none() => 4,
        ModelBody::Net(_) | ModelBody::Blend(_) => 3,
    }
}

/// Appends a body in the layout of a version of the format.
pub(super) fn write(body: &ModelBody, version: u32, out: &mut Vec<u8>) {
    match body {
        ModelBody::Trees(ensemble) => {
            put(out, [ensemble.base().to_le_bytes()]);
            put(out, [(ensemble.trees().len() as u32).to_le_bytes()]);
            ensemble.trees().iter().for_each(|tree| write_tree(tree, version, out));
        }
        ModelBody::Linear(linear) => {
            put(out, [linear.bias().to_le_bytes()]);
            put(out, [(linear.weights().len() as u32).to_le_bytes()]);
            put(out, linear.weights().iter().map(|weight| weight.to_le_bytes()));
        }
        ModelBody::Net(net) => net::write(net, out),
        ModelBody::Blend(blend) => blend::write(blend, out),
    }
}

fn write_tree(tree: &Tree, version: u32, out: &mut Vec<u8>) {
    let (splits, leaves) = (tree.splits(), tree.leaves());
    put(out, [(splits.len() as u32).to_le_bytes()]);
    put(out, splits.iter().map(|split| split.feature.to_le_bytes()));
    let rules = || splits.iter().map(|split| encode_rule(split.rule));
    put(out, rules().map(|(_, bits)| bits.to_le_bytes()));
    if version > 1 {
        put(out, rules().map(|(kind, _)| [kind]));
    }
    put(out, splits.chunks(8).map(|eight| [missing_bits(eight)]));
    put(out, splits.iter().map(|split| child_number(split.left).to_le_bytes()));
    put(out, splits.iter().map(|split| child_number(split.right).to_le_bytes()));
    put(out, splits.iter().map(|split| split.gain.to_le_bytes()));
    put(out, splits.iter().map(|split| split.rows.to_le_bytes()));
    put(out, leaves.iter().map(|leaf| leaf.value.to_le_bytes()));
    put(out, leaves.iter().map(|leaf| leaf.rows.to_le_bytes()));
    if version > 1 {
        put(out, [(tree.sets().len() as u32).to_le_bytes()]);
        for set in tree.sets() {
            put(out, [(set.words().len() as u32).to_le_bytes()]);
            put(out, set.words().iter().map(|word| word.to_le_bytes()));
        }
    }
}

/// A split condition as the code of its kind, and the bits of its threshold or the number of its
/// set.
fn encode_rule(rule: SplitCondition) -> (u8, u32) {
    match rule {
        SplitCondition::AtMost(threshold) => (0, threshold.to_bits()),
        SplitCondition::NonZeroAtMost(threshold) => (1, threshold.to_bits()),
        SplitCondition::In(set) => (2, set),
    }
}

/// The split condition that [`encode_rule`] wrote.
fn decode_rule((kind, bits): (u8, u32)) -> Result<SplitCondition, ModelError> {
    match kind {
        0 => Ok(SplitCondition::AtMost(f32::from_bits(bits))),
        1 => Ok(SplitCondition::NonZeroAtMost(f32::from_bits(bits))),
        2 => Ok(SplitCondition::In(bits)),
        value => Err(ModelError::damaged(Damage::UnknownCode { code: "split condition", value })),
    }
}

/// Appends numbers, each given as its bytes.
pub(super) fn put<const N: usize>(out: &mut Vec<u8>, numbers: impl IntoIterator<Item = [u8; N]>) {
    numbers.into_iter().for_each(|number| out.extend_from_slice(&number));
}

/// A byte for eight splits: bit `i` is 1 if split `i` sends missing values left.
fn missing_bits(eight: &[Split]) -> u8 {
    let bit = |(i, split): (usize, &Split)| u8::from(split.missing == Side::Left) << i;
    eight.iter().enumerate().map(bit).sum()
}

/// A child as its number, with [`LEAF_BIT`] if it is a leaf.
fn child_number(child: Child) -> u32 {
    match child {
        Child::Split(number) => number,
        Child::Leaf(number) => number | LEAF_BIT,
    }
}

/// The child that [`child_number`] wrote.
fn child(number: u32) -> Child {
    match number & LEAF_BIT {
        0 => Child::Split(number),
        _ => Child::Leaf(number & !LEAF_BIT),
    }
}

/// Reads a body of the kind that the header names; all bytes must be used.
pub(super) fn read(kind: &str, version: u32, bytes: &[u8]) -> Result<ModelBody, ModelError> {
    let mut reader = ByteReader(bytes);
    let body = match kind {
        "trees" => ModelBody::Trees(read_ensemble(&mut reader, version)?),
        "linear" => {
            let bias = f64::from_le_bytes(reader.number()?);
            let count = reader.count()?;
            ModelBody::Linear(Linear::new(bias, reader.numbers(count, f64::from_le_bytes)?)?)
        }
        "net" => ModelBody::Net(net::read(&mut reader)?),
        "blend" => ModelBody::Blend(blend::read(&mut reader)?),
        other => {
            let found = other.to_owned();
            return Err(ModelError::damaged(Damage::UnknownKind { found }));
        }
    };
    match reader.0.len() {
        0 => Ok(body),
        bytes => Err(ModelError::damaged(Damage::TrailingBytes { bytes })),
    }
}

fn read_ensemble(reader: &mut ByteReader<'_>, version: u32) -> Result<Ensemble, ModelError> {
    let base = f64::from_le_bytes(reader.number()?);
    let count = reader.count()?;
    if count > reader.0.len() / MIN_TREE_BYTES {
        return Err(ModelError::damaged(Damage::TooManyItems { item: "tree", count }));
    }
    if count > MAX_TREES {
        return Err(ModelError::TooMany { item: "tree", found: count, most: MAX_TREES });
    }
    let mut trees = Vec::with_capacity(count);
    for number in 0..count {
        let tree = read_tree(reader, version);
        trees.push(tree.map_err(|error| error.within(ModelPart::Tree(number)))?);
    }
    Ensemble::new(base, trees)
}

fn read_tree(reader: &mut ByteReader<'_>, version: u32) -> Result<Tree, ModelError> {
    // The number of splits.
    let n = reader.count()?;
    let features = reader.iter_numbers(n, u32::from_le_bytes)?;
    // The bits of a threshold, or the number of a set.
    let bits = reader.iter_numbers(n, u32::from_le_bytes)?;
    let kinds = if version > 1 { reader.take(n)? } else { &[] };
    // In version 1 every condition is a threshold: kind 0.
    let kinds = kinds.iter().copied().chain(std::iter::repeat(0));
    let missing = reader.sides(n)?;
    let left = reader.iter_numbers(n, u32::from_le_bytes)?.map(child);
    let right = reader.iter_numbers(n, u32::from_le_bytes)?.map(child);
    let gains = reader.iter_numbers(n, f64::from_le_bytes)?;
    let rows = reader.iter_numbers(n, u64::from_le_bytes)?;
    let values = reader.iter_numbers(n + 1, f64::from_le_bytes)?;
    let leaf_rows = reader.iter_numbers(n + 1, u64::from_le_bytes)?;
    let mut splits = Vec::with_capacity(n);
    let tests = features.zip(kinds.zip(bits)).zip(missing);
    for ((((feature, kind_and_bits), missing), (left, right)), (gain, rows)) in
        tests.zip(left.zip(right)).zip(gains.zip(rows))
    {
        let rule = decode_rule(kind_and_bits)?;
        splits.push(Split { feature, rule, missing, left, right, gain, rows });
    }
    let leaves = values.zip(leaf_rows).map(|(value, rows)| Leaf { value, rows }).collect();
    let sets = if version > 1 { read_sets(reader)? } else { Vec::new() };
    Tree::with_sets(splits, leaves, sets)
}

fn read_sets(reader: &mut ByteReader<'_>) -> Result<Vec<Categories>, ModelError> {
    let count = reader.count()?;
    // Each set takes at least the four bytes of its number of words.
    if count > reader.0.len() / 4 {
        return Err(ModelError::damaged(Damage::TooManyItems { item: "set", count }));
    }
    let set = |_| {
        let words = reader.count()?;
        Categories::from_words(reader.numbers(words, u64::from_le_bytes)?)
    };
    (0..count).map(set).collect()
}

/// Reads numbers from bytes; holds the bytes that are not yet read.
pub(super) struct ByteReader<'a>(&'a [u8]);

impl<'a> ByteReader<'a> {
    /// The number of remaining bytes.
    pub(super) fn remaining(&self) -> usize {
        self.0.len()
    }

    /// Reads this number of bytes.
    pub(super) fn take(&mut self, bytes: usize) -> Result<&'a [u8], ModelError> {
        let (taken, rest) = self.0.split_at_checked(bytes).ok_or_else(|| {
            ModelError::damaged(Damage::MissingBytes { needed: bytes, left: self.0.len() })
        })?;
        self.0 = rest;
        Ok(taken)
    }

    /// Reads the `N` bytes of one number.
    pub(super) fn number<const N: usize>(&mut self) -> Result<[u8; N], ModelError> {
        self.take(N).map(|bytes| bytes.first_chunk().copied().unwrap_or([0; N]))
    }

    /// Reads a number of items, a u32.
    pub(super) fn count(&mut self) -> Result<usize, ModelError> {
        self.number().map(|bytes| u32::from_le_bytes(bytes) as usize)
    }

    /// Reads `count` consecutive values of `N` bytes each, which `decode` converts.
    pub(super) fn numbers<const N: usize, T>(
        &mut self,
        count: usize,
        decode: impl Fn([u8; N]) -> T,
    ) -> Result<Vec<T>, ModelError> {
        Ok(self.iter_numbers(count, decode)?.collect())
    }

    /// Like [`numbers`](ByteReader::numbers), as an iterator.
    fn iter_numbers<const N: usize, T, F: Fn([u8; N]) -> T>(
        &mut self,
        count: usize,
        decode: F,
    ) -> Result<impl Iterator<Item = T> + use<'a, N, T, F>, ModelError> {
        let size = count.checked_mul(N).ok_or_else(|| ModelError::damaged(Damage::SizeOverflow))?;
        let (chunks, _) = self.take(size)?.as_chunks::<N>();
        Ok(chunks.iter().map(move |&chunk| decode(chunk)))
    }

    /// Reads the sides that missing values go to, a bit each; the padding bits of the last byte
    /// must be 0, so that a model has only one form as bytes.
    fn sides(&mut self, count: usize) -> Result<impl Iterator<Item = Side> + use<'a>, ModelError> {
        let bytes = self.take(count.div_ceil(8))?;
        // The last byte has one to eight used bits.
        let padding = bytes.last().map_or(0, |last| u32::from(*last) >> (1 + (count + 7) % 8));
        if padding != 0 {
            return Err(ModelError::damaged(Damage::PaddingBits));
        }
        let side = |left| if left { Side::Left } else { Side::Right };
        let bits = bytes.iter().flat_map(|byte| (0..8).map(move |bit| byte >> bit & 1 == 1));
        Ok(bits.take(count).map(side))
    }
}
