"""What a dope sheet holds, what it may set, and the words of a key. `docs/sheets.md` is the grammar.

A sheet is text that an animator can read, compare and change; `parser.parse` reads one, `tracks` and `spline` make
curves of it. Times are frames, values as written (degrees, metres, weights).

**Vocabulary**: what a sheet may set, so that one grammar serves joints and faces. A sheet names owners and their values
(`Head` and `ry`, `brows` and `raise`); a column is one number over time. `raise` of `brows` means two columns, one for
each side. Of each column a vocabulary holds the rest, the range that it must not leave, and whether it drifts in a
hold.

**Words** of a key: times, values, poses with their amounts, and its interpolation. `rx=4`, `smile=.8/1`, `crouch*0.5`
and `os=12:5` are words. Other words are refused with `InvalidInput`; the parser adds file and line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from understudy.character.controls import Controls
from understudy.errors import InvalidInput

# The lengths of the leaving and the arriving handle, as parts of the segment's duration.
EASES: dict[str, tuple[float, float]] = {
    "soft": (0.42, 0.42),
    "snap": (0.12, 0.72),  # leaves at once, arrives slowly
    "hit": (0.60, 0.12),  # leaves slowly, stops abruptly
    "heavy": (0.62, 0.34),
    "glide": (0.30, 0.62),
    "late": (0.80, 0.20),  # hardly moves until the end
    "even": (1 / 3, 1 / 3),  # with slopes by hand: exactly a parabola
}

AXES = ("rx", "ry", "rz", "tx", "ty", "tz")
SIDES = ("L", "R")
# Layers whose controls stop at their range where the amount of a pose would go beyond it.
SECONDARY_LAYERS = ("fine", "lattice")
RESERVED = frozenset({*EASES, "line", "break", "still"})  # words that cannot be the name of a pose

NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)"
PAIR = rf"({NUMBER})(?:/({NUMBER}))?"
KEY_TIME_PATTERN = re.compile(rf"(?:({NUMBER})>)?({NUMBER})$")
SETTING_PATTERN = re.compile(rf"([A-Za-z_][\w.]*)={PAIR}$")
POSE_PATTERN = re.compile(rf"([A-Za-z_][\w.]*)(?:\*{PAIR})?$")
AMOUNT_PATTERN = re.compile(rf"\*{PAIR}$")
OVERSHOOT_PATTERN = re.compile(rf"os=({NUMBER}):({NUMBER})(?::(\d))?$")
HANDLES_PATTERN = re.compile(rf"({NUMBER}),({NUMBER})$")
DELAY_PATTERN = re.compile(rf"(\w+)\+({NUMBER})$")

Pose = dict[str, float]  # column -> value: "LowerArm.rx": -22, "brows.raise.L": 0.8


class KeyInterpolation(NamedTuple):
    """How the curve reaches and leaves a key. Slopes are in units a second."""

    handles: tuple[float, float] = EASES["soft"]
    straight: bool = False
    overshoot: tuple[float, float, int] | None = None  # part of the move, frames a swing, number of swings
    broken: bool = False
    arriving: float | None = None
    leaving: float | None = None


DEFAULT_INTERPOLATION = KeyInterpolation()


class Key(NamedTuple):
    """One key of one column."""

    place: str  # in the file, for errors
    departure: float | None  # None: from the key before
    frame: float
    value: float
    interpolation: KeyInterpolation = DEFAULT_INTERPOLATION


class Span(NamedTuple):
    """From one frame to another."""

    start: float
    end: float


class SheetContact(NamedTuple):
    """From one frame to another a joint is in contact with the ground."""

    joint: str
    start: float
    end: float


@dataclass
class Sheet:
    """A dope sheet: `tracks` holds the keys of each column ("Head.ry"), `still` those that do not drift in holds."""

    path: str
    name: str = ""
    frames: float = 0.0
    rate: float = 24.0
    order: str = "yxz"
    labels: tuple[str, ...] = ()
    about: str = ""
    moments: dict[str, float] = field(default_factory=dict)  # name -> frame
    holds: list[Span] = field(default_factory=list)  # where stillness is meant
    contacts: list[SheetContact] = field(default_factory=list)
    poses: dict[str, Pose] = field(default_factory=dict)  # "crouch", or "mouth.grin" where it belongs to a group
    faces: dict[str, Pose] = field(default_factory=dict)  # poses of the whole face
    definitions: set[tuple[str, str]] = field(default_factory=set)  # ("pose", "mouth.grin"): poses that it defines
    tracks: dict[str, list[Key]] = field(default_factory=dict)
    still: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class Vocabulary:
    """Columns by owner and name. A name with two columns has sides, left and right."""

    kind: str  # the noun for an owner in errors
    owners: Mapping[str, Mapping[str, tuple[str, ...]]]
    rests: Mapping[str, float]  # of each column
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    still: frozenset[str] = frozenset()  # columns that never drift in holds
    clamped: frozenset[str] = frozenset()  # columns that stop at their range where a pose or an overshoot goes beyond
    parts: Mapping[str, str] = field(default_factory=dict)  # column -> the part of a track that a delay can name
    whole: bool = False  # whether a pose returns the other columns of its track to rest
    arc: str = ""  # the column that arc= dips
    blink: tuple[str, ...] = ()  # the columns of a blink, left and right
    private: Mapping[str, frozenset[str]] = field(default_factory=dict)  # track -> columns that no pose sets

    def names(self, owner: str) -> Mapping[str, tuple[str, ...]]:
        """The names of an owner, and the columns of each."""
        if owner not in self.owners:
            raise InvalidInput(f"there is no {self.kind} {owner!r}; available: {', '.join(self.owners)}")
        return self.owners[owner]

    def columns(self, owner: str, name: str) -> tuple[str, ...]:
        """The columns of a name: of the owner, or of another as in `Neck.rx`; `raise.L` is one side of two."""
        first, dot, rest = name.partition(".")
        if dot and first not in self.owners.get(owner, ()):
            owner, name = first, rest
        known = self.names(owner)
        base, _, side = name.partition(".")
        columns = known.get(base, ())
        if side in SIDES and len(columns) == 2:
            return (columns[SIDES.index(side)],)
        if side or not columns:
            raise InvalidInput(f"{owner} has no {name!r}; available: {_list_similar(known, base)}")
        return columns

    def check_delay(self, part: str) -> None:
        """Refuse a delay of something that is not a part of a track."""
        known = dict.fromkeys(self.parts.values())
        if part not in known:
            what = self.kind if self.kind == "joint" else "side"
            raise InvalidInput(f"there is no {what} {part!r}; available: {', '.join(known)}")


def _list_similar(known: Iterable[str], wanted: str) -> str:
    """The known names, those that resemble the wanted one first, cut short."""
    import difflib

    names = list(known)
    near = difflib.get_close_matches(wanted, names, n=5, cutoff=0.5)
    listed = near + [name for name in names if name not in near]
    return ", ".join(listed[:24]) + (f" and {len(listed) - 24} more" if len(listed) > 24 else "")


def of_joints(joints: Iterable[str]) -> Vocabulary:
    """Degrees about the axes of each joint and metres from its position at rest; translations never drift."""
    owners = {joint: {axis: (f"{joint}.{axis}",) for axis in AXES} for joint in joints}
    parts = {column: joint for joint, names in owners.items() for (column,) in names.values()}
    return Vocabulary(
        "joint",
        owners,
        rests=dict.fromkeys(parts, 0.0),
        still=frozenset(column for column in parts if ".t" in column),
        parts=parts,
    )


def of_controls(controls: Controls) -> Vocabulary:
    """The controls of a face by group. `breath: air=` sets neck.breath, `blink` sets lids.blink."""
    owners: dict[str, dict[str, tuple[str, ...]]] = {}
    parts = {}
    for name in controls.names:
        group, _, rest = name.partition(".")
        base, _, side = rest.partition(".")
        if side in SIDES:
            parts[name] = side
        owners.setdefault(group, {})
        owners[group][base] = (*owners[group].get(base, ()), name)
    for group, names in owners.items():
        for base, columns in names.items():
            if len(columns) > 1 and columns != (f"{group}.{base}.L", f"{group}.{base}.R"):
                raise InvalidInput(f"{group}.{base} should be one control, or one .L and then one .R, but is {columns}")
    private = {}
    if "neck.breath" in controls:
        owners["breath"] = {"air": ("neck.breath",)}
        private["breath"] = frozenset({"neck.breath"})
    blink = owners.get("lids", {}).get("blink", ())
    if blink:
        private["blink"] = frozenset(blink)
    return Vocabulary(
        "group",
        owners,
        rests=dict(zip(controls.names, controls.rest.tolist())),
        ranges=dict(zip(controls.names, zip(controls.low.tolist(), controls.high.tolist()))),
        still=frozenset(blink),
        clamped=frozenset(name for name, layer in zip(controls.names, controls.layers) if layer in SECONDARY_LAYERS),
        parts=parts,
        whole=True,
        arc="head.nod" if "head.nod" in controls else "",
        blink=blink,
        private=private,
    )


class PoseUse(NamedTuple):
    """A pose with its amounts on the left and on the right."""

    pose: Pose
    left: float
    right: float


@dataclass
class Words:
    """The words of one key or pose."""

    uses: list[PoseUse] = field(default_factory=list)
    values: Pose = field(default_factory=dict)  # set by name, in place of the poses' values
    interpolation: KeyInterpolation = DEFAULT_INTERPOLATION
    arc: float | None = None

    def column_values(self, vocabulary: Vocabulary) -> Pose:
        """The values of all columns that are named: poses added to each other relative to rest, then single values."""
        result: Pose = {}
        for pose, left, right in self.uses:
            for column, value in pose.items():
                rest = vocabulary.rests[column]
                amount = left if column.endswith(".L") else right if column.endswith(".R") else 0.5 * (left + right)
                result[column] = result.get(column, rest) + amount * (value - rest)
        for column in vocabulary.clamped.intersection(result):
            low, high = vocabulary.ranges[column]
            result[column] = min(max(result[column], low), high)
        return result | self.values


def read_words(
    words: list[str], owner: str, poses: Mapping[str, Pose], vocabulary: Vocabulary, key: bool = True
) -> Words:
    """The words of an owner's key or pose; only those of a key (`key`) may set its interpolation."""
    result = Words()
    for word in words:
        setting = SETTING_PATTERN.match(word)
        # the tongue has a control named `out`: in its track out= sets the control, not a slope
        is_control = setting is not None and setting[1] in vocabulary.owners.get(owner, ())
        if key and not is_control and _read_interpolation(word, result):
            continue
        if setting:
            columns = vocabulary.columns(owner, setting[1])
            left, right = float(setting[2]), float(setting[3] or setting[2])
            if setting[3] and len(columns) < 2:
                raise InvalidInput(f"{columns[0]} has no sides, but is given two values, {word!r}")
            result.values.update(zip(columns, (left, right)))
        elif pose := POSE_PATTERN.match(word):
            known = _find_pose(pose[1], owner, poses, vocabulary)
            result.uses.append(PoseUse(known, float(pose[2] or 1), float(pose[3] or pose[2] or 1)))
        else:
            example = next(iter(vocabulary.owners.get(owner) or next(iter(vocabulary.owners.values()))))
            raise InvalidInput(f"expected a value such as {example}=1.2 or a pose, but found {word!r}")
    return result


