"""Character: a skeleton and the meshes skinned to it. Asset: the characters and animations of one file.

Avatar: what VRM says of a character beyond its meshes: which joint is which bone, and its expressions. The data are
plain, so that transfer, gaze and faces can use them without knowing VRM. Bones have Unity's names (`LeftUpperArm`),
expressions those of VRM 1 (`happy`, `aa`, `blinkLeft`), in files of VRM 0 as well.

BoundDeformer: a deformer of `understudy.deform` that moves the vertices of a character in place of its skins.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from understudy import checks
from understudy.character.clip import Clip
from understudy.character.controls import RigLayers
from understudy.character.curves import Curves
from understudy.character.mesh import Mesh, SkinBinding
from understudy.character.skeleton import Skeleton
from understudy.checks import Array
from understudy.errors import InvalidInput

# Bones without which VRM refuses a humanoid.
REQUIRED_BONES = (
    *("Hips", "Spine", "Head"),
    *(side + bone for side in ("Left", "Right") for bone in ("UpperArm", "LowerArm", "Hand")),
    *(side + bone for side in ("Left", "Right") for bone in ("UpperLeg", "LowerLeg", "Foot")),
)
EXPRESSION_PRESETS = (
    *("happy", "angry", "sad", "relaxed", "surprised", "aa", "ih", "ou", "ee", "oh"),
    *("blink", "blinkLeft", "blinkRight", "lookUp", "lookDown", "lookLeft", "lookRight", "neutral"),
)

OVERRIDE_KINDS = {
    "blink": ("blink", "blinkLeft", "blinkRight"),
    "look_at": ("lookUp", "lookDown", "lookLeft", "lookRight"),
    "mouth": ("aa", "ih", "ou", "ee", "oh"),
}


@dataclass(frozen=True)
class ShapeBind:
    """One shape of one part, and its weight at full expression."""

    part: str
    shape: str
    weight: float


@dataclass(frozen=True)
class Expression:
    """A named face: shapes, and settings of materials.

    A binary expression is either off or full; `overrides` says for "blink", "look_at" and "mouth" whether the
    expression blocks or blends out other expressions of that kind.
    """

    name: str
    shapes: tuple[ShapeBind, ...] = ()
    material_binds: int = 0  # colours and texture places that it changes; they are kept, but not played
    is_binary: bool = False
    overrides: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def is_preset(self) -> bool:
        """Whether the name is one of VRM's, which other programs know."""
        return self.name in EXPRESSION_PRESETS


@dataclass(frozen=True)
class SpringJoint:
    """A joint that swings.

    Args:
        joint: Its name.
        stiffness: Pull towards the rest direction, metres a second.
        gravity: Pull of gravity (x, y, z), metres a second.
        drag: Share of its speed that it loses in a step, 0 to 1.
        radius: Of its end, against colliders; metres.
    """

    joint: str
    stiffness: float = 1.0
    gravity: tuple[float, float, float] = (0.0, 0.0, 0.0)
    drag: float = 0.4
    radius: float = 0.0


@dataclass(frozen=True)
class SpringCollider:
    """A ball, a capsule or a plane that swinging joints do not enter.

    Args:
        joint: Name of the joint that carries it.
        centre: (x, y, z) in the joint's space, metres.
        end: The other end of a capsule's axis; the centre again for a ball; of a plane, a point along its normal.
        radius: Metres.
        inside: Whether joints stay inside it instead.
        is_plane: Whether it is a plane through the centre.
    """

    joint: str
    centre: tuple[float, float, float]
    end: tuple[float, float, float]
    radius: float
    inside: bool = False
    is_plane: bool = False


@dataclass(frozen=True)
class Spring:
    """Joints that swing behind the body: hair, ears, skirts.

    Args:
        joints: A chain, in which each joint ends at the next one and the last does not swing itself; or, in a tree, its
            roots.
        is_tree: Whether everything below the joints swings with them, as VRM 0 has it.
        centre: Name of the joint in whose space speed counts; empty for the world.
        colliders: What the joints collide with.
    """

    joints: tuple[SpringJoint, ...]
    is_tree: bool = False
    centre: str = ""
    colliders: tuple[SpringCollider, ...] = ()


