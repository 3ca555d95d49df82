"""Scoring on one thread: Rankwright beside LightGBM, lleaves, tl2cgen and onnxruntime on the same trees.

Models of several sizes are trained once by LightGBM on generated data and stored. All systems score the
same trees: Rankwright and lleaves read LightGBM's file, tl2cgen compiles what treelite reads of it, and
onnxruntime runs what `rankwright model convert` writes. Batch is one call for 20,000 documents; a list is a
call for 120 documents or for one. The scores of every peer are compared with LightGBM's; ours are compared
in tests.

The second part compares XGBoost, YDF and CatBoost, each with a model of its own of a similar shape, with our
scorer on the same model where we can read it (`_own_models.py`).
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import _own_models
from _common import OUT, markdown, measure, verdict, worker
from _scoring import HEADER, TRAIN, Peer, cells, clock, clock_ours, test_rows
from _training import load, run_ours

SHAPES = [(trees, leaves) for trees in (100, 500, 1000) for leaves in (31, 64, 255)]
LABELS = {"ours": "**Rankwright**", "lightgbm": "LightGBM"}
# Goals: our speed divided by that of the best peer (batch and 120 documents; one document), and the milliseconds
# until our scorer is ready.
TARGET, TARGET_ONE, TARGET_LOAD = 4.0, 2.0, 50.0


def model_path(trees, leaves):
    return OUT / f"score-{trees}x{leaves}.lightgbm.txt"


def model_file(trees, leaves):
    path = model_path(trees, leaves)
    if not path.exists():
        words = [TRAIN.arrays, leaves, max(t for t, l in SHAPES if l == leaves)]
        print(f"  training {leaves} leaves (once)", file=sys.stderr)
        measure(worker(__file__, "train", *words))
    return path


# --- workers: LightGBM trains, peers score -------------------------------------------------------


def train_models(stem, leaves, trees):
    import lightgbm

    features, labels, sizes = load(stem)
    params = {"objective": "lambdarank", "num_leaves": int(leaves), "learning_rate": 0.05}
    data = lightgbm.Dataset(features, labels, group=sizes)
    model = lightgbm.train(params | {"verbose": -1}, data, int(trees))
    for count in sorted({t for t, l in SHAPES if l == int(leaves)}):
        model.save_model(str(model_path(count, leaves)), num_iteration=count)
    return {}


def lightgbm_peer(path):
    import lightgbm

    model = lightgbm.Booster(model_file=str(path), params={"num_threads": 1})
    return Peer(lambda rows: model.predict(rows, num_threads=1, raw_score=True))


def lleaves_peer(path):
    import lleaves

    model = lleaves.Model(model_file=str(path))
    model.compile(cache=compiled_path("lleaves", path))
    return Peer(lambda rows: model.predict(rows, n_jobs=1))


def tl2cgen_peer(path):
    import tl2cgen

    predictor = tl2cgen.Predictor(compiled_path("tl2cgen", path), nthread=1)
    return Peer(lambda rows: predictor.predict(rows, pred_margin=True), tl2cgen.DMatrix)


def onnxruntime_peer(path):
    import onnxruntime

    file = path.with_suffix(".onnx")
    run_ours("model", "convert", path, "--to", "onnx", "--out", file)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(file), options, ["CPUExecutionProvider"])
    name = session.get_inputs()[0].name
    return Peer(lambda rows: session.run(None, {name: rows})[0])


PEERS = {
    "lightgbm": lightgbm_peer,
    "lleaves": lleaves_peer,
    "tl2cgen": tl2cgen_peer,
    "onnxruntime": onnxruntime_peer,
}


def score_peer(name, path):
    import numpy as np

    path = Path(path)
    started = time.perf_counter()
    peer = PEERS[name](path)
    ready = time.perf_counter() - started
    # A peer with f64 thresholds would convert f32 values to f64 at every call.
    rows = test_rows("float32" if name == "onnxruntime" else "float64")
    scores = np.asarray(peer.predict(peer.prepare(rows)), float).ravel()
    expected = np.asarray(lightgbm_peer(path).predict(rows), float).ravel()
    difference = float(np.max(np.abs(scores - expected)))
    return {"ready_s": ready, "difference": difference} | clock(peer, rows)


# --- compiling, within a limit --------------------------------------------------------------------


def compiled_path(name, path):
    return OUT / f"{path.stem}.{name}.so"


def compile_lleaves(path, out):
    import lleaves

    lleaves.Model(model_file=str(path)).compile(cache=out)


def compile_tl2cgen(path, out):
    import tl2cgen
    import treelite

    model = treelite.frontend.load_lightgbm_model(path)
    # Into many files, as gcc takes more than twice as long for a file of twice the size.
    tl2cgen.export_lib(model, "gcc", out, params={"parallel_comp": max(8, model.num_tree // 10)})


COMPILERS = {"lleaves": compile_lleaves, "tl2cgen": compile_tl2cgen}


def compile_peer(name, path):
    path = Path(path)
    out = compiled_path(name, path)
    partial = out.with_name(f"part-{out.name}")
    partial.unlink(missing_ok=True)
    COMPILERS[name](path, partial)
    partial.replace(out)


def compiled(name, path, limit):
    """Compiles a peer's trees if that is not done yet; returns whether it finished within `limit` seconds. What
    took too long is noted in a file and only tried again with more time."""
    out = compiled_path(name, path)
    if name not in COMPILERS or out.exists():
        return True
    note = out.with_suffix(".gave-up")
    if note.exists() and float(note.read_text()) >= limit:
        return False
    print(f"  compiling {path.stem} with {name} (once)", file=sys.stderr)
    started = time.perf_counter()
    # A process group of its own, so that the compiler's child processes can be ended with it.
    process = subprocess.Popen(
        worker(__file__, "compile", name, path), stdout=subprocess.DEVNULL, start_new_session=True
    )
    try:
        status = process.wait(limit)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        note.write_text(str(limit))
        return False
    if status != 0:
        sys.exit(f"{name} could not compile {path.name}")
    # The seconds of compiling are in no table.
    out.with_suffix(".seconds").write_text(f"{time.perf_counter() - started:.1f}")
    return True


# --- the comparison on the same trees -------------------------------------------------------------


def compare(options):
    for trees, leaves in options.shapes:
        path = model_file(trees, leaves)
        ours = clock_ours(path, options.repeats)
        peers, left_out = {}, []
        for name in options.peers:
            if not compiled(name, path, options.compile_limit):
                left_out.append(name)
                continue
            peers[name] = measure(worker(__file__, "score", name, path)).output
            print(f"  {trees} x {leaves}, {name}: {peers[name]}", file=sys.stderr)
        print(f"\n{trees} trees of {leaves} leaves ({ours['engine']})\n")
        table(ours, peers, {name: options.compile_limit for name in left_out})
        if peers:
            judge(ours, peers)


def table(ours, peers, left_out):
    rows = [[LABELS.get(name, name), *cells(found)] for name, found in {"ours": ours, **peers}.items()]
    rows += [[name, f"not compiled in {limit:g} s", "", ""] for name, limit in left_out.items()]
    print(markdown(HEADER, rows))
    print()


def judge(ours, peers):
    best = {key: min(peer[key] for peer in peers.values()) for key in ("batch_us", "list_120", "list_1")}
    ratio = best["batch_us"] / ours["batch_us"]
    verdict(f"batch at least {TARGET:g} times the best peer ({ratio:.1f})", ratio >= TARGET)
    for length, goal in ((120, TARGET), (1, TARGET_ONE)):
        ratio = best[f"list_{length}"][0] / ours[f"list_{length}"][0]
        claim = f"{length} documents at least {goal:g} times the best peer ({ratio:.1f})"
        verdict(claim, ratio >= goal)
    ready = ours["load_ms"] + ours["prepare_ms"]
    verdict(f"ready in {TARGET_LOAD:g} ms ({ready:.1f})", ready <= TARGET_LOAD)
    worst = max(peer["difference"] for peer in peers.values())
    print(f"- largest difference of a peer's score to LightGBM's: {worst:.1e}")


def prepare(options):
    """Trains and compiles the models that do not exist yet, the smallest first."""
    for trees, leaves in sorted(options.shapes, key=lambda shape: shape[0] * shape[1]):
        path = model_file(trees, leaves)
        for name in options.peers:
            if not compiled(name, path, options.compile_limit):
                print(f"  {path.stem}, {name}: not compiled in {options.compile_limit:g} s", file=sys.stderr)


def shape(text):
    trees, leaves = text.split("x")
    return int(trees), int(leaves)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    shapes = ",".join(f"{trees}x{leaves}" for trees, leaves in SHAPES)
    parser.add_argument("--parts", default="same,own", help="the same trees, own models, or both")
    parser.add_argument("--shapes", default=shapes, help="of the same trees, like 500x64,1000x31")
    parser.add_argument("--peers", default=",".join(PEERS), help="on the same trees")
    parser.add_argument("--owners", default=",".join(_own_models.OWNERS), help="systems of the second part, each with a model of its own")
    parser.add_argument("--repeats", type=int, default=3, help="runs of ours")
    parser.add_argument("--compile-limit", type=float, default=1200, help="seconds for one peer's trees")
    parser.add_argument("--prepare", action="store_true", help="train and compile, and stop there")
    options = parser.parse_args()
    options.shapes = [shape(text) for text in options.shapes.split(",")]
    for name in ("parts", "peers", "owners"):
        setattr(options, name, [word for word in getattr(options, name).split(",") if word])
    return options


def main():
    options = arguments()
    if "same" in options.parts:
        prepare(options) if options.prepare else compare(options)
    if "own" in options.parts:
        _own_models.prepare(options) if options.prepare else _own_models.compare(options)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--worker"]:
        _, kind, *rest = sys.argv[1:]
        work = {"train": train_models, "score": score_peer, "compile": compile_peer}[kind]
        print(json.dumps(work(*rest)))
    else:
        main()
