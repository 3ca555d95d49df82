"""Scoring on one thread: ours beside LightGBM, lleaves, tl2cgen and onnxruntime on the same trees.

Models of several sizes are trained once by LightGBM on generated data and kept. Everyone scores the
same trees: we and lleaves read LightGBM's file, tl2cgen compiles what treelite reads of it, and
onnxruntime runs what `rankwright model convert` writes. Batch is a pass over the documents of the
test queries; a list is one query of 120 documents, and one document is a list of 1. Peers are called
through their Python packages with one thread, their arrays ready; ours is called from Rust. Every
system's scores are held against LightGBM's.
"""

import argparse
import json
import sys
import time
from pathlib import Path

from _common import OUT, markdown, measure, program, verdict, worker
from _training import TEST_QUERIES, TEST_SEED, Sample, load, run_ours

TRAIN = Sample(2000, 5)
TEST = Sample(TEST_QUERIES, TEST_SEED + 1)
SHAPES = [(trees, leaves) for trees in (100, 500, 1000) for leaves in (31, 64, 255)]
PEERS = ("lightgbm", "lleaves", "tl2cgen", "onnxruntime")
LABELS = {"ours": "**Rankwright**", "lightgbm": "LightGBM"}
# Documents of a pass, and lists: enough to be steady, few enough for the slowest.
BATCH, LISTS = 20_000, 300
TARGET, TARGET_ONE, TARGET_LOAD = 4.0, 2.0, 50.0


def model_file(trees, leaves):
    path = OUT / f"score-{trees}x{leaves}.lightgbm.txt"
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
        model.save_model(str(OUT / f"score-{count}x{leaves}.lightgbm.txt"), num_iteration=count)
    return {}


def lightgbm_scorer(path, _folder):
    import lightgbm

    model = lightgbm.Booster(model_file=str(path), params={"num_threads": 1})
    return lambda rows: model.predict(rows, num_threads=1, raw_score=True)


def lleaves_scorer(path, folder):
    import lleaves

    model = lleaves.Model(model_file=str(path))
    model.compile(cache=folder / f"{path.stem}.lleaves")
    return lambda rows: model.predict(rows, n_jobs=1)


def tl2cgen_scorer(path, folder):
    import tl2cgen
    import treelite

    library = folder / f"{path.stem}.tl2cgen.so"
    if not library.exists():
        model = treelite.frontend.load_lightgbm_model(path)
        tl2cgen.export_lib(model, "gcc", library, params={"parallel_comp": 8}, nthreads=2)
    predictor = tl2cgen.Predictor(library, nthread=1)
    return lambda rows: predictor.predict(tl2cgen.DMatrix(rows), pred_margin=True)


def onnxruntime_scorer(path, folder):
    import onnxruntime

    file = folder / f"{path.stem}.onnx"
    run_ours("model", "convert", path, "--to", "onnx", "--out", file)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(file), options, ["CPUExecutionProvider"])
    name = session.get_inputs()[0].name
    return lambda rows: session.run(None, {name: rows})[0]


SCORERS = {
    "lightgbm": lightgbm_scorer,
    "lleaves": lleaves_scorer,
    "tl2cgen": tl2cgen_scorer,
    "onnxruntime": onnxruntime_scorer,
}


def score_peer(name, path, stem):
    import numpy as np

    started = time.perf_counter()
    predict = SCORERS[name](Path(path), OUT)
    ready = time.perf_counter() - started
    features = np.ascontiguousarray(load(stem)[0][:BATCH], np.float32)
    if name in ("lightgbm", "lleaves"):
        features = features.astype(np.float64)
    scores = np.asarray(predict(features), float).ravel()
    expected = np.asarray(lightgbm_scorer(Path(path), None)(features), float).ravel()
    difference = float(np.max(np.abs(scores - expected)))
    result = {"ready_s": ready, "difference": difference}
    passes = [timed_once(predict, features) for _ in range(2)]
    result["batch_us"] = min(passes) * 1e6 / len(features)
    for length in (120, 1):
        lists = [features[at : at + length] for at in range(0, length * LISTS, length)]
        predict(lists[0])
        times = sorted(timed_once(predict, rows) * 1e6 for rows in lists)
        result[f"list_{length}"] = [times[len(times) // 2], times[int(len(times) * 0.99)]]
    return result


def timed_once(predict, rows):
    started = time.perf_counter()
    predict(rows)
    return time.perf_counter() - started


# --- the comparison ------------------------------------------------------------------------------


def compare(options):
    test = TEST.cache
    for trees, leaves in options.shapes:
        path = model_file(trees, leaves)
        own = OUT / f"score-{trees}x{leaves}.model"
        # LightGBM numbers columns from 0, our data from 1.
        run_ours("model", "convert", path, "--out", own, "--first-feature", "1")
        command = [program("RANKWRIGHT_SCORE_BENCH", "score-bench"), str(own), str(test)]
        runs = [measure(command).output for _ in range(options.repeats)]
        ours = {key: min(run[key] for run in runs) for key in runs[0] if key != "engine"}
        peers = {}
        for name in options.peers:
            peers[name] = measure(worker(__file__, "score", name, path, TEST.arrays)).output
            print(f"  {trees} x {leaves}, {name}: {peers[name]}", file=sys.stderr)
        report(trees, leaves, ours, peers, runs[0]["engine"])


def report(trees, leaves, ours, peers, engine):
    print(f"\n{trees} trees of {leaves} leaves ({engine})\n")
    header = ["system", "batch us a document", "120 documents us (p99)", "1 document us (p99)"]
    rows = []
    for name, found in {"ours": ours, **peers}.items():
        lists = ["{:.1f} ({:.1f})".format(*found[f"list_{length}"]) for length in (120, 1)]
        rows.append([LABELS.get(name, name), f"{found['batch_us']:.3f}", *lists])
    print(markdown(header, rows))
    if not peers:
        return
    best = {key: min(peer[key] for peer in peers.values()) for key in ("batch_us",)}
    ratio = best["batch_us"] / ours["batch_us"]
    print()
    verdict(f"batch at least {TARGET:g} times the best peer ({ratio:.1f})", ratio >= TARGET, True)
    for length, wanted in ((120, TARGET), (1, TARGET_ONE)):
        ratio = min(peer[f"list_{length}"][0] for peer in peers.values()) / ours[f"list_{length}"][0]
        claim = f"{length} documents at least {wanted:g} times the best peer ({ratio:.1f})"
        verdict(claim, ratio >= wanted, True)
    ready = ours["load_ms"] + ours["prepare_ms"]
    verdict(f"ready in {TARGET_LOAD:g} ms ({ready:.1f})", ready <= TARGET_LOAD, True)
    worst = max(peer["difference"] for peer in peers.values())
    print(f"- largest difference of a peer's score to LightGBM's: {worst:.1e}")


def shape(text):
    trees, leaves = text.split("x")
    return int(trees), int(leaves)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    shapes = ",".join(f"{trees}x{leaves}" for trees, leaves in SHAPES)
    parser.add_argument("--shapes", default=shapes, help="like 500x64,1000x31")
    parser.add_argument("--peers", default=",".join(PEERS))
    parser.add_argument("--repeats", type=int, default=3, help="runs of ours")
    options = parser.parse_args()
    options.shapes = [shape(text) for text in options.shapes.split(",")]
    options.peers = [name for name in options.peers.split(",") if name]
    compare(options)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--worker"]:
        _, kind, *rest = sys.argv[1:]
        print(json.dumps(train_models(*rest) if kind == "train" else score_peer(*rest)))
    else:
        main()
