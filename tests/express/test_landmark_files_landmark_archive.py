"""Archives of landmarks: what they may hold, and what contradicts itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.data_folder import data_file
from tests.express.takes import smile

from understudy.errors import BadFile
from understudy.express.manifest import read_recording


def test_back_as_it_was_saved(tmp_path: Path) -> None:
    take = smile()
    np.savez(tmp_path / "a.npz", points=take.points, rate=24.0, names=np.array(take.names))
    found = read_recording(tmp_path / "a.npz")
    np.testing.assert_array_equal(found.points, take.points)
    assert (found.rate, found.names, found.name) == (24, take.names, "a")
    np.savez(tmp_path / "b.npz", landmarks=take.points[:, :5], time=np.arange(24, dtype=np.float32) / 25)
    found = read_recording(tmp_path / "b.npz")
    assert (found.rate, found.names) == (25, ("p0", "p1", "p2", "p3", "p4"))
    np.savez(tmp_path / "c.npz", points=np.ones((4, 2)), names=np.array(["jawOpen", "cheekPuff"]))
    found = read_recording(tmp_path / "c.npz")
    assert found.points.shape == (4, 2, 1) and "30 frames a second are taken" in found.notes[0]


@pytest.mark.parametrize(
    ("arrays", "sentence"),
    [
        ({"faces": np.ones(3)}, r"'points' or 'landmarks' was expected, but its arrays are \('faces',\)"),
        ({"points": np.ones(3)}, r"landmarks \(F, L, D\) were expected, but float64 of shape \(3,\) was found"),
        ({"points": np.ones((4, 5, 2)), "time": np.ones(3)}, r"4 times were expected, as many as frames, but \(3,\)"),
        ({"points": np.ones((4, 5, 2)), "time": np.ones(4)}, "its times should rise from frame to frame"),
        ({"points": np.ones((4, 5, 2)), "names": np.array(["a"])}, r"5 names were expected, .* but \(1,\) was found"),
        ({"points": np.ones((4, 5, 2)), "names": np.array(list("aabcd"))}, "'a' appears twice"),
        ({"points": np.ones((4, 5, 2)), "rate": -1.0}, "should be a finite number above zero, but is -1"),
    ],
)
def test_what_is_refused(tmp_path: Path, arrays: dict[str, np.ndarray], sentence: str) -> None:
    np.savez(tmp_path / "a.npz", **arrays)
    with pytest.raises(BadFile, match=sentence):
        read_recording(tmp_path / "a.npz")


def test_a_take_on_a_real_face() -> None:
    found = read_recording(data_file("derived_face/alex_rom_3_lm68_on_ICT.npz"))
    assert found.points.shape == (4030, 68, 3) and found.rate == 30
