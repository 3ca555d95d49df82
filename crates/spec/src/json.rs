//! The JSON form of parameters, of choices, and of everything that a spec names.
//!
//! A group of parameters is an object that has the parameters which differ from their defaults;
//! reading one checks ranges and conditions as reading a spec does. A choice is its name. A
//! component (a learner, a metric, ...) is the text of its spec.

use std::fmt;

use serde::de::{self, Deserialize, Deserializer, MapAccess, Visitor};
use serde::ser::{SerializeMap, Serializer};

use crate::def::ParamKind;
use crate::group::{ParamGroup, read_spec, write_spec};
use crate::spec::Spec;

/// Writes a group of parameters as an object: those that differ from their defaults.
pub fn serialize_group<G: ParamGroup + Default, S: Serializer>(
    group: &G,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let defs = group.defs();
    let spec = write_spec("", group);
    let mut map = serializer.serialize_map(Some(spec.args.len()))?;
    for (key, text) in &spec.args {
        let kind = defs.iter().find(|def| def.name == key).map(|def| &def.kind);
        write_entry(&mut map, key, text, kind)?;
    }
    map.end()
}

/// Writes a parameter as the JSON value that fits its kind; as text where no other fits, such as
/// for `auto`.
fn write_entry<M: SerializeMap>(
    map: &mut M,
    key: &str,
    text: &str,
    kind: Option<&ParamKind>,
) -> Result<(), M::Error> {
    match kind {
        Some(ParamKind::Integer) => {
            if let Ok(number) = text.parse::<u64>() {
                return map.serialize_entry(key, &number);
            }
            if let Ok(number) = text.parse::<i64>() {
                return map.serialize_entry(key, &number);
            }
        }
        Some(ParamKind::Number) => {
            if let Some(number) = text.parse::<f64>().ok().filter(|number| number.is_finite()) {
                return map.serialize_entry(key, &number);
            }
        }
        Some(ParamKind::Boolean) => {
            if let Ok(value) = text.parse::<bool>() {
                return map.serialize_entry(key, &value);
            }
        }
        _ => {}
    }
    map.serialize_entry(key, text)
}

/// Reads a group of parameters from an object. Parameters that it does not have keep their
/// defaults, as do those with the value `null`.
pub fn deserialize_group<'de, G: ParamGroup + Default, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<G, D::Error> {
    let spec = deserializer.deserialize_map(GroupVisitor)?;
    read_spec(&spec).map_err(de::Error::custom)
}

/// The choice of this name.
pub fn json_choice<T: Copy>(text: &str, all: &[(&str, T)]) -> Result<T, String> {
    let found = all.iter().find(|(name, _)| *name == text);
    found.map(|(_, value)| *value).ok_or_else(|| {
        let names: Vec<&str> = all.iter().map(|(name, _)| *name).collect();
        format!("`{text}` is none of {}", names.join(", "))
    })
}

/// The name of a group in errors.
const GROUP: &str = "options";

struct GroupVisitor;

impl<'de> Visitor<'de> for GroupVisitor {
    type Value = Spec;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of parameters")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Spec, A::Error> {
        let mut spec = Spec::new(GROUP);
        while let Some(key) = map.next_key::<String>()? {
            if spec.get(&key).is_some() {
                return Err(de::Error::custom(format_args!("`{key}` is given twice")));
            }
            let ParamText(text) = map.next_value()?;
            spec.args.extend(text.map(|text| (key, text)));
        }
        Ok(spec)
    }
}

/// The value of a parameter as a spec writes it; `None` for `null`.
struct ParamText(Option<String>);

impl<'de> Deserialize<'de> for ParamText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ParamTextVisitor)
    }
}

struct ParamTextVisitor;