def _find_pose(name: str, owner: str, poses: Mapping[str, Pose], vocabulary: Vocabulary) -> Pose:
    for known in (f"{owner}.{name}", name):
        if known in poses:
            return poses[known]
    if vocabulary.whole and name.rpartition(".")[2] == "rest":
        return {}
    usable = [known.removeprefix(f"{owner}.") for known in poses if "." not in known or known.startswith(f"{owner}.")]
    raise InvalidInput(f"there is no pose or ease {name!r}; available: {', '.join([*usable, *EASES])}")


def _read_interpolation(word: str, into: Words) -> bool:
    """Whether a word belongs to the interpolation of a key; if so `into` takes it."""
    settings = into.interpolation
    if word in EASES:
        settings = settings._replace(handles=EASES[word])
    elif handles := HANDLES_PATTERN.match(word):
        leaving, arriving = float(handles[1]), float(handles[2])
        if not (0 <= leaving <= 1 and 0 <= arriving <= 1):
            raise InvalidInput(f"handles should lie between 0 and 1, but are {leaving:g},{arriving:g}")
        settings = settings._replace(handles=(leaving, arriving))
    elif overshoot := OVERSHOOT_PATTERN.match(word):
        settings = settings._replace(overshoot=(float(overshoot[1]) / 100, float(overshoot[2]), int(overshoot[3] or 1)))
    elif word in ("line", "break"):
        settings = settings._replace(straight=True) if word == "line" else settings._replace(broken=True)
    elif word.startswith(("in=", "out=")):
        slope = read_number(word.partition("=")[2])
        settings = settings._replace(arriving=slope) if word.startswith("in=") else settings._replace(leaving=slope)
    elif word.startswith("arc="):
        into.arc = read_number(word.partition("=")[2])
    elif word.startswith("os="):
        raise InvalidInput(
            f"an overshoot should be written os=percent:frames or os=percent:frames:swings, not {word!r}"
        )
    else:
        return False
    into.interpolation = settings
    return True


