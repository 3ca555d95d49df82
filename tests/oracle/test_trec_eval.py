"""`preset=trec` is trec_eval: pytrec_eval wraps its C code, so values must agree per query and in
the mean, on ties (also those that exist only in f32), queries missing on either side, unjudged
documents and negative judgements."""

import numpy as np
import pytest
import pytrec_eval

from cases import random_run_case
from command import assert_mean, assert_per_query, evaluate

SEEDS = range(6)
QUERIES = 150
CUTOFFS = (5, 10, 20, 100)


def measures():
    """`(trec_eval name, our spec)` of everything compared."""
    pairs = [
        ("map", "ap(preset=trec)"),
        ("ndcg", "ndcg(preset=trec)"),
        ("recip_rank", "rr(preset=trec)"),
        ("bpref", "bpref(preset=trec)"),
        ("Rprec", "rprec(preset=trec)"),
    ]
    by_cutoff = {"map_cut": "ap", "ndcg_cut": "ndcg", "P": "p", "recall": "recall"}
    for theirs, ours in by_cutoff.items():
        pairs += [(f"{theirs}_{k}", f"{ours}(preset=trec)@{k}") for k in CUTOFFS]
    pairs += [(f"success_{k}", f"success(preset=trec)@{k}") for k in (1, 5, 10)]
    # pytrec_eval wraps trec_eval 9; version 10 rounds the levels of recall in another way.
    iprec = "iprec(preset=trec, round=up, recall={:g})"
    levels = [i / 10 for i in range(11)]
    pairs += [(f"iprec_at_recall_{level:.2f}", iprec.format(level)) for level in levels]
    return pairs


THEIRS = {"map", "ndcg", "recip_rank", "bpref", "Rprec", "map_cut", "ndcg_cut", "P", "recall"}
THEIRS |= {"success", "iprec_at_recall"}


def reference(case, **options):
    """`{query: {measure: value}}` for the queries that are in the run and judged."""
    return pytrec_eval.RelevanceEvaluator(case.qrels, THEIRS, **options).evaluate(case.run)


def compare(folder, case, rng, pairs, expected):
    answers = evaluate(folder, [spec for _, spec in pairs], *case.save(folder, rng))
    for (theirs, _), answer in zip(pairs, answers):
        values = {query: row[theirs] for query, row in expected.items()}
        assert_per_query(answer, values)
        assert_mean(answer, np.mean(list(values.values())))
        assert answer.queries == len(values)


def with_parameter(pairs, parameter):
    return [
        (theirs, ours.replace("preset=trec", f"preset=trec, {parameter}")) for theirs, ours in pairs
    ]


@pytest.mark.parametrize("seed", SEEDS)
def test_every_measure_agrees_per_query_and_in_the_mean(tmp_path, seed):
    rng = np.random.default_rng(seed)
    case = random_run_case(rng, QUERIES)
    compare(tmp_path, case, rng, measures(), reference(case))


def test_counts_agree_per_query_and_are_added_up(tmp_path):
    rng = np.random.default_rng(400)
    case = random_run_case(rng, QUERIES)
    names = ["num_q", "num_ret", "num_rel", "num_rel_ret"]
    expected = pytrec_eval.RelevanceEvaluator(case.qrels, set(names)).evaluate(case.run)
    specs = [f"{name}(preset=trec)" for name in names]
    for name, answer in zip(names, evaluate(tmp_path, specs, *case.save(tmp_path, rng))):
        values = {query: row[name] for query, row in expected.items()}
        assert_per_query(answer, values)
        assert answer.value == sum(values.values()), name


def test_the_geometric_mean_of_average_precision_agrees(tmp_path):
    rng = np.random.default_rng(500)
    case = random_run_case(rng, QUERIES)
    rows = pytrec_eval.RelevanceEvaluator(case.qrels, {"gm_map"}).evaluate(case.run).values()
    expected = pytrec_eval.compute_aggregated_measure("gm_map", [row["gm_map"] for row in rows])
    (answer,) = evaluate(tmp_path, ["gmap(preset=trec)"], *case.save(tmp_path, rng))
    assert_mean(answer, expected)


def test_names_of_trec_eval_mean_its_measures(tmp_path):
    rng = np.random.default_rng(600)
    case = random_run_case(rng, QUERIES)
    names = [theirs for theirs, _ in measures()]
    # `map`, `ndcg` and `bpref` are names of ours, with our conventions.
    pairs = [(name, name) for name in names if name not in ("map", "ndcg", "bpref")]
    pairs = [(t, f"{o}(round=up)" if t.startswith("iprec") else o) for t, o in pairs]
    compare(tmp_path, case, rng, pairs, reference(case))


def test_a_higher_relevance_level_agrees(tmp_path):
    rng = np.random.default_rng(100)
    case = random_run_case(rng, QUERIES)
    # NDCG takes all grades whatever the level.
    pairs = [pair for pair in measures() if not pair[0].startswith("ndcg")]
    expected = reference(case, relevance_level=2)
    compare(tmp_path, case, rng, with_parameter(pairs, "rel=2"), expected)


def dropping_agrees(folder, case, rng):
    expected = reference(case, judged_docs_only_flag=True)
    # trec_eval divides 0 by 0 in some measures where nothing retrieved was judged; its other
    # measures are 0 there.
    for row in expected.values():
        row.update({name: 0.0 for name, value in row.items() if np.isnan(value)})
    compare(folder, case, rng, with_parameter(measures(), "unjudged=drop"), expected)


def test_dropping_unjudged_documents_agrees(tmp_path):
    rng = np.random.default_rng(200)
    case = random_run_case(rng, QUERIES)
    for labels in case.qrels.values():
        labels.update({doc: max(label, 0) for doc, label in labels.items()})
    dropping_agrees(tmp_path, case, rng)


def test_a_negative_judgement_counts_as_unjudged_under_unjudged_drop(tmp_path):
    rng = np.random.default_rng(250)
    dropping_agrees(tmp_path, random_run_case(rng, QUERIES), rng)


def test_judged_queries_absent_from_the_run_count_zero_on_request(tmp_path):
    rng = np.random.default_rng(300)
    case = random_run_case(rng, QUERIES)
    expected = reference(case)
    absent = {query: dict.fromkeys([t for t, _ in measures()], 0.0) for query in case.qrels}
    assert len(absent) > len(expected)
    compare(tmp_path, case, rng, with_parameter(measures(), "missing=zero"), absent | expected)
