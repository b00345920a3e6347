"""Nodes: the default scene as a checked forest, in the order of a walk from the roots down; and writing characters.

**Writing.** Joints become nodes, parts are put on them, with the skins in between. Skinned meshes are placed beside the
skeleton, where viewers expect them. Readers take meshes in the order of a walk over the nodes, so each is placed where
that walk meets it in the character's order: vertices keep their order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from understudy.character import Character, Part, Skeleton, SkinBinding, kinematics
from understudy.checks import NEAR_UNIT, Array
from understudy.errors import InvalidInput
from understudy.formats.conventions import number_duplicates
from understudy.formats.gltf.document import GltfDocument
from understudy.formats.gltf.json_object import JsonObject, format_place
from understudy.formats.gltf.write_meshes import Builder, MaterialWriter, mesh_item
from understudy.maths import quaternion, transform

# Shear below this share of the matrix is the rounding of float32 entries (1e-7) and of their products.
MAX_SHEAR_RATIO = 1e-5
HELPER_KEY = "understudy_helper"  # in `extras` of nodes that the writer added only because the format needs them


@dataclass
class NodeForest:
    """All nodes (N) of the file; `order` lists those that are read, each parent before its children."""

    entries: list[JsonObject]
    parents: list[int]  # N, -1 for a root
    children: list[list[int]]  # N
    order: list[int]  # depth first, a node before its children
    root_of: dict[int, int]  # the root above each node in `order`
    names: dict[int, str]  # distinct, of the nodes in `order`
    translations: Array  # (N, 3)
    rotations: Array  # (N, 4)
    scales: Array  # (N, 3)

    def is_identity(self, node: int) -> bool:
        """Whether the node's own transform is exactly the identity."""
        return bool(
            (self.translations[node] == 0).all()
            and (self.rotations[node] == quaternion.IDENTITY).all()
            and (self.scales[node] == 1).all()
        )


def read_forest(document: GltfDocument, skins: list[list[int]]) -> NodeForest:
    """The forest below the default scene (or the first, or all), and every tree with a joint of a skin used there.

    `skins` are the joints of each skin, already checked.
    """
    entries = document.list("nodes")
    children = [entry.indices("children", len(entries)) for entry in entries]
    parents = _parents(entries, children)
    whole = _whole_forest(entries, parents, children)
    roots = _scene_roots(document, parents)
    roots += _roots_of_outside_joints(document, roots, whole, children, skins)
    order, root_of = _walk(roots, children)
    if len(order) < len(entries):
        document.count("nodes outside the default scene were left out ({})", len(entries) - len(order))
    joints = {joint for skin in skins for joint in skin}
    names = _names(document, order, joints)
    return NodeForest(entries, parents, children, order, root_of, names, *_transforms(document, set(order)))


def _parents(entries: list[JsonObject], children: list[list[int]]) -> list[int]:
    parents = [-1] * len(entries)
    for node, below in enumerate(children):
        for i, child in enumerate(below):
            if parents[child] != -1:
                raise entries[node].bad(
                    ("children", i), f"is node {child}, which is already a child of node {parents[child]}"
                )
            parents[child] = node
    return parents


def _whole_forest(entries: list[JsonObject], parents: list[int], children: list[list[int]]) -> dict[int, int]:
    """The root above every node. With one parent at most, a node that no root leads to lies on a cycle or below one."""
    _, root_of = _walk([node for node, parent in enumerate(parents) if parent < 0], children)
    if len(root_of) < len(entries):
        stray = min(set(range(len(entries))) - set(root_of))
        raise entries[stray].bad("children", "the node is its own ancestor, or below one that is")
    return root_of


def _walk(roots: list[int], children: list[list[int]]) -> tuple[list[int], dict[int, int]]:
    order: list[int] = []
    root_of: dict[int, int] = {}
    for root in roots:
        stack = [root]
        while stack:
            node = stack.pop()
            order.append(node)
            root_of[node] = root
            stack.extend(reversed(children[node]))
    return order, root_of


def _scene_roots(document: GltfDocument, parents: list[int]) -> list[int]:
    scenes = document.list("scenes")
    if not scenes:
        return [node for node, parent in enumerate(parents) if parent < 0]
    chosen = document.reference(document.root, "scene", "scenes") or 0
    roots = scenes[chosen].indices("nodes", len(parents))
    for i, node in enumerate(roots):
        if parents[node] >= 0:
            raise scenes[chosen].bad(
                ("nodes", i), f"is node {node}, a child of node {parents[node]}, but a scene lists root nodes only"
            )
    return list(dict.fromkeys(roots))


