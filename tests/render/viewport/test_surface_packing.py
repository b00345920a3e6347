"""Frames: what is packed is what the rig says, and what normals are made of is told with the character."""

from __future__ import annotations

import numpy as np
from tests.character.rig.layered_character import character as layered_character
from tests.render.viewport.puppets import puppet, random_rows

from understudy.character import Mesh, Part, SkinBinding
from understudy.character.rig import DirectRig, LayeredRig
from understudy.render.viewport.surface import (
    JOINTS_FORM,
    VERTICES_FORM,
    FramePacker,
    SkinMatrices,
    corners_and_seams,
    weight_offsets,
)


def test_joints_and_weights() -> None:
    direct = DirectRig(puppet())
    packer = FramePacker(direct)
    row = random_rows(direct, 1)[0]
    a, b, payload = packer.pack(row)
    values = np.frombuffer(payload, np.float32)
    assert (
        packer.form == JOINTS_FORM and (a, b) == (9, 4) and len(values) == 12 * a + b
    )  # the hat has a bind of its own
    world = direct.joints(row[None])[0]
    expected = world[packer.bones.joints] @ packer.bones.inverse_binds
    np.testing.assert_allclose(values[: 12 * a].reshape(a, 3, 4), expected[:, :3], atol=1e-6)
    shapes = direct.character.parts[0].mesh.shapes
    assert shapes is not None
    np.testing.assert_allclose(values[12 * a :], shapes.target_weights(row[None, -3:])[0], atol=1e-6)


def test_many_rows_are_the_single_ones() -> None:
    direct = DirectRig(puppet(method="dual"))
    packer = FramePacker(direct)
    rows = random_rows(direct, 4)
    each = [np.frombuffer(packer.pack(row)[2], np.float32) for row in rows]
    np.testing.assert_array_equal(packer.poses(rows), each)


def test_bones_are_told_once() -> None:
    parts = puppet().parts
    bones = SkinMatrices([*parts, *parts])
    assert len(bones) == 9
    np.testing.assert_array_equal(bones.of_part[0], bones.of_part[2])


def test_parts_of_one_name_share_their_weights() -> None:
    body, hat = puppet().parts
    assert weight_offsets([body, hat, body, Part("other", body.mesh, body.skin)]) == [0, -1, 0, 4]


def test_vertices_of_layers() -> None:
    layered = LayeredRig(layered_character())
    packer = FramePacker(layered)
    row = layered.rest + np.random.default_rng(0).uniform(-0.2, 0.2, len(layered.rest))
    count = layered.character.vertex_count
    a, b, payload = packer.pack(row)
    assert packer.form == VERTICES_FORM and (a, b) == (count, 0)
    values = np.frombuffer(payload, np.float32).reshape(count, 3)
    np.testing.assert_array_equal(values, layered.vertices(row[None])[0])
    corners, seams = corners_and_seams(layered.character.parts)
    np.testing.assert_array_equal(corners, layered.character.triangles)
    assert seams.shape == (count,)


def test_a_seam_is_smooth_and_a_hard_edge_is_not() -> None:
    # two squares that share an edge by copies of its vertices, the second bent down by 90 degrees
    flat = [(0, 0, 0), (1, 0, 0), (1, 0, 1), (0, 0, 1)]
    bent = [(1, 0, 0), (1, -1, 0), (1, -1, 1), (1, 0, 1)]
    vertices, triangles = np.array(flat + bent, np.float32), [(0, 2, 1), (0, 3, 2), (4, 6, 5), (4, 7, 6)]
    smooth = np.tile([(0.6, 0.8, 0.0)], (8, 1))
    hard = np.repeat([(0.0, 1.0, 0.0), (1.0, 0.0, 0.0)], 4, axis=0)
    for normals, shared in ((smooth, True), (hard, False)):
        part = Part("cloth", Mesh("cloth", vertices, triangles, normals), SkinBinding.rigid(0, 8))
        _, seams = corners_and_seams([part, part])
        assert (seams[1] == seams[4]) == (seams[2] == seams[7]) == shared
        assert not set(seams[:8]) & set(seams[8:])  # parts do not share
