//! A model: a header, and a body that scores rows.

use rankwright_data::FeatureNames;
use serde::Serialize;

use crate::blend::{Blend, add_term};
use crate::ensemble::Ensemble;
use crate::error::ModelError;
use crate::header::Header;
use crate::linear::Linear;
use crate::matching::{MatchBy, MatchOptions, Matching};
use crate::net::Net;
use crate::problem::BlendProblem;

/// The part of a model that scores rows.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ModelBody {
    /// A sum of trees.
    Trees(Ensemble),
    /// A weight for each feature.
    Linear(Linear),
    /// Layers over transformed features.
    Net(Net),
    /// A weighted sum of other models' scores.
    Blend(Blend),
}

/// The kinds of model bodies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum BodyKind {
    /// A sum of trees.
    Trees,
    /// A weight for each feature.
    Linear,
    /// Layers over transformed features.
    Net,
    /// A weighted sum of other models' scores.
    Blend,
}

impl BodyKind {
    /// Every kind.
    pub const ALL: [BodyKind; 4] =
        [BodyKind::Trees, BodyKind::Linear, BodyKind::Net, BodyKind::Blend];

    /// The name in files and messages.
    pub fn name(self) -> &'static str {
        match self {
            BodyKind::Trees => "trees",
            BodyKind::Linear => "linear",
            BodyKind::Net => "net",
            BodyKind::Blend => "blend",
        }
    }
}

impl ModelBody {
    /// The kind.
    pub fn kind(&self) -> BodyKind {
        match self {
            ModelBody::Trees(_) => BodyKind::Trees,
            ModelBody::Linear(_) => BodyKind::Linear,
            ModelBody::Net(_) => BodyKind::Net,
            ModelBody::Blend(_) => BodyKind::Blend,
        }
    }

    /// The name of the kind in files and messages.
    pub fn name(&self) -> &'static str {
        self.kind().name()
    }
}

/// A checked model.
///
/// | task | methods |
/// |---|---|
/// | read | [`from_bytes`](Model::from_bytes) and [`load`](Model::load), of any known [`ModelFormat`](crate::ModelFormat) |
/// | write | [`to_bytes`](Model::to_bytes) and [`save`](Model::save) in our own format, [`to_bytes_as`](Model::to_bytes_as) and [`save_as`](Model::save_as) in another |
/// | score a data set | [`predict`](Model::predict), [`score`](Model::score) with options |
/// | score rows repeatedly | [`scorer`](Model::scorer), [`scorer_for`](Model::scorer_for) other columns: a [`Scorer`](crate::Scorer) |
/// | score by the reference implementation, for tests | [`score_row`](Model::score_row), [`score_query`](Model::score_query) |
/// | describe | [`summary`](Model::summary), [`importance`](Model::importance), [`weights`](Model::weights), [`header`](Model::header) |
/// | explain | an [`Explainer`](crate::Explainer), partial [`dependence`](Model::dependence) on one feature |
///
/// ```
/// use rankwright_data::{Absent, FeatureNames};
/// use rankwright_model::{Header, ModelBody, Linear, Model};
///
/// let names = FeatureNames::Named(vec!["bm25".into(), "pagerank".into()]);
/// let linear = Linear::from_weights(&names, 0.0, &[("pagerank".into(), 2.0)])?;
/// let model = Model::new(Header::new(names, Absent::Zero), ModelBody::Linear(linear))?;
/// assert_eq!(model.score_row(&[7.0, 1.5]), 3.0);
/// let bytes = model.to_bytes();
/// assert_eq!(Model::from_bytes(&bytes)?, model);
/// # Ok::<(), rankwright_model::ModelError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Model {
    header: Header,
    body: ModelBody,
    /// For each member of a blend the matching of its features with those of the header; empty for
    /// other bodies.
    member_matchings: Vec<Matching>,
}

/// Compares header and body; the matchings of a blend's members follow from these.
impl PartialEq for Model {
    fn eq(&self, other: &Model) -> bool {
        self.header == other.header && self.body == other.body
    }
}

