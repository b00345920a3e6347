"""The nodes of an FBX scene that become joints, in our space, and their transforms.

Every `Model` becomes a joint except cameras, lights and markers that hold nothing, meshes whose skin leaves their own
transform without effect, and nodes that this program's writer had to add.

**Units.** Where the root of a tree has the scale that turns its unit into metres (Blender writes 100 on centimetres),
that scale goes and the lengths below are metres already. Everywhere else lengths are converted and scales are kept.

**Transforms.** With T, R, S the node's animated translation, rotation and scaling, and all else constant, the SDK
defines

    L = T Roff Rp Rpre R Rpost^-1 Rp^-1 Soff Sp S Sp^-1

(rotation offset and pivot, pre- and post-rotation, scaling offset and pivot). That is a translation, a rotation and a
scale in turn, as ours are,

    q = Rpre R Rpost^-1,    s = S,    t = T + Roff + Rp + q (Soff + Sp - S Sp - Rp)

so only the translation mixes what was apart. Pre- and post-rotation and the rotation order count where `RotationActive`
is set.

**Inheritance.** With G = (R_g S_g | t_g) the parent in the world and S_p its own scaling, a child has the linear part

    RSrs (1)   R_g S_g R S                the plain product
    RrSs (0)   R_g R S_g S                scale is inherited along the child's own axes
    Rrs  (2)   R_g R S_g S_p^-1 S         the parent's own scaling is not inherited

and always the position G t. Without scale all three are the same; where there is scale, `inherit` finds the
translation, rotation and scale that give the same as a plain product, up to shear.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.character.skeleton import depth_first
from understudy.checks import Array
from understudy.errors import BadFile
from understudy.formats.conventions import number_duplicates
from understudy.formats.fbx.scene import FbxObject, FbxScene
from understudy.maths import euler, quaternion, transform

# By RotationOrder, the axes in the order in which they are applied; 6, spherical, is read as 0.
ROTATION_ORDERS = ("xyz", "xzy", "yzx", "yxz", "zxy", "zyx")
INHERIT_COMPONENTS, INHERIT_PRODUCT, INHERIT_WITHOUT_PARENT = 0, 1, 2
ZERO, ONE = (0.0, 0.0, 0.0), (1.0, 1.0, 1.0)
NEGLIGIBLE_SCALE = 1e-7  # of 1: exporters print scales as float32
MAX_JOINTS = 100_000
UNIT_TOLERANCE = 1e-3  # of 1: how near a root's scale has to be to that of its unit to be taken for it
UNSEEN_ATTRIBUTES = {"Camera": "cameras", "Light": "lights", "CameraStereo": "cameras"}
HELPER_PROPERTY = "understudy_helper"  # on nodes that the writer added only because the format needs them
# Shear below this share of a transform is the rounding of float32 entries and of their products.
MAX_SHEAR_RATIO = 1e-5


@dataclass(frozen=True)
class NodeTransform:
    """The constants of a node's transform, and T, R (degrees), S where no take moves them."""

    translation: Array  # (3,)
    rotation: Array  # (3,) degrees about x, y, z
    scaling: Array  # (3,)
    order: str  # axes, the last applied first: "zyx" means Rz Ry Rx
    before: Array  # (4,) pre-rotation
    after: Array  # (4,) inverse of the post-rotation
    shift: Array  # (3,) Roff + Rp
    arm: Array  # (3,) Soff + Sp - Rp
    pivot: Array  # (3,) Sp
    inheritance: int

    @property
    def has_free_rotation(self) -> bool:
        """Whether the angles of R are those of the whole rotation."""
        return bool((self.before == quaternion.IDENTITY).all() and (self.after == quaternion.IDENTITY).all())

    @property
    def has_pivots(self) -> bool:
        """Whether rotation or scaling moves the node's origin."""
        return bool(self.arm.any() or self.pivot.any())

    def rotations(self, degrees: Array) -> Array:
        """(..., 4) the whole rotation for angles (..., 3) about x, y, z."""
        angles = np.radians(degrees)[..., ["xyz".index(axis) for axis in self.order]]
        turn = euler.from_euler(angles, self.order)
        if self.has_free_rotation:
            return turn
        return quaternion.multiply(quaternion.multiply(self.before, turn), self.after)

    def translations(self, given: Array, turns: Array, scales: Array) -> Array:
        """(..., 3) the whole translation for T (..., 3), whole rotations (..., 4) and S (..., 3)."""
        result = given + self.shift
        if self.has_pivots:
            result = result + quaternion.rotate(turns, self.arm - scales * self.pivot)
        return result


