//! Tests of the whole crate: one program for all tests, as each test program is linked separately.

mod version_1;
mod version_3;