impl Model {
    /// Makes a model of a header and a body. Trees may use some of the header's features; a linear
    /// model and a net need exactly as many, and the members of a blend find theirs among them.
    pub fn new(header: Header, body: ModelBody) -> Result<Model, ModelError> {
        header.check()?;
        let header_features = header.features.len();
        let member_matchings = match &body {
            ModelBody::Blend(blend) => matched_members(&header, blend)?,
            _ => Vec::new(),
        };
        let kind = body.kind();
        let mismatch = |features| {
            Err(ModelError::FeatureCount { body: kind, features, header: header_features })
        };
        match &body {
            ModelBody::Trees(trees) if trees.features() > header_features => {
                mismatch(trees.features())
            }
            ModelBody::Linear(linear) if linear.weights().len() != header_features => {
                mismatch(linear.weights().len())
            }
            ModelBody::Net(net) if net.transforms().columns() != header_features => {
                mismatch(net.transforms().columns())
            }
            _ => Ok(Model { header, body, member_matchings }),
        }
    }

    /// The kind of the model that boosting started from, if this model is the sum of such a model
    /// and of trees ([`Blend::sum`]).
    pub(crate) fn start_of_sum(&self) -> Option<BodyKind> {
        match &self.body {
            ModelBody::Blend(blend) => blend.start_of_sum(&self.header.learner),
            _ => None,
        }
    }

    /// The trees that boosting added to a start model, if this model is the sum of the two
    /// ([`Blend::sum`]).
    ///
    /// ```
    /// use rankwright_data::{Absent, FeatureNames};
    /// use rankwright_model::{Blend, Ensemble, Header, Linear, Model, ModelBody};
    ///
    /// let header = Header::new(FeatureNames::Ids { first: 1, count: 1 }, Absent::Zero);
    /// let linear = ModelBody::Linear(Linear::new(0.0, vec![2.0])?);
    /// let start = Model::new(header.clone(), linear)?;
    /// let trees = Model::new(header.clone(), ModelBody::Trees(Ensemble::new(0.5, vec![])?))?;
    /// let sum = |a: &Model, b: &Model| Blend::sum(a.clone(), b.clone()).map(ModelBody::Blend);
    /// let model = Model::new(header.clone(), sum(&start, &trees)?)?;
    /// assert_eq!(model.added_trees(), Some(&trees));
    /// assert!(Model::new(header, sum(&trees, &start)?)?.added_trees().is_none());
    /// # Ok::<(), rankwright_model::ModelError>(())
    /// ```
    pub fn added_trees(&self) -> Option<&Model> {
        self.start_of_sum()?;
        match &self.body {
            ModelBody::Blend(blend) => blend.members().last().map(|(_, added)| added),
            _ => None,
        }
    }

    /// This model with other trees in place of its own, such as only the first few. If this model
    /// is the sum of a start model and added trees, the start model stays, and only the added trees
    /// are replaced ([`added_trees`](Self::added_trees)).
    ///
    /// ```
    /// use rankwright_data::{Absent, FeatureNames};
    /// use rankwright_model::{Blend, Ensemble, Header, Linear, Model, ModelBody};
    ///
    /// let header = Header::new(FeatureNames::Ids { first: 1, count: 1 }, Absent::Zero);
    /// let start = Model::new(header.clone(), ModelBody::Linear(Linear::new(0.0, vec![2.0])?))?;
    /// let trees = Model::new(header.clone(), ModelBody::Trees(Ensemble::new(0.5, vec![])?))?;
    /// let sum = Model::new(header, ModelBody::Blend(Blend::sum(start, trees)?))?;
    /// assert_eq!(sum.with_trees(Ensemble::new(0.25, vec![])?)?.score_row(&[3.0]), 6.25);
    /// # Ok::<(), rankwright_model::ModelError>(())
    /// ```
    pub fn with_trees(&self, trees: Ensemble) -> Result<Model, ModelError> {
        let trees = ModelBody::Trees(trees);
        let body = match (&self.body, self.added_trees()) {
            (ModelBody::Blend(blend), Some(added)) => {
                let added = Model::new(added.header().clone(), trees)?;
                ModelBody::Blend(blend.with_last_member(added)?)
            }
            _ => trees,
        };
        Model::new(self.header.clone(), body)
    }

