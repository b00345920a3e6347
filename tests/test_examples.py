"""Each example of the course runs, from any folder, and says something."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.data_folder import PROJECT

EXAMPLES = sorted((PROJECT / "examples").glob("*.py"))


@pytest.mark.long
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs(example: Path, tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, str(example)], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


def test_the_course_lists_every_example() -> None:
    listed = (PROJECT / "examples" / "README.md").read_text(encoding="utf-8")
    assert EXAMPLES and all(example.name in listed for example in EXAMPLES)
