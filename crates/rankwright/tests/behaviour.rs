//! Tests of the whole crate: one program for all tests, as each test program is linked separately.

mod reference;
mod silent_traps;
mod sources;
mod threads;
