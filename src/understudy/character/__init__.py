"""The data model: skeleton, mesh, skin, controls and layers, character, channels, clip, curve, asset, and kinematics.

Animation is arrays, frames x columns; structure is a parents array; all objects are frozen, and checked when made.
"""

from __future__ import annotations

from understudy.character.asset import Asset, BoundDeformer, Character, Part
from understudy.character.clip import Channel, Channels, Clip
from understudy.character.controls import Controls, Lattice, RigLayers, SparseShapes
from understudy.character.curve import Curve
from understudy.character.curves import Curves
from understudy.character.mesh import Image, Material, Mesh, Shapes, SkinBinding, Texture
from understudy.character.skeleton import Skeleton

__all__ = [
    "Asset",
    "BoundDeformer",
    "Channel",
    "Channels",
    "Character",
    "Clip",
    "Controls",
    "Curve",
    "Curves",
    "Image",
    "Lattice",
    "Material",
    "Mesh",
    "Part",
    "RigLayers",
    "Shapes",
    "Skeleton",
    "SkinBinding",
    "SparseShapes",
    "Texture",
]
