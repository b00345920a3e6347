"""A leg follows its foot: the foot keeps the way it faces, knees and lengths stay what they are in the clips."""

from __future__ import annotations

import numpy as np
import pytest
from tests.perform.layers.walker import posed, steps, walker

from understudy.character.body.feet import find_feet
from understudy.character.rig import DirectRig
from understudy.perform.layers.feet import Leg


@pytest.fixture(scope="module", params=[False, True], ids=["attached", "loose"])
def legs(request: pytest.FixtureRequest) -> tuple[DirectRig, np.ndarray, list[Leg]]:
    rig = walker(request.param)
    rows = posed(rig, steps(), np.outer(0.015 * np.sin(np.arange(96) / 7) - 0.035, [0, 1, 0]))
    worlds = rig.joints(rows)
    found = find_feet(rig.character, [worlds], 1.7)
    return rig, rows, [Leg.from_clips(rig.character.skeleton, foot, worlds) for foot in found]


def test_the_foot_goes_where_it_is_put(legs: tuple[DirectRig, np.ndarray, list[Leg]]) -> None:
    rig, rows, (leg, other) = legs
    for frame in (3, 12, 40):
        row, worlds = rows[frame].copy(), rig.joints(rows[frame : frame + 1])[0]
        shift = np.array([0.03, 0.02, 0.04])
        missed = leg.put(row, worlds, tuple(shift))
        after = rig.joints(row[None])[0]
        assert missed < 1e-9 and np.abs(after[leg.foot, :3, 3] - worlds[leg.foot, :3, 3] - shift).max() < 1e-9
        assert np.abs(after[leg.foot, :3, :3] - worlds[leg.foot, :3, :3]).max() < 1e-9
        assert np.array_equal(after[other.foot], worlds[other.foot]) and np.array_equal(after[:5], worlds[:5])
        lengths = [np.linalg.norm(w[leg.joints[1], :3, 3] - w[leg.joints[0], :3, 3]) for w in (worlds, after)]
        assert lengths[0] == pytest.approx(lengths[1])


def test_nothing_to_do_is_nothing_done(legs: tuple[DirectRig, np.ndarray, list[Leg]]) -> None:
    rig, rows, own = legs
    for row, worlds in zip(rows[::7], rig.joints(rows)[::7]):
        for leg in own:
            same = row.copy()
            assert leg.put(same, worlds, (0.0, 0.0, 0.0)) == 0.0 and np.array_equal(same, row)


def test_no_longer_and_no_more_bent_than_in_the_clips(legs: tuple[DirectRig, np.ndarray, list[Leg]]) -> None:
    rig, rows, (leg, _) = legs
    worlds = rig.joints(rows)
    hips, feet = worlds[:, leg.joints[0], :3, 3], worlds[:, leg.foot, :3, 3]
    longest, shortest = (f(np.linalg.norm(feet - hips, axis=1)) for f in (np.max, np.min))
    for shift in ([0, -0.5, 0], [0.6, 0, 0], [0, 0, -0.8], [0, 0.6, 0]):
        row = rows[10].copy()
        missed = leg.put(row, worlds[10], tuple(map(float, shift)))
        after = rig.joints(row[None])[0]
        far = np.linalg.norm(after[leg.foot, :3, 3] - after[leg.joints[0], :3, 3])
        assert missed > 0.01 and shortest - 1e-6 <= far <= longest + 1e-6


def test_a_foot_that_was_torn_off_comes_back() -> None:
    rig = walker(loose=True)
    rows = posed(rig, steps())
    worlds = rig.joints(rows)
    leg = Leg.from_clips(rig.character.skeleton, find_feet(rig.character, [worlds], 1.7)[0], worlds)
    row = rows[10].copy()
    row[10 * leg.foot + 1] -= 0.3  # below the floor, where the leg does not reach
    row[10 * leg.foot + 2] += 0.2
    rise = leg.attach(row, rig.joints(row[None])[0], 1e-9)
    leg.put(row, rig.joints(row[None])[0], (0.0, 0.0, 0.0), rise)
    after = rig.joints(row[None])[0]
    tip = after[leg.joints[-1], :3, :3] @ leg.tip + after[leg.joints[-1], :3, 3]
    assert np.linalg.norm(after[leg.foot, :3, 3] - tip) <= leg.slack + 1e-6
