"""Body mass: how heavy the links of a character are, where their mass lies, and where it may touch the floor.

Masses, centres and inertias are all that momenta and forces of a whole body need (section 5.1 of Yamane 2010); contact
points are those that may be in contact with the floor (5.2), typically toes and heels. Masses come from the volume of
the skin (`volume`).

Capsules give the volume of a skeleton without a mesh, as of a BVH file: round bones, thick in the trunk, tapering along
the limbs. Thicknesses are about those of people, for whom half of the mass is then in the trunk, a sixth in each leg
and a twentieth in each arm. Momenta are scaled by mass (5.1), so only the distribution matters.

Area masses are a cheaper centre of mass for editing, a weighted sum of points on the joints. A skin has no reliable
volume there (eyes, clothes and teeth are sheets), so each joint has the mass of its part of the surface, at the middle
of that part. A skeleton without a skin has the masses of its bones' lengths, at their middles.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from understudy import checks
from understudy.character import Character, Skeleton, kinematics
from understudy.character.body.feet import find_contacts
from understudy.character.body.limbs import limbs_of, links_of
from understudy.character.body.poses import PoseSequence
from understudy.character.body.volume import link_moments
from understudy.character.rig import PosedRig
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.maths import transform, vector

MIN_MASS_SHARE = 0.005  # of the whole: lighter joints (fingers, lids) shift the centre by less than they cost
TRUNK_RADIUS_SIZE_RATIO, HEAD_RADIUS_SIZE_RATIO = 0.09, 0.07  # radius over the size of the body
# Radius over the length of the limb, where it begins and where it ends.
LIMB_START_RADIUS_RATIO, LIMB_END_RADIUS_RATIO = 0.075, 0.045


@dataclass(frozen=True, eq=False)
class ContactPoint:
    """A point of a character that may be in contact with the floor."""

    name: str
    joint: int
    offset: Array  # (3,) in the joint's frame, metres

    def __post_init__(self) -> None:
        object.__setattr__(self, "joint", int(self.joint))
        object.__setattr__(self, "offset", checks.array(self.offset, f"offset of contact {self.name!r}", (3,)))


@dataclass(frozen=True, eq=False)
class Body:
    """The mass of each joint's link, and the points that may touch the floor. A link without volume has no mass."""

    masses: Array  # (J,) kg
    centres: Array  # (J, 3) in the joint's frame, metres
    inertias: Array  # (J, 3, 3) about the centre, along the joint's axes and in its units, as the centres
    contacts: tuple[ContactPoint, ...] = ()

    def __init__(self, masses: Any, centres: Any, inertias: Any, contacts: Iterable[ContactPoint] = ()) -> None:
        masses = checks.array(masses, "masses", ("J",))
        count = len(masses)
        contacts = tuple(contacts)
        object.__setattr__(self, "masses", masses)
        object.__setattr__(self, "centres", checks.array(centres, "centres of mass", (count, 3)))
        object.__setattr__(self, "inertias", checks.array(inertias, "inertias", (count, 3, 3)))
        object.__setattr__(self, "contacts", contacts)
        checks.unique_names((contact.name for contact in contacts), "contact points")
        checks.indices(np.array([c.joint for c in contacts], np.int64), "joints of contact points", count)
        if masses.min(initial=0.0) < 0 or masses.sum() <= 0:
            raise InvalidInput(f"masses should not be negative and not all zero, but sum to {masses.sum():.3g} kg")

    def __len__(self) -> int:
        return len(self.masses)

    def __repr__(self) -> str:
        return f"Body({self.mass:.3g} kg on {len(self)} joints, {len(self.contacts)} contacts)"

    @property
    def mass(self) -> float:
        """The whole mass, kilograms."""
        return float(self.masses.sum())

    @property
    def names(self) -> tuple[str, ...]:
        """(K,) the names of the contact points."""
        return tuple(contact.name for contact in self.contacts)

    def weighted(self, share: Array) -> Body:
        """The body with masses times `share` (J,): 0 for joints that should not count, as those of props."""
        share = np.asarray(share, np.float64)
        return Body(share * self.masses, self.centres, share[:, None, None] * self.inertias, self.contacts)

    def contact_positions(self, world: Array) -> Array:
        """(F, K, 3) the contact points in the world, for world_from_joint (F, J, 4, 4)."""
        joints = np.array([c.joint for c in self.contacts], np.int64)
        offsets = np.array([c.offset for c in self.contacts]).reshape(-1, 3)
        frames = world[:, joints]
        return np.asarray(np.einsum("fkab,kb->fka", frames[..., :3, :3], offsets) + frames[..., :3, 3])

    @property
    def pseudo_inertias(self) -> Array:
        """(J, 4, 4) int X X^T dm with X = (x, y, z, 1) in the joint's frame: mass, first and second moments in one.

        With the second moments S about the centre, the inertia is I = trace(S) 1 - S, so S = trace(I) / 2 1 - I.
        """
        central = 0.5 * np.trace(self.inertias, axis1=1, axis2=2)[:, None, None] * np.eye(3) - self.inertias
        result = np.empty((len(self), 4, 4))
        result[:, :3, :3] = central + np.einsum("j,ja,jb->jab", self.masses, self.centres, self.centres)
        result[:, :3, 3] = result[:, 3, :3] = self.masses[:, None] * self.centres
        result[:, 3, 3] = self.masses
        return result


