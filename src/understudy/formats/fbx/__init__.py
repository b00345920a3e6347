"""FBX 7.x, binary and ASCII: characters, meshes, skins, shapes, materials and takes, in and out.

Reader and writer are our own: no library that reads FBX is both safe on damaged files and under a stated licence, and
none under a free licence writes it. The file is a tree of nodes (`document`), the tree a graph of objects with
properties (`scene`), and the graph is what Autodesk's FBX SDK documents.

The trees of nodes that a skin ties together make one character; all trees without a skin make one more.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from understudy.character import Asset, Character, Part, Skeleton, SkinBinding
from understudy.checks import Array
from understudy.formats.conventions import number_duplicates
from understudy.formats.fbx.document import load
from understudy.formats.fbx.nodes import JointNodes, is_helper, joint_nodes, parent_model
from understudy.formats.fbx.read_materials import FbxMaterials
from understudy.formats.fbx.read_meshes import MeshReader
from understudy.formats.fbx.scene import FbxObject, FbxScene
from understudy.formats.fbx.takes import ShapeTarget, TakeReader

GENERIC_NAMES = {"", "armature", "root", "rootnode", "scene", "skeleton", "group"}  # no character is named after them
COPY_BYTES = 1 << 17  # charged for each further node that shows a mesh: the time (0.5 ms) that it takes to make


def read(path: str | Path) -> Asset:
    """Characters and takes of a binary or ASCII .fbx file of version 7; damaged and older files are refused."""
    document = load(path)
    scene = FbxScene(document)
    reader = CharacterReader(scene)
    characters = reader.read()
    takes = TakeReader(scene, reader.joints, reader.shapes).read()
    for kind, noun in (("Constraint", "constraints"), ("AudioClip", "sounds")):
        document.count(f"{noun} were left out ({{}})", len(scene.all(kind)))
    return Asset(characters, curves=takes, notes=document.notes, format="fbx")


class CharacterReader:
    """Reads the characters of a scene, and remembers which blend shape channel drives which shape."""

    def __init__(self, scene: FbxScene) -> None:
        self.scene, self.document = scene, scene.document
        self.meshes = MeshReader(scene.document, FbxMaterials(scene.document))
        self.geometries = {
            model.number: geometry
            for model in scene.all("Model")
            if (geometry := next(iter(model.sources_of("Geometry", "Mesh")), None)) is not None
        }
        others = [g for g in scene.all("Geometry") if g.subclass not in ("Mesh", "Shape")]
        self.document.count("curves and surfaces that are no meshes were left out ({})", len(others))
        skinned = {number for number, geometry in self.geometries.items() if self.meshes.covers(geometry)}
        bones = {
            cluster.bone.number for geometry in self.geometries.values() for cluster in self.meshes.clusters(geometry)
        }
        self.joints: JointNodes = joint_nodes(scene, skinned, bones)
        self.shapes: dict[int, list[ShapeTarget]] = {}
        self._shown: set[int] = set()

    def read(self) -> list[Character]:
        """All characters, in the order of the file."""
        if not len(self.joints):
            return []
        rest = self.joints.rest_pose(self.scene)
        models = {model.number: model for model in self.scene.all("Model")}
        worn = [models[number] for number in self.geometries]
        group_of = self._groups(worn)
        names = self._names(group_of)
        characters = []
        for group, name in enumerate(names):
            members = np.flatnonzero(group_of == group).tolist()
            shown = [model for model in worn if self._group(model, group_of) == group]
            characters.append(self._character(name, members, rest, shown))
        return characters

    def _anchor(self, model: FbxObject) -> int:
        """A joint that carries the mesh of a model: its own, one of its bones, or the one above."""
        number = self.joints.number
        for cluster in self.meshes.clusters(self.geometries[model.number]):
            if cluster.bone.number in number:
                return number[cluster.bone.number]
        return self._own(model)

    def _own(self, model: FbxObject) -> int:
        """The joint of a model, or of the first above it that is one; -1 where there is none."""
        above: FbxObject | None = model
        while above is not None and above.number not in self.joints.number:
            above = parent_model(above)
        return -1 if above is None else self.joints.number[above.number]

    def _group(self, model: FbxObject, group_of: Array) -> int:
        anchor = self._anchor(model)
        return int(group_of[anchor]) if anchor >= 0 else -1

    def _groups(self, worn: list[FbxObject]) -> Array:
        """(N,) the character of each joint: trees tied by skins, then all other trees."""
        joints, count = self.joints, len(self.joints)
        ties = [(node, parent) for node, parent in enumerate(joints.parents) if parent >= 0]
        skinned: set[int] = set()
        for model in worn:
            bones = [
                joints.number[cluster.bone.number]
                for cluster in self.meshes.clusters(self.geometries[model.number])
                if cluster.bone.number in joints.number
            ]
            skinned.update(bones)
            own = self._own(model)
            ties += [(bones[0], other) for other in [*bones[1:], *([own] if own >= 0 else [])] if bones]
        left, right = np.array(ties, np.int64).reshape(-1, 2).T
        graph = coo_array((np.ones(len(left), np.int8), (left, right)), shape=(count, count))
        label = connected_components(graph, directed=False)[1]
        has_skin = np.isin(label, label[sorted(skinned)]) if skinned else np.zeros(count, bool)
        label = np.where(has_skin, label, count)
        _, first, group_of = np.unique(label, return_index=True, return_inverse=True)
        order = np.argsort(np.argsort(first))  # characters in the order of their first joint
        return order[group_of.reshape(-1)]

    def _names(self, group_of: Array) -> list[str]:
        """One character is named after its file; several after their roots."""
        whole = self.document.path.stem
        count = int(group_of.max()) + 1
        if count == 1:
            return [whole]
        names = []
        for group in range(count):
            roots = [
                self.joints.names[node]
                for node, parent in enumerate(self.joints.parents)
                if parent < 0 and group_of[node] == group
            ]
            names.append(next((name for name in roots if name.lower() not in GENERIC_NAMES), whole))
        return number_duplicates(names)

    def _character(
        self, name: str, members: list[int], rest: tuple[Array, Array, Array], worn: list[FbxObject]
    ) -> Character:
        joints = self.joints
        place = {node: i for i, node in enumerate(members)}
        translations, rotations, scales = (values[members] for values in rest)
        skeleton = Skeleton(
            [joints.names[node] for node in members],
            [place.get(joints.parents[node], -1) for node in members],
            translations,
            rotations,
            scales,
        )
        number = {model.number: place[node] for node, model in enumerate(joints.models) if node in place}
        units = [joints.unit(node) for node in members]
        parts = [part for model in worn if (part := self._part(model, place, number, units)) is not None]
        bones = None
        if all(part.skin.is_rigid for part in parts):
            limbs = [place[node] for node in members if joints.models[node].subclass in ("LimbNode", "Limb", "Root")]
            bones = limbs or None
        return Character(name, skeleton, parts, bones)

    def _part(self, model: FbxObject, place: dict[int, int], number: dict[int, int], units: list[float]) -> Part | None:
        geometry = self.geometries[model.number]
        own = self._own(model)
        joint = place.get(own)
        unit = self.joints.unit(own if joint is not None else self._anchor(model))
        if geometry.number in self._shown:
            self.document.take(COPY_BYTES)
        self._shown.add(geometry.number)
        name = self.joints.labels[model.number]
        read = self.meshes.mesh(model, geometry, geometry.name or name, unit)
        if read is None:
            return None
        mesh, channels = read
        sits = joint if model.number in self.joints.number or is_helper(model) else None
        skin = self.meshes.skin(geometry, mesh, number, sits, units, unit)
        if skin is None:
            if joint is None:
                return None
            skin = SkinBinding.rigid(joint, len(mesh.vertices))
        if mesh.shapes is not None:
            for channel, shape in zip(channels, mesh.shapes.names):
                self.shapes.setdefault(channel.number, []).append(ShapeTarget(name, shape))
        return Part(name, mesh, skin)


def write(asset: Asset, path: str | Path) -> list[str]:
    """See `fbx.writer`."""
    from understudy.formats.fbx import writer

    return writer.write(asset, path)
