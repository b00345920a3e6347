"""PNG files and contact sheets."""

import numpy as np
import pytest
from PIL import Image

from understudy.errors import InvalidInput
from understudy.render.picture import SHEET_THEMES, contact_sheet, write_png


def noise(*shape):
    return np.random.default_rng(0).integers(0, 256, size=shape, dtype=np.uint8)


@pytest.mark.parametrize("channels", [3, 4])
def test_a_png_comes_back_as_it_was(tmp_path, channels):
    picture = noise(31, 47, channels)
    write_png(tmp_path / "a.png", picture)
    with Image.open(tmp_path / "a.png") as image:
        assert image.format == "PNG"
        np.testing.assert_array_equal(np.array(image), picture)
    assert [p.name for p in tmp_path.iterdir()] == ["a.png"]


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    write_png(tmp_path / "a.png", noise(8, 8, 3))
    before = (tmp_path / "a.png").read_bytes()

    def broken(self, file, **more):
        file.write_bytes(b"half")
        raise OSError("disk full")

    monkeypatch.setattr(Image.Image, "save", broken)
    with pytest.raises(InvalidInput, match=r"a\.png: disk full"):
        write_png(tmp_path / "a.png", noise(9, 9, 3))
    assert (tmp_path / "a.png").read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 1


def test_bad_pictures_and_places_are_refused(tmp_path):
    with pytest.raises(InvalidInput, match="uint8"):
        write_png(tmp_path / "a.png", np.zeros((4, 4, 3)))
    with pytest.raises(InvalidInput, match="there is no folder"):
        write_png(tmp_path / "missing" / "a.png", noise(4, 4, 3))


@pytest.mark.parametrize("theme", SHEET_THEMES)
@pytest.mark.parametrize(("count", "columns"), [(1, None), (5, 3), (7, None), (4, 9)])
def test_a_sheet_holds_every_picture_untouched_and_apart(theme, count, columns):
    pictures = [np.full((60, 80, 3), 20 + 30 * i, dtype=np.uint8) for i in range(count)]
    pictures = [np.dstack([p[..., 0], p[..., 1] // 2, 255 - p[..., 2]]) for p in pictures]
    sheet = contact_sheet(pictures, [f"frame {i}" for i in range(count)], columns=columns, title="walk", theme=theme)
    for picture in pictures:
        rows, cols = np.nonzero((sheet == picture[0, 0]).all(axis=2))
        assert len(rows) == 60 * 80
        assert np.ptp(rows) == 59 and np.ptp(cols) == 79
    assert (sheet[[0, -1]] == SHEET_THEMES[theme].paper).all() and (
        sheet[:, [0, -1]] == SHEET_THEMES[theme].paper
    ).all()


def test_captions_stay_below_their_own_picture():
    pictures = [np.zeros((60, 80, 3), dtype=np.uint8)] * 2
    long = contact_sheet(pictures, ["a very long caption " * 9, ""], columns=2)
    none = contact_sheet(pictures, ["", ""], columns=2)
    changed = np.nonzero((long != none).any(axis=(0, 2)))[0]
    assert changed.size and changed.max() < long.shape[1] // 2


def test_sheets_are_checked():
    with pytest.raises(InvalidInput, match="at least one picture"):
        contact_sheet([])
    with pytest.raises(InvalidInput, match="one size"):
        contact_sheet([noise(4, 4, 3), noise(4, 5, 3)])
    with pytest.raises(InvalidInput, match="2 pictures need as many captions"):
        contact_sheet([noise(4, 4, 3)] * 2, ["one"])
