"""Videos have the right number of frames, rate, size and colours, and appear whole or not at all."""

from fractions import Fraction

import av
import numpy as np
import pytest
from PIL import Image

from understudy.errors import InvalidInput
from understudy.render.video import exact_rate, open_video


def frames(count, width=64, height=48):
    """A bright square that wanders over a gradient."""
    y, x = np.mgrid[:height, :width]
    ground = np.stack([x * 2, y * 2, 90 + 0 * x], axis=-1).astype(np.uint8)
    for i in range(count):
        picture = ground.copy()
        picture[10:30, i : i + 20] = (240, 160, 60)
        yield picture


def write(path, count=12, rate=24, **size):
    with open_video(path, rate, total=count) as video:
        for picture in frames(count, **size):
            video.add(picture)


@pytest.mark.parametrize("ending", [".mp4", ".webm"])
@pytest.mark.parametrize("rate", [24, 29.97, 120, 12.5])
def test_frame_count_rate_and_size(tmp_path, ending, rate):
    path = tmp_path / f"a{ending}"
    write(path, 12, rate)
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        shown = list(container.decode(stream))
        assert len(shown) == 12
        assert (stream.width, stream.height) == (64, 48)
        assert stream.format.name == "yuv420p"
        assert stream.average_rate == pytest.approx(float(exact_rate(rate)), rel=1e-3)
        times = np.array([frame.time for frame in shown])
    # WebM counts in milliseconds.
    np.testing.assert_allclose(times, np.arange(12) / float(exact_rate(rate)), atol=6e-4)
    expected = list(frames(12))
    for i in (0, 11):
        difference = shown[i].to_ndarray(format="rgb24").astype(int) - expected[i]
        assert np.abs(difference).mean() < 6


def test_the_index_of_an_mp4_comes_first(tmp_path):
    write(tmp_path / "a.mp4")
    data = (tmp_path / "a.mp4").read_bytes()
    assert 0 < data.index(b"moov") < data.index(b"mdat")


def test_colours_survive(tmp_path):
    wanted = np.array([[250, 30, 30], [30, 200, 60], [40, 60, 230], [128, 128, 128]])
    picture = np.repeat(np.repeat(wanted[None], 64, axis=0), 32, axis=1).astype(np.uint8)
    for ending in (".mp4", ".webm"):
        path = tmp_path / f"a{ending}"
        with open_video(path, 24) as video:
            for _ in range(3):
                video.add(picture)
        with av.open(str(path)) as container:
            frame = next(container.decode(video=0))
            got = frame.to_ndarray(format="rgb24").astype(int)
        np.testing.assert_allclose(got[32, 16::32], wanted, atol=8)


@pytest.mark.parametrize("ending", [".mp4", ".webm", ".gif"])
def test_odd_sizes(tmp_path, ending):
    path = tmp_path / f"a{ending}"
    write(path, 3, width=63, height=47)
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        assert (stream.width, stream.height) == ((63, 47) if ending == ".gif" else (64, 48))


@pytest.mark.parametrize(("rate", "count"), [(24, 24), (30, 30), (60, 60), (100, 30), (25, 10)])
def test_a_gif_has_the_right_speed_and_picture(tmp_path, rate, count):
    path = tmp_path / "a.gif"
    write(path, count, rate)
    with Image.open(path) as image:
        assert image.info["loop"] == 0
        delays = []
        for i in range(image.n_frames):
            image.seek(i)
            delays.append(image.info["duration"])
        assert min(delays) >= 20
        assert sum(delays) == pytest.approx(1000 * count / rate, abs=20)
        if rate <= 50:
            assert image.n_frames == count
        image.seek(0)
        difference = np.array(image.convert("RGB")).astype(int) - next(frames(1))
    assert np.abs(difference).mean() < 6


@pytest.mark.parametrize("ending", [".mp4", ".webm", ".gif"])
@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_an_interrupted_video_leaves_nothing(tmp_path, ending, error):
    with pytest.raises(error), open_video(tmp_path / f"a{ending}", 24) as video:
        for i, picture in enumerate(frames(10)):
            if i == 5:
                raise error
            video.add(picture)
    assert list(tmp_path.iterdir()) == []


def test_an_interrupted_video_keeps_the_older_one(tmp_path):
    write(tmp_path / "a.mp4", 3)
    before = (tmp_path / "a.mp4").read_bytes()
    with pytest.raises(KeyboardInterrupt), open_video(tmp_path / "a.mp4", 24) as video:
        video.add(next(frames(1)))
        raise KeyboardInterrupt
    assert (tmp_path / "a.mp4").read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 1


def test_an_unwritable_frame_leaves_nothing(tmp_path):
    with pytest.raises(InvalidInput, match="one size"), open_video(tmp_path / "a.webm", 24) as video:
        video.add(np.zeros((48, 64, 3), np.uint8))
        video.add(np.zeros((48, 65, 3), np.uint8))
    with pytest.raises(InvalidInput, match="at least one picture"), open_video(tmp_path / "a.mp4", 24):
        pass
    assert list(tmp_path.iterdir()) == []


def test_progress_counts_to_the_total(tmp_path):
    calls = []
    with open_video(tmp_path / "a.mp4", 24, total=4, progress=lambda *call: calls.append(call)) as video:
        for picture in frames(4):
            video.add(picture)
    assert calls == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_unknown_endings_and_rates_are_refused(tmp_path):
    with pytest.raises(InvalidInput, match=r"available: .mp4, .webm, .gif"):
        write(tmp_path / "a.avi")
    for rate in (0, -1, float("nan"), 1e9):
        with pytest.raises(InvalidInput, match="rate"):
            write(tmp_path / "a.mp4", rate=rate)


def test_rates_of_film_and_television_are_exact():
    assert exact_rate(24) == 24
    assert exact_rate(29.97) == Fraction(30000, 1001)
    assert exact_rate(23.976) == Fraction(24000, 1001)
    assert exact_rate(1 / 0.0083333) == 120
    assert exact_rate(12.5) == Fraction(25, 2)
    assert exact_rate(Fraction(60000, 1001)) == Fraction(60000, 1001)
