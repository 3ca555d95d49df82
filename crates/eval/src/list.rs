//! One query in an evaluation: its candidates, and the ranked list, which is the input of metrics.
//!
//! A source fills [`Candidates`]: documents in any order. [`ListBuffers`] sorts them under the
//! conventions of a measure (how ties, unjudged documents and so on are treated) and passes them to
//! metrics as a [`RankedList`]. Both keep their buffers, so that a pass over many queries does not
//! allocate.

use crate::convention::{Conventions, Unjudged};
use crate::error::EvalError;
use crate::order::{OrderRule, Orderer, Rows, TiePolicy, same_length};

/// Unordered candidates of one query; buffers are reused from query to query.
#[derive(Debug, Clone, Default)]
pub struct Candidates<'a> {
    /// Scores by row.
    pub scores: Vec<f64>,
    /// Labels by row; 0 if unjudged.
    pub labels: Vec<f64>,
    /// Whether each row is judged; empty means that all are.
    pub judged: Vec<bool>,
    /// Document ids by row; empty when there are none.
    pub doc_ids: Vec<&'a [u8]>,
    /// Labels of judged documents of the query that are not among the candidates.
    pub unretrieved: Vec<f64>,
    /// Given preferences between rows: the better one, the worse one, and the weight; usually
    /// empty.
    pub preferences: Vec<(u32, u32, f32)>,
    /// Whether the run contains this query.
    pub returned: bool,
}

impl<'a> Candidates<'a> {
    /// Empty buffers.
    pub fn new() -> Self {
        Self::default()
    }

    /// Empties the buffers, keeps their memory, and marks the query as contained in the run.
    pub fn clear(&mut self) {
        self.scores.clear();
        self.labels.clear();
        self.judged.clear();
        self.doc_ids.clear();
        self.unretrieved.clear();
        self.preferences.clear();
        self.returned = true;
    }

    /// Adds a judged document.
    pub fn push(&mut self, score: f64, label: f64) {
        self.scores.push(score);
        self.labels.push(label);
    }

    /// Checks lengths and labels.
    pub fn check(&self) -> Result<(), EvalError> {
        let n = self.scores.len();
        same_length("labels", self.labels.len(), n)?;
        if !self.judged.is_empty() {
            same_length("judged", self.judged.len(), n)?;
        }
        if !self.doc_ids.is_empty() {
            same_length("document ids", self.doc_ids.len(), n)?;
        }
        for (better, worse, _) in &self.preferences {
            let row = *better.max(worse) as usize;
            if row >= n {
                return Err(EvalError::Shape {
                    what: "rows of a preference",
                    found: row + 1,
                    expected: n,
                });
            }
        }
        let retrieved = self.labels.iter().enumerate().map(|(row, label)| (Some(row), label));
        let mut labels = retrieved.chain(self.unretrieved.iter().map(|label| (None, label)));
        match labels.find(|(_, label)| !label.is_finite()) {
            Some((row, &found)) => Err(EvalError::BadLabel { row, found }),
            None => Ok(()),
        }
    }
}

/// The scores of two documents of which the first is preferred, with the weight of the preference.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PreferenceScores {
    /// Score of the better document.
    pub better_score: f64,
    /// Score of the worse document.
    pub worse_score: f64,
    /// Weight of the preference.
    pub weight: f64,
}

/// One query's documents from the best rank to the worst.
///
/// Ranks count from 0 here; formulas in the metrics' documentation count from 1.
#[derive(Debug, Clone, Copy)]
pub struct RankedList<'a> {
    labels: &'a [f64],
    /// Whether the document at each rank is judged; empty means that all are.
    judged: &'a [bool],
    scores: &'a [f64],
    /// Labels of all judged documents of the query, retrieved or not, best first.
    ideal: &'a [f64],
    /// The end of each group of equal scores; `None` unless under `ties=mean`.
    group_ends: Option<&'a [u32]>,
    preferences: &'a [PreferenceScores],
    /// Whether the run contains the query.
    returned: bool,
}

