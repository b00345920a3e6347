"""Layers and their pieces refuse what is not sound, with a reason."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.character.rig.layered_character import character

from understudy.character import Character, Lattice, RigLayers, SparseShapes
from understudy.errors import InvalidInput


def test_shapes_are_gathered_and_spread_again() -> None:
    shapes = SparseShapes.from_named_deltas(
        {"a": ([4, 1], [[1, 0, 0], [2, 0, 0]]), "b": ([], np.zeros((0, 3))), "c": ([1], [[0, 0, 3]])}
    )
    assert (len(shapes), shapes.first.tolist(), shapes.shape_of.tolist()) == (3, [0, 2, 2, 3], [0, 0, 2])
    np.testing.assert_array_equal(shapes.dense(0, 5)[:, 0], [0, 2, 0, 0, 1])
    assert not shapes.dense(1, 5).any()
    assert len(SparseShapes.from_named_deltas({})) == 0


@pytest.mark.parametrize(
    ("first", "vertices", "words"),
    [
        ([0, 1, 3], [0, 5, 5], "'b' moves vertex 5 twice"),
        ([0, 2, 1], [0, 1, 2], "should rise from 0 to 3"),
        ([0, 1, 2], [0, 1, 2], "should rise from 0 to 3"),
        ([0, 3], [0, 1, 2], "shape"),
        ([0, 1, 3], [0, -1, 2], "holds -1"),
    ],
)
def test_bad_shapes(first: list[int], vertices: list[int], words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        SparseShapes(["a", "b"], first, vertices, np.zeros((3, 3)))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"counts": (2, 0, 2)}, "three counts of at least 1"),
        ({"high": (-1, 1, 1)}, "should have a size"),
        ({"point": [8]}, "lattice points should lie between 0 and 7"),
        ({"axis": [3]}, "lattice axes"),
        ({"gain": [1, 2]}, "shape"),
    ],
)
def test_bad_lattices(changes: dict[str, Any], words: str) -> None:
    box = {"joint": "head", "low": (-1, -1, -1), "high": (1, 1, 1), "counts": (2, 2, 2)}
    sound = {**box, "point": [0], "axis": [0], "control": [0], "gain": [1]}
    Lattice(**sound)
    with pytest.raises(InvalidInput, match=words):
        Lattice(**{**sound, **changes})


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"components": [("head", "rw")]}, "no component of a joint 'rw'"),
        ({"components": [("head", "rx"), ("head", "rx")]}, "'head.rx' appears twice"),
        ({"drive_control": [999], "drive_parameter": [0], "drive_gain": [1]}, "controls of the drives"),
        ({"drive_control": [0], "drive_parameter": [1], "drive_gain": [1]}, "parameters of the drives should lie"),
        ({"toward_control": [0], "toward_parameter": [0], "toward_target": [np.nan]}, "finite"),
        ({"low": [0.1]}, "should include 0"),
        ({"high": [np.nan]}, "nan"),
        ({"masks": {"lips": [0.5, 1.5]}}, "'lips' should lie in 0 to 1"),
    ],
)
def test_bad_layers(changes: dict[str, Any], words: str) -> None:
    controls = character().layers.controls
    with pytest.raises(InvalidInput, match=words):
        RigLayers(controls, **{"components": [("head", "rx")], **changes})


def test_a_corrective_needs_room_above_the_rest() -> None:
    layers = character().layers
    high = layers.controls.rest.copy()
    stuck = type(layers.controls)(
        *(getattr(layers.controls, name) for name in ("names", "regions", "layers", "units", "low", "rest")), high
    )
    with pytest.raises(InvalidInput, match="should reach above its rest"):
        RigLayers(
            stuck, [("head", "rx")], corrective_parameter=[0], corrective_a=[0], corrective_b=[1], corrective_gain=[1]
        )


def test_a_character_knows_its_layers_joints_and_vertices() -> None:
    sound = character()
    assert sound.layers.parameter_count == len(sound.layers.components) + len(sound.layers.shapes)
    controls = sound.layers.controls
    for layers, words in (
        (RigLayers(controls, [("tail", "rx")]), "no joint 'tail'"),
        (RigLayers(controls, points={"nose": 94}), "named points should lie between 0 and 93"),
        (
            RigLayers(controls, shapes=SparseShapes.from_named_deltas({"a": ([94], [[0, 0, 0]])})),
            "vertices of the shapes",
        ),
        (RigLayers(controls, masks={"lips": [1.0]}), "'lips' should have 94 vertices"),
    ):
        with pytest.raises(InvalidInput, match=words):
            Character("other", sound.skeleton, sound.parts, layers=layers)