def _roots_of_outside_joints(
    document: GltfDocument, roots: list[int], whole: dict[int, int], children: list[list[int]], skins: list[list[int]]
) -> list[int]:
    """The roots outside the scene that hold joints of skins which meshes of the scene wear."""
    entries = document.list("nodes")
    extra: dict[int, None] = {}
    fresh, inside = roots, set(roots)
    while fresh:  # the trees that were added may wear skins with joints in further trees
        order, _ = _walk(fresh, children)
        worn = dict.fromkeys(document.reference(entries[node], "skin", "skins") for node in order)
        trees = dict.fromkeys(whole[joint] for skin in worn if skin is not None for joint in skins[skin])
        fresh = [tree for tree in trees if tree not in inside]
        inside.update(fresh)
        extra |= dict.fromkeys(fresh)
    if extra:
        document.count("trees of joints outside the default scene were read with it ({})", len(extra))
    return list(extra)


def _names(document: GltfDocument, order: list[int], joints: set[int]) -> dict[int, str]:
    """Distinct names. Joints come first, so that a bone keeps its name and a mesh that shares it gets the number;
    nodes that the writer added come last, so that they never take another node's name."""
    entries, meshes = document.list("nodes"), document.list("meshes")
    wanted: dict[int, str] = {}
    missing = 0
    for node in sorted(order, key=lambda node: 0 if node in joints else 2 if is_marked(entries[node]) else 1):
        name = entries[node].text("name")
        if not name:
            mesh = document.reference(entries[node], "mesh", "meshes")
            name = meshes[mesh].text("name") if mesh is not None else ""
            missing += not name
        wanted[node] = name or f"node_{node}"
    given = number_duplicates(wanted.values())
    changed = sum(new != wanted[node] and not is_marked(entries[node]) for node, new in zip(wanted, given))
    if missing:
        document.note(f"nodes without a name were numbered ({missing})")
    if changed:
        document.note(f"nodes that shared their name with another were numbered ({changed})")
    return dict(zip(wanted, given))


def is_marked(entry: JsonObject) -> bool:
    """Whether this program's writer added the node only because the format needs it."""
    extras = entry.value.get("extras")
    return isinstance(extras, dict) and HELPER_KEY in extras


def _transforms(document: GltfDocument, read: set[int]) -> tuple[Array, Array, Array]:
    entries = document.list("nodes")
    count = len(entries)
    translations, scales = np.zeros((count, 3)), np.ones((count, 3))
    rotations = quaternion.identity((count,))
    matrices: dict[int, list[float]] = {}
    for node, entry in enumerate(entries):
        value = entry.value
        if value.get("matrix") is not None:
            matrices[node] = entry.numbers("matrix", 16)
        for key, size, target in (("translation", 3, translations), ("rotation", 4, rotations), ("scale", 3, scales)):
            if key in value:
                target[node] = entry.numbers(key, size, target[node])
    lengths = np.sqrt(np.sum(rotations * rotations, axis=1))
    if count and lengths.min() < 1e-8:
        empty = lengths < 1e-8
        rotations[empty], lengths[empty] = quaternion.IDENTITY, 1.0
        first = format_place((*entries[int(np.argmax(empty))].place, "rotation"))
        document.note(f"rotations of nodes without length were set to none ({int(empty.sum())}, the first: {first})")
    off = int(np.sum(np.abs(lengths - 1) > NEAR_UNIT))
    if off:
        document.note(f"rotations of nodes that were not of unit length were normalised ({off})")
    if matrices:
        nodes = np.array(list(matrices))
        matrix = np.array(list(matrices.values())).reshape(-1, 4, 4).swapaxes(1, 2)  # stored column by column
        translations[nodes], rotations[nodes], scales[nodes] = transform.decompose(matrix)
        sheared = int(np.sum((transform.shear_error(matrix) > MAX_SHEAR_RATIO) & np.isin(nodes, list(read))))
        if sheared:
            document.note(f"matrices of nodes hold shear, which was lost ({sheared})")
    return translations, rotations, scales


