"""The actor's six emotions: from the dope sheets in `sheets/actor` to clips, which are baked into `actor.npz`.

**Controls** are what an animator moves: the trunk, the head, the arms, and where each foot stands in the world, in
degrees and metres. The feet are placed in the world, so that a foot that has no key does not move, whatever the body
above it does; the hips stand over them, off by what is keyed, and the legs follow. The head is turned against the
heading of the chest and not against its bend: `nod=0` looks level in a deep bow as well.

**Trunk, head and arms** follow directly. At rest the arms are level and the legs 20 degrees apart, which is no way to
stand; controls count from arms that hang. An arm turns as Rx(-swing) Rz(raise - 90) Rx(twist) on the left, and as its
mirror image on the right.

**Hips and legs**: the hips stand over the middle of the feet, a little later than these, and shift towards the foot
that stays before the other leaves; keys move them from there. They come down where a leg would be too short for the
foot that it stands on, so that strides and deep lunges need no counting. In flight, with both feet off the floor, the
feet come along instead (`actor_steps.reached`), and the hips are moved so that the centre of mass flies as a thrown
body does (`actor_steps.thrown`).

Sheets are keyed at 24 frames a second; the clips have twice as many, because what is thrown and what lands is faster
than a key. A clip is dense: the legs of every frame are placed exactly.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from assets.members.actor_steps import (
    FORWARD,
    STANCE,
    UP,
    Foot,
    Leg,
    expanded,
    placed,
    reached,
    soft_least,
    solved,
    thrown,
)
from assets.members.skeletons import ACTOR_HIPS, actor_skeleton
from understudy.cast.dope_sheet.parser import parse
from understudy.cast.dope_sheet.sheet import Pose, Sheet, Vocabulary, of_controls
from understudy.cast.dope_sheet.tracks import control_curves
from understudy.character import Channel, Channels, Clip, Skeleton
from understudy.character.controls import Controls
from understudy.character.kinematics import world_transforms
from understudy.checks import Array
from understudy.errors import BadFile, InvalidInput
from understudy.maths import quaternion, vector
from understudy.maths.euler import from_euler

# group.control: (unit, lowest, highest, whether a mirror turns its sign, whether there is a left and a right, meaning)
CONTROL_TABLE: dict[str, tuple[str, float, float, bool, bool, str]] = {
    "hips.x": ("metres", -0.6, 0.6, True, False, "off the middle of its feet, to its left"),
    "hips.y": ("metres", -1.1, 1.0, False, False, "height above that of standing at ease"),
    "hips.z": ("metres", -0.6, 0.6, False, False, "off the middle of its feet, forwards"),
    "hips.turn": ("degrees", -720, 720, True, False, "heading, + to the left"),
    "hips.lean": ("degrees", -60, 95, False, False, "+ forwards"),
    "hips.roll": ("degrees", -40, 40, True, False, "+ its left side up"),
    "spine.bend": ("degrees", -55, 110, False, False, "+ forwards, over three joints"),
    "spine.twist": ("degrees", -70, 70, True, False, "+ to the left"),
    "spine.side": ("degrees", -55, 55, True, False, "+ its left side up"),
    "head.nod": ("degrees", -60, 70, False, False, "+ down"),
    "head.turn": ("degrees", -85, 85, True, False, "+ to the left"),
    "head.roll": ("degrees", -45, 45, True, False, "+ its left side up"),
    "neck.breath": ("weight", -1.5, 2, False, False, "1 is a full chest"),
    "shoulders.lift": ("degrees", -12, 34, False, True, "towards the ears"),
    "shoulders.fwd": ("degrees", -25, 28, False, True, "forwards"),
    "arms.swing": ("degrees", -70, 190, False, True, "about the axis from shoulder to shoulder, + forwards and up"),
    "arms.raise": ("degrees", -45, 175, False, True, "away from the side, 90 is level"),
    "arms.twist": ("degrees", -100, 100, False, True, "about the upper arm, + inwards"),
    "arms.elbow": ("degrees", -5, 152, False, True, "0 is straight"),
    "arms.roll": ("degrees", -90, 90, False, True, "of the forearm, + palms down and forwards, - up and back"),
    "arms.wrist": ("degrees", -72, 72, False, True, "+ towards the palm"),
    "arms.fan": ("degrees", -38, 38, False, True, "of the hand, + towards the thumb"),
    "arms.curl": ("degrees", -20, 95, False, True, "fingers, 90 is a fist"),
    "feet.x": ("metres", -8, 8, True, True, "away from where it stands at first, to its left"),
    "feet.z": ("metres", -8, 8, False, True, "forwards from where it stands at first"),
    "feet.lift": ("metres", -0.001, 1.2, False, True, "above the floor; on it only at 0"),
    "feet.turn": ("degrees", -720, 720, True, True, "heading, + to the left"),
    "feet.roll": ("degrees", -55, 75, False, True, "+ heel up, on the ball; - toes up, on the heel"),
    "feet.knee": ("degrees", -40, 60, False, True, "knee outwards"),
}
CONTROL_SIDES = (".L", ".R")


@lru_cache(maxsize=1)
def actor_controls() -> Controls:
    """The controls, those with sides left and then right."""
    rows = [
        (name + side, *entry)
        for name, entry in CONTROL_TABLE.items()
        for side in (CONTROL_SIDES if entry[4] else ("",))  # plain names keep their place among the others
    ]
    names, units, low, high, odd, _, about = zip(*rows)
    groups = [name.partition(".")[0] for name in names]
    return Controls(names, groups, ["bones"] * len(names), units, low, [0.0] * len(names), high, odd, about)


@lru_cache(maxsize=1)
def vocabulary() -> Vocabulary:
    """What the sheets may set; a foot does not drift in holds."""
    from dataclasses import replace

    controls = actor_controls()
    standing = {name for name in controls.names if name.startswith("feet.")}
    return replace(of_controls(controls), still=frozenset(standing))


# joint: its share of bend, twist and side
SPINE_SHARES = {"LowerBack": (0.40, 0.26, 0.38), "Spine": (0.32, 0.34, 0.32), "Spine1": (0.28, 0.40, 0.30)}
NECK_SHARES = {"Neck": 0.30, "Neck1": 0.32}  # their share of the way from chest to head; the head goes the rest
BREATH_DEGREES = {"bend": -2.6, "lift": 4.0, "nod": -1.2}  # degrees of a full chest

Values = Mapping[str, Array]  # control -> (F,)


def hips_rotation(values: Values) -> Array:
    """(F, 4) the hips in the world."""
    return turn_of(values, "hips.turn", "hips.lean", "hips.roll")


def turn_of(values: Values, *names: str) -> Array:
    """(F, 4) turn, nod and roll of three controls, in degrees: Ry Rx Rz."""
    return from_euler(np.radians(np.stack([values[name] for name in names], axis=-1)), "yxz")


def spine_rotations(values: Values) -> dict[str, Array]:
    """Joint -> (F, 4), relative to its parent."""
    bend = values["spine.bend"] + BREATH_DEGREES["bend"] * values["neck.breath"]
    whole = np.radians(np.stack([values["spine.twist"], bend, values["spine.side"]], axis=-1))
    return {
        joint: from_euler(whole * np.array([twist, forward, side]), "yxz")
        for joint, (forward, twist, side) in SPINE_SHARES.items()
    }


def head_rotations(values: Values, chest: Array) -> dict[str, Array]:
    """Joint -> (F, 4) of neck and head, for a chest (F, 4) in the world.

    The head faces where the hips and the twist of the spine lead, turned by its own controls; the neck bends evenly.
    """
    heading = values["hips.turn"] + values["spine.twist"]
    turn = np.radians(heading + values["head.turn"])
    nod = np.radians(values["head.nod"] + BREATH_DEGREES["nod"] * values["neck.breath"])
    world = from_euler(np.stack([turn, nod, np.radians(values["head.roll"])], axis=-1), "yxz")
    way = quaternion.to_rotation_vector(
        quaternion.positive_hemisphere(quaternion.multiply(quaternion.conjugate(chest), world))
    )
    result = {joint: quaternion.from_rotation_vector(share * way) for joint, share in NECK_SHARES.items()}
    result["Head"] = quaternion.from_rotation_vector((1.0 - sum(NECK_SHARES.values())) * way)
    return result


def arm_rotations(values: Values, side: str) -> dict[str, Array]:
    """Joint -> (F, 4) of one arm, side "L" or "R"."""
    s = 1.0 if side == "L" else -1.0
    v = {
        name.split(".")[1]: np.radians(value)
        for name, value in values.items()
        if name.startswith(("shoulders.", "arms.")) and name.endswith(f".{side}")
    }
    lift = v["lift"] + np.radians(BREATH_DEGREES["lift"]) * values["neck.breath"]
    about = _About(s)
    upper = about.product(("x", -v["swing"]), ("z", v["raise"] - np.pi / 2), ("x", v["twist"]))
    prefix, short = ("Left", "L") if side == "L" else ("Right", "R")
    return {
        f"{prefix}Shoulder": about.product(("z", lift), ("y", -v["fwd"])),
        f"{prefix}Arm": upper,
        f"{prefix}ForeArm": about.product(("y", -v["elbow"]), ("x", v["roll"])),
        f"{prefix}Hand": about.product(("z", -v["wrist"]), ("y", -v["fan"])),
        f"{prefix}HandIndex1": about.product(("z", -v["curl"])),
        f"{short}Thumb": about.product(("y", 0.25 * v["curl"]), ("z", -0.2 * v["curl"])),
    }


class _About:
    """Turns about the axes of a joint; the mirror image of one about y or z has the other sign."""

    def __init__(self, side: float) -> None:
        self.sign = {"x": 1.0, "y": side, "z": side}

    def product(self, *turns: tuple[str, Array]) -> Array:
        """(F, 4) the product of turns (axis, radians (F,)), outermost first."""
        result: Array | None = None
        for axis, angle in turns:
            direction = np.eye(3)["xyz".index(axis)]
            turn = quaternion.from_axis_angle(direction, self.sign[axis] * angle)
            result = turn if result is None else quaternion.multiply(result, turn)
        assert result is not None
        return result


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


def performed(values: Values, skeleton: Skeleton, rate: float) -> Performance:
    """Controls, name -> (F,), as joints of the actor's skeleton, `rate` frames a second."""
    turned = hips_rotation(values)
    feet = [placed(leg_of(skeleton, side), *_foot_values(values, side)) for side in SIDES]
    flying = np.minimum(values["feet.lift.L"], values["feet.lift.R"]) > 1e-4
    places = _hips_over_feet(values, feet, rate)
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
    rotations = _all_rotations(values, places, turned, feet, skeleton, flying)
    return Performance(places, np.asarray(quaternion.unroll(rotations)), flying)


