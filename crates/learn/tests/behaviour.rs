//! Tests of whole trainings. One program for all of them, because every test program is linked
//! separately.

mod distillation;
mod edges;
mod goals;
mod golden;
mod growth;
mod objectives;
mod reproducible;
mod stop_at_round;
mod worked_examples;
