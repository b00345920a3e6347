"""Gaits: speed, facing, stances and foot paths, measured from the soles that touch."""

from __future__ import annotations

import numpy as np
import pytest
from tests.perform.gait_clips import (
    RUN_M_S,
    RUN_STANCE,
    WALK_M_S,
    WALK_STANCE,
    gait_asset,
    gait_rows,
    idle_rows,
    spline_clips,
    turn_rows,
)
from tests.perform.layers.walker import walker

from understudy.character import Character, Skeleton
from understudy.character.body.feet import find_feet
from understudy.character.rig import DirectRig
from understudy.perform.gaits import PHASES, Gaits, find_gaits


def gaits_of(rig: DirectRig, clips: dict[str, np.ndarray]) -> Gaits | None:
    encoder, cycles = spline_clips(rig, clips)
    worlds = [rig.joints(rows) for rows in clips.values()]
    size = float(np.ptp(worlds[0][0, :, 1, 3]))
    return find_gaits(rig, encoder, cycles, find_feet(rig.character, worlds, size), size)


def clips_of(rig: DirectRig, eased: bool = False) -> dict[str, np.ndarray]:
    asset = gait_asset(rig, eased)
    return {clip.name: rig.pose(clip) for clip in asset.clips}


@pytest.mark.parametrize("loose", [False, True], ids=["attached feet", "feet of an IK rig"])
@pytest.mark.parametrize("eased", [False, True], ids=["even", "eased from key to key"])
def test_speed_stride_stance_and_facing_are_those_of_the_clips(loose: bool, eased: bool) -> None:
    rig = walker(loose)
    gaits = gaits_of(rig, clips_of(rig, eased))
    assert gaits is not None and [gait.label for gait in gaits.gaits] == ["Walk", "Run"]
    assert gaits.idle is not None and gaits.idle.label == "Idle" and abs(gaits.facing) < 0.02
    walk, run = gaits.gaits
    # a stance of seven frames is known to half a frame at either end
    assert walk.speed == pytest.approx(WALK_M_S, rel=0.05) and run.speed == pytest.approx(RUN_M_S, rel=0.1)
    assert walk.stance == pytest.approx(np.full(2, WALK_STANCE), abs=0.05)
    assert run.stance == pytest.approx(np.full(2, RUN_STANCE), abs=0.05)
    apart = np.mod(walk.touchdown[0] - walk.touchdown[1], 1.0)
    assert apart == pytest.approx(0.5, abs=0.03)
    assert gaits.tables[0].continuous  # a biped's walk and run have their feet in one order


def test_a_clip_that_is_turned_has_the_same_gait_and_another_facing() -> None:
    rig = walker()
    clips = clips_of(rig)
    straight = gaits_of(rig, clips)
    for angle in (0.7, np.pi):
        turned = gaits_of(rig, {name: turn_rows(rows, angle) for name, rows in clips.items()})
        assert straight is not None and turned is not None
        assert np.cos(turned.facing - straight.facing - angle) > 0.9999
        for gait, other in zip(straight.gaits, turned.gaits):
            assert other.speed == pytest.approx(gait.speed, rel=1e-3)
            sample = 1.01 / PHASES  # a stance may begin or end a sample sooner, by rounding
            assert np.allclose(other.stance, gait.stance, atol=sample)
            assert np.allclose(other.touchdown, gait.touchdown, atol=sample)


def test_a_character_three_times_as_large_goes_three_times_as_fast() -> None:
    rig = walker()
    skeleton = rig.character.skeleton
    large = DirectRig(
        Character("giant", Skeleton(skeleton.names, skeleton.parents, 3 * np.asarray(skeleton.translations)), [])
    )
    clips = clips_of(rig)
    scaled = {}
    for name, rows in clips.items():
        scaled[name] = rows.copy()
        scaled[name].reshape(len(rows), -1, 10)[..., :3] *= 3
    first, second = gaits_of(rig, clips), gaits_of(large, scaled)
    assert first is not None and second is not None
    assert [gait.speed for gait in second.gaits] == pytest.approx([3 * gait.speed for gait in first.gaits], rel=1e-6)


def test_root_motion_changes_nothing() -> None:
    rig = walker()
    clips = clips_of(rig)
    moved = {name: rows.copy() for name, rows in clips.items()}
    for name, speed in (("Walk", WALK_M_S), ("Run", RUN_M_S)):
        moved[name][:, 2] += speed * np.arange(len(moved[name])) / 24.0
    first, second = gaits_of(rig, clips), gaits_of(rig, moved)
    assert first is not None and second is not None
    for gait, other in zip(first.gaits, second.gaits):
        assert other.speed == pytest.approx(gait.speed, rel=0.02)
        assert np.allclose(other.stance, gait.stance, atol=0.03)


@pytest.mark.parametrize("eased", [False, True])
def test_planned_feet_stand_still_at_any_stride(eased: bool) -> None:
    """In a stance a foot of a plan moves back by exactly the stride, whatever the clip does."""
    rig = walker()
    gaits = gaits_of(rig, clips_of(rig, eased))
    assert gaits is not None
    for paths in gaits.tables[0].places:
        for metres in (0.0, 0.5, paths.speed * paths.period):
            planned = paths.joints + paths.correction + metres * paths.stride
            steps = np.diff(planned, axis=1) * PHASES
            stands = (paths.contacts[:, 1:] > 0) & (paths.contacts[:, :-1] > 0)
            wanted = -metres * np.array([np.sin(gaits.facing), np.cos(gaits.facing)])
            assert np.abs(steps[stands] - wanted).max() < max(0.12 * metres, 0.08)
            assert np.abs(planned - paths.joints).max() < 0.5  # and never far from the clip


def test_feet_clear_the_ground_in_every_swing() -> None:
    rig = walker()
    gaits = gaits_of(rig, clips_of(rig))
    assert gaits is not None
    for paths in gaits.tables[0].places:
        for k in range(2):
            swing = np.mod(np.arange(PHASES) / PHASES - paths.touchdown[k], 1.0) > paths.stance[k]
            assert paths.heights[k][swing].max() > 0.025 * gaits.size and paths.heights[k].min() >= 0


def test_backwards_and_standing_clips_are_told_apart() -> None:
    rig = walker()
    clips = clips_of(rig)
    clips["Walk_Back"] = clips["Walk"][::-1].copy()
    gaits = gaits_of(rig, clips)
    assert gaits is not None and abs(gaits.facing) < 0.02
    assert [gait.label for gait in gaits.others] == ["Walk_Back"]
    assert abs(abs(gaits.others[0].heading) - np.pi) < 0.05


def test_a_character_that_only_stands_has_no_gaits() -> None:
    rig = walker()
    step = gait_rows(rig, 1.0, 1.0, 0.6)
    assert gaits_of(rig, {"Idle": idle_rows(rig), "Step": step}) is not None
    legs = idle_rows(rig)
    legs[:, 10] += 0.02 * np.sin(np.linspace(0, 2 * np.pi, len(legs)))  # sways, but walks nowhere
    assert gaits_of(rig, {"Idle": legs}) is None