@dataclass(frozen=True)
class Constraint:
    """A joint that follows another one.

    Args:
        kind: "roll", "aim" or "rotation".
        source: Name of the joint that it follows.
        axis: Unit vector (x, y, z) in the joint's space: what it rolls about, or points at the source.
        weight: 0 to 1.
    """

    kind: str
    source: str
    axis: tuple[float, float, float] = (1.0, 0.0, 0.0)
    weight: float = 1.0


@dataclass(frozen=True, eq=False)
class Avatar:
    """A humanoid as VRM describes it.

    Args:
        version: Of VRM: "0.0" or "1.0".
        bones: Joint name by Unity's name of the bone.
        expressions: The expressions, in the order of the file.
        look_at: How it looks at something: by "bone" or "expression"; empty where the file does not say.
        springs: Joints that swing; `body.spring_bones` moves them.
        constraints: Joints that follow others, by name; `body.spring_bones` moves them as well.
        title: Name that the author gave.
        settings: The extensions of the file, for writing them again; see `formats.gltf.vrm`.
    """

    version: str
    bones: Mapping[str, str]
    expressions: tuple[Expression, ...] = ()
    look_at: str = ""
    springs: tuple[Spring, ...] = ()
    constraints: Mapping[str, Constraint] = field(default_factory=lambda: MappingProxyType({}))
    title: str = ""
    settings: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}), repr=False)

    @property
    def faces_backward(self) -> bool:
        """Whether the rest pose faces -Z, as VRM 0 prescribes; VRM 1 faces +Z."""
        return self.version.startswith("0")

    def expression(self, name: str) -> Expression | None:
        """The expression of that name."""
        return next((expression for expression in self.expressions if expression.name == name), None)

    def shape_weights(self, strengths: Mapping[str, Array]) -> dict[tuple[str, str], Array]:
        """The weights of the shapes that expressions move: (F,) by part and shape. Weights of several add up.

        Expressions with overrides take the strength of those of a kind: "block" all of it, "blend" a share
        [VRMC_vrm-1.0, expressions].

        Args:
            strengths: (F,) 0 to 1, by name of the expression; names that the avatar does not have are ignored.
        """
        known = {e.name: np.clip(strengths[e.name], 0.0, 1.0) for e in self.expressions if e.name in strengths}
        known |= {
            e.name: (known[e.name] > 0.5).astype(float) for e in self.expressions if e.is_binary and e.name in known
        }
        share: dict[str, Array] = {}
        for expression in self.expressions:
            for kind, how in expression.overrides.items() if expression.name in known else ():
                taken = known[expression.name] > 0.0 if how == "block" else known[expression.name]
                share[kind] = share.get(kind, 1.0) - taken
        weights: dict[tuple[str, str], Array] = {}
        for expression in self.expressions:
            if expression.name not in known:
                continue
            kind = next((kind for kind, names in OVERRIDE_KINDS.items() if expression.name in names), "")
            strength = known[expression.name] * np.maximum(share.get(kind, 1.0), 0.0)
            for bind in expression.shapes:
                key = (bind.part, bind.shape)
                weights[key] = weights.get(key, 0.0) + strength * bind.weight
        return weights


@dataclass(frozen=True, eq=False)
class Part:
    """One mesh and its skin. Parts of the same name share their shape weights (pieces of one mesh in the file)."""

    name: str
    mesh: Mesh
    skin: SkinBinding


class VertexDeformer(Protocol):
    """Anything that turns transforms of joints into vertices."""

    def deform(self, transforms: ArrayLike) -> Array:
        """Vertices (F, N, 3) float32 of world_from_joint (F, B, 4, 4), in metres in the world."""


@dataclass(frozen=True, eq=False)
class BoundDeformer:
    """A deformer that moves the vertices of a character in place of its skins.

    Args:
        deformer: Gives N vertices of B joints.
        joints: Numbers (B,) of the character's joints, in the order of the deformer.
        vertices: Numbers (V,) of the deformer's vertices, one for each vertex of the character.
    """

    deformer: VertexDeformer
    joints: Array  # (B,)
    vertices: Array  # (V,)

    def __post_init__(self) -> None:
        for name in ("joints", "vertices"):
            value = checks.array(getattr(self, name), f"{name} of a deformer", (None,), np.int64)
            object.__setattr__(self, name, value)

    def deform(self, world_from_joint: Array) -> Array:
        """(F, V, 3) float32 vertices of all joints (F, J, 4, 4) of the character."""
        points = self.deformer.deform(world_from_joint[:, self.joints])
        same = points.shape[1] == len(self.vertices) and (self.vertices == np.arange(len(self.vertices))).all()
        return points if same else points[:, self.vertices]


