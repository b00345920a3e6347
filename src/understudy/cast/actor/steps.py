"""Steps in a sheet: one line instead of five tracks of a foot.

    step L 40>52 z=.55 turn=8 lift=.09 heel=28 land=-14

The left foot peels off over its ball before frame 40, leaves the floor there, and stands at 52 at the place and heading
given; it lands on the heel (`land` below zero: toes up) or on the ball, and is flat soon after. A value that is not
given stays as it was. Times of a step are those of the toes: from 40 to 52 nothing of the foot touches the floor.

| word | if left out | means |
|---|---|---|
| x, z, turn | as before | where it stands then |
| lift | .08 | how high it goes, metres |
| top | .5 | when it is highest, as a part of the way |
| heel, peel | 24, 5 | how far the heel is up when the toes leave, and frames that this takes |
| land, flat | -12, 3 | how it lands, degrees, and frames until it is flat |
| swing | 10 | how far the toes hang on the way |
| ease | .36,.36 | of the way along the floor |
"""

from __future__ import annotations

import re

from understudy.cast import words
from understudy.errors import InvalidInput

LINE = re.compile(r"step\s+([LR])\s+(\S+)((?:\s+\w+=\S+)*)\s*$")
USUAL = {"lift": 0.08, "top": 0.5, "heel": 24.0, "peel": 5.0, "land": -12.0, "flat": 3.0, "swing": 10.0}
PLACES = ("x", "z", "turn")


def expanded(text: str) -> str:
    """The sheet with every step written out as keys of the track `feet`, on its own line."""
    return "\n".join(_line(line) for line in text.split("\n"))


def _line(line: str) -> str:
    plain = line.split("#", 1)[0]
    if not plain.startswith("step "):
        return line
    found = LINE.match(plain)
    if not found:
        raise InvalidInput(f"a step should be written step L 40>52 z=.5 lift=.1, but is {plain.strip()!r}")
    side, when, rest = found.groups()
    start, end = words.span(when, "step")
    given = dict(word.split("=") for word in rest.split())
    ease = given.pop("ease", "0.36,0.36")
    unknown = given.keys() - {*PLACES, *USUAL}
    if unknown:
        raise InvalidInput(f"a step has no {sorted(unknown)[0]!r}; words are {', '.join([*PLACES, *USUAL, 'ease'])}")
    v = USUAL | {name: words.number(value) for name, value in given.items()}
    return f"feet: {' | '.join(_keys(side, start, end, v, ease))}"


def _keys(side: str, start: float, end: float, v: dict[str, float], ease: str) -> list[str]:
    top = start + v["top"] * (end - start)
    keys = []
    places = " ".join(f"{name}.{side}={v[name]}" for name in PLACES if name in v)
    if places:
        keys.append(f"{start}>{end} {places} {ease}")
    keys.append(f"{start}>{top} lift.{side}={v['lift']} .3,.5")
    keys.append(f"{end} lift.{side}=0 .5,.2")
    if v["heel"]:
        keys.append(f"{start - v['peel']}>{start} roll.{side}={v['heel']} .5,.3")
    else:
        keys.append(f"{start - 0.5}>{start} roll.{side}=0")
    keys.append(f"{start + 0.45 * (end - start)} roll.{side}={v['swing']}")
    keys.append(f"{end} roll.{side}={v['land']}")
    if v["land"]:
        keys.append(f"{end + v['flat']} roll.{side}=0 .3,.5")
    return keys