impl<'a> RankedList<'a> {
    /// The list of a query whose documents are all judged: labels and scores by rank, and all
    /// labels of the query, best first ([`sort_labels`]). A list of the first ranks only is
    /// evaluated correctly by metrics that depend on no more
    /// ([`Measure::depth`](crate::Measure::depth)).
    ///
    /// ```
    /// use rankwright_eval::{MetricSpec, RankedList, SourceKind};
    ///
    /// let list = RankedList::of_judged(&[1.0, 0.0], &[0.9, 0.4], &[2.0, 1.0, 0.0]);
    /// let precision = MetricSpec::parse("p@2")?.resolve(SourceKind::Features)?;
    /// assert_eq!(precision.evaluate(&list)?, Some(0.5));
    /// # Ok::<(), rankwright_eval::EvalError>(())
    /// ```
    pub fn of_judged(labels: &'a [f64], scores: &'a [f64], ideal: &'a [f64]) -> Self {
        let (judged, group_ends, preferences) = (&[], None, &[]);
        Self { labels, judged, scores, ideal, group_ends, preferences, returned: true }
    }

    /// Number of documents.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Whether there is no document.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// Labels by rank; unjudged documents have 0.
    pub fn labels(&self) -> &'a [f64] {
        self.labels
    }

    /// Labels of the first `cutoff` ranks; of all ranks without a cut-off.
    pub fn top(&self, cutoff: Option<u32>) -> &'a [f64] {
        &self.labels[..self.depth(cutoff)]
    }

    /// Number of ranks within the cut-off.
    pub fn depth(&self, cutoff: Option<u32>) -> usize {
        cutoff.map_or(self.labels.len(), |k| self.labels.len().min(k as usize))
    }

    /// Whether the document at a rank is judged.
    pub fn is_judged(&self, rank: usize) -> bool {
        self.judged.get(rank).copied().unwrap_or(true)
    }

    /// Scores by rank.
    pub fn scores(&self) -> &'a [f64] {
        self.scores
    }

    /// Labels of all judged documents of the query, retrieved or not, best first.
    pub fn ideal(&self) -> &'a [f64] {
        self.ideal
    }

    /// Number of judged documents of the query with a label of `rel` or more.
    pub fn relevant(&self, rel: f64) -> usize {
        self.ideal.partition_point(|&l| l >= rel)
    }

    /// Whether no judged document reaches `rel`.
    pub fn has_no_relevant(&self, rel: f64) -> bool {
        self.ideal.first().is_none_or(|&l| l < rel)
    }

    /// Whether two judged documents of the query have different labels.
    pub fn labels_differ(&self) -> bool {
        self.ideal.first() != self.ideal.last()
    }

    /// The given preferences between all documents of the query, also those below the depth to
    /// which the list was ranked.
    pub fn preferences(&self) -> &'a [PreferenceScores] {
        self.preferences
    }

    /// Whether the run contains the query.
    pub fn returned(&self) -> bool {
        self.returned
    }

    /// Groups of equal scores as ranges of ranks; `None` unless under `ties=mean`.
    pub fn tie_groups(&self) -> Option<impl Iterator<Item = std::ops::Range<usize>> + 'a> {
        let mut start = 0;
        self.group_ends.map(|ends| {
            ends.iter().map(move |&end| {
                let range = start..end as usize;
                start = end as usize;
                range
            })
        })
    }
}

/// Buffers that turn candidates into ranked lists.
///
/// ```
/// use rankwright_eval::{Candidates, OrderRule, ListBuffers};
///
/// let mut candidates = Candidates::new();
/// candidates.clear();
/// candidates.push(0.2, 2.0);
/// candidates.push(0.9, 0.0);
/// candidates.unretrieved.push(1.0);
/// let mut buffers = ListBuffers::default();
/// buffers.start(&candidates)?;
/// let list = buffers.rank(&candidates, OrderRule::STABLE, None)?;
/// assert_eq!(list.labels(), [0.0, 2.0]);
/// assert_eq!(list.ideal(), [2.0, 1.0, 0.0]);
/// # Ok::<(), rankwright_eval::EvalError>(())
/// ```
#[derive(Debug, Default)]
pub struct ListBuffers {
    orderer: Orderer,
    labels: Vec<f64>,
    judged: Vec<bool>,
    scores: Vec<f64>,
    ideal: Vec<f64>,
    group_ends: Vec<u32>,
    preferences: Vec<PreferenceScores>,
}

