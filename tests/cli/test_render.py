"""`render` and `demo`: the right file, the right number of frames, nothing left behind by bad input."""

from __future__ import annotations

import json
from pathlib import Path

import av
import numpy as np
import pytest
from PIL import Image


@pytest.mark.parametrize("backend", [[], ["--software"]], ids=["default", "software"])
def test_picture_shows_the_character(understudy, flag_file: Path, tmp_path: Path, backend: list[str]) -> None:
    path = tmp_path / "x.png"
    assert understudy("render", flag_file, "-o", path, "--size", "160x120", "--time", "0.5", *backend)[0] == 0
    picture = np.asarray(Image.open(path).convert("RGB"), float)
    assert picture.shape == (120, 160, 3)
    assert np.ptp(picture.mean(axis=2)) > 40  # something stands out from the background


def test_video_has_all_frames(understudy, flag_file: Path, tmp_path: Path) -> None:
    assert understudy("render", flag_file, "-o", tmp_path / "x.mp4", "--size", "96x64", "-q")[0] == 0
    with av.open(str(tmp_path / "x.mp4")) as video:
        assert sum(1 for _ in video.decode(video=0)) == 25
        assert float(video.streams.video[0].average_rate) == 24


def test_json_says_what_was_drawn(understudy, flag_file: Path, tmp_path: Path) -> None:
    code, out, _ = understudy("render", flag_file, "-o", tmp_path / "x.png", "--size", "64x64", "--json")
    row = json.loads(out)
    assert code == 0
    assert (row["output"], row["clip"], row["frames"]) == (str(tmp_path / "x.png"), "bend", 25)


def test_zoom_fills_the_picture(understudy, flag_file: Path, tmp_path: Path) -> None:
    shown, path = [], tmp_path / "x.png"
    for zoom in ("1", "1.6"):
        words = ["--size", "96x96", "--supersample", "1", "--background", "studio", "--zoom", zoom]
        assert understudy("render", flag_file, "-o", path, *words)[0] == 0
        shown.append((np.asarray(Image.open(path).convert("L"), float) > 100).mean())
    assert shown[0] > 0.02 and shown[1] > 1.5 * shown[0]


def test_a_sheet_without_captions_is_lower(understudy, flag_file: Path, tmp_path: Path) -> None:
    heights = []
    for words in ([], ["--no-captions", "--centred"]):
        path = tmp_path / "x.png"
        assert understudy("render", flag_file, "-o", path, "--sheet", "4", "--size", "64x64", *words)[0] == 0
        heights.append(Image.open(path).size[1])
    assert heights[1] < heights[0]


def test_contact_sheet_of_bones(understudy, flag_file: Path, tmp_path: Path) -> None:
    path = tmp_path / "x.png"
    assert understudy("render", flag_file, "-o", path, "--sheet", "6", "--bones", "--size", "64x64")[0] == 0
    assert Image.open(path).size[0] > 3 * 64


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["--time", "9"], 1),
        (["--size", "big"], 2),
        (["--size", "²x²"], 2),
        (["--clip", "jump"], 1),
        (["--azimuth", "north"], 2),
        (["--azimuth", "nan"], 2),
        (["--elevation", "inf"], 2),
        (["--rate", "nan"], 2),
        (["--zoom", "0"], 2),
        (["--supersample", "9"], 2),
        (["--target", "nose"], 1),
    ],
)
def test_bad_options_leave_nothing(understudy, flag_file: Path, tmp_path: Path, words: list[str], code: int) -> None:
    found, _, err = understudy("render", flag_file, "-o", tmp_path / "x.png", *words)
    assert found == code and "Traceback" not in err
    assert sorted(p.name for p in tmp_path.iterdir()) == ["flag.glb"]


def test_what_is_wrong_is_told_with_the_file(understudy, flag_file: Path, tmp_path: Path) -> None:
    for words, found in (
        (["--time", "9"], "the clip lasts"),
        (["--clip", "bnd"], "no clip 'bnd' (did you mean 'bend'?)"),
    ):
        err = understudy("render", flag_file, "-o", tmp_path / "x.png", *words)[2]
        assert err.startswith(f"error: {flag_file}: ") and found in err


def test_a_path_is_drawn_whole_and_pictures_of_a_sheet_are_small(understudy, flag_file: Path, tmp_path: Path) -> None:
    assert understudy("render", flag_file, "-o", tmp_path / "x.png", "--trail", "tip")[0] == 0
    assert Image.open(tmp_path / "x.png").size == (960, 720)
    assert understudy("render", flag_file, "-o", tmp_path / "s.png", "--sheet", "2", "--no-captions")[0] == 0
    assert Image.open(tmp_path / "s.png").size[0] < 960


def test_contact_sheet_is_no_video(understudy, flag_file: Path, tmp_path: Path) -> None:
    code, _, err = understudy("render", flag_file, "-o", tmp_path / "x.mp4", "--sheet", "4")
    assert code == 1 and ".png" in err
    assert not (tmp_path / "x.mp4").exists()


def test_unknown_ending(understudy, flag_file: Path, tmp_path: Path) -> None:
    code, _, err = understudy("render", flag_file, "-o", tmp_path / "x.avi")
    assert code == 1 and ".mp4" in err and ".png" in err


def test_folders_are_drawn_file_by_file(understudy, flag_file: Path, tmp_path: Path) -> None:
    code, _, _ = understudy("render", flag_file.parent, "-o", tmp_path / "out", "--to", "png", "--size", "64x64")
    assert code == 0
    assert Image.open(tmp_path / "out" / "flag.png").size == (64, 64)
    assert understudy("render", flag_file.parent, "-o", tmp_path / "out")[0] == 2


def test_trails_are_drawn_and_told(understudy, flag_file: Path, tmp_path: Path) -> None:
    shown = []
    for words in ([], ["--trail", "tip", "--trail-vertex", "2", "--trail-colour", "speed", "--trail-axes", "4"]):
        path = tmp_path / "x.png"
        code, out, _ = understudy("render", flag_file, "-o", path, "--size", "96x96", "--json", *words)
        assert code == 0
        shown.append(path.read_bytes())
    assert shown[0] != shown[1]
    points = json.loads(out)["trails"]
    assert [point["point"] for point in points] == ["tip", "vertex 2"]
    assert points[0]["metres"] == 0 and points[1]["metres"] > 0.5


@pytest.mark.parametrize("words", [["--trail", "nose"], ["--trail-vertex", "99"]])
def test_unknown_points_of_trails(understudy, flag_file: Path, tmp_path: Path, words: list[str]) -> None:
    code, _, err = understudy("render", flag_file, "-o", tmp_path / "x.png", *words)
    assert code == 1 and "there is no" in err and "flag" in err
    assert not (tmp_path / "x.png").exists()
