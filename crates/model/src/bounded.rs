//! Length-bounded lists and maps for reading JSON: the first entry beyond the maximum is an error,
//! so that a file cannot make the reader use more memory.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// A list of at most `MAX` elements.
pub(crate) struct BoundedVec<T, const MAX: usize>(pub(crate) Vec<T>);

impl<T, const MAX: usize> Default for BoundedVec<T, MAX> {
    fn default() -> Self {
        BoundedVec(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>, const MAX: usize> Deserialize<'de> for BoundedVec<T, MAX> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_seq(ListVisitor(PhantomData))
    }
}

struct ListVisitor<T, const MAX: usize>(PhantomData<T>);

impl<'de, T: Deserialize<'de>, const MAX: usize> Visitor<'de> for ListVisitor<T, MAX> {
    type Value = BoundedVec<T, MAX>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a list of at most {MAX} elements")
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut list: S) -> Result<Self::Value, S::Error> {
        let mut elements = Vec::new();
        while let Some(element) = list.next_element()? {
            if elements.len() == MAX {
                return Err(S::Error::invalid_length(MAX + 1, &self));
            }
            elements.push(element);
        }
        Ok(BoundedVec(elements))
    }
}

/// A map from names to strings, with at most `MAX` entries.
pub(crate) struct BoundedMap<const MAX: usize>(pub(crate) BTreeMap<String, String>);

impl<'de, const MAX: usize> Deserialize<'de> for BoundedMap<MAX> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(MapVisitor)
    }
}

struct MapVisitor<const MAX: usize>;

impl<'de, const MAX: usize> Visitor<'de> for MapVisitor<MAX> {
    type Value = BoundedMap<MAX>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a map of at most {MAX} names to strings")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
        let mut entries = BTreeMap::new();
        while let Some((name, value)) = map.next_entry()? {
            if entries.len() == MAX {
                return Err(M::Error::invalid_length(MAX + 1, &self));
            }
            entries.insert(name, value);
        }
        Ok(BoundedMap(entries))
    }
}
