"""Shared by the training comparisons: their data, and one measured training by each system.

The data are generated, with the number of features and documents of MSLR; two seeds are two samples of
one distribution, so a model is tested on fresh queries of another seed. We read our binary cache, the peers
get a NumPy matrix from a file made once: no time for reading text is in the figures. A training is a
process of its own that prints `{"seconds": {"bin": .., "train": ..}, "peak_rss_bytes": ..}`, where the peak
is taken before anything is scored.

Settings that exist on both sides are equal; the rest are the peers' defaults. Hessian gain is
switched on for YDF, because all other systems split by it.
"""

import json
import subprocess
import sys
from dataclasses import dataclass

from _common import OUT, made_once, measure, program, timed, warm, worker

TREES = 100
RATE = 0.1
BINS = 255
TRUNCATION = 30
MIN_ROWS = 20
MIN_HESSIAN = 0.001
TEST_QUERIES = 2000
# Far from any seed that someone trains on.
TEST_SEED = 1_000_000


# --- the data ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Sample:
    """Generated queries in both forms; `text` exists only while the arrays are made of it."""

    queries: int
    seed: int

    @property
    def name(self):
        return f"generated-{self.queries}-{self.seed}"

    @property
    def cache(self):
        """Our form, generated directly: the same bits as the text has."""
        return made_once(OUT / f"{self.name}.rwd", lambda path: self.generate(path, "rwd"))

    @property
    def arrays(self):
        """The peers' form: the stem of NAME.features.npy, NAME.labels.npy, NAME.sizes.npy."""
        stem = OUT / self.name
        # The features come last, so that they are there only when everything is.
        made_once(OUT / f"{self.name}.features.npy", lambda path: self.make_arrays(stem, path))
        return stem

    def generate(self, path, form):
        words = ["data", "generate", "letor", "--queries", self.queries, "--seed", self.seed]
        run_ours(*words, "--to", form, "--out", path)

    def make_arrays(self, stem, features):
        text = OUT / f"{self.name}.txt"
        self.generate(text, "letor")
        try:
            measure(worker(__file__, "arrays", text, stem, features))
        finally:
            text.unlink()


def make_arrays(text, stem, features):
    import numpy as np

    import _letor

    matrix, labels, sizes = _letor.read([text])
    np.save(f"{stem}.labels.npy", labels)
    np.save(f"{stem}.sizes.npy", sizes)
    with open(features, "wb") as file:
        np.save(file, matrix)
    return {"rows": len(labels)}


def load(stem):
    import numpy as np

    return [np.load(f"{stem}.{part}.npy") for part in ("features", "labels", "sizes")]


# --- peers: each bins, trains and returns (seconds to bin or None, seconds to train, scorer) -----


def with_lightgbm(stem, leaves, threads, more=None):
    import lightgbm

    features, labels, sizes = load(stem)
    shared = {"max_bin": BINS, "num_threads": threads, "verbose": -1}
    data = lightgbm.Dataset(features, labels, group=sizes, params=shared)
    binning, _ = timed(data.construct)
    del features  # the last owner: trees grow without the raw values in memory
    params = shared | {
        "objective": "lambdarank",
        "lambdarank_truncation_level": TRUNCATION,
        "num_leaves": leaves,
        "learning_rate": RATE,
        "min_data_in_leaf": MIN_ROWS,
        "min_sum_hessian_in_leaf": MIN_HESSIAN,
        "lambda_l2": 0.0,
    } | (more or {})
    training, model = timed(lambda: lightgbm.train(params, data, TREES))
    return binning, training, model.predict


def with_half_of_lightgbm(stem, leaves, threads):
    """Half of the queries for each tree."""
    half = {"bagging_fraction": 0.5, "bagging_freq": 1, "bagging_by_query": True}
    return with_lightgbm(stem, leaves, threads, half)


