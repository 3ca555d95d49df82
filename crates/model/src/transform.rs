//! Transforms of raw feature values to inputs of a net: steps for each feature, fitted on training
//! data.
//!
//! | step | value x becomes |
//! |---|---|
//! | clip | the nearest value between two bounds |
//! | signed log | sign(x) ln(1 + abs(x)) |
//! | affine | (x - shift) scale: for standardising, or min-max over all training data |
//! | table | linear between the points of a table, flat outside: for quantiles, Gaussian ranks |
//!
//! After the steps a feature may be scaled to 0..1 within the rows of its query, (x - min) / (max -
//! min); if all its values there are equal they become 0. A missing value (NaN) takes no part in
//! this; at the end it is replaced by a number for each feature (`missing`), which is not
//! transformed.
//!
//! An infinite value counts as the finite number nearest to it, and so does every result that
//! overflows: inputs are finite for any data. Cost: values x steps; a table adds a binary search.

use rankwright_spec::words::counted;

use crate::error::ModelError;
use crate::math::signed_log;
use crate::problem::{ModelParameter, StepProblem, TransformProblem};

/// Maximum number of steps of one feature.
const MAX_STEPS: usize = 8;
/// Number of rows that go through the steps together.
const CHUNK_ROWS: usize = 64;

/// One step of a feature's transform.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum TransformStep {
    /// The nearest value between two bounds.
    Clip {
        /// Values below this number become this number.
        low: f32,
        /// Values above this number become this number.
        high: f32,
    },
    /// sign(x) ln(1 + abs(x)).
    SignedLog,
    /// (x - shift) scale.
    Affine {
        /// The number that is subtracted first.
        shift: f32,
        /// The factor of the difference.
        scale: f32,
    },
    /// Linear between the points (`from[i]`, `to[i]`), flat outside.
    Table {
        /// The positions of the points, each larger than the one before; at least one.
        from: Vec<f32>,
        /// The value at each point, none smaller than the one before.
        to: Vec<f32>,
    },
}

impl TransformStep {
    /// Replaces finite values by their results, which are finite too; NaN stays.
    fn apply(&self, values: &mut [f32]) {
        match self {
            TransformStep::Clip { low, high } => each(values, |x| x.clamp(*low, *high)),
            TransformStep::SignedLog => {
                each(values, |x| if x.is_nan() { x } else { signed_log(x) })
            }
            TransformStep::Affine { shift, scale } => {
                each(values, |x| bounded(bounded(x - shift) * scale));
            }
            TransformStep::Table { from, to } => {
                each(values, |x| if x.is_nan() { x } else { interpolate(from, to, x) });
            }
        }
    }

    /// The kind of step, as a word or two for messages and descriptions.
    fn name(&self) -> &'static str {
        match self {
            TransformStep::Clip { .. } => "clipped",
            TransformStep::SignedLog => "signed log",
            TransformStep::Affine { .. } => "shifted and scaled",
            TransformStep::Table { .. } => "table of quantiles",
        }
    }

    /// Checks that the numbers of the step are finite and in order.
    fn check(&self) -> Result<(), StepProblem> {
        let finite = |numbers: &[f32]| numbers.iter().all(|number| number.is_finite());
        match self {
            TransformStep::Clip { low, high } if !finite(&[*low, *high]) || low > high => {
                Err(StepProblem::Bounds)
            }
            TransformStep::Affine { shift, scale } if !finite(&[*shift, *scale]) => {
                Err(StepProblem::Affine)
            }
            TransformStep::Table { from, to } if from.is_empty() || from.len() != to.len() => {
                Err(StepProblem::TableSize)
            }
            TransformStep::Table { from, to } if !finite(from) || !finite(to) => {
                Err(StepProblem::TableNumber)
            }
            TransformStep::Table { from, to }
                if !from.is_sorted_by(|a, b| a < b) || !to.is_sorted_by(|a, b| a <= b) =>
            {
                Err(StepProblem::TableOrder)
            }
            _ => Ok(()),
        }
    }
}

/// The nearest finite number; NaN stays.
#[inline(always)]
fn bounded(x: f32) -> f32 {
    x.clamp(f32::MIN, f32::MAX)
}

