//! The body of a model file: numbers, little-endian, in the layout of the codec's table.

use super::{Damage, blend, net};
use crate::categories::Categories;
use crate::ensemble::{Ensemble, MAX_TREES};
use crate::error::{ModelError, ModelPart};
use crate::linear::Linear;
use crate::model::ModelBody;
use crate::tree::{Child, Leaf, Side, Split, SplitCondition, Tree};

/// Marks a child that is a leaf.
const LEAF: u32 = 1 << 31;
/// The smallest tree: a number of splits, one leaf value, its rows.
const SMALLEST_TREE: usize = 4 + 8 + 8;

/// The version that holds a model: 1 for linear models, and for trees if every split condition is a
/// threshold; 2 for other trees; 3 for nets and blends.
pub(super) fn version(kind: &ModelBody) -> u32 {
    let is_plain = |tree: &Tree| {
        tree.sets().is_empty()
            && tree.splits().iter().all(|split| matches!(split.rule, SplitCondition::AtMost(_)))
    };
    match kind {
        ModelBody::Trees(ensemble) if !ensemble.trees().iter().all(is_plain) => 2,
        ModelBody::Trees(_) | ModelBody::Linear(_) => 1,
        ModelBody::Net(_) | ModelBody::Blend(_) => 3,
    }
}