def _flown(
    values: Values,
    places: Array,
    turned: Array,
    feet: list[Foot],
    skeleton: Skeleton,
    flying: Array,
    rate: float,
) -> Array:
    """(F, 3) the hips in flight: as they move, the legs that hang on them do, and with those the centre of mass."""
    for _ in range(SETTLING):
        rotations = _all_rotations(values, places, turned, feet, skeleton, flying)
        world = world_transforms(skeleton.parents, _translations(skeleton, places), rotations)
        places = thrown(places, world, skeleton, flying, rate)
    return places


def _hips_over_feet(values: Values, feet: list[Foot], rate: float) -> Array:
    """(F, 3) the hips over the feet, at the height that is keyed."""
    from scipy.ndimage import gaussian_filter1d

    left, right = (foot.ankle * np.array([1.0, 0.0, 1.0]) for foot in feet)
    in_air = [np.asarray(values[f"feet.lift.{side}"] > 1e-4, float) for side in "LR"]
    onto_left = gaussian_filter1d(in_air[1] - in_air[0], SHIFTING * rate, mode="nearest")  # 1: on the left foot alone
    middle = gaussian_filter1d(0.5 * (left + right), FOLLOWING * rate, axis=0, mode="nearest")
    heading = quaternion.from_axis_angle(UP, np.radians(values["hips.turn"]))
    across = 0.5 * vector.dot(left - right, quaternion.rotate(heading, [1.0, 0.0, 0.0]))
    x = values["hips.x"] + SHIFT * onto_left * np.clip(across, 0.0, STANCE)
    keyed = np.stack([x, ACTOR_HIPS + AT_EASE + values["hips.y"], values["hips.z"]], axis=-1)
    result: Array = middle + quaternion.rotate(heading, keyed)
    return result


