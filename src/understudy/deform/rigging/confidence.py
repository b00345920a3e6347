"""How far a rig can be trusted, joint by joint and as a whole, from 0 to 1, with the reasons in words."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from understudy.checks import Array
from understudy.deform.rigging.embedding import STANDING
from understudy.deform.rigging.medial import Medial
from understudy.deform.rigging.template import Template
from understudy.maths import linear

SAMPLES = 12  # along a bone
DOUBTFUL = 0.5  # below this a joint is named
GROUNDED = 0.1  # of the height: the middle of a foot that stands is below
COVERED = 1.6  # radii of the limb within which a bone moves it


@dataclass(frozen=True, eq=False)
class Confidence:
    """A number for the whole and one a joint; what each is made of."""

    overall: float
    joints: Array  # (J,)
    inside: float  # share of the bones' length that is inside the mesh
    covered: float  # share of the mesh that has a bone in its middle
    likeness: float  # how like the template's its directions and lengths are
    distinct: float  # share of the limbs that have a part of the mesh for themselves
    standing: float  # how far feet are on the ground
    notes: tuple[str, ...] = ()

    def only(self, which: Array) -> Confidence:
        """Of some of the joints."""
        return replace(self, joints=self.joints[which])


def confidence_of(template: Template, places: Array, medial: Medial, wanted: Array, cost: float) -> Confidence:
    """Of joints at `places` (J, 3), of which the template's box has them at `wanted` (J, 3)."""
    size = float(np.linalg.norm(np.ptp(wanted, axis=0)))
    child = np.flatnonzero(template.parents >= 0)
    parent = template.parents[child]
    share = (np.arange(SAMPLES) + 0.5) / SAMPLES
    bone, ideal = places[child] - places[parent], wanted[child] - wanted[parent]
    length = np.maximum(linear.length(bone), 1e-6 * size)
    samples = places[parent, None] + share[:, None] * bone[:, None]
    within = medial.solid.contains(samples).mean(axis=1)
    cosine = linear.dot(linear.normalise(bone), linear.normalise(ideal))
    usual = np.maximum(linear.length(ideal), 0.03 * size)
    stretch = np.exp(-0.5 * (np.log(np.maximum(length, 0.01 * size) / usual) / 1.0) ** 2)
    alike = stretch * (0.5 + 0.5 * cosine) ** 0.5
    joints = np.ones(len(template))
    joints[child] = within * alike
    inside = float((within * length).sum() / length.sum())
    covered = coverage(medial, samples.reshape(-1, 3))
    likeness = float((alike * usual).sum() / usual.sum())
    distinct, standing = distinctness(template, places, medial), stance(template, places, medial)
    like = likeness * distinct * standing * np.exp(-max(cost - 0.5, 0.0))
    overall = float(np.clip(inside**2 * covered**1.5 * like, 0, 1))
    notes = []
    doubtful = [template.names[j] for j in np.flatnonzero(joints < DOUBTFUL) if not template.tips[j]]
    if doubtful:
        shown = ", ".join(doubtful[:6]) + (f" and {len(doubtful) - 6} more" if len(doubtful) > 6 else "")
        notes.append(f"look at {shown}: unlike the template, or not inside the mesh")
    if overall < DOUBTFUL:
        notes.append(f"confidence {overall:.2f} is low; another template or facing may fit better")
    return Confidence(overall, joints, inside, covered, likeness, distinct, standing, tuple(notes))


def distinctness(template: Template, places: Array, medial: Medial) -> float:
    """The share of the limbs' outer halves that no other limb runs through: two legs in one are no two legs."""
    from scipy.spatial import cKDTree

    limbs = []
    for tip in np.flatnonzero([not len(children) for children in template.children]):
        chain = [int(tip)]
        while chain[-1] != template.above(int(tip)):
            chain.append(int(template.parents[chain[-1]]))
        limbs.append(polyline(places[chain], np.linspace(0, 0.5, SAMPLES)))
    if len(limbs) < 2:
        return 1.0
    alone = []
    for i, limb in enumerate(limbs):
        others = np.concatenate([other for k, other in enumerate(limbs) if k != i])
        depth, _ = medial.depth_and_slope(limb)
        alone.append((cKDTree(others).query(limb)[0] > depth + medial.solid.step).mean())
    return float(np.mean(alone))


def polyline(corners: Array, shares: Array) -> Array:
    """(n, 3) the places at shares (n,) of the length of a line through corners (k, 3)."""
    gone = np.concatenate([[0], np.cumsum(linear.length(np.diff(corners, axis=0)))])
    return np.stack([np.interp(shares * gone[-1], gone, corners[:, i]) for i in range(3)], axis=1)


def stance(template: Template, places: Array, medial: Medial) -> float:
    """1 where all feet are on the ground, less by how much of the height they miss it; 1 for what has no feet."""
    feet = np.flatnonzero([not len(c) and template.places[j, 1] < STANDING for j, c in enumerate(template.children)])
    if not len(feet):
        return 1.0
    low, high = (medial.centres[:, 1] + sign * medial.radii for sign in (-1, 1))
    height = max(float(high.max() - low.min()), 1e-12)
    missed = np.maximum((places[feet, 1] - low.min()) / height - GROUNDED, 0)
    return float(np.exp(-((missed / GROUNDED) ** 2)).mean())


def coverage(medial: Medial, samples: Array) -> float:
    """The share of the mesh, by its spheres, that a bone runs through."""
    from scipy.spatial import cKDTree

    far, _ = cKDTree(samples).query(medial.centres)
    weight = medial.radii**2
    return float((weight * (far < COVERED * medial.radii + 2 * medial.solid.step)).sum() / weight.sum())
