//! Generators of synthetic data: the same options and seed give the same bits on any machine and
//! with any number of threads.

mod letor;
mod store;

pub use letor::LetorOptions;
pub use store::{Store, StoreOptions, StoreQuery, StoreRecord};
