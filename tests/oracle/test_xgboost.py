"""`preset=xgboost` is XGBoost's own `ndcg@k`; its `ndcg@k-` gives 0 instead of 1 to a blank query.
A booster without trees predicts the base margin. XGBoost keeps scores as f32, so the cases have no
scores that only f64 tells apart."""

import numpy as np
import pytest
import xgboost

from cases import random_list_case
from command import assert_mean, assert_per_query, evaluate

CUTOFFS = (1, 3, 5, 10)
KINDS = ("distinct", "coarse", "equal")
# Its sums are in f64, the gains it starts from in f32.
F32_GAINS = 1e-7


def xgboost_value(labels, scores, sizes, metrics, **params):
    """`{"ndcg@1": ...}` over queries of the given sizes."""
    rows = np.zeros((len(labels), 1), dtype=np.float32)
    qid = np.repeat(np.arange(len(sizes)), sizes)
    margin = np.asarray(scores, dtype=np.float32)
    data = xgboost.DMatrix(rows, label=labels, qid=qid, base_margin=margin, nthread=1)
    line = xgboost.Booster(params | {"eval_metric": metrics, "nthread": 1}, [data]).eval(data, "x")
    pairs = (word.removeprefix("x-").rsplit(":", 1) for word in line.split()[1:])
    return {name: float(value) for name, value in pairs}


def compare(folder, case, pairs, **params):
    names = [name for name, _ in pairs]
    answers = evaluate(folder, [spec for _, spec in pairs], *case.save(folder))
    each = case.per_query(lambda l, s: xgboost_value(l, s, [len(l)], names, **params))
    labels, scores = np.concatenate(case.labels), np.concatenate(case.scores)
    mean = xgboost_value(labels, scores, case.sizes(), names, **params)
    for name, answer in zip(names, answers):
        expected = {query: values[name] for query, values in each.items()}
        assert_per_query(answer, expected, F32_GAINS)
        assert_mean(answer, mean[name], F32_GAINS)


@pytest.mark.parametrize("minus, blank", [("", ""), ("-", ", blank=0")])
def test_ndcg_agrees_with_either_value_for_blank_queries(tmp_path, minus, blank):
    case = random_list_case(np.random.default_rng(2), 150, KINDS, [0, 0, 1, 2, 3, 4])
    pairs = [(f"ndcg@{k}{minus}", f"ndcg(preset=xgboost{blank})@{k}") for k in CUTOFFS]
    if not minus:
        pairs.append(("ndcg", "ndcg(preset=xgboost)"))
    compare(tmp_path, case, pairs, objective="rank:ndcg")


def test_linear_gain_agrees(tmp_path):
    case = random_list_case(np.random.default_rng(3), 60, KINDS, [0, 1, 5, 7])
    pairs = [(f"ndcg@{k}", f"ndcg(preset=xgboost, gain=linear)@{k}") for k in CUTOFFS]
    compare(tmp_path, case, pairs, objective="rank:ndcg", ndcg_exp_gain=False)


def test_map_agrees_on_binary_labels(tmp_path):
    case = random_list_case(np.random.default_rng(4), 100, KINDS, [0, 0, 1])
    pairs = [(f"map@{k}", f"ap(preset=xgboost)@{k}") for k in CUTOFFS]
    compare(tmp_path, case, pairs, objective="rank:map")


def test_precision_agrees_on_binary_labels(tmp_path):
    case = random_list_case(np.random.default_rng(5), 100, KINDS, [0, 0, 1])
    pairs = [(f"pre@{k}", f"p(preset=xgboost)@{k}") for k in CUTOFFS]
    compare(tmp_path, case, pairs, objective="rank:map")
