//! Parameters of features that name a field, and the field that they stand for on an index.

use rankwright_spec::{Auto, Spec, SpecError, params};

use crate::error::SearchError;
use crate::index::{Index, TextField};
use crate::params::read_params;
use crate::schema::FieldKind;

params! {
    /// Parameters of a feature of a text field without further parameters.
    pub struct TextFieldParams {
        field: String = "all".to_owned(), .., "Text field; all: every text field as one.";
    }
}

params! {
    /// Parameters of a feature of a field of another kind without further parameters.
    pub struct FieldParams {
        field: Auto<String> = Auto::Auto, .., "Field; auto: the only field of its kind.";
    }
}

/// The text field of a spec with [`TextFieldParams`].
pub(super) fn text_field(index: &Index, spec: &Spec) -> Result<TextField, SearchError> {
    index.text_field(&read_params::<TextFieldParams>(spec)?.field)
}

/// The name of the field of a spec with [`FieldParams`].
pub(super) fn field(index: &Index, spec: &Spec, kind: FieldKind) -> Result<String, SearchError> {
    field_or_only(index, spec, &read_params::<FieldParams>(spec)?.field, kind)
}

/// The field that a parameter names; for `auto` the only field of the kind, or an error.
pub(super) fn field_or_only(
    index: &Index,
    spec: &Spec,
    named: &Auto<String>,
    kind: FieldKind,
) -> Result<String, SearchError> {
    if let Auto::Given(name) = named {
        return Ok(name.clone());
    }
    let fields: Vec<&str> = index.schema().of_kind(kind).collect();
    if let [only] = fields.as_slice() {
        return Ok((*only).to_owned());
    }
    let expected = match fields.as_slice() {
        [] => format!("a {} field, and the index has none", kind.name()),
        several => format!("one of the {} fields {}", kind.name(), several.join(", ")),
    };
    Err(SpecError::MissingKey { name: spec.name.clone(), key: "field".to_owned(), expected }.into())
}
