//! The one table of metrics. It feeds `list metrics`, the help, and the errors of the parser.

use super::{
    Metric, accuracy, ap, auc, bpref, counts, dcg, err, inversions, iprec, judged, kendall,
    mean_ndcg, ndcg, pointwise, precision, q, rbp, recall, rprec, rr, spearman, success,
};
use crate::convention::{BLANK, MISSING, PRESET, REL, SCORES, TIES, UNJUDGED};
use crate::discount::DISCOUNT;
use crate::gain::GAIN;
use crate::params::{ParamInfo, Params};
use rankwright_spec::SpecError;

/// One metric of the table.
#[derive(Debug)]
pub struct MetricInfo {
    /// Name in specs.
    pub name: &'static str,
    /// Other names for the same.
    pub aliases: &'static [&'static str],
    /// One line: what it measures.
    pub doc: &'static str,
    /// A spec that works, with the most useful parameters.
    pub example: &'static str,
    /// Parameters, in the order in which they are printed.
    pub params: &'static [ParamInfo],
    /// Whether `@k` may follow; without it the whole list counts.
    pub cutoff: bool,
    /// Whether `ties=mean` has an exact form.
    pub mean_ties: bool,
    /// Defaults of shared parameters that differ from everybody's.
    pub defaults: &'static [(&'static str, &'static str)],
    /// Makes the metric from checked parameters.
    pub(crate) build: fn(&Params<'_>) -> Result<Box<dyn Metric>, SpecError>,
}

