"""The Python of the documentation runs and prints what is shown; examples run; types are consistent."""

from __future__ import annotations

import contextlib
import doctest
import importlib
import io
import pkgutil
import re
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

import rankwright as rw

ROOT = Path(__file__).resolve().parents[2]
PAGES = ["README.md", "docs/python.md", "docs/howto/from-lightgbm.md", "docs/howto/scikit-learn.md", "python/README.md"]
BLOCK = re.compile(r"^```(python|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES)
def test_the_python_of_a_page_runs_and_prints_what_is_shown(page, tmp_path, monkeypatch):
    sklearn = pytest.importorskip("sklearn")
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    printed, ran = None, 0
    with sklearn.config_context(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for kind, text in BLOCK.findall((ROOT / page).read_text()):
            if kind == "text":
                if printed:
                    assert printed == text
                printed = None
                continue
            output = io.StringIO()
            with contextlib.redirect_stdout(output):
                exec(compile(text, page, "exec"), names)
            printed, ran = output.getvalue(), ran + 1
    assert ran > 0


@pytest.mark.parametrize("path", sorted((ROOT / "examples/python").glob("*.py")), ids=lambda path: path.stem)
def test_an_example_runs_and_prints(path, tmp_path):
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0 and done.stdout, done.stderr


def test_the_notebook_runs_and_shows_tables_and_pictures():
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    notebook = nbformat.read(ROOT / "examples/python/notebook.ipynb", as_version=4)
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    shown = [output.get("data", {}).get("text/html", "") for cell in notebook.cells for output in cell.get("outputs", [])]
    assert sum("<table" in text for text in shown) >= 3 and any("<svg" in text for text in shown)


def test_the_examples_of_docstrings():
    modules = ["rankwright"] + [f"rankwright.{one.name}" for one in pkgutil.iter_modules(rw.__path__) if one.name != "_native"]
    attempted = 0
    for name in modules:
        found = doctest.testmod(importlib.import_module(name))
        assert found.failed == 0, name
        attempted += found.attempted
    assert attempted >= 15


def test_the_stub_describes_the_native_module():
    done = subprocess.run(
        [sys.executable, "-m", "mypy.stubtest", "rankwright._native", "--ignore-missing-stub"], capture_output=True, text=True,
        cwd=ROOT / "python",
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_stub_of_the_estimators_is_that_of_the_table():
    from rankwright._stubs import estimator_stub

    assert (ROOT / "python/rankwright/learners.pyi").read_text() == estimator_stub(), "run python -m rankwright._stubs"


def test_types_are_consistent():
    done = subprocess.run([sys.executable, "-m", "pyright", "--pythonpath", sys.executable], capture_output=True, text=True, cwd=ROOT / "python")
    if "Failed to" in done.stderr or "No such" in done.stderr:
        pytest.skip("pyright could not be started")
    assert done.returncode == 0, done.stdout
