"""Body: how heavy the links of a character are, where their weight lies, and where it may touch the floor.

Masses, centres and inertias are all that momenta and forces of a whole body need (section 5.1 of Yamane 2010); contact
points are what may stand on the floor (5.2), typically toes and heels.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from understudy import checks
from understudy.character import Character, kinematics
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.maths import transform
from understudy.retarget.capsules import capsule_moments
from understudy.retarget.contact_points import find_contacts
from understudy.retarget.volumes import link_moments


@dataclass(frozen=True, eq=False)
class ContactPoint:
    """A point of a character that may stand on the floor."""

    name: str
    joint: int
    offset: Array  # (3,) in the joint's frame, metres

    def __post_init__(self) -> None:
        object.__setattr__(self, "joint", int(self.joint))
        object.__setattr__(self, "offset", checks.array(self.offset, f"offset of contact {self.name!r}", (3,)))


@dataclass(frozen=True, eq=False)
class Body:
    """The weight of each joint's link, and the points that may touch the floor. A link without volume has no mass."""

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
        """Kilograms in all."""
        return float(self.masses.sum())

    @property
    def names(self) -> tuple[str, ...]:
        """(K,) the names of the contact points."""
        return tuple(contact.name for contact in self.contacts)

    def contact_positions(self, world: Array) -> Array:
        """(F, K, 3) the contact points in the world, of world_from_joint (F, J, 4, 4)."""
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
    """The body of a character from the volume of its skin, or of round bones where it has none; kg and metres.

    Contact points are given, or found: toe and heel of what stands on the floor at rest.
    """
    density = checks.positive(density, "density")
    moments = link_moments(character)
    if moments[:, 3, 3].sum() <= 0:
        moments = capsule_moments(character)
    if contacts is None:
        contacts = [ContactPoint(*found) for found in find_contacts(character)]
    return body_from_moments(character, density * moments, contacts)


def body_from_moments(character: Character, moments: Array, contacts: Iterable[ContactPoint]) -> Body:
    """The body with moments (J, 4, 4) int X X^T dm over each link at rest, X = (x, y, z, 1) in the world."""
    s = character.skeleton
    world = kinematics.world_transforms_numpy(s.parents, s.translations, s.rotations, s.scales)
    masses = moments[:, 3, 3]
    some = np.where(masses > 0, masses, 1.0)
    places = np.where(masses[:, None] > 0, moments[:, :3, 3] / some[:, None], world[:, :3, 3])
    central = moments[:, :3, :3] - np.einsum("j,ja,jb->jab", masses, places, places)
    axes = np.linalg.inv(world[:, :3, :3])  # with the scale: rigs that are made in centimetres have one of 0.01 or 100
    central = axes @ central @ np.swapaxes(axes, 1, 2)
    inertias = np.trace(central, axis1=1, axis2=2)[:, None, None] * np.eye(3) - central
    inertias[masses <= 0] = 0.0
    centres = transform.apply(transform.invert(world), places)
    return Body(masses, centres, inertias, contacts)
