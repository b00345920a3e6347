from __future__ import annotations

import numpy as np
import pytest
from tests.data_folder import data_file
from tests.transfer import small

from understudy import formats
from understudy.character import Asset, Channel, Clip
from understudy.errors import InvalidInput
from understudy.transfer.source import source_of


def walker(frames: int = 60, scale: float = 1.0, hidden: bool = False) -> Asset:
    """Markers of the actor, walking, as a C3D file would have them."""
    source = source_of(small.actor(frames / small.RATE))
    points = np.array(source.points) * scale
    if hidden:
        points[20:25, 4] = np.nan
    names = [name.replace("Left", "L").replace("Right", "R") for name in source.names]
    clip = Clip("walk", [Channel(name, "marker") for name in names], points.reshape(len(points), -1), small.RATE)
    return Asset(clips=[clip])


def test_local_points_of_a_walk_stay_over_the_origin() -> None:
    source = source_of(small.actor())
    assert source.poses is not None and source.markers is not None and len(source) == 90
    root = source.markers.root
    np.testing.assert_allclose(source.frames[:, [0, 2], 3], source.poses.world[:, root][:, [0, 2], 3], atol=1e-12)
    assert np.abs(source.local[..., 2]).max() < 1.0 < source.points[..., 2].max()


def test_times_and_frames() -> None:
    source = source_of(small.actor())
    assert source.frame_at(1.0) == 30
    assert source.duration == pytest.approx(89 / 30)
    with pytest.raises(InvalidInput, match=r"between 0 and 2.96667 s, but is 4 s"):
        source.frame_at(4.0)


@pytest.mark.parametrize(("scale", "word"), [(100.0, "centimetres"), (1000.0, "millimetres")])
def test_a_motion_in_other_units_is_guessed_and_said(scale: float, word: str) -> None:
    source, metres = source_of(small.actor(scale=scale)), source_of(small.actor())
    assert any(word in note for note in source.notes)
    np.testing.assert_allclose(source.points, metres.points, rtol=1e-9, atol=1e-9)


def test_units_can_be_given() -> None:
    small_one = source_of(small.actor(scale=0.5), units=1.0)
    np.testing.assert_allclose(small_one.points, 0.5 * source_of(small.actor()).points, atol=1e-9)
    np.testing.assert_allclose(source_of(small.actor(scale=100.0), units="cm").points, source_of(small.actor()).points)
    with pytest.raises(InvalidInput, match="no unit 'furlong'"):
        source_of(small.actor(), units="furlong")


def test_another_rate() -> None:
    assert len(source_of(small.actor(), rate=60.0)) == 179
    assert len(source_of(walker(), rate=15.0)) == 30


def test_markers_alone_have_the_same_heading_as_their_skeleton() -> None:
    markers, body = source_of(walker()), source_of(small.actor(2.0))
    assert markers.poses is None
    np.testing.assert_allclose(markers.frames[:, :3, :3], body.frames[:, :3, :3], atol=0.06)
    hidden = source_of(walker(hidden=True))
    assert np.isfinite(hidden.points).all()
    assert np.abs(hidden.points - markers.points).max() < 0.02


def test_markers_in_other_units_are_guessed_and_said() -> None:
    source = source_of(walker(scale=1000.0))
    assert any("millimetres" in note for note in source.notes)
    np.testing.assert_allclose(source.points, source_of(walker()).points, rtol=1e-9)


def test_a_captured_walk() -> None:
    """CMU counts in inches over 0.45, and puts a T-pose first: both are said, and the T-pose is not transferred."""
    source = source_of(formats.read(data_file("bvh_cmu/02_01.bvh")), rate=30.0)
    assert any("5.644 cm" in note for note in source.notes)
    assert source.poses is not None and source.poses.rate == 30.0
    height = source.points[..., 1].max() - source.points[..., 1].min()
    assert 1.4 < height < 2.0
    ahead = source.frames[-1, :3, 3] - source.frames[0, :3, 3]
    assert np.linalg.norm(ahead) > 2.0
    assert ahead @ source.frames[len(source) // 2, :3, 2] > 0.9 * np.linalg.norm(ahead)


def test_the_inserted_pose_is_replaced() -> None:
    source = source_of(formats.read(data_file("bvh_cmu/09_01.bvh")))
    assert sum("T-pose" in note for note in source.notes) == 1
    np.testing.assert_array_equal(source.points[0], source.points[1])


@pytest.mark.parametrize(("name", "way"), [("Gait.c3d", (0, 0, -1)), ("DEC_INT.C3D", (1, 0, 0))])
def test_captured_markers_face_where_they_walk(name: str, way: tuple[float, float, float]) -> None:
    source = source_of(formats.read(data_file(f"c3d_btk/{name}")))
    assert source.poses is None
    assert np.isfinite(source.points).all()
    walked = source.frames[-1, :3, 3] - source.frames[0, :3, 3]
    assert walked @ np.array(way) > 0.95 * np.linalg.norm(walked) > 1.5
    assert (source.frames[:, :3, 2] @ np.array(way)).min() > 0.9
