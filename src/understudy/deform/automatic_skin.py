"""Automatic skins of characters: new weights for an existing skeleton, or a new skeleton with weights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from understudy.character import Asset, Character, Part, Skeleton, SkinBinding, kinematics
from understudy.checks import Array
from understudy.deform.example_files import bind_space
from understudy.deform.rigging import AutomaticRig, AutomaticWeights, automatic_rig, automatic_weights
from understudy.errors import InvalidInput
from understudy.maths import transform


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
