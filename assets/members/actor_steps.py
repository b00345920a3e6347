"""The actor's steps, legs and flights.

**Steps in a sheet**: one line instead of five tracks of a foot.

    course 0 0 30
    step L 40>52 z=.55 turn=8 lift=.09 heel=28 land=-14

The left foot peels off over its ball before frame 40, leaves the floor there, and stands at 52 at the place and heading
given; it lands on the heel (`land` below zero: toes up) or on the ball, and is flat soon after. Times of a step are
those of the toes: from 40 to 52 nothing of the foot touches the floor. Places are along the course: the point of the
floor that it begins at (x, z) and its heading, from its line on in the sheet; without one they are those of the world.

| word | if left out | means |
|---|---|---|
| z | 0 | how far along the course it stands then |
| x | 0 | how far to the left of the side on which the foot belongs |
| turn | 0 | heading, against that of the course |
| lift | .08 | how high it goes, metres |
| top | .5 | when it is highest, as a part of the way |
| heel, peel | 24, 5 | how far the heel is up when the toes leave, and frames that this takes |
| land, flat | -12, 3 | how it lands, degrees, and frames until it is flat |
| swing | 10 | how far the toes hang on the way |
| via, aside | none | where along the course (z, x) it is at its highest: a kick, a foot round the other |
| rise, fall | 0 | speed with which it leaves the floor and comes down, metres a second: as the body does, in a jump |
| ease | .36,.36 | of the way along the floor |

**Legs** reach where the feet stand: exact, by the law of cosines. A foot stands at its place and heading on the floor.
With the heel up it turns about the joint of the toes, which stay flat; with the toes up it turns about the heel's edge.
From its ankle A and the hip H the knee follows: with thigh a, shin b and d = |A - H|, it lies a cos(k) along the way
from hip to ankle and a sin(k) aside, towards where the knee points,

    cos(k) = (a^2 + d^2 - b^2) / (2 a d)

**Flight**: between take-off and landing the centre of mass moves as a thrown body does. The times of a flight are in
the sheet, and so is where it begins and ends; T seconds from height y0 to y1 leave one speed of take-off,
v = (y1 - y0) / T + g T / 2, and one path. The hips are moved by what the centre of mass is off it.
"""

from __future__ import annotations

import re
from math import cos, radians, sin
from typing import NamedTuple

import numpy as np

from understudy.cast.dope_sheet.sheet import read_number, read_span
from understudy.character import Skeleton
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.maths import quaternion, vector

HEEL_LENGTH = 0.072  # metres from the ankle back to the edge that the heel turns on
STANCE = 0.125  # metres from the middle to each ankle where nothing is keyed
TOES_OUT = 7.0  # degrees by which feet point outwards there
RELAXED_LIFT = 0.05  # metres above the floor at which toes are half relaxed
FORWARD = np.array([0.0, 0.0, 1.0])
UP = np.array([0.0, 1.0, 0.0])


class Leg(NamedTuple):
    """One leg at rest: thigh, shin and toes (3,) from joint to joint, the ankle's height, +1 left and -1 right."""

    thigh: Array
    shin: Array
    toes: Array
    height: float
    side: int

    @property
    def length(self) -> float:
        """Of the straight leg."""
        return float(np.linalg.norm(self.thigh) + np.linalg.norm(self.shin))


class Foot(NamedTuple):
    """Where a foot is: ankle (F, 3), foot and toes as rotations in the world (F, 4), heading (F,) radians."""

    ankle: Array
    foot: Array
    toes: Array
    heading: Array


def placed(leg: Leg, x: Array, z: Array, lift: Array, turn: Array, roll: Array) -> Foot:
    """A foot from its controls (F,), in metres and degrees."""
    heading = np.radians(turn + TOES_OUT * leg.side)
    yaw = quaternion.from_axis_angle(UP, heading)
    heel_up = quaternion.from_axis_angle([1.0, 0.0, 0.0], np.radians(np.maximum(roll, 0.0)))
    toes_up = quaternion.from_axis_angle([1.0, 0.0, 0.0], np.radians(np.minimum(roll, 0.0)))
    flat = np.stack([x + STANCE * leg.side, lift, z], axis=-1)  # on the floor below the ankle
    edge = np.array([0.0, 0.0, -HEEL_LENGTH])
    # the ankle seen from the edge of the heel, through the joint of the toes: both turns keep their own pivot
    ankle = np.array([0.0, leg.height, 0.0])
    joint = ankle + leg.toes
    swung = joint + quaternion.rotate(heel_up, ankle - joint)
    swung = edge + quaternion.rotate(toes_up, swung - edge)
    flat_toes = quaternion.multiply(yaw, toes_up)
    foot = quaternion.multiply(flat_toes, heel_up)
    relaxed = lift / (np.abs(lift) + RELAXED_LIFT)  # in the air the toes go along with the foot
    return Foot(flat + quaternion.rotate(yaw, swung), foot, quaternion.slerp(flat_toes, foot, relaxed), heading)


