"""The judges themselves: a file whose answer is known by hand, and a file that is wrong on purpose."""

from __future__ import annotations

import base64
import json

import numpy as np
import pytest
from tests.judges.gltf_validator import validate
from tests.judges.node import HERE
from tests.judges.three import three_bake


def hand_made(last_rotation=(0.0, 0.0, 1.0, 0.0)):
    """A triangle on two joints, with a shape. From 1 to 3 s the upper joint turns by pi about z, the shape fades in."""
    blocks = {
        "POSITION": np.array([[0, 0, 0], [1, 0, 0], [0, 2, 0]], "<f4"),
        "JOINTS_0": np.array([[0, 1, 0, 0]] * 3, "u1"),
        "WEIGHTS_0": np.array([[1, 0, 0, 0], [1, 0, 0, 0], [0, 1, 0, 0]], "<f4"),
        "shape": np.array([[0, 0, 0], [0, 0, 3], [0, 0, 0]], "<f4"),
        "binds": np.array([np.eye(4), np.eye(4)], "<f4"),
        "times": np.array([1, 3], "<f4"),
        "turns": np.array([[0, 0, 0, 1], last_rotation], "<f4"),
        "weights": np.array([0, 1], "<f4"),
    }
    blocks["binds"][1, 3, 1] = -1  # column by column: the upper joint rests at y = 1
    kinds = {
        "JOINTS_0": "VEC4",
        "WEIGHTS_0": "VEC4",
        "binds": "MAT4",
        "turns": "VEC4",
        "times": "SCALAR",
        "weights": "SCALAR",
    }
    views, accessors, data = [], [], b""
    for name, block in blocks.items():
        views.append({"buffer": 0, "byteOffset": len(data), "byteLength": block.nbytes})
        accessor = {"bufferView": len(accessors), "count": len(block), "type": kinds.get(name, "VEC3")}
        accessor["componentType"] = 5121 if block.dtype == np.uint8 else 5126
        if name in ("POSITION", "shape", "times"):
            accessor["min"] = np.atleast_1d(block.min(axis=0)).tolist()
            accessor["max"] = np.atleast_1d(block.max(axis=0)).tolist()
        accessors.append(accessor)
        data += block.tobytes()
    number = {name: i for i, name in enumerate(blocks)}
    attributes = {name: number[name] for name in ("POSITION", "JOINTS_0", "WEIGHTS_0")}
    return {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0, 1]}],
        "nodes": [
            {"mesh": 0, "skin": 0, "name": "body"},
            {"children": [2], "translation": [5, 0, 0], "name": "lower"},
            {"translation": [0, 1, 0], "name": "upper"},
        ],
        "meshes": [
            {"primitives": [{"attributes": attributes, "targets": [{"POSITION": number["shape"]}]}], "weights": [0]}
        ],
        "skins": [{"joints": [1, 2], "inverseBindMatrices": number["binds"]}],
        "animations": [
            {
                "samplers": [
                    {"input": number["times"], "output": number["turns"]},
                    {"input": number["times"], "output": number["weights"]},
                ],
                "channels": [
                    {"sampler": 0, "target": {"node": 2, "path": "rotation"}},
                    {"sampler": 1, "target": {"node": 0, "path": "weights"}},
                ],
            }
        ],
        "accessors": accessors,
        "bufferViews": views,
        "buffers": [
            {
                "byteLength": len(data),
                "uri": "data:application/octet-stream;base64," + base64.b64encode(data).decode(),
            }
        ],
    }


@pytest.fixture(scope="module")
def hand_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("judges") / "hand.gltf"
    path.write_text(json.dumps(hand_made()))
    return path


def test_three_gives_what_can_be_worked_out_by_hand(hand_file):
    bake = three_bake([(hand_file, [(None, ()), (0, [3.0, 0.0, 2.0])])])[0]
    rest = [[5, 0, 0], [6, 0, 0], [5, 2, 0]]
    np.testing.assert_allclose(bake.vertices[0][0], rest, atol=1e-6)
    end, start, half = bake.vertices[1]
    np.testing.assert_allclose(end, [[5, 0, 0], [6, 0, 3], [5, 0, 0]], atol=1e-6)
    np.testing.assert_allclose(start, rest, atol=1e-6)
    np.testing.assert_allclose(half, [[5, 0, 0], [6, 0, 1.5], [4, 1, 0]], atol=1e-6)
    upper = bake.matrices[1][0, bake.node_names.index("upper")]
    np.testing.assert_allclose(upper, [[-1, 0, 0, 5], [0, -1, 0, 1], [0, 0, 1, 0], [0, 0, 0, 1]], atol=1e-6)


def test_the_validator_accepts_the_good_and_refuses_the_bad(hand_file, tmp_path):
    bad = tmp_path / "bad.gltf"
    bad.write_text(json.dumps(hand_made(last_rotation=(0, 0, 2, 0))))
    good, verdict = validate([hand_file, bad])
    assert good.errors == 0, good.messages
    assert verdict.errors == 1
    assert "NON_NORMALIZED_QUATERNION" in verdict.lines("error")[0]


def test_the_lock_file_names_no_host():
    assert "://" not in (HERE / "package-lock.json").read_text()
