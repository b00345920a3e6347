"""Node transforms: the product of matrices that the SDK documents, and the three ways to inherit scale."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.formats.fbx.scenes import FbxFile, keys

from understudy.character import kinematics
from understudy.character.rig import DirectRig
from understudy.formats import read
from understudy.formats.fbx.nodes import ROTATION_ORDERS
from understudy.maths import transform


def axis_matrix(axis: str, degrees: float) -> np.ndarray:
    """(4, 4) a rotation about one axis."""
    result = np.eye(4)
    i, j = {"x": (1, 2), "y": (2, 0), "z": (0, 1)}[axis]
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    result[i, i], result[j, j], result[i, j], result[j, i] = c, c, -s, s
    return result


def angles_matrix(degrees: np.ndarray, order: str = "xyz") -> np.ndarray:
    """(4, 4) of angles about x, y, z that are applied in an order."""
    result = np.eye(4)
    for axis in order:
        result = axis_matrix(axis, degrees["xyz".index(axis)]) @ result
    return result


def move(vector: np.ndarray) -> np.ndarray:
    result = np.eye(4)
    result[:3, 3] = vector
    return result


def product(fields: dict[str, np.ndarray], order: str) -> np.ndarray:
    """T Roff Rp Rpre R Rpost^-1 Rp^-1 Soff Sp S Sp^-1, written out."""
    scaling = np.diag([*fields["S"], 1.0])
    return (
        move(fields["T"])
        @ move(fields["RotationOffset"])
        @ move(fields["RotationPivot"])
        @ angles_matrix(fields["PreRotation"])
        @ angles_matrix(fields["R"], order)
        @ np.linalg.inv(angles_matrix(fields["PostRotation"]))
        @ move(-fields["RotationPivot"])
        @ move(fields["ScalingOffset"])
        @ move(fields["ScalingPivot"])
        @ scaling
        @ move(-fields["ScalingPivot"])
    )


def random_fields(rng: np.random.Generator) -> dict[str, np.ndarray]:
    moves = ("T", "RotationOffset", "RotationPivot", "ScalingOffset", "ScalingPivot")
    turns = ("R", "PreRotation", "PostRotation")
    fields = {name: rng.uniform(-2, 2, 3) for name in moves}
    return fields | {name: rng.uniform(-90, 90, 3) for name in turns} | {"S": rng.uniform(0.5, 2.0, 3)}


@pytest.mark.parametrize("order", range(6))
def test_a_node_is_the_product_of_its_matrices(order: int, tmp_path: Path) -> None:
    fields = random_fields(np.random.default_rng(order))
    file = FbxFile()
    file.model("node", RotationActive=1, RotationOrder=order, **fields)
    skeleton = read(file.save(tmp_path / "node.fbx")).character().skeleton
    local = transform.compose(skeleton.translations[0], skeleton.rotations[0], skeleton.scales[0])
    assert local == pytest.approx(product(fields, ROTATION_ORDERS[order]), abs=1e-12)


def test_rotations_before_and_after_need_to_be_active(tmp_path: Path) -> None:
    file = FbxFile()
    file.model("node", R=(10.0, 20.0, 30.0), PreRotation=(90.0, 0.0, 0.0), RotationOrder=3)
    skeleton = read(file.save(tmp_path / "node.fbx")).character().skeleton
    local = transform.compose(skeleton.translations[0], skeleton.rotations[0])
    assert local == pytest.approx(angles_matrix(np.array([10.0, 20.0, 30.0])), abs=1e-12)


def test_a_node_that_turns_about_its_pivot_is_exact_on_every_frame(tmp_path: Path) -> None:
    fields = random_fields(np.random.default_rng(7))
    file = FbxFile()
    node = file.model("node", RotationActive=1, RotationOrder=2, **fields)
    (layer,) = file.stack("take")
    file.curves(layer, node, "Lcl Rotation", {"X": keys((0.0, 1.0), (0.0, 120.0))}, Y=-30.0, Z=10.0)
    asset = read(file.save(tmp_path / "pivot.fbx"))
    rig = DirectRig(asset.character())
    times = np.arange(25) / 24
    posed = rig.joints(rig.pose(asset.curves[0], times))[:, 0]
    for time, matrix in zip(times, posed):
        now = fields | {"R": np.array([120.0 * time, -30.0, 10.0])}
        assert matrix == pytest.approx(product(now, ROTATION_ORDERS[2]), abs=1e-6)
    assert any("sampled on every frame" in note for note in asset.notes)


def world(path: Path) -> tuple[tuple[str, ...], np.ndarray]:
    skeleton = read(path).character().skeleton
    return skeleton.names, kinematics.world_transforms(
        skeleton.parents, skeleton.translations, skeleton.rotations, skeleton.scales
    )


@pytest.mark.parametrize("kind", (0, 1, 2))
def test_the_ways_to_inherit_scale(kind: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(kind)
    turns, moves, factors = rng.uniform(-90, 90, (3, 3)), rng.uniform(-2, 2, (3, 3)), (2.0, 3.0, 5.0)
    file, above = FbxFile(), 0
    for i, factor in enumerate(factors):
        above = file.model(f"n{i}", above, T=moves[i], R=turns[i], S=(factor,) * 3, InheritType=kind if i else 1)
    _, placed = world(file.save(tmp_path / "scale.fbx"))
    # with the same scale on all axes, only type 2 differs: it leaves out the scaling of the node above
    sizes = {0: (2.0, 6.0, 30.0), 1: (2.0, 6.0, 30.0), 2: (2.0, 3.0, 5.0)}[kind]
    turn, place, size = np.eye(3), np.zeros(3), 1.0
    for i in range(3):
        place = place + size * turn @ moves[i]
        turn, size = turn @ angles_matrix(turns[i])[:3, :3], sizes[i]
        assert placed[i, :3, 3] == pytest.approx(place, abs=1e-9)
        assert placed[i, :3, :3] == pytest.approx(size * turn, abs=1e-9)


def test_scale_that_is_not_inherited_stays_so_while_it_moves(tmp_path: Path) -> None:
    file = FbxFile()
    parent = file.model("parent", T=(0.0, 1.0, 0.0))
    child = file.model("child", parent, T=(0.0, 1.0, 0.0), InheritType=2)
    (layer,) = file.stack("take")
    column = keys((0.0, 1.0), (1.0, 3.0))
    file.curves(layer, parent, "Lcl Scaling", {"X": column, "Y": column, "Z": column})
    asset = read(file.save(tmp_path / "breath.fbx"))
    rig = DirectRig(asset.character())
    posed = rig.joints(rig.pose(asset.curves[0], [0.0, 0.5, 1.0]))
    at = asset.character().skeleton.index("child")
    assert child and posed[:, at, 1, 3] == pytest.approx([2.0, 3.0, 4.0])  # the arm grows
    assert posed[:, at, :3, :3] == pytest.approx(np.broadcast_to(np.eye(3), (3, 3, 3)))  # the child does not