impl ListBuffers {
    /// Checks a query and sorts its judged labels for [`RankedList::ideal`]; call it once for each
    /// query before [`ListBuffers::rank`].
    pub fn start(&mut self, candidates: &Candidates<'_>) -> Result<(), EvalError> {
        candidates.check()?;
        self.ideal.clear();
        if candidates.judged.is_empty() {
            self.ideal.extend_from_slice(&candidates.labels);
        } else {
            let rows = candidates.labels.iter().zip(&candidates.judged);
            self.ideal.extend(rows.filter(|(_, j)| **j).map(|(l, _)| *l));
        }
        self.ideal.extend_from_slice(&candidates.unretrieved);
        sort_labels(&mut self.ideal);
        Ok(())
    }

    /// Ranks all documents of the query, or the best `depth` of them.
    pub fn rank(
        &mut self,
        candidates: &Candidates<'_>,
        order: OrderRule,
        depth: Option<usize>,
    ) -> Result<RankedList<'_>, EvalError> {
        self.rank_with(candidates, order, Unjudged::NonRelevant, depth)
    }

    /// Ranks under the conventions of a measure.
    pub fn rank_for(
        &mut self,
        candidates: &Candidates<'_>,
        conventions: &Conventions,
        depth: Option<usize>,
    ) -> Result<RankedList<'_>, EvalError> {
        self.rank_with(candidates, conventions.order(), conventions.unjudged, depth)
    }

    /// Ranks all documents, or those that are judged; `depth` cuts the list.
    fn rank_with(
        &mut self,
        candidates: &Candidates<'_>,
        rule: OrderRule,
        unjudged: Unjudged,
        depth: Option<usize>,
    ) -> Result<RankedList<'_>, EvalError> {
        let Candidates { scores, labels, judged, doc_ids, .. } = candidates;
        let rows = Rows { scores, labels, doc_ids };
        let drop_unjudged = unjudged == Unjudged::Drop && !judged.is_empty();
        let order = match drop_unjudged {
            // A negative label means "not judged", as for trec_eval's option -J.
            true => self.orderer.order_kept(rows, rule, |r| judged[r] && labels[r] >= 0.0)?,
            false => self.orderer.order(rows, rule)?,
        };
        let depth = depth.unwrap_or(usize::MAX).min(order.len());
        let order = &order[..depth];
        gather(order, labels, &mut self.labels);
        gather(order, scores, &mut self.scores);
        gather(if drop_unjudged { &[] } else { order }, judged, &mut self.judged);
        score_preferences(candidates, &mut self.preferences);
        let group_ends = (rule.ties == TiePolicy::Mean).then(|| {
            self.group_ends.clear();
            let ends = self.orderer.tie_group_ends();
            let inside = ends.partition_point(|&e| (e as usize) < depth);
            self.group_ends.extend_from_slice(&ends[..inside]);
            if depth > 0 {
                self.group_ends.push(depth as u32);
            }
            self.group_ends.as_slice()
        });
        Ok(RankedList {
            labels: &self.labels,
            judged: &self.judged,
            scores: &self.scores,
            ideal: &self.ideal,
            group_ends,
            preferences: &self.preferences,
            returned: candidates.returned,
        })
    }
}

/// Copies `from` in the given order; leaves `into` empty if `from` is.
fn gather<T: Copy>(order: &[u32], from: &[T], into: &mut Vec<T>) {
    into.clear();
    if !from.is_empty() {
        into.extend(order.iter().map(|&r| from[r as usize]));
    }
}

/// Replaces `scored` by the preferences of the candidates, with the scores of their documents.
fn score_preferences(candidates: &Candidates<'_>, scored: &mut Vec<PreferenceScores>) {
    let Candidates { scores, preferences, .. } = candidates;
    scored.clear();
    scored.extend(preferences.iter().map(|&(better, worse, weight)| PreferenceScores {
        better_score: scores[better as usize],
        worse_score: scores[worse as usize],
        weight: f64::from(weight),
    }));
}

