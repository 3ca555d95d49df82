//! Learners as a whole: one program for all tests, as each program is linked anew.

mod edges;
mod golden;
mod growth;
mod lectures;
mod objectives;
mod reproducible;