impl<'de> Visitor<'de> for ParamTextVisitor {
    type Value = ParamText;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, a text, true, false or null")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<ParamText, E> {
        Ok(ParamText(Some(text.to_owned())))
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<ParamText, E> {
        Ok(ParamText(Some(value.to_string())))
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<ParamText, E> {
        Ok(ParamText(Some(number.to_string())))
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<ParamText, E> {
        Ok(ParamText(Some(number.to_string())))
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<ParamText, E> {
        Ok(ParamText(Some(number.to_string())))
    }

    fn visit_unit<E: de::Error>(self) -> Result<ParamText, E> {
        Ok(ParamText(None))
    }
}

/// Implements `Serialize` and `Deserialize` for a type that has a text: a spec, or a name.
///
/// `write` is a function of a reference that gives the text, `read` a function of a text that gives
/// the value or an error.
///
/// ```
/// use rankwright_spec::json_by_text;
///
/// #[derive(Debug, PartialEq)]
/// struct Length(u32);
///
/// impl Length {
///     fn parse(text: &str) -> Result<Self, std::num::ParseIntError> {
///         text.parse().map(Length)
///     }
/// }
///
/// json_by_text!(Length, |length: &Length| length.0.to_string(), Length::parse);
/// assert_eq!(serde_json::to_string(&Length(7))?, "\"7\"");
/// assert_eq!(serde_json::from_str::<Length>("\"7\"")?, Length(7));
/// assert!(serde_json::from_str::<Length>("\"seven\"").is_err());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[macro_export]
macro_rules! json_by_text {
    ($type:ty, $write:expr, $read:expr) => {
        impl $crate::private::serde::Serialize for $type {
            fn serialize<S: $crate::private::serde::Serializer>(
                &self,
                serializer: S,
            ) -> ::std::result::Result<S::Ok, S::Error> {
                serializer.collect_str(&($write)(self))
            }
        }

        impl<'de> $crate::private::serde::Deserialize<'de> for $type {
            fn deserialize<D: $crate::private::serde::Deserializer<'de>>(
                deserializer: D,
            ) -> ::std::result::Result<Self, D::Error> {
                let text =
                    <::std::string::String as $crate::private::serde::Deserialize>::deserialize(
                        deserializer,
                    )?;
                ($read)(text.as_str())
                    .map_err(<D::Error as $crate::private::serde::de::Error>::custom)
            }
        }
    };
}

#[allow(dead_code, unreachable_pub)] // The builder methods of `params!`.
#[cfg(test)]
mod tests {
    use crate::{choices, params};

    choices! {
        /// The next leaf.
        pub enum Growth {
            /// By gain.
            Leaf = "leaf",
            /// By level.
            Level = "level",
        }
    }

    params! {
        /// A tree.
        pub struct Tree {
            leaves: u32 = 31, 1..=100, "Number of leaves.";
            rate: f64 = 0.1, 0.0.., "Shrinkage.";
            growth: Growth = Growth::Leaf, .., "The next leaf.";
            depth: u32 = 0, .., "Depth.", requires "growth=level";
            name: Option<String> = None, .., "Its name.";
        }
    }

    fn read(text: &str) -> Result<Tree, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    #[test]
    fn a_group_is_an_object_of_what_differs_from_the_defaults() {
        let tree = Tree::default().leaves(7_u32).rate(0.5).growth(Growth::Level).depth(3_u32);
        let text = serde_json::to_string(&tree).unwrap();
        assert_eq!(text, r#"{"leaves":7,"rate":0.5,"growth":"level","depth":3}"#);
        assert_eq!(read(&text).unwrap(), tree);
        assert_eq!(serde_json::to_string(&Tree::default()).unwrap(), "{}");
        assert_eq!(read(r#"{"name": null, "rate": 1}"#).unwrap(), Tree::default().rate(1.0));
    }

    #[test]
    fn ranges_names_and_conditions_are_checked() {
        for (text, expected) in [
            (r#"{"leaves": 0}"#, "from 1 to 100"),
            (r#"{"leaves": 1.5}"#, "a whole number"),
            (r#"{"leafs": 3}"#, "did you mean `leaves`?"),
            (r#"{"depth": 3}"#, "growth=level"),
            (r#"{"growth": "up"}"#, "up"),
            (r#"{"rate": [1]}"#, "a number, a text"),
            (r#"{"rate": 1, "rate": 2}"#, "`rate` is given twice"),
            (r#"[1]"#, "an object of parameters"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
