"""Animations: the three interpolations exactly as the specification has them, and what a sampler may not be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.formats.gltf.minimal import TRIANGLE, Minimal, one_triangle

from understudy.character import Curves
from understudy.errors import BadFile
from understudy.formats import gltf
from understudy.maths import quaternion

TIMES = np.array([0.5, 1.0, 2.0], np.float32)


def curves_of(made: Minimal, folder: Path) -> Curves:
    (curves,) = gltf.read(made.save(folder)).curves
    return curves


def moved(path: str, values: Any, interpolation: str = "LINEAR", times: Any = TIMES, **options: Any) -> Minimal:
    made = one_triangle()
    kind = {"rotation": "VEC4", "weights": "SCALAR"}.get(path, "VEC3")
    made.animate(0, path, made.sampler(times, values, kind, interpolation, **options))
    return made


@pytest.mark.parametrize("path", ["translation", "scale"])
def test_linear_and_step(tmp_path: Path, path: str) -> None:
    values = np.array([[0, 0, 0], [2, 4, 6], [-1, 0, 1]], np.float32)
    linear = curves_of(moved(path, values), tmp_path)
    assert linear.channels[0].target == "thing" and linear.channels[0].kind == path
    np.testing.assert_allclose(
        linear.sample([0, 0.5, 0.75, 1, 1.5, 2, 9]),
        [[0] * 3, [0] * 3, [1, 2, 3], [2, 4, 6], [0.5, 2, 3.5], [-1, 0, 1], [-1, 0, 1]],
    )
    step = curves_of(moved(path, values, "STEP"), tmp_path)
    np.testing.assert_allclose(
        step.sample([0.5, 0.99, 1, 1.99, 2]), [[0] * 3, [0] * 3, [2, 4, 6], [2, 4, 6], [-1, 0, 1]]
    )


def test_linear_rotations_turn_at_constant_speed(tmp_path: Path) -> None:
    angles = np.array([0, 1.5, 0.5])
    keys = quaternion.from_axis_angle(np.tile([0.0, 0, 1], (3, 1)), angles)
    keys[1] *= -1  # the same rotation, and still the short way
    curves = curves_of(moved("rotation", keys), tmp_path)
    times = np.linspace(0.5, 2, 31)
    expected = quaternion.from_axis_angle(np.tile([0.0, 0, 1], (31, 1)), np.interp(times, TIMES, angles))
    assert quaternion.angle_between(curves.sample(times), expected).max() < 1e-6


@pytest.mark.parametrize("path", ["translation", "rotation"])
def test_cubic_spline_is_the_formula_of_the_specification(tmp_path: Path, path: str) -> None:
    width = 4 if path == "rotation" else 3
    rng = np.random.default_rng(5)
    keys = rng.normal(size=(3, 3, width)).astype(np.float32).astype(np.float64)  # arriving, value, leaving of each key
    curves = curves_of(moved(path, keys.reshape(9, width), "CUBICSPLINE"), tmp_path)
    for k in range(2):
        d = float(TIMES[k + 1] - TIMES[k])
        for t in np.linspace(0, 1, 9):
            expected = (
                (2 * t**3 - 3 * t**2 + 1) * keys[k, 1].astype(float)
                + d * (t**3 - 2 * t**2 + t) * keys[k, 2]
                + (-2 * t**3 + 3 * t**2) * keys[k + 1, 1]
                + d * (t**3 - t**2) * keys[k + 1, 0]
            )
            found = curves.sample([float(TIMES[k]) + d * t])[0]
            if path == "rotation":
                expected = expected / np.linalg.norm(expected)
                found = found * np.sign(found @ expected)
            np.testing.assert_allclose(found, expected, atol=1e-9)


@pytest.mark.parametrize(("dtype", "full"), [(np.int8, 127), (np.int16, 32767), (np.uint8, 255), (np.uint16, 65535)])
def test_normalised_outputs(tmp_path: Path, dtype: Any, full: int) -> None:
    rotation = curves_of(moved("rotation", [[0, 0, 0, full], [0, 0, full, 0], [full, 0, 0, 0]], dtype=dtype), tmp_path)
    np.testing.assert_allclose(np.abs(rotation.sample(TIMES)), [[0, 0, 0, 1], [0, 0, 1, 0], [1, 0, 0, 0]], atol=1e-9)


def test_weights_move_the_shapes_of_a_part(tmp_path: Path) -> None:
    made = Minimal()
    mesh = made.mesh(targets=[TRIANGLE, TRIANGLE], extras={"targetNames": ["a", "b"]})
    made.add("nodes", {"name": "face", "mesh": mesh})
    made.animate(0, "weights", made.sampler(TIMES, [0, 255, 51, 0, 255, 102], "SCALAR", dtype=np.uint8))
    curves = curves_of(made, tmp_path)
    assert curves.channels[0].target == "face" and curves.channels[0].columns == ("a", "b")
    np.testing.assert_allclose(curves.sample([0.5, 0.75, 2]), [[0, 1], [0.1, 0.5], [1, 0.4]], atol=1e-9)


def test_names_labels_and_rate(tmp_path: Path) -> None:
    made = one_triangle()
    sampler = made.sampler([0, 1 / 24], np.zeros((2, 3)), "VEC3")
    for fields in ({}, {"name": "walk"}, {"name": "walk", "extras": {"labels": ["calm", 3], "rate": 50}}):
        made.animate(0, "translation", sampler, **fields)
    asset = gltf.read(made.save(tmp_path))
    assert [curves.name for curves in asset.curves] == ["clip_0", "walk", "walk_1"]
    assert asset.notes == ("animations that shared their name with another were numbered (1)",)
    assert asset.curves[2].labels == ("calm",) and asset.curves[2].rate == 50 and asset.curves[0].rate == 24


def test_what_happens_and_named_moments(tmp_path: Path) -> None:
    made = one_triangle()
    sampler = made.sampler([0, 1 / 24], np.zeros((2, 3)), "VEC3")
    told = {"about": "a hop", "moments": {"up": 0.5, "down": 1, "": 2, "text": "x", "far": 1e300, "yes": True}}
    for extras in (told, {"about": 3, "moments": [1]}):
        made.animate(0, "translation", sampler, extras=extras)
    first, second = gltf.read(made.save(tmp_path)).curves
    assert (first.about, dict(first.moments)) == ("a hop", {"up": 0.5, "down": 1.0})
    assert (second.about, dict(second.moments)) == ("", {})


def test_keys_at_one_time_keep_the_last(tmp_path: Path) -> None:
    made = moved("translation", np.arange(15).reshape(5, 3), times=[0, 1, 1, 2, 2])
    asset = gltf.read(made.save(tmp_path))
    curve = asset.curves[0].curves[0]
    assert curve.times.tolist() == [0, 1, 2] and curve.values[:, 0].tolist() == [0, 6, 12]
    assert "keys at the time of the key after them were left out (2)" in asset.notes


def test_rotations_off_unit_length_are_normalised(tmp_path: Path) -> None:
    asset = gltf.read(moved("rotation", [[0, 0, 0, 2], [0, 0, 3, 0], [0, 0, 0, 1]]).save(tmp_path))
    np.testing.assert_allclose(np.linalg.norm(asset.curves[0].curves[0].values, axis=1), 1)
    assert "rotation keys that were not of unit length were normalised (2)" in asset.notes


def test_channels_that_move_nothing_are_noted(tmp_path: Path) -> None:
    made = one_triangle()
    sampler = made.sampler(TIMES, np.zeros((3, 3)), "VEC3")
    pointer = {"path": "pointer", "extensions": {"KHR_animation_pointer": {"pointer": "/nodes/0/scale"}}}
    targets = [
        {"node": 0, "path": "translation"},
        {"node": 0, "path": "translation"},
        {"node": 0, "path": "weights"},
        pointer,
    ]
    made.add(
        "animations", {"samplers": [sampler], "channels": [{"sampler": 0, "target": target} for target in targets]}
    )
    made.add("animations", {"name": "lost", "samplers": [sampler], "channels": [{"sampler": 0, "target": pointer}]})
    asset = gltf.read(made.save(tmp_path))
    assert len(asset.curves) == 1 and len(asset.curves[0]) == 1
    assert "animation channels on a target that another channel moves were left out (1)" in asset.notes
    assert "animation channels on nodes that are not part of a character were left out (1)" in asset.notes
    assert "animation channels without a node (KHR_animation_pointer) were left out (2)" in asset.notes
    assert "animation 'lost' moves nothing that was read and was left out" in asset.notes


@pytest.mark.parametrize(
    ("times", "values", "place"),
    [
        ([0, 2, 1], np.zeros((3, 3)), "accessors[1]"),
        ([0, np.nan, 1], np.zeros((3, 3)), "accessors[1]"),
        ([0, 1, 2], np.full((3, 3), np.nan), "accessors[2]"),
        ([0, 1, 2], np.zeros((4, 3)), "animations[0].samplers[0].output"),
    ],
)
def test_damaged_keys_are_noted_with_their_place(tmp_path: Path, times: Any, values: Any, place: str) -> None:
    """A damaged clip does not refuse the file: its character is read."""
    asset = gltf.read(moved("translation", values, times=times).save(tmp_path))
    assert asset.character().vertex_count == 3
    assert any(place in note for note in asset.notes), asset.notes


def test_keys_are_put_in_order_and_broken_ones_left_out(tmp_path: Path) -> None:
    times, values = [0, 2, 1, np.nan, 3], np.arange(15.0).reshape(5, 3)
    values[4, 1] = np.inf
    asset = gltf.read(moved("translation", values, times=times).save(tmp_path))
    (curve,) = asset.curves[0].curves
    assert curve.times.tolist() == [0, 1, 2]
    assert curve.values[:, 0].tolist() == [0, 6, 3]
    assert "keys of accessors[1] without a time were left out (1)" in asset.notes
    assert "keys of accessors[1] were put into the order of their times" in asset.notes
    assert "keys of accessors[2] that are no numbers or no rotations were left out (1)" in asset.notes


def test_rotations_of_no_length_are_left_out(tmp_path: Path) -> None:
    asset = gltf.read(moved("rotation", [[0, 0, 0, 1], [0, 0, 0, 0], [0, 0, 1, 0]]).save(tmp_path))
    assert asset.curves[0].curves[0].times.tolist() == [TIMES[0], TIMES[2]]
    assert "keys of accessors[2] that are no numbers or no rotations were left out (1)" in asset.notes
    nothing = gltf.read(moved("rotation", np.zeros((3, 4))).save(tmp_path))
    assert not nothing.curves and "animation 'clip_0' moves nothing that was read and was left out" in nothing.notes


@pytest.mark.parametrize(
    ("channel", "sampler", "place"),
    [
        ({"sampler": 4}, {}, "animations[0].channels[0].sampler"),
        ({"sampler": "0"}, {}, "animations[0].channels[0].sampler"),
        ({"target": 4}, {}, "animations[0].channels[0].target"),
        ({"target": {"node": 7, "path": "scale"}}, {}, "animations[0].channels[0].target.node"),
        ({"target": {"node": 0, "path": "colour"}}, {}, "animations[0].channels[0].target.path"),
        ({"target": {"node": 0}}, {}, "animations[0].channels[0].target.path"),
        ({"target": {"node": 0, "path": ["scale"]}}, {}, "animations[0].channels[0].target.path"),
        ({}, {"interpolation": "SMOOTH"}, "animations[0].samplers[0].interpolation"),
        ({}, {"interpolation": []}, "animations[0].samplers[0].interpolation"),
        ({}, {"input": 99}, "animations[0].samplers[0].input"),
        ({}, {"input": 0}, "animations[0].samplers[0].input"),
        ({}, {"output": None}, "animations[0].samplers[0].output"),
        ({}, {"output": 1}, "animations[0].samplers[0].output"),
        ({}, {"interpolation": "CUBICSPLINE"}, "animations[0].samplers[0].output"),
    ],
)
def test_damaged_channels_are_left_out_with_a_note(tmp_path: Path, channel: dict, sampler: dict, place: str) -> None:
    """One bad channel refuses neither the file nor the clip: another channel of the same clip is read."""
    made = moved("translation", np.zeros((3, 3)))
    clip = made.root["animations"][0]
    clip["samplers"].append(made.sampler(TIMES, np.ones((3, 3)), "VEC3"))
    clip["channels"].append({"sampler": 1, "target": {"node": 0, "path": "scale"}})
    clip["channels"][0].update(channel)
    clip["samplers"][0].update(sampler)
    asset = gltf.read(made.save(tmp_path))
    assert [curve.channel.kind for curve in asset.curves[0].curves] == ["scale"]
    (note,) = asset.notes
    assert note.startswith(f"animation channels that cannot be read were left out (1): {place} ")


def test_many_channels_on_one_large_sampler_are_bounded(tmp_path: Path) -> None:
    made = one_triangle()
    zeros = made.add("accessors", {"componentType": 5126, "count": 200_000, "type": "VEC3"})
    times = made.accessor(np.arange(200_000), "SCALAR")
    made.root["nodes"] = [{} for _ in range(3000)]
    made.root["scenes"][0]["nodes"] = list(range(3000))
    channels = [{"sampler": 0, "target": {"node": i, "path": "scale"}} for i in range(3000)]
    made.add("animations", {"samplers": [{"input": times, "output": zeros}], "channels": channels})
    with pytest.raises(BadFile, match="far more memory"):
        gltf.read(made.save(tmp_path))
