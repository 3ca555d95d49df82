//! Generators of synthetic data: the same options and seed give the same bits on any machine and
//! with any number of threads.

mod homepages;
mod letor;
mod store;

pub use homepages::{Homepages, HomepagesOptions, WebPage, WebQuery};
pub use letor::LetorOptions;
pub use store::{Store, StoreOptions, StoreQuery, StoreRecord};
