"""The nodes of the default scene as a checked forest, in the order of a walk from the roots down."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.checks import NEAR_UNIT, Array
from understudy.formats.conventions import number_duplicates
from understudy.formats.gltf.document import GltfDocument
from understudy.formats.gltf.json_object import JsonObject, format_place
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
