"""Threads, signals, callbacks and processes around a training."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from conftest import make

import rankwright as rw

#: A training that takes minutes.
LONG = {"trees": 1_000_000, "leaves": 15, "min_rows": 1}


def test_ctrl_c_within_a_tree_raises_after_it_and_leaves_a_checkpoint_that_resumes_to_the_same_bytes(tmp_path):
    program = """
import os, signal, sys, threading
import numpy as np
import rankwright as rw
random = np.random.default_rng(0)
data = rw.Dataset(random.normal(size=(20_000, 20)), random.integers(3, size=20_000), qid=np.repeat(np.arange(400), 50))
ranker = rw.LambdaMART(trees=12, leaves=400, min_rows=1, sample_features=0.7)
seen = []
def interrupt(one):
    seen.append(one.number)
    if one.number == 4:
        # While the fifth tree grows.
        threading.Timer(0.01, os.kill, [os.getpid(), signal.SIGINT]).start()
try:
    ranker.fit(data, checkpoint=sys.argv[1], callbacks=[interrupt])
except KeyboardInterrupt:
    print("interrupted", 4 <= seen[-1] < 12)
resumed = []
ranker.fit(data, checkpoint=sys.argv[1], callbacks=[lambda one: resumed.append(one.number)])
# The callback is not called for the tree that was growing when the signal came.
print("resumed", seen[-1] < resumed[0] <= seen[-1] + 2, resumed[-1])
print("same", rw.LambdaMART(trees=12, leaves=400, min_rows=1, sample_features=0.7).fit(data).model_ == ranker.model_)
"""
    done = subprocess.run([sys.executable, "-c", program, tmp_path / "c"], capture_output=True, text=True, timeout=120)
    assert done.stdout == "interrupted True\nresumed True 12\nsame True\n", done.stdout + done.stderr


def test_a_resumed_training_gives_the_same_bytes(tmp_path):
    rows = make(queries=40)
    ranker = rw.LambdaMART(trees=30, leaves=7, min_rows=1, sample_queries=0.5)
    whole = ranker.fit(rows.X, rows.y, qid=rows.qid).model_

    class Stop(Exception):
        pass

    def stop(one):
        if one.number == 11:
            raise Stop("enough")

    with pytest.raises(Stop, match="enough"):
        ranker.fit(rows.X, rows.y, qid=rows.qid, checkpoint=tmp_path, callbacks=[stop])
    seen = []
    resumed = ranker.fit(rows.X, rows.y, qid=rows.qid, checkpoint=rw.Checkpoint(tmp_path, every_rounds=5), callbacks=[seen.append])
    assert resumed.model_ == whole
    assert seen[0].number == 12 and seen[-1].number == 30


def test_a_callback_sees_every_round_and_can_stop():
    rows, other = make(), make(seed=2)
    seen = []

    def stop(one):
        seen.append(one)
        return one.number == 7

    fitted = rw.LambdaMART(**LONG).fit(rows.X, rows.y, qid=rows.qid, eval_set=[(other.X, other.y, other.qid)], callbacks=[stop])
    assert [one.number for one in seen] == list(range(1, 8))
    assert seen[-1].unit == "tree" and 0 < seen[-1].values["valid"]["ndcg@10"] <= 1
    assert len(fitted.history_.values("ndcg@10")) == 7
    assert fitted.history_.to_pandas()["valid ndcg@10"].tolist() == [one.values["valid"]["ndcg@10"] for one in seen]


def test_other_threads_run_while_a_training_does():
    rows = make()
    counted = []
    running = threading.Event()

    def count():
        while not running.is_set():
            counted.append(1)
            time.sleep(0.001)

    other = threading.Thread(target=count)
    other.start()
    start = time.monotonic()
    rw.LambdaMART(trees=400, leaves=31, min_rows=1).fit(rows.X, rows.y, qid=rows.qid)
    seconds = time.monotonic() - start
    running.set()
    other.join()
    assert len(counted) > 20 * seconds, (len(counted), seconds)


def test_two_trainings_at_once_give_the_same_bytes():
    rows = make()
    ranker = rw.LambdaMART(trees=40, leaves=7, min_rows=1)
    expected = ranker.fit(rows.X, rows.y, qid=rows.qid).model_.to_bytes()
    found = []

    def train():
        one = rw.LambdaMART(trees=40, leaves=7, min_rows=1)
        found.append(one.fit(rows.X, rows.y, qid=rows.qid).model_.to_bytes())

    threads = [threading.Thread(target=train) for _ in range(4)]
    [one.start() for one in threads]
    [one.join() for one in threads]
    assert found == [expected] * 4


def _fit_in_child(queue):
    rows = make()
    ranker = rw.LambdaMART(trees=5, leaves=7, min_rows=1).fit(rows.X, rows.y, qid=rows.qid)
    queue.put(ranker.model_.sha256)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_process_can_train_after_its_parent_has():
    context = multiprocessing.get_context("fork")
    rows = make()
    expected = rw.LambdaMART(trees=5, leaves=7, min_rows=1).fit(rows.X, rows.y, qid=rows.qid).model_.sha256
    queue = context.Queue()
    child = context.Process(target=_fit_in_child, args=(queue,))
    child.start()
    assert queue.get(timeout=60) == expected
    child.join(10)
    assert child.exitcode == 0


def test_a_limit_of_joblib_is_respected(monkeypatch):
    from rankwright._threads import thread_count

    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert thread_count(None) == 3 and thread_count(2) == 2 and thread_count(-1) == os.cpu_count()
    monkeypatch.delenv("OMP_NUM_THREADS")
    assert thread_count(None) == 0
    with pytest.raises(ValueError, match="n_jobs is 0"):
        thread_count(0)


def _threads_of_a_worker():
    from rankwright._threads import thread_count

    rows = make()
    rw.LambdaMART(trees=2).fit(rows.X, rows.y, qid=rows.qid)
    names = [open(f"/proc/self/task/{one}/comm").read() for one in os.listdir("/proc/self/task")]
    return thread_count(None), sum(name.startswith("rankwright-") for name in names)


@pytest.mark.skipif(not os.path.exists("/proc/self/task"), reason="threads are counted in /proc")
def test_workers_of_joblib_start_as_many_threads_as_joblib_allows():
    import joblib

    with joblib.parallel_config(backend="loky", inner_max_num_threads=1):
        found = joblib.Parallel(n_jobs=2)(joblib.delayed(_threads_of_a_worker)() for _ in range(2))
    assert found == [(1, 1), (1, 1)]


def test_an_exception_of_a_callback_is_the_exception_of_fit():
    rows = make()

    def fail(one):
        raise KeyError("my own")

    with pytest.raises(KeyError, match="my own"):
        rw.LambdaMART(**LONG).fit(rows.X, rows.y, qid=rows.qid, callbacks=[fail])


@pytest.mark.parametrize("long", [False, True])
def test_a_panic_of_the_library_is_an_exception(long, capfd):
    from rankwright import _native

    with pytest.raises(rw.errors.Panic, match="this is a bug in rankwright: half a row"):
        _native.panic_for_tests("half a row", long)
    rows = make()
    assert rw.LambdaMART(trees=2).fit(rows.X, rows.y, qid=rows.qid).model_.learner


def test_import_needs_neither_scikit_learn_nor_pandas(tmp_path):
    for name in ("sklearn", "pandas", "polars", "scipy"):
        (tmp_path / f"{name}.py").write_text("raise ImportError('not installed')\n")
    program = """
