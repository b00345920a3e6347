"""Manifests: files, parts, patterns and labels; every mistake is one sentence with its place."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.data_folder import data_file
from tests.express.takes import smile

from understudy.errors import BadFile
from understudy.express.manifest import read_manifest
from understudy.express.preprocessing import preprocess
from understudy.express.sequence import regions_of

ENTRY = '[[sequence]]\nfile = "joy.npz"\nlabel = "happiness"\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, frames in (("joy", 24), ("glee", 30)):
        np.savez(tmp_path / f"{name}.npz", points=smile(frames=frames).points, rate=30.0)
    return tmp_path


def manifest(folder: Path, text: str) -> Path:
    path = folder / "faces.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_files_parts_and_patterns(folder: Path) -> None:
    text = f"""
        labels = ["happiness", "fear"]
        [regions]
        top = ["lm1*"]
        {ENTRY}peak_frame = 10
        {ENTRY}start = 0.1
        end = 0.6
        peak = 0.3333
        {ENTRY}name = "mine"
        [[sequence]]
        file = "*.npz"
        label = "fear"
        """
    found = read_manifest(manifest(folder, text))
    assert [take.name for take in found.sequences] == ["joy 1", "joy 2", "mine", "glee", "joy 3"]
    assert [take.peak for take in found.sequences] == [10, 7, 10, 10, 10]
    assert [take.guessed for take in found.sequences] == [False, False, True, True, True]
    assert found.labels == ("fear", "happiness")
    assert found.regions == {"top": ["lm1*"]} and len(found.notes) == 3
    assert len(regions_of(found.sequences[0].names, found.regions)["top"]) == 10


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", r"faces\.toml: should have at least one \[\[sequence\]\], but has none"),
        ("x = ", "is not TOML"),
        ("sequences = 1", "a manifest has no key 'sequences' .did you mean 'sequence'"),
        ('[[sequence]]\nlabel = "joy"', "sequence 1: file is missing"),
        ('[[sequence]]\nfile = "joy.npz"', "sequence 1: label is missing"),
        (ENTRY + "apex = 3", "sequence 1: a sequence has no key 'apex'"),
        (ENTRY + "peak = -1", "sequence 1: peak should be a number of 0 or more, but is -1"),
        (ENTRY + "peak = 24", "joy.npz: the peak of sequence 'joy' should lie .* for a frame write peak_frame"),
        (ENTRY + "peak_frame = 1.5", "peak_frame should be a whole number, but is 1.5"),
        (ENTRY + "peak_frame = 0", "should lie in frames 1 to 23, but is frame 0"),
        (
            'labels = ["fear", "joy"]\n' + ENTRY,
            "sequence 1: label should be one of 'fear' and 'joy', but is 'happiness'",
        ),
        (ENTRY + '[[sequence]]\nfile = "b*.csv"\nlabel = "joy"', r"sequence 2: no file matches 'b\*\.csv'"),
        ('[[sequence]]\nfile = "none.npz"\nlabel = "joy"', "none.npz: there is no such file"),
        (ENTRY + '[regions]\ntop = ["ear"]', "regions: region 'top' names 'ear', but there are only 'lm00'"),
        (ENTRY + "dimensions = 2", "points in 2 dimensions were expected, but they have 3"),
    ],
)
def test_every_mistake_is_a_sentence(folder: Path, text: str, sentence: str) -> None:
    with pytest.raises(BadFile, match=sentence):
        read_manifest(manifest(folder, text))


def test_a_take_of_one_frame_and_one_with_holes(folder: Path) -> None:
    points = np.array(smile().points)
    np.savez(folder / "joy.npz", points=points[:1], rate=30.0)
    with pytest.raises(
        BadFile, match=r"joy\.npz: sequence 'joy' should end after its start, but goes from frame 0 to 0"
    ):
        read_manifest(manifest(folder, ENTRY))
    points[:, 30] = np.nan
    np.savez(folder / "joy.npz", points=points, rate=30.0)
    with pytest.raises(BadFile, match=r"joy\.npz: sequence 'joy' never shows 'lm30'"):
        read_manifest(manifest(folder, ENTRY))


def test_real_faces_are_read_and_prepared(tmp_path: Path) -> None:
    """Ten clips of news readers: their heads nod and come nearer, nobody named a peak, and none ends as it began."""
    first = data_file("face_pyfeat/news_001.csv")
    entries = [
        f'[[sequence]]\nfile = "{first.with_name(f"news_{number}.csv").as_posix()}"\nlabel = "{label}"\n'
        for label, numbers in (("good", ("001", "002", "003")), ("bad", ("011", "012", "013")))
        for number in numbers
    ]
    found = read_manifest(manifest(tmp_path, "\n".join(entries)))
    takes = preprocess(found.sequences, landmarks="reduced")
    assert found.labels == ("bad", "good") and len(takes) == 6
    neutral = np.mean([take.points[0] for take in takes], axis=0)
    high = np.ptp(neutral[:, 1])
    for raw, take in zip(found.sequences, takes):
        still = [take.names.index(name) for name in ("lm39", "lm42", "lm30")]
        before = np.abs(raw.displacements[:, [39, 42, 30]]).max()
        assert np.abs(take.displacements[:, still]).max() < 0.6 * before, "the head is gone"
        assert np.abs(take.points[0] - neutral).max() < 0.05 * high, "the people are alike"
        away = np.linalg.norm(take.displacements, axis=2).sum(axis=1)
        assert away[-1] < 0.1 * away.max() and "reversed" in take.notes[-1]
