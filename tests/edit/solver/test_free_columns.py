"""The cache of a rig gives what a fresh computation gives, and is not used for other channels."""

from __future__ import annotations

import numpy as np
from tests.edit import creature

from understudy.edit.drag import DragSession
from understudy.edit.goals import Edit, MovePoint, Pin, Point
from understudy.edit.solver.free_columns import MAX_CACHED_POINT_SETS, RigCache, character_size, column_units


def test_states_are_kept_by_point_and_dropped_with_their_channels() -> None:
    rig, one, other = creature.rig(), creature.curves(1), creature.curves(1, "rotation")
    ground, points = RigCache(rig), [Point("left tip"), Point(vertex=3)]
    kept = ground.states(one.channels, points)
    assert ground.states(creature.curves(2).channels, tuple(points)) is kept  # the same channels, made again
    assert ground.states(one.channels, points[:1]) is not kept
    turned = ground.states(other.channels, points)
    assert turned is not kept and len(turned.columns) != len(kept.columns)
    assert np.array_equal(ground.units(other.channels), column_units(rig, other.channels, character_size(rig)))
    assert np.array_equal(ground.units(one.channels), column_units(rig, one.channels, character_size(rig)))


def test_only_so_many_are_kept() -> None:
    ground, curves = RigCache(creature.rig()), creature.curves(1)
    first = ground.states(curves.channels, [Point("left tip")])
    for vertex in range(MAX_CACHED_POINT_SETS - 1):
        ground.states(curves.channels, [Point(vertex=vertex % 12), Point("hips", (0.0, 0.1 * vertex, 0.0))])
    assert ground.states(curves.channels, [Point("left tip")]) is first
    for step in range(MAX_CACHED_POINT_SETS):
        ground.states(curves.channels, [Point("spine", (0.0, 0.1 * step, 0.0))])
    assert ground.states(curves.channels, [Point("left tip")]) is not first


def test_gestures_on_common_ground_are_those_that_begin_anew() -> None:
    rig, curves = creature.rig(), creature.curves(3)
    ground = RigCache(rig)
    edit = Edit([MovePoint(Point("left tip"), 1.4, by=(0.0, 0.0, 0.0))], pins=[Pin(Point("right tip"))])
    for _ in range(2):
        ends = []
        for session in (DragSession(rig, curves, ground=ground), DragSession(rig, curves)):
            session.begin(edit)
            session.update(by=(0.03, 0.02, 0.0))
            ends.append(session.commit())
        for a, b in zip(ends[0].curves, ends[1].curves):
            assert np.array_equal(a.before, b.before) and np.array_equal(a.after, b.after)
        curves = ends[0]
