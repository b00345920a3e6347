"""Where the real test data lies, and how a test asks for a file of it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("UNDERSTUDY_TEST_DATA", PROJECT.parent / "shared" / "data"))
FIELD = Path(os.environ.get("UNDERSTUDY_TEST_FIELD", PROJECT.parent / "shared" / "field"))


def data_file(relative: str) -> Path:
    """The path of a file of the real data; skips the calling test where it is absent."""
    path = DATA / relative
    if not path.exists():
        pytest.skip(f"real data not found: {relative} (looked in {DATA}; set UNDERSTUDY_TEST_DATA)")
    return path


def data_files(pattern: str) -> list[Path]:
    """All files of the real data that match a glob, sorted; an empty list where the data is absent."""
    return sorted(DATA.glob(pattern))


def field_file(relative: str) -> Path:
    """The path of one of the files on which an earlier version failed; skips the calling test where it is absent."""
    path = FIELD / relative
    if not path.exists():
        pytest.skip(f"field file not found: {relative} (looked in {FIELD}; set UNDERSTUDY_TEST_FIELD)")
    return path
