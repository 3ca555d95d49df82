"""The second part of `score.py`: XGBoost, YDF and CatBoost on models of their own.

These systems cannot read LightGBM's trees, so each trains 500 trees of a similar shape once: 31 and 64
leaves, CatBoost's oblivious trees of depth 5 and 6. What is compared is the time for trees of one size, not
how well they rank; so YDF and CatBoost learn the labels by squared error, which is quicker. Rankwright
scores XGBoost's and CatBoost's model, imported. YDF writes no format that others read: its table shows our
times on LightGBM's trees of that shape, and the number of splits of both. YDF's times are those of its own
C++ benchmark, with batches of 1000, 120 and 1 documents.
"""

import json
import sys

from _common import OUT, markdown, measure, verdict, worker
from _scoring import HEADER, LENGTHS, TRAIN, Peer, cells, clock, clock_ours, test_rows
from _training import like_xgboost, load

TREES, RATE = 500, 0.05
LEAVES = (31, 64)
# Goals: our speed divided by that of the peer, for trees whose nodes have splits of their own, and for
# CatBoost's oblivious trees.
TIMES_SPLIT_TREES, TIMES_OBLIVIOUS_TREES = 3.0, 1.0
# YDF's benchmark: seconds of a measurement, and documents of a batch.
YDF_SECONDS, YDF_BATCH = 2.0, 1000


# --- training ------------------------------------------------------------------------------------


def train_xgboost(leaves, path):
    import xgboost

    features, labels, sizes = load(TRAIN.arrays)
    data = xgboost.QuantileDMatrix(features, labels, group=sizes, max_bin=255)
    params = like_xgboost(leaves, 2) | {"eta": RATE}
    xgboost.train(params, data, TREES).save_model(path)


def train_ydf(leaves, path):
    import ydf

    features, labels, _ = load(TRAIN.arrays)
    learner = ydf.GradientBoostedTreesLearner(
        label="label",
        task=ydf.Task.REGRESSION,
        growing_strategy="BEST_FIRST_GLOBAL",
        # Nodes that may be split or not: the leaves of the finished tree.
        max_num_nodes=leaves,
        max_depth=-1,
        discretize_numerical_columns=True,
        num_trees=TREES,
        shrinkage=RATE,
        early_stopping="NONE",
        validation_ratio=0.0,
        num_threads=2,
    )
    learner.train({"f": features, "label": labels}, verbose=0).save(path)


def train_catboost(leaves, path):
    import catboost

    features, labels, _ = load(TRAIN.arrays)
    # The smallest depth with at least so many leaves.
    depth = (leaves - 1).bit_length()
    settings = {"iterations": TREES, "learning_rate": RATE, "depth": depth, "thread_count": 2}
    model = catboost.CatBoost(settings | {"loss_function": "RMSE", "allow_writing_files": False})
    model.fit(catboost.Pool(features, labels), verbose=False)
    model.save_model(path, format="json")


# --- scoring: each returns times by the name of a row ----------------------------------------------


def score_xgboost(path):
    import xgboost

    model = xgboost.Booster({"nthread": 1}, model_file=path)
    # `predict` on a DMatrix would keep its results, and give them back the second time.
    predict = lambda rows: model.inplace_predict(rows, predict_type="margin")
    return {"XGBoost, inplace_predict": clock(Peer(predict), test_rows())}


def score_catboost(path):
    import catboost

    model = catboost.CatBoost()
    model.load_model(path, format="json")
    predict = lambda pool: model.predict(pool, prediction_type="RawFormulaVal", thread_count=1)
    return {"CatBoost, Pool ready": clock(Peer(predict, catboost.Pool), test_rows())}


def score_ydf(path):
    import ydf

    ydf.verbose(0)
    model = ydf.load_model(path)
    rows = test_rows()
    per_document = lambda count: benchmark(model, rows, count)
    found = {"batch_us": per_document(YDF_BATCH), "splits": (model.num_nodes() - model.num_trees()) // 2}
    for length in LENGTHS:
        # The benchmark gives a mean: it stands for the median and for the 99th percentile.
        found[f"list_{length}"] = [per_document(length) * length] * 2
    return {f"YDF, C++ benchmark ({model.list_compatible_engines()[0]})": found}


def benchmark(model, rows, count):
    """Microseconds for a document, in batches of `count` documents."""
    options = {"batch_size": count, "num_threads": 1, "benchmark_duration": YDF_SECONDS}
    return model.benchmark({"f": rows}, **options).duration_per_example * 1e6


# For each system: the functions that train and score, the extension of its model file, and the goal, which
# is our speed divided by that of the system.
OWNERS = {
    "xgboost": (train_xgboost, score_xgboost, "json", TIMES_SPLIT_TREES),
    "catboost": (train_catboost, score_catboost, "json", TIMES_OBLIVIOUS_TREES),
    "ydf": (train_ydf, score_ydf, "ydf", TIMES_SPLIT_TREES),
}


# --- the comparison ------------------------------------------------------------------------------


def model_file(owner, leaves):
    path = OUT / f"own-{TREES}x{leaves}.{owner}.{OWNERS[owner][2]}"
    if not path.exists():
        print(f"  training {path.name} (once)", file=sys.stderr)
        partial = path.with_name(f"part-{path.name}")
        measure(worker(__file__, "train", owner, leaves, partial))
        partial.replace(path)
    return path


def prepare(options):
    for owner in options.owners:
        for leaves in LEAVES:
            model_file(owner, leaves)


def compare(options):
    for owner in options.owners:
        for leaves in LEAVES:
            path = model_file(owner, leaves)
            peers = measure(worker(__file__, "score", owner, path)).output
            is_imported = owner != "ydf"
            our_model = path if is_imported else OUT / f"score-{TREES}x{leaves}.lightgbm.txt"
            ours = clock_ours(our_model, options.repeats)
            what = "the same trees" if is_imported else "LightGBM's trees of that shape"
            print(f"\n{TREES} trees of {owner}, about {leaves} leaves; ours on {what}\n")
            rows = [["**Rankwright**", *cells(ours)]]
            rows += [[name, *cells(found)] for name, found in peers.items()]
            print(markdown(HEADER, rows))
            print()
            judge(owner, ours, peers, leaves)


def judge(owner, ours, peers, leaves):
    goal = OWNERS[owner][3]
    ratio = min(peer["batch_us"] for peer in peers.values()) / ours["batch_us"]
    verdict(f"batch at least {goal:g} times {owner} ({ratio:.1f})", ratio >= goal)
    ratio = min(peer["list_120"][0] for peer in peers.values()) / ours["list_120"][0]
    verdict(f"120 documents at least {goal:g} times {owner} ({ratio:.1f})", ratio >= goal)
    for peer in peers.values():
        if "splits" in peer:
            print(f"- splits: {TREES * (leaves - 1):,} at most in ours, {peer['splits']:,} in {owner}'s")


if __name__ == "__main__":
    _, kind, owner, *rest = sys.argv[1:]
    train, score, *_ = OWNERS[owner]
    if kind == "train":
        train(int(rest[0]), rest[1])
        print("{}")
    else:
        print(json.dumps(score(rest[0])))
