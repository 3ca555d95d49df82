//! The parts of XGBoost's file that are read, in the layout of its schema; the rest is skipped.
//!
//! A tree is a dozen arrays with an entry for each node. They are stored with four bytes or one
//! byte a number, so that a file needs about its own size in memory.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{Deserializer, Error, SeqAccess, Unexpected, Visitor};

/// The whole file.
#[derive(Debug, Deserialize)]
pub(super) struct XgboostFile {
    pub(super) learner: XgboostLearner,
    #[serde(default)]
    pub(super) version: Packed<u32>,
}

#[derive(Debug, Deserialize)]
pub(super) struct XgboostLearner {
    #[serde(default)]
    pub(super) attributes: Attributes,
    #[serde(default)]
    pub(super) feature_names: RawNames,
    pub(super) gradient_booster: RawBooster,
    pub(super) learner_model_param: ModelParams,
    pub(super) objective: RawObjective,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct Attributes {
    pub(super) best_iteration: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct RawObjective {
    pub(super) name: String,
}

/// Parameters of the model; numbers are given as strings.
#[derive(Debug, Deserialize)]
pub(super) struct ModelParams {
    pub(super) base_score: String,
    pub(super) num_feature: String,
    #[serde(default)]
    pub(super) num_class: String,
    #[serde(default)]
    pub(super) num_target: String,
}

/// `gbtree` and `gblinear` have a model, `dart` has a `gbtree` and weights.
#[derive(Debug, Deserialize)]
pub(super) struct RawBooster {
    pub(super) name: String,
    pub(super) model: Option<BoosterModel>,
    pub(super) gbtree: Option<WrappedBooster>,
    pub(super) weight_drop: Option<Packed<f32>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct WrappedBooster {
    pub(super) model: BoosterModel,
}

#[derive(Debug, Deserialize)]
pub(super) struct BoosterModel {
    pub(super) trees: Option<RawTreeList>,
    /// The output that each tree is for.
    #[serde(default)]
    pub(super) tree_info: Packed<i32>,
    /// The weights of a linear model: one for each feature, then the bias.
    pub(super) weights: Option<Packed<f32>>,
}

/// The trees.
#[derive(Debug, Deserialize)]
#[expect(clippy::vec_box, reason = "a list of the trees themselves would be copied as it grows")]
pub(super) struct RawTreeList(pub(super) Vec<Box<RawTree>>);

/// The arrays of a tree, with an entry for each node; that of a leaf in `split_conditions` is its
/// value.
#[derive(Debug, Deserialize)]
pub(super) struct RawTree {
    pub(super) left_children: Packed<i32>,
    pub(super) right_children: Packed<i32>,
    pub(super) split_indices: Packed<u32>,
    pub(super) split_conditions: Packed<RawThreshold>,
    pub(super) default_left: Packed<Flag>,
    #[serde(default)]
    pub(super) loss_changes: Packed<f32>,
    #[serde(default)]
    pub(super) sum_hessian: Packed<f32>,
    /// 0 for a number, 1 for categories.
    #[serde(default)]
    pub(super) split_type: Packed<u8>,
    /// The categories of all sets.
    #[serde(default)]
    pub(super) categories: Packed<u32>,
    /// The node of each set.
    #[serde(default)]
    pub(super) categories_nodes: Packed<u32>,
    /// The index of each set's first category in `categories`.
    #[serde(default)]
    pub(super) categories_segments: Packed<u32>,
    /// The number of categories of each set.
    #[serde(default)]
    pub(super) categories_sizes: Packed<u32>,
    pub(super) tree_param: RawTreeParams,
}

#[derive(Debug, Deserialize)]
pub(super) struct RawTreeParams {
    #[serde(default)]
    pub(super) size_leaf_vector: String,
}

/// Maximum number of values of a list. No tree has as many nodes; without a limit a file with one
/// long list of short numbers would need many times its size in memory.
const MAX_NUMBERS: usize = 1 << 23;

/// A list without spare capacity.
#[derive(Debug)]
pub(super) struct Packed<T>(pub(super) Box<[T]>);

impl<T> Default for Packed<T> {
    fn default() -> Self {
        Packed(Box::default())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Packed<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Packed<T>, D::Error> {
        from.deserialize_seq(PackedVisitor(PhantomData))
    }
}

struct PackedVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for PackedVisitor<T> {
    type Value = Packed<T>;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a list of numbers")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Packed<T>, A::Error> {
        // Only our own reader of UBJSON gives a hint, which it has compared with the remaining
        // bytes.
        let hint = list.size_hint().unwrap_or(0);
        let mut numbers = Vec::with_capacity(if hint > MAX_NUMBERS { 0 } else { hint });
        while let Some(number) = list.next_element()? {
            if hint > MAX_NUMBERS || numbers.len() == MAX_NUMBERS {
                return Err(A::Error::custom(format!("more than {MAX_NUMBERS} numbers in a list")));
            }
            if numbers.len() == numbers.capacity() {
                // Short lists double; long lists grow by half, to waste less memory.
                let more = if numbers.len() < 4096 { numbers.len() } else { numbers.len() / 2 };
                numbers.reserve_exact(more.max(16));
            }
            numbers.push(number);
        }
        Ok(Packed(numbers.into_boxed_slice()))
    }
}

/// A threshold or leaf value of 32 bits; `null` stands for infinity, which JSON does not have.
#[derive(Debug, Clone, Copy)]
pub(super) struct RawThreshold(pub(super) f32);

impl<'de> Deserialize<'de> for RawThreshold {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<RawThreshold, D::Error> {
        // Read as an optional f32, so that a decimal is rounded once.
        Option::<f32>::deserialize(from).map(|number| RawThreshold(number.unwrap_or(f32::INFINITY)))
    }
}

/// 0 or 1, which the first versions wrote as false or true. Other numbers are rejected: XGBoost
/// does not write them, and reads some of them as true and some as false.
#[derive(Debug, Clone, Copy)]
pub(super) struct Flag(pub(super) bool);

impl<'de> Deserialize<'de> for Flag {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Flag, D::Error> {
        struct FlagVisitor;
        impl Visitor<'_> for FlagVisitor {
            type Value = Flag;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("0, 1, false or true")
            }
            fn visit_bool<E: Error>(self, flag: bool) -> Result<Flag, E> {
                Ok(Flag(flag))
            }
            fn visit_i64<E: Error>(self, flag: i64) -> Result<Flag, E> {
                match u64::try_from(flag) {
                    Ok(flag) => self.visit_u64(flag),
                    Err(_) => Err(E::invalid_value(Unexpected::Signed(flag), &self)),
                }
            }
            fn visit_u64<E: Error>(self, flag: u64) -> Result<Flag, E> {
                match flag {
                    0 | 1 => Ok(Flag(flag == 1)),
                    _ => Err(E::invalid_value(Unexpected::Unsigned(flag), &self)),
                }
            }
        }
        from.deserialize_any(FlagVisitor)
    }
}

/// Maximum number of named features: a name needs more memory than its text in the file.
const MAX_NAMES: usize = 1 << 17;

/// Feature names; empty if features are only numbered.
#[derive(Debug, Default)]
pub(super) struct RawNames(pub(super) Vec<String>);

impl<'de> Deserialize<'de> for RawNames {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<RawNames, D::Error> {
        struct NamesVisitor;
        impl<'de> Visitor<'de> for NamesVisitor {
            type Value = RawNames;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a list of feature names")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<RawNames, A::Error> {
                let mut names = Vec::new();
                while let Some(name) = list.next_element()? {
                    if names.len() == MAX_NAMES {
                        let message = format!("more than {MAX_NAMES} features with names");
                        return Err(A::Error::custom(message));
                    }
                    names.push(name);
                }
                Ok(RawNames(names))
            }
        }
        from.deserialize_seq(NamesVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_too_many_numbers_is_an_error() {
        let list = |count: usize| format!("[{}0]", "0,".repeat(count - 1));
        assert_eq!(serde_json::from_str::<Packed<u8>>(&list(5000)).unwrap().0.len(), 5000);
        let error = serde_json::from_str::<Packed<u8>>(&list(MAX_NUMBERS + 1)).unwrap_err();
        assert!(error.to_string().starts_with("more than 8388608 numbers"), "{error}");
    }
}
