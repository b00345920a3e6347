"""Dope sheets: hand-keyed animation as text that an animator can read, compare and change.

    clip   hop
    frames 144                              the last frame; the first is 0
    rate   24
    order  yxz                              factors of a rotation, the outermost first: turn, then nod, then tilt
    labels hop, curious
    beat   looks left, crouches, hops       what happens, in words; may be repeated
    contact Base: 0>58, 68>144              when something stands on the ground without sliding

    pose crouch: LowerArm rx=-22, UpperArm rx=44, Neck rx=-22

    Arm Neck+1: 0 rest | 42>52 crouch heavy | 55>58 stretch*0.9 snap os=12:5
              | 90>96 rest
    Head:       3>11 ry=28 rx=4 os=10:6 | 18>27 ry=-30
    Lift still: 58 ty=0 break out=2.04 | 68 ty=0 break in=-2.04 even

A line is a track: a name, a colon, and keys between bars; a line that begins with a bar goes on with the track above.
A key is a time, what it sets, and how it gets there:

- `42>52` leaves at frame 42 and arrives at 52; a bare `52` glides all the way from the key before.
- `rx ry rz` are degrees about the joint's axes, `tx ty tz` metres from its place at rest. `rx=4` belongs to the joint
  that the track is named after, `Neck.rx=4` to another; `crouch` or `crouch*0.5` sets everything that the pose names.
- The ease is a name (see EASES) or two numbers: the lengths of the handles that leave and arrive, as parts of the way
  in time. Slopes are automatic: flat at extremes, and never beyond a key on the way. All overshoot is written:
- `os=12:5` arrives 12 per cent of this move too far and settles in 5 frames; `os=12:5:2` swings twice, half as far.
- `in=` and `out=` give a slope by hand, in units a second; `break` allows a corner at the key, and is flat on a side
  without a slope of its own. `line` is straight, with corners at both ends.

After `Neck+1` in a track's name, everything for Neck happens a frame later. Between arrival and the next departure a
channel drifts on by `spline.DRIFT` of its last move, so that no hold is dead; `still` after the name, and any
translation, holds exactly.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from understudy.errors import BadFile

EASES: dict[str, tuple[float, float]] = {
    "soft": (0.42, 0.42),
    "snap": (0.12, 0.72),  # away at once, long arrival
    "hit": (0.60, 0.12),  # slow away, stops dead
    "heavy": (0.62, 0.34),
    "glide": (0.30, 0.62),
    "even": (1 / 3, 1 / 3),  # with slopes by hand: exactly a parabola
}
AXES = ("rx", "ry", "rz", "tx", "ty", "tz")
NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)"
TIME = re.compile(rf"(?:({NUMBER})>)?({NUMBER})$")
SETTING = re.compile(rf"(?:(\w+)\.)?(\w+)=({NUMBER})$")
POSE = re.compile(rf"([A-Za-z_]\w*)(?:\*({NUMBER}))?$")
OVERSHOOT = re.compile(rf"os=({NUMBER}):({NUMBER})(?::(\d))?$")
HANDLES = re.compile(rf"({NUMBER}),({NUMBER})$")
DELAY = re.compile(rf"(\w+)\+({NUMBER})$")

Pose = dict[str, float]  # "LowerArm.rx": degrees or metres


@dataclass(frozen=True)
class Key:
    """One key of one channel, as written. Times in frames, values in degrees or metres, slopes in those a second."""

    place: str  # where it stands, for errors
    departure: float | None
    frame: float
    value: float
    handles: tuple[float, float] = EASES["soft"]
    straight: bool = False
    overshoot: tuple[float, float, int] | None = None  # part of the move, frames a swing, swings
    broken: bool = False
    arriving: float | None = None
    leaving: float | None = None


@dataclass(frozen=True)
class Contact:
    """From one frame to another something stands on the ground."""

    joint: str
    start: float
    end: float


@dataclass
class Sheet:
    """A dope sheet: `tracks` holds the keys of each channel ("Head.ry"), `still` those that do not drift in holds."""

    path: str
    name: str = ""
    frames: float = 0.0
    rate: float = 24.0
    order: str = "yxz"
    labels: tuple[str, ...] = ()
    beat: str = ""
    contacts: list[Contact] = field(default_factory=list)
    poses: dict[str, Pose] = field(default_factory=dict)
    tracks: dict[str, list[Key]] = field(default_factory=dict)
    still: set[str] = field(default_factory=set)


def parse(text: str, path: str, joints: Collection[str], poses: Mapping[str, Pose] | None = None) -> Sheet:
    """The sheet that a text describes; `path` and the line are named in errors, `poses` are known beforehand."""
    sheet = Sheet(path, poses=dict(poses or {}))
    reader = _Reader(sheet, joints)
    for number, line in enumerate(text.splitlines(), 1):
        reader.place = f"line {number}"
        content = line.split("#", 1)[0].strip()
        if content:
            reader.read(content)
    return sheet


class _Reader:
    """Reads line by line into a sheet; `place` is where it is."""

    def __init__(self, sheet: Sheet, joints: Collection[str]) -> None:
        self.sheet, self.joints = sheet, joints
        self.place, self.title = "line 1", ""
        self.keyed: dict[str, str] = {}  # channel -> title of its track

    def wrong(self, reason: str) -> BadFile:
        return BadFile(self.sheet.path, reason, self.place)

    def read(self, line: str) -> None:
        word, _, rest = line.partition(" ")
        if line.startswith("|"):
            if not self.title:
                raise self.wrong("a line that begins with a bar goes on with a track, but there is none above")
            self.track(self.title, line[1:])
        elif word in ("pose", "contact") and ":" in rest:
            name, _, body = rest.partition(":")
            (self.pose if word == "pose" else self.contact)(name.strip(), body)
        elif ":" in line and word not in ("beat", "labels"):
            self.title, _, body = line.partition(":")
            self.track(self.title, body)
        else:
            self.setting(word, rest.strip())

    def setting(self, word: str, value: str) -> None:
        sheet = self.sheet
        if word == "clip":
            sheet.name = value
        elif word in ("frames", "rate"):
            number = self.number(value)
            if number <= 0:
                raise self.wrong(f"{word} should be above zero, but is {value}")
            setattr(sheet, word, number)
        elif word == "order":
            if sorted(value) != ["x", "y", "z"]:
                raise self.wrong(f"order should be x, y and z in some order, but is {value!r}")
            sheet.order = value
        elif word == "labels":
            sheet.labels = tuple(label.strip() for label in value.split(","))
        elif word == "beat":
            sheet.beat = f"{sheet.beat} {value}".strip()
        else:
            raise self.wrong(f"expected a track (name: keys), a pose or a setting, but found {word!r}")

    def number(self, text: str) -> float:
        if not re.fullmatch(NUMBER, text):
            raise self.wrong(f"expected a number, but found {text!r}")
        return float(text)

    def joint(self, name: str) -> str:
        if name not in self.joints:
            raise self.wrong(f"there is no joint {name!r}; available: {', '.join(self.joints)}")
        return name

    def pose(self, name: str, body: str) -> None:
        values: Pose = {}
        for group in body.split(","):
            joint, *settings = group.split() or [""]
            self.joint(joint)
            for setting in settings:
                values.update([self.channel(setting, joint)])
        self.sheet.poses[name] = values

    def contact(self, name: str, body: str) -> None:
        for span in body.split(","):
            found = TIME.match(span.strip())
            if not found or found[1] is None or float(found[1]) >= float(found[2]):
                raise self.wrong(f"a contact should be written start>end, but is {span.strip()!r}")
            self.sheet.contacts.append(Contact(self.joint(name), float(found[1]), float(found[2])))

    def channel(self, setting: str, joint: str) -> tuple[str, float]:
        found = SETTING.match(setting)
        if not found or found[2] not in AXES:
            raise self.wrong(f"expected a value such as rx=12 ({', '.join(AXES)}), but found {setting!r}")
        return f"{self.joint(found[1] or joint)}.{found[2]}", float(found[3])

    def track(self, title: str, body: str) -> None:
        name, *options = title.split()
        delays: dict[str, float] = {}
        for option in options:
            delay = DELAY.match(option)
            if delay:
                delays[self.joint(delay[1])] = float(delay[2])
            elif option != "still":
                raise self.wrong(f"after a track's name stand still or Joint+frames, but not {option!r}")
        for text in body.split("|"):
            if text.strip():
                self.keys(name, title, text.split(), "still" in options, delays)

    def keys(self, name: str, title: str, words: list[str], still: bool, delays: Mapping[str, float]) -> None:
        time = TIME.match(words[0])
        if not time:
            raise self.wrong(f"a key should begin with a frame (52 or 42>52), but begins with {words[0]!r}")
        departure, frame = (None if t is None else float(t) for t in time.groups())
        assert frame is not None  # the pattern has no match without it
        if departure is not None and departure >= frame:
            raise self.wrong(f"a key should arrive after it leaves, but is {words[0]}")
        key, values = self.key(name, words[1:], Key(f"{self.place}, key {words[0]}", departure, frame, 0.0))
        if not values:
            raise self.wrong(f"the key at {words[0]} sets nothing")
        for channel, value in values.items():
            if self.keyed.setdefault(channel, title) != title:
                raise self.wrong(f"{channel} is already keyed by the track {self.keyed[channel]!r}")
            late = delays.get(channel.partition(".")[0], 0.0) if frame > 0 else 0.0
            shifted = None if departure is None else departure + late
            self.sheet.tracks.setdefault(channel, []).append(
                replace(key, departure=shifted, frame=frame + late, value=value)
            )
            if still or ".t" in channel:
                self.sheet.still.add(channel)

    def key(self, name: str, words: list[str], key: Key) -> tuple[Key, Pose]:
        values: Pose = {}
        for word in words:
            overshoot, handles, pose = OVERSHOOT.match(word), HANDLES.match(word), POSE.match(word)
            if overshoot:
                swing = (float(overshoot[1]) / 100, float(overshoot[2]), int(overshoot[3] or 1))
                key = replace(key, overshoot=swing)
            elif handles:
                key = replace(key, handles=self.handles(float(handles[1]), float(handles[2])))
            elif word in EASES:
                key = replace(key, handles=EASES[word])
            elif word == "line":
                key = replace(key, straight=True)
            elif word == "break":
                key = replace(key, broken=True)
            elif word.startswith(("in=", "out=")):
                slope = self.number(word.partition("=")[2])
                key = replace(key, arriving=slope) if word.startswith("in=") else replace(key, leaving=slope)
            elif pose and "=" not in word:
                if pose[1] not in self.sheet.poses:
                    known = ", ".join([*self.sheet.poses, *EASES]) or "none"
                    raise self.wrong(f"there is no pose or ease {pose[1]!r}; available: {known}")
                amount = float(pose[2] or 1)
                values |= {channel: amount * value for channel, value in self.sheet.poses[pose[1]].items()}
            else:
                values.update([self.channel(word, name)])
        return key, values

    def handles(self, leaving: float, arriving: float) -> tuple[float, float]:
        if not (0 <= leaving <= 1 and 0 <= arriving <= 1):
            raise self.wrong(f"handles should lie between 0 and 1, but are {leaving:g},{arriving:g}")
        return leaving, arriving
