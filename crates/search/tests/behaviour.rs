//! Tests of the whole crate: one program for all tests, as each test program is linked separately.

mod common;
mod features;
mod filters;
mod five;
mod hardship;
mod memory;
mod oddities;
mod own_features;
mod parity;
mod recorded;
mod reference;
mod sources;