@dataclass(frozen=True, eq=False)
class Character:
    """A named skeleton with zero or more parts.

    Vertices and triangles of the whole are those of the parts in order. A character with `layers` is moved by its
    controls; without, by its joints and shape weights. With a `deformer`, joints move its vertices through that instead
    of the skins of the parts, and the shapes are added on top.

    Args:
        name: Name of the character.
        skeleton: Its J joints: names, parents and rest pose, in metres.
        parts: Meshes, each with its skin binding.
        bones: Numbers (B,) of the joints that count as such where no mesh is skinned to the skeleton; None: all.
        layers: Controls that move joints, shapes and a lattice; None where there are none.
        avatar: Bones and expressions of a VRM file; None for other characters.
        deformer: A fitted deformer, as `Skin.attach_to` binds it; None where the skins of the parts move the vertices.
        facing: The axis along which it looks at rest ("+z") while it stands along +Y, where a user said so; empty where
            `body.bone_names.find_facing` has to find it.

    Raises:
        InvalidInput: If skins, shapes, layers or the deformer do not fit the skeleton and the meshes.

    Example:
        >>> lamp = us.load("lamp").character()
        >>> lamp.name, lamp.vertex_count > 1000, "Head" in lamp.skeleton
        ('lamp', True, True)
    """

    name: str
    skeleton: Skeleton
    parts: tuple[Part, ...]
    bones: Array | None  # (B,) joints of a skeleton without a skinned mesh; None: all of them
    layers: RigLayers | None
    avatar: Avatar | None
    deformer: BoundDeformer | None
    facing: str

    def __init__(
        self,
        name: str,
        skeleton: Skeleton,
        parts: Iterable[Part] = (),
        bones: Any = None,
        layers: RigLayers | None = None,
        avatar: Avatar | None = None,
        deformer: BoundDeformer | None = None,
        facing: str = "",
    ) -> None:
        parts = tuple(parts)
        if bones is not None:
            bones = checks.array(bones, "bones", ("B",), np.int64)
            checks.indices(bones, "bones", len(skeleton))
        object.__setattr__(self, "bones", bones)
        object.__setattr__(self, "name", str(name))
        object.__setattr__(self, "skeleton", skeleton)
        object.__setattr__(self, "parts", parts)
        object.__setattr__(self, "layers", layers)
        object.__setattr__(self, "avatar", avatar)
        object.__setattr__(self, "deformer", deformer)
        object.__setattr__(self, "facing", facing)
        shapes: dict[str, tuple[str, ...]] = {}
        for part in parts:
            if len(part.skin.weights) != len(part.mesh.vertices):
                raise InvalidInput(
                    f"the skin of part {part.name!r} should have {len(part.mesh.vertices)} vertices, "
                    f"but has {len(part.skin.weights)}"
                )
            checks.indices(part.skin.joints, f"skin joints of part {part.name!r}", len(skeleton))
            names = part.mesh.shapes.names if part.mesh.shapes else ()
            if names and shapes.setdefault(part.name, names) != names:
                raise InvalidInput(f"parts named {part.name!r} should have the same shapes")
        if layers is not None:
            layers.check_against(skeleton.names, self.vertex_count)
        if deformer is not None:
            self._check_deformer(deformer)

    def __repr__(self) -> str:
        return f"Character({self.name!r}, {len(self.joints)} joints, {self.vertex_count} vertices)"

    def _check_deformer(self, deformer: BoundDeformer) -> None:
        if self.layers is not None:
            raise InvalidInput(f"{self.name!r} is moved by layers of controls, which have no place for a deformer")
        checks.indices(deformer.joints, f"joints of the deformer of {self.name!r}", len(self.skeleton))
        if len(deformer.vertices) != self.vertex_count:
            raise InvalidInput(
                f"the deformer of {self.name!r} should move {self.vertex_count} vertices, "
                f"but moves {len(deformer.vertices)}"
            )

    @cached_property
    def joints(self) -> Array:
        """(B,) the joints that some skin uses; without any, the bones, or all."""
        used = [part.skin.joints for part in self.parts if not part.skin.is_rigid]
        if not used:
            return checks.freeze(np.arange(len(self.skeleton))) if self.bones is None else self.bones
        return checks.freeze(np.unique(np.concatenate(used)))

    @property
    def vertex_count(self) -> int:
        """V, over all parts."""
        return sum(len(part.mesh.vertices) for part in self.parts)

    @cached_property
    def triangles(self) -> Array:
        """(T, 3) of all parts, into the vertices of the whole."""
        blocks, start = [np.zeros((0, 3), np.int32)], 0
        for part in self.parts:
            blocks.append(part.mesh.triangles + np.int32(start))
            start += len(part.mesh.vertices)
        return checks.freeze(np.concatenate(blocks))

    @cached_property
    def shapes(self) -> dict[str, tuple[str, ...]]:
        """The shape names of each part that has any, by part name, in the order of the parts."""
        return {part.name: part.mesh.shapes.names for part in self.parts if part.mesh.shapes is not None}


