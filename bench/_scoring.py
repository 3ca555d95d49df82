"""Shared by the scoring comparisons: calls a peer or Rankwright and measures the time.

A peer gets its arrays in the form that suits it best before the clock starts: the time to make a DMatrix
or a Pool is not counted. A peer is called through its Python package with one thread; Rankwright is called
from Rust.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

from _common import measure, program
from _training import TEST_QUERIES, TEST_SEED, Sample, load, run_ours

TRAIN = Sample(2000, 5)
TEST = Sample(TEST_QUERIES, TEST_SEED + 1)
# Documents of a batch, and number of timed lists of each length: enough for steady times, few enough for
# the slowest peer.
BATCH, LISTS = 20_000, 300
LENGTHS = (120, 1)


@dataclass
class Peer:
    """A peer that is ready to score."""

    predict: Callable
    # From a matrix to what `predict` takes.
    prepare: Callable = lambda rows: rows


def test_rows(kind="float32"):
    """The documents of the test queries that are scored."""
    import numpy as np

    return np.ascontiguousarray(load(TEST.arrays)[0][:BATCH], kind)


def clock(peer, rows):
    """`batch_us`: microseconds per document in batch; `list_N`: median and 99th percentile of the microseconds
    for a list of N documents."""
    whole = peer.prepare(rows)
    passes = [timed_once(peer.predict, whole) for _ in range(2)]
    result = {"batch_us": min(passes) * 1e6 / len(rows)}
    for length in LENGTHS:
        starts = [at * length % (len(rows) - length + 1) for at in range(LISTS)]
        lists = [peer.prepare(rows[at : at + length]) for at in starts]
        peer.predict(lists[0])
        times = sorted(timed_once(peer.predict, each) * 1e6 for each in lists)
        result[f"list_{length}"] = [times[len(times) // 2], times[int(len(times) * 0.99)]]
    return result


def timed_once(predict, rows):
    started = time.perf_counter()
    predict(rows)
    return time.perf_counter() - started


def clock_ours(path, repeats):
    """The times of `clock` for our scorer on a model file of any system, and the name of the scorer's engine.
    The best of some runs."""
    own = path.with_suffix(".model")
    # Models of other systems number columns from 0, our data from 1.
    run_ours("model", "convert", path, "--out", own, "--first-feature", "1")
    command = [program("RANKWRIGHT_SCORE_BENCH", "score-bench"), str(own), str(TEST.cache)]
    runs = [measure(command).output for _ in range(repeats)]
    return {key: min(run[key] for run in runs) for key in runs[0]}


def cells(found):
    """A row of a table: batch and lists."""
    lists = ["{:.1f} ({:.1f})".format(*found[f"list_{length}"]) for length in LENGTHS]
    return [f"{found['batch_us']:.3f}", *lists]


HEADER = ["system", "batch us a document", "120 documents us (p99)", "1 document us (p99)"]
