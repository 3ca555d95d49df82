//! Tests of the command: one program for all tests, as each test program is linked separately.

mod classifiers;
mod clicks;
mod clicks_simulated;
mod clickthrough;
mod common;
mod data;
mod documents;
mod eval;
mod experiment;
mod explain;
mod first_hour;
mod hostile;
mod inputs;
mod interleave;
mod judge;
mod large;
mod lectures;
mod model;
mod objectives;
mod operate;
mod overwritten;
mod own_tables;
mod predictions;
mod preferences;
mod renamed;
mod report_compare;
mod report_data;
mod report_train;
#[cfg(unix)]
mod signals;
mod source_rules;
mod text;
mod tours;
mod train;
mod tune;
mod unbiased;
