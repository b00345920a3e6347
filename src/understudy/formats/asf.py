"""ASF (Acclaim skeleton file): bones with their own axes, as a skeleton whose joints sit at the bones' beginnings.

A bone runs from its parent's end along `direction` by `length`, so a joint stands at its parent's end. With C_j the
bone's axes in the world, p the parent and v_p the parent bone's vector, the rest pose is

    rotation_j = C_p^-1 C_j,        translation_j = C_p^-1 v_p

and a hinge turns about an axis of its own joint. The tips of the last bones are kept as End Sites (see `bvh`).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from understudy import checks, files
from understudy.character import Asset, Character, Skeleton
from understudy.checks import Array
from understudy.formats import guesses
from understudy.formats.asf_parser import AsfText, parse
from understudy.maths import euler, linear, quaternion

LARGEST_ASF = 64 << 20  # bytes; real ones have ten thousand


def read(path: str | Path, scale: float | None = None) -> Asset:
    """The skeleton of an ASF file; `scale` is metres per unit where the guess is wrong."""
    _, skeleton, _, notes = read_skeleton(path, scale)
    return Asset([Character(Path(path).stem, skeleton)], notes=notes)


def read_skeleton(path: str | Path, scale: float | None = None) -> tuple[AsfText, Skeleton, float, list[str]]:
    """The text, the skeleton, metres per unit, and what was guessed."""
    if scale is not None:
        checks.positive(scale, "scale")
    text = parse(files.read_text(path, LARGEST_ASF), path)
    notes: list[str] = []
    vectors = bone_vectors(text)
    metres = _metres(text, vectors, notes) if scale is None else scale
    axes = bone_axes(text)
    parents = np.array(text.parents)
    p = np.maximum(parents, 0)
    from_world = np.where(parents[:, None] < 0, quaternion.IDENTITY, quaternion.conjugate(axes[p]))
    translations = quaternion.rotate(from_world, vectors[p]) * metres
    translations[parents < 0] = np.array(text.position) * metres
    tips = np.setdiff1d(np.arange(len(parents)), parents)
    names = [bone.name for bone in text.bones]
    ends = {names[j]: tuple(quaternion.rotate(quaternion.conjugate(axes[j]), vectors[j]) * metres) for j in tips}
    skeleton = Skeleton(
        names, parents, translations, quaternion.multiply(from_world, axes), extra={"bvh": {"ends": ends}}
    )
    return text, skeleton, metres, notes


def bone_vectors(text: AsfText) -> Array:
    """(J, 3) from each bone's beginning to its end, in the world, in the file's unit."""
    direction = np.array([bone.direction for bone in text.bones])
    return linear.normalise(direction) * np.array([[bone.length] for bone in text.bones])


def bone_axes(text: AsfText) -> Array:
    """C (J, 4), the axes of each bone in the world."""
    return np.array([turned(np.array(bone.axis), bone.order) for bone in text.bones])


def turned(angles: Array, order: str) -> Array:
    """Angles (..., 3) about x, y, z, the first letter of `order` turning first, as quaternions (..., 4)."""
    last_first = order[::-1]
    return euler.from_euler(angles[..., ["XYZ".index(letter) for letter in last_first]], last_first)


def _metres(text: AsfText, vectors: Array, notes: list[str]) -> float:
    """Metres per unit: inches over the unit of length, as at CMU, where that makes a person; else from the size."""
    parents = np.array(text.parents)
    p = np.maximum(parents, 0)
    tips = np.setdiff1d(np.arange(len(parents)), parents)
    height = guesses.body_height(
        parents, np.where(parents[:, None] < 0, 0.0, vectors[p]), {int(j): vectors[j] for j in tips}
    )
    metres, name = guesses.INCH / text.unit_length, f"inches over {text.unit_length:g}"
    if not guesses.USUAL_BODY[0] <= height * metres <= guesses.USUAL_BODY[1]:
        name, metres = guesses.unit_of_length(height)
    size = f"{100 * metres:.4g} cm; a body about {height * metres:.2f} m tall"
    notes.append(f"lengths were taken to be {name} ({size})")
    return metres
