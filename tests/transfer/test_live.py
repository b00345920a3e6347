from __future__ import annotations

import numpy as np
import pytest
from tests.transfer.small import source

from understudy.character.body.poses import PoseSequence
from understudy.errors import InvalidInput
from understudy.transfer.live import LiveRetargeter, LiveState
from understudy.transfer.pipeline import TransferTarget, transfer


def played(live: LiveRetargeter, frames: range) -> tuple[LiveState, list[PoseSequence]]:
    given = source()
    state, found = live.init(), []
    for f in frames:
        state, pose = live.step(state, f / 30, given.points[f], given.frames[f])
        found.append(pose)
    return state, found


def test_follows_the_transfer(stage: TransferTarget) -> None:
    """Without filter, a live pose is that of the transfer over the origin, but for the way over the floor."""
    live = LiveRetargeter(stage, 1.0, LiveRetargeter.from_target(stage).degrees, slowest=1e6)
    _, found = played(live, range(30))
    whole = transfer(source(), stage, physics=False).intermediate["mapped"]
    markers = stage.pairs.markers
    for f in (0, 15, 29):
        gap = markers.local(found[f].world)[0] - markers.local(whole.row(f).world)[0]
        assert np.linalg.norm(gap, axis=-1).max() < 0.01


def test_replays_exactly_and_does_not_look_ahead(stage: TransferTarget) -> None:
    live = LiveRetargeter.from_target(stage)
    _, first = played(live, range(20))
    _, again = played(live, range(12))
    for a, b in zip(first, again):
        np.testing.assert_array_equal(a.rotations, b.rotations)


def test_the_filter_calms_noise_and_follows_speed(stage: TransferTarget) -> None:
    live, given = LiveRetargeter.from_target(stage), source()
    rng = np.random.default_rng(6)
    state = live.init()
    out = []
    for f in range(120):
        noisy = given.points[0] + 0.01 * rng.normal(size=given.points[0].shape)
        state, _ = live.step(state, f / 120, noisy, given.frames[0])
        assert state.points is not None
        out.append(state.points - given.local[0])
    assert np.std(out[20:]) < 0.006
    state = live.init()
    lag = []
    for f in range(60):
        state, _ = live.step(state, f / 30, given.points[f], given.frames[f])
        assert state.points is not None
        lag.append(np.linalg.norm(state.points - given.local[f], axis=-1).max())
    assert max(lag) < 0.05


def test_goes_as_far_as_its_size(stage: TransferTarget) -> None:
    _, found = played(LiveRetargeter.from_target(stage), range(60))
    way = stage.pairs.markers.frames(found[-1].world)[0, :3, 3] - stage.pairs.markers.frames(found[0].world)[0, :3, 3]
    assert way[2] == pytest.approx(LiveRetargeter.from_target(stage).size * 59 / 30 * 0.5, rel=0.05)


def test_other_points_are_refused(stage: TransferTarget) -> None:
    live = LiveRetargeter.from_target(stage)
    with pytest.raises(InvalidInput, match="points"):
        live.step(live.init(), 0.0, np.zeros((4, 3)), np.eye(4))