    /// The header: features, and the origin of the model.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The body, which scores rows.
    pub fn body(&self) -> &ModelBody {
        &self.body
    }

    /// The header and the body, to be changed and joined again.
    pub fn into_parts(self) -> (Header, ModelBody) {
        (self.header, self.body)
    }

    /// The same model with its features renamed by position, to match the columns of other data:
    /// the first feature gets the first of `names`, the second the second, and so on. The features
    /// of a blend's members are renamed with those of the blend. There must be a name for each
    /// feature, unless `names` are numbers.
    ///
    /// ```
    /// use rankwright_data::{Absent, FeatureNames};
    /// use rankwright_model::{Header, Linear, Model, ModelBody};
    ///
    /// let ids = FeatureNames::Ids { first: 0, count: 2 };
    /// let linear = ModelBody::Linear(Linear::new(0.0, vec![2.0, 3.0])?);
    /// let model = Model::new(Header::new(ids, Absent::Zero), linear)?;
    /// let names = FeatureNames::Named(vec!["bm25".into(), "pagerank".into()]);
    /// assert_eq!(model.renamed_by_position(&names)?.header().features, names);
    /// # Ok::<(), rankwright_model::ModelError>(())
    /// ```
    pub fn renamed_by_position(self, names: &FeatureNames) -> Result<Model, ModelError> {
        let options = MatchOptions::default().ignore_extra(true).by(MatchBy::Position);
        Matching::new(&self.header, names, options)?;
        let Model { mut header, body, member_matchings } = self;
        header.features = match names {
            FeatureNames::Ids { first, .. } => {
                FeatureNames::Ids { first: *first, count: header.features.len() }
            }
            FeatureNames::Named(names) => {
                FeatureNames::Named(names.iter().take(header.features.len()).cloned().collect())
            }
        };
        let body = match body {
            ModelBody::Blend(blend) => {
                let rename = |(number, member): (usize, Model)| {
                    member.renamed_as_member(&member_matchings[number], &header.features)
                };
                ModelBody::Blend(blend.map_members(rename)?)
            }
            body => body,
        };
        Model::new(header, body)
    }

    /// This member of a blend with its features renamed: `names` are the new names of the blend's
    /// features, and `matching` matches the features of the member with those of the blend.
    fn renamed_as_member(
        self,
        matching: &Matching,
        names: &FeatureNames,
    ) -> Result<Model, ModelError> {
        let Model { mut header, body, member_matchings } = self;
        let name = |feature: usize| match matching.column(feature) {
            Some(column) => Ok(names.name(column).into_owned()),
            None => {
                let missing = header.features.name(feature).into_owned();
                Err(ModelError::MissingFeatures { count: 1, names: missing })
            }
        };
        let renamed = (0..header.features.len()).map(name).collect::<Result<_, _>>()?;
        header.features = FeatureNames::Named(renamed);
        Ok(Model { header, body, member_matchings })
    }

    /// For each member of a blend the matching of its features with those of the blend; empty for
    /// other models.
    pub(crate) fn member_matchings(&self) -> &[Matching] {
        &self.member_matchings
    }

    /// Whether a score depends on the other documents of its query: in a net whose features are
    /// scaled to 0..1 within the query, in a blend whose members' scores are normalised, and in a
    /// blend with such a member.
    pub fn is_listwise(&self) -> bool {
        match &self.body {
            ModelBody::Trees(_) | ModelBody::Linear(_) => false,
            ModelBody::Net(net) => net.transforms().min_max_in_query(),
            ModelBody::Blend(blend) => blend.is_listwise(),
        }
    }

    /// Whether a score can depend on whether an absent value is 0 or missing. It cannot in a linear
    /// model, nor in a blend of linear models.
    pub fn distinguishes_missing(&self) -> bool {
        match &self.body {
            ModelBody::Trees(_) | ModelBody::Net(_) => true,
            ModelBody::Linear(_) => false,
            ModelBody::Blend(blend) => {
                blend.members().iter().any(|(_, model)| model.distinguishes_missing())
            }
        }
    }

