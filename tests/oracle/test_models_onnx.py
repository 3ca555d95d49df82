"""ONNX models in and out: scikit-learn's boosting and forests through skl2onnx, CatBoost's own ONNX
and models put together by hand score here as onnxruntime scores them; what we write, onnxruntime
runs with the same scores."""

import json

import catboost
import lightgbm
import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper
from skl2onnx import to_onnx
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor

from boosted import NAMES, assert_close, convert, edges, grades, make, refused, score
from command import run

MODES = ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT")


def infer(path, x):
    """The scores that onnxruntime gives."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    (source,) = session.get_inputs()
    wide = source.type == "tensor(double)"
    (out,) = session.run(None, {source.name: x.astype(np.float64 if wide else np.float32)})
    assert out.size == len(x)
    return out.reshape(-1)


def boosting(**params):
    return GradientBoostingRegressor(n_estimators=60, max_depth=4, random_state=1, **params)


def save(learner, folder, row):
    path = folder / "model.onnx"
    path.write_bytes(to_onnx(learner, row).SerializeToString())
    return path


@pytest.mark.parametrize("params", [{}, {"init": "zero"}, {"loss": "huber"}])
def test_boosting_of_scikit_learn_scores_the_same(tmp_path, params):
    x, y = make(5)
    # It knows no missing values.
    x = np.nan_to_num(x)
    learner = boosting(**params).fit(x, y)
    path = save(learner, tmp_path, x[:1])
    ours = score(tmp_path, path, x)
    assert_close(ours, infer(path, x))
    assert_close(ours, learner.predict(x))


def test_forests_of_scikit_learn_score_the_same(tmp_path):
    x, y = make(5)
    learner = RandomForestRegressor(n_estimators=20, max_depth=6, random_state=1).fit(x, y)
    path = save(learner, tmp_path, x[:1])
    assert_close(score(tmp_path, path, x), infer(path, x))


@pytest.mark.parametrize("nan_mode", ["Min", "Max"])
def test_models_of_catboost_score_the_same(tmp_path, nan_mode):
    x, y = make(5)
    learner = catboost.CatBoostRegressor(
        iterations=30, nan_mode=nan_mode, thread_count=1, verbose=False, allow_writing_files=False
    )
    learner.fit(x, y)
    path = tmp_path / "model.onnx"
    learner.save_model(str(path), format="onnx")
    x = edges(x)
    assert_close(score(tmp_path, path, x), infer(path, x))


def by_hand(rng, modes, average, wide):
    """The attributes of an ensemble of trees with random splits of these modes, and missing values to either side.
    `average` is the mean of the trees instead of the sum, `wide` has thresholds and scores of f64."""
    columns = {name: [] for name in ("treeids", "nodeids", "featureids", "modes", "values")}
    columns |= {name: [] for name in ("truenodeids", "falsenodeids", "missing_value_tracks_true")}
    leaves = []
    for tree in range(7):
        depth = int(rng.integers(0, 5))
        for node in range(2 ** (depth + 1) - 1):
            leaf = node >= 2**depth - 1
            columns["treeids"].append(tree)
            columns["nodeids"].append(node)
            columns["featureids"].append(0 if leaf else int(rng.integers(0, 5)))
            columns["modes"].append("LEAF" if leaf else str(rng.choice(modes)))
            columns["values"].append(0.0 if leaf else float(rng.integers(-4, 5)) / 4)
            columns["truenodeids"].append(0 if leaf else 2 * node + 1)
            columns["falsenodeids"].append(0 if leaf else 2 * node + 2)
            columns["missing_value_tracks_true"].append(0 if leaf else int(rng.integers(0, 2)))
            if leaf:
                leaves.append((tree, node, float(rng.normal())))
    attributes = {f"nodes_{name}": values for name, values in columns.items()}
    attributes |= {
        "target_treeids": [tree for tree, _, _ in leaves],
        "target_nodeids": [node for _, node, _ in leaves],
        "target_ids": [0] * len(leaves),
        "target_weights": [weight for _, _, weight in leaves],
        "base_values": [0.75],
        "n_targets": 1,
        "aggregate_function": "AVERAGE" if average else "SUM",
    }
    if wide:
        for name in ("nodes_values", "target_weights", "base_values"):
            values = attributes.pop(name)
            # Thresholds that f32 cannot hold.
            values = [value + 1e-9 * (name == "nodes_values") for value in values]
            tensor = helper.make_tensor(name, TensorProto.DOUBLE, [len(values)], values)
            attributes[f"{name}_as_tensor"] = tensor
    return attributes


def graph(attributes, wide, around):
    """A model of one ensemble; with `around`, other nodes that do not change the scores stand around it."""
    kind = TensorProto.DOUBLE if wide else TensorProto.FLOAT
    first, last = ("cast", "raw") if around else ("X", "score")
    nodes = [
        helper.make_node(
            "TreeEnsembleRegressor", [first], [last], domain="ai.onnx.ml", **attributes
        )
    ]
    start = []
    if around:
        nodes.insert(0, helper.make_node("Cast", ["X"], ["cast"], to=kind))
        nodes.append(helper.make_node("Identity", ["raw"], ["same"]))
        nodes.append(helper.make_node("Reshape", ["same", "shape"], ["score"]))
        start = [helper.make_tensor("shape", TensorProto.INT64, [1], [-1])]
    body = helper.make_graph(
        nodes,
        "by hand",
        [helper.make_tensor_value_info("X", kind, ["N", 5])],
        [helper.make_tensor_value_info("score", TensorProto.FLOAT, ["N"] if around else ["N", 1])],
        start,
    )
    sets = [helper.make_opsetid("", 15), helper.make_opsetid("ai.onnx.ml", 3)]
    return helper.make_model(body, opset_imports=sets, ir_version=8)


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("modes", [[mode] for mode in MODES] + [MODES])
def test_models_by_hand_score_the_same(tmp_path, modes, average, wide):
    rng = np.random.default_rng(len(modes[0]) + average)
    path = tmp_path / "model.onnx"
    # Values on and next to the thresholds.
    x = (rng.integers(-5, 6, (500, 5)) / 4).astype(np.float32)
    x = np.where(rng.random(x.shape) < 0.2, np.nextafter(x, np.float32(1)), x)
    x[rng.random(x.shape) < 0.2] = np.nan
    for around in (False, True):
        model = graph(by_hand(rng, modes, average, wide), wide, around)
        onnx.checker.check_model(model)
        path.write_bytes(model.SerializeToString())
        assert_close(score(tmp_path, path, x), infer(path, x))


def lightgbm_model(folder, names, objective):
    x, y = make(5)
    quiet = {"verbose": -1, "num_threads": 1, "min_data_in_leaf": 5, "seed": 1}
    label, group = (grades(y), [20] * 30) if objective == "lambdarank" else (y, None)
    data = lightgbm.Dataset(x, label, group=group, feature_name=names or "auto", params=quiet)
    booster = lightgbm.train(quiet | {"objective": objective}, data, 40)
    booster.save_model(folder / "model.txt")
    return booster, folder / "model.txt", edges(x)


@pytest.mark.parametrize("names", [None, NAMES])
@pytest.mark.parametrize("objective", ["lambdarank", "regression"])
def test_what_we_write_onnxruntime_runs(tmp_path, names, objective):
    booster, text, x = lightgbm_model(tmp_path, names, objective)
    path = convert(text, "onnx", tmp_path / "first.onnx")
    onnx.checker.check_model(onnx.load(path), full_check=True)
    assert_close(infer(path, x), booster.predict(x, raw_score=True))
    # Our file gives names and scores back to us.
    assert_close(score(tmp_path, path, x, names), infer(path, x))
    # Once nodes are in our order, writing again gives the same file.
    again = convert(path, "onnx", tmp_path / "again.onnx")
    third = convert(again, "onnx", tmp_path / "third.onnx")
    assert third.read_bytes() == again.read_bytes()
    assert (infer(again, x) == infer(path, x)).all()


def training_data(folder):
    """Thirty queries of twenty documents as CSV, with missing values, and rows to score."""
    x, y = make(5)
    path = folder / "train.csv"
    lines = [",".join(["qid", "label", *NAMES])]
    for number, (row, label) in enumerate(zip(x, grades(y))):
        cells = ("" if np.isnan(value) else repr(float(value)) for value in row)
        lines.append(",".join([str(number // 20), str(int(label)), *cells]))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path, x


def train(folder, data, learner, *more):
    out = folder / "trained.model"
    done = run("train", data, "--learner", learner, "--out", out, *more)
    assert done.returncode == 0, done.stderr
    return out


BASES = [
    "linear-regression",
    "ranksvm(transform=log)",
    "logistic(transform=gauss)",
    "pairwise-logistic(transform=rank)",
    "ranknet(layers=0, epochs=2, transform=min-max)",
    "ranknet(layers=8/4, epochs=2, norm=layer, activation=gelu, transform=auto, clip=2)",
    "lambdarank(layers=8, epochs=2, activation=tanh, transform=log-standard)",
    "listnet(layers=6, epochs=2, transform=none)",
]


@pytest.mark.parametrize("base", BASES)
def test_a_model_and_the_trees_added_to_it_run_in_onnxruntime(tmp_path, base):
    data, x = training_data(tmp_path)
    start = train(tmp_path, data, base).rename(tmp_path / "start.model")
    model = train(tmp_path, data, "lambdamart(trees=15, leaves=6)", "--start", start)
    # A row that is all missing, and one that is all zero.
    x = np.vstack([x, np.full((1, x.shape[1]), np.nan, np.float32), np.zeros((1, x.shape[1]), np.float32)])
    for source in (start, model):
        path = convert(source, "onnx", tmp_path / f"{source.stem}.onnx")
        onnx.checker.check_model(onnx.load(path), full_check=True)
        assert_close(infer(path, x), score(tmp_path, source, x, NAMES))
        assert "not read back" in refused(path, tmp_path / "back.model")
    # The trees are a part of it.
    sums, alone = score(tmp_path, model, x, NAMES), score(tmp_path, start, x, NAMES)
    assert np.abs(sums - alone).max() > 0.1


def test_a_blend_that_is_not_normalised_runs_in_onnxruntime(tmp_path):
    data, x = training_data(tmp_path)
    members = "lambdamart(trees=10)+ranknet(layers=4, epochs=2)+linear-regression"
    plain = train(tmp_path, data, f"blend(members={members}, weights=equal, normalise=none)")
    path = convert(plain, "onnx", tmp_path / "blend.onnx")
    assert_close(infer(path, x), score(tmp_path, plain, x, NAMES))
    ranked = train(tmp_path, data, f"blend(members={members}, weights=equal, normalise=rank)")
    done = run("model", "convert", ranked, "--to", "onnx", "--out", tmp_path / "no.onnx")
    assert done.returncode != 0 and "the other documents of a query" in done.stderr


@pytest.mark.parametrize("trees", [[], [{"weight": "2", "root": {"value": "1.5"}}]])
def test_models_without_splits_run_too(tmp_path, trees):
    path = tmp_path / "model.json"
    kind = "org.apache.solr.ltr.model.MultipleAdditiveTreesModel"
    model = {"class": kind, "features": [{"name": "0"}, {"name": "1"}], "params": {"trees": trees}}
    path.write_text(json.dumps(model))
    path = convert(path, "onnx", tmp_path / "model.onnx")
    x = np.zeros((3, 2), np.float32)
    assert (infer(path, x) == (3.0 if trees else 0.0)).all()
    assert (score(tmp_path, path, x) == infer(path, x)).all()


def test_operators_that_may_change_scores_are_refused_by_name(tmp_path):
    rng = np.random.default_rng(1)
    model = graph(by_hand(rng, MODES, False, False), False, False)
    model.graph.node[0].output[0] = "raw"
    model.graph.node.append(helper.make_node("Sigmoid", ["raw"], ["score"]))
    path = tmp_path / "model.onnx"
    path.write_bytes(model.SerializeToString())
    assert "the operator Sigmoid" in refused(path, tmp_path / "out.model")


@pytest.mark.parametrize(
    "change, reason",
    [
        ({"nodes_modes": ["BRANCH_EQ"]}, "BRANCH_EQ"),
        ({"aggregate_function": "MAX"}, "MAX"),
        ({"post_transform": "LOGISTIC"}, "LOGISTIC"),
        ({"n_targets": 2}, "n_targets is '2'"),
    ],
)
def test_models_that_our_format_cannot_hold_are_refused(tmp_path, change, reason):
    attributes = by_hand(np.random.default_rng(1), MODES, False, False)
    if "nodes_modes" in change:
        change = {"nodes_modes": ["BRANCH_EQ", *attributes["nodes_modes"][1:]]}
    path = tmp_path / "model.onnx"
    path.write_bytes(graph(attributes | change, False, False).SerializeToString())
    assert reason in refused(path, tmp_path / "out.model")
