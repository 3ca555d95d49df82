//! Tests of metrics through the public interface, all in one test program, as each program takes
//! time to link.

mod common;
mod conventions;
mod ir_measures_conformance;
mod letor_conformance;
mod printed;
mod swaps;
mod ties;
mod trec_conformance;
mod worked_examples;
