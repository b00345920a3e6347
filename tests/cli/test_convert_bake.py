"""`bake`: the documented arrays, at the wanted rate, on the file's own clock."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np


def test_arrays_are_as_documented(understudy, flag_file: Path, tmp_path: Path) -> None:
    code, _, _ = understudy("bake", flag_file, "--clip", "bend", "-o", tmp_path / "flag.npz")
    assert code == 0
    with np.load(tmp_path / "flag.npz", allow_pickle=False) as baked:
        assert baked["times"].shape == (25,)
        assert baked["joint_names"].tolist() == ["pole", "tip"]
        assert baked["joints"].shape == (25, 2, 4, 4)
        assert baked["vertices"].shape == (25, 4, 3)
        assert baked["triangles"].tolist() == [[0, 1, 2], [0, 2, 3]]
        c, s = np.cos(1), np.sin(1)
        # the upper right corner hangs on the tip: turned by one radian about it, then waved by 0.2
        np.testing.assert_allclose(baked["vertices"][-1, 2], [c, 1 + s, 0.2], atol=1e-6)
        np.testing.assert_allclose(baked["vertices"][-1, 1], [1, 0, 0.1], atol=1e-6)


def test_rate_and_clock(understudy, flag_file: Path, tmp_path: Path) -> None:
    assert understudy("bake", flag_file, "--rate", "10", "-o", tmp_path / "x.npz")[0] == 0
    with np.load(tmp_path / "x.npz") as baked:
        np.testing.assert_allclose(baked["times"], np.arange(11) / 10)


def test_unknown_clip_lists_the_known(understudy, flag_file: Path, tmp_path: Path) -> None:
    code, _, err = understudy("bake", flag_file, "--clip", "jump", "-o", tmp_path / "x.npz")
    assert code == 1 and "'bend'" in err
    assert not (tmp_path / "x.npz").exists()


def test_too_large_is_refused_before_memory_is_taken(understudy, flag_file: Path, tmp_path: Path) -> None:
    code, _, err = understudy("bake", flag_file, "--rate", "20000", "-o", tmp_path / "x.npz")
    assert code == 2 and "--rate" in err


def test_output_should_be_npz(understudy, flag_file: Path, tmp_path: Path) -> None:
    code, _, err = understudy("bake", flag_file, "-o", tmp_path / "x.glb")
    assert code == 2 and ".npz" in err
    assert not (tmp_path / "x.glb").exists()


def test_folders_are_baked_file_by_file(understudy, flag_file: Path, tmp_path: Path) -> None:
    (flag_file.parent / "broken.bvh").write_text("HIERARCHY\nROOT")
    code, out, err = understudy("bake", flag_file.parent, "-o", tmp_path / "out", "--json")
    rows = json.loads(out)
    assert code == 1 and "broken.bvh" in err
    assert [("error" in row) for row in rows] == [True, False]
    with np.load(tmp_path / "out" / "flag.npz") as baked:
        assert baked["vertices"].shape == (25, 4, 3)
