"""Reading a glTF file: its forest of nodes, the characters that they make, and the curves.

The trees of the scene that a skin ties together make one character; all trees without a skin make one more. Every node
becomes a joint except those that show only a camera, a light or a skinned mesh (whose own transform has no effect), and
those that this program's writer had to add.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from understudy.character import Asset, Channel, Character, Part, Skeleton, SkinBinding
from understudy.checks import Array
from understudy.formats.conventions import number_duplicates
from understudy.formats.gltf.accessors import Accessors
from understudy.formats.gltf.animations import CurveMaker, read_animations
from understudy.formats.gltf.document import GltfBuffers, GltfDocument, unpack
from understudy.formats.gltf.materials import GltfMaterials
from understudy.formats.gltf.meshes import Meshes, PrimitiveMesh, inverse_binds, make_skin, skin_joints
from understudy.formats.gltf.nodes import NodeForest, is_marked, read_forest
from understudy.formats.gltf.vrm import ANIMATION, VRM0, VRM1, AvatarReader, NodeReference
from understudy.formats.gltf.vrm_animation import split_expressions
from understudy.maths import transform

# Names that tools give to every scene or root, in lower case; no character is named after them.
GENERIC_NAMES = {
    "",
    "scene",
    "root scene",
    "rootnode",
    "root",
    "auxscene",
    "sketchfab_scene",
    "scene_0",
    "default",
    "world",
    "blockbench_export",
}
# Bytes charged for each rigid mesh besides its weights: a few objects, and the time (50 us) that it takes to make them.
RIGID_MESH_BYTES = 1 << 14


def read(path: str | Path) -> Asset:
    """Characters and curves of a .glb or .gltf file; damaged files and unsupported extensions are refused."""
    path = Path(path)
    document = GltfDocument(path, *unpack(path))
    buffers = GltfBuffers(document)
    accessors = Accessors(document, buffers)
    meshes = Meshes(document, accessors, GltfMaterials(document, buffers))
    skins = skin_joints(document)
    graph = read_forest(document, skins)
    animations = read_animations(document)
    moving = {t.node for animation in animations for t in animation.tracks if t.path != "weights"}
    reader = Characters(document, graph, accessors, meshes, skins, moving)
    characters = reader.read() if graph.order else []
    maker = CurveMaker(document, accessors, reader.channel)
    curves = [keyed for animation in animations if (keyed := maker.curves(animation)) is not None]
    avatar = next((character.avatar for character in characters if character.avatar is not None), None)
    if avatar is not None:
        curves = [split_expressions(keyed, avatar) for keyed in curves]
    ending = "glb" if document.binary is not None or path.suffix.lower() == ".glb" else "gltf"
    return Asset(characters, curves=curves, notes=document.notes, format=ending)


@dataclass
class NodeGroup:
    """The trees of one character."""

    roots: list[int]
    nodes: list[int]  # in walking order
    skins: list[int]


class Characters:
    """Reads the characters of a document, and remembers which node became which joint or part."""

    def __init__(
        self,
        document: GltfDocument,
        graph: NodeForest,
        accessors: Accessors,
        meshes: Meshes,
        skins: list[list[int]],
        animated: set[int],
    ) -> None:
        self.document, self.graph, self.accessors, self.meshes = document, graph, accessors, meshes
        self.skins, self.animated = skins, animated
        self.mesh_of = {n: document.reference(graph.entries[n], "mesh", "meshes") for n in graph.order}
        self.skin_of = {n: document.reference(graph.entries[n], "skin", "skins") for n in graph.order}
        self.joint_nodes = {joint for skin in skins for joint in skin}
        self.kept: set[int] = set()
        self.shaped: dict[int, tuple[str, ...]] = {}
        self._skins: dict[tuple[int, int, int], SkinBinding] = {}
        self._binds: dict[int, Array] = {}
        self._weighted: dict[int, bool] = {}
        self._changed, self._largest = 0, 1.0

    def read(self) -> list[Character]:
        """All characters, in the order of the walk."""
        groups = self._groups()
        characters = [self._character(group, name) for group, name in zip(groups, self._names(groups))]
        characters = self._add_avatar(characters)
        if self._changed:
            self.document.note(
                f"the skin weights of {self._changed} vertices did not sum to 1 (up to {self._largest:.4g}) "
                "and were normalised"
            )
        return characters

    def _add_avatar(self, characters: list[Character]) -> list[Character]:
        """The characters, with what VRM says of the one whose bones it names."""
        if not {VRM0, VRM1, ANIMATION} & set(self.document.root.child("extensions").value):
            return characters
        avatar = AvatarReader(
            self.document,
            self._node_reference,
            lambda mesh: next((self.graph.names[node] for node, shown in self.mesh_of.items() if shown == mesh), None),
            lambda part: next((c.shapes[part] for c in characters if part in c.shapes), ()),
            self.meshes.materials.texture,
            self.meshes.materials.image,
        ).read()
        if avatar is None:
            return characters
        hips = avatar.bones.get("Hips")
        owner = next((i for i, character in enumerate(characters) if hips in character.skeleton), 0)
        return [replace(c, avatar=avatar) if i == owner else c for i, c in enumerate(characters)]

    def _node_reference(self, node: int) -> NodeReference | None:
        """What a node became: a joint or a part."""
        if node in self.kept:
            return NodeReference("joint", self.graph.names[node])
        return NodeReference("part", self.graph.names[node]) if self.mesh_of.get(node) is not None else None

    def channel(self, node: int, path: str) -> Channel | None:
        """The channel that moves a node's transform or its morph weights, or None where the node was not kept."""
        if path == "weights":
            names = self.shaped.get(node)
            return None if names is None else Channel(self.graph.names[node], "weights", names)
        return Channel(self.graph.names[node], path) if node in self.kept else None

    def _groups(self) -> list[NodeGroup]:
        """Trees tied by skins; then all other trees as one group, if they show or move anything."""
        lead = {root: root for root in self.graph.root_of.values()}

        def find(root: int) -> int:
            while lead[root] != root:
                lead[root] = lead[lead[root]]
                root = lead[root]
            return root

        root_of = self.graph.root_of
        heads: dict[int, int] = {}  # a tree that holds joints of each skin
        for skin, joints in enumerate(self.skins):
            trees = dict.fromkeys(root_of[joint] for joint in joints if joint in root_of)
            for tree in trees:
                heads.setdefault(skin, tree)
                lead[find(tree)] = find(heads[skin])
        for node, worn in self.skin_of.items():
            if worn is not None:
                lead[find(heads[worn])] = find(root_of[node])
        skins_of: dict[int, list[int]] = {}
        for skin, tree in heads.items():
            skins_of.setdefault(find(tree), []).append(skin)
        groups: dict[int, NodeGroup] = {}
        for node in self.graph.order:
            tied = find(root_of[node])
            key = tied if tied in skins_of else -1
            group = groups.setdefault(key, NodeGroup([], [], skins_of.get(key, [])))
            group.nodes.append(node)
            if root_of[node] == node:
                group.roots.append(node)
        loose = groups.get(-1)
        if loose is not None and len(groups) > 1 and not self._shows_or_moves(loose.nodes):
            self.document.count("nodes that show and move nothing were left out ({})", len(loose.nodes))
            del groups[-1]
        return list(groups.values())

    def _shows_or_moves(self, nodes: list[int]) -> bool:
        return any(self.mesh_of[node] is not None or node in self.animated for node in nodes)

    def _names(self, groups: list[NodeGroup]) -> list[str]:
        """One character is named after its scene, or after the file if that is generic; several after skin or root."""
        scenes = self.document.list("scenes")
        scene = (
            scenes[self.document.reference(self.document.root, "scene", "scenes") or 0].text("name") if scenes else ""
        )
        whole = self.document.path.stem if scene.lower() in GENERIC_NAMES else scene
        if len(groups) <= 1:
            return [whole]
        result = []
        for group in groups:
            named = [self.document.list("skins")[skin].text("name") for skin in group.skins]
            named += [self.graph.entries[root].text("name") for root in group.roots]
            result.append(next((name for name in named if name.lower() not in GENERIC_NAMES), whole))
        return number_duplicates(result)

    def _character(self, group: NodeGroup, name: str) -> Character:
        kept, place = self._keep(group)
        graph = self.graph
        number = {node: i for i, node in enumerate(kept)}
        parents = [-1 if graph.parents[n] < 0 else number.get(place[graph.parents[n]], -1) for n in kept]
        skeleton = Skeleton(
            [graph.names[n] for n in kept], parents, graph.translations[kept], graph.rotations[kept], graph.scales[kept]
        )
        parts = [part for node in group.nodes for part in self._parts(node, place, number)]
        bones = None
        if group.skins and all(part.skin.is_rigid for part in parts):
            bones = sorted(
                number[joint] for joint in {j for s in group.skins for j in self.skins[s]} if joint in number
            )
        return Character(name, skeleton, parts, bones)

    def _keep(self, group: NodeGroup) -> tuple[list[int], dict[int, int]]:
        """The nodes that become joints, and for every node of the group the kept node that stands for it (-1: none)."""
        needed: set[int] = set()
        for node in reversed(group.nodes):
            parent = self.graph.parents[node]
            hollow = self._wears_skin(node) or self._is_camera_or_light(node)
            if node in self.joint_nodes or (node in self.animated and not self._wears_skin(node)):
                needed.add(node)
            elif self._is_helper(node):
                if self.mesh_of[node] is not None:  # its mesh hangs on the node above
                    needed.add(parent)
            elif not hollow or any(child in needed for child in self.graph.children[node]):
                needed.add(node)
        place: dict[int, int] = {}
        for node in group.nodes:
            place[node] = node if node in needed else place.get(self.graph.parents[node], -1)
        self.kept |= needed
        return [node for node in group.nodes if node in needed], place

    def _is_helper(self, node: int) -> bool:
        """Whether the node was added by the writer and has no effect by itself."""
        usable = self.mesh_of[node] is None or self.graph.parents[node] >= 0
        return is_marked(self.graph.entries[node]) and usable and self.graph.is_identity(node)

    def _wears_skin(self, node: int) -> bool:
        """Whether all that the node shows hangs on a skin, so that its own transform has no effect."""
        mesh = self.mesh_of[node]
        if self.skin_of[node] is None or mesh is None:
            return False
        if mesh not in self._weighted:
            primitives = self.document.list("meshes")[mesh].children("primitives")
            attributes = [primitive.child("attributes") for primitive in primitives]
            self._weighted[mesh] = all("JOINTS_0" in fields and "WEIGHTS_0" in fields for fields in attributes)
        return self._weighted[mesh]

    def _is_camera_or_light(self, node: int) -> bool:
        entry = self.graph.entries[node]
        light = "KHR_lights_punctual" in entry.child("extensions")
        if "camera" in entry:
            self.document.count("cameras were left out ({})")
        if light:
            self.document.count("lights were left out ({})")
        return ("camera" in entry or light) and self.mesh_of[node] is None

    def _parts(self, node: int, place: dict[int, int], number: dict[int, int]) -> list[Part]:
        mesh = self.mesh_of[node]
        if mesh is None:
            return []
        pieces = self.meshes.pieces(mesh, self.graph.entries[node])
        name = self.graph.names[node]
        if any(piece.mesh.shapes is not None for piece in pieces):
            self.shaped[node] = tuple(self.meshes.shape_names(mesh))
        return [
            Part(name, piece.mesh, self._skin(piece, node, mesh, i, place, number)) for i, piece in enumerate(pieces)
        ]

    def _skin(
        self, piece: PrimitiveMesh, node: int, mesh: int, order: int, place: dict[int, int], number: dict[int, int]
    ) -> SkinBinding:
        skin = self.skin_of[node]
        if skin is None or piece.binding is None:
            vertices = len(piece.mesh.vertices)
            if skin is not None:
                self.document.count("skinned meshes without joints and weights were hung on their nodes ({})")
            self.document.take(24 * vertices + RIGID_MESH_BYTES, self.graph.entries[node].place)
            return SkinBinding.rigid(number[place[node]], vertices)
        key = (skin, mesh, order)
        if key not in self._skins:
            joints = self.skins[skin]
            if skin not in self._binds:
                self._binds[skin] = inverse_binds(
                    self.document, self.accessors, skin, len(joints), lambda b: self._rest_pose(joints[b])
                )
            columns = np.array([number[joint] for joint in joints])
            self._skins[key], changed, largest = make_skin(
                self.document, piece, piece.binding, columns, self._binds[skin]
            )
            self._changed, self._largest = self._changed + changed, max(self._largest, largest)
        return self._skins[key]

    def _rest_pose(self, node: int) -> Array:
        """(4, 4) world_from_node at rest."""
        graph, world = self.graph, np.eye(4)
        while node >= 0:
            world = transform.compose(graph.translations[node], graph.rotations[node], graph.scales[node]) @ world
            node = graph.parents[node]
        return world