def read_number(text: str) -> float:
    """A plain decimal number."""
    if not re.fullmatch(NUMBER, text):
        raise InvalidInput(f"expected a number, but found {text!r}")
    return float(text)


def read_key_time(text: str) -> tuple[float | None, float]:
    """Departure, if written, and arrival of a key."""
    match = KEY_TIME_PATTERN.match(text)
    if not match:
        raise InvalidInput(f"a key should begin with a frame (52 or 42>52), but begins with {text!r}")
    departure = None if match[1] is None else float(match[1])
    arrival = float(match[2])
    if departure is not None and departure >= arrival:
        raise InvalidInput(f"a key should arrive after it leaves, but is {text}")
    return departure, arrival


def read_span(text: str, what: str) -> Span:
    """Two frames, start>end."""
    match = KEY_TIME_PATTERN.match(text.strip())
    if not match or match[1] is None or float(match[1]) >= float(match[2]):
        raise InvalidInput(f"a {what} should be written start>end, but is {text.strip()!r}")
    return Span(float(match[1]), float(match[2]))


def read_delay(text: str, vocabulary: Vocabulary) -> tuple[str, float]:
    """A part of a track, and its delay in frames."""
    match = DELAY_PATTERN.match(text)
    if not match:
        example = "Joint+frames" if vocabulary.kind == "joint" else "L+frames or R+frames"
        raise InvalidInput(f"after a track's name stand still or {example}, but not {text!r}")
    vocabulary.check_delay(match[1])
    return match[1], float(match[2])
