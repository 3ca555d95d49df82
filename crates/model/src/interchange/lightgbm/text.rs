//! Reads LightGBM's text: lines of `key=value`, a block for each tree, `end of trees`.
//!
//! The lines of a tree, such as `threshold` and `left_child`, are lists with a number for each
//! split or leaf. They are read in step with each other and never stored, so that reading needs
//! little more memory than the tree. Their lengths are compared with `num_leaves` before memory is
//! reserved.

use std::ops::Range;
use std::str::{FromStr, SplitAsciiWhitespace};

use super::parts::{FileHead, MissingValues, finite_gain, numeric_condition};
use super::{NAME, invalid, unsupported};
use crate::categories::Categories;
use crate::error::ModelError;
use crate::interchange::common::in_tree;
use crate::interchange::problem::excerpt;
use crate::interchange::{FileProblem, UnsupportedPart};
use crate::model::Model;
use crate::tree::{Child, Leaf, Side, Split, SplitCondition, Tree};

/// Minimum number of bytes of a tree's block: its number, `num_leaves`, `num_cat` and one leaf
/// value.
const MIN_TREE_BYTES: usize = 44;
/// Maximum number of lines before the trees, and of a tree; LightGBM writes some twenty.
const MAX_LINES: usize = 1000;

/// Reads the text of a model.
pub(super) fn read(bytes: &[u8]) -> Result<Model, ModelError> {
    let text = std::str::from_utf8(bytes)
        .map_err(|error| invalid(FileProblem::NotUtf8 { byte: error.valid_up_to() }))?;
    let mut lines = NumberedLines { rest: text, number: 0 };
    // The first line is `tree`.
    lines.next();
    let mut head = FileHead { classes: 1, trees_per_iteration: 1, ..FileHead::default() };
    let mut trees = Vec::new();
    let mut line = lines.next();
    let mut lines_left = 0..MAX_LINES;
    while let Some((number, text)) = line.filter(|(_, line)| !begins_block(line)) {
        count_line(&mut lines_left, number)?;
        if let Some(sizes) = text.strip_prefix("tree_sizes=") {
            let count = sizes.bytes().filter(|&byte| byte == b' ').count() + 1;
            trees = Vec::with_capacity(count.min(bytes.len() / MIN_TREE_BYTES));
        }
        read_head(&mut head, number, text)?;
        line = lines.next();
    }
    head.check()?;
    while let Some((first_line, text)) = line {
        if text.starts_with("end of trees") {
            return head.into_model(trees);
        }
        let mut block = TreeLines { first_line, ..TreeLines::default() };
        line = lines.next();
        let mut lines_left = 0..MAX_LINES;
        while let Some((number, text)) = line.filter(|(_, line)| !begins_block(line)) {
            count_line(&mut lines_left, number)?;
            block.keep(text);
            line = lines.next();
        }
        trees.push(block.tree().map_err(|error| in_tree(NAME, trees.len(), error))?);
    }
    let problem = FileProblem::CutOff { expected: "the line 'end of trees'" };
    Err(in_tree(NAME, trees.len(), invalid(problem)))
}

/// The lines that are not empty, with their numbers from 1 on.
struct NumberedLines<'a> {
    /// The text after the last line that was returned.
    rest: &'a str,
    /// Number of line ends before `rest`.
    number: usize,
}