/// Every metric.
pub const METRICS: &[MetricInfo] = &[
    MetricInfo {
        name: "ndcg",
        aliases: &[],
        doc: "discounted cumulative gain, as a share of the best possible",
        example: "ndcg(gain=exp, blank=skip)@10",
        params: &[PRESET, GAIN, DISCOUNT, ndcg::SHORT, BLANK, MISSING, UNJUDGED, TIES, SCORES],
        mean_ties: true,
        build: ndcg::build,
        ..BASE
    },
    MetricInfo {
        name: "dcg",
        doc: "discounted cumulative gain",
        example: "dcg(gain=linear)@10",
        params: &[PRESET, GAIN, DISCOUNT, BLANK, MISSING, UNJUDGED, TIES, SCORES],
        mean_ties: true,
        build: dcg::build,
        ..BASE
    },
    MetricInfo {
        name: "mean-ndcg",
        aliases: &["mean_ndcg", "meanndcg"],
        doc: "LETOR's MeanNDCG: mean of NDCG@k over k = 1 to the length of the list",
        example: "mean-ndcg(preset=letor4)",
        params: &[PRESET, GAIN, DISCOUNT, BLANK, MISSING, UNJUDGED, TIES, SCORES],
        cutoff: false,
        build: mean_ndcg::build,
        ..BASE
    },
    MetricInfo {
        name: "ap",
        aliases: &["map"],
        doc: "average precision; its mean over queries is MAP",
        example: "ap(rel=2)@100",
        params: &[PRESET, ap::NORM, REL, BLANK, MISSING, UNJUDGED, TIES, SCORES],
        mean_ties: true,
        build: ap::build,
        ..BASE
    },
    MetricInfo {
        name: "gmap",
        doc: "geometric mean of average precision, which weighs the hard queries",
        example: "gmap(floor=0.00001)",
        params: &[PRESET, ap::NORM, ap::FLOOR, REL, BLANK, MISSING, UNJUDGED, TIES, SCORES],
        mean_ties: true,
        build: ap::build_gmap,
        ..BASE
    },
    MetricInfo {
        name: "rr",
        aliases: &["mrr"],
        doc: "1 / rank of the first relevant document; its mean is MRR",
        example: "rr(rel=1)@10",
        params: &[PRESET, REL, BLANK, MISSING, UNJUDGED, TIES, SCORES],
        mean_ties: true,
        build: rr::build,
        ..BASE
    },
    MetricInfo {
        name: "err",
        doc: "expected reciprocal rank at which a reader is satisfied",
        example: "err(max=4)@20",
        params: &[PRESET, err::MAX, BLANK, MISSING, UNJUDGED, TIES, SCORES],
        build: err::build,
        ..BASE
    },
    MetricInfo {
        name: "rbp",
        doc: "rank-biased precision: the gain seen by a reader of persistence p",
        example: "rbp(p=0.8, max=4)",
        params: &[rbp::P, rbp::MAX, REL, BLANK, MISSING, UNJUDGED, TIES, SCORES],
        mean_ties: true,
        build: rbp::build,
        ..BASE
    },
    MetricInfo {
        name: "rbp-residual",
        aliases: &["rbp_residual"],
        doc: "weight of unjudged and unseen ranks in RBP: how much it could still rise",
        example: "rbp-residual(p=0.8)",
        params: &[rbp::P, MISSING, UNJUDGED, TIES, SCORES],
        build: rbp::build_residual,
        ..BASE
    },
    MetricInfo {
        name: "p",
        aliases: &["precision"],
        doc: "share of relevant documents among the first k",
        example: "p(rel=1)@10",
        params: &[PRESET, precision::SHORT, REL, BLANK, MISSING, UNJUDGED, TIES, SCORES],
        mean_ties: true,
        build: precision::build,
        ..BASE
    },
    MetricInfo {
        name: "recall",
        aliases: &["r"],
        doc: "share of the relevant documents that are among the first k",
        example: "recall(rel=1)@100",
        params: &[PRESET, REL, BLANK, MISSING, UNJUDGED, TIES, SCORES],
        mean_ties: true,
        build: recall::build,
        ..BASE
    },
    MetricInfo {
        name: "rprec",
        aliases: &["r-precision"],
        doc: "precision at rank R, the number of relevant documents",
        example: "rprec(rel=1)",
        params: &[PRESET, REL, BLANK, MISSING, UNJUDGED, TIES, SCORES],
        cutoff: false,
        build: rprec::build,
        ..BASE
    },
    MetricInfo {
        name: "success",
        aliases: &["hit"],
        doc: "1 if any of the first k documents is relevant",
        example: "success(rel=1)@10",
        params: &[PRESET, REL, BLANK, MISSING, UNJUDGED, TIES, SCORES],
        mean_ties: true,
        build: success::build,
        ..BASE
    },
    MetricInfo {
        name: "bpref",
        doc: "judged non-relevant documents above the relevant ones; trec_eval's conventions",
        example: "bpref(rel=1)",
        params: &[PRESET, REL, BLANK, MISSING, UNJUDGED, TIES, SCORES],
        cutoff: false,
        defaults: &[("blank", "0"), ("missing", "skip")],
        build: bpref::build,
        ..BASE
    },
    MetricInfo {
        name: "iprec",
        doc: "interpolated precision at a level of recall",
        example: "iprec(recall=0.1)",
        params: &[PRESET, iprec::RECALL, iprec::ROUND, REL, BLANK, MISSING, UNJUDGED, TIES, SCORES],
        cutoff: false,
        build: iprec::build,
        ..BASE
    },
    MetricInfo {
        name: "q",
        aliases: &["q-measure"],
        doc: "Q-measure: average precision blended with graded cumulative gain",
        example: "q(beta=1)@100",
        params: &[q::BETA, q::GAIN, ap::NORM, REL, BLANK, MISSING, UNJUDGED, TIES, SCORES],
        build: q::build,
        ..BASE
    },
    MetricInfo {
        name: "judged",
        doc: "share of judged documents among the first k",
        example: "judged@10",
        params: &[MISSING, TIES, SCORES],
        build: judged::build,
        ..BASE
    },
    MetricInfo {
        name: "kendall",
        aliases: &["tau"],
        doc: "Kendall's tau-b between scores and labels",
        example: "kendall",
        params: &[MISSING, UNJUDGED],
        cutoff: false,
        build: kendall::build,
        ..BASE
    },
    MetricInfo {
        name: "spearman",
        aliases: &["rho"],
        doc: "Spearman's rank correlation between scores and labels",
        example: "spearman",
        params: &[MISSING, UNJUDGED],
        cutoff: false,
        build: spearman::build,
        ..BASE
    },
    MetricInfo {
        name: "pair-accuracy",
        aliases: &["pair_accuracy"],
        doc: "share of pairs with different labels that stand in the right order",
        example: "pair-accuracy(ties=mean)",
        params: &[MISSING, UNJUDGED, TIES, SCORES],
        cutoff: false,
        mean_ties: true,
        build: inversions::build_accuracy,
        ..BASE
    },
    MetricInfo {
        name: "inversions",
        aliases: &["pairwise-errors"],
        doc: "number of pairs with different labels that stand in the wrong order",
        example: "inversions(ties=mean)",
        params: &[UNJUDGED, TIES, SCORES],
        cutoff: false,
        mean_ties: true,
        build: inversions::build,
        ..BASE
    },
    MetricInfo {
        name: "auc",
        doc: "area under the ROC curve within a query; equal scores count half",
        example: "auc(rel=1)",
        params: &[REL, MISSING, UNJUDGED],
        cutoff: false,
        build: auc::build,
        ..BASE
    },
    MetricInfo {
        name: "accuracy",
        doc: "classification: share of documents on the right side of a score threshold",
        example: "accuracy(threshold=0.5, rel=1)",
        params: &[accuracy::THRESHOLD, REL, pointwise::OVER, UNJUDGED],
        cutoff: false,
        defaults: &[("unjudged", "drop")],
        build: accuracy::build,
        ..BASE
    },
    MetricInfo {
        name: "rmse",
        doc: "root of the mean squared difference between score and label",
        example: "rmse(over=rows)",
        params: &[pointwise::OVER, UNJUDGED],
        cutoff: false,
        defaults: &[("unjudged", "drop")],
        build: pointwise::build_rmse,
        ..BASE
    },
    MetricInfo {
        name: "mae",
        doc: "mean absolute difference between score and label",
        example: "mae(over=rows)",
        params: &[pointwise::OVER, UNJUDGED],
        cutoff: false,
        defaults: &[("unjudged", "drop")],
        build: pointwise::build_mae,
        ..BASE
    },
    MetricInfo {
        name: "num_q",
        doc: "number of queries; trec_eval's conventions",
        example: "num_q",
        params: &[PRESET, MISSING],
        build: counts::build_queries,
        ..COUNT
    },
    MetricInfo {
        name: "num_ret",
        doc: "number of retrieved documents; trec_eval's conventions",
        example: "num_ret",
        params: &[PRESET, MISSING, UNJUDGED, TIES, SCORES],
        build: counts::build_retrieved,
        ..COUNT
    },
    MetricInfo {
        name: "num_rel",
        doc: "number of relevant documents; trec_eval's conventions",
        example: "num_rel(rel=1)",
        params: &[PRESET, REL, MISSING],
        build: counts::build_relevant,
        ..COUNT
    },
    MetricInfo {
        name: "num_rel_ret",
        doc: "number of relevant documents that were retrieved; trec_eval's conventions",
        example: "num_rel_ret(rel=1)",
        params: &[PRESET, REL, MISSING, TIES, SCORES],
        build: counts::build_relevant_retrieved,
        ..COUNT
    },
];

