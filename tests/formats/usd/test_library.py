"""A trial that crashes, hangs or eats memory ends as one sentence."""

from __future__ import annotations

import pytest

from understudy.errors import BadFile, Unsupported
from understudy.formats.usd import library

pytest.importorskip("pxr")


LIMITED = """
import sys
from pathlib import Path
from understudy.formats.usd import library as guard
guard.SECONDS = 1
guard._limit(Path(sys.argv[1]))
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "file.usdc"
    path.write_bytes(b"PXR-USDC")
    return path


@pytest.mark.parametrize(
    "code",
    [
        "import os; os.kill(os.getpid(), 11)",
        "import os; os.abort()",
        "raise SystemExit(7)",
        LIMITED + "b'x' * (3 << 30)",
        LIMITED + "while True: pass",
    ],
    ids=["crash", "abort", "exit", "memory", "hang"],
)
def test_a_trial_that_does_not_come_through(file, monkeypatch, code):
    if code.startswith(LIMITED):
        pytest.importorskip("resource")
    monkeypatch.setattr(library, "TRIAL_COMMAND", code)
    with pytest.raises(BadFile, match="cannot get through it"):
        library.finish_trial(library.start_trial(file), file)


def test_what_the_trial_says_is_passed_on(file, monkeypatch):
    said = '{"kind": "Unsupported", "reason": "holds a whale", "place": "/Sea"}'
    code = f"import sys; sys.stdout.write({said!r}); sys.stdout.flush(); raise SystemExit(3)"
    monkeypatch.setattr(library, "TRIAL_COMMAND", code)
    with pytest.raises(Unsupported, match="/Sea: holds a whale"):
        library.finish_trial(library.start_trial(file), file)


def test_a_damaged_binary_file(file):
    file.write_bytes(b"PXR-USDC" + bytes(range(256)) * 4)
    with pytest.raises(BadFile, match=r"is damaged|cannot get through"):
        library.finish_trial(library.start_trial(file), file)