import numpy as np, rankwright as rw
ranker = rw.LambdaMART(trees=3, min_rows=1).fit(np.arange(12.0).reshape(6, 2), [0, 1, 2] * 2, qid=[1, 1, 1, 2, 2, 2])
assert ranker.set_params(trees=4).get_params()["trees"] == 4
print(type(ranker.rank(np.zeros((2, 2)))).__name__, ranker.score(np.arange(12.0).reshape(6, 2), [0, 1, 2] * 2, qid=[1, 1, 1, 2, 2, 2]))
"""
    paths = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": paths})
    assert done.stdout.startswith("dict "), done.stderr


def test_progress_is_shown_on_request(capsys, monkeypatch):
    from rankwright import _training

    monkeypatch.setattr(_training.ProgressLine, "DELAY", 0.0)
    monkeypatch.setattr(_training, "_tqdm", lambda *words: False)
    rows = make()
    rw.LambdaMART(trees=3, min_rows=1).fit(rows.X, rows.y, qid=rows.qid, progress=True)
    assert "lambdamart: tree 3 of 3" in capsys.readouterr().err
    rw.LambdaMART(trees=3, min_rows=1).fit(rows.X, rows.y, qid=rows.qid)
    assert capsys.readouterr().err == ""
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler and np.isfinite(rows.X).all()