impl<'a> Iterator for NumberedLines<'a> {
    type Item = (usize, &'a str);

    fn next(&mut self) -> Option<(usize, &'a str)> {
        let text = self.rest.trim_start_matches(['\n', '\r']);
        let skipped = self.rest.get(..self.rest.len() - text.len()).unwrap_or_default();
        self.number += skipped.bytes().filter(|&byte| byte == b'\n').count();
        let (line, rest) = match text.as_bytes().iter().position(|&byte| byte == b'\n') {
            Some(end) => text.split_at_checked(end)?,
            None => (text, ""),
        };
        self.rest = rest;
        (!line.is_empty()).then(|| (self.number + 1, line.strip_suffix('\r').unwrap_or(line)))
    }
}

/// Counts the line `number` of a block, which may have as many lines as `lines_left` is long; fails
/// if there are too many.
fn count_line(lines_left: &mut Range<usize>, number: usize) -> Result<(), ModelError> {
    lines_left.next().map(drop).ok_or_else(|| {
        let (most, expected) = (MAX_LINES, "the next tree or 'end of trees' before it");
        invalid(FileProblem::TooManyLines { line: number, most, expected })
    })
}

/// Whether a line begins the block of a tree or ends the trees.
fn begins_block(line: &str) -> bool {
    line.starts_with("Tree=") || line.starts_with("end of trees")
}

/// Reads a whole number; `line` is the number of its line, or of the first line of its tree.
fn whole_number<T: FromStr>(
    name: &'static str,
    line: Option<usize>,
    text: &str,
) -> Result<T, ModelError> {
    text.trim().parse().map_err(|_| bad_value(name, line, text, "a whole number"))
}

fn bad_value(
    name: &'static str,
    line: Option<usize>,
    found: &str,
    expected: &'static str,
) -> ModelError {
    invalid(FileProblem::BadValue { name, line, found: excerpt(found), expected })
}

/// Reads a line before the trees.
fn read_head(head: &mut FileHead, number: usize, text: &str) -> Result<(), ModelError> {
    let (key, value) = text.split_once('=').unwrap_or((text, ""));
    let line = Some(number);
    match key {
        "version" => head.version = value.trim().into(),
        "num_class" => head.classes = whole_number("num_class", line, value)?,
        "num_tree_per_iteration" => {
            head.trees_per_iteration = whole_number("num_tree_per_iteration", line, value)?;
        }
        "max_feature_idx" => head.last_feature = whole_number("max_feature_idx", line, value)?,
        "objective" => head.objective = value.trim().into(),
        // A line without a value in versions 3 and 4 means that it is set.
        "average_output" => head.average = value.trim() != "0",
        "feature_names" => {
            head.names = Default::default();
            value.split_ascii_whitespace().try_for_each(|name| head.names.push(name))?;
        }
        _ => {}
    }
    Ok(())
}

/// The values of the lines of a tree, by key.
#[derive(Debug, Default)]
struct TreeLines<'a> {
    /// The number of the block's first line, from 1.
    first_line: usize,
    num_leaves: &'a str,
    num_cat: &'a str,
    split_feature: &'a str,
    split_gain: Option<&'a str>,
    threshold: &'a str,
    decision_type: &'a str,
    left_child: &'a str,
    right_child: &'a str,
    leaf_value: &'a str,
    leaf_count: Option<&'a str>,
    internal_count: Option<&'a str>,
    cat_boundaries: &'a str,
    cat_threshold: &'a str,
    is_linear: &'a str,
}

/// Reads the numbers of a line one after the other.
struct NumberList<'a> {
    name: &'static str,
    /// `None` if the line is missing: then every number is 0.
    words: Option<SplitAsciiWhitespace<'a>>,
}

impl<'a> NumberList<'a> {
    fn new(name: &'static str, line: impl Into<Option<&'a str>>) -> NumberList<'a> {
        NumberList { name, words: line.into().map(str::split_ascii_whitespace) }
    }

    fn next<T: FromStr + Default>(&mut self) -> Result<T, ModelError> {
        let Some(words) = &mut self.words else { return Ok(T::default()) };
        let word = words.next().unwrap_or("");
        word.parse().map_err(|_| match word {
            "" => invalid(FileProblem::ListTooShort { list: self.name }),
            _ => bad_value(self.name, None, word, "a number"),
        })
    }

    /// Checks that all numbers were read.
    fn end(mut self) -> Result<(), ModelError> {
        match self.words.as_mut().and_then(Iterator::next) {
            None => Ok(()),
            Some(_) => Err(invalid(FileProblem::ListTooLong { list: self.name })),
        }
    }
}

