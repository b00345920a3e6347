"""The nodes of an FBX scene that become joints, in our space.

Every `Model` becomes a joint except cameras, lights and markers that hold nothing, meshes whose skin leaves their own
transform without effect, and nodes that this program's writer had to add.

**Units.** Where the root of a tree has the scale that turns its unit into metres (Blender writes 100 on centimetres),
that scale goes and the lengths below are metres already. Everywhere else lengths are converted and scales are kept.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.character.skeleton import depth_first
from understudy.checks import Array
from understudy.errors import BadFile
from understudy.formats.conventions import number_duplicates
from understudy.formats.fbx.scene import FbxObject, FbxScene
from understudy.formats.fbx.transforms import (
    INHERIT_PRODUCT,
    INHERIT_WITHOUT_PARENT,
    NodeTransform,
    inherit,
    is_unit_scale,
    node_transform,
)
from understudy.maths import quaternion

MAX_JOINTS = 100_000
UNIT_TOLERANCE = 1e-3  # of 1: how near a root's scale has to be to that of its unit to be taken for it
UNSEEN_ATTRIBUTES = {"Camera": "cameras", "Light": "lights", "CameraStereo": "cameras"}
HELPER_PROPERTY = "understudy_helper"  # on nodes that the writer added only because the format needs them
# Shear below this share of a transform is the rounding of float32 entries and of their products.
MAX_SHEAR_RATIO = 1e-5


@dataclass
class JointNodes:
    """The N models that are joints, parents first, and how each is converted."""

    models: list[FbxObject]
    names: list[str]  # distinct
    parents: list[int]  # -1 for a root
    transforms: list[NodeTransform]
    lengths: list[float]  # by which translations are multiplied
    sizes: list[float]  # by which scales are multiplied
    turn: Array  # (4,) rotation of every root
    turn_matrix: Array  # (3, 3) the same
    number: dict[int, int]  # of the node, by the number of the model
    roots: list[int]  # (N,) the root above each node
    labels: dict[int, str]  # a name for every model, also for those that are no joints, by its number

    def __len__(self) -> int:
        return len(self.models)

    def is_turned(self, node: int) -> bool:
        """Whether the node's own rotation is changed by the axes of the file."""
        return self.parents[node] < 0 and bool((self.turn_matrix != np.eye(3)).any())

    def axes(self, node: int) -> Array:
        """(3, 3) by which the node's translation is turned."""
        return self.turn_matrix if self.parents[node] < 0 else np.eye(3)

    def convert(self, node: int, kind: str, values: Array) -> Array:
        """Translations (F, 3), rotations (F, 4) or scales (F, 3) from the file's space to ours."""
        if kind == "translation":
            return values @ self.axes(node).T * self.lengths[node]
        if kind == "scale":
            return values * self.sizes[node]
        return quaternion.multiply(self.turn, values) if self.is_turned(node) else values

    def unit(self, node: int) -> float:
        """By which lengths in a node's own space, such as those of its mesh, are multiplied."""
        root = self.roots[node]
        return self.lengths[root] if self.sizes[root] == 1 else 1.0

    @property
    def inherits_specially(self) -> bool:
        """Whether any node inherits scale in another way than by a product."""
        return any(local.inheritance != INHERIT_PRODUCT for local in self.transforms)

    def special_nodes(self, scales: list[Array]) -> set[int]:
        """The nodes for which that makes a difference, by the scales (F, 3) that each node takes."""
        uneven = [False] * len(self)  # some scale at or above the node differs between its axes
        result = set()
        for node, parent in enumerate(self.parents):
            own = bool(np.ptp(scales[node], axis=-1).max(initial=0.0) > 1e-7)
            uneven[node] = own or (parent >= 0 and uneven[parent])
            kind = self.transforms[node].inheritance
            if parent < 0 or kind == INHERIT_PRODUCT:
                continue
            if uneven[parent] or (kind == INHERIT_WITHOUT_PARENT and not is_unit_scale(scales[parent])):
                result.add(node)
        return result

    def rest_pose(self, scene: FbxScene) -> tuple[Array, Array, Array]:
        """(N, 3) translations, (N, 4) rotations and (N, 3) scales without animation, in our space."""
        t, q, s = np.zeros((1, len(self), 3)), np.zeros((1, len(self), 4)), np.ones((1, len(self), 3))
        for node, local in enumerate(self.transforms):
            q[0, node], s[0, node] = local.rotations(local.rotation), local.scaling
            t[0, node] = local.translations(local.translation, q[0, node], s[0, node])
        if self.special_nodes([s[:, node] for node in range(len(self))]):
            t, q, s, shear = inherit(self.parents, [local.inheritance for local in self.transforms], t, q, s)
            if shear > MAX_SHEAR_RATIO:
                scene.document.note("some joints inherit scale in a way that shears them; the shear was dropped")
        for node in range(len(self)):
            for kind, values in (("translation", t), ("rotation", q), ("scale", s)):
                values[:, node] = self.convert(node, kind, values[:, node])
        return t[0], q[0], s[0]


