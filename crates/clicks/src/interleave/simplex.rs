//! Linear programs: minimise `c x` subject to `A x = b`, `x >= 0`, by the simplex method with two
//! phases and Bland's rule, which cannot cycle. The programs of optimised interleaving have at most
//! 11 equations and 1,024 variables; cost: O(equations x variables) a step.

/// Values closer to 0 than this are 0.
const TOLERANCE: f64 = 1e-9;

/// An optimal solution, where `rows` is A and `right` is b; `None` if the equations have none with
/// `x >= 0`, or if the minimum is unbounded.
pub(super) fn minimise(costs: &[f64], rows: &[Vec<f64>], right: &[f64]) -> Option<Vec<f64>> {
    let variables = costs.len();
    let mut tableau = Tableau::new(rows, right, variables);
    // Phase 1: the sum of the artificial variables becomes 0 if there is a solution.
    let artificial: Vec<f64> =
        (0..variables + rows.len()).map(|v| if v < variables { 0.0 } else { 1.0 }).collect();
    if tableau.optimise(&artificial, variables + rows.len())? > TOLERANCE {
        return None;
    }
    tableau.remove_artificial(variables);
    let padded: Vec<f64> = costs.iter().copied().chain(vec![0.0; rows.len()]).collect();
    tableau.optimise(&padded, variables)?;
    let mut solution = vec![0.0; variables];
    for (row, basic) in tableau.rows.iter().zip(&tableau.basis) {
        if *basic < variables {
            solution[*basic] = row[row.len() - 1].max(0.0);
        }
    }
    Some(solution)
}

/// The equations solved for the variables of the basis; the last column is the right-hand side.
struct Tableau {
    rows: Vec<Vec<f64>>,
    basis: Vec<usize>,
}

impl Tableau {
    /// One artificial variable for each equation is the first basis.
    fn new(rows: &[Vec<f64>], right: &[f64], variables: usize) -> Self {
        let equations = rows.len();
        let row = |(number, (row, right)): (usize, (&Vec<f64>, &f64))| {
            let sign = if *right < 0.0 { -1.0 } else { 1.0 };
            let mut full: Vec<f64> = row.iter().map(|value| sign * value).collect();
            full.extend((0..equations).map(|other| if other == number { 1.0 } else { 0.0 }));
            full.push(sign * right);
            full
        };
        let rows = rows.iter().zip(right).enumerate().map(row).collect();
        Self { rows, basis: (variables..variables + equations).collect() }
    }

    /// Minimises the costs over the first `usable` variables and returns the minimum; `None` if it
    /// is unbounded.
    fn optimise(&mut self, costs: &[f64], usable: usize) -> Option<f64> {
        loop {
            let reduced = |variable: usize| {
                let rows = self.rows.iter().zip(&self.basis);
                let used: f64 = rows.map(|(row, basic)| costs[*basic] * row[variable]).sum();
                costs[variable] - used
            };
            let Some(entering) = (0..usable).find(|variable| reduced(*variable) < -TOLERANCE)
            else {
                let values = self.rows.iter().zip(&self.basis);
                return Some(values.map(|(row, basic)| costs[*basic] * row[row.len() - 1]).sum());
            };
            let leaving = self.leaving(entering)?;
            self.pivot(leaving, entering);
        }
    }

    /// The equation whose basic variable reaches 0 first as `entering` grows; of several, by
    /// Bland's rule, that of the smallest variable. `None` if no variable does.
    fn leaving(&self, entering: usize) -> Option<usize> {
        let limits = self.rows.iter().enumerate().filter(|(_, row)| row[entering] > TOLERANCE);
        let limit = |row: &[f64]| row[row.len() - 1] / row[entering];
        limits
            .min_by(|(one, a), (other, b)| {
                let by_limit = limit(a).total_cmp(&limit(b));
                by_limit.then(self.basis[*one].cmp(&self.basis[*other]))
            })
            .map(|(number, _)| number)
    }

    fn pivot(&mut self, leaving: usize, entering: usize) {
        let divisor = self.rows[leaving][entering];
        self.rows[leaving].iter_mut().for_each(|value| *value /= divisor);
        let pivot = self.rows[leaving].clone();
        for (number, row) in self.rows.iter_mut().enumerate() {
            let factor = row[entering];
            if number != leaving && factor != 0.0 {
                row.iter_mut().zip(&pivot).for_each(|(value, pivot)| *value -= factor * pivot);
            }
        }
        self.basis[leaving] = entering;
    }

    /// Replaces artificial variables, which are all 0, in the basis; equations that follow from the
    /// others keep theirs.
    fn remove_artificial(&mut self, variables: usize) {
        for row in 0..self.rows.len() {
            if self.basis[row] >= variables {
                let entering = (0..variables).find(|v| self.rows[row][*v].abs() > TOLERANCE);
                if let Some(entering) = entering {
                    self.pivot(row, entering);
                }
            }
        }
    }
}
