"""PAIRS.toml: pose pairs as people write them.

[[pair]]
motion = "happiness"                 # the file's stem or the clip's name; left out where there is one motion only
frame = 41                           # or time = 1.7, seconds
pose = {file = "poses.glb", clip = "keys", time = 2.0}     # file beside this one; without it the target's own clips

[[pair]]
motion = "anger"
time = 3.25
[pair.pose]                          # or channel values; what is not named rests
"Head.rotation" = [0.0, 0.1, 0.0, 0.995]     # quaternion x, y, z, w, in place of the rest rotation
"Neck.rotate" = [20, 0, 0]           # degrees about x, y, z (Rz Ry Rx) added to the rest rotation
"Root.translation" = [0, 0.1, 0]     # metres, in place of the rest translation
"Lift.translate" = [0, 0.05, 0]      # metres added to the rest translation
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from understudy import files, formats, tables
from understudy.character import Asset, Character, Clip, Curves
from understudy.errors import InvalidInput, listed
from understudy.maths import euler, quaternion
from understudy.retarget.poses import Poses, posed_at
from understudy.retarget.source import Source

LARGEST = 4 << 20  # characters; a pair of two hundred channels has ten thousand
WIDTHS = {"rotation": 4, "rotate": 3, "translation": 3, "translate": 3}


@dataclass(frozen=True, eq=False)
class Entry:
    """One pair as given: a motion, a frame of it, and a pose of the target (one row, anywhere in the world)."""

    motion: str
    frame: int
    pose: Poses
    name: str = ""


def read_entries(path: Path, sources: Mapping[str, Source], target: Character, own: Asset | None = None) -> list[Entry]:
    """The entries of a file; `own` holds the clips that poses without a file are taken from."""
    table = tables.loads(files.read_text(path), str(path), LARGEST)
    reading = _Reading(path, sources, target, own)
    reading.reader.keys(table, ("pair",), "", "a file of pairs")
    found = reading.reader.entries(table.get("pair", []), "pair", "")
    return [reading.entry(value, f"pair {number}") for number, value in enumerate(found, 1)]


class _Reading:
    """One file being read."""

    def __init__(self, path: Path, sources: Mapping[str, Source], target: Character, own: Asset | None) -> None:
        self.reader = tables.Reader(str(path))
        self.path, self.sources, self.target, self.own = path, sources, target, own
        self.assets: dict[str, Asset] = {}

    def entry(self, value: Any, place: str) -> Entry:
        reader = self.reader
        table = reader.table(value, "a pair", place)
        reader.keys(table, ("motion", "frame", "time", "pose", "name"), place, "a pair")
        motion = self._motion(table, place)
        if "pose" not in table:
            reader.fail("should have a pose", place)
        name = reader.word(table["name"], "name", place) if "name" in table else ""
        frame = self._frame(table, self.sources[motion], place)
        return Entry(motion, frame, self._pose(reader.table(table["pose"], "pose", place), place), name)

    def _motion(self, table: dict[str, Any], place: str) -> str:
        known = tuple(self.sources)
        if not known:
            reader, named = self.reader, table.get("motion")
            missing = f"there is no file {named!r} beside this one" if named else "should name the file of its motion"
            reader.fail(f"{missing}: the frame that it counts is one of a recorded motion", place)
        if "motion" not in table and len(known) != 1:
            self.reader.fail(f"should name its motion, one of {tables.all_of(known)}", place)
        return self.reader.word(table.get("motion", known[0]), "motion", place, known)

    def _frame(self, table: dict[str, Any], source: Source, place: str) -> int:
        reader = self.reader
        if ("frame" in table) == ("time" in table):
            reader.fail("should have either a frame or a time (seconds)", place)
        if "frame" in table:
            frame = reader.number(table["frame"], "frame", place)
            if frame != int(frame):
                reader.fail(f"frame should be a whole number, but is {frame:g}", place)
            return int(frame)
        try:
            return source.frame_at(reader.number(table["time"], "time", place))
        except InvalidInput as error:
            reader.fail(str(error), place)

    def _pose(self, table: dict[str, Any], place: str) -> Poses:
        if "clip" in table or "file" in table:
            return self._pose_of_clip(table, place)
        return self._pose_of_values(table, place)

    def _pose_of_clip(self, table: dict[str, Any], place: str) -> Poses:
        reader = self.reader
        reader.keys(table, ("file", "clip", "time"), place, "a pose from a clip")
        clip = reader.word(table["clip"], "clip", place) if "clip" in table else None
        time = reader.number(table.get("time", 0.0), "time", place)
        asset = self._asset(reader.word(table["file"], "file", place), place) if "file" in table else self.own
        if asset is None:
            reader.fail("a pose from a clip should name its file", place)
        try:
            animation = asset.animation(clip)
            start, end = animation.start, animation.start + animation.duration
            if not start - 1e-6 <= time <= end + 1e-6:
                reader.fail(
                    f"the time of a pose should lie in clip {animation.name!r}, {start:g} to {end:g} s, "
                    f"but is {time:g} s",
                    place,
                )
            self._refuse_strangers(animation, place)
            return posed_at(self.target, animation, np.array([time]))
        except InvalidInput as error:
            reader.fail(str(error), place)

    def _refuse_strangers(self, animation: Clip | Curves, place: str) -> None:
        """A clip that moves joints which the target has not is of another character."""
        joints = [c.target for c in animation.channels if c.kind in ("translation", "rotation", "euler")]
        strange = [joint for joint in joints if joint not in self.target.skeleton]
        if strange and len(strange) >= 0.5 * len(joints):
            self.reader.fail(
                f"clip {animation.name!r} is of another character than {self.target.name!r}, who has no joints "
                f"{listed(strange, 3)}",
                place,
            )

    def _asset(self, name: str, place: str) -> Asset:
        if name not in self.assets:
            found = self.path.parent / name
            if not found.exists():
                self.reader.fail(f"there is no file {name!r} beside this one", place)
            self.assets[name] = formats.read(found)
        return self.assets[name]

    def _pose_of_values(self, table: dict[str, Any], place: str) -> Poses:
        reader, skeleton = self.reader, self.target.skeleton
        translations, rotations = np.array(skeleton.translations), np.array(skeleton.rotations)
        if not table:
            reader.fail("a pose should name a clip, or values of channels", place)
        for key, value in table.items():
            joint, _, kind = key.rpartition(".")
            if kind not in WIDTHS:
                reader.fail(
                    f"a value of a pose should be named joint.kind, kind one of {tables.all_of(WIDTHS)}, "
                    f"but is {key!r}",
                    place,
                )
            if joint not in skeleton:
                hint = tables.nearest(joint, skeleton.names)
                reader.fail(f"{self.target.name!r} has no joint {joint!r}{hint}", place)
            numbers = np.array(reader.numbers(value, key, place, WIDTHS[kind], f"{WIDTHS[kind]} numbers"))
            j = skeleton.index(joint)
            if kind == "rotation":
                if np.linalg.norm(numbers) < 1e-6:
                    reader.fail(f"{key} should be a quaternion x, y, z, w, but is zero", place)
                rotations[j] = quaternion.normalise(numbers)
            elif kind == "rotate":
                turn = euler.from_euler(np.radians(numbers[::-1]), "zyx")
                rotations[j] = quaternion.multiply(skeleton.rotations[j], turn)
            elif kind == "translation":
                translations[j] = numbers
            else:
                translations[j] = skeleton.translations[j] + numbers
        return Poses(skeleton, translations[None], rotations[None], 30.0)
