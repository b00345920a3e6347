"""Onto a model: weights that were put in come out, whatever the size and the stance of who was recorded."""

from __future__ import annotations

import numpy as np
import pytest
from tests.data_folder import data_file
from tests.express.takes import turned

from understudy import cast
from understudy.character import Character, Mesh, Part, Shapes, Skeleton, SkinBinding
from understudy.errors import InvalidInput
from understudy.express.landmark_solver import (
    LandmarkBasis,
    basis_of,
    displacements_on_model,
    solve,
    weights_of,
)
from understudy.express.manifest import read_recording
from understudy.formats import arkit_names


def small_face() -> Character:
    """Nine vertices, three shapes of which the last moves no landmark, and two parts that share a name of a shape."""
    grid = np.stack([*np.meshgrid([-1.0, 0, 1], [-1.0, 0, 1]), np.zeros((3, 3))], axis=-1).reshape(9, 3) * 0.05
    deltas = np.zeros((3, 9, 3))
    deltas[0, :3, 1], deltas[1, 3:6, 0], deltas[2, 8, 2] = 0.01, 0.02, 0.01
    skeleton = Skeleton(["root"], [-1], np.zeros((1, 3)), [[0.0, 0, 0, 1]], np.ones((1, 3)))
    triangles = [[0, 1, 4]]
    skin = Mesh("skin", grid, triangles, shapes=Shapes(["jawOpen", "grin", "ear"], deltas))
    teeth = Mesh("teeth", grid, triangles, shapes=Shapes(["jawOpen"], deltas[:1]))
    parts = [Part("skin", skin, SkinBinding.rigid(0, 9)), Part("teeth", teeth, SkinBinding.rigid(0, 9))]
    return Character("small", skeleton, parts)


VERTICES = [0, 1, 2, 3, 4, 5, 10]  # the last one of the teeth


def played(basis: LandmarkBasis, weights: np.ndarray) -> np.ndarray:
    return basis.rest + np.einsum("fs,sld->fld", weights, basis.deltas)


def test_the_basis_is_what_each_shape_moves() -> None:
    basis = basis_of(small_face(), VERTICES)
    assert basis.names == ("jawOpen", "grin") and basis.unseen == ("ear",)
    np.testing.assert_allclose(basis.deltas[0, :, 1], [0.01, 0.01, 0.01, 0, 0, 0, 0.01], atol=1e-8)
    np.testing.assert_allclose(basis.deltas[1, :, 0], [0, 0, 0, 0.02, 0.02, 0.02, 0], atol=1e-8)


@pytest.mark.parametrize("dimensions", [2, 3])
def test_weights_come_back_whatever_the_size_and_stance(dimensions: int) -> None:
    character = small_face()
    basis = basis_of(character, VERTICES)
    weights = np.array([[0, 0], [0.5, 0.2], [1, 0], [0, 0.9], [0.3, 1]])
    points = played(basis, weights)[:, :, :dimensions]
    points = 700 * points @ turned(0.4, dimensions, 1).T + 100
    clip = weights_of(character, points, VERTICES, 30.0, alpha=1e-9)
    np.testing.assert_allclose(clip.values, weights, atol=1e-5)
    assert clip.rate == 30 and clip.channels[0].columns == ("jawOpen", "grin")


def test_inside_the_bounds_it_is_equation_6() -> None:
    basis = basis_of(small_face(), VERTICES)
    points = played(basis, np.array([[0, 0], [0.4, 0.6]]))
    b = basis.deltas.reshape(2, -1).T
    m = (points[1] - points[0]).reshape(-1)
    alpha = 0.05 * np.trace(b.T @ b) / 2
    expected = np.linalg.solve(b.T @ b + alpha * np.eye(2), b.T @ m)
    np.testing.assert_allclose(solve(basis, points, alpha=0.05)[1], expected, atol=1e-9)


def test_bounds_hold() -> None:
    basis = basis_of(small_face(), VERTICES)
    points = played(basis, np.array([[0, 0], [-0.5, 2.0]]))
    np.testing.assert_allclose(solve(basis, points, alpha=1e-9)[1], [0, 1], atol=1e-9)
    np.testing.assert_allclose(solve(basis, points, alpha=1e-9, highest=3.0)[1], [0, 2], atol=1e-6)


def test_a_neutral_other_than_the_first_frame() -> None:
    basis = basis_of(small_face(), VERTICES)
    points = played(basis, np.array([[0.5, 0.5], [0.7, 0.1]]))
    np.testing.assert_allclose(solve(basis, points, basis.rest, alpha=1e-9), [[0.5, 0.5], [0.7, 0.1]], atol=1e-6)


