//! Parts of the JSON form of requests.
//!
//! A request is an object with the fields of its struct. Fields that its constructor does not take
//! may be left out and then have the values of the constructor; unknown fields are refused. A spec
//! is its text, a file its path, and ranges are checked as those of builder methods.

/// The seed of a request that gives none.
#[cfg(any(feature = "train", feature = "search", feature = "clicks"))]
pub(super) fn default_seed() -> u64 {
    rankwright_data::DEFAULT_SEED
}

/// A duration as a number of seconds.
#[cfg(feature = "train")]
pub(super) mod seconds {
    use std::time::Duration;

    use serde::de::{Deserialize, Deserializer, Error};
    use serde::ser::Serializer;

    pub(in crate::tasks) fn serialize<S: Serializer>(
        time: &Duration,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(time.as_secs_f64())
    }

    pub(in crate::tasks) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Duration, D::Error> {
        Duration::try_from_secs_f64(f64::deserialize(from)?).map_err(Error::custom)
    }
}

/// A query as its text, or as an object with text, id and further values.
#[cfg(feature = "search")]
pub(super) mod query {
    use std::collections::BTreeMap;

    use rankwright_search::{Query, Value};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::tasks::sources::short_or_object;

    #[derive(Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct QueryObject {
        #[serde(default = "default_id")]
        id: String,
        text: String,
        #[serde(default)]
        fields: BTreeMap<String, Value>,
    }

    /// The id of a query that has none.
    pub(in crate::tasks) fn default_id() -> String {
        "1".to_owned()
    }

    impl From<QueryObject> for Query {
        fn from(QueryObject { id, text, fields }: QueryObject) -> Self {
            let query = Query::new(id, text);
            fields.into_iter().fold(query, |query, (name, value)| query.with(&name, value))
        }
    }

    pub(in crate::tasks) fn serialize<S: Serializer>(
        query: &Query,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let Query { id, text, fields } = query.clone();
        QueryObject { id, text, fields: fields.into_iter().collect() }.serialize(serializer)
    }

    pub(in crate::tasks) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Query, D::Error> {
        let expected = "the text of a query, or an object with `text`";
        let of_text = |texts: Vec<String>| Query::new(default_id(), texts.join(" "));
        short_or_object::<_, QueryObject, _>(from, expected, of_text)
    }
}