/// What most metrics have in common.
const BASE: MetricInfo = MetricInfo {
    name: "",
    aliases: &[],
    doc: "",
    example: "",
    params: &[],
    cutoff: true,
    mean_ties: false,
    defaults: &[],
    build: counts::build_queries,
};

/// Counts follow trec_eval, where they come from.
const COUNT: MetricInfo = MetricInfo { cutoff: false, defaults: &[("missing", "skip")], ..BASE };

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::MetricSpec;
    use crate::source::SourceKind;
    use std::collections::HashSet;

    #[test]
    fn every_metric_has_a_doc_line_and_an_example_that_prints_back_and_evaluates() {
        for metric in METRICS {
            assert!(!metric.doc.is_empty() && !metric.doc.contains('\n'), "{}", metric.name);
            let spec = MetricSpec::parse(metric.example).unwrap();
            assert_eq!(spec.to_string(), metric.example);
            assert_eq!(spec.info().name, metric.name);
            for kind in [SourceKind::Features, SourceKind::Run] {
                let measure = spec.resolve(kind).unwrap();
                let value = measure.of(&[0.9, 0.1, 0.5], &[0.0, 2.0, 1.0]).unwrap().unwrap();
                assert!(value.is_finite(), "{}: {value}", metric.name);
            }
        }
    }

    #[test]
    fn every_parameter_is_documented_and_its_default_is_legal() {
        for metric in METRICS {
            for param in metric.params {
                assert!(!param.doc.is_empty() && !param.default.is_empty(), "{}", param.name);
                let prose = ["preset", "ties"].contains(&param.name) || param.default.contains('(');
                if !prose {
                    let needed = if metric.name == "iprec" { "recall=0.1, " } else { "" };
                    let (name, key) = (metric.name, param.name);
                    let spec = format!("{name}({needed}{key}={})", param.default);
                    MetricSpec::parse(&spec).unwrap_or_else(|e| panic!("{spec}: {e}"));
                }
            }
        }
    }

    #[test]
    fn names_and_aliases_are_unique_without_regard_to_case() {
        let mut seen = HashSet::new();
        for metric in METRICS {
            for name in metric.aliases.iter().chain([&metric.name]) {
                assert!(seen.insert(name.to_ascii_lowercase()), "{name} twice");
            }
        }
    }

    #[test]
    fn empty_and_single_document_queries_never_fail() {
        for metric in METRICS {
            let measure = MetricSpec::parse(metric.example).unwrap();
            let measure = measure.resolve(SourceKind::Features).unwrap();
            for labels in [&[][..], &[0.0], &[1.0], &[-1.0]] {
                let value = measure.of(&vec![0.3; labels.len()], labels).unwrap();
                assert!(value.is_none_or(f64::is_finite), "{} {labels:?}", metric.name);
            }
        }
    }

    #[test]
    fn conventions_name_every_shared_parameter_that_the_metric_takes() {
        for metric in METRICS {
            let measure = MetricSpec::parse(metric.example).unwrap();
            let measure = measure.resolve(SourceKind::Run).unwrap();
            for param in metric.params.iter().filter(|p| p.name != "preset") {
                let said = measure.convention();
                assert!(said.contains(&format!("{}=", param.name)), "{}: {said}", metric.name);
            }
            if metric.cutoff {
                assert!(measure.convention().contains("cutoff="), "{}", metric.name);
            }
        }
    }
}
