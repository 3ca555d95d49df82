//! Reports as a whole: one program for all tests, as each program is linked anew.

mod no_training;
mod page;
