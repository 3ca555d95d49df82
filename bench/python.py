"""The Python package: fit beside the command, scoring one document, and arrays beside NumPy's own conversion.

`cargo xtask bench python` builds command and module in release mode; every number is the best of several runs.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))
import rankwright as rw  # noqa: E402


def best(repeats: int, work) -> float:
    """The shortest time of several runs, in seconds."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def fit(queries: int, trees: int, repeats: int) -> None:
    """Training of the same data by the command and by `fit`."""
    data = rw.generate(queries=queries, documents=120, seed=1)
    spec = f"lambdamart(trees={trees}, leaves=31)"
    with tempfile.TemporaryDirectory() as folder:
        path, model = Path(folder) / "train.rwd", Path(folder) / "m.model"
        data.save(path)

        def command() -> float:
            words = [os.environ["RANKWRIGHT_BIN"], "train", path, "--learner", spec, "--out", model, "--json", "--quiet"]
            done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=True)
            seconds = json.loads(done.stdout)["seconds"]
            return seconds["bin"] + seconds["train"]

        ranker = rw.LambdaMART(trees=trees, leaves=31)
        X, y, qid = data.X, data.y, data.qid
        by_command, by_fit, whole = [], [], []
        # One after the other, so that a slow moment of the machine affects both.
        for _ in range(repeats):
            by_command.append(command())
            start = time.perf_counter()
            ranker.fit(X, y, qid=qid)
            whole.append(time.perf_counter() - start)
            by_fit.append(ranker.history_["bin_seconds"] + ranker.history_["train_seconds"])
        same = ranker.model_.to_bytes() == model.read_bytes()
    print(f"fit, {len(y)} x {X.shape[1]}, {trees} trees of 31 leaves, best of {repeats}; the same bytes: {same}")
    print(f"  command, bins and trees   {min(by_command):8.3f} s")
    print(f"  fit, bins and trees       {min(by_fit):8.3f} s  {100 * (min(by_fit) / min(by_command) - 1):+.1f} %")
    print(f"  fit, the whole call       {min(whole):8.3f} s  {100 * (min(whole) / min(by_command) - 1):+.1f} %")


def one_document() -> None:
    """The time of one call that scores one document."""
    data = rw.generate(queries=60, documents=40, seed=1)
    ranker = rw.LambdaMART(trees=100, leaves=31).fit(data)
    row = np.ascontiguousarray(data.X[:1])
    calls = 5000
    print(f"predict one document, 100 trees of 31 leaves, mean of {calls} calls, best of 5")
    for name, predict in (("Model.predict", ranker.model_.predict), ("LambdaMART.predict", ranker.predict)):
        seconds = best(5, lambda: [predict(row) for _ in range(calls)]) / calls
        print(f"  {name:<20} {1e6 * seconds:8.2f} us")
    native, empty = ranker.model_._native, np.zeros((1, data.shape[1]), dtype=np.float32)
    seconds = best(5, lambda: [native.score_small(empty) for _ in range(calls)]) / calls
    print(f"  {'native module alone':<20} {1e6 * seconds:8.2f} us")


def arrays(rows: int, columns: int, repeats: int) -> None:
    """Arrays that are no C-contiguous float32 array, beside NumPy's own conversion."""
    random = np.random.default_rng(1)
    wide = random.normal(size=(rows, columns))
    qid = np.repeat(np.arange(rows // 100), 100)
    y = np.zeros(rows)
    print(f"arrays of {rows} x {columns}, best of {repeats}: NumPy's conversion to float32 rows, and the whole of rw.Dataset")
    forms = {
        "float64": wide,
        "float64, Fortran order": np.asfortranarray(wide),
        "float32, Fortran order": np.asfortranarray(wide.astype(np.float32)),
        "float32, C order (shared)": wide.astype(np.float32),
    }
    for name, X in forms.items():
        theirs = best(repeats, lambda: np.ascontiguousarray(X, dtype=np.float32))
        ours = best(repeats, lambda: rw._native.Dataset.from_array(X, {}))
        whole = best(repeats, lambda: rw.Dataset(X, y, qid=qid))
        print(f"  {name:<26} NumPy {theirs:7.3f} s   features {ours:7.3f} s ({theirs / ours:5.1f} times)   Dataset {whole:7.3f} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=500)
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--columns", type=int, default=136)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    arrays(options.rows, options.columns, options.repeats)
    one_document()
    fit(options.queries, options.trees, options.repeats)


if __name__ == "__main__":
    main()
