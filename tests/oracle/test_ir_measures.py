"""ERR, NDCG with exponential gain (gdeval) and RBP (cwl_eval), as ir_measures gives them, on runs
without ties: the providers break ties in ways of their own."""

import ir_measures
import numpy as np
import pytest
from ir_measures import ERR, RBP, nDCG

from cases import tie_free_run_case
from command import PRINTED, assert_mean, assert_per_query, evaluate

# gdeval prints five decimals.
GDEVAL = 5.1e-6
CUTOFFS = (1, 5, 10, 20)
PERSISTENCE = (0.5, 0.8, 0.95)


def reference(measures, case):
    """`{measure: {query: value}}`; every judged query has a value."""
    values = {measure: {} for measure in measures}
    for found in ir_measures.iter_calc(measures, case.qrels, case.run):
        values[found.measure][found.query_id] = float(found.value)
    return values


def compare(folder, rng, case, pairs, tolerance):
    expected = reference([measure for measure, _ in pairs], case)
    answers = evaluate(folder, [spec for _, spec in pairs], *case.save(folder, rng))
    for (measure, _), answer in zip(pairs, answers):
        values = expected[measure]
        assert values.keys() == case.qrels.keys()
        assert_per_query(answer, values, tolerance)
        assert_mean(answer, np.mean(list(values.values())), tolerance)


@pytest.mark.parametrize("seed", range(3))
def test_err_and_exponential_ndcg_agree_with_gdeval(tmp_path, seed):
    rng = np.random.default_rng(seed)
    case = tie_free_run_case(rng, 120, top_label=4)
    pairs = [(ERR @ k, f"err(max=4, blank=0)@{k}") for k in CUTOFFS]
    pairs += [(nDCG(dcg="exp-log2") @ k, f"ndcg(gain=exp, blank=0)@{k}") for k in CUTOFFS]
    compare(tmp_path, rng, case, pairs, GDEVAL)


@pytest.mark.parametrize("level", [1, 2])
def test_rbp_agrees_with_cwl_eval(tmp_path, level):
    rng = np.random.default_rng(level)
    case = tie_free_run_case(rng, 120, top_label=3)
    pairs = [(RBP(rel=level, p=p), f"rbp(p={p}, rel={level}, blank=0)") for p in PERSISTENCE]
    compare(tmp_path, rng, case, pairs, PRINTED)
