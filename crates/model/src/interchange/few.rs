//! Lists and maps that end in time: one of JSON that is longer than it may be is an error before it
//! costs memory.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// At most `MOST` things.
pub(crate) struct Few<T, const MOST: usize>(pub(crate) Vec<T>);

impl<T, const MOST: usize> Default for Few<T, MOST> {
    fn default() -> Self {
        Few(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>, const MOST: usize> Deserialize<'de> for Few<T, MOST> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_seq(List(PhantomData))
    }
}

struct List<T, const MOST: usize>(PhantomData<T>);

impl<'de, T: Deserialize<'de>, const MOST: usize> Visitor<'de> for List<T, MOST> {
    type Value = Few<T, MOST>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a list of at most {MOST}")
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut list: S) -> Result<Self::Value, S::Error> {
        let mut all = Vec::new();
        while let Some(one) = list.next_element()? {
            if all.len() == MOST {
                return Err(S::Error::invalid_length(MOST + 1, &self));
            }
            all.push(one);
        }
        Ok(Few(all))
    }
}

/// At most `MOST` strings by name.
pub(crate) struct FewByName<const MOST: usize>(pub(crate) BTreeMap<String, String>);

impl<'de, const MOST: usize> Deserialize<'de> for FewByName<MOST> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(Map)
    }
}

struct Map<const MOST: usize>;

impl<'de, const MOST: usize> Visitor<'de> for Map<MOST> {
    type Value = FewByName<MOST>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at most {MOST} strings by name")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
        let mut all = BTreeMap::new();
        while let Some((name, value)) = map.next_entry()? {
            if all.len() == MOST {
                return Err(M::Error::invalid_length(MOST + 1, &self));
            }
            all.insert(name, value);
        }
        Ok(FewByName(all))
    }
}
