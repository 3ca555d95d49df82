//! Naive Bayes (Manning, Raghavan, Schütze 2008, chapter 13): the class with the highest
//! probability if the features of a document are independent given its class.
//!
//! The prior of a class is its share of the training documents. With smoothing a, V features, and
//! N_tc the sum of feature t over the documents of class c:
//!
//! ```text
//! multinomial   ln P(c) + sum over t of x_t ln p_tc       p_tc = (N_tc + a) / (sum over u of N_uc + a V)
//! Bernoulli     ln P(c) + sum over t with x_t > 0 of ln p_tc
//!                       + sum over all other t of ln(1 - p_tc)
//!                                           p_tc = (documents of c with x_t > 0 + a) / (documents of c + 2a)
//! ```
//!
//! The scores are the posterior probabilities of the classes. The multinomial model takes counts,
//! or other weights that are not negative; a feature beyond the V features of training is ignored.
//! In the multinomial model a document without features has the priors. Cost: features times
//! classes to train, terms times classes for a document; the logarithms of all features and classes
//! are kept.

use rankwright_spec::choices;

use super::{ClassNames, ClassifyError, SparseVector, TrainedClassifier};

choices! {
    /// The distribution of features in naive Bayes.
    pub enum NaiveBayesModel {
        /// Counts of terms.
        Multinomial = "multinomial",
        /// Presence and absence of terms.
        Bernoulli = "bernoulli",
    }
}

/// A trained naive Bayes classifier.
///
/// ```
/// use rankwright_search::classify::{NaiveBayes, NaiveBayesModel, SparseVector, TrainedClassifier};
///
/// // Chinese, Beijing, Shanghai, Macao, Tokyo, Japan (the example of Manning et al., table 13.1).
/// let counts = [[2, 1, 0, 0, 0, 0], [2, 0, 1, 0, 0, 0], [1, 0, 0, 1, 0, 0], [1, 0, 0, 0, 1, 1]];
/// let vector = |counts: [i16; 6]| SparseVector::dense(&counts.map(f32::from));
/// let documents = counts.into_iter().map(vector).collect::<Result<Vec<_>, _>>()?;
/// let classes = ["china", "china", "china", "other"];
/// let bayes = NaiveBayes::fit(&documents, &classes, 6, NaiveBayesModel::Multinomial, 1.0)?;
/// let test = vector([3, 0, 0, 0, 1, 1])?;
/// // 3/4 (3/7)^3 (1/14)^2 against 1/4 (2/9)^5.
/// assert_eq!(bayes.decide(&test).class, "china");
/// assert!((bayes.decide(&test).value - 0.6898).abs() < 5e-5);
/// # Ok::<(), rankwright_search::classify::ClassifyError>(())
/// ```
#[derive(Debug, Clone)]
pub struct NaiveBayes {
    model: NaiveBayesModel,
    classes: Vec<String>,
    /// For each class, the logarithm of its probability together with a document without features.
    base: Vec<f64>,
    /// The amount that a feature of weight 1 adds to it, by feature, then class.
    added: Vec<f64>,
}

impl NaiveBayes {
    /// Trains on vectors of features below `features`; `classes` has the class of each vector.
    pub fn fit<S: AsRef<str>>(
        documents: &[SparseVector],
        classes: &[S],
        features: usize,
        model: NaiveBayesModel,
        smoothing: f64,
    ) -> Result<NaiveBayes, ClassifyError> {
        let ClassNames { names, numbers } = ClassNames::new(documents.len(), classes)?;
        let mut documents_of = vec![0.0; names.len()];
        // N_tc, by feature, then class.
        let mut sums = vec![0.0; features * names.len()];
        for (document, &class) in documents.iter().zip(&numbers) {
            documents_of[class as usize] += 1.0;
            for &(term, weight) in document.terms() {
                let count = counted_weight(model, term, weight)?;
                if let Some(sum) = sums.get_mut(term as usize * names.len() + class as usize) {
                    *sum += count;
                }
            }
        }
        let all = documents.len() as f64;
        let mut bayes = NaiveBayes {
            model,
            base: documents_of.iter().map(|count| (count / all).ln()).collect(),
            added: sums,
            classes: names,
        };
        match model {
            NaiveBayesModel::Multinomial => bayes.set_multinomial(features, smoothing),
            NaiveBayesModel::Bernoulli => bayes.set_bernoulli(&documents_of, smoothing),
        }
        Ok(bayes)
    }

    /// Turns the sums N_tc into logarithms of probabilities.
    fn set_multinomial(&mut self, features: usize, smoothing: f64) {
        let classes = self.classes.len();
        let mut totals = vec![smoothing * features as f64; classes];
        for row in self.added.chunks(classes) {
            totals.iter_mut().zip(row).for_each(|(total, count)| *total += count);
        }
        for row in self.added.chunks_mut(classes) {
            for (count, total) in row.iter_mut().zip(&totals) {
                *count = ((*count + smoothing) / total).ln();
            }
        }
    }

