//! Transforms by their specs, on small columns with known results.

use rankwright_spec::{Spec, SpecError, read_into};

use super::*;

/// Rows of these values, in two queries of equal size (of an odd number of rows, the second query
/// has one more).
fn data(columns: usize, values: &[f32]) -> Dataset {
    let rows = values.len() / columns;
    let ids = (0..rows).map(|row| if row < rows / 2 { "a" } else { "b" });
    Dataset::from_dense(values, columns, vec![0; rows], ids).unwrap()
}

/// Parameters from a spec of any name; the default transform is `standard`.
fn params(text: &str) -> Result<TransformParams, SpecError> {
    let mut params = TransformParams::default().transform(Transform::Standard);
    read_into(&mut params, &Spec::parse(text)?)?;
    Ok(params)
}

/// The values of a data set after the transform that was fitted to it.
fn fitted(text: &str, data: &Dataset) -> Vec<f32> {
    transformed(data, &params(text).unwrap().fit(data).unwrap())
}

const NAN: f32 = f32::NAN;

#[test]
fn each_transform_gives_known_values() {
    let dataset = data(1, &[1.0, 3.0, 5.0, 7.0, NAN]);
    // The mean of 1, 3, 5, 7 is 4 and their standard deviation is the root of 5.
    let inverse_deviation = 1.0 / 5.0_f32.sqrt();
    let (small, large) = (inverse_deviation, 3.0 * inverse_deviation);
    let close = |found: Vec<f32>, expected: &[f32]| {
        assert_eq!(found.len(), expected.len());
        let near = found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6);
        assert!(near, "{found:?} {expected:?}");
    };
    close(fitted("x(transform=none)", &dataset), &[1.0, 3.0, 5.0, 7.0, 0.0]);
    close(fitted("x", &dataset), &[-large, -small, small, large, 0.0]);
    let third = 1.0 / 3.0;
    close(fitted("x(transform=min-max)", &dataset), &[0.0, third, 2.0 * third, 1.0, 0.5]);
    close(fitted("x(transform=query-min-max)", &dataset), &[0.0, 1.0, 0.0, 1.0, 0.5]);
    close(fitted("x(transform=rank)", &dataset), &[0.125, 0.375, 0.625, 0.875, 0.5]);
    let logs = [2.0_f32.ln(), 4.0_f32.ln(), 6.0_f32.ln(), 8.0_f32.ln(), 0.0];
    close(fitted("x(transform=log)", &dataset), &logs);
    assert_eq!(fitted("x(transform=auto)", &dataset), fitted("x", &dataset));
    // The normal quantiles of the ranks above: 1/8, 3/8, 5/8, 7/8.
    let gauss = fitted("x(transform=gauss)", &dataset);
    close(gauss, &[-1.150_349, -0.318_639, 0.318_639, 1.150_349, 0.0]);
    let standard = fitted("x(transform=log-standard)", &dataset);
    // Mean 0, variance 1 over the four values, and 0 for the missing one.
    let sum = standard.iter().sum::<f32>();
    let square_sum: f32 = standard.iter().map(|x| x * x).sum();
    assert!(sum.abs() < 1e-5 && (square_sum - 4.0).abs() < 1e-4, "{standard:?}");
}

#[test]
fn auto_takes_logarithms_of_features_with_large_values_only() {
    let dataset = data(2, &[1.0, 5.0, 2.0, 10.0, 300.0, -10.0, 4.0, 2.0]);
    let found = fitted("x(transform=auto)", &dataset);
    let (log, standard) = (fitted("x(transform=log-standard)", &dataset), fitted("x", &dataset));
    for row in 0..4 {
        assert_eq!((found[2 * row], found[2 * row + 1]), (log[2 * row], standard[2 * row + 1]));
    }
    let transforms = params("x(transform=auto)").unwrap().fit(&dataset).unwrap();
    // A logarithm and an affine step for the first feature, an affine step for the second.
    let step_counts = [transforms.steps()[0].len(), transforms.steps()[1].len()];
    assert_eq!(step_counts, [2, 1]);
}

#[test]
fn clipping_cuts_outliers_before_anything_else() {
    let mut values = vec![0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1000.0];
    let dataset = data(1, &values);
    let found = fitted("x(transform=min-max, clip=1)", &dataset);
    assert_eq!((found[0], found[9]), (0.0, 1.0));
    assert!(found[1] > 0.001, "the outlier must not make the others nearly equal: {found:?}");
    values[9] = f32::INFINITY;
    let found = fitted("x(transform=none)", &data(1, &values));
    assert_eq!(found[9], 1.0, "an infinite value counts as the largest finite one");
}

#[test]
fn constant_features_and_features_without_values_become_constants() {
    let dataset = data(2, &[7.0, NAN, 7.0, NAN, 7.0, NAN, 7.0, NAN]);
    for transform in ["standard", "min-max", "query-min-max", "log-standard"] {
        let found = fitted(&format!("x(transform={transform})"), &dataset);
        assert!(found.iter().step_by(2).all(|x| *x == 0.0), "{transform}: {found:?}");
        assert!(found.iter().all(|x| x.is_finite()), "{transform}: {found:?}");
    }
    assert_eq!(fitted("x(transform=rank)", &dataset), [0.5; 8]);
    assert_eq!(fitted("x(transform=gauss)", &dataset), [0.0; 8]);
    assert!(any_missing(&dataset) && !any_missing(&data(1, &[1.0, 2.0])));
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    // Values in no order: multiples of an odd constant, modulo 2^32.
    let values: Vec<f32> =
        (0..60_000_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 8) as f32 * 1e-3).collect();
    let dataset = data(3, &values);
    for transform in ["standard", "log-standard", "gauss", "query-min-max"] {
        let fitted_on = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| fitted(&format!("x(transform={transform})"), &dataset))
        };
        assert_eq!(fitted_on(1), fitted_on(4), "{transform}");
    }
}

#[test]
fn wrong_parameters_are_rejected() {
    for (text, expected) in [
        ("x(transform=whiten)", "auto | adapt | none | standard | min-max"),
        ("x(clip=0)", "a number above 0"),
        ("x(clip=-1)", "a number above 0"),
        ("x(transform=rank, clip=3)", "clip cannot be used with transform=rank"),
    ] {
        let error = params(text).unwrap_err().to_string();
        assert!(error.contains(expected), "{text}: {error}");
    }
    assert!(params("x(clip=none)").is_ok());
}
