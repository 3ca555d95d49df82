//! Tests of whole metrics: one program for all tests, as each program is linked separately.

mod common;
mod conventions;
mod ir_measures_conformance;
mod letor_conformance;
mod printed;
mod swaps;
mod ties;
mod trec_conformance;
mod worked_examples;
