"""Trains the settings of one fold for `quality`: reads a request and writes score files.

A request names the library, the points (each is one setting of the parameters), the limits that all
share, the files of the fold and a folder. For point i the scores of the validation part are written to
valid-i.txt and those of the test part to test-i.txt in this folder, one number to a line; the answer is a
list of `{"trees": .., "seconds": ..}`. Only the training and validation parts are shown to a learner.
Everything runs on one thread.

The peers stop early by their own NDCG@10. It counts 1 for a query without a relevant document, which
changes all means alike; among equal scores it takes the order of the file where our evaluator takes
the worst order. The choice between points is by our evaluator for every system.
"""

import json
from importlib import metadata
from pathlib import Path

from _common import measure, program, timed

DISTRIBUTIONS = {
    "lightgbm": ["lightgbm"],
    "xgboost": ["xgboost", "xgboost-cpu"],
    "catboost": ["catboost"],
}


def library_version(library):
    for name in DISTRIBUTIONS[library]:
        try:
            return metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    raise SystemExit(f"{library} is not installed; run this as `cargo xtask bench quality`")


# --- ours ----------------------------------------------------------------------------------------


def fit_ours(request):
    return [fit_our_point(request, i, dict(point)) for i, point in enumerate(request["points"])]


def fit_our_point(request, number, point):
    binary, common = program("RANKWRIGHT_BIN", "rankwright"), request["common"]
    folder, files = Path(request["folder"]), request["files"]
    learner = point.pop("learner")
    # The members of a blend have limits of their own.
    limits = {} if learner == "blend" else {"trees": common["trees"], "stop": common["stop"]}
    settings = point | limits
    spec = f"{learner}({', '.join(f'{key}={value}' for key, value in settings.items())})"
    model = folder / f"model-{number}"
    words = ["train", *files["train"], "--valid", *files["valid"], "--learner", spec]
    words += ["--metric", common["metric"], "--seed", str(common["seed"]), "--out", str(model)]
    output = measure([binary, *words, "--threads", "1", "--json", "--quiet"]).output
    for role in ("valid", "test"):
        scores = str(folder / f"{role}-{number}.txt")
        measure([binary, "score", str(model), *files[role], "--out", scores, "--json", "--quiet"])
    return {"trees": len(output["iterations"]), "seconds": output["seconds"]["train"]}


# --- peers: each returns (trees kept, scorer) ----------------------------------------------------


class Part:
    """One role's files as arrays."""

    def __init__(self, files):
        import _letor

        self.features, self.labels, self.sizes = _letor.read(files)
        self.queries = _letor.query_numbers(self.sizes)


def fit_lightgbm(train, valid, point, common):
    import lightgbm

    params = point | {
        "metric": "ndcg",
        "eval_at": [10],
        "seed": common["seed"],
        "num_threads": 1,
        "deterministic": True,
        "verbose": -1,
    }
    # Parameters that LightGBM wants when it makes the data sets, too.
    shared = {"min_data_in_leaf": point["min_data_in_leaf"], "verbose": -1}
    data = lightgbm.Dataset(train.features, train.labels, group=train.sizes, params=shared)
    watched = lightgbm.Dataset(
        valid.features, valid.labels, group=valid.sizes, reference=data, params=shared
    )
    stop = lightgbm.early_stopping(common["stop"], verbose=False)
    model = lightgbm.train(params, data, common["trees"], valid_sets=[watched], callbacks=[stop])
    kept = model.best_iteration or common["trees"]
    return kept, lambda rows: model.predict(rows, num_iteration=kept)


def fit_xgboost(train, valid, point, common):
    import xgboost

    def matrix(part):
        return xgboost.DMatrix(part.features, part.labels, group=part.sizes, nthread=1)

    params = point | {"eval_metric": "ndcg@10", "seed": common["seed"], "nthread": 1}
    model = xgboost.train(
        params,
        matrix(train),
        common["trees"],
        evals=[(matrix(valid), "valid")],
        early_stopping_rounds=common["stop"],
        verbose_eval=False,
    )
    kept = model.best_iteration + 1
    return kept, lambda rows: model.inplace_predict(rows, iteration_range=(0, kept))


def fit_catboost(train, valid, point, common):
    import catboost

    def pool(part):
        return catboost.Pool(part.features, part.labels, group_id=part.queries)

    params = point | {
        "iterations": common["trees"],
        "eval_metric": "NDCG:top=10;type=Exp;denominator=LogPosition",
        "early_stopping_rounds": common["stop"],
        "use_best_model": True,
        "random_seed": common["seed"],
        "thread_count": 1,
        "allow_writing_files": False,
        "verbose": False,
    }
    model = catboost.CatBoost(params)
    model.fit(pool(train), eval_set=pool(valid))
    return model.tree_count_, model.predict


FITS = {"lightgbm": fit_lightgbm, "xgboost": fit_xgboost, "catboost": fit_catboost}


def run_worker(folder):
    import numpy as np

    folder = Path(folder)
    request = json.loads((folder / "request.json").read_text())
    parts = {role: Part(files) for role, files in request["files"].items()}
    fits = []
    for number, point in enumerate(request["points"]):

        def work(point=point):
            fit = FITS[request["library"]]
            return fit(parts["train"], parts["valid"], point, request["common"])

        seconds, (trees, predict) = timed(work)
        for role in ("valid", "test"):
            scores = np.asarray(predict(parts[role].features), float).ravel()
            np.savetxt(folder / f"{role}-{number}.txt", scores, fmt="%.17g")
        fits.append({"trees": int(trees), "seconds": seconds})
    print(json.dumps({"fits": fits}))