def like_xgboost(leaves, threads):
    """The settings of the comparison, as XGBoost and hessboost name them."""
    return {
        "objective": "rank:ndcg",
        "lambdarank_num_pair_per_sample": TRUNCATION,
        "tree_method": "hist",
        "grow_policy": "lossguide",
        "max_leaves": leaves,
        "max_depth": 0,
        "max_bin": BINS,
        "eta": RATE,
        "min_child_weight": MIN_HESSIAN,
        "lambda": 0.0,
        "nthread": threads,
    }


def with_xgboost(stem, leaves, threads):
    import xgboost

    features, labels, sizes = load(stem)

    options = {"group": sizes, "max_bin": BINS, "nthread": threads}
    binning, data = timed(lambda: xgboost.QuantileDMatrix(features, labels, **options))
    features = None  # trees grow without the raw values in memory
    pairs = {"lambdarank_pair_method": "topk", "ndcg_exp_gain": True}
    params = like_xgboost(leaves, threads) | pairs
    training, model = timed(lambda: xgboost.train(params, data, TREES))
    return binning, training, model.inplace_predict


def with_hessboost(stem, leaves, threads):
    """Its matrix keeps the values; bins are made in training."""
    import hessboost

    features, labels, sizes = load(stem)
    data = hessboost.DMatrix(features, label=labels, group=sizes)
    params = like_xgboost(leaves, threads)
    training, model = timed(lambda: hessboost.train(params, data, TREES))
    return None, training, model.predict


def with_ydf(stem, leaves, threads):
    import ydf

    import _letor

    features, labels, sizes = load(stem)
    ydf.verbose(0)
    learner = ydf.GradientBoostedTreesLearner(
        label="label",
        task=ydf.Task.RANKING,
        ranking_group="query",
        loss="LAMBDA_MART_NDCG",
        ndcg_truncation=TRUNCATION,
        use_hessian_gain=True,
        growing_strategy="BEST_FIRST_GLOBAL",
        # Nodes that may be split or not: the leaves of the finished tree.
        max_num_nodes=leaves,
        max_depth=-1,
        min_examples=MIN_ROWS,
        discretize_numerical_columns=True,
        num_discretized_numerical_bins=BINS,
        num_trees=TREES,
        shrinkage=RATE,
        early_stopping="NONE",
        validation_ratio=0.0,
        num_threads=threads,
    )
    data = {"f": features, "label": labels, "query": _letor.query_numbers(sizes)}
    training, model = timed(lambda: learner.train(data))
    return None, training, lambda rows: model.predict({"f": rows})


def with_catboost(stem, leaves, threads):
    """YetiRank, a loss of CatBoost alone; it is trained only if it is asked for."""
    import catboost

    import _letor

    features, labels, sizes = load(stem)
    data = catboost.Pool(features, labels, group_id=_letor.query_numbers(sizes))
    binning, _ = timed(lambda: data.quantize(border_count=BINS - 1))
    model = catboost.CatBoost(
        {
            "loss_function": "YetiRank",
            "grow_policy": "Lossguide",
            "max_leaves": leaves,
            "depth": 16,
            "min_data_in_leaf": MIN_ROWS,
            "iterations": TREES,
            "learning_rate": RATE,
            "thread_count": threads,
            "allow_writing_files": False,
            "verbose": False,
        }
    )
    training, _ = timed(lambda: model.fit(data))
    return binning, training, model.predict


PEERS = {
    "lightgbm": with_lightgbm,
    "lightgbm-half": with_half_of_lightgbm,
    "xgboost": with_xgboost,
    "hessboost": with_hessboost,
    "ydf": with_ydf,
    "catboost": with_catboost,
}
LABELS = {
    "ours": "**Rankwright** lambdamart",
    "ours-half": "**Rankwright**, half of the queries a tree",
    "lightgbm": "LightGBM lambdarank",
    "lightgbm-half": "LightGBM, half of the queries a tree",
    "xgboost": "XGBoost rank:ndcg",
    "hessboost": "hessboost rank:ndcg",
    "ydf": "YDF LAMBDA_MART_NDCG",
    "catboost": "CatBoost YetiRank",
}


