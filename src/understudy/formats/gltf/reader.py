"""Reading: a file, its forest of nodes, its characters, its curves."""

from __future__ import annotations

from pathlib import Path

from understudy.character import Asset
from understudy.formats.gltf.accessors import Accessors
from understudy.formats.gltf.animations import CurveMaker, read_animations
from understudy.formats.gltf.buffers import Buffers
from understudy.formats.gltf.characters import Characters
from understudy.formats.gltf.container import unpack
from understudy.formats.gltf.document import Document
from understudy.formats.gltf.graph import read_graph
from understudy.formats.gltf.materials import Materials
from understudy.formats.gltf.meshes import Meshes
from understudy.formats.gltf.skins import skin_joints


def read(path: str | Path) -> Asset:
    """Characters and curves of a .glb or .gltf file. What is damaged, or needs what is not supported, is refused."""
    path = Path(path)
    document = Document(path, *unpack(path))
    buffers = Buffers(document)
    accessors = Accessors(document, buffers)
    meshes = Meshes(document, accessors, Materials(document, buffers))
    skins = skin_joints(document)
    graph = read_graph(document, skins)
    animations = read_animations(document)
    moving = {t.node for animation in animations for t in animation.tracks if t.path != "weights"}
    reader = Characters(document, graph, accessors, meshes, skins, moving)
    characters = reader.read() if graph.order else []
    maker = CurveMaker(document, accessors, reader.channel)
    curves = [made for animation in animations if (made := maker.curves(animation)) is not None]
    ending = "glb" if document.binary is not None or path.suffix.lower() == ".glb" else "gltf"
    return Asset(characters, curves=curves, notes=document.notes, format=ending)
