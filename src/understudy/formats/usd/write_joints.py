"""How a skeleton and its skins become UsdSkel joints: paths, rest and bind transforms, and helper joints.

Two things do not fit UsdSkel as they are, and a helper joint below the joint holds each of them exactly:

*Scale.* SkelAnimation stores scales as half floats (11 bits: 0.01 comes out 2e-4 wrong), rest transforms as doubles. A
joint that moves and whose scale never changes is therefore split: the joint itself translates and turns with scale 1,
and a helper below it, which no animation names, carries the scale in its rest transform:

    W_joint = W_parent T R S   becomes   W_upper = W_parent T R,   W_helper = W_upper S

Children and skins hang on the helper. A scale that does change over time is written as half floats for others, and in
full as the custom attribute `understudy:scales` of the SkelAnimation, which our reader prefers.

*Binds.* UsdSkel has one bind transform B for each joint and one geomBindTransform G for each mesh, in place of an
inverse bind matrix I for each joint and skin:  I = B^-1 G. A skin whose I agree with the B chosen before takes the G
that makes them so; where they do not agree for a joint, a helper below it, resting at the identity, has a bind
transform of its own.

The names of helpers are listed in the Skeleton's customData (`understudy:helpers`), and our reader folds them back.

*Rest.* A matrix gives back rotation and scale only to the rounding of float32 quaternions (1e-7), which a scale of
300 turns into 3e-5. Both are kept beside it in customData (`understudy:rest`), and our reader prefers them.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from pxr import UsdSkel, Vt

from understudy.character import Character, Skeleton, Skin, kinematics
from understudy.checks import Array
from understudy.formats.usd.notes import Notes
from understudy.formats.usd.write_names import Names
from understudy.formats.usd.write_poses import Poses
from understudy.maths import transform

SAME_SCALE = 1e-7  # relative: two float32 neighbours
SAME_BIND = 1e-9  # what products and inverses of double matrices leave; float32 matrices that differ do so by 1e-7


@dataclass
class Bound:
    """How one mesh is bound: places in the joint list of the Skeleton, and its geomBindTransform."""

    places: list[int]  # (B,)
    geometry: Array  # (4, 4)


@dataclass
class Plan:
    """The joint list of a Skeleton prim: `upper[j]` is the place of what is animated for joint j, and `carrier[j]` of
    what stands where joint j does (the same, or the helper with its scale).
    """

    paths: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    rest: list[Array] = field(default_factory=list)
    binds: list[Array | None] = field(default_factory=list)
    helpers: list[str] = field(default_factory=list)
    upper: list[int] = field(default_factory=list)
    carrier: list[int] = field(default_factory=list)

    def add(self, path: str, name: str, rest: Array) -> int:
        """One more joint; returns its place."""
        self.paths.append(path)
        self.names.append(name)
        self.rest.append(rest)
        self.binds.append(None)
        return len(self.paths) - 1

    def add_helper(self, above: int, ending: str, rest: Array) -> int:
        """A helper below a joint."""
        last = self.paths[above].rsplit("/", 1)[-1]
        path = f"{self.paths[above]}/{self._names.new(f'{last}_{ending}')}"
        self.helpers.append(path)
        return self.add(path, self._shown.new(f"{self.names[above]}_{ending}"), rest)

    def __post_init__(self) -> None:
        self._names, self._shown = Names(), Names()


def plan(skeleton: Skeleton, animations: list[Poses]) -> Plan:
    """The joints of a Skeleton prim, before any mesh is bound."""
    result = Plan()
    for name in skeleton.names:
        result._shown.new(name)
    stretched = stretched_joints(skeleton, animations)
    for joint, name in enumerate(skeleton.names):
        parent = int(skeleton.parents[joint])
        last = result._names.new(name)
        path = last if parent < 0 else f"{result.paths[result.carrier[parent]]}/{last}"
        own = transform.compose(skeleton.translations[joint], skeleton.rotations[joint])
        scale = np.diag([*skeleton.scales[joint], 1.0])
        place = result.add(path, name, own if joint in stretched else own @ scale)
        result.upper.append(place)
        result.carrier.append(result.add_helper(place, "scale", scale) if joint in stretched else place)
    return result


def stretched_joints(skeleton: Skeleton, animations: list[Poses]) -> set[int]:
    """The joints that some animation moves, and whose scale never changes but is not a half float."""
    values: dict[int, list[Array]] = {}
    for poses in animations:
        for place, joint in enumerate(poses.joints):
            values.setdefault(int(joint), []).append(poses.tracks["scale"].values[:, place])
    result = set()
    for joint, found in values.items():
        rest = skeleton.scales[joint]
        scales = np.concatenate([rest[None], *found])
        constant = (np.abs(scales - rest) <= SAME_SCALE * np.abs(rest)).all()
        if constant and (rest != 0).all() and not is_half(rest):
            result.add(joint)
    return result


def is_half(values: Array) -> bool:
    """Whether half floats hold the values as well as float32 does."""
    single = np.asarray(values, np.float32)
    with np.errstate(over="ignore"):
        return bool((single.astype(np.float16).astype(np.float32) == single).all())


def bind(plan: Plan, character: Character, notes: Notes) -> dict[int, Bound]:
    """Bind transforms for all joints of the plan, and how each part (by number) is bound; parts may be left out."""
    result: dict[int, Bound] = {}
    seen: dict[bytes, Bound] = {}
    for number, part in enumerate(character.parts):
        if part.skin.is_rigid:
            continue
        key = part.skin.joints.tobytes() + part.skin.inverse_binds.tobytes()
        if key not in seen:
            if (np.abs(transform.determinant(part.skin.inverse_binds)) < 1e-30).any():
                notes.add(f"part {part.name} is bound by matrices without an inverse, which USD cannot hold: left out")
                continue
            seen[key] = _bind_skin(plan, part.skin)
        result[number] = seen[key]
    _bind_the_rest(plan, character)
    for number, part in enumerate(character.parts):
        if part.skin.is_rigid:
            place = plan.carrier[int(part.skin.joints[0])]
            own = plan.binds[place]
            assert own is not None  # _bind_the_rest left none open
            result[number] = Bound([place], own)
    return result


def _bind_skin(plan: Plan, skin: Skin) -> Bound:
    """Take the binds that fit, set those still open, and add helpers where a joint is bound otherwise already."""
    places = [plan.carrier[int(joint)] for joint in skin.joints]
    inverse = transform.invert(skin.inverse_binds)
    geometry = _geometry(plan, skin, places)
    for b, place in enumerate(places):
        wanted, own = geometry @ inverse[b], plan.binds[place]
        if own is None:
            plan.binds[place] = wanted
        elif np.abs(own - wanted).max() > SAME_BIND * max(1.0, np.abs(wanted).max()):
            places[b] = plan.add_helper(place, "bind", np.eye(4))
            plan.binds[places[b]] = wanted
    return Bound(places, geometry)


def _geometry(plan: Plan, skin: Skin, places: list[int]) -> Array:
    """The geomBindTransform G = B I under which most joints keep the bind that they have; the identity at first."""
    best, most = np.eye(4), -1
    bound = [(b, own) for b, place in enumerate(places) if (own := plan.binds[place]) is not None]
    candidates = [np.eye(4), *(own @ skin.inverse_binds[b] for b, own in bound[:4])]
    for geometry in candidates:
        gaps = [np.abs(own @ skin.inverse_binds[b] - geometry).max() for b, own in bound]
        fit = sum(gap <= SAME_BIND * max(1.0, np.abs(geometry).max()) for gap in gaps)
        if fit > most and abs(transform.determinant(geometry)) > 1e-30:
            best, most = geometry, fit
    return best


def _bind_the_rest(plan: Plan, character: Character) -> None:
    """Joints that no skin binds are bound where they rest; at the identity where that has no inverse."""
    skeleton = character.skeleton
    world = kinematics.world_transforms(skeleton.parents, skeleton.translations, skeleton.rotations, skeleton.scales)
    for joint, (upper, carrier) in enumerate(zip(plan.upper, plan.carrier)):
        for place in {upper, carrier}:
            if plan.binds[place] is None:
                flat = abs(transform.determinant(world[joint])) < 1e-30
                plan.binds[place] = np.eye(4) if flat else world[joint]


def author(plan: Plan, skeleton: UsdSkel.Skeleton, character: Character) -> None:
    """Write the joint list."""
    source, bones = character.skeleton, character.bones
    skeleton.CreateJointsAttr(Vt.TokenArray(plan.paths))
    skeleton.CreateJointNamesAttr(Vt.TokenArray(plan.names))
    skeleton.CreateRestTransformsAttr(matrices(np.array(plan.rest)))
    skeleton.CreateBindTransformsAttr(matrices(np.array(plan.binds)))
    prim = skeleton.GetPrim()
    rest = np.concatenate([np.array(plan.upper).reshape(-1, 1), source.rotations, source.scales], axis=1)
    prim.SetCustomDataByKey("understudy:rest", Vt.DoubleArray(rest.ravel().tolist()))
    if plan.helpers:
        prim.SetCustomDataByKey("understudy:helpers", Vt.StringArray(plan.helpers))
    if bones is not None:
        prim.SetCustomDataByKey("understudy:bones", Vt.IntArray([plan.carrier[int(b)] for b in bones]))


def matrices(value: Array) -> Vt.Matrix4dArray:
    """(N, 4, 4) for column vectors as USD's, which are for rows."""
    return Vt.Matrix4dArray.FromNumpy(np.ascontiguousarray(np.swapaxes(value, -1, -2), np.float64))
