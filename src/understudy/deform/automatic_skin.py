"""Automatic skins of characters: new weights for the skeleton that is there, or a new skeleton where there is none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from understudy.character import Asset, Character, Part, Skeleton, Skin, kinematics
from understudy.checks import Array
from understudy.deform.example_files import bind_space
from understudy.deform.rigging import AutomaticRig, AutomaticWeights, automatic_rig, automatic_weights
from understudy.errors import InvalidInput
from understudy.maths import transform


@dataclass(frozen=True, eq=False)
class AutomaticSkin:
    """The character with its new skin, how the weights were found, and the rig where that is new as well."""

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
    """Weights for the skeleton of `character`, or with a `template`, or where it has but one joint, a new skeleton.

    Parts that hang rigidly on a joint of a skeleton with skinned parts stay so unless `rigid` asks for all.
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
    skinned = Character(character.name, character.skeleton, parts, character.bones)
    return AutomaticSkin(skinned, weights, None, (*notes, *weights.notes))


def _build_rig(
    character: Character,
    template: str | None,
    facing: str | None,
    influences: int,
    progress: Callable[[int, int], None] | None,
) -> AutomaticSkin:
    """A new skeleton for the mesh as it stands at rest."""
    spaces, vertices, triangles = rest_geometry(character)
    rig = automatic_rig(vertices, triangles, template, facing, progress)
    weights = automatic_weights(vertices, triangles, rig.binds, rig.parents, rig.names, influences=influences)
    moved = np.where(rig.parents[:, None] >= 0, rig.places[rig.parents], 0.0)
    skeleton = Skeleton(rig.names, rig.parents, rig.places - moved)
    joints, back = np.arange(len(rig.names)), transform.invert(rig.binds)
    parts, first = [], 0
    for part, space in zip(character.parts, spaces):
        last = first + len(part.mesh.vertices)
        skin = Skin(joints, back @ space, weights.joints[first:last], weights.weights[first:last])
        parts.append(Part(part.name, part.mesh, skin))
        first = last
    rigged = Character(character.name, skeleton, parts)
    return AutomaticSkin(rigged, weights, rig, (*rig.notes, *weights.notes))


def rest_geometry(character: Character) -> tuple[list[Array], Array, Array]:
    """world_from_mesh (4, 4) of each part, and all vertices (V, 3) and triangles (T, 3) in the world.

    Skinned parts are taken as they were bound, all in one pose: that of the skeleton is forgotten with the skeleton.
    Where that was in the world, joints that have moved since do not agree; the one that is nearest to all is believed.
    """
    whole = bind_space(character, rigid=True)
    skeleton = character.skeleton
    rest = kinematics.world_transforms(skeleton.parents, skeleton.translations, skeleton.rotations, skeleton.scales)
    joints, weights = whole.artist_weights()
    carried = np.bincount(joints.ravel(), weights.ravel(), len(whole.joints))
    told = rest[whole.joints] @ transform.invert(whole.binds)  # world_from_bound, if its joint has not moved
    apart = np.abs(told[:, None, :3] - told[None, :, :3]).sum(axis=(2, 3)) @ carried
    world = told[int(np.where(carried > 0, apart, np.inf).argmin())]
    return [world @ space for space in whole.spaces], transform.apply(world, whole.vertices), whole.triangles


def automatic_asset(asset: Asset, found: AutomaticSkin, source: Character) -> Asset:
    """The asset with the new character in place of `source`; animations stay where its skeleton did."""
    characters = [found.character if each is source else each for each in asset.characters]
    if found.rig is not None:
        return Asset(characters, (), (), asset.notes, asset.format)
    return Asset(characters, asset.clips, asset.curves, asset.notes, asset.format)
