//! Specs and parameters: the small language that names learners, metrics, features and first
//! stages (the retrieval functions that find candidates, such as `bm25`), and the single declaration
//! of each parameter, which the command line, Python and the server read.
//!
//! - [`Spec`] is the parsed text: `lambdamart(leaves=31, metric=ndcg@10)`.
//! - [`params!`] declares a struct of parameters: type, default, range and one line of help in one
//!   place. From it come the fields, `Default`, range checks, builder methods, the reader and the
//!   printer of specs, and a serialisable [`ParamDef`] for help, documentation and other languages.
//! - [`param_groups!`] joins several such structs into the parameters of one component, and
//!   [`choices!`] declares an enum whose variants have names in specs.
//! - Both have a JSON form ([`json_by_text!`] gives one to what has a text), so that requests can be
//!   read from JSON with the same checks.
//! - [`read_spec`] and [`write_spec`] turn a spec into parameters and back.
#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::unreachable)
)]

mod conflict;
mod declare;
mod def;
mod error;
mod error_kind;
mod group;
mod json;
mod nearest;
mod other_systems;
mod range;
mod requires;
pub mod seconds;
mod spec;
mod value;
pub mod visible;
pub mod words;

pub use conflict::Conflict;
pub use def::{ParamDef, ParamKind, RangeDef};
pub use error::{SpecError, ValueError};
pub use group::{ParamGroup, check_params, read_into, read_spec, write_spec};
pub use nearest::nearest;
pub use other_systems::{
    OTHER_FIRST_STAGES, OTHER_SYSTEM_LEARNERS, OTHER_SYSTEM_PARAMS, OtherSystemLearner,
    OtherSystemParam, other_first_stage, other_system_learner, other_system_param,
};
pub use range::{Above, ParamRange, above};
pub use spec::{MAX_DEPTH, Spec, split_specs};
pub use value::{Auto, ChoiceDef, IntoParam, NamedChoice, ParamValue, Slashed, TextValue};

/// Functions that the macros call; not part of the API.
#[doc(hidden)]
pub mod private {
    pub use serde;

    pub use crate::group::{check_value, define, read_value};
    pub use crate::json::{deserialize_group, json_choice, serialize_group};
    pub use crate::value::choice_named;
}
