"""The words of a dope sheet: times, values, poses with their amounts, and how a key is reached.

`rx=4`, `smile=.8/1`, `crouch*0.5` and `os=12:5` are words. What they cannot mean is refused with `InvalidInput`; the
reader adds file and line.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from understudy.cast.keys import EASES, PLAIN, How, Pose, Span
from understudy.cast.vocabulary import Vocabulary
from understudy.errors import InvalidInput

NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)"
PAIR = rf"({NUMBER})(?:/({NUMBER}))?"
TIME = re.compile(rf"(?:({NUMBER})>)?({NUMBER})$")
SETTING = re.compile(rf"([A-Za-z_][\w.]*)={PAIR}$")
POSE = re.compile(rf"([A-Za-z_][\w.]*)(?:\*{PAIR})?$")
AMOUNT = re.compile(rf"\*{PAIR}$")
OVERSHOOT = re.compile(rf"os=({NUMBER}):({NUMBER})(?::(\d))?$")
HANDLES = re.compile(rf"({NUMBER}),({NUMBER})$")
DELAY = re.compile(rf"(\w+)\+({NUMBER})$")
RESERVED = frozenset({*EASES, "line", "break", "still"})  # words that a pose cannot have as its name


class Use(NamedTuple):
    """A pose with its amounts on the left and on the right."""

    pose: Pose
    left: float
    right: float


@dataclass
class Words:
    """What the words of one key or pose say."""

    uses: list[Use] = field(default_factory=list)
    values: Pose = field(default_factory=dict)  # set by name, over whatever the poses say
    how: How = PLAIN
    arc: float | None = None

    def meant(self, vocabulary: Vocabulary) -> Pose:
        """The values of all columns that are named: poses added to each other relative to rest, then single values."""
        result: Pose = {}
        for pose, left, right in self.uses:
            for column, value in pose.items():
                rest = vocabulary.rests[column]
                amount = left if column.endswith(".L") else right if column.endswith(".R") else 0.5 * (left + right)
                result[column] = result.get(column, rest) + amount * (value - rest)
        for column in vocabulary.yielding.intersection(result):
            low, high = vocabulary.ranges[column]
            result[column] = min(max(result[column], low), high)
        return result | self.values


def number(text: str) -> float:
    """A plain decimal number."""
    if not re.fullmatch(NUMBER, text):
        raise InvalidInput(f"expected a number, but found {text!r}")
    return float(text)


def time(text: str) -> tuple[float | None, float]:
    """Departure, if written, and arrival of a key."""
    found = TIME.match(text)
    if not found:
        raise InvalidInput(f"a key should begin with a frame (52 or 42>52), but begins with {text!r}")
    departure = None if found[1] is None else float(found[1])
    arrival = float(found[2])
    if departure is not None and departure >= arrival:
        raise InvalidInput(f"a key should arrive after it leaves, but is {text}")
    return departure, arrival


def span(text: str, what: str) -> Span:
    """Two frames, start>end."""
    found = TIME.match(text.strip())
    if not found or found[1] is None or float(found[1]) >= float(found[2]):
        raise InvalidInput(f"a {what} should be written start>end, but is {text.strip()!r}")
    return Span(float(found[1]), float(found[2]))


def delay(text: str, vocabulary: Vocabulary) -> tuple[str, float]:
    """A part of a track, and how many frames it is late."""
    found = DELAY.match(text)
    if not found:
        example = "Joint+frames" if vocabulary.kind == "joint" else "L+frames or R+frames"
        raise InvalidInput(f"after a track's name stand still or {example}, but not {text!r}")
    vocabulary.late(found[1])
    return found[1], float(found[2])


def read(words: list[str], owner: str, poses: Mapping[str, Pose], vocabulary: Vocabulary, key: bool = True) -> Words:
    """What the words say of an owner; only those of a key may tell how it is reached."""
    result = Words()
    for word in words:
        setting = SETTING.match(word)
        # a tongue has a control called out: there out= is the control, and not a slope
        mine = setting is not None and setting[1] in vocabulary.owners.get(owner, ())
        if key and not mine and _tells_how(word, result):
            continue
        if setting:
            columns = vocabulary.columns(owner, setting[1])
            left, right = float(setting[2]), float(setting[3] or setting[2])
            if setting[3] and len(columns) < 2:
                raise InvalidInput(f"{columns[0]} has no sides, but is given two values, {word!r}")
            result.values.update(zip(columns, (left, right)))
        elif pose := POSE.match(word):
            found = _pose(pose[1], owner, poses, vocabulary)
            result.uses.append(Use(found, float(pose[2] or 1), float(pose[3] or pose[2] or 1)))
        else:
            example = next(iter(vocabulary.owners.get(owner) or next(iter(vocabulary.owners.values()))))
            raise InvalidInput(f"expected a value such as {example}=1.2 or a pose, but found {word!r}")
    return result


def _pose(name: str, owner: str, poses: Mapping[str, Pose], vocabulary: Vocabulary) -> Pose:
    for known in (f"{owner}.{name}", name):
        if known in poses:
            return poses[known]
    if vocabulary.whole and name.rpartition(".")[2] == "rest":
        return {}
    mine = [known.removeprefix(f"{owner}.") for known in poses if "." not in known or known.startswith(f"{owner}.")]
    raise InvalidInput(f"there is no pose or ease {name!r}; available: {', '.join([*mine, *EASES])}")


def _tells_how(word: str, into: Words) -> bool:
    """Whether a word says how a key is reached; if so it is taken in."""
    how = into.how
    if word in EASES:
        how = how._replace(handles=EASES[word])
    elif handles := HANDLES.match(word):
        leaving, arriving = float(handles[1]), float(handles[2])
        if not (0 <= leaving <= 1 and 0 <= arriving <= 1):
            raise InvalidInput(f"handles should lie between 0 and 1, but are {leaving:g},{arriving:g}")
        how = how._replace(handles=(leaving, arriving))
    elif overshoot := OVERSHOOT.match(word):
        how = how._replace(overshoot=(float(overshoot[1]) / 100, float(overshoot[2]), int(overshoot[3] or 1)))
    elif word in ("line", "break"):
        how = how._replace(straight=True) if word == "line" else how._replace(broken=True)
    elif word.startswith(("in=", "out=")):
        slope = number(word.partition("=")[2])
        how = how._replace(arriving=slope) if word.startswith("in=") else how._replace(leaving=slope)
    elif word.startswith("arc="):
        into.arc = number(word.partition("=")[2])
    elif word.startswith("os="):
        raise InvalidInput(
            f"an overshoot should be written os=percent:frames or os=percent:frames:swings, not {word!r}"
        )
    else:
        return False
    into.how = how
    return True
