"""Blocks of the one-pass deformer, and what has to be added before skinning to arrive after it."""

from __future__ import annotations

import numpy as np
from tests.character.rig.layered_character import character
from tests.character.rig.test_layered import in_layers, some_rows
from tests.reference import character as reference

from understudy.character.rig import LayeredRig
from understudy.character.skinning import layered


def test_blocks_hold_everything_once():
    rig = LayeredRig(character(77))
    blocks = rig.blocks
    assert len(np.unique(blocks.place)) == 81
    rest = blocks.rest.reshape(-1)[blocks.place[:, None] + np.arange(3) * layered.VERTICES_PER_BLOCK]
    np.testing.assert_array_equal(rest, rig.vertices(rig.rest[None])[0])
    np.testing.assert_allclose(blocks.joint_rows.sum(), 81, rtol=1e-6)
    dense = np.zeros((len(rig.layers.shapes), *blocks.rest.shape), np.float32)
    dense[blocks.shape_of, np.repeat(np.arange(len(blocks.rest)), np.diff(blocks.shape_first))] = blocks.shape_rows
    for s in range(len(dense)):
        found = dense[s].reshape(-1)[blocks.place[:, None] + np.arange(3) * layered.VERTICES_PER_BLOCK]
        np.testing.assert_array_equal(found[:77], rig.layers.shapes.dense(s, 81)[:77])


def test_the_kernel_agrees_with_its_oracle():
    rig = LayeredRig(character(300, joints=7))
    frames = rig.frames(some_rows(rig, 5, part=0.5))
    np.testing.assert_allclose(layered.deform(rig.blocks, frames), reference.deform(rig.blocks, frames), atol=1e-6)


def test_lanes_are_those_of_the_kernels():
    from understudy.character.skinning import layer_kernels

    assert layer_kernels.VERTICES_PER_BLOCK == layered.VERTICES_PER_BLOCK


def test_what_is_added_undo_skinning_arrives_after_it():
    """Shapes' deltas, seen after skinning, lead back to the deltas."""
    rig = LayeredRig(character())
    frames = rig.frames(in_layers(rig, some_rows(rig, 6), "bones", "coarse", "fine"))
    still = frames._replace(weights=np.zeros_like(frames.weights))
    moves = layered.deform(rig.blocks, frames) - layered.deform(rig.blocks, still)
    at_rest = layered.deform(rig.blocks, frames._replace(moved=np.zeros_like(frames.moved), motions=0 * frames.motions))
    expected = at_rest - rig.vertices(rig.rest[None])
    found = layered.undo_skinning(rig.blocks, frames, moves)
    assert np.abs(moves - expected).max() > 1e-3
    np.testing.assert_allclose(found, expected, atol=2e-6)


def test_a_collapsed_blend_has_no_answer_and_gives_none():
    rig = LayeredRig(character())
    frames = rig.frames(rig.rest[None])
    flat = frames._replace(motions=np.tile(-np.diag([1.0, 1, 1, 0]), (1, 5, 1, 1)), moved=np.ones((1, 5), bool))
    assert not layered.undo_skinning(rig.blocks, flat, np.ones((1, 94, 3))).any()
