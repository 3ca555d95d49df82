//! Columns: the packing of features into bytes.
//!
//! A column is one byte per row. A feature with many bins has a column of its own; features with
//! few bins share a column as digits of a mixed-radix number, as long as the product of their
//! numbers of bins is at most 256. Histograms are built by column, so fewer columns take less time.
//! When splits on a feature of a shared column are searched, the column's histogram is summed over
//! the digits of the other features, which gives the feature's own histogram. Features with one bin
//! cannot be split on and have no column.

use super::bounds::FeatureBins;

/// Number of cells in a column's histogram: one sum for each value that a byte can take.
pub(crate) const CELLS: usize = 256;

/// One feature in a column: its bin is `byte / stride % bins`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PackedFeature {
    /// Column of the feature in the data set, from 0 (not the column of bytes).
    pub(crate) feature: u32,
    /// Number of bins, including the bin of missing values if there is one.
    pub(crate) bins: u16,
    /// The amount by which the byte grows when the bin grows by one.
    pub(crate) stride: u16,
}

impl PackedFeature {
    /// The feature's bin in a byte of its column.
    pub(crate) fn bin(self, byte: u8) -> usize {
        usize::from(u16::from(byte) / self.stride % self.bins)
    }
}

/// A column: one byte per row, for one or several features.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BinColumn {
    /// The features that the column holds, at least one.
    pub(crate) features: Vec<PackedFeature>,
    /// Number of values that the byte takes: the product of the features' numbers of bins.
    pub(crate) cells: u16,
}

/// Assigns every feature with more than one bin to a column. Features keep their order as far as
/// sharing allows.
pub(crate) fn columns(features: &[FeatureBins]) -> Vec<BinColumn> {
    let mut columns: Vec<BinColumn> = Vec::new();
    // A feature goes to the first column in which it fits; `open` are the indices of the columns
    // whose first feature leaves room for others.
    let mut open: Vec<usize> = Vec::new();
    for (feature, bins) in features.iter().enumerate().filter(|(_, bins)| bins.is_useful()) {
        let bins = bins.all_bins() as u16;
        let fits =
            |column: &usize| usize::from(columns[*column].cells) * usize::from(bins) <= CELLS;
        let packed = |stride| PackedFeature { feature: feature as u32, bins, stride };
        match open.iter().copied().find(fits) {
            Some(index) => {
                let column = &mut columns[index];
                column.features.push(packed(column.cells));
                column.cells *= bins;
            }
            None => {
                if usize::from(bins) * 2 <= CELLS {
                    open.push(columns.len());
                }
                columns.push(BinColumn { features: vec![packed(1)], cells: bins });
            }
        }
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A feature with this number of bins.
    fn feature_bins(bins: usize) -> FeatureBins {
        let bounds = (1..bins).map(|i| i as f32).collect();
        FeatureBins { bounds, missing: false, categories: None }
    }

    #[test]
    fn few_valued_features_share_a_column_and_constant_ones_have_none() {
        let features = [255, 2, 1, 3, 100, 40].map(feature_bins);
        let columns = columns(&features);
        let members: Vec<Vec<u32>> =
            columns.iter().map(|c| c.features.iter().map(|m| m.feature).collect()).collect();
        assert_eq!(members, [vec![0], vec![1, 3, 5], vec![4]]);
    }

    proptest! {
        #[test]
        fn the_bins_of_packed_features_can_be_read_back(
            bins in proptest::collection::vec(1_usize..=256, 1..20), seed: u64,
        ) {
            let features: Vec<FeatureBins> = bins.iter().map(|bins| feature_bins(*bins)).collect();
            let columns = columns(&features);
            let mut random = rankwright_data::Random::new(seed, 0);
            let mut packed_features = 0;
            for column in &columns {
                prop_assert!(usize::from(column.cells) <= CELLS);
                let digits: Vec<usize> =
                    column.features.iter().map(|m| random.below(usize::from(m.bins))).collect();
                let byte: usize = column.features.iter().zip(&digits)
                    .map(|(m, d)| usize::from(m.stride) * d).sum();
                for (packed, digit) in column.features.iter().zip(&digits) {
                    prop_assert_eq!(packed.bin(byte as u8), *digit);
                    packed_features += 1;
                }
            }
            prop_assert_eq!(packed_features, bins.iter().filter(|bins| **bins > 1).count());
        }
    }
}
