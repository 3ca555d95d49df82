"""Interleaved comparisons and pairwise judgements beside other libraries: the sign test (SciPy's
`binomtest`), the distribution of optimised interleaving (SciPy's `linprog`), strengths of the
Bradley-Terry model (choix and evalica), and kappa (scikit-learn)."""

import itertools
import json
from collections import Counter

import choix
import evalica
import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.stats import binomtest
from sklearn.metrics import cohen_kappa_score

from command import run


def document(*words):
    """The JSON result of a command."""
    done = run(*words, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("first, second, ties", [(13, 29, 27), (4, 18, 7), (0, 5, 0), (40, 38, 3), (7, 7, 1)])
def test_the_p_value_is_that_of_the_binomial_test(tmp_path, first, second, ties):
    """Impressions of one list: a click on the document of either team, or on both."""
    clicks = [[1, 0]] * first + [[0, 1]] * second + [[1, 1]] * ties
    base = {"query": "q", "method": "team-draft", "rankers": ["old", "new"], "documents": ["a", "b"]}
    more = {"teams": [0, 1], "ranks": [[1, 2], [2, 1]], "lengths": [2, 2]}
    (tmp_path / "lists").write_text(json.dumps({"request": "r", **base, **more}) + "\n")
    pages = ({"query": "q", "docs": ["a", "b"], "clicks": clicked} for clicked in clicks)
    (tmp_path / "log").write_text("".join(json.dumps(page) + "\n" for page in pages))
    result = document("interleave", "score", tmp_path / "log", "--lists", tmp_path / "lists")
    (found,) = result["comparisons"]
    assert (found["wins"], found["ties"]) == ([first, second], ties)
    assert found["p"] == pytest.approx(binomtest(first, first + second).pvalue, abs=1e-12)
    delta = (second + ties / 2) / len(clicks) - 0.5
    assert found["delta"] == pytest.approx(delta, abs=1e-12)


def lists_of(rankings, length):
    """All lists whose documents are each the best remaining one of either ranking."""
    lists = {()}
    for _ in range(length):
        longer = set()
        for shown in lists:
            for ranking in rankings:
                remaining = [id for id in ranking if id not in shown]
                longer.add(shown + (remaining[0],))
        lists = longer
    return sorted(lists)


@pytest.mark.parametrize("seed", range(4))
def test_optimised_lists_are_drawn_by_the_best_fair_distribution(tmp_path, seed):
    """Another solution of the linear program may be as good, so that the value of the program is
    compared, and the fairness of the drawn lists."""
    random = np.random.default_rng(seed)
    length, draws = 4, 20_000
    rankings = [list(random.permutation([f"d{n}" for n in range(6)])[:5]) for _ in range(2)]
    rank = lambda ranking, id: ranking.index(id) + 1 if id in ranking else len(ranking) + 1
    credit = lambda id: 1 / rank(rankings[0], id) - 1 / rank(rankings[1], id)
    lists = lists_of(rankings, length)
    credits = np.array([[credit(id) for id in shown] for shown in lists])
    spread = ((credits - credits.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
    rows = np.vstack([np.cumsum(credits, axis=1).T, np.ones(len(lists))])
    solved = linprog(-spread, A_eq=rows, b_eq=[0] * length + [1], bounds=(0, None))
    assert solved.status == 0
    for name, ranking in zip(("a.run", "b.run"), rankings):
        lines = (f"q Q0 {id} {n + 1} {9 - n} x\n" for n, id in enumerate(ranking))
        (tmp_path / name).write_text("".join(lines))
    words = ["--method", "optimised", "-k", length, "--repeat", draws, "--out", tmp_path / "lists"]
    document("interleave", tmp_path / "a.run", tmp_path / "b.run", *words)
    shown = (json.loads(line)["documents"] for line in (tmp_path / "lists").open())
    counts = Counter(tuple(documents) for documents in shown)
    assert counts.keys() <= set(lists)
    shares = np.array([counts[shown] / draws for shown in lists])
    assert shares @ spread == pytest.approx(-solved.fun, abs=0.02)
    assert np.abs(rows[:-1] @ shares).max() < 0.02


def judgements(random, documents, count):
    """Random comparisons (first, second, preferred) of documents of different strengths."""
    pairs = list(itertools.combinations(range(documents), 2))
    strengths = random.normal(size=documents)
    found = []
    for _ in range(count):
        a, b = pairs[random.integers(len(pairs))]
        if random.random() < 0.5:
            a, b = b, a
        p = 1 / (1 + np.exp(strengths[b] - strengths[a]))
        found.append((a, b, "a" if random.random() < p else "b"))
    return found


def write_judgements(path, found, judge=""):
    names = {"a": ">", "b": "<", "tie": "="}
    lines = (f"q d{a} {names[preferred]} d{b} {judge}\n" for a, b, preferred in found)
    path.write_text("".join(lines))


@pytest.mark.parametrize("seed", range(3))
def test_strengths_are_those_of_choix_and_evalica(tmp_path, seed):
    random = np.random.default_rng(seed)
    found = judgements(random, 7, 400)
    write_judgements(tmp_path / "j", found)
    words = ["judge", "aggregate", tmp_path / "j", "--prior", "1e-9", "--out", tmp_path / "pairs"]
    (query,) = document(*words)["strengths"]
    ours = {row["document"]: row["strength"] for row in query["documents"]}
    won = [(a, b) if preferred == "a" else (b, a) for a, b, preferred in found]
    theirs = choix.mm_pairwise(7, won, max_iter=100_000, tol=1e-12)
    for number, strength in enumerate(theirs - theirs.mean()):
        assert ours[f"d{number}"] == pytest.approx(strength, abs=1e-6)
    names = [(f"d{a}", f"d{b}", preferred) for a, b, preferred in found]
    winners = [evalica.Winner.X if p == "a" else evalica.Winner.Y for _, _, p in names]
    xs, ys = [a for a, _, _ in names], [b for _, b, _ in names]
    scores = evalica.bradley_terry(xs, ys, winners, tolerance=1e-12, limit=100_000).scores
    logs = np.log(scores)
    for name, strength in (logs - logs.mean()).items():
        assert ours[name] == pytest.approx(strength, abs=1e-4)


def test_kappa_and_the_first_place_are_those_of_other_libraries(tmp_path):
    """Every pair is counted in both directions: which of the documents is named first is arbitrary."""
    random = np.random.default_rng(5)
    names = ["a", "b", "tie"]
    pairs = [(n, n + 100) for n in range(60)]
    one = [(a, b, names[random.integers(3)]) for a, b in pairs]
    other = [(a, b, p if random.random() < 0.6 else names[random.integers(3)]) for a, b, p in one]
    write_judgements(tmp_path / "one", one, "one")
    write_judgements(tmp_path / "other", other, "other")
    result = document("judge", "check", tmp_path / "one", tmp_path / "other")
    swapped = {"a": "b", "b": "a", "tie": "tie"}
    both = lambda found: [p for _, _, p in found] + [swapped[p] for _, _, p in found]
    (agreement,) = result["agreements"]
    assert agreement["kappa"] == pytest.approx(cohen_kappa_score(both(one), both(other)), abs=1e-12)
    wins = Counter(p for _, _, p in one + other)
    expected = binomtest(wins["a"], wins["a"] + wins["b"]).pvalue
    assert result["first_p"] == pytest.approx(expected, abs=1e-12)
