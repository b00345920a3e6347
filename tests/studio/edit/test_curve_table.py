"""The table of values: the numbers of `Curve.sample`, whatever was changed since, and no more work than that takes."""

from __future__ import annotations

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.studio.edit.robot import flight

from understudy.character import Channel, Curve, Curves
from understudy.character.curve import BEZIER, LINEAR, STEP
from understudy.edit import keys
from understudy.edit.keys import with_curves
from understudy.maths import quaternion
from understudy.studio.edit.curve_table import CurveTable

FRAMES = np.arange(73) / 24


def mixed(seed: int) -> Curves:
    """Curves of all kinds: rotations that turn on a sphere or by tangents, steps, cycles, and one with a single key."""
    rng = np.random.default_rng(seed)

    def times(count: int) -> np.ndarray:
        return np.sort(rng.choice(np.arange(73), count, replace=False)) / 24

    def made(channel: Channel, count: int, segment: object, beyond: str = "hold") -> Curve:
        t = times(count)
        values = rng.normal(size=(count, len(channel)))
        if channel.kind == "rotation":
            values = quaternion.unroll(quaternion.normalise(values))
        handles = np.zeros((2, count, len(channel), 2))
        room = np.diff(t)[:, None]
        handles[0, 1:, :, 0], handles[1, :-1, :, 0] = 0.4 * room, 0.4 * room
        handles[..., 1] = 0.2 * rng.normal(size=handles.shape[:-1])
        return Curve(channel, t, values, segment, handles[0], handles[1], (beyond, beyond))

    kinds = rng.choice([STEP, LINEAR, BEZIER], 5)
    return Curves(
        "mixed",
        [
            made(Channel("a", "translation"), 6, BEZIER),
            made(Channel("a", "rotation"), 5, BEZIER),
            made(Channel("b", "rotation"), 4, LINEAR),
            made(Channel("b", "euler", tuple("xyz")), 6, kinds),
            made(Channel("c", "translation"), 4, LINEAR, "linear"),
            made(Channel("d", "translation"), 5, BEZIER, "cycle"),
            made(Channel("e", "scale"), 1, []),
        ],
        rate=24.0,
    )


def wanted(curves: Curves, times: np.ndarray) -> np.ndarray:
    return np.concatenate([curve.sample(times) for curve in curves.curves], axis=1)


@settings(max_examples=15, deadline=None)
@example(seed=1381, moment=-1.1e-308, which=0, column=0)  # hardly before the first key of what comes round again
@given(seed=st.integers(0, 10_000), moment=st.floats(-0.5, 3.5), which=st.integers(0, 6), column=st.integers(0, 2))
def test_values_are_those_of_the_curves(seed: int, moment: float, which: int, column: int) -> None:
    curves = mixed(seed)
    table = CurveTable(curves, FRAMES, np.array([0.01, 1.234]), moment)
    assert np.allclose(table.values, wanted(curves, table.times), atol=1e-12)
    own = curves.curves[which]
    after = np.array(own.after)
    after[0, column, 1] += 0.5
    values = np.array(own.values)
    values[-1] *= 1.0 if own.channel.kind == "rotation" else 1.5
    changed = Curve(own.channel, own.times, values, own.segments, own.before, after, own.extrapolation)
    other = with_curves(curves, [changed if i == which else each for i, each in enumerate(curves.curves)])
    table.update(other)
    assert np.allclose(table.values, wanted(other, table.times), atol=1e-12)
    table.look_at(moment / 2)
    assert np.allclose(table.now, wanted(other, np.array([moment / 2]))[0], atol=1e-12)


def test_a_change_of_one_segment_changes_its_frames_only() -> None:
    curves = flight()
    table = CurveTable(curves, FRAMES, np.zeros(0), 0.5)
    own = curves.curves[0]
    after = np.array(own.after)
    after[1, 0, 1] += 0.1
    moved = with_curves(curves, [own.with_handles(own.before, after), *curves.curves[1:]])
    change = table.update(moved)
    assert (change.first, change.last) == (24, 49)
    assert table.update(moved).first == table.update(moved).last == 0
    inserted = keys.insert_key(moved, 0.25, ["body"])
    table.update(inserted)
    assert np.allclose(table.values, wanted(inserted, table.times), atol=1e-12)


def test_curves_beyond_their_keys_are_what_they_say() -> None:
    curves = mixed(3)
    table = CurveTable(curves, np.array([-1.0, 0.0, 5.0]), np.zeros(0), 9.0)
    assert np.allclose(table.values, wanted(curves, table.times), atol=1e-12)
    assert table.rows(np.zeros(0)).shape == (0, curves.channels.width)
