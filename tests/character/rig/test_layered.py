"""The layered rig: rest is the mesh, and the layers obey their formulas."""

from __future__ import annotations

import numba
import numpy as np
import pytest
from tests.character.rig.layered_character import character
from tests.character.skinning.test_layered_lattice import slow as slow_lattice
from tests.reference import character as reference

from understudy import cast
from understudy.character import Asset, Channel, Character, Clip, Mesh, Part, RigLayers, Shapes, SkinBinding
from understudy.character import rig as rigs
from understudy.character.rig import DirectRig, LayeredRig, Rig, bake
from understudy.character.skinning import layered
from understudy.errors import InvalidInput
from understudy.maths import euler, quaternion, transform


def some_rows(rig: LayeredRig, frames: int, seed: int = 0, part: float = 1.0) -> np.ndarray:
    """(F, C) rows across the ranges, of which only some controls leave their rest."""
    rng = np.random.default_rng(seed)
    rows = rng.uniform(rig.controls.low, rig.controls.high, (frames, len(rig.controls)))
    return np.where(rng.random(rows.shape) < part, rows, rig.rest)


def in_layers(rig: LayeredRig, rows: np.ndarray, *layers: str) -> np.ndarray:
    """The same rows with the controls of all other layers at rest."""
    keep = np.isin(rig.controls.layers, layers)
    return np.where(keep, rows, rig.rest)


def mesh_of(character: Character) -> np.ndarray:
    """(V, 3) where the rest pose puts the mesh: the ball as it is, the nail in the space of its joint."""
    nail = character.parts[1]
    place = LayeredRig(character).joints(character.layers.controls.rest[None])[0, nail.skin.joints[0]]
    return np.concatenate([character.parts[0].mesh.vertices, transform.apply(place, nail.mesh.vertices)]).astype("f4")


def slow_vertices(rig: LayeredRig, row: np.ndarray) -> np.ndarray:
    """One frame, vertex by vertex, straight from the formulas."""
    skeleton, layers = rig.character.skeleton, rig.layers
    p = rig.parameters(row[None])[0]
    extra = {pair: p[i] for i, pair in enumerate(layers.components)}
    worlds: list[np.ndarray] = []
    for j, name in enumerate(skeleton.names):
        part = {c: extra.get((name, c), 0.0) for c in ("tx", "ty", "tz", "rx", "ry", "rz", "sx", "sy", "sz")}
        turn = euler.from_euler([part["ry"], part["rx"], part["rz"]], "YXZ")
        local = transform.compose(
            skeleton.translations[j] + [part["tx"], part["ty"], part["tz"]],
            quaternion.multiply(skeleton.rotations[j], turn),
            skeleton.scales[j] * (1 + np.array([part["sx"], part["sy"], part["sz"]])),
        )
        worlds.append(local if skeleton.parents[j] < 0 else worlds[skeleton.parents[j]] @ local)
    points = np.concatenate([part.mesh.vertices for part in rig.character.parts]).astype(float)
    for s in range(len(layers.shapes)):
        points += p[len(layers.components) + s] * layers.shapes.dense(s, len(points))
    result, start = [], 0
    for part in rig.character.parts:
        skin = part.skin
        for v in range(len(part.mesh.vertices)):
            matrix = sum(
                skin.weights[v, k] * worlds[skin.joints[b]] @ skin.inverse_binds[b]
                for k, b in enumerate(skin.influences[v])
            )
            result.append((matrix @ [*points[start + v], 1])[:3])
        start += len(part.mesh.vertices)
    return _slow_bent(rig, row, worlds, np.array(result))


def _slow_bent(rig: LayeredRig, row: np.ndarray, worlds: list[np.ndarray], points: np.ndarray) -> np.ndarray:
    lattice = rig.layers.lattice
    c = rig.controls.clip(row) - rig.rest
    offsets = np.zeros((*lattice.counts, 3))
    for point, axis, control, gain in zip(lattice.point, lattice.axis, lattice.control, lattice.gain):
        offsets.reshape(-1, 3)[point, axis] += gain * c[control]
    joint = rig.character.skeleton.index(lattice.joint)
    turn = worlds[joint] @ np.linalg.inv(rig.joints(rig.rest[None])[0, joint])  # the box stands along the world's axes
    origin = rig.joints(rig.rest[None])[0, joint, :3, 3]
    inverse = np.linalg.inv(turn)
    return np.array(
        [
            x + turn[:3, :3] @ slow_lattice(transform.apply(inverse, x) - origin, lattice.low, lattice.high, offsets)
            for x in points
        ]
    )


