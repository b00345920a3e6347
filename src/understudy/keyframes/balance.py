"""The centre of mass of a character, as a weighted sum of points on its joints.

A skin has no volume that could be trusted (eyes, clothes and teeth are sheets), so each joint weighs as much as the
surface that hangs on it, at the middle of that surface. A skeleton without a skin weighs as its bones are long, at
their middles.
"""

from __future__ import annotations

import numpy as np

from understudy.checks import Array
from understudy.rig import PosedRig

LIGHTEST = 0.005  # of the whole: joints below that (fingers, lids) shift the centre by less than they cost


def area_masses(rig: PosedRig) -> tuple[Array, Array, Array]:
    """Joints (P,), the centre of the surface on each (P, 3) in the joint's frame, and its share (P,) of the mass."""
    mass, centre = _of_skins(rig)
    if not mass.sum() > 0:
        mass, centre = _of_bones(rig)
    if not mass.sum() > 0:
        mass[0] = 1.0
    heavy = np.flatnonzero(mass >= LIGHTEST * mass.sum())
    return heavy, centre[heavy], mass[heavy] / mass[heavy].sum()


def _of_skins(rig: PosedRig) -> tuple[Array, Array]:
    """The area of the surface on each joint (J,), and its middle (J, 3) in the joint's frame."""
    count = len(rig.character.skeleton)
    mass, moment = np.zeros(count), np.zeros((count, 3))
    for part in rig.character.parts:
        vertices, triangles = part.mesh.vertices.astype(float), part.mesh.triangles
        a, b, c = (vertices[triangles[:, i]] for i in range(3))
        third = np.linalg.norm(np.cross(b - a, c - a), axis=1) / 6
        area = np.bincount(triangles.reshape(-1), np.repeat(third, 3), len(vertices))
        share = (area[:, None] * part.skin.weights).reshape(-1)
        bone = part.skin.influences.reshape(-1)
        joint = part.skin.joints[bone]
        homogeneous = np.append(vertices, np.ones((len(vertices), 1)), axis=1)
        width = part.skin.weights.shape[1]
        local = np.einsum("vab,vb->va", part.skin.inverse_binds[bone], np.repeat(homogeneous, width, axis=0))[:, :3]
        mass += np.bincount(joint, share, count)
        for axis in range(3):
            moment[:, axis] += np.bincount(joint, share * local[:, axis], count)
    return mass, moment / np.where(mass > 0, mass, 1.0)[:, None]


def _of_bones(rig: PosedRig) -> tuple[Array, Array]:
    """The length of the bones that begin at each joint (J,), and their middle (J, 3)."""
    skeleton = rig.character.skeleton
    count = len(skeleton)
    mass, moment = np.zeros(count), np.zeros((count, 3))
    for j, parent in enumerate(skeleton.parents):
        if parent >= 0:
            length = float(np.linalg.norm(skeleton.translations[j]))
            mass[parent] += length
            moment[parent] += length * skeleton.translations[j] / 2
    return mass, moment / np.where(mass > 0, mass, 1.0)[:, None]
