"""Weights and markers of animation files: the ARKit names, one clip of several, and files with neither."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.data_folder import data_file

from understudy.character import Asset, Channel, Clip
from understudy.errors import BadFile, InvalidInput
from understudy.express.manifest import read_recording
from understudy.express.recording import recording_from_asset, recording_from_clip


def weights(name: str = "joy") -> Clip:
    channels = [Channel("head", "weights", ("jawOpen", "eyeBlink_L")), Channel("teeth", "weights", ("jawOpen", "grin"))]
    return Clip(name, channels, np.arange(12.0).reshape(3, 4), 24)


def test_weights_have_their_arkit_names_once() -> None:
    found = recording_from_clip(weights())
    assert found.names == ("jawOpen", "eyeBlinkLeft", "grin")
    np.testing.assert_array_equal(found.points[:, :, 0], weights().values[:, [0, 1, 3]])


def test_markers() -> None:
    values = np.arange(12.0).reshape(2, 6)
    found = recording_from_clip(Clip("m", [Channel("chin", "marker"), Channel("brow", "marker")], values, 100))
    assert found.names == ("chin", "brow")
    np.testing.assert_array_equal(found.points[1, 0], [6, 7, 8])


def test_one_clip_of_several() -> None:
    asset = Asset(clips=[weights("a"), weights("b")])
    assert recording_from_asset(asset, "b").name == "b"
    with pytest.raises(InvalidInput, match="one clip was expected, but there are 2: 'a', 'b'"):
        recording_from_asset(asset)
    with pytest.raises(InvalidInput, match="there is no clip 'c'; available: 'a', 'b'"):
        recording_from_asset(asset, "c")
    with pytest.raises(InvalidInput, match="should have shape weights or markers, but has neither"):
        recording_from_clip(Clip("walk", [Channel("hip", "translation")], np.zeros((2, 3)), 24))


def test_live_link() -> None:
    found = read_recording(data_file("face_livelink/alex_rom_3.csv"))
    assert found.points.shape == (4033, 52, 1) and found.rate == 30
    brows = found.sequence("surprise", start=4.0, peak=4.53, end=9.27)
    assert brows.peak == 16
    assert brows.points[brows.peak, brows.names.index("browOuterUpLeft"), 0] > 0.8


def test_what_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="there is no such file"):
        read_recording(tmp_path / "absent.csv")
    with pytest.raises(InvalidInput, match="there is no kind of recording 'sound'; available: 'landmarks', 'weights'"):
        read_recording("a.csv", kind="sound")
    with pytest.raises(InvalidInput, match="dimensions should be 2 or 3, but are 4"):
        read_recording("a.csv", dimensions=4)
    np.savez(tmp_path / "a.npz", points=np.ones((4, 5, 2)))
    with pytest.raises(BadFile, match="points in 3 dimensions were expected, but they have 2"):
        read_recording(tmp_path / "a.npz", dimensions=3)