pub(super) fn write(kind: &ModelBody, version: u32, out: &mut Vec<u8>) {
    match kind {
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
    put(out, splits.iter().map(|split| rule_bits(split.rule).1.to_le_bytes()));
    if version > 1 {
        put(out, splits.iter().map(|split| [rule_bits(split.rule).0]));
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

/// A split condition as its kind and 32 bits.
fn rule_bits(rule: SplitCondition) -> (u8, u32) {
    match rule {
        SplitCondition::AtMost(threshold) => (0, threshold.to_bits()),
        SplitCondition::NonZeroAtMost(threshold) => (1, threshold.to_bits()),
        SplitCondition::In(set) => (2, set),
    }
}

fn rule((kind, bits): (u8, u32)) -> Result<SplitCondition, ModelError> {
    match kind {
        0 => Ok(SplitCondition::AtMost(f32::from_bits(bits))),
        1 => Ok(SplitCondition::NonZeroAtMost(f32::from_bits(bits))),
        2 => Ok(SplitCondition::In(bits)),
        value => Err(ModelError::damaged(Damage::UnknownCode { code: "split condition", value })),
    }
}

pub(super) fn put<const N: usize>(out: &mut Vec<u8>, numbers: impl IntoIterator<Item = [u8; N]>) {
    numbers.into_iter().for_each(|number| out.extend_from_slice(&number));
}

/// Bit `i` is 1 if missing values of split `i` go left.
fn missing_bits(eight: &[Split]) -> u8 {
    let bit = |(i, split): (usize, &Split)| u8::from(split.missing == Side::Left) << i;
    eight.iter().enumerate().map(bit).sum()
}

fn child_number(child: Child) -> u32 {
    match child {
        Child::Split(number) => number,
        Child::Leaf(number) => number | LEAF,
    }
}

fn child(number: u32) -> Child {
    match number & LEAF {
        0 => Child::Split(number),
        _ => Child::Leaf(number & !LEAF),
    }
}

pub(super) fn read(kind: &str, version: u32, bytes: &[u8]) -> Result<ModelBody, ModelError> {
    let mut from = ByteReader(bytes);
    let kind = match kind {
        "trees" => ModelBody::Trees(read_ensemble(&mut from, version)?),
        "linear" => {
            let bias = f64::from_le_bytes(from.number()?);
            let count = from.count()?;
            ModelBody::Linear(Linear::new(bias, from.numbers(count, f64::from_le_bytes)?)?)
        }
        "net" => ModelBody::Net(net::read(&mut from)?),
        "blend" => ModelBody::Blend(blend::read(&mut from)?),
        other => {
            let found = other.to_owned();
            return Err(ModelError::damaged(Damage::UnknownKind { found }));
        }
    };
    match from.0.len() {
        0 => Ok(kind),
        bytes => Err(ModelError::damaged(Damage::TrailingBytes { bytes })),
    }
}

fn read_ensemble(from: &mut ByteReader<'_>, version: u32) -> Result<Ensemble, ModelError> {
    let base = f64::from_le_bytes(from.number()?);
    let count = from.count()?;
    if count > from.0.len() / SMALLEST_TREE {
        return Err(ModelError::damaged(Damage::TooManyItems { item: "tree", count }));
    }
    if count > MAX_TREES {
        return Err(ModelError::TooMany { item: "tree", found: count, most: MAX_TREES });
    }
    let mut trees = Vec::with_capacity(count);
    for number in 0..count {
        let tree = read_tree(from, version);
        trees.push(tree.map_err(|error| error.within(ModelPart::Tree(number)))?);
    }
    Ensemble::new(base, trees)
}

fn read_tree(from: &mut ByteReader<'_>, version: u32) -> Result<Tree, ModelError> {
    let n = from.count()?;
    let features = from.each(n, u32::from_le_bytes)?;
    let bits = from.each(n, u32::from_le_bytes)?;
    let kinds = if version > 1 { from.take(n)? } else { &[] };
    // Without kinds all are thresholds.
    let kinds = kinds.iter().copied().chain(std::iter::repeat(0));
    let missing = from.sides(n)?;
    let left = from.each(n, u32::from_le_bytes)?.map(child);
    let right = from.each(n, u32::from_le_bytes)?.map(child);
    let gains = from.each(n, f64::from_le_bytes)?;
    let rows = from.each(n, u64::from_le_bytes)?;
    let values = from.each(n + 1, f64::from_le_bytes)?;
    let leaf_rows = from.each(n + 1, u64::from_le_bytes)?;
    let mut splits = Vec::with_capacity(n);
    let numbers = features.zip(kinds.zip(bits)).zip(missing);
    for ((((feature, bits), missing), (left, right)), (gain, rows)) in
        numbers.zip(left.zip(right)).zip(gains.zip(rows))
    {
        splits.push(Split { feature, rule: rule(bits)?, missing, left, right, gain, rows });
    }
    let leaves = values.zip(leaf_rows).map(|(value, rows)| Leaf { value, rows }).collect();
    let sets = if version > 1 { read_sets(from)? } else { Vec::new() };
    Tree::with_sets(splits, leaves, sets)
}

fn read_sets(from: &mut ByteReader<'_>) -> Result<Vec<Categories>, ModelError> {
    let count = from.count()?;
    // Each set takes at least the four bytes of its size.
    if count > from.0.len() / 4 {
        return Err(ModelError::damaged(Damage::TooManyItems { item: "set", count }));
    }
    let set = |_| {
        let words = from.count()?;
        Categories::from_words(from.numbers(words, u64::from_le_bytes)?)
    };
    (0..count).map(set).collect()
}

/// The remaining bytes.
pub(super) struct ByteReader<'a>(&'a [u8]);

impl<'a> ByteReader<'a> {
    /// The number of remaining bytes.
    pub(super) fn left(&self) -> usize {
        self.0.len()
    }

    pub(super) fn take(&mut self, bytes: usize) -> Result<&'a [u8], ModelError> {
        let (taken, rest) = self.0.split_at_checked(bytes).ok_or_else(|| {
            ModelError::damaged(Damage::MissingBytes { needed: bytes, left: self.0.len() })
        })?;
        self.0 = rest;
        Ok(taken)
    }

    pub(super) fn number<const N: usize>(&mut self) -> Result<[u8; N], ModelError> {
        self.take(N).map(|bytes| bytes.first_chunk().copied().unwrap_or([0; N]))
    }

    pub(super) fn count(&mut self) -> Result<usize, ModelError> {
        self.number().map(|bytes| u32::from_le_bytes(bytes) as usize)
    }

    pub(super) fn numbers<const N: usize, T>(
        &mut self,
        count: usize,
        of: impl Fn([u8; N]) -> T,
    ) -> Result<Vec<T>, ModelError> {
        Ok(self.each(count, of)?.collect())
    }

    /// Reads `count` consecutive values.
    fn each<const N: usize, T, F: Fn([u8; N]) -> T>(
        &mut self,
        count: usize,
        of: F,
    ) -> Result<impl Iterator<Item = T> + use<'a, N, T, F>, ModelError> {
        let size = count.checked_mul(N).ok_or_else(|| ModelError::damaged(Damage::SizeOverflow))?;
        let (chunks, _) = self.take(size)?.as_chunks::<N>();
        Ok(chunks.iter().map(move |&chunk| of(chunk)))
    }

    /// Sides from bits; unused bits must be 0, so that a model has one form only.
    fn sides(&mut self, count: usize) -> Result<impl Iterator<Item = Side> + use<'a>, ModelError> {
        let bytes = self.take(count.div_ceil(8))?;
        let unused = bytes.last().map_or(0, |last| u32::from(*last) >> (1 + (count + 7) % 8));
        if unused != 0 {
            return Err(ModelError::damaged(Damage::UnusedBits));
        }
        let side = |left| if left { Side::Left } else { Side::Right };
        let bits = bytes.iter().flat_map(|byte| (0..8).map(move |bit| byte >> bit & 1 == 1));
        Ok(bits.take(count).map(side))
    }
}
