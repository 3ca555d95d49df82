//! Length-bounded lists and maps: JSON with more entries than allowed is an error before more
//! memory is used.

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
        write!(f, "a list of at most {MAX}")
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut list: S) -> Result<Self::Value, S::Error> {
        let mut all = Vec::new();
        while let Some(element) = list.next_element()? {
            if all.len() == MAX {
                return Err(S::Error::invalid_length(MAX + 1, &self));
            }
            all.push(element);
        }
        Ok(BoundedVec(all))
    }
}

/// A map of at most `MAX` strings by name.
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
        write!(f, "at most {MAX} strings by name")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
        let mut all = BTreeMap::new();
        while let Some((name, value)) = map.next_entry()? {
            if all.len() == MAX {
                return Err(M::Error::invalid_length(MAX + 1, &self));
            }
            all.insert(name, value);
        }
        Ok(BoundedMap(all))
    }
}