    /// Turns the numbers of documents with a feature into logarithms of odds; the base becomes the
    /// logarithm for a document in which every feature is absent.
    fn set_bernoulli(&mut self, documents_of: &[f64], smoothing: f64) {
        for row in self.added.chunks_mut(self.classes.len()) {
            for ((count, documents), base) in row.iter_mut().zip(documents_of).zip(&mut self.base) {
                let present = (*count + smoothing) / (documents + 2.0 * smoothing);
                *base += (-present).ln_1p();
                *count = present.ln() - (-present).ln_1p();
            }
        }
    }

    /// The logarithm of the probability of each class together with the document, up to a constant.
    fn joint_logarithms(&self, vector: &SparseVector) -> Vec<f64> {
        let (classes, mut sums) = (self.classes.len(), self.base.clone());
        for &(term, weight) in vector.terms() {
            let start = term as usize * classes;
            let factor = match self.model {
                NaiveBayesModel::Multinomial => f64::from(weight),
                NaiveBayesModel::Bernoulli => f64::from(u8::from(weight > 0.0)),
            };
            let row = self.added.get(start..start + classes).unwrap_or_default();
            sums.iter_mut().zip(row).for_each(|(sum, added)| *sum += factor * added);
        }
        sums
    }
}

impl TrainedClassifier for NaiveBayes {
    fn classes(&self) -> &[String] {
        &self.classes
    }

    fn class_scores(&self, vector: &SparseVector) -> Vec<f64> {
        let joint = self.joint_logarithms(vector);
        let highest = joint.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        super::trained::shares(joint.iter().map(|joint| (joint - highest).exp()).collect())
    }
}

/// The number by which a weight counts; the multinomial model refuses negative ones.
fn counted_weight(model: NaiveBayesModel, term: u32, weight: f32) -> Result<f64, ClassifyError> {
    match model {
        NaiveBayesModel::Bernoulli => Ok(f64::from(u8::from(weight > 0.0))),
        NaiveBayesModel::Multinomial if weight < 0.0 => {
            Err(ClassifyError::Negative { term, weight })
        }
        NaiveBayesModel::Multinomial => Ok(f64::from(weight)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vectors<const N: usize>(rows: &[[f32; N]]) -> Vec<SparseVector> {
        rows.iter().map(|row| SparseVector::dense(row).unwrap()).collect()
    }

    #[test]
    fn bernoulli_counts_absent_features_too() {
        // The documents of table 13.1 by presence; the book finds 0.005 against 0.022.
        let documents = vectors(&[
            [1.0, 1.0, 0.0, 0.0, 0.0, 0.0],
            [1.0, 0.0, 1.0, 0.0, 0.0, 0.0],
            [1.0, 0.0, 0.0, 1.0, 0.0, 0.0],
            [1.0, 0.0, 0.0, 0.0, 1.0, 1.0],
        ]);
        let classes = ["china", "china", "china", "other"];
        let bayes =
            NaiveBayes::fit(&documents, &classes, 6, NaiveBayesModel::Bernoulli, 1.0).unwrap();
        let test = &vectors(&[[3.0, 0.0, 0.0, 0.0, 1.0, 1.0]])[0];
        let china = 0.75 * 0.8 * 0.2 * 0.2 * 0.6f64.powi(3);
        let other = 0.25 * (2.0f64 / 3.0).powi(3) * (2.0f64 / 3.0).powi(3);
        let scores = bayes.class_scores(test);
        assert!((scores[0] - china / (china + other)).abs() < 1e-12, "{scores:?}");
        assert_eq!(bayes.decide(test).class, "other");
    }

    #[test]
    fn unknown_features_leave_the_priors_and_negative_counts_are_refused() {
        let documents = vectors(&[[1.0, 0.0], [0.0, 1.0], [0.0, 2.0]]);
        let classes = ["a", "b", "b"];
        let fit = |documents: &[SparseVector]| {
            NaiveBayes::fit(documents, &classes, 2, NaiveBayesModel::Multinomial, 1.0)
        };
        let bayes = fit(&documents).unwrap();
        let scores = bayes.class_scores(&SparseVector::new(vec![(9, 5.0)]).unwrap());
        assert!((scores[0] - 1.0 / 3.0).abs() < 1e-12);
        let negative = vectors(&[[1.0, -1.0], [0.0, 1.0], [0.0, 2.0]]);
        let error = fit(&negative).unwrap_err();
        assert_eq!(error, ClassifyError::Negative { term: 1, weight: -1.0 });
    }
}
