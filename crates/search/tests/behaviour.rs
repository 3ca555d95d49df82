//! Search as a whole: one program for all tests, as each program is linked anew.

mod common;
mod features;
mod five;
mod hardship;
mod memory;
mod oddities;
mod parity;
mod recorded;
mod reference;
mod sources;
