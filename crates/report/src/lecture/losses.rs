//! The losses of a pair of documents as functions of the margin m, the score of the better document
//! minus the score of the worse one:
//!
//! | loss | value | learner |
//! |---|---|---|
//! | error | 1 if m < 0, 1/2 at 0, else 0 | none: what an evaluation counts |
//! | hinge | max(0, 1 - m) | ranking SVM (Joachims 2002) |
//! | logistic | log(1 + exp(-sigma m)) | RankNet (Burges et al. 2005), sigma = 1 |
//! | exponential | exp(-m) | RankBoost (Freund et al. 2003) |

use crate::chart::{Axis, Body, Chart, Series};

/// The largest margin shown; the smallest is its negative.
const MAX_MARGIN: f64 = 3.0;
/// The largest loss shown.
const MAX_LOSS: f64 = 4.0;
/// Number of points of a curve on each side of 0.
const STEPS: i32 = 60;

/// The hinge, logistic and exponential loss of a pair, and the error that they stand for.
///
/// ```
/// use rankwright_report::chart::Body;
/// use rankwright_report::lecture::pair_losses;
///
/// let Body::Lines(curves) = pair_losses().body else { panic!("a chart of lines") };
/// assert_eq!(curves[1].name, "hinge (ranking SVM)");
/// ```
pub fn pair_losses() -> Chart {
    // A loss beyond the upper end of the axis is a gap.
    let shown = |loss: f64| if loss <= MAX_LOSS { loss } else { f64::NAN };
    let curve = |name: &str, loss: fn(f64) -> f64| Series {
        name: name.to_owned(),
        points: margins().map(|margin| (margin, shown(loss(margin)))).collect(),
        ..Series::default()
    };
    let error = Series { dashed: true, ..curve("error: the pair is in the wrong order", error) };
    let curves = vec![
        error,
        curve("hinge (ranking SVM)", |margin| (1.0 - margin).max(0.0)),
        curve("logistic (RankNet)", |margin| (-margin).exp().ln_1p()),
        curve("exponential (RankBoost)", |margin| (-margin).exp()),
    ];
    let label = |text: &str| Axis { label: text.to_owned(), ..Axis::default() };
    Chart {
        id: "pair-losses".into(),
        title: "Losses of a pair".into(),
        caption: "All three are smooth or piecewise linear stand-ins for the error of a pair. The \
                  hinge loss is 0 from a margin of 1 on; the logistic loss never is, and grows as \
                  slowly as the hinge for pairs in the wrong order; the exponential loss grows \
                  fastest."
            .into(),
        x: label("margin: score of the better document minus score of the worse one"),
        y: Axis { range: Some((0.0, MAX_LOSS)), ..label("loss") },
        body: Body::Lines(curves),
    }
}

/// The margins of a curve, ascending.
fn margins() -> impl Iterator<Item = f64> {
    (-STEPS..=STEPS).map(|step| MAX_MARGIN * f64::from(step) / f64::from(STEPS))
}

/// The error of a pair: 1 in the wrong order, one half if both have the same score.
fn error(margin: f64) -> f64 {
    match margin {
        below if below < 0.0 => 1.0,
        0.0 => 0.5,
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rankwright_learn::objective::{ObjectiveBuffers, QueryView, parse_objective};
    use rankwright_spec::Spec;

    /// The logistic curve is the loss that the objective of RankNet has.
    #[test]
    fn the_logistic_curve_is_the_loss_of_the_objective() {
        let objective = parse_objective(&Spec::parse("pair-logistic").unwrap()).unwrap();
        let Body::Lines(curves) = pair_losses().body else { panic!("a chart of lines") };
        for (margin, drawn) in &curves[2].points {
            let scores = [*margin, 0.0];
            let query = QueryView::new(&[1.0, 0.0], &scores);
            let loss = objective.loss(&query, &mut ObjectiveBuffers::default()).unwrap().unwrap();
            assert!((loss - drawn).abs() < 1e-6, "{margin}: {loss} {drawn}");
        }
        // At margin 0 the hinge loss is 1 and the logistic loss log 2.
        let at_zero = |curve: &Series| curve.points.iter().find(|p| p.0 == 0.0).unwrap().1;
        let expected = [0.5, 1.0, 2.0_f64.ln(), 1.0];
        assert_eq!(curves.iter().map(at_zero).collect::<Vec<_>>(), expected);
    }
}
