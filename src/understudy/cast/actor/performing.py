"""The actor's performance: from rows of controls to joints, with feet that stand where they were put.

The hips stand over the middle of the feet, a little later than these, and shift towards the foot that stays before the
other leaves; keys move them from there. They come down where a leg would be too short for the foot that it stands on,
so that strides and deep lunges need no counting. In flight, with both feet off the floor, the feet come along instead
(`legs.reached`), and the hips are moved so that the centre of mass flies as a thrown body does (`flight`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from understudy.cast.actor import flight, trunk
from understudy.cast.actor.legs import FORWARD, STANCE, UP, Foot, Leg, placed, reached, soft_least, solved
from understudy.cast.actor.skeleton import HIPS
from understudy.character import Skeleton
from understudy.character.kinematics import world_transforms
from understudy.checks import Array
from understudy.maths import linear, quaternion

AT_EASE = 0.046  # metres by which the hips are higher than at rest, where the legs are apart
STRETCH = 0.994  # of a leg's length: how far it may stretch on the floor
ROUNDING = 0.010  # metres over which the hips give way
FOLLOWING, SHIFTING = 0.13, 0.16  # seconds: how smoothly the hips follow the feet, and shift to the one that stays
SHIFT = 0.6  # of the way to that foot
SETTLING = 8  # rounds in which hips and feet of a flight find each other
SIDES = ("Left", "Right")


class Performance(NamedTuple):
    """Joints over time: translation of the hips (F, 3), rotations (F, J, 4), and where nothing stands, (F,) bool."""

    places: Array
    rotations: Array
    flying: Array


def performed(values: trunk.Values, skeleton: Skeleton, rate: float) -> Performance:
    """Controls, name -> (F,), as joints of the actor's skeleton, `rate` frames a second."""
    turned = trunk.hips(values)
    feet = [placed(leg(skeleton, side), *_of_foot(values, side)) for side in SIDES]
    flying = np.minimum(values["feet.lift.L"], values["feet.lift.R"]) > 1e-4
    places = _over(values, feet, rate)
    places = _lowered(places, turned, feet, skeleton, flying)
    if flying.any():
        rows = np.flatnonzero(np.convolve(flying, np.ones(3), mode="same") > 0)  # with the frames before and after
        places[rows] = _flown(
            {name: value[rows] for name, value in values.items()},
            places[rows],
            turned[rows],
            [Foot(*(part[rows] for part in foot)) for foot in feet],
            skeleton,
            flying[rows],
            rate,
        )
    rotations = _all(values, places, turned, feet, skeleton, flying)
    return Performance(places, np.asarray(quaternion.unroll(rotations)), flying)


def _flown(
    values: trunk.Values,
    places: Array,
    turned: Array,
    feet: list[Foot],
    skeleton: Skeleton,
    flying: Array,
    rate: float,
) -> Array:
    """(F, 3) the hips in flight: as they move, the legs that hang on them do, and with those the centre of mass."""
    for _ in range(SETTLING):
        rotations = _all(values, places, turned, feet, skeleton, flying)
        world = world_transforms(skeleton.parents, _translations(skeleton, places), rotations)
        places = flight.thrown(places, world, skeleton, flying, rate)
    return places


def _over(values: trunk.Values, feet: list[Foot], rate: float) -> Array:
    """(F, 3) the hips over the feet, at the height that is keyed."""
    from scipy.ndimage import gaussian_filter1d

    left, right = (foot.ankle * np.array([1.0, 0.0, 1.0]) for foot in feet)
    in_air = [np.asarray(values[f"feet.lift.{side}"] > 1e-4, float) for side in "LR"]
    onto_left = gaussian_filter1d(in_air[1] - in_air[0], SHIFTING * rate, mode="nearest")  # 1: on the left foot alone
    middle = gaussian_filter1d(0.5 * (left + right), FOLLOWING * rate, axis=0, mode="nearest")
    heading = quaternion.from_axis_angle(UP, np.radians(values["hips.turn"]))
    across = 0.5 * linear.dot(left - right, quaternion.rotate(heading, [1.0, 0.0, 0.0]))
    x = values["hips.x"] + SHIFT * onto_left * np.clip(across, 0.0, STANCE)
    keyed = np.stack([x, HIPS + AT_EASE + values["hips.y"], values["hips.z"]], axis=-1)
    result: Array = middle + quaternion.rotate(heading, keyed)
    return result


