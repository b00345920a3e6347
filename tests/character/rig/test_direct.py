"""The direct rig: rest is rest, animations lie over it, vertices obey the formulas of skinning."""

from __future__ import annotations

import numpy as np
import pytest

from understudy.character import Channel, Character, Clip, Curve, Curves, Mesh, Part, Shapes, Skeleton, SkinBinding
from understudy.character.rig import DirectRig, Rig
from understudy.errors import InvalidInput
from understudy.maths import quaternion, transform


def character(seed: int = 0) -> Character:
    """Three joints in a chain with scale, a skinned part with two shapes, and a rigid part."""
    rng = np.random.default_rng(seed)
    skeleton = Skeleton(
        ["a", "b", "c"],
        [-1, 0, 1],
        rng.normal(size=(3, 3)),
        quaternion.normalise(rng.normal(size=(3, 4))),
        rng.uniform(0.5, 2, (3, 3)),
    )
    shapes = Shapes(["up", "down"], rng.normal(size=(2, 10, 3)), defaults=[0.25, 0])
    weights = rng.dirichlet(np.ones(3), 10)
    binds = transform.compose(rng.normal(size=(3, 3)), quaternion.normalise(rng.normal(size=(3, 4))))
    skin = SkinBinding([2, 0, 1], binds, np.tile([0, 1, 2], (10, 1)), weights)
    soft = Mesh("soft", rng.normal(size=(10, 3)), [[0, 1, 2]], shapes=shapes)
    hard = Mesh("hard", rng.normal(size=(4, 3)), [[0, 1, 2]])
    return Character("test", skeleton, [Part("soft", soft, skin), Part("hard", hard, SkinBinding.rigid(1, 4))])


def slow_vertices(rig: DirectRig, row: np.ndarray) -> np.ndarray:
    """One frame, vertex by vertex, straight from the formulas."""
    skeleton, worlds = rig.character.skeleton, []
    for j, name in enumerate(skeleton.names):
        t, q, s = (row[rig.channels.slice(name, kind)] for kind in ("translation", "rotation", "scale"))
        local = transform.compose(t, q, s)
        worlds.append(local if skeleton.parents[j] < 0 else worlds[skeleton.parents[j]] @ local)
    result = []
    for part in rig.character.parts:
        points = part.mesh.vertices.astype(float)
        if part.mesh.shapes:
            points = points + np.tensordot(row[rig.channels.slice(part.name, "weights")], part.mesh.shapes.deltas, 1)
        for v, point in enumerate(points):
            skin = part.skin
            matrix = sum(
                skin.weights[v, k] * worlds[skin.joints[b]] @ skin.inverse_binds[b]
                for k, b in enumerate(skin.influences[v])
            )
            result.append((matrix @ [*point, 1])[:3])
    return np.array(result)


def test_it_is_a_rig() -> None:
    assert isinstance(DirectRig(character()), Rig)


@pytest.mark.parametrize("seed", range(5))
def test_vertices_follow_the_formulas(seed: int) -> None:
    rig = DirectRig(character(seed))
    rng = np.random.default_rng(seed)
    rows = rig.rest + 0.2 * rng.normal(size=(4, rig.channels.width))
    turns = rig.channels.columns_of("rotation")
    rows[:, turns] = quaternion.normalise(rows[:, turns].reshape(4, -1, 4)).reshape(4, -1)
    expected = np.array([slow_vertices(rig, row) for row in rows])
    np.testing.assert_allclose(rig.vertices(rows), expected, atol=2e-5)


def test_rest_has_default_weights() -> None:
    rig = DirectRig(character())
    np.testing.assert_allclose(rig.rest[rig.channels.slice("soft", "weights")], [0.25, 0])


def test_animation_lies_over_the_rest_pose() -> None:
    rig = DirectRig(character())
    clip = Clip("move", [Channel("b", "translation"), Channel("z", "rotation")], [[1, 2, 3, 0, 0, 0, 1]], 24)
    row = rig.pose(clip)[0]
    np.testing.assert_allclose(row[rig.channels.slice("b", "translation")], [1, 2, 3])
    untouched = np.ones(rig.channels.width, bool)
    untouched[rig.channels.slice("b", "translation")] = False
    np.testing.assert_array_equal(row[untouched], rig.rest[untouched])
    assert rig.unmatched_channels(clip.channels) == [Channel("z", "rotation")]
    assert rig.is_moved_by(clip)
    assert not rig.is_moved_by(Clip("z", [Channel("z", "rotation")], [[0, 0, 0, 1]], 24))


def test_weights_for_any_part_are_matched_by_shape_name() -> None:
    rig = DirectRig(character())
    clip = Clip("face", [Channel("", "weights", ("down", "unknown"))], [[0.5, 1.0]], 24)
    np.testing.assert_allclose(rig.pose(clip)[0][rig.channels.slice("soft", "weights")], [0.25, 0.5])


def test_euler_channels_turn_the_joint() -> None:
    rig = DirectRig(character())
    curves = Curves("turn", [Curve(Channel("c", "euler", ("z", "x", "y")), [0, 1], [[0, 0, 0], [0.3, 0.2, 0.1]])])
    found = rig.pose(curves, [1.0])[0][rig.channels.slice("c", "rotation")]
    z, x, y = (quaternion.from_rotation_vector(v) for v in ([0, 0, 0.3], [0.2, 0, 0], [0, 0.1, 0]))
    expected = quaternion.multiply(quaternion.multiply(z, x), y)
    assert quaternion.angle_between(found, expected) < 1e-7


def test_an_animation_of_someone_else_is_refused_by_name() -> None:
    clip = Clip("walk", [Channel("Hips", "rotation")], [[0, 0, 0, 1]], 24)
    with pytest.raises(InvalidInput, match=r"'walk' moves nothing .* 'Hips', the character has 'a', 'b', 'c'"):
        DirectRig(character()).pose(clip)


def test_rows_of_the_wrong_width_are_refused() -> None:
    with pytest.raises(InvalidInput, match="rows of this rig"):
        DirectRig(character()).vertices(np.zeros((2, 3)))


def test_dual_quaternion_skins_are_honoured() -> None:
    """A tube twisted by half a turn keeps its girth under dual quaternions and collapses under linear blending."""
    skeleton = Skeleton(["root", "end"], [-1, 0], [[0, 0, 0], [0, 0, 0]])
    ring = np.array([[1, 0, 0], [-1, 0, 0], [0, 0, 1], [0, 0, -1]])
    radii = {}
    for method in ("linear", "dual"):
        skin = SkinBinding([0, 1], np.tile(np.eye(4), (2, 1, 1)), [[0, 1]] * 4, [[0.5, 0.5]] * 4, method)
        rig = DirectRig(Character("tube", skeleton, [Part("ring", Mesh("ring", ring, [[0, 1, 2]]), skin)]))
        row = rig.rest.copy()
        row[rig.channels.slice("end", "rotation")] = quaternion.from_rotation_vector([0, np.pi * 0.999, 0])
        radii[method] = np.linalg.norm(rig.vertices(row[None])[0], axis=1)
    assert radii["linear"].max() < 0.01
    np.testing.assert_allclose(radii["dual"], 1, atol=1e-5)