def body_of(character: Character, *, density: float = 1000.0, contacts: Iterable[ContactPoint] | None = None) -> Body:
    """The body of a character from the volume of its skin, or of capsules where it has none; `density` in kg/m^3.

    `contacts` are by default found: toe and heel of each limb that is on the floor at rest.
    """
    density = checks.positive(density, "density")
    moments = link_moments(character)
    if moments[:, 3, 3].sum() <= 0:
        moments = capsule_moments(character)
    if contacts is None:
        contacts = [ContactPoint(*location) for location in find_contacts(character)]
    return body_from_moments(character, density * moments, contacts)


def body_from_moments(character: Character, moments: Array, contacts: Iterable[ContactPoint]) -> Body:
    """The body with moments (J, 4, 4) int X X^T dm over each link at rest, X = (x, y, z, 1) in the world."""
    s = character.skeleton
    world = kinematics.world_transforms(s.parents, s.translations, s.rotations, s.scales)
    masses = moments[:, 3, 3]
    some = np.where(masses > 0, masses, 1.0)
    places = np.where(masses[:, None] > 0, moments[:, :3, 3] / some[:, None], world[:, :3, 3])
    central = moments[:, :3, :3] - np.einsum("j,ja,jb->jab", masses, places, places)
    axes = np.linalg.inv(world[:, :3, :3])  # with the scale: rigs in centimetres have one of 0.01 or 100
    central = axes @ central @ np.swapaxes(axes, 1, 2)
    inertias = np.trace(central, axis1=1, axis2=2)[:, None, None] * np.eye(3) - central
    inertias[masses <= 0] = 0.0
    centres = transform.apply(transform.invert(world), places)
    return Body(masses, centres, inertias, contacts)


def body_height(body: Body, poses: PoseSequence) -> float:
    """Height at rest, metres, from the lowest to the highest of joints, centres of mass and contact points."""
    rest = PoseSequence.rest(poses.skeleton).world
    centres = transform.apply(rest[0], body.centres)
    points = np.concatenate([rest[0, :, :3, 3], centres[body.masses > 0], body.contact_positions(rest)[0]])
    return float(np.ptp(points[:, 1])) or 1.0


