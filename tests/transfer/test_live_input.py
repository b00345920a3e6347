from __future__ import annotations

import json

import numpy as np
import pytest
from tests.transfer.small import actor

from understudy.errors import BadFile
from understudy.formats import read, write
from understudy.transfer.live import read_live_frames
from understudy.transfer.source import source_of


def test_bvh_as_it_is_written(tmp_path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "play.bvh"
    write(actor(1.0), path)
    given = source_of(read(path))
    found = list(read_live_frames(path.read_text().splitlines()))
    assert len(found) == len(given)
    for f in (0, 17):
        np.testing.assert_allclose(found[f].points, given.points[f], atol=2e-4)
        np.testing.assert_allclose(found[f].frame, given.frames[f], atol=2e-4)
    assert found[15].time == pytest.approx(0.5, abs=1e-3)


def test_frames_come_before_the_stream_ends(tmp_path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "play.bvh"
    write(actor(1.0), path)

    def lines():  # type: ignore[no-untyped-def]
        yield from path.read_text().splitlines()[:-10]
        raise AssertionError("read further than needed")

    found = read_live_frames(lines())
    assert [round(30 * next(found).time) for _ in range(5)] == [0, 1, 2, 3, 4]


def test_markers_as_json() -> None:
    names = ["LASI", "RASI", "SACR", "HEAD"]
    points = [[100, 900, 100], [-100, 900, 100], [0, 900, -100], [0, 1700, 0]]
    lines = [json.dumps({"markers": names, "units": "mm"}), json.dumps({"time": 2.0, "points": points})]
    lines.append(json.dumps({"points": [None, *points[1:]]}))
    first, second = list(read_live_frames(lines))
    assert first.time == 2.0
    np.testing.assert_allclose(first.points, np.array(points) / 1000)
    np.testing.assert_allclose(second.points, first.points)  # an unseen marker stays where it was


HEAD = '{"markers": ["a", "b", "c"]}'


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ([], "empty"),
        (["{"], "not JSON"),
        (['{"markers": ["a"]}'], "three names"),
        (['{"markers": ["a", "b", "c"], "units": "mile"}'], "units"),
        ([HEAD, '{"points": [[0, 0, 0]]}'], "3 lists"),
        ([HEAD, '{"points": [[0, 0], [0, 0], [0, 0]]}'], "x, y, z"),
        ([HEAD, "[]"], "JSON object"),
        ([HEAD, '{"time": "now", "points": [[0, 0, 0], [1, 0, 0], [0, 1, 0]]}'], "seconds"),
        (["HIERARCHY", "ROOT a", "{"], "brackets"),
    ],
)
def test_bad_lines_are_named(lines: list[str], reason: str) -> None:
    with pytest.raises(BadFile, match=reason):
        list(read_live_frames(lines))


def test_a_short_line_of_bvh_is_named(tmp_path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "play.bvh"
    write(actor(0.2), path)
    lines = path.read_text().splitlines()
    lines[-1] = "1 2 3"
    with pytest.raises(BadFile, match=r"line \d+: should have \d+ numbers, but has 3"):
        list(read_live_frames(lines))