@dataclass(frozen=True, eq=False)
class Asset:
    """What one file holds: characters, clips, curves, and notes.

    Args:
        characters: The characters.
        clips: Dense animations, at a fixed rate.
        curves: Keyframed animations.
        notes: A line for each thing that reading dropped or changed.
        format: Name of the format that the asset was read from; empty where it was made in Python.

    Raises:
        InvalidInput: If two animations have the same name.

    Example:
        >>> lamp = us.load("lamp")
        >>> us.Asset(lamp.characters, curves=[lamp.animation("hop")]).animations[0].name
        'hop'
    """

    characters: tuple[Character, ...] = ()
    clips: tuple[Clip, ...] = ()
    curves: tuple[Curves, ...] = ()
    notes: tuple[str, ...] = ()
    format: str = ""

    def __init__(
        self,
        characters: Iterable[Character] = (),
        clips: Iterable[Clip] = (),
        curves: Iterable[Curves] = (),
        notes: Iterable[str] = (),
        format: str = "",
    ) -> None:
        object.__setattr__(self, "characters", tuple(characters))
        object.__setattr__(self, "clips", tuple(clips))
        object.__setattr__(self, "curves", tuple(curves))
        object.__setattr__(self, "notes", tuple(notes))
        object.__setattr__(self, "format", format)
        checks.unique_names((animation.name for animation in self.animations), "names of clips and curves")

    @property
    def animations(self) -> tuple[Curves | Clip, ...]:
        """All animations: the keyframed ones, then the dense ones."""
        return (*self.curves, *self.clips)

    def animation(self, name: str | None = None) -> Curves | Clip:
        """One of the animations, as it is.

        Args:
            name: Name of the animation; None takes the first. `Walk` finds Blender's `Armature|Walk` if that is unique.

        Returns:
            The animation.

        Raises:
            InvalidInput: If there is none, or none of that name.
        """
        if not self.animations:
            raise InvalidInput("there is no animation in this asset")
        if name is None:
            return self.animations[0]
        short = [animation for animation in self.animations if animation.name.rpartition("|")[2] == name]
        exact = [animation for animation in self.animations if animation.name == name]
        if not exact and len(short) == 1:
            return short[0]
        checks.one_of(name, "clip", (animation.name for animation in self.animations))
        return exact[0]

    def clip(self, name: str | None = None, rate: float | None = None) -> Clip:
        """One of the animations as a dense clip.

        Args:
            name: Name of the animation, as in `animation`; None takes the first.
            rate: Frames a second; None takes that of the animation.

        Returns:
            The clip.

        Raises:
            InvalidInput: If there is none, or none of that name.
        """
        animation = self.animation(name)
        if isinstance(animation, Curves):
            return animation.clip(rate)
        return animation if rate is None or rate == animation.rate else animation.resample(rate)

    def character(self, name: str | None = None) -> Character:
        """One of the characters.

        Args:
            name: Name of the character; None takes the first.

        Returns:
            The character.

        Raises:
            InvalidInput: If there is none, or none of that name.
        """
        if not self.characters:
            raise InvalidInput("there is no character in this asset")
        if name is None:
            return self.characters[0]
        checks.one_of(name, "character", (character.name for character in self.characters))
        return next(character for character in self.characters if character.name == name)