/// Puts labels into the ideal order, best first. Small whole labels, the usual case, are counted
/// rather than sorted.
pub fn sort_labels(labels: &mut [f64]) {
    let mut counts = [0_u32; 32];
    for &label in labels.iter() {
        match small_grade(label) {
            Some(grade) => counts[usize::from(grade)] += 1,
            None => return labels.sort_unstable_by(|a, b| b.total_cmp(a)),
        }
    }
    let mut rest = labels;
    for (grade, &count) in counts.iter().enumerate().rev() {
        let (here, after) = rest.split_at_mut(count as usize);
        here.fill(grade as f64);
        rest = after;
    }
}

/// A label that is a whole number from 0 to 31, the usual kind; `None` for others.
#[inline]
pub(crate) fn small_grade(label: f64) -> Option<u8> {
    // The lowest bits of a sum with 1.5 x 2^52 are the nearest whole number: faster than a cast,
    // which must handle every number.
    let grade = (label + 6_755_399_441_055_744.0).to_bits() as u8;
    (grade < 32 && f64::from(grade) == label).then_some(grade)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn mean_ties() -> OrderRule {
        OrderRule { ties: TiePolicy::Mean, scores32: false }
    }

    fn candidates() -> Candidates<'static> {
        Candidates {
            scores: vec![1.0, 2.0, 2.0, 0.0],
            labels: vec![3.0, 0.0, 1.0, 0.0],
            judged: vec![true, false, true, true],
            doc_ids: vec![b"a", b"b", b"c", b"d"],
            unretrieved: vec![2.0],
            preferences: Vec::new(),
            returned: true,
        }
    }

    #[test]
    fn ideal_holds_all_judged_labels_and_no_unjudged_one() {
        let mut buffers = ListBuffers::default();
        buffers.start(&candidates()).unwrap();
        let list = buffers.rank(&candidates(), OrderRule::STABLE, None).unwrap();
        assert_eq!(list.ideal(), [3.0, 2.0, 1.0, 0.0]);
        assert_eq!(list.labels(), [0.0, 1.0, 3.0, 0.0]);
        assert!(!list.is_judged(0) && list.is_judged(1));
        assert_eq!((list.relevant(1.0), list.relevant(2.0)), (3, 2));
    }

    #[test]
    fn documents_move_up_when_unjudged_ones_are_dropped() {
        let mut buffers = ListBuffers::default();
        buffers.start(&candidates()).unwrap();
        let c = candidates();
        let list = buffers.rank_with(&c, OrderRule::STABLE, Unjudged::Drop, None).unwrap();
        assert_eq!(list.labels(), [1.0, 3.0, 0.0]);
        assert!(list.is_judged(0));
    }

    #[test]
    fn depth_cuts_list_and_tie_groups_but_not_the_ideal() {
        let mut buffers = ListBuffers::default();
        buffers.start(&candidates()).unwrap();
        for (depth, ends) in [(0, vec![]), (1, vec![1]), (2, vec![2]), (3, vec![2, 3])] {
            let c = candidates();
            let list = buffers.rank(&c, mean_ties(), Some(depth)).unwrap();
            assert_eq!(list.len(), depth);
            assert_eq!(list.ideal().len(), 4);
            let groups = list.tie_groups().unwrap();
            assert_eq!(groups.map(|g| g.end).collect::<Vec<_>>(), ends);
        }
    }

    #[test]
    fn bad_shapes_and_labels_are_refused() {
        let mut c = candidates();
        c.labels.pop();
        let shape = EvalError::Shape { what: "labels", found: 3, expected: 4 };
        assert_eq!(c.check(), Err(shape));
        c.labels.push(f64::INFINITY);
        let found = f64::INFINITY;
        assert_eq!(c.check(), Err(EvalError::BadLabel { row: Some(3), found }));
        *c.labels.last_mut().unwrap() = 1.0;
        c.unretrieved = vec![0.0, found];
        let error = c.check().unwrap_err();
        assert_eq!(error, EvalError::BadLabel { row: None, found });
        assert!(error.to_string().contains("not retrieved"), "{error}");
    }

    proptest! {
        #[test]
        fn counting_equals_sorting(labels in prop::collection::vec(
            prop_oneof![8 => (0_i32..5).prop_map(f64::from), 1 => -2.0..40.0_f64], 0..40)) {
            let mut sorted = labels.clone();
            sorted.sort_by(|a, b| b.partial_cmp(a).unwrap());
            let mut counted = labels;
            sort_labels(&mut counted);
            prop_assert_eq!(counted, sorted);
        }
    }
}