def capsule_moments(body: Character | Skeleton) -> Array:
    """(J, 4, 4) int X X^T dV over round bones at rest, X = (x, y, z, 1) in the world."""
    skeleton = body if isinstance(body, Skeleton) else body.skeleton
    links, limbs = links_of(body), limbs_of(skeleton)
    moments = np.zeros((len(skeleton), 4, 4))
    joints, bones = links.joints, links.bones
    whole = limbs.reach[limbs.top[joints]]
    beyond = np.clip(1 - limbs.reach[joints] / np.maximum(whole, 1e-12), 0.0, 1.0)  # how far down the limb
    radius = np.where(
        limbs.trunk[joints],
        TRUNK_RADIUS_SIZE_RATIO * limbs.size,
        whole * (LIMB_START_RADIUS_RATIO + (LIMB_END_RADIUS_RATIO - LIMB_START_RADIUS_RATIO) * beyond),
    )
    start = links.world[joints, :3, 3]
    head = np.array(["head" in skeleton.names[j].lower() and not limbs.trunk[j] for j in joints])
    # A head is a ball around its bone, with the same moments as a round bone of this radius and length.
    radius = np.where(head, np.sqrt(4 / 5) * HEAD_RADIUS_SIZE_RATIO * limbs.size, radius)
    length = vector.length(bones)
    axis = vector.normalise(bones, otherwise=(0.0, 1.0, 0.0))
    long = np.where(head, np.sqrt(12 / 5) * HEAD_RADIUS_SIZE_RATIO * limbs.size, length)
    volume = np.pi * radius**2 * long
    centre = start + 0.5 * bones
    across = np.eye(3) - axis[:, :, None] * axis[:, None, :]
    second = (radius**2 / 4)[:, None, None] * across
    second += (long**2 / 12)[:, None, None] * axis[:, :, None] * axis[:, None, :]
    moments[joints, :3, :3] = second + centre[:, :, None] * centre[:, None, :]
    moments[joints, :3, 3] = moments[joints, 3, :3] = centre
    moments[joints, 3, 3] = 1.0
    moments[joints] *= volume[:, None, None]
    return moments


def area_masses(rig: PosedRig) -> tuple[Array, Array, Array]:
    """Joints (P,), the centre of the surface on each (P, 3) in the joint's frame, and its share (P,) of the mass."""
    mass, centre = _skin_mass(rig)
    if not mass.sum() > 0:
        mass, centre = _bone_mass(rig)
    if not mass.sum() > 0:
        mass[0] = 1.0
    heavy = np.flatnonzero(mass >= MIN_MASS_SHARE * mass.sum())
    return heavy, centre[heavy], mass[heavy] / mass[heavy].sum()


def _skin_mass(rig: PosedRig) -> tuple[Array, Array]:
    """The area of the surface on each joint (J,), and its middle (J, 3) in the joint's frame."""
    count = len(rig.character.skeleton)
    mass, moment = np.zeros(count), np.zeros((count, 3))
    for part in rig.character.parts:
        vertices, triangles = part.mesh.vertices.astype(float), part.mesh.triangles
        a, b, c = (vertices[triangles[:, i]] for i in range(3))
        third = np.linalg.norm(np.cross(b - a, c - a), axis=1) / 6
        area = np.bincount(triangles.reshape(-1), np.repeat(third, 3), len(vertices))
        share = (area[:, None] * part.skin.weights).reshape(-1)
        bone = part.skin.influences.reshape(-1)
        joint = part.skin.joints[bone]
        homogeneous = np.append(vertices, np.ones((len(vertices), 1)), axis=1)
        width = part.skin.weights.shape[1]
        local = np.einsum("vab,vb->va", part.skin.inverse_binds[bone], np.repeat(homogeneous, width, axis=0))[:, :3]
        mass += np.bincount(joint, share, count)
        for axis in range(3):
            moment[:, axis] += np.bincount(joint, share * local[:, axis], count)
    return mass, moment / np.where(mass > 0, mass, 1.0)[:, None]


def _bone_mass(rig: PosedRig) -> tuple[Array, Array]:
    """The length of the bones that begin at each joint (J,), and their middle (J, 3)."""
    skeleton = rig.character.skeleton
    count = len(skeleton)
    mass, moment = np.zeros(count), np.zeros((count, 3))
    for j, parent in enumerate(skeleton.parents):
        if parent >= 0:
            length = float(np.linalg.norm(skeleton.translations[j]))
            mass[parent] += length
            moment[parent] += length * skeleton.translations[j] / 2
    return mass, moment / np.where(mass > 0, mass, 1.0)[:, None]
