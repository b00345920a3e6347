"""Bakes: an animation as plain arrays, for programs that want numbers and nothing else.

A NumPy archive (.npz) with `times (F,)`, `joint_names (J,)`, `joints (F, J, 4, 4)` in world space, `vertices
(F, V, 3)`, `triangles (T, 3)` and, from this tool, `joint_parents (J,)`. It is written uncompressed, since packing
floating-point numbers takes far longer than it saves.

`understudy.character.rig.baking` makes a bake; this module reads and writes it, and makes a character of it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from understudy import checks, files
from understudy.character import Asset, Channel, Character, Clip, Mesh, Part, Skeleton, SkinBinding
from understudy.character.rig.baking import Bake
from understudy.character.skeleton import depth_first
from understudy.checks import Array
from understudy.errors import BadFile, InvalidInput, Unsupported
from understudy.formats.conventions import make_distinct
from understudy.maths import transform
from understudy.storage import Archive

REQUIRED_ARRAYS = ("times", "joint_names", "joints", "vertices", "triangles")


def write_bake(bake: Bake, path: str | Path) -> None:
    """Write the arrays under the names that `understudy bake` documents, whole or not at all."""
    arrays: dict[str, Any] = {
        "times": bake.times,
        "joint_names": np.array(bake.joint_names, dtype=np.str_),
        "joints": bake.joints,
        "vertices": bake.vertices,
        "triangles": bake.triangles,
    }
    if bake.parents is not None:
        arrays["joint_parents"] = bake.parents
    # opened here, since np.savez adds an ending to a bare name
    with files.write_atomically(path) as temporary, temporary.open("wb") as file:
        np.savez(file, **arrays)


def read_bake(path: str | Path) -> Bake:
    """All arrays of a bake; sizes are checked against the file before memory is taken."""
    with Archive(path) as archive:
        _check_is_bake(archive)
        arrays = {name: archive.read(name) for name in REQUIRED_ARRAYS}
        parents = archive.read("joint_parents") if "joint_parents" in archive else None
    return _bake(path, arrays, parents)


def _check_is_bake(archive: Archive) -> None:
    if set(REQUIRED_ARRAYS) <= set(archive.names):
        return
    present = ", ".join(archive.names[:20]) or "none"
    raise Unsupported(archive.path, f"holds the arrays {present}; a bake has {', '.join(REQUIRED_ARRAYS)}")


def _bake(path: str | Path, arrays: dict[str, Array], parents: Array | None) -> Bake:
    names = arrays["joint_names"]
    if names.ndim != 1 or names.dtype.kind not in "US":
        raise BadFile(path, f"joint_names should be a list of names, but is {names.dtype} {names.shape}")
    texts = [n.decode("latin-1") if isinstance(n, bytes) else str(n) for n in names.tolist()]
    for name, kinds in (("times", "fiu"), ("joints", "f"), ("vertices", "f"), ("triangles", "iu")):
        if arrays[name].dtype.kind not in kinds:
            raise BadFile(path, f"{name} should hold numbers, but holds {arrays[name].dtype}")
    try:
        return Bake(arrays["times"], tuple(texts), arrays["joints"], arrays["vertices"], arrays["triangles"], parents)
    except (InvalidInput, TypeError) as error:
        raise BadFile(path, str(error)) from error


def read(path: str | Path) -> Asset:
    """The joints of a bake as a skeleton with a clip, and its first frame as a mesh."""
    path = Path(path)
    with Archive(path) as archive:
        _check_is_bake(archive)
        arrays = {name: archive.read(name) for name in ("joint_names", "joints", "triangles")}
        arrays["vertices"] = archive.read("vertices", first=1)
        arrays["times"] = archive.read("times")
        parents = archive.read("joint_parents") if "joint_parents" in archive else None
    frames = arrays["times"].shape[:1] if arrays["times"].ndim == 1 else ()
    if not frames or arrays["joints"].shape[:1] != frames:
        shapes = f"{arrays['times'].shape} and {arrays['joints'].shape}"
        raise BadFile(path, f"times and joints should have the same frames, but have shapes {shapes}")
    still = _bake(path, {**arrays, "times": arrays["times"][:1], "joints": arrays["joints"][:1]}, parents)
    joints = checks.large_array(arrays["joints"], "joints", (*frames, len(still.joint_names), 4, 4), np.float64)
    return _asset(path.stem, still, checks.array(arrays["times"], "times", frames), joints)


def _asset(name: str, still: Bake, times: Array, joints: Array) -> Asset:
    notes: list[str] = []
    names = make_distinct(still.joint_names, "joint", notes)
    parents = np.full(len(names), -1) if still.parents is None else still.parents
    if still.parents is None and names:
        notes.append("the bake does not say which joint hangs on which: every joint became a root")
    if not names:
        names, parents, joints = ("root",), np.array([-1]), np.tile(np.eye(4), (len(times), 1, 1, 1))
    order = depth_first(parents)
    rank = np.argsort(order)
    parents = np.where(parents[order] < 0, -1, rank[np.maximum(parents[order], 0)])
    names, joints = tuple(names[i] for i in order), joints[:, order]

    below = parents >= 0
    local = np.array(joints)  # compiled kinematics would take longer to load than this runs
    local[:, below] = transform.invert(joints[:, parents[below]]) @ joints[:, below]
    sheared = float(transform.shear_error(local).max())
    if sheared > 1e-4:
        notes.append(f"joints are sheared by up to {100 * sheared:.2g} %, which was left out")
    t, q, s = transform.decompose(local)
    skeleton = Skeleton(names, parents, t[0], q[0], s[0])
    parts = []
    if still.vertices.shape[1]:
        mesh = Mesh(name, still.vertices[0], still.triangles)
        parts.append(Part(name, mesh, _still_skin(joints[0], len(mesh.vertices))))
        notes.append("vertices are those of the first frame, hung on the first joint: the others were left out")
    clips = [_clip(name, names, times, t, q, s, notes)] if len(times) > 1 else []
    return Asset([Character(name, skeleton, parts)], clips, notes=notes)


def _still_skin(world_from_joint: Array, vertices: int) -> SkinBinding:
    """A rigid skin on the first joint that lists every joint, so that all of them belong to the character."""
    inverse = np.tile(np.eye(4), (len(world_from_joint), 1, 1))
    sound = np.abs(transform.determinant(world_from_joint)) > 1e-12
    inverse[sound] = transform.invert(world_from_joint[sound])
    return SkinBinding(np.arange(len(inverse)), inverse, np.zeros((vertices, 1)), np.ones((vertices, 1)))


def _clip(name: str, names: tuple[str, ...], times: Array, t: Array, q: Array, s: Array, notes: list[str]) -> Clip:
    steps = np.diff(times)
    step = float(np.median(steps))
    if not step > 0:
        raise InvalidInput("times should increase from frame to frame")
    if np.abs(steps - step).max() > 0.01 * step:
        notes.append(f"times are uneven: the frames were taken to be {1 / step:.4g} a second")
    channels = [Channel(n, kind) for n in names for kind in ("translation", "rotation")]
    blocks = [np.concatenate([t, q], axis=2).reshape(len(times), -1)]
    if np.abs(s - 1).max() > 1e-6:
        channels += [Channel(n, "scale") for n in names]
        blocks.append(s.reshape(len(times), -1))
    return Clip(name, channels, np.concatenate(blocks, axis=1), _snap_rate(1 / step), float(times[0]))


def _snap_rate(rate: float) -> float:
    """A rate that is a whole number but for rounding becomes that number."""
    return float(round(rate)) if abs(rate - round(rate)) < 1e-6 * rate else rate
