//! Tests of the whole crate: one program for all tests, as each test program is linked separately.

mod formats_round_trip;
mod malformed;