    /// The score of a row whose values are in the order of the header's features: slow and simple,
    /// the reference for every engine. A feature beyond the end of the row is missing. For a model
    /// that [`is_listwise`](Model::is_listwise) the row is a query of one document.
    pub fn score_row(&self, row: &[f32]) -> f64 {
        match &self.body {
            ModelBody::Trees(trees) => trees.score_row(row),
            ModelBody::Linear(linear) => linear.score_row(row),
            ModelBody::Net(net) => net.score_row(row),
            ModelBody::Blend(_) => self.score_query(&[row])[0],
        }
    }

    /// The scores of the rows of one query, by the slow reference implementation.
    pub fn score_query(&self, rows: &[&[f32]]) -> Vec<f64> {
        match &self.body {
            ModelBody::Trees(_) | ModelBody::Linear(_) => {
                rows.iter().map(|row| self.score_row(row)).collect()
            }
            ModelBody::Net(net) => net.score_query(rows),
            ModelBody::Blend(blend) => {
                let mut sums = vec![0.0; rows.len()];
                let members = blend.members().iter().zip(&self.member_matchings);
                for (((weight, member), matching), normalise) in members.zip(blend.normalisations())
                {
                    let mut scores = member_scores(member, matching, rows);
                    normalise.apply(&mut scores);
                    for (sum, score) in sums.iter_mut().zip(scores) {
                        *sum = add_term(*sum, *weight, score);
                    }
                }
                sums
            }
        }
    }
}

/// Matches the members of a blend with its features.
fn matched_members(header: &Header, blend: &Blend) -> Result<Vec<Matching>, ModelError> {
    for (number, (_, member)) in blend.members().iter().enumerate() {
        let member_absent = member.header().absent;
        if member_absent != header.absent && member.distinguishes_missing() {
            return Err(ModelError::InvalidBlend(BlendProblem::Absent {
                member: number,
                found: member_absent.name(),
                expected: header.absent.name(),
            }));
        }
    }
    let headers = blend.members().iter().map(|(_, member)| member.header());
    Matching::members(headers, &header.features)
}

