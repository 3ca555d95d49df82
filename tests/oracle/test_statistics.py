"""Measures that are textbook statistics of scores against labels: Kendall's tau-b and Spearman's
rho (SciPy), area under the ROC curve and pointwise errors (scikit-learn). A query whose
labels allow no statistic (all equal, one class only) has no value; equal scores order nothing and
count as no correlation, where SciPy has no value either."""

import warnings

import numpy as np
import pytest
from scipy.stats import kendalltau, spearmanr
from sklearn.metrics import mean_absolute_error, roc_auc_score, root_mean_squared_error

from cases import random_list_case
from command import assert_mean, assert_per_query, evaluate

KINDS = ("distinct", "coarse", "equal")


def correlation(function):
    """A SciPy correlation as `metric(labels, scores)`, NaN where the labels allow none."""

    def metric(labels, scores):
        if len(set(labels)) < 2:
            return float("nan")
        if len(set(scores)) < 2:
            return 0.0
        return function(scores, labels).statistic

    return metric


def roc_area(labels, scores):
    relevant = np.asarray(labels) >= 1
    both = relevant.any() and not relevant.all()
    return roc_auc_score(relevant, scores) if both else float("nan")


MEASURES = {
    "kendall": correlation(kendalltau),
    "spearman": correlation(spearmanr),
    "auc(rel=1)": roc_area,
}


@pytest.mark.parametrize("spec", MEASURES)
def test_rank_statistics_agree_per_query(tmp_path, spec):
    case = random_list_case(np.random.default_rng(10), 150, KINDS, [0, 0, 1, 2, 3])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        values = case.per_query(MEASURES[spec])
    expected = {query: value for query, value in values.items() if not np.isnan(value)}
    assert 0 < len(expected) < len(values)
    (answer,) = evaluate(tmp_path, [spec], *case.save(tmp_path))
    assert_per_query(answer, expected)
    assert_mean(answer, np.mean(list(expected.values())))


def test_pointwise_errors_agree_over_rows(tmp_path):
    case = random_list_case(np.random.default_rng(11), 100, KINDS, [0, 1, 2.5])
    labels, scores = np.concatenate(case.labels), np.concatenate(case.scores)
    source = case.save(tmp_path)
    rmse, mae = evaluate(tmp_path, ["rmse(over=rows)", "mae(over=rows)"], *source)
    assert_mean(rmse, root_mean_squared_error(labels, scores))
    assert_mean(mae, mean_absolute_error(labels, scores))
