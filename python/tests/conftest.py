"""Data made on the spot, and the command to compare with."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest


@dataclass
class Rows:
    """Ranking data whose label depends on two of its features."""

    X: np.ndarray
    y: np.ndarray
    qid: np.ndarray

    @property
    def parts(self):
        return self.X, self.y


def make(queries: int = 30, documents: int = 12, features: int = 6, seed: int = 1) -> Rows:
    random = np.random.default_rng(seed)
    rows = queries * documents
    X = np.round(random.normal(size=(rows, features)), 3).astype(np.float32)
    latent = 2 * X[:, 0] - X[:, 1] + 0.3 * random.normal(size=rows)
    y = np.digitize(latent, [0.0, 1.5, 3.0]).astype(np.float64)
    return Rows(X, y, np.repeat(np.arange(queries) + 100, documents))


@pytest.fixture
def rows() -> Rows:
    return make()


@pytest.fixture(scope="session")
def command():
    """Runs the command `rankwright` with arguments; tests that need it are skipped where it is not built."""
    path = os.environ.get("RANKWRIGHT_BIN")
    if not path or not Path(path).exists():
        pytest.skip("RANKWRIGHT_BIN names no command")

    def run(*words: object) -> str:
        done = subprocess.run([path, *map(str, words)], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def letor_text(rows: Rows) -> str:
    lines = []
    for values, label, query in zip(rows.X, rows.y, rows.qid):
        cells = " ".join(f"{place}:{value!r}" for place, value in enumerate(map(float, values), start=1))
        lines.append(f"{label:g} qid:{query} {cells}")
    return "\n".join(lines) + "\n"
