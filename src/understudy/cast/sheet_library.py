"""The dope sheets of dragon and face in `sheets/`: their vocabulary, the poses that they share, and their clips.

**The dragon.** `poses/*.txt` hold what all its sheets share: poses of a group (`pose lids angry: ...`) and, in the
files whose names begin with `face`, full faces made of them. Each folder beside it is a label with its clips, a sheet a
clip, named as the clip is. Its controls are those of its rig, which come with its arrays.

**The face.** A file a label, ten clips in each. The settings above the first clip of a file (rate, labels) hold for all
of it. Every clip goes from the neutral face to its peak and back, and names the frame of the peak. Its sheets key
ARKit's weights under the names of a face's regions: `mouth: smile=.8/.6` are the shapes `mouthSmileLeft` and
`mouthSmileRight`. The rotation of the head, in degrees, is distributed over the joints of head and neck.
"""

from __future__ import annotations

from functools import lru_cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import NamedTuple

import numpy as np

from understudy.cast.dope_sheet.parser import parse
from understudy.cast.dope_sheet.sheet import Pose, Sheet, Vocabulary, of_controls
from understudy.cast.dope_sheet.spline import Column
from understudy.cast.dope_sheet.tracks import columns_curve, control_curves, sheet_columns
from understudy.character import Channel, Curve, Curves
from understudy.character.controls import Controls
from understudy.checks import Array
from understudy.errors import BadFile
from understudy.formats.arkit_names import SHAPE_NAMES

DRAGON_LABELS = ("happy", "grumpy", "bored", "curious", "neutral", "roar", "head shake", "surprise")
FACE_LABELS = ("anger", "contempt", "disgust", "fear", "happiness", "sadness", "surprise")
FACE_PART = "Face"  # the part whose weights the face's sheets key
# Group -> name in a sheet -> ARKit's name, without a side where it has two.
FACE_SHAPES: dict[str, dict[str, str]] = {
    "eyes": {"up": "eyeLookUp", "down": "eyeLookDown", "in": "eyeLookIn", "out": "eyeLookOut"},
    "lids": {"blink": "eyeBlink", "squint": "eyeSquint", "wide": "eyeWide"},
    "brows": {"down": "browDown", "inner": "browInnerUp", "outer": "browOuterUp"},
    "cheeks": {"puff": "cheekPuff", "squint": "cheekSquint"},
    "nose": {"sneer": "noseSneer"},
    "mouth": {
        "close": "mouthClose",
        "funnel": "mouthFunnel",
        "pucker": "mouthPucker",
        "left": "mouthLeft",
        "right": "mouthRight",
        "smile": "mouthSmile",
        "frown": "mouthFrown",
        "dimple": "mouthDimple",
        "stretch": "mouthStretch",
        "roll_lower": "mouthRollLower",
        "roll_upper": "mouthRollUpper",
        "shrug_lower": "mouthShrugLower",
        "shrug_upper": "mouthShrugUpper",
        "press": "mouthPress",
        "lower_down": "mouthLowerDown",
        "upper_up": "mouthUpperUp",
    },
    "jaw": {"open": "jawOpen", "forward": "jawForward", "left": "jawLeft", "right": "jawRight"},
    "tongue": {"out": "tongueOut"},
}
HEAD_TURNS = {"nod": "x", "turn": "y", "roll": "z"}  # positive: down, to its left, crown to its right
HEAD_TURN_LIMIT_DEGREES = 25.0
HEAD_TURN_SHARES = {"Neck": 0.35, "Head": 0.65}  # of the head's rotation


class Library(NamedTuple):
    """What sheets may use: controls, poses of groups ("lids.angry") and full faces."""

    vocabulary: Vocabulary
    poses: dict[str, Pose]
    faces: dict[str, Pose]

    def sheet(self, text: str, path: str) -> Sheet:
        """The sheet that a text describes; `path` is named in errors."""
        return parse(text, path, self.vocabulary, self.poses, self.faces)

    def curves(self, sheet: Sheet) -> Curves:
        """The animation that a sheet of controls describes."""
        return control_curves(sheet, self.vocabulary)


def dragon_curves(controls: Controls) -> tuple[Curves, ...]:
    """The dragon's animation, label by label, clips of a label by name."""
    library = dragon_library(controls)
    return tuple(library.curves(sheet) for sheet in dragon_sheets(controls))


def dragon_poses(controls: Controls) -> dict[str, Array]:
    """The dragon's poses, name -> row (C,): full faces by their own names, poses of a group as `lids.angry`."""
    library = dragon_library(controls)
    return {name: pose_row(controls, pose) for name, pose in (library.faces | library.poses).items()}


def pose_row(controls: Controls, pose: Pose) -> Array:
    """(C,) the controls of a pose; controls that it does not name are at rest."""
    values = controls.rest.copy()
    for name, value in pose.items():
        values[controls.index(name)] = value
    return values


@lru_cache(maxsize=4)
def dragon_library(controls: Controls) -> Library:
    """The poses that all the dragon's sheets share."""
    library = Library(of_controls(controls), {}, {})
    files = _texts(_folder("dragon") / "poses")
    for file in sorted(files, key=lambda file: (file.name.startswith("face"), file.name)):
        path = f"dragon/poses/{file.name}"
        sheet = library.sheet(file.read_text(encoding="utf-8"), path)
        for what, name in sorted(sheet.definitions):
            if name in (library.poses if what == "pose" else library.faces):
                raise BadFile(path, f"the {what} {name!r} was already given in another file")
        library = library._replace(poses=sheet.poses, faces=sheet.faces)
    return library


