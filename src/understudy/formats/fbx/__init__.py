"""FBX 7.x, binary and ASCII: characters, meshes, skins, shapes, materials and takes, in and out.

Reader and writer are our own: no library that reads FBX is both safe on damaged files and under a stated licence, and
none under a free licence writes it. The file is a tree of nodes (`document`), the tree a graph of objects with
properties (`scene`), and the graph is what Autodesk's FBX SDK documents.
"""

from __future__ import annotations

from pathlib import Path

from understudy.character import Asset

__all__ = ["read", "write"]


def read(path: str | Path) -> Asset:
    """See `fbx.reader`; reader and writer are loaded by the call that needs them, so that `info` starts fast."""
    from understudy.formats.fbx import reader

    return reader.read(path)


def write(asset: Asset, path: str | Path) -> list[str]:
    """See `fbx.writer`."""
    from understudy.formats.fbx import writer

    return writer.write(asset, path)
