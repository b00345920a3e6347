"""Rest rotation and scale come back to the last digit, unless somebody has edited the rest transform since."""

from __future__ import annotations

import numpy as np
import pytest

from understudy.character import Asset, Character, Skeleton
from understudy.formats import read, write

pytest.importorskip("pxr")
from pxr import Usd, UsdSkel, Vt


def rounded() -> Skeleton:
    """Two joints whose quaternions are float32, and so not quite of unit length, under a scale of 300."""
    turns = np.float32([[0.6, 0.48, 0.36, 0.528], [0.1, 0.7, -0.3, 0.6]])
    turns /= np.sqrt(np.sum(turns * turns, axis=1, keepdims=True))
    return Skeleton(["a", "b"], [-1, 0], [[0, 1, 0], [0, 0, 1]], turns, [[300] * 3, [1 / 300] * 3])


def test_rotation_and_scale_are_exact(tmp_path) -> None:
    write(Asset([Character("stick", rounded())]), tmp_path / "x.usda")
    found = read(tmp_path / "x.usda").character().skeleton
    np.testing.assert_array_equal(found.rotations, rounded().rotations)
    np.testing.assert_array_equal(found.scales, rounded().scales)


def test_an_edited_rest_transform_counts(tmp_path) -> None:
    path = tmp_path / "x.usda"
    write(Asset([Character("stick", rounded())]), path)
    stage = Usd.Stage.Open(str(path))
    prim = next(prim for prim in stage.Traverse() if prim.IsA(UsdSkel.Skeleton))
    rest = np.tile(np.diag([2.0, 2.0, 2.0, 1.0]), (2, 1, 1))
    UsdSkel.Skeleton(prim).GetRestTransformsAttr().Set(Vt.Matrix4dArray.FromNumpy(rest))
    stage.Save()
    found = read(path).character().skeleton
    np.testing.assert_allclose(found.scales, 2)
    np.testing.assert_allclose(np.abs(found.rotations[:, 3]), 1)
