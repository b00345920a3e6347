"""A character with its fitted deformer as one `.understudy` file, which everything that opens a character reads.

The file holds the character and its animations as a GLB (a VRM where it is an avatar), and beside it the deformer of
each character: its arrays, the names of its joints, and the number of its vertex for each vertex of the GLB. glTF
splits vertices at seams of normals and texture coordinates, so these numbers are found by reading the GLB again: a
vertex is the one at the same place in the part of that name.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from understudy import formats, storage
from understudy.character import Asset, BoundDeformer, Character
from understudy.checks import Array
from understudy.deform import deformer as deformers
from understudy.errors import BadFile, InvalidInput, Unsupported

MAX_PLACE_ERROR = 1e-5  # of the size of a part, of a vertex in the GLB: float32 has 1e-7


def write(asset: Asset, path: str | Path) -> tuple[str, ...]:
    """Write an asset with the deformers of its characters; returns notes on what glTF could not hold."""
    plain = Asset([replace(c, deformer=None) for c in asset.characters], asset.clips, asset.curves, (), asset.format)
    ending = ".vrm" if len(asset.characters) == 1 and asset.characters[0].avatar is not None else ".glb"
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder, f"character{ending}")
        notes = formats.write(plain, place)
        written, content = formats.read(place), place.read_bytes()
    arrays: dict[str, Array] = {"asset": np.frombuffer(content, np.uint8)}
    packed: list[dict[str, Any] | None] = []
    for number, (character, again) in enumerate(zip(asset.characters, written.characters)):
        bound, name = character.deformer, f"deformer{number}"
        packed.append(None if bound is None else _pack(character, bound, name, arrays))
        if bound is not None:
            arrays[f"{name}.vertices"] = bound.vertices[vertex_numbers(character, again)]
    header = {"kind": storage.CHARACTER_KIND, "ending": ending, "deformers": packed}
    storage.write(path, header, arrays)
    return notes


def _pack(character: Character, bound: BoundDeformer, name: str, arrays: dict[str, Array]) -> dict[str, Any]:
    assert isinstance(bound.deformer, deformers.Deformer)  # others are made in Python only
    joints = [character.skeleton.names[joint] for joint in bound.joints]
    return {**deformers.pack(bound.deformer, name, arrays), "joints": joints}


def read(path: str | Path) -> Asset:
    """The asset of a file that `write` wrote."""
    header, arrays = storage.read(path)
    kind = header.get("kind", "pose model")
    if kind != storage.CHARACTER_KIND:
        raise Unsupported(path, f"holds a {kind}, not a character; `understudy info` tells more")
    try:
        ending = header["ending"]
        if ending not in (".glb", ".vrm"):
            raise ValueError(f"its character is a {ending!r}")
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder, f"character{ending}")
            place.write_bytes(arrays["asset"].astype(np.uint8).tobytes())
            plain = formats.read(place)
        packed = header["deformers"]
        if len(packed) != len(plain.characters):
            raise ValueError(f"it has {len(plain.characters)} characters, but {len(packed)} deformers")
        characters = [
            character if one is None else _unpack(character, one, f"deformer{number}", arrays)
            for number, (character, one) in enumerate(zip(plain.characters, packed))
        ]
    except (ValueError, LookupError, TypeError, AttributeError, InvalidInput) as error:
        raise BadFile(path, f"is not a sound character with a deformer: {error}") from None
    return Asset(characters, plain.clips, plain.curves, plain.notes)


def _unpack(character: Character, header: Mapping[str, Any], name: str, arrays: Mapping[str, Array]) -> Character:
    joints = np.array([character.skeleton.index(joint) for joint in header["joints"]], np.int64)
    deformer = deformers.unpack(header, name, arrays)
    # NumPy checks every index, kernels none: a file that was made to do harm is refused here. Two poses, as some arrays
    # of a wrong shape fit one.
    deformer.deform_reference(np.tile(np.eye(4), (2, len(joints), 1, 1)))
    bound = BoundDeformer(deformer, joints, arrays[f"{name}.vertices"])
    return check_at_rest(replace(character, deformer=bound))


def check_at_rest(character: Character) -> Character:
    """The character, after its deformer has moved it once; `InvalidInput` where that fails."""
    from understudy.character.rig import rig_of

    bound, rig = character.deformer, rig_of(character)
    assert bound is not None
    points = bound.deformer.deform(rig.joints(rig.rest[None])[:, bound.joints])
    if bound.vertices.size and not 0 <= bound.vertices.min() <= bound.vertices.max() < points.shape[1]:
        raise InvalidInput(f"the deformer moves {points.shape[1]} vertices, but {bound.vertices.max()} is asked for")
    if not np.isfinite(points).all():
        raise InvalidInput("the deformer gives vertices that are not finite at rest")
    return character


def vertex_numbers(before: Character, after: Character) -> Array:
    """(V',) the vertex of `before` for each vertex of `after`, the same character read from glTF."""
    if before.vertex_count == after.vertex_count and all(
        len(a.mesh.vertices) == len(b.mesh.vertices) and np.allclose(a.mesh.vertices, b.mesh.vertices, atol=1e-6)
        for a, b in zip(before.parts, after.parts)
    ):
        return np.arange(before.vertex_count)
    starts = np.cumsum([0, *(len(part.mesh.vertices) for part in before.parts)])
    numbers = []
    for part in after.parts:
        same = [(s, p) for s, p in zip(starts, before.parts) if p.name == part.name] or list(zip(starts, before.parts))
        points = np.concatenate([p.mesh.vertices for _, p in same])
        own = np.concatenate([np.arange(s, s + len(p.mesh.vertices)) for s, p in same])
        distance, nearest = cKDTree(points).query(part.mesh.vertices)
        if distance.max(initial=0.0) > MAX_PLACE_ERROR * max(float(np.ptp(points, axis=0).max()), 1e-9):
            raise InvalidInput(f"the vertices of part {part.name!r} are not found again in glTF")
        numbers.append(own[nearest])
    return np.concatenate([np.zeros(0, np.int64), *numbers])
