"""Data for the tests that train models with other libraries, and what our command makes of them."""

import numpy as np

from command import run

FEATURES = 5
# The number of the feature whose values are whole numbers, which can be taken as categories.
CATEGORIES = 3
NAMES = ["bm25", "page_rank", "clicks", "language", "age"]
# The largest relative difference between sums of f32 and sums of f64.
F32 = 1e-6


def make(seed, rows=600):
    """Rows of f32 and labels that depend on all features. Feature 2 has many zeros, and every
    feature has missing values."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, FEATURES)).astype(np.float32)
    x[:, 2][rng.random(rows) < 0.5] = 0
    x[:, CATEGORIES] = rng.integers(0, 70, rows)
    # The labels come from the values before some go missing.
    full = x.astype(float)
    x[rng.random(x.shape) < 0.15] = np.nan
    y = full[:, 0] + full[:, 1] ** 2 + full[:, 2] * (full[:, CATEGORIES] % 3) - np.abs(full[:, 4])
    return x, y


def grades(y):
    """Labels 0 to 4."""
    return np.clip(np.round(y + 1), 0, 4)


def edges(x):
    """The rows, and eight more: unseen categories, all missing, all zero, very small and very large
    values."""
    more = x[:8].copy()
    more[0] = np.nan
    more[1] = 0
    more[2, CATEGORIES] = 69.5
    more[3, CATEGORIES] = 5000
    more[4] = 1e30
    more[5] = -1e30
    more[6, CATEGORIES] = -3
    more[7, CATEGORIES] = 0
    return np.vstack([x, more])


def score(folder, model, x, names=None):
    """Our scores of the rows, in f64."""
    data = folder / "data.csv"
    names = names or [str(i) for i in range(x.shape[1])]
    lines = [",".join(["qid", "label", *names])]
    for row in x:
        # A missing value is an empty cell.
        cells = ("" if np.isnan(value) else repr(float(value)) for value in row)
        lines.append(",".join(["1", "0", *cells]))
    data.write_text("\n".join(lines) + "\n", encoding="utf-8")
    done = run("score", model, data)
    assert done.returncode == 0, done.stderr
    return np.array([float(word) for word in done.stdout.split()])


def convert(model, form, out):
    """The model in another format."""
    done = run("model", "convert", model, "--to", form, "--out", out)
    assert done.returncode == 0, done.stderr
    return out


def refused(model, out):
    """The error message of our command, which must refuse a model without a panic."""
    done = run("model", "convert", model, "--to", "rankwright", "--out", out)
    assert done.returncode != 0 and not out.exists()
    assert "panicked" not in done.stderr
    return done.stderr


def assert_close(ours, theirs):
    """Equal to the precision of f32, relative to the largest score."""
    theirs = np.asarray(theirs, dtype=float)
    worst = np.abs(ours - theirs).max() / np.abs(theirs).max()
    assert worst <= F32, worst


def assert_same(ours, theirs):
    """The same bits."""
    wrong = np.flatnonzero(ours != theirs)
    assert not len(wrong), (len(wrong), ours[wrong[:3]], theirs[wrong[:3]])
