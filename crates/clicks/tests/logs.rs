//! Tests of click logs as a whole.
#![allow(missing_docs)]

mod malformed;
mod reading;
mod round_trip;
mod streaming;
mod yandex;
