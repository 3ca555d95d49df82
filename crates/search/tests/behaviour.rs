//! Tests of the whole crate: one program for all tests, as each test program is linked separately.

mod best;
mod common;
mod custom_features;
mod edge_cases;
mod failures;
mod features;
mod filters;
mod five;
mod memory;
mod parity;
mod recorded;
mod reference;
mod sources;
mod updates;