/// The value of a table at `x`, computed in f64, in which no difference of two f32 overflows.
fn interpolate(from: &[f32], to: &[f32], x: f32) -> f32 {
    // The index of the first point above `x`.
    let after = from.partition_point(|&point| point <= x);
    match (after.checked_sub(1), from.get(after)) {
        (None, _) => to[0],
        (Some(last), None) => to[last],
        (Some(before), Some(&next)) => {
            let (start, low, high) = (f64::from(from[before]), to[before], to[after]);
            let fraction = (f64::from(x) - start) / (f64::from(next) - start);
            let value = f64::from(low) + fraction * (f64::from(high) - f64::from(low));
            // Rounding must not exceed the value of the next point.
            (value as f32).clamp(low, high)
        }
    }
}

/// The steps of all features, and the replacements of missing values.
///
/// ```
/// use rankwright_model::{TransformStep, Transforms};
///
/// let standard = TransformStep::Affine { shift: 3.0, scale: 0.5 };
/// let transforms = Transforms::new(vec![vec![standard], vec![]], vec![0.0, -1.0], false)?;
/// let mut rows = [5.0, 7.0, f32::NAN, f32::NAN];
/// transforms.apply(&mut rows);
/// assert_eq!(rows, [1.0, 7.0, 0.0, -1.0]);
/// # Ok::<(), rankwright_model::ModelError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Transforms {
    steps: Vec<Vec<TransformStep>>,
    missing: Vec<f32>,
    min_max_in_query: bool,
}

impl Transforms {
    /// Steps and the replacement of missing values for each feature; `min_max_in_query` scales
    /// every feature to 0..1 within its query after the steps.
    pub fn new(
        steps: Vec<Vec<TransformStep>>,
        missing: Vec<f32>,
        min_max_in_query: bool,
    ) -> Result<Transforms, ModelError> {
        if steps.len() != missing.len() {
            let (steps, missing) = (steps.len(), missing.len());
            return Err(ModelError::InvalidTransform(TransformProblem::Length { steps, missing }));
        }
        for (feature, (steps, &missing)) in steps.iter().zip(&missing).enumerate() {
            let parameter = ModelParameter::MissingReplacement { feature };
            ModelError::check_finite(parameter, f64::from(missing))?;
            if steps.len() > MAX_STEPS {
                let (found, most) = (steps.len(), MAX_STEPS);
                return Err(ModelError::TooMany { item: "step", found, most });
            }
            for step in steps {
                step.check().map_err(|problem| {
                    let step = step.name();
                    ModelError::InvalidTransform(TransformProblem::Step { feature, step, problem })
                })?;
            }
        }
        Ok(Transforms { steps, missing, min_max_in_query })
    }

    /// No steps; missing values become 0.
    pub fn identity(columns: usize) -> Transforms {
        Transforms {
            steps: vec![Vec::new(); columns],
            missing: vec![0.0; columns],
            min_max_in_query: false,
        }
    }

    /// Number of features.
    pub fn columns(&self) -> usize {
        self.steps.len()
    }

    /// The steps of each feature.
    pub fn steps(&self) -> &[Vec<TransformStep>] {
        &self.steps
    }

    /// The input that replaces a missing value of each feature.
    pub fn missing(&self) -> &[f32] {
        &self.missing
    }

    /// Whether features are scaled to 0..1 within their query, so that an input depends on the
    /// other rows.
    pub fn min_max_in_query(&self) -> bool {
        self.min_max_in_query
    }

    /// Turns rows of one query into inputs, in place: applies every step, scales each feature to
    /// 0..1 within these rows (with `min_max_in_query`), then replaces missing values. An
    /// incomplete last row is not changed.
    pub fn apply(&self, rows: &mut [f32]) {
        let columns = self.columns();
        if columns == 0 {
            return;
        }
        let mut column_values = [0.0; CHUNK_ROWS];
        for rows in rows.chunks_mut(CHUNK_ROWS * columns) {
            let values = &mut column_values[..rows.len() / columns];
            for (column, steps) in self.steps.iter().enumerate() {
                // The values of a column are gathered, so that a step processes several at a time.
                let raw = rows.chunks_exact(columns).map(|row| bounded(row[column]));
                values.iter_mut().zip(raw).for_each(|(value, raw)| *value = raw);
                steps.iter().for_each(|step| step.apply(values));
                for (row, value) in rows.chunks_exact_mut(columns).zip(&*values) {
                    row[column] = *value;
                }
            }
        }
        if self.min_max_in_query {
            (0..columns).for_each(|column| min_max(rows, column, columns));
        }
        for row in rows.chunks_exact_mut(columns) {
            for (value, missing) in row.iter_mut().zip(&self.missing) {
                *value = if value.is_nan() { *missing } else { *value };
            }
        }
    }

