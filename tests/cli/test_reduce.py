"""`reduce`: fewer keys within the tolerance, told in figures; the rest of the file is kept."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests.edit import puppets

from understudy import formats
from understudy.character import Asset, Curves
from understudy.character.rig import rig_of


@pytest.fixture
def dense_file(tmp_path: Path) -> Path:
    path = tmp_path / "dense.glb"
    formats.write(puppets.asset(dense=True), path)
    return path


def places(asset: Asset, clip: str = "wave") -> np.ndarray:
    rig = rig_of(asset.character())
    return rig.joints(rig.pose(asset.animation(clip), np.linspace(0, 1, 25)))[..., :3, 3]


@pytest.mark.parametrize("keys", ["free", "shared"])
def test_few_keys_within_the_tolerance(understudy, dense_file: Path, tmp_path: Path, keys: str) -> None:
    out, report = tmp_path / "out.glb", tmp_path / "report.json"
    words = ["--tolerance", "2", "--clip", "wave", "--keys", keys, "--report", report]
    code, _, err = understudy("reduce", dense_file, "-o", out, *words)
    assert code == 0 and "keys to" in err
    row = json.loads(report.read_text())["clips"][0]
    most = 0.5 if keys == "free" else 0.7  # a second of 25 frames, whose handles glTF wants at thirds
    assert row["keys"] < most * row["keys_before"] and row["error_mm"] <= 2 and row["frames"] == 25
    found, source = formats.read(out), formats.read(dense_file)
    assert np.linalg.norm(places(found) - places(source), axis=-1).max() < 2.1e-3
    assert {animation.name for animation in found.animations} == {"wave", "still"}
    wave = found.animation("wave")
    assert isinstance(wave, Curves) and "re-fitted" not in err
    assert (
        sum(len(curve) * len(curve.channel) for curve in wave.curves) <= row["keys"]
    )  # what does not move is left out


def test_free_handles_need_fewer_keys(understudy, dense_file: Path, tmp_path: Path) -> None:
    words = ["--tolerance", "2", "--clip", "wave", "--keys", "shared", "--json"]
    code, out, _ = understudy("reduce", dense_file, "-o", tmp_path / "out.curves.json", *words)
    row = json.loads(out)["clips"][0]
    assert code == 0 and row["keys"] < 0.5 * row["keys_before"] and row["error_mm"] <= 2


@pytest.mark.parametrize("tolerance", ["20", "20mm", "2cm", " 2 cm", "0.02m"])
def test_a_tolerance_may_have_a_unit(understudy, dense_file: Path, tmp_path: Path, tolerance: str) -> None:
    words = ["--tolerance", tolerance, "--clip", "wave", "--json"]
    code, out, _ = understudy("reduce", dense_file, "-o", tmp_path / "x.glb", *words)
    assert code == 0 and json.loads(out)["tolerance_mm"] == pytest.approx(20)


@pytest.mark.parametrize("tolerance", ["2km", "mm", "two", "nan", "-1mm"])
def test_what_is_no_length_is_refused(understudy, dense_file: Path, tmp_path: Path, tolerance: str) -> None:
    code, _, err = understudy("reduce", dense_file, "-o", tmp_path / "x.glb", "--tolerance", tolerance)
    assert code == 2 and "tolerance" in err


def test_all_clips_by_default(understudy, dense_file: Path, tmp_path: Path) -> None:
    code, out, err = understudy("reduce", dense_file, "-o", tmp_path / "x.glb", "--tolerance", "5", "--json")
    row = json.loads(out)
    assert code == 0 and err == "" and row["tolerance_mm"] == 5
    assert sorted(clip["clip"] for clip in row["clips"]) == ["still", "wave"]


def test_folders_are_reduced_file_by_file(understudy, dense_file: Path, tmp_path: Path) -> None:
    source = tmp_path / "in"
    source.mkdir()
    dense_file.rename(source / "dense.glb")
    assert understudy("reduce", source, "-o", tmp_path / "out", "--to", "glb", "--tolerance", "5", "-q")[0] == 0
    assert (tmp_path / "out" / "dense.glb").exists()


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ([], 2),
        (["--tolerance", "0"], 2),
        (["--tolerance", "nan"], 2),
        (["--tolerance", "5", "--angle", "200"], 2),
        (["--tolerance", "5", "--keys", "few"], 2),
        (["--tolerance", "5", "--clip", "jump"], 1),
    ],
)
def test_bad_options_leave_nothing(understudy, dense_file: Path, tmp_path: Path, words: list[str], code: int) -> None:
    found, _, err = understudy("reduce", dense_file, "-o", tmp_path / "x.glb", *words)
    assert found == code and "Traceback" not in err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["dense.glb"]


def test_nothing_to_reduce(understudy, tmp_path: Path) -> None:
    formats.write(Asset([puppets.arm()]), tmp_path / "still.glb")
    code, _, err = understudy("reduce", tmp_path / "still.glb", "-o", tmp_path / "x.glb", "--tolerance", "5")
    assert code == 1 and "no animation to reduce" in err and not (tmp_path / "x.glb").exists()
