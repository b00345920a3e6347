"""The nouns: skeleton, mesh, skin, controls and layers, character, channels, clip, curve, asset, and kinematics.

Animation is arrays, frames x columns; structure is a parents array; everything is frozen and was checked when made.
"""

from understudy.character.asset import Asset
from understudy.character.channels import Channel, Channels
from understudy.character.character import Character, Part
from understudy.character.clip import Clip
from understudy.character.controls import Controls
from understudy.character.curve import Curve
from understudy.character.curves import Curves
from understudy.character.layers import Lattice, Layers, SparseShapes
from understudy.character.material import Image, Material, Texture
from understudy.character.mesh import Mesh
from understudy.character.shapes import Shapes
from understudy.character.skeleton import Skeleton
from understudy.character.skin import Skin

__all__ = [
    "Asset",
    "Channel",
    "Channels",
    "Character",
    "Clip",
    "Controls",
    "Curve",
    "Curves",
    "Image",
    "Lattice",
    "Layers",
    "Material",
    "Mesh",
    "Part",
    "Shapes",
    "Skeleton",
    "Skin",
    "SparseShapes",
    "Texture",
]
