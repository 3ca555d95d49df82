"""`preset=sklearn` is scikit-learn's `ndcg_score` and `dcg_score`: linear gain, the mean over tied
scores, 0 for a query without a relevant row. It refuses lists of one row, so there are none."""

import numpy as np
import pytest
from sklearn.metrics import dcg_score, ndcg_score

from cases import random_list_case
from command import assert_mean, assert_per_query, evaluate

KINDS = ("distinct", "coarse", "equal")
CUTOFFS = (None, 1, 3, 5, 10, 50)


def compare(folder, case, ours, theirs):
    specs = [f"{ours}(preset=sklearn)" + (f"@{k}" if k else "") for k in CUTOFFS]
    answers = evaluate(folder, specs, *case.save(folder))
    for k, answer in zip(CUTOFFS, answers):
        expected = case.per_query(lambda labels, scores: theirs([labels], [scores], k=k))
        assert_per_query(answer, expected)
        assert_mean(answer, np.mean(list(expected.values())))


@pytest.mark.parametrize("palette", [[0, 1], [0, 0, 1, 2, 3, 4], [0, 0.5, 1.25, 20]])
def test_ndcg_with_averaged_ties_agrees(tmp_path, palette):
    rng = np.random.default_rng(len(palette))
    case = random_list_case(rng, 150, KINDS, palette, smallest=2)
    compare(tmp_path, case, "ndcg", ndcg_score)


def test_dcg_with_averaged_ties_agrees(tmp_path):
    case = random_list_case(np.random.default_rng(9), 100, KINDS, [0, 1, 2, 3], smallest=2)
    compare(tmp_path, case, "dcg", dcg_score)
