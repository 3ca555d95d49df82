//! Pictures of lectures on learning to rank: the losses of a pair, documents in the space of
//! features and in the space of pairs, and the regions of a regression tree.
//!
//! The numbers come from the caller, who trained the models; here they become charts.

mod losses;
mod plane;
mod regions;
mod spaces;

pub use losses::pair_losses;
pub use regions::tree_regions;
pub use spaces::{LabelledPoint, PairDifference, QueryPoint, class_border, pair_differences};
pub use spaces::{original_space, pair_space};
