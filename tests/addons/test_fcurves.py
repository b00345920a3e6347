"""F-curves without Blender: the mapping's laws, there and back; Blender's own judgement is in tests/blender."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from addons.blender.fcurves import Action, FCurve, escape_name, from_fcurves, to_fcurves, unescape_name
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.edit.random_curves import MOVE, SMILE, TURN, random_curve, random_curves

from understudy.character import Channel, Curve, Curves
from understudy.character.curve import BEZIER, LINEAR, STEP
from understudy.character.key_insertion import merge_split_curves
from understudy.errors import InvalidInput
from understudy.maths import quaternion

SEEDS = st.integers(0, 100_000)


def assert_same_shape(one: Curves, other: Curves, bound: float = 1e-9, beyond: float = 0.0) -> None:
    whole = merge_split_curves(one.curves)  # weights may have keys of their own now
    assert {curve.channel for curve in whole} == set(other.channels)
    for curve in whole:
        twin = next(c for c in other.curves if c.channel == curve.channel)
        times = np.linspace(curve.times[0] - beyond, curve.times[-1] + beyond, 300)
        jumps = curve.times[1:][curve.segments == STEP]
        if jumps.size:
            times = times[np.abs(times[:, None] - jumps).min(axis=1) > 1e-4]
        a, b = curve.sample(times), twin.sample(times)
        apart = quaternion.angle_between(a, b) if curve.channel.kind == "rotation" else np.abs(a - b)
        assert apart.max() < bound


@given(SEEDS, st.sampled_from([24.0, 29.97, 120.0]), st.sampled_from([0.0, 1.0, 1001.0]))
@settings(max_examples=25, deadline=None)
def test_there_and_back(seed: int, fps: float, first: float) -> None:
    curves = random_curves(seed)
    action = to_fcurves(curves, fps, first)
    back = from_fcurves(action)
    # a slerp became a Bezier curve, and may turn by anything here
    assert_same_shape(back, curves, 1.3e-5)
    assert back.rate == fps
    assert dict(back.moments) == pytest.approx(dict(curves.moments))


@given(SEEDS)
@settings(max_examples=15, deadline=None)
def test_handles_never_overlap_and_never_point_back(seed: int) -> None:
    rng = np.random.default_rng(seed)
    curve = random_curve(rng, MOVE, 5, BEZIER)
    gaps = np.diff(curve.times)[:, None]
    before, after = np.array(curve.before), np.array(curve.after)
    after[:-1, :, 0], before[1:, :, 0] = rng.uniform(0, 1, (2, 4, 3)) * gaps  # up to the whole segment each
    curves = Curves("wild", [replace(curve, before=before, after=after)])
    action = to_fcurves(curves, 24.0)
    for fcurve in action.fcurves:
        length = np.diff(fcurve.co[:, 0])
        leave = fcurve.handle_right[:-1, 0] - fcurve.co[:-1, 0]
        arrive = fcurve.co[1:, 0] - fcurve.handle_left[1:, 0]
        assert (leave >= -1e-9).all() and (arrive >= -1e-9).all()
        assert (leave + arrive <= length * (1 + 1e-6)).all()
    assert_same_shape(from_fcurves(action), curves, 1e-9)


def test_paths_and_places() -> None:
    angles = Channel('knee "L"', "euler", ("z", "x", "y"))
    curves = Curves(
        "walk",
        [
            Curve(MOVE, [0, 1], [[1, 2, 3], [4, 5, 6]]),
            Curve(TURN, [0, 1], [[0.5, 0.5, 0.5, 0.5], [0, 0, 0, 1]]),
            Curve(angles, [0, 1], [[1, 2, 3], [4, 5, 6]]),
            Curve(SMILE, [0, 1], [[0.1, 0.2], [0.3, 0.4]], STEP),
            Curve(Channel("rig", "controls", ("gain",)), [0], [[7]]),
        ],
        rate=24,
    )
    action = to_fcurves(curves, first_frame=1)
    found = {(f.owner, f.data_path, f.array_index): f for f in action.fcurves}
    assert len(found) == len(action.fcurves) == 3 + 4 + 3 + 2 + 1
    np.testing.assert_array_equal(found["", 'pose.bones["hip"].location', 1].co, [[1, 2], [25, 5]])
    turn = [found["", 'pose.bones["hip"].rotation_quaternion', i] for i in range(4)]
    assert [f.co[1, 1] for f in turn] == [1, 0, 0, 0]  # w first
    knee = [found["", 'pose.bones["knee \\"L\\""].rotation_euler', i] for i in range(3)]
    assert [f.co[0, 1] for f in knee] == [2, 3, 1]  # x, y, z of columns z, x, y
    assert action.rotation_modes == {"hip": "QUATERNION", 'knee "L"': "YXZ"}
    smile = found["face", 'key_blocks["smile"].value', 0]
    assert smile.interpolation == ("CONSTANT", "BEZIER")
    assert ("rig", '["gain"]', 0) in found
    assert turn[0].interpolation[0] == "BEZIER"  # a slerp
    assert found["", 'pose.bones["hip"].location', 0].interpolation[0] == "LINEAR"
    back = from_fcurves(action)
    assert [c.target for c in back.channels] == ["hip", "hip", 'knee "L"', "face", "rig"]
    assert back.curves[2].channel == angles


@pytest.mark.parametrize("name", ['a"b', "a\\b", "a\\\\n", "tab\there", "line\nbreak", "plain", "Über.L"])
def test_names_are_escaped(name: str) -> None:
    assert unescape_name(escape_name(name)) == name


@given(
    SEEDS, st.sampled_from(["hold", "linear", "cycle", "cycle_offset"]), st.sampled_from(["hold", "linear", "cycle"])
)
@settings(max_examples=15, deadline=None)
def test_what_happens_beyond_comes_back(seed: int, first: str, last: str) -> None:
    rng = np.random.default_rng(seed)
    curve = random_curve(rng, MOVE, 4, [BEZIER, LINEAR][seed % 2])
    curves = Curves("x", [replace(curve, extrapolation=(first, last))])
    back = from_fcurves(to_fcurves(curves, 30.0))
    assert back.curves[0].extrapolation == (first, last)
    assert_same_shape(back, curves, 1e-9, beyond=1.0)


def single(index: int, keys: list[tuple[float, float]], kind: str) -> FCurve:
    co = np.array(keys, float)
    reach = np.array([1.0, 0.5])
    words = (*[kind] * (len(co) - 1), "BEZIER")
    return FCurve("", 'pose.bones["b"].location', index, co, co - reach, co + reach, words)


def test_columns_with_keys_of_their_own() -> None:
    """x is Bezier on three keys, y linear on two others, z is not keyed."""
    x = single(0, [(0, 0), (10, 1), (20, 0)], "BEZIER")
    y = single(1, [(5, 1), (25, 2)], "LINEAR")
    curve = from_fcurves(Action("a", 10.0, 0.0, (x, y))).curves[0]
    np.testing.assert_allclose(curve.times, [0, 0.5, 1, 2, 2.5])
    alone = from_fcurves(Action("a", 10.0, 0.0, (x,))).curves[0]
    times = np.linspace(-0.5, 3, 100)
    np.testing.assert_allclose(curve.sample(times)[:, 0], alone.sample(times)[:, 0], atol=1e-12)
    np.testing.assert_allclose(curve.sample(times)[:, 1], np.interp(times, [0.5, 2.5], [1, 2]), atol=1e-12)
    assert not curve.sample(times)[:, 2].any()


def test_weights_with_keys_of_their_own_keep_them() -> None:
    path = 'key_blocks["{}"].value'
    smile = replace(single(0, [(0, 0), (10, 1)], "BEZIER"), data_path=path.format("smile"), owner="face")
    blink = replace(single(0, [(0, 0), (4, 1), (8, 0)], "LINEAR"), data_path=path.format("blink"), owner="face")
    curves = from_fcurves(Action("a", 10.0, 0.0, (smile, blink)))
    assert [(c.channel.target, c.channel.columns, len(c)) for c in curves.curves] == [
        ("face", ("smile",), 2),
        ("face", ("blink",), 3),
    ]


def test_a_step_beside_a_curve_jumps() -> None:
    x, y = single(0, [(0, 0), (10, 1), (20, 2)], "CONSTANT"), single(1, [(0, 0), (20, 2)], "LINEAR")
    curve = from_fcurves(Action("a", 10.0, 0.0, (x, y))).curves[0]
    np.testing.assert_allclose(curve.sample([0.5, 0.999, 1.0, 1.5, 2.0])[:, 0], [0, 0, 1, 1, 2], atol=1e-12)
    np.testing.assert_allclose(curve.sample([0.5, 0.999, 1.5])[:, 1], [0.5, 0.999, 1.5], atol=1e-12)


def test_unkeyed_columns_of_rotation_and_scale_rest() -> None:
    path = 'pose.bones["b"].'
    w = replace(single(0, [(0, 1), (10, 0.5)], "LINEAR"), data_path=path + "rotation_quaternion")
    z = replace(single(2, [(0, 1), (10, 2)], "LINEAR"), data_path=path + "scale")
    turn, size = from_fcurves(Action("a", 10.0, 0.0, (w, z))).curves
    np.testing.assert_array_equal(turn.values, [[0, 0, 0, 1], [0, 0, 0, 0.5]])
    np.testing.assert_array_equal(size.values, [[1, 1, 1], [1, 1, 2]])
    assert turn.segments.tolist() == [BEZIER]  # by columns, which is no slerp


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"interpolation": ("BOUNCE", "BEZIER")}, "interpolated by BOUNCE"),
        ({"data_path": "location"}, "no channel for"),
        ({"data_path": 'pose.bones["b"].bbone_rollin'}, "no channel for"),
        ({"array_index": 3}, "no array index 3"),
    ],
)
def test_what_curves_do_not_have_is_refused(change: dict[str, object], sentence: str) -> None:
    fcurve = replace(single(0, [(0, 0), (1, 1)], "LINEAR"), **change)
    with pytest.raises(InvalidInput, match=sentence):
        from_fcurves(Action("a", 24.0, 0.0, (fcurve,)))


def test_markers_and_twice_the_same_are_refused() -> None:
    with pytest.raises(InvalidInput, match="marker curves"):
        to_fcurves(Curves("m", [Curve(Channel("LFHD", "marker"), [0], [[0, 0, 0]])]))
    fcurve = single(0, [(0, 0), (1, 1)], "LINEAR")
    with pytest.raises(InvalidInput, match="appears twice"):
        from_fcurves(Action("a", 24.0, 0.0, (fcurve, fcurve)))
    angles = replace(fcurve, data_path='pose.bones["b"].rotation_euler')
    with pytest.raises(InvalidInput, match="rotation mode is 'QUATERNION'"):
        from_fcurves(Action("a", 24.0, 0.0, (angles,), {"b": "QUATERNION"}))
