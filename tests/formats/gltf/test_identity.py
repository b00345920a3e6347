"""Writing and reading again gives the same asset: random small characters with random animation."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from understudy.character import (
    Asset,
    Channel,
    Character,
    Clip,
    Curve,
    Curves,
    Material,
    Mesh,
    Part,
    Shapes,
    Skeleton,
    SkinBinding,
)
from understudy.character.curve import LINEAR, STEP
from understudy.character.rig.rig import DirectRig
from understudy.formats import gltf
from understudy.maths import quaternion


def skeleton(rng: np.random.Generator, joints: int) -> Skeleton:
    parents = [int(rng.integers(-1, j)) for j in range(joints)]
    parents[0] = -1
    rotations = quaternion.normalise(rng.normal(size=(joints, 4)))
    return Skeleton.from_unsorted(
        [f"j{j}" for j in range(joints)],
        parents,
        rng.normal(size=(joints, 3)),
        rotations,
        rng.uniform(0.5, 2, (joints, 3)),
    )[0]


def mesh(rng: np.random.Generator, name: str, shapes: int) -> Mesh:
    vertices, triangles = int(rng.integers(3, 12)), int(rng.integers(1, 6))
    corners = np.array([rng.permutation(vertices)[:3] for _ in range(triangles)])

    def maybe(*shape: int) -> np.ndarray | None:
        return rng.random(shape, np.float32) if rng.random() < 0.6 else None

    normals = maybe(vertices, 3)
    if normals is not None:
        normals = normals + 0.1
        normals = (normals / np.linalg.norm(normals, axis=1, keepdims=True)).astype(np.float32)
    deltas = rng.normal(size=(shapes, vertices, 3)) * (rng.random((shapes, vertices, 1)) < 0.4)
    turned = rng.normal(size=(shapes, vertices, 3)) if normals is not None and rng.random() < 0.5 else None
    materials = [Material(f"m{i}", colour=(0.25 * i, 1.0, 0.5, 1.0)) for i in range(int(rng.integers(0, 3)))]
    return Mesh(
        name,
        rng.normal(size=(vertices, 3)),
        corners,
        normals,
        [rng.random((vertices, 2), np.float32) for _ in range(int(rng.integers(0, 3)))],
        maybe(vertices, 4),
        materials,
        np.sort(rng.integers(0, len(materials), triangles)) if materials else None,
        Shapes([f"s{i}" for i in range(shapes)], deltas, turned, rng.random(shapes)) if shapes else None,
    )


def skin(rng: np.random.Generator, joints: int, vertices: int) -> SkinBinding:
    if rng.random() < 0.4:
        return SkinBinding.rigid(int(rng.integers(joints)), vertices)
    used = rng.permutation(joints)[: int(rng.integers(1, joints + 1))]
    influences = np.array([rng.permutation(np.arange(max(len(used), 6)))[:6] % len(used) for _ in range(vertices)])
    weights, _ = SkinBinding.normalise(rng.random((vertices, 6)) ** 4 + 1e-3)
    binds = np.tile(np.eye(4), (len(used), 1, 1))
    binds[:, :3] = rng.normal(size=(len(used), 3, 4)).astype(np.float32)
    columns = int(rng.integers(1, 7))
    return SkinBinding(used, binds, influences[:, :columns], SkinBinding.normalise(weights[:, :columns])[0])


def character(rng: np.random.Generator) -> Character:
    bones = skeleton(rng, int(rng.integers(1, 6)))
    parts = []
    for i in range(int(rng.integers(0, 4))):
        shapes = int(rng.integers(0, 4))
        made = mesh(rng, f"mesh {i}", shapes)
        worn = skin(rng, len(bones), len(made.vertices))
        parts.append(Part(f"part {i}", made, worn))
    order = np.argsort([part.skin.joints[0] if part.skin.is_rigid else 99 for part in parts], kind="stable")
    return Character("Random", bones, [parts[i] for i in order])  # rigid parts in the order of their joints


def curves(rng: np.random.Generator, owner: Character, name: str) -> Curves:
    made = []
    channels = [Channel(joint, kind) for joint in owner.skeleton.names for kind in ("translation", "rotation", "scale")]
    channels += [Channel(part, "weights", names) for part, names in owner.shapes.items()]
    for i in rng.permutation(len(channels))[: int(rng.integers(1, 5))]:
        channel = channels[i]
        keys = int(rng.integers(1, 6))
        times = np.cumsum(rng.integers(1, 9, keys)) / 8 + float(rng.integers(0, 2))
        values = rng.normal(size=(keys, len(channel))).astype(np.float32)
        if channel.kind == "rotation":
            values = quaternion.normalise(values)
        if rng.random() < 0.3 and keys > 1:
            made.append(
                Curve.hermite(channel, times, values, rng.normal(size=values.shape), rng.normal(size=values.shape))
            )
        else:
            made.append(Curve(channel, times, values, STEP if rng.random() < 0.4 else LINEAR))
    return Curves(name, made, ["calm"] if rng.random() < 0.5 else [], float(rng.choice([24, 30, 60])))


def clip(rng: np.random.Generator, owner: Character, name: str) -> Clip:
    joint = owner.skeleton.names[0]
    frames = int(rng.integers(1, 9))
    values = np.concatenate([rng.normal(size=(frames, 3)), quaternion.normalise(rng.normal(size=(frames, 4)))], axis=1)
    return Clip(
        name, [Channel(joint, "translation"), Channel(joint, "rotation")], values, 30.0, float(rng.integers(0, 3))
    )


def same(a: object, b: object) -> bool:
    return (a is None and b is None) or (a is not None and b is not None and np.array_equal(a, b))


def check_character(a: Character, b: Character) -> None:
    assert b.name == a.name and b.skeleton.names == a.skeleton.names
    for field in ("parents", "translations", "rotations", "scales"):
        np.testing.assert_allclose(getattr(b.skeleton, field), getattr(a.skeleton, field), rtol=1e-15, atol=0)
    assert [part.name for part in b.parts] == [part.name for part in a.parts]
    assert b.joints.tolist() == a.joints.tolist()
    for p, q in zip(a.parts, b.parts):
        assert same(p.mesh.vertices, q.mesh.vertices) and same(p.mesh.triangles, q.mesh.triangles)
        assert same(p.mesh.normals, q.mesh.normals) and same(p.mesh.colours, q.mesh.colours)
        assert len(p.mesh.uvs) == len(q.mesh.uvs) and all(map(same, p.mesh.uvs, q.mesh.uvs))
        assert [p.mesh.material(t) for t in range(len(p.mesh.triangles))] == [
            q.mesh.material(t) for t in range(len(q.mesh.triangles))
        ]
        assert (p.mesh.shapes is None) == (q.mesh.shapes is None)
        if p.mesh.shapes is not None and q.mesh.shapes is not None:
            assert p.mesh.shapes.names == q.mesh.shapes.names and same(p.mesh.shapes.deltas, q.mesh.shapes.deltas)
            assert same(p.mesh.shapes.normals, q.mesh.shapes.normals) and same(
                p.mesh.shapes.defaults, q.mesh.shapes.defaults
            )


def check_motion(a: Asset, b: Asset) -> None:
    rig, again = DirectRig(a.character()), DirectRig(b.character())
    for before in a.animations:
        after = b.animation(before.name)
        assert after.labels == before.labels and after.rate == before.rate
        times = np.linspace(before.times[0] if isinstance(before, Clip) else before.start, 6, 9)
        rows, rows_again = rig.pose(before, times), again.pose(after, times)
        size = max(1.0, float(np.abs(rig.joints(rows)).max()))
        # keys and bind matrices are stored as float32: 6e-8, down a chain of five joints
        assert np.abs(rig.joints(rows) - again.joints(rows_again)).max() <= 2e-6 * size
        if a.character().vertex_count:
            points = rig.vertices(rows)
            size = max(size, float(np.abs(points).max()))
            assert np.abs(points - again.vertices(rows_again)).max() <= 1e-5 * size


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), ending=st.sampled_from([".glb", ".gltf"]))
def test_writing_and_reading_is_the_identity(seed: int, ending: str) -> None:
    rng = np.random.default_rng(seed)
    owner = character(rng)
    asset = Asset([owner], [clip(rng, owner, "dense")], [curves(rng, owner, "sparse")])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"made{ending}"
        notes = gltf.write(asset, path)
        assert all("influences" in note for note in notes), notes
        again = gltf.read(path)
    assert len(again.characters) == 1
    check_character(owner, again.character())
    check_motion(asset, again)
