"""The looking tool draws sheets and poses, and prints the lint."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result
from PIL import Image
from tests.data_folder import PROJECT

EXAMPLE = re.search(r"```sheet\n(.*?)```", (PROJECT / "docs" / "sheets.md").read_text(encoding="utf-8"), re.S)


@pytest.fixture(scope="module")
def look() -> Any:
    spec = importlib.util.spec_from_file_location("look", PROJECT / "tools" / "look.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.look


@pytest.fixture
def sheet(tmp_path: Path) -> Path:
    assert EXAMPLE
    path = tmp_path / "curious_what.txt"
    path.write_text(EXAMPLE[1], encoding="utf-8")
    return path


def run(look: Any, *words: object) -> Result:
    return CliRunner().invoke(look, [str(word) for word in words])


def test_a_sheet_from_its_text(look: Any, sheet: Path, tmp_path: Path) -> None:
    out = tmp_path / "look.png"
    found = run(look, sheet, "--every", 20, "--size", 48, "-o", out)
    assert found.exit_code == 0, found.output
    assert "lint: clean" in found.output and "4 pictures" in found.output
    assert np.asarray(Image.open(out)).shape[2] == 3


def test_locked_black_and_a_span(look: Any, sheet: Path, tmp_path: Path) -> None:
    out = tmp_path / "look.png"
    found = run(look, sheet, "--frames", "10-12", "--size", 48, "--lock-head", "--black", "-o", out)
    assert found.exit_code == 0 and "3 pictures" in found.output
    assert (np.asarray(Image.open(out)).max(axis=2) == 0).mean() > 0.1


def test_poses(look: Any, tmp_path: Path) -> None:
    assert run(look, "--face", "happy", "--face", "lids.angry", "--size", 48, "-o", tmp_path / "p.png").exit_code == 0
    found = run(look, "--face", "hapy", "-o", tmp_path / "p.png")
    assert found.exit_code == 2 and "there is no face hapy; available: " in found.output


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (("lean=9", "lean=90"), "neck.lean should lie between -22 and 22, but is 90"),
        (("perk*1/.3 snap os=25", "perk*1/.3 snap os=300"), "error: line 26, key 10>15: ears.flare.L overshoots"),
    ],
)
def test_what_is_wrong_is_one_sentence(
    look: Any, sheet: Path, tmp_path: Path, change: tuple[str, str], reason: str
) -> None:
    sheet.write_text(sheet.read_text().replace(*change))
    found = run(look, sheet, "-o", tmp_path / "p.png")
    assert found.exit_code == 1 and reason in found.output and "Traceback" not in found.output


def test_an_unknown_source_and_span(look: Any, sheet: Path, tmp_path: Path) -> None:
    assert "neither a file nor the name" in run(look, "nobody", "-o", tmp_path / "p.png").output
    assert "within 0 to 60" in run(look, sheet, "--frames", "70-80", "-o", tmp_path / "p.png").output
    assert "say which sheet" in run(look, "-o", tmp_path / "p.png").output