def node_transform(model: FbxObject) -> NodeTransform:
    """The transform of a `Model`."""
    active = bool(model.integer("RotationActive", 0))
    order = model.integer("RotationOrder", 0) if active else 0
    order = order if 0 <= order < len(ROTATION_ORDERS) else 0
    rotation_pivot, scaling_pivot = model.vector("RotationPivot", ZERO), model.vector("ScalingPivot", ZERO)
    return NodeTransform(
        translation=model.vector("Lcl Translation", ZERO),
        rotation=model.vector("Lcl Rotation", ZERO),
        scaling=model.vector("Lcl Scaling", ONE),
        order=ROTATION_ORDERS[order][::-1],
        before=_plain_rotation(model.vector("PreRotation", ZERO)) if active else quaternion.identity(),
        after=quaternion.conjugate(_plain_rotation(model.vector("PostRotation", ZERO)))
        if active
        else quaternion.identity(),
        shift=model.vector("RotationOffset", ZERO) + rotation_pivot,
        arm=model.vector("ScalingOffset", ZERO) + scaling_pivot - rotation_pivot,
        pivot=scaling_pivot,
        inheritance=model.integer("InheritType", INHERIT_PRODUCT),
    )


def geometric_transform(model: FbxObject) -> Array | None:
    """(4, 4) node_from_geometry, which moves a node's mesh but not its children; None where it is the identity."""
    t, s = model.vector("GeometricTranslation", ZERO), model.vector("GeometricScaling", ONE)
    r = model.vector("GeometricRotation", ZERO)
    if not t.any() and not r.any() and (s == 1).all():
        return None
    return transform.compose(t, _plain_rotation(r), s)


def _plain_rotation(degrees: Array) -> Array:
    """(4,) a constant rotation, which is about x, then y, then z whatever the order of the node."""
    return quaternion.identity() if not degrees.any() else euler.from_euler(np.radians(degrees[::-1]), "zyx")


def is_unit_scale(scales: Array) -> bool:
    """Whether scales (..., 3) are all 1, so that every kind of inheritance is the plain product."""
    return bool(np.abs(scales - 1).max(initial=0.0) <= NEGLIGIBLE_SCALE)


def inherit(
    parents: list[int], kinds: list[int], translations: Array, rotations: Array, scales: Array
) -> tuple[Array, Array, Array, float]:
    """Locals (F, N, ...) that give by plain products what each node inherits in its own way (`kinds`), parents first.

    Also returned is the largest shear that had to be dropped, as a share.
    """
    count = len(parents)
    frames = len(translations)
    world = np.zeros((frames, count, 4, 4))
    turns, sizes = np.zeros((frames, count, 3, 3)), np.zeros((frames, count, 3, 3))
    local_turn = quaternion.to_matrix(rotations)
    local_size = np.zeros((frames, count, 3, 3))
    local_size[..., range(3), range(3)] = scales
    t, r, s = translations.copy(), rotations.copy(), scales.copy()
    worst = 0.0
    for node, parent in enumerate(parents):
        own_turn, own_size = local_turn[:, node], local_size[:, node]
        if parent < 0:
            linear, position = own_turn @ own_size, translations[:, node]
        else:
            turn, size = turns[:, parent], sizes[:, parent]
            if kinds[node] == INHERIT_PRODUCT:
                linear = turn @ size @ own_turn @ own_size
            elif kinds[node] == INHERIT_WITHOUT_PARENT:
                without = size / np.where(scales[:, parent] == 0, 1.0, scales[:, parent])[:, None, :]
                linear = turn @ own_turn @ without @ own_size
            else:
                linear = turn @ own_turn @ size @ own_size
            position = (world[:, parent, :3, :3] @ translations[:, node, :, None])[..., 0] + world[:, parent, :3, 3]
        world[:, node, :3, :3], world[:, node, :3, 3], world[:, node, 3, 3] = linear, position, 1.0
        turns[:, node] = quaternion.to_matrix(transform.decompose(world[:, node])[1])
        sizes[:, node] = np.swapaxes(turns[:, node], -1, -2) @ linear
        if parent >= 0 and kinds[node] != INHERIT_PRODUCT:
            above = world[:, parent]
            flat = np.abs(transform.determinant(above)) < 1e-30
            local = np.linalg.inv(np.where(flat[:, None, None], np.eye(4), above)) @ world[:, node]
            worst = max(worst, float(transform.shear_error(local).max()))
            t[:, node], r[:, node], s[:, node] = transform.decompose(local)
    return t, r, s, worst


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
