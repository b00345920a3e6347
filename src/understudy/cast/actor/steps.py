"""Steps in a sheet: one line instead of five tracks of a foot.

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
"""

from __future__ import annotations

import re
from math import cos, radians, sin
from typing import NamedTuple

from understudy.cast import words
from understudy.cast.actor.legs import STANCE
from understudy.errors import InvalidInput

LINE = re.compile(r"step\s+([LR])\s+(\S+)((?:\s+\w+=\S+)*)\s*$")
USUAL = {
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
PLACES = {"x": 0.0, "z": 0.0, "turn": 0.0}
ON_THE_WAY = ("via", "aside")
SIDES = {"L": 1.0, "R": -1.0}


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
            numbers = [words.number(word) for word in plain.split()[1:]]
            if len(numbers) != 3:
                raise InvalidInput(f"a course should be written course X Z HEADING, but is {plain.strip()!r}")
            course, line = Course(*numbers), ""
        elif plain.startswith("step "):
            line = _written(plain, course)
        lines.append(line)
    return "\n".join(lines)


def _written(line: str, course: Course) -> str:
    found = LINE.match(line)
    if not found:
        raise InvalidInput(f"a step should be written step L 40>52 z=.5 lift=.1, but is {line.strip()!r}")
    side, when, rest = found.groups()
    start, end = words.span(when, "step")
    given = dict(word.split("=") for word in rest.split())
    ease = given.pop("ease", "0.36,0.36")
    known = (*PLACES, *USUAL, *ON_THE_WAY)
    unknown = given.keys() - set(known)
    if unknown:
        raise InvalidInput(f"a step has no {sorted(unknown)[0]!r}; words are {', '.join([*known, 'ease'])}")
    v = PLACES | USUAL | {name: words.number(value) for name, value in given.items()}
    x, z = course.place(SIDES[side], v["x"], v["z"])
    keys = [f"{start}>{end} turn.{side}={course.heading + v['turn']:.2f} {ease}"]
    if "via" in given or "aside" in given:
        on_x, on_z = course.place(SIDES[side], v.get("aside", v["x"]), v.get("via", v["z"]))
        top = start + v["top"] * (end - start)
        keys += [f"{start}>{top} x.{side}={on_x:.4f} z.{side}={on_z:.4f} .3,.4"]
        keys += [f"{end} x.{side}={x:.4f} z.{side}={z:.4f} .4,.3"]
    else:
        keys += [f"{start}>{end} x.{side}={x:.4f} z.{side}={z:.4f} {ease}"]
    return f"feet: {' | '.join([*keys, *_lifted(side, start, end, v)])}"


def _lifted(side: str, start: float, end: float, v: dict[str, float]) -> list[str]:
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