def test_it_is_the_rig_of_a_character_with_layers() -> None:
    rig = rigs.rig_of(character())
    assert isinstance(rig, LayeredRig) and isinstance(rig, Rig)
    assert rig.channels[0] == Channel(rig.controls.names[0], "controls", ("value",))
    assert rig.channels.width == len(rig.controls)
    plain = Character("plain", character().skeleton, character().parts)
    assert isinstance(rigs.rig_of(plain), DirectRig)
    with pytest.raises(InvalidInput, match="'plain' has no layers"):
        LayeredRig(plain)


def test_rest_is_the_mesh_to_the_last_bit() -> None:
    for size in (90, 4, 333):
        rig = LayeredRig(character(size))
        np.testing.assert_array_equal(rig.vertices(rig.rest[None])[0], mesh_of(rig.character))


@pytest.mark.parametrize("size", [31, 90, 200])
def test_vertices_follow_the_formulas(size: int) -> None:
    rig = LayeredRig(character(size))
    rows = np.concatenate([some_rows(rig, 2), some_rows(rig, 3, 1, part=0.2)])
    expected = np.array([slow_vertices(rig, row) for row in rows])
    np.testing.assert_allclose(rig.vertices(rows), expected, atol=2e-6)


def test_shapes_add_up() -> None:
    rig = LayeredRig(character())
    rows = in_layers(rig, some_rows(rig, 1), "fine")
    once, half = rig.vertices(rows)[0], rig.vertices((rows + rig.rest) / 2)[0]
    rest = rig.vertices(rig.rest[None])[0]
    assert np.abs(once - rest).max() > 1e-3
    np.testing.assert_allclose(half - rest, (once - rest) / 2, atol=2e-7)


def test_a_batch_is_its_frames() -> None:
    rig = LayeredRig(character())
    rows = some_rows(rig, 19, part=0.3)
    batch = rig.vertices(rows)
    for f in (0, 7, 18):
        np.testing.assert_array_equal(batch[f], rig.vertices(rows[f : f + 1])[0])
    assert rig.vertices(rows[:0]).shape == (0, 94, 3)


def test_rows_are_held_within_the_ranges() -> None:
    rig = LayeredRig(character())
    rows = rig.rest + 3 * (some_rows(rig, 4) - rig.rest)
    np.testing.assert_array_equal(rig.vertices(rows), rig.vertices(rig.controls.clip(rows)))
    np.testing.assert_array_equal(rig.joints(rows), rig.joints(rig.controls.clip(rows)))


def test_it_is_continuous() -> None:
    """From one pose to another in a thousand steps, no step is much longer than its neighbours."""
    rig = LayeredRig(character())
    ends = some_rows(rig, 2)
    share = np.linspace(0, 1, 1001)[:, None]
    steps = np.diff(rig.vertices(ends[0] + share * (ends[1] - ends[0])), axis=0)
    assert np.abs(steps).max() < 0.01


def test_only_bones_is_the_direct_rig() -> None:
    rig = LayeredRig(character())
    direct = DirectRig(Character("ball", rig.character.skeleton, rig.character.parts))
    rows = in_layers(rig, some_rows(rig, 6), "bones")
    rows[:, rig.controls.index("lids.blink.R")] = 0  # moves a shape
    trs = np.concatenate(rig.local_transforms(rows), axis=-1).reshape(len(rows), -1)
    np.testing.assert_allclose(rig.joints(rows), direct.joints(trs), atol=1e-12)
    np.testing.assert_allclose(rig.vertices(rows), direct.vertices(trs), atol=1e-6)


def test_the_lattice_follows_its_joint() -> None:
    """Turning the head, and all above it, turns what the lattice made of it."""
    rig = LayeredRig(character())
    bent = in_layers(rig, some_rows(rig, 1), "lattice")
    turned = bent.copy()
    turned[0, rig.controls.index("bones.root_ry")] = 25
    turned[0, rig.controls.index("bones.root_rx")] = -10
    motion = rig.joints(turned)[0, 2] @ np.linalg.inv(rig.joints(bent)[0, 2])
    flat = rig.vertices(rig.rest[None])[0]
    before, after = rig.vertices(bent)[0], rig.vertices(turned)[0]
    assert np.abs(before - flat).max() > 5e-3
    np.testing.assert_allclose(after, transform.apply(motion, before), atol=1e-6)


