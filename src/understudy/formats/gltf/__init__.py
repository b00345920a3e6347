"""glTF 2.0, as .glb and .gltf: characters, their meshes, skins, shapes, materials and animations, in and out.

Nothing in a file is believed: every number, index and range is checked before it is used, and what a file claims is
compared with what it holds before any memory is taken. The specification is Khronos' glTF 2.0.1; where it leaves a
choice, three.js is followed.
"""

from understudy.formats.gltf.reader import read
from understudy.formats.gltf.writer import write

__all__ = ["read", "write"]
