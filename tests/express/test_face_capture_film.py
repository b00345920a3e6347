"""Films: pictures in order, sizes and rates, photographs; what is no film is told in a sentence."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from understudy.errors import BadFile
from understudy.express import face_capture
from understudy.express.face_capture import FrameReader


def written(path: Path, frames: int = 6, rate: int = 25) -> Path:
    """A video whose pictures get brighter."""
    import av

    with av.open(str(path), "w") as container:
        stream = container.add_stream("mpeg4", rate=rate)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        for number in range(frames):
            picture = np.full((48, 64, 3), (20 + 30 * number) % 250, np.uint8)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        container.mux(stream.encode(None))
    return path


def test_pictures_come_in_order(tmp_path: Path) -> None:
    with FrameReader(written(tmp_path / "a.mp4")) as opened:
        assert opened.size == (64, 48) and opened.rate == 25
        means = [picture.mean() for picture in opened.pictures()]
    np.testing.assert_allclose(means, 20 + 30 * np.arange(6), atol=4)


def test_a_photograph_is_a_film_of_one_picture(tmp_path: Path) -> None:
    from PIL import Image

    Image.fromarray(np.full((30, 40, 3), 200, np.uint8)).save(tmp_path / "a.png")
    with FrameReader(tmp_path / "a.png") as opened:
        pictures = list(opened.pictures())
    assert len(pictures) == 1 and pictures[0].shape == (30, 40, 3) and abs(pictures[0].mean() - 200) < 3


def test_what_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="there is no such file"):
        FrameReader(tmp_path / "none.mp4")
    (tmp_path / "text.mp4").write_text("not a film " * 50, encoding="utf-8")
    with pytest.raises(BadFile, match=r"text\.mp4: is not a video that can be read"):
        FrameReader(tmp_path / "text.mp4")


def test_a_camera_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    assert face_capture._device_name("camera:3")[0].endswith("3") and face_capture._device_name("camera.mp4") == (
        "camera.mp4",
        None,
    )
    monkeypatch.setattr(face_capture, "CAMERA_SYSTEMS", {face_capture.sys.platform: ("v4l2", "/dev/no-such-camera{0}")})
    with pytest.raises(BadFile, match="no-such-camera0: camera cannot be opened"):
        FrameReader("camera")