def test_the_lattice_moves_nothing_outside_its_box() -> None:
    rig = LayeredRig(character(300))
    lattice, rest = rig.layers.lattice, rig.vertices(rig.rest[None])[0]
    origin = rig.joints(rig.rest[None])[0, 2, :3, 3]
    outside = ((rest <= origin + lattice.low) | (rest >= origin + lattice.high)).any(axis=1)
    moved = rig.vertices(in_layers(rig, some_rows(rig, 1), "lattice"))[0]
    assert outside.any() and (moved != rest)[~outside].any()
    np.testing.assert_array_equal(moved[outside], rest[outside])


def test_threads_do_not_change_the_result() -> None:
    rig = LayeredRig(character())
    rows, before, results = some_rows(rig, 30), numba.get_num_threads(), []
    for threads in (1, numba.config.NUMBA_NUM_THREADS):
        numba.set_num_threads(threads)
        results.append(rig.vertices(rows))
    numba.set_num_threads(before)
    np.testing.assert_array_equal(*results)


def test_animations_lie_over_the_rest_by_name() -> None:
    rig = LayeredRig(character())
    one = Clip(
        "one", [Channel("bones.head_rx", "controls", ("value",)), Channel("x", "controls", ("value",))], [[5, 6]], 24
    )
    row = rig.pose(one)[0]
    assert row[rig.controls.index("bones.head_rx")] == 5 and (row != rig.rest).sum() == 1
    assert rig.unmatched_channels(one.channels) == [Channel("x", "controls", ("value",))]
    many = Clip("many", [Channel("", "controls", ("bones.head_ry", "unknown", "shapes.shape1"))], [[1, 2, 0.5]], 24)
    row = rig.pose(many)[0]
    assert row[[rig.controls.index("bones.head_ry"), rig.controls.index("shapes.shape1")]].tolist() == [1, 0.5]
    walk = Clip("walk", [Channel("head", "rotation")], [[0, 0, 0, 1]], 24)
    assert not rig.is_moved_by(walk)
    with pytest.raises(InvalidInput, match=r"moves nothing .* 'head', the character has 'bones.root_rx'"):
        rig.pose(walk)


def test_baking_uses_it() -> None:
    clip = Clip("nod", [Channel("bones.head_rx", "controls", ("value",))], [[0], [10], [20]], 24)
    baked = bake(Asset([character()], [clip]))
    rig = LayeredRig(character())
    np.testing.assert_array_equal(baked.vertices, rig.vertices(rig.pose(clip)))
    assert baked.joint_names[:3] == ("root", "j1", "head")


def test_what_it_cannot_be_is_refused() -> None:
    sound = character()
    ball, nail = sound.parts
    shaped = Mesh("nail", nail.mesh.vertices, nail.mesh.triangles, shapes=Shapes(["a"], np.zeros((1, 4, 3))))
    with pytest.raises(InvalidInput, match="'nail' of a character with layers should have a linear skin"):
        LayeredRig(
            Character("x", sound.skeleton, [Part("nail", shaped, nail.skin)], layers=RigLayers(sound.layers.controls))
        )
    binds = ball.skin.inverse_binds.copy()
    binds[0, 0, 3] += 0.1
    skewed = SkinBinding(ball.skin.joints, binds, ball.skin.influences, ball.skin.weights)
    rig = LayeredRig(Character("x", sound.skeleton, [Part("ball", ball.mesh, skewed), nail], layers=sound.layers))
    with pytest.raises(InvalidInput, match=r"'ball' .* should be bound in the rest pose"):
        rig.vertices(rig.rest[None])


def test_the_dragon_at_rest_is_its_mesh_and_the_kernel_agrees_with_its_oracle() -> None:
    rig = LayeredRig(cast.load("dragon").character())
    mesh = np.concatenate([part.mesh.vertices for part in rig.character.parts])
    np.testing.assert_array_equal(rig.vertices(rig.rest[None])[0], mesh)
    frames = rig.frames(some_rows(rig, 2, part=0.3))
    np.testing.assert_allclose(layered.deform(rig.blocks, frames), reference.deform(rig.blocks, frames), atol=1e-6)


def test_some_vertices_are_those_of_all() -> None:
    rig = LayeredRig(character())
    rows = some_rows(rig, 3)
    some = [3, 0, rig.character.vertex_count - 1]
    np.testing.assert_allclose(rig.points(rows, some), rig.vertices(rows)[:, some], atol=1e-7)