def test_the_shipped_face() -> None:
    """Random poses of up to six shapes: the landmarks are met to a tenth of a millimetre and the weights nearly."""
    character = cast.load("face").characters[0]
    basis = basis_of(character, cast.FACE_LANDMARKS)
    assert len(basis.names) >= 46 and set(basis.unseen) <= {*arkit_names.SHAPE_NAMES}
    rng = np.random.default_rng(0)
    weights = np.zeros((60, len(basis.names)))
    for row in weights[1:]:
        row[rng.choice(len(row), 6, replace=False)] = rng.uniform(0.2, 1, 6)
    found = solve(basis, played(basis, weights))
    left = np.linalg.norm(played(basis, found) - played(basis, weights), axis=2)
    assert 1e3 * left.mean() < 0.1 and 1e3 * left.max() < 0.6, "millimetres"
    assert np.abs(found - weights).mean() < 0.02


def test_a_real_take_on_a_real_face() -> None:
    """A take played through the ICT face, of which the weights are known, solved from its 68 landmarks alone."""
    with np.load(data_file("face_ict/ict_expressions.npz")) as file:
        rows, names = file["landmarks68"], [str(name) for name in file["names"]]
        deltas = file["delta_q"][:, rows].astype(float) * float(file["scale"])
        rest = file["neutral"][rows].astype(float)
    seen = np.linalg.norm(deltas, axis=2).max(axis=1) > 1e-3
    basis = LandmarkBasis(tuple(np.array(names)[seen]), (), rest, deltas[seen])
    landmarks = read_recording(data_file("derived_face/alex_rom_3_lm68_on_ICT.npz")).points[100:2500:40]
    found = solve(basis, landmarks, rest, alpha=1e-4)
    left = np.linalg.norm(played(basis, found) - landmarks, axis=2)
    assert 10 * left.mean() < 0.15 and 10 * left.max() < 3, "millimetres"
    take = read_recording(data_file("face_livelink/alex_rom_3.csv")).points[100:2500:40, :, 0]
    truth = dict(zip(arkit_names.SHAPE_NAMES, take.T))
    for name in ("jawOpen", "mouthSmileLeft", "browDownLeft", "browOuterUpRight"):
        column = next(i for i, own in enumerate(basis.names) if arkit_names.canonical_name(own) == name)
        assert np.corrcoef(found[:, column], truth[name])[0, 1] > 0.95, name


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"points": np.ones((3, 6, 3))}, r"points should have shape \(any, 7, any\)|points should have shape \(F, 7"),
        ({"points": np.full((3, 7, 3), np.nan)}, "points should be finite"),
        ({"points": np.ones((3, 7, 3))}, "landmarks of the neutral pose should not all lie in one place"),
        ({"points": np.ones((3, 7, 1))}, "points should have 2 or 3 dimensions, but have 1"),
        ({"points": np.ones((0, 7, 3))}, "at least one frame, but have none"),
        ({"vertices": [0, 99]}, "landmark vertices should lie between 0 and 17, but holds 99"),
        ({"vertices": [8]}, "points should have shape"),
        ({"vertices": [6, 7]}, "no shape of character 'small' moves any of the landmarks"),
        ({"names": ["lm00"]}, "names should be as many as landmarks, 7, but are 1"),
        ({"shapes": ["smile"]}, "there is no shape 'smile'; available: 'jawOpen', 'grin', 'ear'"),
        ({"alpha": 0}, "alpha should be a finite number above zero, but is 0"),
        ({"rate": -1}, "rate should be a finite number above zero, but is -1"),
    ],
)
def test_what_is_refused(options: dict[str, object], sentence: str) -> None:
    points = played(basis_of(small_face(), VERTICES), np.zeros((2, 2)))
    given = {"points": points, "vertices": VERTICES, "rate": 30.0} | options
    with pytest.raises(InvalidInput, match=sentence):
        weights_of(small_face(), **given)


def test_a_character_without_shapes() -> None:
    whole = small_face()
    bare = Character(
        "bare", whole.skeleton, [Part("a", Mesh("a", np.zeros((3, 3)), [[0, 1, 2]]), SkinBinding.rigid(0, 3))]
    )
    with pytest.raises(InvalidInput, match="character 'bare' should have blend shapes, but has none"):
        basis_of(bare, [0])


def test_displacements_turn_with_the_head() -> None:
    rng = np.random.default_rng(0)
    rest, turn = rng.normal(size=(8, 3)), turned(0.7, 3, 0)
    neutral, moves = 5 * rest @ turn.T + 1, rng.normal(size=(2, 8, 3))
    np.testing.assert_allclose(displacements_on_model(5 * moves @ turn.T, neutral, rest), moves, atol=1e-9)
