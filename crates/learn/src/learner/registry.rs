//! The list of learners, joined from the lists of the folders that hold them.

use rankwright_spec::SpecError;

use super::{DeclaredLearner, FixedWeights, LearnerDef};

/// Lists the learners of a folder as `LEARNERS`, gives each of them a constructor `new`, and makes
/// each a value of parameters that are learners.
macro_rules! learners {
    ($($learner:ident),* $(,)?) => {
        /// The learners of this folder.
        pub(crate) const LEARNERS: &[&crate::learner::LearnerDef] =
            &[$( <$learner as crate::learner::DeclaredLearner>::DEF ),*];

        $( impl $learner {
            /// The learner with its default parameters.
            pub fn new() -> Self {
                Self::default()
            }
        }

        /// The learner as the value of a parameter of another one.
        impl ::std::convert::From<$learner> for crate::learner::LearnerText {
            fn from(learner: $learner) -> Self {
                Self::new(crate::learner::Learner::spec(&learner).to_string())
            }
        }

        impl ::rankwright_spec::IntoParam<crate::learner::LearnerText> for $learner {
            fn into_param(self) -> crate::learner::LearnerText {
                self.into()
            }
        } )*
    };
}
pub(crate) use learners;

/// The learners of each folder; `super::linear` has the one learner `linear`, of given weights.
const LISTS: [&[&LearnerDef]; 7] = [
    crate::boost::learners::LEARNERS,
    crate::linear::learners::LEARNERS,
    crate::net::learners::LEARNERS,
    crate::ensemble::LEARNERS,
    crate::blend::LEARNERS,
    crate::auto::LEARNERS,
    super::linear::LEARNERS,
];

/// Number of all learners.
const COUNT: usize = {
    let (mut count, mut list) = (0, 0);
    while list < LISTS.len() {
        count += LISTS[list].len();
        list += 1;
    }
    count
};

/// The lists of all folders as one.
const fn joined() -> [&'static LearnerDef; COUNT] {
    let mut all = [FixedWeights::DEF; COUNT];
    let (mut next, mut list) = (0, 0);
    while list < LISTS.len() {
        let mut entry = 0;
        while entry < LISTS[list].len() {
            all[next] = LISTS[list][entry];
            (next, entry) = (next + 1, entry + 1);
        }
        list += 1;
    }
    all
}

/// All learners, in the order of [`LISTS`].
static ALL: [&LearnerDef; COUNT] = joined();

/// The declarations of all learners. The list implements `Serialize`.
pub static LEARNERS: &[&LearnerDef] = &ALL;

/// The declaration of the learner with this name; the error lists the known learners.
pub fn find_learner(name: &str) -> Result<&'static LearnerDef, SpecError> {
    LEARNERS.iter().copied().find(|def| def.name == name).ok_or_else(|| {
        let known: Vec<&str> = LEARNERS.iter().map(|def| def.name).collect();
        SpecError::unknown("learner", name, &known)
    })
}
