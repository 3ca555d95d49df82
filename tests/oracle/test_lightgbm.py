"""`preset=lightgbm` is LightGBM's own `ndcg@k`. A booster without a single tree predicts its start
scores, so given scores can be evaluated by the library itself, ties and blank queries included."""

import lightgbm
import numpy as np
import pytest

from cases import random_list_case
from command import assert_mean, assert_per_query, evaluate

CUTOFFS = (1, 3, 5, 10)
KINDS = ("distinct", "coarse", "equal", "below f32", "wide")


def lightgbm_value(labels, scores, sizes, metric):
    """`{"ndcg@1": ...}` over queries of the given sizes."""
    rows = np.arange(len(labels), dtype=float).reshape(-1, 1)
    quiet = {"verbose": -1, "num_threads": 1}
    data = lightgbm.Dataset(rows, label=labels, group=sizes, init_score=scores, params=quiet)
    params = quiet | {"objective": "lambdarank", "metric": metric, "eval_at": CUTOFFS}
    booster = lightgbm.Booster(params, data)
    return {name: value for _, name, value, _ in booster.eval_train()}


@pytest.mark.parametrize("metric, ours", [("ndcg", "ndcg"), ("map", "ap")])
def test_values_agree_per_query_and_in_the_mean(tmp_path, metric, ours):
    rng = np.random.default_rng(1)
    case = random_list_case(rng, 120, KINDS, [0, 0, 1, 2, 3, 4])
    specs = [f"{ours}(preset=lightgbm)@{k}" for k in CUTOFFS]
    answers = evaluate(tmp_path, specs, *case.save(tmp_path))
    each = case.per_query(lambda l, s: lightgbm_value(l, s, [len(l)], metric))
    labels, scores = np.concatenate(case.labels), np.concatenate(case.scores)
    mean = lightgbm_value(labels, scores, case.sizes(), metric)
    for k, answer in zip(CUTOFFS, answers):
        name = f"{metric}@{k}"
        assert_per_query(answer, {query: values[name] for query, values in each.items()})
        assert_mean(answer, mean[name])
