"""A stick figure for a character without a mesh, as parts that hang on its joints like any other.

The tip of a bone hangs on the child's joint, all else on the parent's, so that a joint that slides stretches its bone.
"""

from __future__ import annotations

import numpy as np

from understudy.character import Character, Material, Mesh, Part, Skin
from understudy.checks import Array
from understudy.maths import transform
from understudy.render.figure import bones

CORNERS = 24  # of one bone: eight triangles that share no corners
TIPS = np.array([face % 2 == 1 and corner == 0 for face in range(8) for corner in range(3)])  # see figure._octahedra


def visible(character: Character, world_from_joint: Array) -> Character:
    """The character itself, or where it has no mesh one that shows its joints (J, 4, 4) as bones and balls."""
    if character.parts or not len(character.skeleton):
        return character
    shown = character.joints
    parents = _nearest_shown(character.skeleton.parents, shown)
    vertices, triangles, colours = bones(world_from_joint[shown, :3, 3], parents)
    child = np.flatnonzero(parents >= 0)
    balls = np.repeat(np.arange(len(shown)), (len(vertices) - CORNERS * len(child)) // max(1, len(shown)))
    limbs = np.where(TIPS, child[:, None], parents[child][:, None]).reshape(-1)
    influences = np.concatenate([limbs, balls])[:, None]
    skin = Skin(shown, transform.invert(world_from_joint[shown]), influences, np.ones_like(influences))
    painted = np.concatenate([colours, np.ones((len(colours), 1))], axis=1)
    mesh = Mesh("bones", vertices, triangles, colours=painted, materials=[Material("bones", roughness=0.45)])
    return Character(character.name, character.skeleton, [Part("bones", mesh, skin)])


def _nearest_shown(parents: Array, shown: Array) -> Array:
    """(B,) for each shown joint the nearest one above it that is shown, numbered among these; -1 for none."""
    rank = np.full(len(parents), -1)
    rank[shown] = np.arange(len(shown))
    nearest = np.full(len(parents), -1)
    for joint, parent in enumerate(parents):
        nearest[joint] = rank[joint] if rank[joint] >= 0 else (nearest[parent] if parent >= 0 else -1)
    above = parents[shown]
    return np.where(above >= 0, nearest[np.maximum(above, 0)], -1)