def leg_of(skeleton: Skeleton, side: str) -> Leg:
    """A leg's measures."""
    thigh, shin, toes = (skeleton.translations[skeleton.index(f"{side}{name}")] for name in ("Leg", "Foot", "ToeBase"))
    hip = skeleton.translations[skeleton.index(f"{side}UpLeg")]
    return Leg(thigh, shin, toes, float(ACTOR_HIPS + hip[1] + thigh[1] + shin[1]), 1 if side == "Left" else -1)


def _foot_values(values: Values, side: str) -> list[Array]:
    return [values[f"feet.{name}.{side[0]}"] for name in ("x", "z", "lift", "turn", "roll")]


def _hip_places(skeleton: Skeleton, side: str, places: Array, turned: Array) -> Array:
    """(F, 3) where a leg begins."""
    offset = skeleton.translations[skeleton.index(f"{side}UpLeg")]
    result: Array = places + quaternion.rotate(turned, offset)
    return result


def _lowered(places: Array, turned: Array, feet: list[Foot], skeleton: Skeleton, flying: Array) -> Array:
    """(F, 3) the hips, low enough for both legs to reach their feet; in flight as they are."""
    height = places[:, 1]
    for side, foot in zip(SIDES, feet):
        hip = _hip_places(skeleton, side, places, turned)
        flat = np.hypot(*(foot.ankle - hip)[:, [0, 2]].T)
        reach = leg_of(skeleton, side).length * STRETCH
        highest = foot.ankle[:, 1] + np.sqrt(np.maximum(reach**2 - flat**2, 0.01)) - (hip[:, 1] - places[:, 1])
        height = soft_least(height, highest, ROUNDING)
    result = places.copy()
    result[:, 1] = np.where(flying, places[:, 1], height)
    return result


