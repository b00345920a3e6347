"""glTF 2.0, as .glb and .gltf: characters, their meshes, skins, shapes, materials and animations, in and out.

Files are not trusted: every number, index and range is checked before it is used, and the sizes that a file claims are
compared with its bytes before any memory is taken. The specification is Khronos' glTF 2.0.1; where it leaves a
choice, three.js is followed.
"""

from __future__ import annotations

from pathlib import Path

from understudy.character import Asset

__all__ = ["read", "read_vrma", "write"]


def read(path: str | Path) -> Asset:
    """See `gltf.characters`; reader and writer are loaded by the call that needs them, so that `info` starts fast."""
    from understudy.formats.gltf import characters

    return characters.read(path)


def read_vrma(path: str | Path, skeleton: str | Path | None = None) -> Asset:
    """A VRM animation; `skeleton` is the file of the avatar that plays it, without which it moves a bare skeleton."""
    from understudy.formats import registry
    from understudy.formats.gltf import characters, vrm_animation

    asset = characters.read(path)
    return asset if skeleton is None else vrm_animation.play_on(asset, registry.read(skeleton).character())


def write(asset: Asset, path: str | Path) -> list[str]:
    """See `gltf.writer`."""
    from understudy.formats.gltf import writer

    return writer.write(asset, path)