def dragon_sheets(controls: Controls) -> list[Sheet]:
    """The dope sheets of all the dragon's clips; their names and labels agree with files and folders."""
    library = dragon_library(controls)
    result: list[Sheet] = []
    for label in DRAGON_LABELS:
        folder = label.replace(" ", "_")
        for file in _texts(_folder("dragon") / folder):
            path = f"dragon/{folder}/{file.name}"
            sheet = library.sheet(file.read_text(encoding="utf-8"), path)
            if f"{sheet.name}.txt" != file.name:
                raise BadFile(path, f"the clip should be named as its file, but is {sheet.name!r}")
            if label not in sheet.labels:
                raise BadFile(path, f"the labels should include {label!r}, but are {', '.join(sheet.labels) or 'none'}")
            if any(sheet.name == other.name for other in result):
                raise BadFile(path, f"there is another clip named {sheet.name!r}")
            result.append(sheet)
    return result


def face_curves() -> tuple[Curves, ...]:
    """The face's animation: curves of ARKit's weights and of the joints of head and neck."""
    return tuple(face_sheet_curves(sheet) for sheet in face_sheets())


@lru_cache
def face_library() -> Library:
    """The vocabulary of the face's sheets, and the poses of groups that they share."""
    vocabulary = of_controls(face_controls())
    return Library(vocabulary, parse(_face_text("poses"), "face/poses.txt", vocabulary).poses, {})


@lru_cache
def face_controls() -> Controls:
    """The controls that the face's sheets key: the 52 weights and the three angles of the head."""
    shapes = face_shape_of()
    weights, turns = list(shapes), [f"head.{name}" for name in HEAD_TURNS]
    names = [*weights, *turns]
    limit = np.array([1.0] * len(weights) + [HEAD_TURN_LIMIT_DEGREES] * len(turns))
    return Controls(
        names,
        [name.partition(".")[0] for name in names],
        # weights stop at 1 where a pose or an overshoot would go on
        ["fine"] * len(weights) + ["bones"] * len(turns),
        ["weight"] * len(weights) + ["degrees"] * len(turns),
        np.where(limit == HEAD_TURN_LIMIT_DEGREES, -HEAD_TURN_LIMIT_DEGREES, 0.0),
        np.zeros(len(names)),
        limit,
        [name in ("head.turn", "head.roll") for name in names],
        [shapes.get(name, "the head's turn") for name in names],
    )


@lru_cache
def face_shape_of() -> dict[str, str]:
    """Control -> ARKit's shape, in the order of the controls: `mouth.smile.L` -> `mouthSmileLeft`."""
    result = {}
    for group, names in FACE_SHAPES.items():
        for name, shape in names.items():
            if shape in SHAPE_NAMES:
                result[f"{group}.{name}"] = shape
            else:
                result |= {f"{group}.{name}.L": f"{shape}Left", f"{group}.{name}.R": f"{shape}Right"}
    return result


def face_sheets() -> list[Sheet]:
    """The dope sheets of all the face's clips, label by label."""
    return [sheet for label in FACE_LABELS for sheet in _face_sheets_of(label)]


def face_sheet_curves(sheet: Sheet) -> Curves:
    """The animation that a sheet of the face describes."""
    columns = sheet_columns(sheet, face_library().vocabulary)
    weights = [
        Curve.bezier_from_checked_arrays(
            Channel(FACE_PART, "weights", (shape,)),
            column.times,
            column.values[:, None],
            column.before[:, None],
            column.after[:, None],
        )
        for control, shape in face_shape_of().items()
        if (column := columns.get(control)) is not None
    ]
    moments = {name: frame / sheet.rate for name, frame in sheet.moments.items()}
    return Curves(sheet.name, [*_head_turns(columns), *weights], sheet.labels, sheet.rate, sheet.about, moments)


def _head_turns(columns: dict[str, Column]) -> list[Curve]:
    """The rotation of the head, distributed over its joints: Ry Rx Rz."""
    if not any(f"head.{name}" in columns for name in HEAD_TURNS):
        return []
    ends = next(column.times[[0, -1]] for name, column in columns.items() if name.startswith("head."))
    none = np.zeros((2, 2))
    still = Column(ends, np.zeros(2), none, none, np.zeros(2, bool))
    turns = [columns.get(f"head.{name}", still) for name in ("turn", "nod", "roll")]
    return [
        columns_curve(Channel(joint, "euler", ("y", "x", "z")), turns, share * np.radians(1.0))
        for joint, share in HEAD_TURN_SHARES.items()
    ]


def _face_sheets_of(label: str) -> list[Sheet]:
    lines = _face_text(label).splitlines()
    starts = [number for number, line in enumerate(lines) if line.startswith("clip ")]
    result = []
    for start, end in zip(starts, [*starts[1:], len(lines)]):
        # other clips become empty lines, so that errors name the right one
        clip = [*lines[: starts[0]], *[""] * (start - starts[0]), *lines[start:end]]
        sheet = face_library().sheet("\n".join(clip), f"face/{label}.txt")
        if sheet.labels != (label,) or "peak" not in sheet.moments:
            raise BadFile(f"face/{label}.txt", f"{sheet.name} should have the label {label!r} and the moment 'peak'")
        result.append(sheet)
    return result


def _face_text(name: str) -> str:
    return (_folder("face") / f"{name}.txt").read_text(encoding="utf-8")


def _folder(member: str) -> Traversable:
    return resources.files("understudy.cast") / "sheets" / member


def _texts(folder: Traversable) -> list[Traversable]:
    """The text files of a folder by name; none where there is no such folder."""
    if not folder.is_dir():
        return []
    return sorted((file for file in folder.iterdir() if file.name.endswith(".txt")), key=lambda file: file.name)
