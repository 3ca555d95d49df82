"""Makes the shared module of this folder importable and makes the sample page once."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope="session")
def sample(tmp_path_factory):
    """A page with every kind of plot and block, and a folder of its parts."""
    program = os.environ.get("RANKWRIGHT_SAMPLE_PAGE")
    if not program:
        pytest.exit("RANKWRIGHT_SAMPLE_PAGE must name the program; run `cargo xtask test`", 1)
    folder = tmp_path_factory.mktemp("page")
    page = folder / "sample.html"
    subprocess.run([program, page, folder / "parts"], check=True, timeout=60)
    return page
