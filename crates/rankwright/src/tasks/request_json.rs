//! Parts of the JSON form of requests.
//!
//! A request is an object with the fields of its struct. Fields that its constructor does not take
//! may be left out and then have the values of the constructor; unknown fields are refused. A spec
//! is its text, a file its path, and ranges are checked as those of builder methods.

/// The seed of a request that gives none.
#[cfg(any(feature = "train", feature = "search"))]
pub(super) fn default_seed() -> u64 {
    rankwright_data::DEFAULT_SEED
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
        id: Option<String>,
        text: String,
        #[serde(default)]
        fields: BTreeMap<String, Value>,
    }

    /// The id of a query that has none.
    pub(in crate::tasks) fn default_id() -> String {
        "1".to_owned()
    }

    /// A query whose id may be its place in a list.
    pub(in crate::tasks) struct ListedQuery(QueryObject);

    impl ListedQuery {
        /// The query, at this place of a list, from 1.
        pub(in crate::tasks) fn at(self, place: usize) -> Query {
            let QueryObject { id, text, fields } = self.0;
            let query = Query::new(id.unwrap_or_else(|| place.to_string()), text);
            fields.into_iter().fold(query, |query, (name, value)| query.with(&name, value))
        }
    }

    impl<'de> Deserialize<'de> for ListedQuery {
        fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
            let expected = "the text of a query, or an object with `text`";
            let of_text = |texts: Vec<String>| QueryObject {
                id: None,
                text: texts.join(" "),
                fields: BTreeMap::new(),
            };
            short_or_object::<QueryObject, QueryObject, _>(from, expected, of_text).map(Self)
        }
    }

    pub(in crate::tasks) fn serialize<S: Serializer>(
        query: &Query,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let Query { id, text, fields } = query.clone();
        let (id, fields) = (Some(id), fields.into_iter().collect());
        QueryObject { id, text, fields }.serialize(serializer)
    }

    pub(in crate::tasks) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Query, D::Error> {
        ListedQuery::deserialize(from).map(|query| query.at(1))
    }
}
