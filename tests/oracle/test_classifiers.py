"""The classifiers of `classify` beside scikit-learn's: naive Bayes to the last digits, decision trees
by their predictions, random forests by accuracy, linear classifiers by the function they minimise."""

import csv
import json

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import BernoulliNB, MultinomialNB
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from command import run

NAMES = np.array(["art", "law", "war"])


def write_points(path, points, classes=None):
    """Points as a CSV with the columns id, x0, x1, ... and class."""
    with open(path, "w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        columns = [f"x{i}" for i in range(points.shape[1])]
        rows.writerow(["id", *columns] + (["class"] if classes is not None else []))
        for number, point in enumerate(points):
            row = [f"d{number}", *(repr(float(x)) for x in point)]
            rows.writerow(row + ([NAMES[classes[number]]] if classes is not None else []))


def decide(folder, classifier, *options):
    """Decided classes, and the scores of all classes, of test.csv by a classifier of train.csv."""
    out = folder / "out.tsv"
    words = ["classify", folder / "train.csv", "--label", "class", "--classifier", classifier]
    done = run(*words, *options, "--apply", folder / "test.csv", "--out", out, "--with-scores")
    assert done.returncode == 0, done.stderr
    with open(out, newline="", encoding="utf-8") as lines:
        header, *rows = csv.reader(lines, delimiter="\t")
    assert header[:2] == ["id", "class"]
    assert header[2] in {"distance", "share", "probability", "score"}
    scores = np.array([[float(cell) for cell in row[3:]] for row in rows])
    return header[3:], [row[1] for row in rows], scores


def blobs(seed, count, spread, classes=3, features=4):
    """Points around a centre for each class, as the floats that the command reads."""
    rng = np.random.default_rng(seed)
    centres = np.random.default_rng(1).normal(size=(3, features))
    labels = rng.integers(0, classes, count)
    points = centres[labels] + spread * rng.normal(size=(count, features))
    return points.astype(np.float32), labels


@pytest.mark.parametrize("model, theirs", [("multinomial", MultinomialNB), ("bernoulli", BernoulliNB)])
@pytest.mark.parametrize("smoothing", [1.0, 0.1])
def test_naive_bayes_has_the_same_probabilities(tmp_path, model, theirs, smoothing):
    rng = np.random.default_rng(7)
    labels = np.arange(60) % 3
    rates = np.random.default_rng(8).gamma(0.7, size=(3, 12))
    counts = rng.poisson(rates[labels])
    write_points(tmp_path / "train.csv", counts[:45], labels[:45])
    write_points(tmp_path / "test.csv", counts[45:])
    classifier = f"naive-bayes(model={model}, smoothing={smoothing})"
    fields = ",".join(f"x{i}" for i in range(12))
    names, decided, found = decide(tmp_path, classifier, "--fields", fields)
    oracle = theirs(alpha=smoothing).fit(counts[:45], NAMES[labels[:45]])
    assert names == list(oracle.classes_)
    assert np.abs(found - oracle.predict_proba(counts[45:])).max() < 1e-9
    assert decided == list(oracle.predict(counts[45:]))


def test_naive_bayes_counts_the_words_of_texts(tmp_path):
    rng = np.random.default_rng(3)
    words = np.array([f"w{letter}" for letter in "abcdefghij"])
    labels = np.arange(40) % 2
    weights = np.random.default_rng(4).dirichlet(np.ones(10), size=2)
    texts = [rng.choice(words, 12, p=weights[label]) for label in labels]
    for name, part in (("train.csv", slice(0, 30)), ("test.csv", slice(30, 40))):
        with open(tmp_path / name, "w", encoding="utf-8") as file:
            lines = [
                json.dumps({"id": str(i), "text": " ".join(texts[i]), "class": NAMES[labels[i]]})
                for i in range(40)[part]
            ]
            file.write("\n".join(lines) + "\n")
    counts = np.array([[(text == word).sum() for word in words] for text in texts])
    known = counts[:30].sum(axis=0) > 0
    _, _, found = decide(tmp_path, "naive-bayes", "--analysis", "plain", "--fields", "text")
    oracle = MultinomialNB().fit(counts[:30][:, known], labels[:30])
    assert np.abs(found - oracle.predict_proba(counts[30:][:, known])).max() < 1e-9


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_trees_without_ties_predict_the_same(tmp_path, seed):
    points, labels = blobs(seed, 300, 1.0)
    others, _ = blobs(seed + 100, 500, 1.2)
    write_points(tmp_path / "train.csv", points, labels)
    write_points(tmp_path / "test.csv", others)
    _, decided, found = decide(tmp_path, "tree(depth=3, min_rows=8)")
    oracle = DecisionTreeClassifier(max_depth=3, min_samples_leaf=8, random_state=0)
    oracle.fit(points, NAMES[labels])
    assert decided == list(oracle.predict(others))
    assert np.abs(found - oracle.predict_proba(others)).max() < 1e-12


def test_a_full_tree_fits_its_training_data_and_is_as_accurate(tmp_path):
    points, labels = blobs(5, 400, 0.9)
    others, truth = blobs(6, 1000, 0.9)
    write_points(tmp_path / "train.csv", points, labels)
    write_points(tmp_path / "test.csv", others)
    _, decided, _ = decide(tmp_path, "tree")
    oracle = DecisionTreeClassifier(random_state=0).fit(points, NAMES[labels])
    ours, theirs = np.mean(decided == NAMES[truth]), oracle.score(others, NAMES[truth])
    assert abs(ours - theirs) < 0.04, (ours, theirs)
    write_points(tmp_path / "test.csv", points)
    assert decide(tmp_path, "tree")[1] == list(NAMES[labels])


def test_forests_are_as_accurate(tmp_path):
    points, labels = blobs(11, 400, 1.1)
    others, truth = blobs(12, 1500, 1.1)
    write_points(tmp_path / "train.csv", points, labels)
    write_points(tmp_path / "test.csv", others)
    _, decided, found = decide(tmp_path, "random-forest(trees=200)")
    oracle = RandomForestClassifier(n_estimators=200, random_state=0).fit(points, NAMES[labels])
    ours, theirs = np.mean(decided == NAMES[truth]), oracle.score(others, NAMES[truth])
    assert abs(ours - theirs) < 0.02, (ours, theirs)
    assert np.abs(found - oracle.predict_proba(others)).mean() < 0.05


@pytest.mark.parametrize("c", [0.1, 1.0, 50.0])
@pytest.mark.parametrize("name", ["linear-svm", "logistic"])
def test_linear_classifiers_reach_the_same_minimum(tmp_path, name, c):
    points, labels = blobs(21, 200, 1.2, classes=2, features=3)
    signs = np.where(labels == 1, 1.0, -1.0)

    def objective(weights, intercept):
        z = signs * (points.astype(float) @ weights + intercept)
        losses = np.maximum(0, 1 - z) ** 2 if name == "linear-svm" else np.logaddexp(0, -z)
        return 0.5 * (weights @ weights + intercept**2) + c * losses.sum()

    # Scores at the origin and at the unit vectors are the intercept and the weights.
    write_points(tmp_path / "train.csv", points, labels)
    write_points(tmp_path / "test.csv", np.vstack([np.zeros(3), np.eye(3)]))
    _, _, found = decide(tmp_path, f"{name}(c={c})")
    scores = found[:, 1] if name == "linear-svm" else np.log(found[:, 1] / found[:, 0])
    ours = objective(scores[1:] - scores[0], scores[0])
    if name == "linear-svm":
        oracle = LinearSVC(C=c, dual=False, tol=1e-10, max_iter=10_000)
    else:
        oracle = LogisticRegression(C=c, solver="liblinear", tol=1e-10, max_iter=10_000)
    oracle.fit(points.astype(float), labels)
    theirs = objective(oracle.coef_[0], oracle.intercept_[0])
    assert ours <= theirs * (1 + 1e-6), (ours, theirs)
    assert abs(ours - theirs) < 1e-4 * theirs, (ours, theirs)
