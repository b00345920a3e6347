"""Formatting and lint, as tests; types take a minute and have a command of their own, `make types`."""

from __future__ import annotations

import subprocess
import sys

import pytest
from tests.data_folder import PROJECT


@pytest.mark.parametrize(
    "command",
    [["ruff", "check", "."], ["ruff", "format", "--check", "."]],
    ids=["lint", "format"],
)
def test_style(command: list[str]) -> None:
    done = subprocess.run([sys.executable, "-m", *command], cwd=PROJECT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