    /// Turns the values of one feature, in the rows of one query, into inputs, in place: those that
    /// [`apply`](Self::apply) computes for whole rows.
    ///
    /// ```
    /// use rankwright_model::{TransformStep, Transforms};
    ///
    /// let halved = TransformStep::Affine { shift: 1.0, scale: 0.5 };
    /// let transforms = Transforms::new(vec![vec![], vec![halved]], vec![0.0, 7.0], false)?;
    /// let mut values = [3.0, f32::NAN];
    /// transforms.apply_to_column(1, &mut values);
    /// assert_eq!(values, [1.0, 7.0]);
    /// # Ok::<(), rankwright_model::ModelError>(())
    /// ```
    pub fn apply_to_column(&self, column: usize, values: &mut [f32]) {
        let (Some(steps), Some(missing)) = (self.steps.get(column), self.missing.get(column))
        else {
            return;
        };
        each(values, bounded);
        steps.iter().for_each(|step| step.apply(values));
        if self.min_max_in_query {
            min_max(values, 0, 1);
        }
        each(values, |x| if x.is_nan() { *missing } else { x });
    }

    /// Shift and scale of each feature if every transform is affine, that is, if a model that is
    /// linear in the inputs is also linear in the features; otherwise `None`. As a linear model
    /// counts a missing value as 0, the replacement of missing values must be the input of a 0.
    pub fn affine_parameters(&self) -> Option<Vec<(f32, f32)>> {
        if self.min_max_in_query {
            return None;
        }
        let affine = |(steps, missing): (&Vec<TransformStep>, &f32)| {
            let (shift, scale) = match steps.as_slice() {
                [] => (0.0, 1.0),
                [TransformStep::Affine { shift, scale }] => (*shift, *scale),
                _ => return None,
            };
            let mut input_of_zero = [0.0];
            TransformStep::Affine { shift, scale }.apply(&mut input_of_zero);
            (input_of_zero == [*missing]).then_some((shift, scale))
        };
        self.steps.iter().zip(&self.missing).map(affine).collect()
    }

    /// The transforms in words: `signed log, shifted and scaled`. If features differ in their
    /// steps, lists each transform with the number of its features, the most common first.
    pub fn describe(&self) -> String {
        let mut descriptions: Vec<(String, usize)> = Vec::new();
        for steps in &self.steps {
            let names: Vec<&str> = steps.iter().map(TransformStep::name).collect();
            let text = if names.is_empty() { "unchanged".to_owned() } else { names.join(", ") };
            match descriptions.iter_mut().find(|(known, _)| *known == text) {
                Some((_, count)) => *count += 1,
                None => descriptions.push((text, 1)),
            }
        }
        descriptions.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let mut text = match descriptions.as_slice() {
            [] => "unchanged".to_owned(),
            [(text, _)] => text.clone(),
            several => {
                let with_count = |(text, count): &(String, usize)| {
                    format!("{text} ({})", counted(*count, "feature"))
                };
                several.iter().map(with_count).collect::<Vec<_>>().join("; ")
            }
        };
        if self.min_max_in_query {
            text.push_str(", then 0 to 1 within the query");
        }
        text
    }
}

/// Replaces each value by the result of `change`.
#[inline(always)]
fn each(values: &mut [f32], change: impl Fn(f32) -> f32) {
    values.iter_mut().for_each(|value| *value = change(*value));
}