def peak_rss():
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak * (1 if sys.platform == "darwin" else 1024)


def train_peer(name, stem, leaves, threads, test, scores):
    """The worker: trains, then scores the test sample where one is given (`-` is none)."""
    import importlib

    importlib.import_module(name.removesuffix("-half"))
    idle = peak_rss()
    binning, training, predict = PEERS[name](stem, int(leaves), int(threads))
    peak = peak_rss()
    if test != "-":
        import numpy as np

        np.savetxt(scores, np.asarray(predict(load(test)[0]), float).ravel(), fmt="%.17g")
    seconds = {"bin": binning, "train": training}
    return {"seconds": seconds, "peak_rss_bytes": peak, "idle_rss_bytes": idle}


# --- one training --------------------------------------------------------------------------------


@dataclass
class Training:
    """Seconds and bytes of one training; `bin` is None where binning is part of `train`."""

    bin: float | None
    train: float
    # Peak memory in bytes.
    peak: int
    # Bytes that the process held before it read any data; 0 for ours.
    idle: int
    # NDCG@10 on the test sample, None where there was none.
    ndcg: float | None = None


def is_ours(system):
    return system.startswith("ours")


def our_spec(system, leaves):
    settings = {
        "trees": TREES,
        "leaves": leaves,
        "rate": RATE,
        "bins": BINS,
        "truncation": TRUNCATION,
        "min_rows": MIN_ROWS,
        "min_hessian": MIN_HESSIAN,
        "l2": 0,
    }
    if system == "ours-half":
        settings["sample_queries"] = 0.5
    return f"lambdamart({', '.join(f'{key}={value}' for key, value in settings.items())})"


def train(system, sample, leaves, threads, test=None):
    """Trains one system on a sample in a fresh process, and tests it where a test is given."""
    label = f"{system}, {leaves} leaves, {threads} threads, {sample.name}"
    scores = OUT / f"training-{system}.scores"
    if is_ours(system):
        result = train_ours(system, sample, leaves, threads, test, scores)
    else:
        warm(f"{sample.arrays}.features.npy")
        tested = test.arrays if test else "-"
        words = [system, sample.arrays, leaves, threads, tested, scores]
        result = measure(worker(__file__, *words))
    seconds = result.output["seconds"]
    idle = result.output.get("idle_rss_bytes", 0)
    # A peer's process scores after the training, so it measures the peak of the training itself.
    peak = result.peak if is_ours(system) else result.output["peak_rss_bytes"]
    training = Training(seconds["bin"], seconds["train"], peak, idle)
    if test:
        training.ndcg = evaluate(scores, test)
    binning = "" if training.bin is None else f"bins {training.bin:.2f} s, "
    print(f"  {label}: {binning}trees {training.train:.2f} s", file=sys.stderr)
    return training


def train_ours(system, sample, leaves, threads, test, scores):
    warm(sample.cache)
    model = OUT / "training.model"
    words = ["train", sample.cache, "--learner", our_spec(system, leaves), "--out", model]
    options = ["--threads", threads, "--json", "--quiet"]
    result = measure([program("RANKWRIGHT_BIN", "rankwright"), *map(str, [*words, *options])])
    if test:
        run_ours("score", model, test.cache, "--out", scores)
    return result


def evaluate(scores, test):
    """NDCG by Rankwright's evaluator, for all systems."""
    words = ["eval", "--scores", scores, test.cache, "--metric", "ndcg@10", "--json"]
    return json.loads(run_ours(*words))["metrics"][0]["value"]


def run_ours(*words):
    command = [program("RANKWRIGHT_BIN", "rankwright"), *map(str, words), "--quiet"]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout


def check_systems(names):
    known = ["ours", "ours-half", *PEERS]
    for name in names:
        if name not in known:
            sys.exit(f"no system `{name}`; there are: {', '.join(known)}")
    return names


if __name__ == "__main__":
    _, kind, *rest = sys.argv[1:]
    print(json.dumps(make_arrays(*rest) if kind == "arrays" else train_peer(kind, *rest)))
