"""Skin: a deformation method, fitted to examples, that turns joint transforms into vertices.

The learner of the room. What it learns is a `Deformer` (`deformer_`) of one of the registered methods. Attached to a
character it is a stage of the character's rig: everything that shows or writes the character plays it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from understudy.character import Asset, BoundDeformer, Character, Part, Skeleton, SkinBinding, kinematics
from understudy.character.rig import rig_of
from understudy.checks import Array
from understudy.deform import deformer as deformers
from understudy.deform.deformer import Deformer
from understudy.deform.example_files import bind_space
from understudy.deform.examples import Examples
from understudy.deform.rigging import AutomaticRig, AutomaticWeights, automatic_rig, automatic_weights
from understudy.errors import InvalidInput, join_names
from understudy.maths import transform
from understudy.schema import Estimator

# Of the size, rms: vertices in another order are a third of it away, another rest pose of the same body less.
MAX_REST_DISTANCE = 0.15


class Skin(Estimator):
    """Learns from example meshes how a mesh follows its joints.

    After `fit`: `deformer_`, a `Deformer` of the method, and `joint_names_`, the joints that it takes.

    Args:
        method: Name of the method, one of `Skin.methods()`, such as `"linear"`, `"dual"` or `"eigenskin"`.
        seed: Seed of methods that use chance.
        settings: Settings of the method by name; docs/deform_methods.md lists them.

    Raises:
        InvalidInput: If there is no such method, or it has no such setting.
        NotFitted: If `deformer_` is asked for before `fit`.

    Example:
        >>> examples = us.Examples.read("cylinder")
        >>> skin = us.Skin("linear").fit(examples)
        >>> skin.transform(examples.transforms).shape == examples.vertices.shape
        True
    """

    deformer_: Deformer
    joint_names_: tuple[str, ...]

    def __init__(self, method: str = "linear", *, seed: int = 0, **settings: Any) -> None:
        kind = deformers.method_class(method)
        self.method, self.seed = method, seed
        self.method_settings = deformers.settings_of(kind.Settings, settings)

    def settings(self) -> dict[str, Any]:
        """The arguments of `__init__` as plain values, with all settings of the method."""
        own = {name: getattr(self.method_settings, name) for name in self.method_settings.__dataclass_fields__}
        return {"method": self.method, "seed": self.seed, **own}

    def __repr__(self) -> str:
        return f"Skin({', '.join(f'{name}={value!r}' for name, value in self.settings().items())})"

    @staticmethod
    def methods() -> tuple[str, ...]:
        """The names of all methods, in the order of the comparison table."""
        return tuple(deformers.METHODS)

    def fit(self, examples: Examples, progress: Callable[[int, int], None] | None = None) -> Skin:
        """Fit the method to examples.

        Args:
            examples: Poses of a skeleton and the mesh in each of them.
            progress: Called with the steps done and their number.

        Returns:
            The skin itself.

        Raises:
            InvalidInput: If the method needs more poses, or something else that the examples do not have.
        """
        kind = deformers.method_class(self.method)
        self.deformer_ = kind.fit(examples, self.method_settings, self.seed, progress)
        self.joint_names_ = examples.names
        return self

    def transform(self, world_from_joint: ArrayLike) -> Array:
        """Deform the mesh.

        Args:
            world_from_joint: Transforms (F, J, 4, 4) of the joints, in metres, or (J, 4, 4) for one pose.

        Returns:
            Vertices (F, V, 3) float32 in metres in the world, or (V, 3) for one pose.

        Raises:
            InvalidInput: If the transforms are of another number of joints.
            NotFitted: If the skin was not fitted.
        """
        return self.deformer_.deform(world_from_joint)

    def attach_to(self, character: Character) -> Character:
        """Let this skin move the vertices of a character: every clip plays through it, shapes are added on top.

        Args:
            character: A character with the joints of the examples, by name, and their vertices, in their order.

        Returns:
            The character with the skin as its deformer; its meshes, materials and own weights are kept.

        Raises:
            InvalidInput: If the character has other joints or vertices, or is moved by layers of controls.
            NotFitted: If the skin was not fitted.

        Example:
            >>> lamp = us.load("lamp")
            >>> skin = us.Skin("linear", weights="artist").fit(us.Examples.read("lamp", frames=3))
            >>> skinned = us.Asset([skin.attach_to(lamp.character())], curves=[lamp.animation("hop")])
            >>> us.show(skinned, "hop.png", pictures=2, size=(80, 60)).name
            'hop.png'
        """
        return bind_deformer(self.deformer_, self.joint_names_, character)

    @staticmethod
    def bind(character: Character, template: str | None = None, influences: int = 4) -> Character:
        """Bind a mesh to a skeleton automatically.

        Args:
            character: A character with a mesh. Its skeleton is kept where it has one and no template is given.
            template: Skeleton to fit into the mesh: `"biped"`, `"quadruped"` and others of
                `understudy.deform.rigging`; None chooses one where the character has no skeleton.
            influences: Largest number of joints that move a vertex.

        Returns:
            The character with its new weights, and with its new skeleton where one was fitted.

        Raises:
            InvalidInput: If there is no mesh, or no skeleton fits into it.
        """
        return skin_automatically(character, template, influences=influences).character

    def save(self, path: str | Path) -> None:
        """Write the skin and its settings.

        Args:
            path: The file to write, whole or not at all; usually `NAME.understudy`.

        Raises:
            NotFitted: If the skin was not fitted.
        """
        deformers.save(self.deformer_, path, {"seed": self.seed, "joints": list(self.joint_names_)})

    @classmethod
    def load(cls, path: str | Path) -> Skin:
        """Read a skin that `save` or `understudy skin fit` wrote, of this version or of 0.1.

        Args:
            path: The file.

        Returns:
            The fitted skin.

        Raises:
            BadFile: If the file is damaged or holds something else.
        """
        deformer, settings = deformers.load_with_settings(path)
        own = getattr(deformer, "settings", None)
        fields = {} if own is None else {name: getattr(own, name) for name in own.__dataclass_fields__}
        skin = cls(deformer.name, seed=int(settings.get("seed", 0)), **fields)
        skin.deformer_ = deformer
        skin.joint_names_ = tuple(map(str, settings.get("joints", ())))
        return skin


def bind_deformer(deformer: Deformer, joint_names: Sequence[str], character: Character) -> Character:
    """The character with a deformer that takes the joints of these names; see `Skin.attach_to`."""
    if not joint_names:
        raise InvalidInput("this skin was saved without the names of its joints; fit it again")
    unknown = [name for name in joint_names if name not in character.skeleton]
    if unknown:
        raise InvalidInput(
            f"the skin was fitted to joints that {character.name!r} does not have: {join_names(unknown)}"
        )
    joints = np.array([character.skeleton.index(name) for name in joint_names], np.int64)
    rig = rig_of(replace(character, deformer=None))
    here = rig.vertices(rig.rest[None])[0]
    there = deformer.deform(rig.joints(rig.rest[None])[:, joints])[0]
    if len(there) != len(here):
        raise InvalidInput(
            f"the skin was fitted to {len(there)} vertices, but {character.name!r} has {len(here)}; "
            "examples should have the character's vertices, in their order"
        )
    apart = float(np.sqrt(((there - here) ** 2).sum(axis=1).mean()))
    if apart > MAX_REST_DISTANCE * float(np.linalg.norm(np.ptp(here, axis=0))):
        raise InvalidInput(
            f"at rest the skin puts the vertices of {character.name!r} {apart:.3g} m away from where they are; "
            "examples should have the character's vertices, in their order"
        )
    return replace(character, deformer=BoundDeformer(deformer, joints, np.arange(len(here))))


@dataclass(frozen=True, eq=False)
class AutomaticSkin:
    """The character with its new skin, the weights, and the rig where the skeleton is new."""

    character: Character
    weights: AutomaticWeights
    rig: AutomaticRig | None
    notes: tuple[str, ...]


def skin_automatically(
    character: Character,
    template: str | None = None,
    facing: str | None = None,
    influences: int = 4,
    rigid: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> AutomaticSkin:
    """Weights for the skeleton of `character`; with a `template`, or where it has one joint only, a new skeleton.

    `facing` is the direction that the mesh faces (+z, -z, +x, -x), found unless given; `influences` the most joints of
    a vertex. Parts that hang rigidly on a joint of a skeleton with skinned parts stay so unless `rigid`.
    """
    if not character.vertex_count:
        raise InvalidInput(f"character {character.name!r} has no mesh to skin")
    if character.layers is not None:
        raise InvalidInput(
            f"{character.name!r} is moved by layers of controls; convert it to glTF first, then bind that"
        )
    if template is not None or len(character.joints) < 2:
        return _build_rig(character, template, facing, influences, progress)
    whole = bind_space(character, rigid)
    weights = automatic_weights(
        whole.vertices, whole.triangles, whole.binds, whole.parents, whole.names, influences=influences
    )
    skins = dict(zip(map(id, whole.parts), whole.skins(weights.joints, weights.weights)))
    parts = [Part(part.name, part.mesh, skins.get(id(part), part.skin)) for part in character.parts]
    kept = len(character.parts) - len(whole.parts)
    notes = (f"{kept} parts still hang rigidly on a joint",) if kept else ()
    skinned = Character(character.name, character.skeleton, parts, character.bones, avatar=character.avatar)
    return AutomaticSkin(skinned, weights, None, (*notes, *weights.notes))


def _build_rig(
    character: Character,
    template: str | None,
    facing: str | None,
    influences: int,
    progress: Callable[[int, int], None] | None,
) -> AutomaticSkin:
    """A new skeleton for the mesh in its rest pose."""
    spaces, vertices, triangles = rest_geometry(character)
    rig = automatic_rig(vertices, triangles, template, facing, progress)
    weights = automatic_weights(vertices, triangles, rig.binds, rig.parents, rig.names, influences=influences)
    moved = np.where(rig.parents[:, None] >= 0, rig.places[rig.parents], 0.0)
    skeleton = Skeleton(rig.names, rig.parents, rig.places - moved)
    joints, back = np.arange(len(rig.names)), transform.invert(rig.binds)
    parts, first = [], 0
    for part, space in zip(character.parts, spaces):
        last = first + len(part.mesh.vertices)
        skin = SkinBinding(joints, back @ space, weights.joints[first:last], weights.weights[first:last])
        parts.append(Part(part.name, part.mesh, skin))
        first = last
    rigged = Character(character.name, skeleton, parts)
    return AutomaticSkin(rigged, weights, rig, (*rig.notes, *weights.notes))


def rest_geometry(character: Character) -> tuple[list[Array], Array, Array]:
    """world_from_mesh (4, 4) of each part, and all vertices (V, 3) and triangles (T, 3) in the world.

    Skinned parts are taken in their bind pose, not in the skeleton's rest pose. Each joint gives a world_from_bound;
    joints that have moved since they were bound disagree, so the one nearest to all others is taken.
    """
    whole = bind_space(character, rigid=True)
    skeleton = character.skeleton
    rest = kinematics.world_transforms(skeleton.parents, skeleton.translations, skeleton.rotations, skeleton.scales)
    joints, weights = whole.artist_weights()
    carried = np.bincount(joints.ravel(), weights.ravel(), len(whole.joints))
    world_from_bound = rest[whole.joints] @ transform.invert(whole.binds)  # of each joint, if it has not moved
    apart = np.abs(world_from_bound[:, None, :3] - world_from_bound[None, :, :3]).sum(axis=(2, 3)) @ carried
    world = world_from_bound[int(np.where(carried > 0, apart, np.inf).argmin())]
    return [world @ space for space in whole.spaces], transform.apply(world, whole.vertices), whole.triangles


def automatic_asset(asset: Asset, found: AutomaticSkin, source: Character) -> Asset:
    """The asset with the new character in place of `source`; animations are kept if its skeleton is."""
    characters = [found.character if character is source else character for character in asset.characters]
    if found.rig is not None:
        return Asset(characters, (), (), asset.notes, asset.format)
    return Asset(characters, asset.clips, asset.curves, asset.notes, asset.format)