def leg(skeleton: Skeleton, side: str) -> Leg:
    """A leg's measures."""
    thigh, shin, toes = (skeleton.translations[skeleton.index(f"{side}{name}")] for name in ("Leg", "Foot", "ToeBase"))
    hip = skeleton.translations[skeleton.index(f"{side}UpLeg")]
    return Leg(thigh, shin, toes, float(HIPS + hip[1] + thigh[1] + shin[1]), 1 if side == "Left" else -1)


def _of_foot(values: trunk.Values, side: str) -> list[Array]:
    return [values[f"feet.{name}.{side[0]}"] for name in ("x", "z", "lift", "turn", "roll")]


def _hip(skeleton: Skeleton, side: str, places: Array, turned: Array) -> Array:
    """(F, 3) where a leg begins."""
    offset = skeleton.translations[skeleton.index(f"{side}UpLeg")]
    result: Array = places + quaternion.rotate(turned, offset)
    return result


def _lowered(places: Array, turned: Array, feet: list[Foot], skeleton: Skeleton, flying: Array) -> Array:
    """(F, 3) the hips, low enough for both legs to reach their feet; in flight as they are."""
    height = places[:, 1]
    for side, foot in zip(SIDES, feet):
        hip = _hip(skeleton, side, places, turned)
        flat = np.hypot(*(foot.ankle - hip)[:, [0, 2]].T)
        reach = leg(skeleton, side).length * STRETCH
        highest = foot.ankle[:, 1] + np.sqrt(np.maximum(reach**2 - flat**2, 0.01)) - (hip[:, 1] - places[:, 1])
        height = soft_least(height, highest, ROUNDING)
    result = places.copy()
    result[:, 1] = np.where(flying, places[:, 1], height)
    return result


def _above(values: trunk.Values, turned: Array) -> dict[str, Array]:
    """Joint -> (F, 4) of everything above the legs."""
    result = trunk.spine(values)
    chest = turned
    for turn in result.values():
        chest = quaternion.multiply(chest, turn)
    return result | trunk.head(values, chest) | trunk.arm(values, "L") | trunk.arm(values, "R")


def _all(
    values: trunk.Values, places: Array, turned: Array, feet: list[Foot], skeleton: Skeleton, flying: Array
) -> Array:
    """(F, J, 4) all rotations, each relative to its parent's."""
    found = {"Hips": turned, **_above(values, turned)}
    for side, foot in zip(SIDES, feet):
        own = leg(skeleton, side)
        hip = _hip(skeleton, side, places, turned)
        ankle = np.where(flying[:, None], reached(own, hip, foot.ankle), foot.ankle)
        outwards = own.side * np.radians(values[f"feet.knee.{side[0]}"])
        pointing = quaternion.rotate(turned, FORWARD) + quaternion.rotate(foot.foot, FORWARD)
        pointing = quaternion.rotate(quaternion.from_axis_angle(UP, outwards), pointing)
        thigh, shin = solved(own, hip, ankle, pointing)
        chain = (turned, thigh, shin, foot.foot, foot.toes)
        for name, parent, child in zip(("UpLeg", "Leg", "Foot", "ToeBase"), chain, chain[1:]):
            found[f"{side}{name}"] = quaternion.multiply(quaternion.conjugate(parent), child)
    rotations = np.tile(quaternion.identity(), (len(places), len(skeleton), 1))
    for joint, turn in found.items():
        rotations[:, skeleton.index(joint)] = turn
    return rotations


def _translations(skeleton: Skeleton, places: Array) -> Array:
    result = np.tile(skeleton.translations, (len(places), 1, 1))
    result[:, 0] = places
    return result
