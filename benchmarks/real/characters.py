"""Characters and clips of real files for the benchmarks of editing. The files are not part of the project."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import numpy as np

from understudy import cast
from understudy.character import Asset, Channel, Clip, Curve, Curves
from understudy.character.curve import BEZIER
from understudy.character.rig import DirectRig
from understudy.checks import Array
from understudy.edit import handles
from understudy.errors import InvalidInput, join_names
from understudy.formats import registry
from understudy.maths import euler, quaternion

DATA = Path(os.environ.get("UNDERSTUDY_TEST_DATA", Path(__file__).resolve().parents[3] / "shared" / "data"))
FIELD = Path(os.environ.get("UNDERSTUDY_FIELD_DATA", DATA.parent / "field"))  # files that were not built with


@cache
def asset(file: str) -> Asset:
    """What a file of the real data holds; a name without a folder is one of the cast."""
    return registry.read(path_of(file)) if "/" in file else cast.load(file)


def path_of(file: str) -> Path:
    """Where a file of the real data is: `field/...` in FIELD, everything else in DATA."""
    folder, name, variable = DATA, file, "UNDERSTUDY_TEST_DATA"
    if file.startswith("field/"):
        folder, name, variable = FIELD, file.removeprefix("field/"), "UNDERSTUDY_FIELD_DATA"
    if not (folder / name).is_file():
        raise InvalidInput(f"real data not found: {file} (looked in {folder}; set {variable})")
    return folder / name


@cache
def rig(file: str) -> DirectRig:
    """The rig of the file's first character."""
    return DirectRig(asset(file).characters[0])


def animation(file: str, name: str) -> Clip | Curves:
    """The file's animation whose name ends so."""
    found = [each for each in (*asset(file).clips, *asset(file).curves) if each.name.endswith(name)]
    if not found:
        names = [each.name for each in (*asset(file).clips, *asset(file).curves)]
        raise InvalidInput(f"{file} has no animation {name!r}; it has {join_names(names)}")
    return found[0]


def turned_by_angles(file: str, name: str, joints: list[str], times: Array, rate: float) -> Curves:
    """The poses of an animation at times (K,) as keys of `joints`, Euler angles x, y, z; everything else stays.

    Joints that the animation leaves at rest get keys as well.
    """
    own = rig(file)
    rows = own.pose(animation(file, name), times)
    curves = []
    for joint in own.character.skeleton.names:
        for kind in ("translation", "rotation", "scale"):
            values = rows[:, own.channels.slice(joint, kind)]
            if kind == "rotation" and joint in joints:
                angles = np.unwrap(euler.to_euler(quaternion.unroll(values), "xyz"), axis=0)
                curves.append(Curve(Channel(joint, "euler", ("x", "y", "z")), times, angles, BEZIER))
            else:
                curves.append(Curve(Channel(joint, kind), times[:1], values[:1]))
    return handles.smooth_tangents(Curves(name, curves, rate=rate))
