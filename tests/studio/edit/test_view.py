"""What is seen of curves: where a point is, whether it is known from its path or worked out."""

from __future__ import annotations

import gc

import numpy as np
from tests.studio.edit.robot import flight, robot

from understudy.character.rig import rig_of
from understudy.edit.goals import Point
from understudy.edit.keys import with_curves
from understudy.edit.solver.free_columns import RigCache
from understudy.render.viewport.surface import FramePacker
from understudy.studio.edit.view import EditView
from understudy.studio.session import collect_and_freeze_garbage


def test_where_a_shown_point_is_follows_time_and_curves() -> None:
    rig, curves = rig_of(robot().characters[0]), flight()
    view = EditView(RigCache(rig), FramePacker(rig), curves, 0.0, 3.0)
    hand = Point("hand.L")
    view.show_points([(1, hand)])
    own = curves.curves[0]
    after = np.array(own.after)
    after[:, 0, 1] += 0.2
    other = with_curves(curves, [own.with_handles(own.before, after), *curves.curves[1:]])
    seen = []
    for shown, time in ((curves, 0.5), (curves, 1.4), (other, 1.4), (other, 0.5), (curves, 0.5)):
        view.show(shown)
        view.seek(time)
        fresh = EditView(RigCache(rig), FramePacker(rig), shown, 0.0, 3.0)
        fresh.seek(time)
        for found, wanted in zip(view.where(hand, time), fresh.where(hand, time)):
            np.testing.assert_allclose(found, wanted, atol=1e-12)
        seen.append(view.where(hand, time)[0])
    assert np.linalg.norm(seen[1] - seen[2]) > 1e-3 and np.allclose(seen[0], seen[4])


def test_what_is_open_is_set_aside_and_what_has_gone_is_collected() -> None:
    class Ring:
        gone = 0

        def __init__(self) -> None:
            self.own = self

        def __del__(self) -> None:
            Ring.gone += 1

    try:
        kept = Ring()
        collect_and_freeze_garbage()
        assert gc.get_freeze_count() > 0
        del kept  # a ring that was set aside, and that nobody has any more
        collect_and_freeze_garbage()
        assert Ring.gone == 1
    finally:
        gc.unfreeze()
