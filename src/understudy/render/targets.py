"""What a camera can be pointed at by name: a named point, a region, a joint with all that hangs on it, or a part."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy import checks
from understudy.character import Character
from understudy.checks import Array
from understudy.errors import InvalidInput

AROUND_POINT = 0.12  # radius of what is shown around a single point, of the character's size
MOST = 0.5  # of a region's mask or of a vertex's weights: what has at least so much belongs to it


@dataclass(frozen=True, eq=False)
class Target:
    """Vertices (N,) of a character, and the radius around each of them that should be seen, metres."""

    vertices: Array
    radius: float


def target_of(character: Character, name: str) -> Target:
    """The target of that name, sought among points, regions, parts and joints, in this order; an error lists them."""
    points = {} if character.layers is None else character.layers.points
    masks = {} if character.layers is None else character.layers.masks
    parts = [part.name for part in character.parts]
    checks.one_of(name, "target", dict.fromkeys((*masks, *parts, *character.skeleton.names, *points)))
    if name in points:
        everything = np.concatenate([part.mesh.vertices for part in character.parts])
        return Target(np.array([points[name]]), AROUND_POINT * float(np.ptp(everything, axis=0).max()))
    if name in masks:
        found = np.flatnonzero(np.asarray(masks[name]) >= MOST)
    elif name in parts:
        found = np.flatnonzero(np.concatenate([np.full(len(p.mesh.vertices), p.name == name) for p in character.parts]))
    else:
        found = _hanging_on(character, name)
    if not len(found):
        raise InvalidInput(f"nothing can be seen of target {name!r}: no vertex belongs to it")
    return Target(found, 0.0)


def _hanging_on(character: Character, name: str) -> Array:
    """(N,) vertices that move mostly with a joint or with those below it."""
    skeleton = character.skeleton
    below = np.zeros(len(skeleton.names), bool)
    below[skeleton.index(name)] = True
    for joint, parent in enumerate(skeleton.parents):
        below[joint] |= parent >= 0 and below[parent]
    skins = [part.skin for part in character.parts]
    shares = [(below[skin.joints][skin.influences] * skin.weights).sum(axis=1) for skin in skins]
    return np.flatnonzero(np.concatenate([*shares, np.zeros(0)]) >= MOST)