def joint_nodes(scene: FbxScene, skinned: set[int], bones: set[int]) -> JointNodes:
    """The joints of a scene: `skinned` are models whose mesh hangs on a skin, `bones` models that a skin names."""
    models, parents = _forest(scene)
    children: list[list[int]] = [[] for _ in models]
    for node, parent in enumerate(parents):
        if parent >= 0:
            children[parent].append(node)
    needed = [False] * len(models)
    for node in range(len(models) - 1, -1, -1):
        model = models[node]
        hollow = model.number in skinned or _is_unseen(scene, model) or is_helper(model)
        needed[node] = model.number in bones or not hollow or any(needed[child] for child in children[node])
    kept = [node for node in range(len(models)) if needed[node]]
    place = {node: i for i, node in enumerate(kept)}
    parents = [place.get(parents[node], -1) if parents[node] >= 0 else -1 for node in kept]
    labels = _labels(models)
    models = [models[node] for node in kept]
    roots: list[int] = []
    for node, parent in enumerate(parents):
        roots.append(node if parent < 0 else roots[parent])
    transforms = [node_transform(model) for model in models]
    metres = scene.space.metres
    is_absorbed = [bool((np.abs(local.scaling * metres - 1) < UNIT_TOLERANCE).all()) for local in transforms]
    lengths = [metres if parents[node] < 0 or not is_absorbed[roots[node]] else 1.0 for node in range(len(models))]
    return JointNodes(
        models,
        [labels[model.number] for model in models],
        parents,
        transforms,
        lengths,
        [metres if parents[node] < 0 and is_absorbed[node] else 1.0 for node in range(len(models))],
        scene.space.turn if scene.space.is_turned else quaternion.identity(),
        scene.space.axes,
        {model.number: node for node, model in enumerate(models)},
        roots,
        labels,
    )


def _labels(models: list[FbxObject]) -> dict[int, str]:
    """A distinct name for each model; those that the writer added have the name of their part."""
    plain = [model for model in models if not is_helper(model)]
    names = number_duplicates([model.name or f"node_{i}" for i, model in enumerate(plain)])
    labels = {model.number: name for model, name in zip(plain, names)}
    return labels | {model.number: model.text(HELPER_PROPERTY) for model in models if is_helper(model)}


def is_helper(model: FbxObject) -> bool:
    """Whether the node was added by the writer and has no effect by itself."""
    return HELPER_PROPERTY in model.own


def parent_model(model: FbxObject) -> FbxObject | None:
    """The model above a model."""
    return next((owner for owner, place in model.owners if owner.kind == "Model" and not place), None)


def _forest(scene: FbxScene) -> tuple[list[FbxObject], list[int]]:
    """All models below the root, each parent before its children."""
    models = scene.all("Model")
    if len(models) > MAX_JOINTS:
        raise BadFile(scene.document.path, f"has {len(models):,} nodes, but at most {MAX_JOINTS:,} are read")
    number = {model.number: i for i, model in enumerate(models)}
    parents = []
    for model in models:
        above = parent_model(model)
        parents.append(-1 if above is None or above is scene.root else number[above.number])
    order = depth_first(np.array(parents, np.int64)).tolist() if models else []
    rank = {old: new for new, old in enumerate(order)}
    return [models[i] for i in order], [-1 if parents[i] < 0 else rank[parents[i]] for i in order]


def _is_unseen(scene: FbxScene, model: FbxObject) -> bool:
    kind = model.subclass
    for attribute in model.sources_of("NodeAttribute"):
        kind = attribute.subclass if attribute.subclass in UNSEEN_ATTRIBUTES else kind
    if kind in UNSEEN_ATTRIBUTES:
        scene.document.count(f"{UNSEEN_ATTRIBUTES[kind]} were left out ({{}})")
    return kind in UNSEEN_ATTRIBUTES
