//! Neural learners, a file each.

mod approxndcg;
mod lambdarank;
mod listmle;
mod listnet;
mod ranknet;
mod softmax;

use crate::learner::AcceptedInputs;
use crate::transform::Transform;

pub use approxndcg::ApproxNdcgNet;
pub use lambdarank::LambdaRank;
pub use listmle::ListMleNet;
pub use listnet::ListNet;
pub use ranknet::{RankNet, RankNetOptions, RankNetParams, RankNetUpdate};
pub use softmax::{SoftmaxNet, SoftmaxNetOptions, SoftmaxNetParams, SoftmaxNetTarget};

crate::learner::learners![LambdaRank, RankNet, ListNet, ListMleNet, SoftmaxNet, ApproxNdcgNet];

/// The default transform of nets: none if all features lie within -1..1, else `log-standard`.
const NET_TRANSFORM: Transform = Transform::Adapt;

/// The inputs that every net accepts.
const NET_INPUTS: AcceptedInputs = AcceptedInputs {
    pairs: false,
    pairs_alone: false,
    start: false,
    validation: true,
    missing: false,
    positions: true,
};
