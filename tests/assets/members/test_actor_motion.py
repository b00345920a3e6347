"""The six emotions keep the laws of the actor's world: feet stand, nothing sinks into the floor, who jumps falls."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pytest

from assets.members import actor_motion, actor_steps
from assets.members.actor_motion import SIDES, actor_controls, leg_of, performed
from assets.members.skeletons import actor_skeleton
from understudy.character.kinematics import world_transforms
from understudy.checks import Array
from understudy.maths import quaternion

BODY = actor_skeleton()
RATE = 48.0
WITH_FLIGHT = {"anger", "disgust", "fear", "happiness", "surprise"}


@lru_cache(maxsize=8)
def acted(name: str) -> tuple[dict[str, Array], Array, Array]:
    """Controls, world_from_joint (F, J, 4, 4), and where nothing stands (F,)."""
    own = next(sheet for sheet in sheets() if sheet.name == name)
    values = actor_motion.control_values(own)
    found = performed(values, BODY, RATE)
    places = np.tile(BODY.translations, (len(found.places), 1, 1))
    places[:, 0] = found.places
    return values, world_transforms(BODY.parents, places, found.rotations), found.flying


@lru_cache(maxsize=1)
def sheets() -> list:
    return actor_motion.read_sheets()


def test_there_are_six_of_fifteen_to_thirty_seconds() -> None:
    assert [sheet.name for sheet in sheets()] == list(actor_motion.EMOTIONS)
    for sheet in sheets():
        assert sheet.labels == (sheet.name,) and sheet.about and len(sheet.moments) >= 6
        assert 15 <= sheet.frames / sheet.rate <= 30


@pytest.mark.parametrize("name", actor_motion.EMOTIONS)
def test_a_foot_that_stands_does_not_slide(name: str) -> None:
    values, world, _ = acted(name)
    for side in SIDES:
        lift, roll = values[f"feet.lift.{side[0]}"], values[f"feet.roll.{side[0]}"]
        standing = (lift[1:] == 0) & (lift[:-1] == 0)
        toes = world[:, BODY.index(f"{side}ToeBase"), :3, 3]
        on_toes = standing & (roll[1:] >= 0) & (roll[:-1] >= 0)
        assert on_toes.any()
        assert np.abs(np.diff(toes, axis=0)[on_toes]).max() < 1e-9  # metres: legs reach, whatever the hips do
        ankle = world[:, BODY.index(f"{side}Foot"), :3, 3]
        flat = standing & (roll[1:] == 0) & (roll[:-1] == 0)
        assert np.abs(np.diff(ankle, axis=0)[flat]).max() < 1e-9


@pytest.mark.parametrize("name", actor_motion.EMOTIONS)
def test_nothing_is_below_the_floor(name: str) -> None:
    _, world, _ = acted(name)
    heights = world[..., 1, 3]
    ankle = leg_of(BODY, "Left").height
    toes = ankle + leg_of(BODY, "Left").toes[1]
    for side in SIDES:
        assert heights[:, BODY.index(f"{side}ToeBase")].min() > toes - 0.02  # toes up, the joint comes a little nearer
        assert heights[:, BODY.index(f"{side}Foot")].min() > ankle - 0.02
    above = [j for j, joint in enumerate(BODY.names) if "Foot" not in joint and "Toe" not in joint]
    assert heights[:, above].min() > 0.03


@pytest.mark.parametrize("name", sorted(WITH_FLIGHT))
def test_in_flight_the_centre_of_mass_falls_freely_and_take_off_is_not_sudden(name: str) -> None:
    _, world, flying = acted(name)
    spans = actor_steps.flight_spans(flying)
    assert spans
    centre = actor_steps.centre_of_mass(world, BODY)
    speed = np.diff(centre, axis=0) * RATE
    for start, end in spans:
        fall = np.diff(centre[start : end + 1, 1], n=2) * RATE**2
        assert np.abs(fall + actor_steps.GRAVITY).max() < 0.3
        assert abs(speed[start, 1] - speed[start - 1, 1]) < 0.7  # metres a second, in one frame
    if name != "fear":
        assert max(end - start for start, end in spans) / RATE > 0.4


def test_sadness_never_leaves_the_floor() -> None:
    assert not acted("sadness")[2].any()


@pytest.mark.parametrize("name", actor_motion.EMOTIONS)
def test_no_joint_pops_or_stands_still(name: str) -> None:
    _, world, _ = acted(name)
    clip = next(clip for clip in made() if clip.name == name)
    for channel in clip.channels:
        if channel.kind == "rotation":
            turns = clip.get(channel.target, "rotation")
            assert turns is not None
            speed = np.degrees(quaternion.angle_between(turns[1:], turns[:-1])) * RATE
            assert speed.max() < 2000, channel.target  # a fist that is flung goes 1,900
    moving = np.linalg.norm(np.diff(world[..., :3, 3], axis=0), axis=2).mean(axis=1) * RATE
    still = moving < 0.004  # metres a second, of all joints: breath alone is more
    runs = np.diff(np.flatnonzero(np.concatenate([[True], ~still, [True]])))
    assert runs.max() <= 24


@lru_cache(maxsize=1)
def made() -> tuple:
    return actor_motion.clips(BODY)


def test_clips_hold_all_that_moves_with_moments_in_seconds() -> None:
    for clip, sheet in zip(made(), sheets()):
        assert clip.rate == RATE and clip.labels == (sheet.name,)
        assert clip.duration == pytest.approx(sheet.frames / sheet.rate)
        assert clip.channels[0].kind == "translation"
        assert {channel.target for channel in clip.channels} <= set(BODY.names)
        assert max(clip.moments.values()) < clip.duration


def test_controls_that_a_mirror_turns_are_those_of_the_sides() -> None:
    controls = actor_controls()
    row = controls.rest.copy()
    row[controls.index("hips.turn")], row[controls.index("arms.swing.L")] = 20.0, 50.0
    seen = controls.mirror_pose(row)
    assert seen[controls.index("hips.turn")] == -20 and seen[controls.index("arms.swing.R")] == 50
    assert np.array_equal(controls.mirror_pose(seen), row)


def test_a_mirrored_performance_is_the_mirror_image() -> None:
    controls = actor_controls()
    generator = np.random.default_rng(3)
    row = 0.3 * (generator.uniform(controls.low, controls.high) - controls.rest) + controls.rest
    for name in ("feet.lift.L", "feet.lift.R", "hips.turn", "feet.x.L", "feet.x.R", "feet.z.L", "feet.z.R"):
        row[controls.index(name)] = 0.0
    for name in ("feet.turn.L", "feet.turn.R"):
        row[controls.index(name)] *= 0.05
    places = []
    for each in (row, controls.mirror_pose(row)):
        found = performed({n: np.array([v]) for n, v in zip(controls.names, each)}, BODY, RATE)
        local = BODY.translations.copy()
        local[0] = found.places[0]
        places.append(world_transforms(BODY.parents, local, found.rotations[0])[:, :3, 3])
    twin = [BODY.index(_other(joint)) for joint in BODY.names]
    assert np.allclose(places[0][twin] * [-1, 1, 1], places[1], atol=1e-9)


def _other(joint: str) -> str:
    for left, right in (("Left", "Right"), ("LHip", "RHip"), ("LThumb", "RThumb")):
        if joint.startswith(left):
            return right + joint.removeprefix(left)
        if joint.startswith(right):
            return left + joint.removeprefix(right)
    return joint