def _above(values: Values, turned: Array) -> dict[str, Array]:
    """Joint -> (F, 4) of everything above the legs."""
    result = spine_rotations(values)
    chest = turned
    for turn in result.values():
        chest = quaternion.multiply(chest, turn)
    return result | head_rotations(values, chest) | arm_rotations(values, "L") | arm_rotations(values, "R")


def _all_rotations(
    values: Values, places: Array, turned: Array, feet: list[Foot], skeleton: Skeleton, flying: Array
) -> Array:
    """(F, J, 4) all rotations, each relative to its parent's."""
    found = {"Hips": turned, **_above(values, turned)}
    for side, foot in zip(SIDES, feet):
        own = leg_of(skeleton, side)
        hip = _hip_places(skeleton, side, places, turned)
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


SHEETS = Path(__file__).parent / "sheets" / "actor"
EMOTIONS = ("anger", "disgust", "fear", "happiness", "sadness", "surprise")
CLIP_FRAMES_PER_SHEET_FRAME = 2  # frames of a clip for one of its sheet


@lru_cache(maxsize=1)
def shared_poses() -> dict[str, Pose]:
    """Poses of groups that all sheets share."""
    return parse(_sheet_text("poses"), "actor/poses.txt", vocabulary()).poses


def read_sheet(text: str, path: str) -> Sheet:
    """The sheet that a text describes; `path` is named in errors."""
    try:
        written = expanded(text)
    except InvalidInput as error:
        raise BadFile(path, str(error)) from None
    return parse(written, path, vocabulary(), shared_poses())


def read_sheets() -> list[Sheet]:
    """The dope sheets of all emotions."""
    return [read_sheet(_sheet_text(name), f"actor/{name}.txt") for name in EMOTIONS]


def clips(of: Skeleton | None = None) -> tuple[Clip, ...]:
    """The six emotions, each a clip of rotations and of the hips' place."""
    return tuple(clip_of(each, of) for each in read_sheets())


def control_values(own: Sheet) -> dict[str, Array]:
    """Control -> (F,) over the frames of a clip; what the sheet does not key rests."""
    frames = np.arange(round(own.frames * CLIP_FRAMES_PER_SHEET_FRAME) + 1) / CLIP_FRAMES_PER_SHEET_FRAME
    controls = actor_controls()
    result = {name: np.full(len(frames), rest) for name, rest in zip(controls.names, controls.rest)}
    curves = control_curves(own, vocabulary())
    for curve in curves.curves:
        result[curve.channel.target] = curve.sample(frames / own.rate)[:, 0]
    return result


def clip_of(own: Sheet, of: Skeleton | None = None) -> Clip:
    """The performance that a sheet describes."""
    body = actor_skeleton() if of is None else of
    rate = own.rate * CLIP_FRAMES_PER_SHEET_FRAME
    found = performed(control_values(own), body, rate)
    moving = np.flatnonzero((np.abs(found.rotations[..., :3]) > 1e-12).any(axis=(0, 2)))
    channels = Channels([Channel(body.names[0], "translation"), *(Channel(body.names[j], "rotation") for j in moving)])
    rows = np.concatenate([found.places, found.rotations[:, moving].reshape(len(found.places), -1)], axis=1)
    moments = {name: frame / own.rate for name, frame in own.moments.items()}
    return Clip(own.name, channels, rows, rate, labels=own.labels, about=own.about, moments=moments)


def _sheet_text(name: str) -> str:
    return (SHEETS / f"{name}.txt").read_text(encoding="utf-8")