/// Scales the values of a column to 0..1; NaN is skipped. Computed in f64, in which no difference
/// of two f32 overflows.
fn min_max(rows: &mut [f32], column: usize, columns: usize) {
    let (mut low, mut high) = (f32::INFINITY, f32::NEG_INFINITY);
    for row in rows.chunks_exact(columns) {
        let x = row[column];
        // Both comparisons are false for NaN.
        low = if x < low { x } else { low };
        high = if x > high { x } else { high };
    }
    let (start, width) = (f64::from(low), f64::from(high) - f64::from(low));
    for row in rows.chunks_exact_mut(columns) {
        let x = &mut row[column];
        *x = match x.is_nan() {
            true => *x,
            false if width > 0.0 => ((f64::from(*x) - start) / width) as f32,
            false => 0.0,
        };
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;
    use rankwright_data::Random;

    /// Random transforms, with up to three steps for each feature.
    pub(crate) fn random_transforms(
        seed: u64,
        columns: usize,
        min_max_in_query: bool,
    ) -> Transforms {
        // 21 is the number of the stream, chosen freely: other tests with the same seed use other
        // streams.
        let mut draw = Random::new(seed, 21);
        let steps =
            (0..columns).map(|_| (0..draw.below(4)).map(|_| random_step(&mut draw)).collect());
        let steps: Vec<Vec<TransformStep>> = steps.collect();
        let missing = (0..columns).map(|_| draw.normal() as f32).collect();
        Transforms::new(steps, missing, min_max_in_query).unwrap()
    }

    fn random_step(draw: &mut Random) -> TransformStep {
        let low = draw.normal() as f32;
        match draw.below(4) {
            0 => TransformStep::Clip { low, high: low + draw.unit() as f32 },
            1 => TransformStep::SignedLog,
            2 => TransformStep::Affine { shift: low, scale: draw.normal() as f32 },
            _ => {
                let rising = |draw: &mut Random, n: usize| {
                    let start = draw.normal() as f32;
                    (0..n).map(|i| start + i as f32 * 0.75).collect::<Vec<f32>>()
                };
                let n = 1 + draw.below(5);
                TransformStep::Table { from: rising(draw, n), to: rising(draw, n) }
            }
        }
    }

    /// The transforms of one feature, not scaled within the query; missing values become -9.
    fn one_feature(steps: Vec<TransformStep>) -> Transforms {
        let min_max_in_query = false;
        Transforms::new(vec![steps], vec![-9.0], min_max_in_query).unwrap()
    }

    fn applied(transforms: &Transforms, rows: &[f32]) -> Vec<f32> {
        let mut rows = rows.to_vec();
        transforms.apply(&mut rows);
        rows
    }

    #[test]
    fn each_step_follows_its_formula() {
        let clip = one_feature(vec![TransformStep::Clip { low: -1.0, high: 2.0 }]);
        assert_eq!(applied(&clip, &[-3.0, 0.5, f32::INFINITY, f32::NAN]), [-1.0, 0.5, 2.0, -9.0]);
        let log = one_feature(vec![TransformStep::SignedLog]);
        let ln2 = std::f32::consts::LN_2;
        assert_eq!(applied(&log, &[1.0, -1.0, 0.0, 3.0]), [ln2, -ln2, 0.0, 2.0 * ln2]);
        let affine = one_feature(vec![TransformStep::Affine { shift: 1.0, scale: -2.0 }]);
        assert_eq!(applied(&affine, &[1.0, 2.0]), [0.0, -2.0]);
        let table = TransformStep::Table { from: vec![0.0, 1.0, 3.0], to: vec![-1.0, 0.0, 0.5] };
        let points = [-5.0, 0.0, 0.5, 1.0, 2.0, 3.0, 7.0];
        let values = [-1.0, -1.0, -0.5, 0.0, 0.25, 0.5, 0.5];
        assert_eq!(applied(&one_feature(vec![table]), &points), values);
    }

    #[test]
    fn steps_are_applied_one_after_another() {
        let steps = vec![
            TransformStep::Clip { low: 0.0, high: 4.0 },
            TransformStep::Affine { shift: 2.0, scale: 0.5 },
            TransformStep::Table { from: vec![0.0], to: vec![7.0] },
        ];
        assert_eq!(applied(&one_feature(steps[..2].to_vec()), &[9.0, 0.0]), [1.0, -1.0]);
        assert_eq!(applied(&one_feature(steps), &[9.0, 0.0]), [7.0, 7.0]);
    }

    #[test]
    fn features_are_scaled_to_0_to_1_in_a_query_without_missing_values() {
        let min_max_in_query = true;
        let scaling = Transforms::new(vec![vec![]; 2], vec![0.5, -9.0], min_max_in_query).unwrap();
        // Four rows of two features.
        let rows = [2.0, 5.0, 6.0, 5.0, f32::NAN, f32::NAN, 3.0, 5.0];
        let found = applied(&scaling, &rows);
        assert_eq!(found, [0.0, 0.0, 1.0, 0.0, 0.5, -9.0, 0.25, 0.0], "equal values become 0");
        assert_eq!(applied(&scaling, &[4.0, f32::NAN]), [0.0, -9.0], "a query of one document");
        let wide = applied(&scaling, &[f32::MIN, 0.0, f32::INFINITY, 0.0]);
        assert_eq!(wide, [0.0, 0.0, 1.0, 0.0]);
        assert_eq!(applied(&scaling, &[]), Vec::<f32>::new());
    }

    #[test]
    fn a_column_has_the_inputs_of_whole_rows() {
        let (columns, rows) = (7, 150);
        let mut draw = Random::new(1, 22);
        let mut value = |cell: usize| match cell % 19 {
            3 => f32::NAN,
            11 => f32::INFINITY,
            _ => 20.0 * draw.normal() as f32,
        };
        let values: Vec<f32> = (0..columns * rows).map(&mut value).collect();
        for (seed, min_max_in_query) in [(1, false), (2, true), (3, false), (4, true)] {
            let transforms = random_transforms(seed, columns, min_max_in_query);
            let expected = applied(&transforms, &values);
            for column in 0..columns {
                let of_column = |cells: &[f32]| -> Vec<f32> {
                    cells.iter().skip(column).step_by(columns).copied().collect()
                };
                let mut found = of_column(&values);
                transforms.apply_to_column(column, &mut found);
                assert_eq!(found, of_column(&expected), "feature {column}, seed {seed}");
            }
        }
    }

    #[test]
    fn only_transforms_that_a_linear_model_can_include_are_affine() {
        let affine = |shift, scale| TransformStep::Affine { shift, scale };
        let (scaled, not_scaled) = (true, false);
        let parameters = |steps: Vec<TransformStep>, missing, min_max_in_query| {
            let steps = vec![vec![], steps];
            let transforms = Transforms::new(steps, vec![0.0, missing], min_max_in_query);
            transforms.unwrap().affine_parameters()
        };
        let unchanged = (0.0, 1.0);
        // Without scaling, 0 becomes (0 - 3) x 2.
        let found = parameters(vec![affine(3.0, 2.0)], -6.0, not_scaled);
        assert_eq!(found, Some(vec![unchanged, (3.0, 2.0)]));
        assert_eq!(parameters(vec![], 0.0, not_scaled), Some(vec![unchanged; 2]));
        let found = parameters(vec![affine(3.0, 2.0)], 0.0, not_scaled);
        assert_eq!(found, None, "missing values are not replaced by the input of a 0");
        assert_eq!(parameters(vec![], 0.0, scaled), None);
        assert_eq!(parameters(vec![TransformStep::SignedLog], 0.0, not_scaled), None);
        let two_steps = vec![affine(0.0, 1.0), affine(0.0, 1.0)];
        assert_eq!(parameters(two_steps, 0.0, not_scaled), None);
        assert_eq!(Transforms::identity(1).affine_parameters(), Some(vec![unchanged]));
    }

    #[test]
    fn descriptions_name_the_steps() {
        let steps =
            vec![TransformStep::SignedLog, TransformStep::Affine { shift: 0.0, scale: 1.0 }];
        let (scaled, not_scaled) = (true, false);
        let describe = |steps: Vec<Vec<TransformStep>>, min_max_in_query| {
            let missing = vec![0.0; steps.len()];
            Transforms::new(steps, missing, min_max_in_query).unwrap().describe()
        };
        assert_eq!(describe(vec![steps.clone(); 3], not_scaled), "signed log, shifted and scaled");
        assert_eq!(describe(vec![], not_scaled), "unchanged");
        let found = describe(vec![vec![]; 2], scaled);
        assert_eq!(found, "unchanged, then 0 to 1 within the query");
        assert_eq!(
            describe(vec![vec![], steps.clone(), steps], not_scaled),
            "signed log, shifted and scaled (2 features); unchanged (1 feature)"
        );
    }

    #[test]
    fn invalid_steps_are_refused_with_a_reason() {
        let min_max_in_query = false;
        let table =
            |from: &[f32], to: &[f32]| TransformStep::Table { from: from.into(), to: to.into() };
        for (step, reason) in [
            (TransformStep::Clip { low: 1.0, high: 0.0 }, "the lower one first"),
            (TransformStep::Clip { low: f32::NEG_INFINITY, high: 0.0 }, "finite bounds"),
            (TransformStep::Affine { shift: f32::NAN, scale: 1.0 }, "a finite shift and scale"),
            (
                TransformStep::Affine { shift: 0.0, scale: f32::INFINITY },
                "a finite shift and scale",
            ),
            (table(&[], &[]), "at least one point"),
            (table(&[1.0], &[1.0, 2.0]), "a value for each"),
            (table(&[1.0, 1.0], &[1.0, 2.0]), "points rise"),
            (table(&[1.0, 2.0], &[2.0, 1.0]), "do not fall"),
            (table(&[1.0, f32::INFINITY], &[1.0, 2.0]), "finite numbers"),
        ] {
            let error = Transforms::new(vec![vec![], vec![step]], vec![0.0; 2], min_max_in_query);
            let error = error.unwrap_err().to_string();
            assert!(error.starts_with("feature number 1: the step"), "{error}");
            assert!(error.contains(reason), "{error}");
        }
        let error = |steps, missing| {
            Transforms::new(steps, missing, min_max_in_query).unwrap_err().to_string()
        };
        assert!(
            error(vec![vec![]], vec![])
                .contains("steps for 1 feature, and replacements of missing values for 0")
        );
        assert!(
            error(vec![vec![]], vec![f32::NAN])
                .contains("missing values of feature number 0 is NaN")
        );
        assert!(
            error(vec![vec![TransformStep::SignedLog; 9]], vec![0.0])
                .contains("9 steps; expected at most 8")
        );
    }

    proptest! {
        #[test]
        fn inputs_are_finite_whatever_the_values(
            seed: u64,
            rows in proptest::collection::vec(prop::num::f32::ANY, 0..60),
            min_max: bool,
        ) {
            let transforms = random_transforms(seed, 3, min_max);
            let complete = rows.len() / 3 * 3;
            let found = applied(&transforms, &rows[..complete]);
            prop_assert!(found.iter().all(|x| x.is_finite()), "{found:?}");
            if min_max {
                let scaled = found.iter().zip(&rows).enumerate().filter(|(_, (_, raw))| !raw.is_nan());
                for (_, (x, _)) in scaled {
                    prop_assert!((0.0..=1.0).contains(x));
                }
            }
        }

        #[test]
        fn rows_are_transformed_alike_together_and_alone(seed: u64, count in 1_usize..40) {
            let min_max_in_query = false;
            let transforms = random_transforms(seed, 4, min_max_in_query);
            let mut draw = Random::new(seed, 1);
            let rows: Vec<f32> = (0..count * 4).map(|_| (draw.normal() * 3.0) as f32).collect();
            let together = applied(&transforms, &rows);
            let alone: Vec<f32> = rows.chunks(4).flat_map(|row| applied(&transforms, row)).collect();
            prop_assert_eq!(together, alone);
        }

        #[test]
        fn rising_steps_keep_the_order(seed: u64, a in -9.0..9.0_f32, b in -9.0..9.0_f32) {
            let mut draw = Random::new(seed, 22);
            let rising = (0..3).map(|_| match random_step(&mut draw) {
                TransformStep::Affine { shift, scale } => TransformStep::Affine { shift, scale: scale.abs() },
                other => other,
            });
            let found = applied(&one_feature(rising.collect()), &[a.min(b), a.max(b)]);
            prop_assert!(found[0] <= found[1], "{found:?}");
        }
    }
}