class NodeWriter:
    """Writes characters and remembers the nodes of their joints and shapes, for the animations."""

    def __init__(self, builder: Builder) -> None:
        self.builder, self.materials = builder, MaterialWriter(builder)
        self.joints: dict[str, list[tuple[int, Array]]] = {}  # by name: node, rest scale
        self.shaped: list[tuple[str, int, tuple[str, ...], Array]] = []  # part, node, shape names, default weights
        self._meshes: dict[tuple[int, ...], int] = {}

    def character(self, character: Character) -> list[int]:
        """Write one character; returns the nodes that the scene lists."""
        nodes = self._skeleton(character)
        groups = self._group_parts(character)
        skins = {
            id(parts[0].skin): self._skin(parts[0].skin, nodes, character) for parts in groups if _deforms(parts[0])
        }
        bare = not groups and bool(nodes)
        if bare:
            self._bare_skin(character, nodes)
        tops = [nodes[root] for root in character.skeleton.roots]
        if (skins or bare) and len(tops) > 1:  # the joints of a skin must have a common root
            tops = [self._helper(character.name, {"children": tops})]
        return self._place(character, groups, nodes, skins, tops)

    def _skeleton(self, character: Character) -> list[int]:
        skeleton = character.skeleton
        items: list[dict[str, Any]] = []
        for j, name in enumerate(skeleton.names):
            item: dict[str, Any] = {"name": name}
            if skeleton.translations[j].any():
                item["translation"] = skeleton.translations[j].tolist()
            if (skeleton.rotations[j] != quaternion.IDENTITY).any():
                # rounding may leave 1.0000000000000002, which the specification does not allow
                item["rotation"] = np.clip(skeleton.rotations[j], -1, 1).tolist()
            if (skeleton.scales[j] != 1).any():
                item["scale"] = skeleton.scales[j].tolist()
            items.append(item)
        nodes = [self.builder.add("nodes", item) for item in items]
        for j, parent in enumerate(skeleton.parents.tolist()):
            if parent >= 0:
                items[parent].setdefault("children", []).append(nodes[j])
            self.joints.setdefault(skeleton.names[j], []).append((nodes[j], skeleton.scales[j]))
        return nodes

    def _helper(self, name: str, item: dict[str, Any]) -> int:
        return self.builder.add("nodes", {"name": name, **item, "extras": {HELPER_KEY: True}})

    def _group_parts(self, character: Character) -> list[list[Part]]:
        """Parts that can be pieces of one glTF mesh: same name, same joints, same shapes. Empty ones are left out."""
        groups: dict[Any, list[Part]] = {}
        shaped = {part.name: part.mesh.shapes for part in reversed(character.parts) if part.mesh.shapes is not None}
        for part in character.parts:
            if not len(part.mesh.triangles):
                self.builder.count("meshes without triangles were left out ({})")
                continue
            skin = part.skin
            shapes = part.mesh.shapes or shaped.get(part.name)  # a piece without shapes may stand beside one with
            defaults = None if shapes is None else shapes.defaults.tobytes()
            key = (part.name, _deforms(part), skin.joints.tobytes(), skin.inverse_binds.tobytes(), defaults)
            groups.setdefault(key, []).append(part)
        return list(groups.values())

    def _skin(self, skin: SkinBinding, nodes: list[int], character: Character) -> int:
        """The index of a skin with these joints and bind matrices, written once."""
        if skin.method != "linear":
            self.builder.note("dual-quaternion skinning was lost: glTF blends linearly")
        binds = skin.inverse_binds.astype(np.float32)
        binds[:, 3] = (0, 0, 0, 1)
        flat = np.ascontiguousarray(binds.swapaxes(1, 2)).reshape(-1, 16)  # stored column by column
        item = {
            "name": character.name,
            "joints": [nodes[joint] for joint in skin.joints],
            "inverseBindMatrices": self.builder.pool_accessor(flat, "MAT4", "bind"),
        }
        root = _common_root(character.skeleton, skin.joints)
        if root is not None:  # Blender finds the bind pose of the topmost bones by it
            item["skeleton"] = nodes[root]
        known = self.builder.lists.get("skins", [])
        return known.index(item) if item in known else self.builder.add("skins", item)

    def _bare_skin(self, character: Character, nodes: list[int]) -> None:
        """Write a skin that no mesh wears, which lists the joints of a skeleton without a mesh."""
        skeleton = character.skeleton
        joints = character.joints
        world = kinematics.world_transforms(
            skeleton.parents, skeleton.translations, skeleton.rotations, skeleton.scales
        )
        try:
            binds = transform.invert(world[joints])
        except InvalidInput:  # a joint scaled to nothing has no inverse; nothing is skinned to it here
            binds = np.tile(np.eye(4), (len(joints), 1, 1))
        empty = np.zeros((0, 1))
        self._skin(SkinBinding(joints, binds, empty, empty), nodes, character)

    def _place(
        self, character: Character, groups: list[list[Part]], nodes: list[int], skins: dict[int, int], tops: list[int]
    ) -> list[int]:
        """Hang every group of parts on its node, so that a walk meets them in their order."""
        items = self.builder.lists["nodes"] if nodes or groups else []
        root_of = {n: nodes[character.skeleton.ancestors(j)[-1]] for j, n in enumerate(nodes)}
        rigid = [i for i, parts in enumerate(groups) if not _deforms(parts[0])]
        lead: list[int] = []
        trail: list[int] = []
        hung: dict[int, int] = {}  # group: the node that shows it
        fronts: dict[int, int] = {}  # node: how many of its children were put before the joints below it
        for i, parts in enumerate(groups):
            joint = nodes[int(parts[0].skin.joints[0])]
            mesh = self._mesh(parts, i not in rigid)
            if i in rigid:
                at = self._hang(items, parts[0].name, joint, mesh, fronts)
                root_of[at] = root_of[joint]
            else:
                at = self.builder.add("nodes", {"name": parts[0].name, "mesh": mesh, "skin": skins[id(parts[0].skin)]})
                before = max((r for r in rigid if r < i), default=None)
                after = min((r for r in rigid if r > i), default=None)
                if before is None:
                    lead.append(at)
                elif after is None:
                    trail.append(at)
                else:
                    following = root_of[nodes[int(groups[after][0].skin.joints[0])]]
                    self._insert_between(items, at, hung[before], root_of, following, tops, fronts)
            hung[i] = at
            shapes = next((part.mesh.shapes for part in parts if part.mesh.shapes is not None), None)
            if shapes is not None:
                self.shaped.append((parts[0].name, at, shapes.names, shapes.defaults))
        scene = [*lead, *tops, *trail]
        self._check_order(character, groups, hung, items, scene)
        return scene

    def _hang(self, items: list[dict[str, Any]], name: str, joint: int, mesh: int, fronts: dict[int, int]) -> int:
        """Show a rigid mesh on its joint's own node where the names agree, or else on a node put below it."""
        if items[joint]["name"] == name and "mesh" not in items[joint] and not fronts.get(joint):
            items[joint]["mesh"] = mesh
            return joint
        at = self._helper(name, {"mesh": mesh})
        self._insert(items, joint, at, fronts)
        return at

    def _insert(self, items: list[dict[str, Any]], parent: int, child: int, fronts: dict[int, int]) -> None:
        items[parent].setdefault("children", []).insert(fronts.get(parent, 0), child)
        fronts[parent] = fronts.get(parent, 0) + 1

    def _insert_between(
        self,
        items: list[dict[str, Any]],
        at: int,
        previous: int,
        root_of: dict[int, int],
        following: int,
        tops: list[int],
        fronts: dict[int, int],
    ) -> None:
        """Put a skinned mesh between two rigid ones: beside their trees where these differ, else below the first."""
        root_of[at] = root_of[previous]
        if root_of[previous] != following and root_of[previous] in tops:
            position = tops.index(following) if following in tops else len(tops)
            tops.insert(position, at)
        else:
            self._insert(items, previous, at, fronts)

    def _mesh(self, parts: list[Part], skinned: bool) -> int:
        """The index of the mesh of these parts; the same meshes, worn alike, are written once."""
        key = tuple(id(thing) for part in parts for thing in (part.mesh, part.skin if skinned else None))
        if key not in self._meshes:
            self._meshes[key] = self.builder.add("meshes", mesh_item(self.builder, self.materials, parts, skinned))
        return self._meshes[key]

    def _check_order(
        self, character: Character, groups: list[list[Part]], hung: dict[int, int], items: list[Any], scene: list[int]
    ) -> None:
        """Add a note where a reader will meet the vertices in another order than the character's."""
        rank: dict[int, int] = {}
        stack = scene[::-1]
        while stack:
            node = stack.pop()
            rank[node] = len(rank)
            stack.extend(reversed(items[node].get("children", [])))
        met = [part for i in sorted(hung, key=lambda i: rank[hung[i]]) for part in groups[i]]
        kept = [part for part in character.parts if len(part.mesh.triangles)]
        if any(a is not b for a, b in zip(met, kept)):
            self.builder.note(
                f"the parts of {character.name!r} follow the order of its joints, so vertices are renumbered"
            )


def _deforms(part: Part) -> bool:
    return not part.skin.is_rigid


def _common_root(skeleton: Skeleton, joints: Array) -> int | None:
    """The lowest common ancestor of the joints, or one of them; None where they are in several trees."""
    if not len(joints):
        return None
    shared = skeleton.ancestors(int(joints[0]))
    for joint in joints[1:].tolist():
        above = set(skeleton.ancestors(joint))
        shared = [j for j in shared if j in above]
    return shared[0] if shared else None