def reached(leg: Leg, hip: Array, ankle: Array, stretch: float = 0.9995) -> Array:
    """(F, 3) the ankle, brought nearer to the hip (F, 3) where the leg is too short; gently from 99 % on."""
    way = ankle - hip
    d = vector.length(way)
    return hip + way * (soft_least(d, leg.length * stretch, 0.004) / np.maximum(d, 1e-9))[..., None]


def soft_least(value: Array, bound: Array | float, softness: float) -> Array:
    """min(value, bound) with a rounded corner: bound - s log(1 + exp((bound - value) / s))."""
    result: Array = bound - softness * np.logaddexp(0.0, (bound - value) / softness)
    return result


def solved(leg: Leg, hip: Array, ankle: Array, pointing: Array) -> tuple[Array, Array]:
    """Rotations in the world (F, 4) of thigh and shin; `pointing` (F, 3) is where the knee points."""
    a, b = np.linalg.norm(leg.thigh), np.linalg.norm(leg.shin)
    way = ankle - hip
    d = np.clip(vector.length(way), abs(a - b) + 1e-6, a + b - 1e-9)
    along = vector.normalise(way)
    aside = vector.normalise(pointing - along * vector.dot(pointing, along)[..., None])
    cosine = np.clip((a * a + d * d - b * b) / (2.0 * a * d), -1.0, 1.0)
    knee = hip + a * (cosine[..., None] * along + np.sqrt(1.0 - cosine**2)[..., None] * aside)
    hinge = vector.normalise(vector.cross(along, aside))  # (F, 3) the knee's axis
    return _turned(leg.thigh, knee - hip, hinge), _turned(leg.shin, ankle - knee, hinge)


def _turned(bone: Array, direction: Array, hinge: Array) -> Array:
    """(F, 4) the rotation that lays a bone (3,), whose hinge is square to it and to +Z, along a direction (F, 3)."""
    rest = _axes(bone[None], vector.cross(bone, FORWARD)[None])
    return quaternion.from_matrix(_axes(direction, hinge) @ np.swapaxes(rest, -1, -2))


def _axes(bone: Array, hinge: Array) -> Array:
    x = vector.normalise(bone)
    y = vector.normalise(hinge - x * vector.dot(hinge, x)[..., None])
    return np.stack([x, y, vector.cross(x, y)], axis=-1)


STEP_LINE = re.compile(r"step\s+([LR])\s+(\S+)((?:\s+\w+=\S+)*)\s*$")
STEP_DEFAULTS = {
    "lift": 0.08,
    "top": 0.5,
    "heel": 24.0,
    "peel": 5.0,
    "land": -12.0,
    "flat": 3.0,
    "swing": 10.0,
    "rise": 0.0,
    "fall": 0.0,
}
STEP_PLACE_DEFAULTS = {"x": 0.0, "z": 0.0, "turn": 0.0}
STEP_ON_THE_WAY = ("via", "aside")
STEP_SIDES = {"L": 1.0, "R": -1.0}


class Course(NamedTuple):
    """Where steps are measured from: a point of the floor, and a heading in degrees."""

    x: float = 0.0
    z: float = 0.0
    heading: float = 0.0

    def place(self, side: float, x: float, z: float) -> tuple[float, float]:
        """What the controls of a foot are, for a place along the course."""
        s, c = sin(radians(self.heading)), cos(radians(self.heading))
        across = x + side * STANCE
        return self.x + z * s + across * c - side * STANCE, self.z + z * c - across * s


def expanded(text: str) -> str:
    """The sheet with every step written out as keys of the track `feet`, on its own line."""
    course, lines = Course(), []
    for line in text.split("\n"):
        plain = line.split("#", 1)[0]
        if plain.startswith("course "):
            numbers = [read_number(word) for word in plain.split()[1:]]
            if len(numbers) != 3:
                raise InvalidInput(f"a course should be written course X Z HEADING, but is {plain.strip()!r}")
            course, line = Course(*numbers), ""
        elif plain.startswith("step "):
            line = _step_keys(plain, course)
        lines.append(line)
    return "\n".join(lines)


