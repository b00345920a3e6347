"""Tables of landmarks: OpenFace's, py-feat's and others; what lacks, what is no number, what has no clock."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.data_folder import data_file

from understudy.errors import BadFile, Unsupported
from understudy.express.manifest import read_recording
from understudy.express.sequence import landmark_names


def written(folder: Path, titles: list[str], rows: list[list[object]]) -> Path:
    path = folder / "face.csv"
    lines = [", ".join(titles), *(",".join(map(str, row)) for row in rows)]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def numbered(count: int = 68) -> list[str]:
    return [f"{axis}_{number}" for axis in "xy" for number in range(count)]


def test_pixels_run_up_and_lost_faces_are_gaps(tmp_path: Path) -> None:
    titles = ["frame", "timestamp", "success", *numbered()]
    rows = [[i + 1, i / 25, int(i != 3), *np.arange(136) + i] for i in range(6)]
    found = read_recording(written(tmp_path, titles, rows))
    assert found.names == landmark_names() and found.rate == 25
    np.testing.assert_array_equal(found.points[2, 5], [7, -(68 + 5 + 2)])
    assert np.isnan(found.points[3]).all() and np.isfinite(found.points[[0, 1, 2, 4, 5]]).all()


def test_frames_that_were_skipped_or_hold_two_faces(tmp_path: Path) -> None:
    rows = [[frame, *np.arange(136) + frame] for frame in (0, 2, 4, 8, 8, 10)]
    found = read_recording(written(tmp_path, ["frame", *numbered()], rows))
    assert found.points.shape == (6, 68, 2) and found.rate == 15
    assert np.isnan(found.points[3]).all()
    assert "one in 2" in found.notes[0] and "1 rows of other faces" in found.notes[1]
    assert read_recording(written(tmp_path, ["frame", *numbered()], rows), rate=12).rate == 12


def test_named_landmarks(tmp_path: Path) -> None:
    titles = ["time", "chin.x", "chin.y", "chin.z", "brow left.x", "brow left.y", "brow left.z"]
    found = read_recording(written(tmp_path, titles, [[0, 1, 2, 3, 4, 5, 6], [0.1, 1, 2, 3, 4, 5, "nan"]]))
    assert found.names == ("chin", "brow left") and found.rate == 10
    np.testing.assert_array_equal(found.points[0], [[1, 2, 3], [4, 5, 6]])
    assert np.isnan(found.points[1, 1, 2])
    flat = read_recording(tmp_path / "face.csv", dimensions=2)
    np.testing.assert_array_equal(flat.points[0], [[1, 2], [4, 5]])


@pytest.mark.parametrize(
    ("titles", "rows", "sentence"),
    [
        ([t for t in numbered() if t != "y_30"], [[0] * 135] * 2, "up to number 67, but lacks the column 'y_30'"),
        (numbered(), [["?", *[0] * 135]], "line 2, column 'x_0': a number was expected, but '.' was found"),
        (["frame", *numbered(2)], [[5, 0, 0, 0, 0], [1, 0, 0, 0, 0]], "numbers of its frames should rise"),
        (numbered(), [], "should have a line of titles and at least one of numbers"),
    ],
)
def test_what_is_refused(tmp_path: Path, titles: list[str], rows: list[list[object]], sentence: str) -> None:
    with pytest.raises(BadFile, match=sentence):
        read_recording(written(tmp_path, titles, rows))


def test_a_table_of_something_else(tmp_path: Path) -> None:
    path = written(tmp_path, ["price", "date"], [[1, 2]])
    with pytest.raises(Unsupported, match=r"ARKit weights .* were expected"):
        read_recording(path)
    with pytest.raises(Unsupported, match="landmarks in 3 dimensions were expected, but its columns are 'price'"):
        read_recording(path, kind="landmarks", dimensions=3)


def test_openface() -> None:
    path = data_file("face_pyfeat/OpenFace_Test.csv")
    space, picture = read_recording(path), read_recording(path, dimensions=2)
    assert space.points.shape == (100, 68, 3) and picture.points.shape == (100, 68, 2)
    assert "1000 frames a second, which no camera has" in space.notes[0]
    wide = np.ptp(space.points[0, :, 0])
    assert 0.1 < wide < 0.2, "metres"
    for points in (space.points[0], picture.points[0]):
        assert points[8, 1] < points[30, 1] < points[27, 1], "the chin is below the nose"
    assert space.points[0, 30, 2] > space.points[0, [0, 16], 2].max(), "the nose is nearer than the ears"


@pytest.mark.parametrize("number", ["001", "015"])
def test_py_feat(number: str) -> None:
    path = data_file(f"face_pyfeat/news_{number}.csv")
    found = read_recording(path)
    assert found.names == landmark_names() and found.rate == 15
    assert np.isfinite(found.points).all()
    weights = read_recording(path, kind="weights", rate=15)
    assert weights.points.shape == (len(found), 51, 1) and "jawOpen" in weights.names and weights.rate == 15
    assert len(found.sequence("gn")) == len(found)