impl<'a> TreeLines<'a> {
    /// Keeps the value of a line.
    fn keep(&mut self, line: &'a str) {
        let Some((key, value)) = line.split_once('=') else { return };
        match key {
            "num_leaves" => self.num_leaves = value,
            "num_cat" => self.num_cat = value,
            "split_feature" => self.split_feature = value,
            "split_gain" => self.split_gain = Some(value),
            "threshold" => self.threshold = value,
            "decision_type" => self.decision_type = value,
            "left_child" => self.left_child = value,
            "right_child" => self.right_child = value,
            "leaf_value" => self.leaf_value = value,
            "leaf_count" => self.leaf_count = Some(value),
            "internal_count" => self.internal_count = Some(value),
            "cat_boundaries" => self.cat_boundaries = value,
            "cat_threshold" => self.cat_threshold = value,
            "is_linear" => self.is_linear = value,
            _ => {}
        }
    }

    /// Makes the tree of the lines.
    fn tree(&self) -> Result<Tree, ModelError> {
        if !matches!(self.is_linear.trim(), "" | "0") {
            return Err(unsupported(UnsupportedPart::LinearLeaves));
        }
        let line = Some(self.first_line);
        let leaves = whole_number("num_leaves", line, self.num_leaves)?;
        let splits = self.split_count(leaves)?;
        let sets = self.sets(whole_number("num_cat", line, self.num_cat)?, splits)?;
        Tree::with_sets(self.splits(splits, sets.len())?, self.leaves(leaves)?, sets)
    }

    /// The number of splits, after a check that the lines are long enough for it: each split and
    /// leaf occurs once among the children, so the text of a large tree is larger than the tree in
    /// memory.
    fn split_count(&self, leaves: usize) -> Result<usize, ModelError> {
        let splits = leaves.checked_sub(1).filter(|&n| n < i32::MAX as usize).ok_or_else(|| {
            bad_value("num_leaves", Some(self.first_line), &leaves.to_string(), "1 to 2147483647")
        })?;
        // The characters of all children: the numbers of the splits without the root, and those of
        // the leaves, which have a minus sign each.
        let children = digits(splits.saturating_sub(1)) + digits(leaves) + leaves;
        // The length of a line of numbers of one digit, and the spaces in the two lines of
        // children.
        let min_length = |count: usize| (2 * count).saturating_sub(1);
        let spaces = 2 * splits.saturating_sub(1);
        let lines = [self.split_feature, self.threshold, self.decision_type];
        let too_short = splits > 0
            && (self.left_child.len() + self.right_child.len() < children + spaces
                || lines.iter().any(|line| line.len() < min_length(splits)));
        match too_short || self.leaf_value.len() < min_length(leaves) {
            false => Ok(splits),
            true => {
                let list = "one of split_feature, threshold, decision_type, left_child, \
                            right_child and leaf_value";
                Err(invalid(FileProblem::ListTooShort { list }))
            }
        }
    }

    /// Reads the splits; `sets` is the number of sets of categories.
    fn splits(&self, count: usize, sets: usize) -> Result<Vec<Split>, ModelError> {
        let mut feature = NumberList::new("split_feature", self.split_feature);
        let mut threshold = NumberList::new("threshold", self.threshold);
        let mut decision = NumberList::new("decision_type", self.decision_type);
        let mut left = NumberList::new("left_child", self.left_child);
        let mut right = NumberList::new("right_child", self.right_child);
        // Both lines may be missing; in a tree of one leaf they have no values.
        let mut gain = NumberList::new("split_gain", self.split_gain);
        let mut rows = NumberList::new("internal_count", self.internal_count);
        let mut splits = Vec::with_capacity(count);
        for _ in 0..count {
            let (rule, missing) = split_condition(decision.next()?, threshold.next()?, sets)?;
            splits.push(Split {
                feature: feature.next()?,
                rule,
                missing,
                left: child(left.next()?),
                right: child(right.next()?),
                gain: finite_gain(gain.next()?),
                rows: rows.next()?,
            });
        }
        [feature, threshold, decision, left, right, gain, rows]
            .into_iter()
            .try_for_each(NumberList::end)?;
        Ok(splits)
    }

