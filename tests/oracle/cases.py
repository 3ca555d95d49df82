"""Random input with all cases that evaluators treat differently, and files made of it.

Many small cases go into one file as its queries, because starting a process costs more than
evaluating a thousand queries.
"""

from dataclasses import dataclass

import numpy as np

SCORE_KINDS = ("distinct", "coarse", "equal", "below f32", "wide", "signed zero")


def random_scores(rng, kind, n):
    """Scores of one list. `below f32` are different numbers that f32 cannot tell apart."""
    if kind == "distinct":
        return rng.permutation(n) - n / 2.0
    if kind == "coarse":
        return rng.integers(-2, 3, n).astype(float)
    if kind == "equal":
        return np.full(n, rng.normal())
    if kind == "below f32":
        return 100.0 + rng.integers(0, 3, n) + rng.integers(0, 4, n) * 1e-9
    if kind == "wide":
        sizes = [-1e30, -1.0, -1e-60, 1e-60, 1e-40, 1e-3, 3e38]
        return rng.choice(sizes, n)
    if kind == "signed zero":
        return rng.choice([0.0, -0.0, 1.0], n)
    raise ValueError(kind)


# --- runs and judgements -------------------------------------------------------------------


@dataclass
class RunCase:
    """A run `{query: {document: score}}` and judgements `{query: {document: label}}`."""

    run: dict
    qrels: dict

    def save(self, folder, rng):
        """Writes both, lines in random order; the rank column is nonsense on purpose, because
        the order is decided by scores. Returns the arguments for the command."""
        run, qrels = folder / "some.run", folder / "some.qrels"
        lines = [
            f"{q} Q0 {d} {rng.integers(1, 99)} {float(s)!r} tag\n"
            for q, docs in self.run.items()
            for d, s in docs.items()
        ]
        write_shuffled(run, lines, rng)
        lines = [f"{q} 0 {d} {l}\n" for q, docs in self.qrels.items() for d, l in docs.items()]
        write_shuffled(qrels, lines, rng)
        return "--run", run, "--qrels", qrels


def write_shuffled(path, lines, rng):
    rng.shuffle(lines)
    path.write_text("".join(lines), encoding="utf-8")


def document_names(n):
    """Names whose order is not that of their numbers: numbers of one and two digits, lower and upper case, a
    letter beyond ASCII."""
    prefixes = ("d", "D", "doc-", "é")
    return [f"{prefixes[i % len(prefixes)]}{i}" for i in range(n)]


def random_run_case(rng, queries):
    """Retrieved and judged documents overlap in part. Some queries are only in the run, some
    only in the judgements, some have no relevant document."""
    run, qrels = {}, {}
    names = document_names(80)
    for i in range(queries):
        query = str(i + 1)
        where = rng.choice(["both", "run only", "qrels only"], p=[0.86, 0.07, 0.07])
        if where != "qrels only":
            docs = rng.choice(names, rng.integers(1, 61), replace=False)
            scores = random_scores(rng, rng.choice(SCORE_KINDS), len(docs))
            run[query] = dict(zip(docs.tolist(), scores.tolist()))
        if where != "run only":
            docs = rng.choice(names, rng.integers(1, 61), replace=False)
            qrels[query] = dict(zip(docs.tolist(), random_judgements(rng, len(docs))))
    return RunCase(run, qrels)


def random_judgements(rng, n):
    """Labels of one query, at least one of them not negative: trec_eval's C code reads outside of
    its memory (and pytrec_eval crashes) on a query with negative judgements only."""
    palettes = (
        [0, 1],
        [0, 1, 2, 3],
        [-1, 0, 1, 3],
        [-2, -1, 0, 1, 2],
        [0, 0, 0, 0, 3],
        [0],
        [-1, 0],
    )
    labels = rng.choice(palettes[rng.integers(len(palettes))], n).tolist()
    if max(labels) < 0:
        labels[0] = 0
    return labels


def tie_free_run_case(rng, queries, top_label):
    """Distinct scores, labels from 0 to `top_label`, numbers as query names: cases that gdeval and
    cwl_eval accept, and in which they do not break ties in their own way."""
    run, qrels = {}, {}
    names = document_names(80)
    for i in range(queries):
        query = str(i + 1)
        docs = rng.choice(names, rng.integers(1, 61), replace=False)
        if rng.random() < 0.93:
            run[query] = dict(
                zip(docs.tolist(), random_scores(rng, "distinct", len(docs)).tolist())
            )
        judged = rng.choice(names, rng.integers(1, 61), replace=False)
        top = 0 if rng.random() < 0.1 else top_label
        qrels[query] = dict(zip(judged.tolist(), rng.integers(0, top + 1, len(judged)).tolist()))
    return RunCase(run, qrels)


# --- feature data and score files ----------------------------------------------------------


@dataclass
class ListCase:
    """Labels and scores of each query, in row order."""

    labels: list
    scores: list

    def save(self, folder):
        """Writes data with one feature, and the scores. Returns the arguments for the command."""
        data, scores = folder / "data.txt", folder / "scores.txt"
        with open(data, "w") as out:
            for query, labels in enumerate(self.labels):
                out.writelines(f"{label:g} qid:q{query} 1:1\n" for label in labels)
        flat = np.concatenate(self.scores)
        scores.write_text("".join(f"{float(score)!r}\n" for score in flat))
        return "--scores", scores, data

    def per_query(self, metric):
        """`{query: metric(labels, scores)}`."""
        pairs = zip(self.labels, self.scores)
        return {f"q{i}": metric(labels, scores) for i, (labels, scores) in enumerate(pairs)}

    def sizes(self):
        return [len(labels) for labels in self.labels]


def random_list_case(rng, queries, kinds, palette, smallest=1):
    """Lists of `smallest` to 30 rows; every seventh query is blank (no relevant row) and every
    fifth sorted by label, which shows how ties are decided."""
    labels, scores = [], []
    for i in range(queries):
        n = int(rng.integers(smallest, 31))
        row = rng.choice(palette, n) * (i % 7 != 0)
        if i % 5 == 0:
            row = np.sort(row)[:: rng.choice([-1, 1])]
        labels.append(row)
        scores.append(random_scores(rng, rng.choice(kinds), n))
    return ListCase(labels, scores)