/// The scores of a member of a blend for the blend's rows.
fn member_scores(member: &Model, matching: &Matching, rows: &[&[f32]]) -> Vec<f64> {
    match &member.body {
        // The features of trees may be a huge range of ids, of which splits test only a few.
        ModelBody::Trees(trees) => {
            let score = |row: &&[f32]| trees.score_by(|feature| matching.value(row, feature));
            rows.iter().map(score).collect()
        }
        _ => {
            let features = member.header.features.len();
            let member_row = |row: &&[f32]| -> Vec<f32> {
                (0..features).map(|feature| matching.value(row, feature)).collect()
            };
            let member_rows: Vec<Vec<f32>> = rows.iter().map(member_row).collect();
            member.score_query(&member_rows.iter().map(Vec::as_slice).collect::<Vec<_>>())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blend::Normalise;
    use crate::net::tests::{MIN_MAX, NO_MIN_MAX, random_net};
    use crate::tree::tests::two_split_tree;
    use rankwright_data::{Absent, FeatureNames};

    #[test]
    fn features_must_be_in_the_header() {
        let header = |count| Header::new(FeatureNames::Ids { first: 1, count }, Absent::Zero);
        let trees = || ModelBody::Trees(Ensemble::new(0.0, vec![two_split_tree()]).unwrap());
        assert!(Model::new(header(2), trees()).is_ok());
        let error = Model::new(header(1), trees()).unwrap_err().to_string();
        assert_eq!(error, "the model (trees) uses 2 features; its header has 1");
        let linear = |n| ModelBody::Linear(Linear::new(0.0, vec![1.0; n]).unwrap());
        assert!(Model::new(header(3), linear(3)).is_ok());
        assert!(
            Model::new(header(3), linear(2)).is_err() && Model::new(header(3), linear(4)).is_err()
        );
        let net = || ModelBody::Net(random_net(1, 3, &[2], NO_MIN_MAX));
        assert!(Model::new(header(3), net()).is_ok());
        let error = Model::new(header(2), net()).unwrap_err().to_string();
        assert!(error.starts_with("the model (net) uses 3 features; its header has 2"), "{error}");
    }

    fn named(names: &[&str], absent: Absent) -> Header {
        Header::new(FeatureNames::Named(names.iter().map(|n| n.to_string()).collect()), absent)
    }

    fn blend(normalise: Normalise, members: Vec<Model>) -> ModelBody {
        let weights = [1.0, -0.5, 0.25].into_iter().cycle();
        ModelBody::Blend(Blend::new(normalise, weights.zip(members).collect()).unwrap())
    }

    #[test]
    fn members_must_find_their_features_and_agree_on_absent_ones() {
        let linear = |header: Header| {
            let weights = vec![1.0; header.features.len()];
            Model::new(header, ModelBody::Linear(Linear::new(0.0, weights).unwrap())).unwrap()
        };
        let trees = |header| {
            let trees = Ensemble::new(0.0, vec![two_split_tree()]).unwrap();
            Model::new(header, ModelBody::Trees(trees)).unwrap()
        };
        let zero = |names: &[&str]| named(names, Absent::Zero);
        let blend_of = |members| blend(Normalise::None, members);
        let members = vec![linear(zero(&["c", "a"])), trees(zero(&["b", "c"]))];
        assert!(Model::new(zero(&["a", "b", "c"]), blend_of(members.clone())).is_ok());
        let blend_without_b = Model::new(zero(&["a", "c"]), blend_of(members.clone()));
        let error = blend_without_b.unwrap_err().to_string();
        assert!(error.starts_with("the features of member 1 are not all in the blend"), "{error}");
        assert!(error.contains("lacks 1 of the model's features: b"), "{error}");
        let missing = named(&["a", "b", "c"], Absent::Missing);
        let error = Model::new(missing.clone(), blend_of(members.clone())).unwrap_err().to_string();
        assert!(error.starts_with("member 1 takes absent features as zero; expected missing"));
        let linear_blend = Model::new(missing, blend_of(members[..1].to_vec())).unwrap();
        assert!(!linear_blend.distinguishes_missing() && members[1].distinguishes_missing());
    }

    #[test]
    fn each_member_reads_its_own_columns_and_scores_are_added_by_weight() {
        let linear = |names: &[&str], weights: &[f64]| {
            let linear = Linear::new(0.0, weights.to_vec()).unwrap();
            Model::new(named(names, Absent::Zero), ModelBody::Linear(linear)).unwrap()
        };
        let members = vec![linear(&["c", "a"], &[1.0, 10.0]), linear(&["b"], &[4.0])];
        let header = named(&["a", "b", "c"], Absent::Zero);
        let model = Model::new(header, blend(Normalise::None, members)).unwrap();
        assert_eq!(model.score_row(&[1.0, 2.0, 3.0]), 13.0 - 0.5 * 8.0);
        assert_eq!(model.score_row(&[1.0]), 10.0, "features beyond the end of the row are missing");
    }

    #[test]
    fn a_model_whose_scores_depend_on_the_whole_query_is_listwise() {
        let header = || named(&["a", "b"], Absent::Zero);
        let net = |min_max| {
            let net = random_net(1, 2, &[3], min_max);
            Model::new(header(), ModelBody::Net(net)).unwrap()
        };
        let is_blend_listwise = |normalise, member| {
            Model::new(header(), blend(normalise, vec![member])).unwrap().is_listwise()
        };
        assert!(net(MIN_MAX).is_listwise() && !net(NO_MIN_MAX).is_listwise());
        assert!(!is_blend_listwise(Normalise::None, net(NO_MIN_MAX)));
        assert!(is_blend_listwise(Normalise::None, net(MIN_MAX)));
        let normalised = &Normalise::ALL[1..];
        assert!(normalised.iter().all(|&normalise| is_blend_listwise(normalise, net(NO_MIN_MAX))));
    }
}