def _step_keys(line: str, course: Course) -> str:
    found = STEP_LINE.match(line)
    if not found:
        raise InvalidInput(f"a step should be written step L 40>52 z=.5 lift=.1, but is {line.strip()!r}")
    side, when, rest = found.groups()
    start, end = read_span(when, "step")
    given = dict(word.split("=") for word in rest.split())
    ease = given.pop("ease", "0.36,0.36")
    known = (*STEP_PLACE_DEFAULTS, *STEP_DEFAULTS, *STEP_ON_THE_WAY)
    unknown = given.keys() - set(known)
    if unknown:
        raise InvalidInput(f"a step has no {sorted(unknown)[0]!r}; words are {', '.join([*known, 'ease'])}")
    v = STEP_PLACE_DEFAULTS | STEP_DEFAULTS | {name: read_number(value) for name, value in given.items()}
    x, z = course.place(STEP_SIDES[side], v["x"], v["z"])
    keys = [f"{start}>{end} turn.{side}={course.heading + v['turn']:.2f} {ease}"]
    if "via" in given or "aside" in given:
        on_x, on_z = course.place(STEP_SIDES[side], v.get("aside", v["x"]), v.get("via", v["z"]))
        top = start + v["top"] * (end - start)
        keys += [f"{start}>{top} x.{side}={on_x:.4f} z.{side}={on_z:.4f} .3,.4"]
        keys += [f"{end} x.{side}={x:.4f} z.{side}={z:.4f} .4,.3"]
    else:
        keys += [f"{start}>{end} x.{side}={x:.4f} z.{side}={z:.4f} {ease}"]
    return f"feet: {' | '.join([*keys, *_lift_keys(side, start, end, v)])}"


def _lift_keys(side: str, start: float, end: float, v: dict[str, float]) -> list[str]:
    """The keys of lift and roll."""
    top = start + v["top"] * (end - start)
    keys = [f"{start}>{top} lift.{side}={v['lift']} .3,.5", f"{end} lift.{side}=0 .5,.2"]
    if v["rise"]:
        keys.insert(0, f"{start - 0.25}>{start} lift.{side}=0 break out={v['rise']}")
    if v["fall"]:
        keys[-1] = f"{end} lift.{side}=0 .4,.34 break in={-v['fall']}"
    if v["heel"]:
        keys.append(f"{start - v['peel']}>{start} roll.{side}={v['heel']} .5,.3")
    else:
        keys.append(f"{start - 0.5}>{start} roll.{side}=0")
    keys.append(f"{start + 0.45 * (end - start)} roll.{side}={v['swing']}")
    keys.append(f"{end} roll.{side}={v['land']}")
    if v["land"]:
        keys.append(f"{end + v['flat']} roll.{side}=0 .3,.5")
    return keys


GRAVITY = 9.81  # metres per second squared
# joint: its segment's share of the body's mass [de Leva 1996, mean of both sexes], and where along it the centre lies
MASS_SEGMENTS: dict[str, tuple[float, str, float]] = {
    "Hips": (0.1180, "LowerBack", 0.0),
    "LowerBack": (0.1540, "Spine", 0.6),
    "Spine": (0.1580, "Spine1", 0.7),
    "Head": (0.0680, "Head", 0.0),
    "Arm": (0.0263, "ForeArm", 0.57),
    "ForeArm": (0.0150, "Hand", 0.46),
    "Hand": (0.0059, "HandIndex1", 1.0),
    "UpLeg": (0.1447, "Leg", 0.39),
    "Leg": (0.0457, "Foot", 0.44),
    "Foot": (0.0133, "ToeBase", 0.5),
}


def centre_of_mass(world: Array, skeleton: Skeleton) -> Array:
    """(F, 3) of poses world_from_joint (F, J, 4, 4)."""
    total, weight = np.zeros((len(world), 3)), 0.0
    for name, (mass, end, part) in MASS_SEGMENTS.items():
        for side in ("",) if name in skeleton else ("Left", "Right"):
            start, stop = (world[:, skeleton.index(side + joint), :3, 3] for joint in (name, end))
            total += mass * (start + part * (stop - start))
            weight += mass
    result: Array = total / weight
    return result


def flight_spans(flying: Array) -> list[tuple[int, int]]:
    """The last frame before and the first frame after each flight, of `flying` (F,) bool."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], flying, [False]]).astype(int))).reshape(-1, 2)
    return [(int(a) - 1, int(b)) for a, b in edges if a > 0 and b < len(flying)]


def thrown(places: Array, world: Array, skeleton: Skeleton, flying: Array, rate: float) -> Array:
    """(F, 3) the hips, moved so that the centre of mass of each flight comes nearer to its parabola."""
    centre = centre_of_mass(world, skeleton)
    result = places.copy()
    for start, end in flight_spans(flying):
        t = np.arange(end - start + 1) / rate
        whole = t[-1]
        wanted = centre[start] + (centre[end] - centre[start]) * (t / whole)[:, None]
        wanted[:, 1] += 0.5 * GRAVITY * t * (whole - t)
        result[start + 1 : end] += (wanted - centre[start : end + 1])[1:-1]
    return result