    fn leaves(&self, count: usize) -> Result<Vec<Leaf>, ModelError> {
        let mut value = NumberList::new("leaf_value", self.leaf_value);
        // LightGBM 3 leaves the line empty in a tree of one leaf.
        let mut rows =
            NumberList::new("leaf_count", self.leaf_count.filter(|line| !line.trim().is_empty()));
        let mut leaves = Vec::with_capacity(count);
        for _ in 0..count {
            leaves.push(Leaf { value: value.next()?, rows: rows.next()? });
        }
        value.end()?;
        rows.end()?;
        Ok(leaves)
    }

    /// The sets of categories: their bits are in `cat_threshold`, 32 to a number, and
    /// `cat_boundaries` has the index of each set's first number there, and the end of the last
    /// set.
    fn sets(&self, count: usize, splits: usize) -> Result<Vec<Categories>, ModelError> {
        if count == 0 {
            return Ok(Vec::new());
        }
        if count > splits {
            let (found, expected) = (count.to_string(), "at most one set for each split");
            return Err(bad_value("num_cat", Some(self.first_line), &found, expected));
        }
        let mut boundaries = NumberList::new("cat_boundaries", self.cat_boundaries);
        let mut bits = NumberList::new("cat_threshold", self.cat_threshold);
        let mut start: usize = boundaries.next()?;
        let mut sets = Vec::with_capacity(count);
        for _ in 0..count {
            let end: usize = boundaries.next()?;
            // A number takes at least two characters.
            let words = end.checked_sub(start).filter(|&n| n <= self.cat_threshold.len() / 2 + 1);
            let words = words.ok_or_else(|| {
                let (found, expected) =
                    (format!("{start} {end}"), "ascending positions in cat_threshold");
                bad_value("cat_boundaries", Some(self.first_line), &found, expected)
            })?;
            sets.push(read_set(&mut bits, words)?);
            start = end;
        }
        boundaries.end()?;
        bits.end()?;
        Ok(sets)
    }
}

/// Reads a set of `words` times 32 bits.
fn read_set(bits: &mut NumberList, words: usize) -> Result<Categories, ModelError> {
    // Two words of 32 bits in the file are a word of 64 bits here.
    let mut set_words = Vec::with_capacity(words.div_ceil(2));
    for index in 0..words {
        let word = u64::from(bits.next::<u32>()?);
        match (index % 2, set_words.last_mut()) {
            (1, Some(last)) => *last |= word << 32,
            _ => set_words.push(word),
        }
    }
    while set_words.last() == Some(&0) {
        set_words.pop();
    }
    Categories::from_words(set_words)
}

/// Total number of digits in the decimal forms of 1 to `last`.
fn digits(last: usize) -> usize {
    let mut total = 0;
    let mut power = 1;
    while power <= last {
        // Each number from this power of ten on has one digit more.
        total += last - power + 1;
        power = power.saturating_mul(10);
    }
    total
}

/// The condition and the side of missing values of a split, from LightGBM's bits; `sets` is the
/// number of sets.
fn split_condition(
    bits: u8,
    threshold: f64,
    sets: usize,
) -> Result<(SplitCondition, Side), ModelError> {
    let missing = match (bits & 1, bits >> 2) {
        (1, 0..=2) => {
            let is_set = threshold >= 0.0 && threshold < sets as f64 && threshold.fract() == 0.0;
            return match is_set {
                true => Ok((SplitCondition::In(threshold as u32), Side::Right)),
                false => {
                    let found = threshold.to_string();
                    Err(bad_value("threshold", None, &found, "the number of a set of categories"))
                }
            };
        }
        (_, 0) => MissingValues::None,
        (_, 1) => MissingValues::Zero,
        (_, 2) => MissingValues::NaN,
        _ => {
            let found = bits.to_string();
            return Err(bad_value("decision_type", None, &found, "a number below 12"));
        }
    };
    let missing_left = bits & 2 != 0;
    Ok(numeric_condition(threshold, missing, missing_left))
}

/// The child with a number of the file: splits are numbered from 0 on, leaves from -1 downwards.
fn child(number: i32) -> Child {
    match u32::try_from(number) {
        Ok(split) => Child::Split(split),
        Err(_) => Child::Leaf(!number as u32),
    }
}
