//! Tests of whole reports: one program for all tests, as each test program is linked separately.

mod no_training;
mod page;
