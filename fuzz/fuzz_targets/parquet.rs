//! Any bytes, read as Parquet files: a data set that survives a trip through the cache, or an error.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rankwright::data::format::Format;
use rankwright_fuzz::data_set;

fuzz_target!(|bytes: &[u8]| data_set(bytes, Format::Parquet));
