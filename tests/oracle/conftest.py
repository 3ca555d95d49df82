"""Makes the shared modules of this folder importable and fails early without a command to test."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from command import binary  # noqa: E402


def pytest_sessionstart(session):
    try:
        path = Path(binary())
    except RuntimeError as problem:
        pytest.exit(str(problem), returncode=1)
    if not path.is_file():
        pytest.exit(f"RANKWRIGHT_BIN is no file: {path}", returncode=1)
