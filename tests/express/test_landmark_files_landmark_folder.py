"""Folders of landmarks: a file a picture, in the order of their numbers, in both layouts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.express.takes import smile

from understudy.errors import BadFile
from understudy.express.manifest import read_manifest, read_recording


def database(folder: Path, layout: str, frames: int = 12) -> np.ndarray:
    """A take written as the databases have it; returns its points, y up."""
    take = smile(2, frames=frames, peak=frames - 1)
    folder.mkdir()
    for number, frame in enumerate(take.points):
        lines = "\n".join(f"   {x:.7e}   {-y:.7e}" for x, y in frame)
        if layout == "txt":
            (folder / f"S005_001_{number + 1}_landmarks.txt").write_text(lines + "\n\n", encoding="utf-8")
        else:
            text = f"version: 1\nn_points:  68\n{{\n{lines}\n}}\n"
            (folder / f"face_{number}.pts").write_text(text, encoding="utf-8")
    return take.points


@pytest.mark.parametrize("layout", ["txt", "pts"])
def test_pictures_in_order(tmp_path: Path, layout: str) -> None:
    points = database(tmp_path / "001", layout)
    found = read_recording(tmp_path / "001")
    np.testing.assert_allclose(found.points, points, rtol=1e-6, atol=1e-6)
    assert found.names[67] == "lm67" and found.rate == 30 and "no clock" in found.notes[0]
    assert read_recording(tmp_path / "001", rate=25).rate == 25


def test_a_manifest_of_folders_that_end_at_the_peak(tmp_path: Path) -> None:
    for name in ("S005_001", "S005_002"):
        database(tmp_path / name, "txt")
    text = '[[sequence]]\nfile = "S005_*"\nlabel = "happiness"\npeak_frame = -1\n'
    (tmp_path / "ck.toml").write_text(text, encoding="utf-8")
    found = read_manifest(tmp_path / "ck.toml")
    assert [(take.name, take.peak, take.guessed) for take in found.sequences] == [
        ("S005_001", 11, False),
        ("S005_002", 11, False),
    ]


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("note.md", "", "is a folder without landmark files"),
        ("a_2.txt", "1 2\n3", r"a_2\.txt, line 2: x and y were expected, but '3' was found"),
        ("a_2.txt", "1 2 3", "line 1: x and y were expected"),
        ("a_2.txt", "\n\n", "should have a line for each landmark, but has none"),
        ("a_2.pts", "version: 1\n{\n1 2\nx 3\n}", "line 4: x and y were expected, but 'x 3' was found"),
    ],
)
def test_what_is_refused(tmp_path: Path, name: str, text: str, sentence: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(BadFile, match=sentence):
        read_recording(tmp_path)


def test_pictures_that_contradict_each_other(tmp_path: Path) -> None:
    (tmp_path / "a_1.txt").write_text("1 2\n3 4", encoding="utf-8")
    (tmp_path / "a_2.txt").write_text("1 2", encoding="utf-8")
    with pytest.raises(BadFile, match=r"a_2\.txt: has 1 landmarks, but a_1\.txt has 2"):
        read_recording(tmp_path)
