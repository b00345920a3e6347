"""The dragon's poses and clips, from the dope sheets in `sheets/dragon`.

`poses/*.txt` hold what all sheets share: poses of a group (`pose lids angry: ...`) and, in the files whose names begin
with `face`, full faces made of them. Each folder beside it is a label with its clips, a sheet a clip, named as the clip
is.
"""

from __future__ import annotations

from functools import lru_cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import NamedTuple

from understudy.cast import keying, reading
from understudy.cast.keys import Pose, Sheet
from understudy.cast.vocabulary import Vocabulary, of_controls
from understudy.character import Curves
from understudy.character.controls import Controls
from understudy.checks import Array
from understudy.errors import BadFile

LABELS = ("happy", "grumpy", "bored", "curious", "neutral", "roar", "head shake", "surprise")


class Library(NamedTuple):
    """What sheets may speak of: controls, poses of groups ("lids.angry") and full faces."""

    vocabulary: Vocabulary
    poses: dict[str, Pose]
    faces: dict[str, Pose]

    def sheet(self, text: str, path: str) -> Sheet:
        """The sheet that a text describes; `path` is named in errors."""
        return reading.parse(text, path, self.vocabulary, self.poses, self.faces)

    def curves(self, sheet: Sheet) -> Curves:
        """The animation that a sheet describes."""
        return keying.control_curves(sheet, self.vocabulary)


def clips(controls: Controls) -> tuple[Curves, ...]:
    """The animation, label by label, clips of a label by name."""
    known = library(controls)
    return tuple(known.curves(sheet) for sheet in sheets(controls))


def poses(controls: Controls) -> dict[str, Array]:
    """The pose library, name -> row (C,): full faces by their own names, poses of a group as `lids.angry`."""
    known = library(controls)
    return {name: row(controls, pose) for name, pose in (known.faces | known.poses).items()}


def row(controls: Controls, pose: Pose) -> Array:
    """(C,) the controls of a pose; what it does not name rests."""
    values = controls.rest.copy()
    for name, value in pose.items():
        values[controls.index(name)] = value
    return values


@lru_cache(maxsize=4)
def library(controls: Controls) -> Library:
    """The poses that all sheets share."""
    found = Library(of_controls(controls), {}, {})
    files = _texts(_folder() / "poses")
    for file in sorted(files, key=lambda file: (file.name.startswith("face"), file.name)):
        path = f"dragon/poses/{file.name}"
        sheet = found.sheet(file.read_text(encoding="utf-8"), path)
        for what, name in sorted(sheet.own):
            if name in (found.poses if what == "pose" else found.faces):
                raise BadFile(path, f"the {what} {name!r} was already given in another file")
        found = found._replace(poses=sheet.poses, faces=sheet.faces)
    return found


def sheets(controls: Controls) -> list[Sheet]:
    """The dope sheets of all clips; names and labels are where the folders say."""
    known = library(controls)
    result: list[Sheet] = []
    for label in LABELS:
        folder = label.replace(" ", "_")
        for file in _texts(_folder() / folder):
            path = f"dragon/{folder}/{file.name}"
            sheet = known.sheet(file.read_text(encoding="utf-8"), path)
            if f"{sheet.name}.txt" != file.name:
                raise BadFile(path, f"the clip should be named as its file, but is {sheet.name!r}")
            if label not in sheet.labels:
                raise BadFile(path, f"the labels should include {label!r}, but are {', '.join(sheet.labels) or 'none'}")
            if any(sheet.name == other.name for other in result):
                raise BadFile(path, f"there is another clip named {sheet.name!r}")
            result.append(sheet)
    return result


def _folder() -> Traversable:
    return resources.files("understudy.cast") / "sheets" / "dragon"


def _texts(folder: Traversable) -> list[Traversable]:
    """The text files of a folder by name; none where there is no such folder."""
    if not folder.is_dir():
        return []
    return sorted((file for file in folder.iterdir() if file.name.endswith(".txt")), key=lambda file: file.name)
