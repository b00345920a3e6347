"""From spheres to a skeleton: joints between the key joints, then all of them moved to where they fit best.

The joints between two key joints are put on the path between their spheres, as far along as the template has them. Then
(Baran and Popovic 2007, section 3.4, with our own terms) the sum of

    shallow    a bone should run deep: (1 - depth at its samples / the depth of the deepest sphere near it)^2
    length     bones keep the share of their path that the template gives them
    stay       key joints stay near their spheres
    mirror     the two sides are alike, where the mesh is

is minimised over all joints at once.
"""

from __future__ import annotations

import numpy as np

from understudy.checks import Array
from understudy.deform.rigging.embedding import FOOT_HEIGHT_RATIO, Embedding, MedialSpheres
from understudy.deform.rigging.template import Template
from understudy.maths import vector

SHALLOW_WEIGHT, LENGTH_WEIGHT, STAY_WEIGHT, MIRROR_WEIGHT = 0.4, 1.0, 2.0, 4.0  # of the terms
SAMPLES_PER_BONE = 6  # of the depth
MAX_ITERATIONS = 60  # of L-BFGS


def unfold_skeleton(template: Template, embedding: Embedding, medial: MedialSpheres, wanted: Array) -> Array:
    """(J, 3) all joints: key joints at their spheres, the others along the paths between them."""
    places = np.zeros((len(template), 3))
    for joint, sphere in embedding.sphere_of.items():
        places[joint] = medial.centres[sphere]
    for joint in embedding.sphere_of:
        above = template.key_ancestor(joint)
        if above < 0:
            continue
        chain = [joint]
        while template.parents[chain[-1]] != above:
            chain.append(int(template.parents[chain[-1]]))
        path = smooth_path(medial.path(embedding.sphere_of[above], embedding.sphere_of[joint]))
        if not len(template.children[joint]):
            path = extend_to_skin(path, medial, template.places[joint, 1] < FOOT_HEIGHT_RATIO)
            places[joint] = path[-1]
        ideal = wanted[[above, *chain[::-1]]]
        share = np.cumsum(vector.length(np.diff(ideal, axis=0)))
        for between, part in zip(chain[:0:-1], share[:-1] / max(share[-1], 1e-12)):
            places[between] = point_on_path(path, float(part))
    return places


def extend_to_skin(path: Array, medial: MedialSpheres, stands: bool) -> Array:
    """The path (n, 3) to an end, extended to the skin, or for a foot (`stands`) down to the sole.

    Spheres end a radius before.
    """
    onward = np.array([0.0, -1.0, 0.0]) if stands or len(path) < 2 else vector.normalise(path[-1] - path[-2])
    far = medial.solid.reach(path[-1], onward, 2 * float(medial.radii.max()))
    return np.concatenate([path, [path[-1] + far * onward]]) if far > 0 else path


def smooth_path(path: Array, rounds: int = 3) -> Array:
    """The path (n, 3) without the corners of the graph; its ends stay."""
    result = path.copy()
    for _ in range(rounds):
        result[1:-1] = 0.25 * result[:-2] + 0.5 * result[1:-1] + 0.25 * result[2:]
    return result


def point_on_path(path: Array, share: float) -> Array:
    """(3,) the point at a share of the length of a path (n, 3)."""
    if len(path) == 1:
        return path[0]
    distance = np.concatenate([[0], np.cumsum(vector.length(np.diff(path, axis=0)))])
    return np.array([np.interp(share * distance[-1], distance, path[:, i]) for i in range(3)])


def refine_joints(template: Template, start: Array, medial: MedialSpheres, middle: float | None) -> Array:
    """(J, 3) the joints of `start` (J, 3) moved; `middle` is the x of the mesh's plane of symmetry, if it has one."""
    from scipy.optimize import minimize

    first = start
    if middle is not None:
        first = 0.5 * (start + start[template.mirror] * [-1, 1, 1] + [2 * middle, 0, 0])
    cost = RefinementCost(template, start, medial, middle)
    result = minimize(cost, first.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": MAX_ITERATIONS})
    better = np.isfinite(result.fun) and result.fun <= cost(first.ravel())[0]
    return np.asarray(result.x).reshape(-1, 3) if better else first


class RefinementCost:
    """The sum above and its gradient, of all joints in one row (3 J,)."""

    def __init__(self, template: Template, start: Array, medial: MedialSpheres, middle: float | None) -> None:
        self.start, self.medial, self.middle, self.mirror = start, medial, middle, template.mirror
        self.unit = 0.1 * (float(np.linalg.norm(np.ptp(medial.centres, axis=0))) or 1.0)
        self.child = np.flatnonzero(template.parents >= 0)
        self.parent = template.parents[self.child]
        bone = start[self.child] - start[self.parent]
        self.length = np.maximum(vector.length(bone), 1e-2 * self.unit)
        self.deepest = np.maximum(_deepest(medial, start[self.child], start[self.parent]), medial.solid.step)[:, None]
        self.share = (np.arange(SAMPLES_PER_BONE) + 0.5) / SAMPLES_PER_BONE
        self.stay = np.where(np.isin(np.arange(len(template)), template.keys), 1.0, 0.1)[:, None]

    def __call__(self, flat: Array) -> tuple[float, Array]:
        """The cost, and its gradient (3 J,)."""
        x = flat.reshape(-1, 3)
        gradient = np.zeros_like(x)
        bone = x[self.child] - x[self.parent]
        count = len(bone)
        # shallow
        s = self.share[:, None]
        depth, slope = self.medial.depth_and_slope(x[self.parent, None] + s * bone[:, None])
        lack = np.maximum(1 - depth / self.deepest, 0)
        pull = (-2 * SHALLOW_WEIGHT / (count * SAMPLES_PER_BONE)) * (lack / self.deepest)[..., None] * slope
        np.add.at(gradient, self.child, (s * pull).sum(axis=1))
        np.add.at(gradient, self.parent, ((1 - s) * pull).sum(axis=1))
        total = SHALLOW_WEIGHT * float((lack**2).mean())
        # length
        length = np.maximum(vector.length(bone), 1e-3 * self.unit)
        stretch = np.log(length / self.length)
        pull = (2 * LENGTH_WEIGHT / count * stretch / length**2)[:, None] * bone
        np.add.at(gradient, self.child, pull)
        np.add.at(gradient, self.parent, -pull)
        total += LENGTH_WEIGHT * float((stretch**2).mean())
        # stay
        off = (x - self.start) / self.unit
        total += STAY_WEIGHT * float((self.stay * off**2).sum()) / len(x)
        gradient += 2 * STAY_WEIGHT / len(x) / self.unit * self.stay * off
        if self.middle is not None:
            # x - twin(x) of a joint and of its twin are mirror images: both contribute equally, hence 4 and not 2
            apart = (x - (x[self.mirror] * [-1, 1, 1] + [2 * self.middle, 0, 0])) / self.unit
            total += MIRROR_WEIGHT * float((apart**2).sum()) / len(x)
            gradient += 4 * MIRROR_WEIGHT / len(x) / self.unit * apart
        return total, gradient.ravel()


def _deepest(medial: MedialSpheres, ends: Array, starts: Array) -> Array:
    """(N,) the radius of the largest sphere around the middle of each bone."""
    middle = 0.5 * (ends + starts)
    reach = 0.5 * vector.length(ends - starts)[:, None] + medial.solid.step
    far = np.linalg.norm(medial.centres[None] - middle[:, None], axis=-1)
    return np.where(far < np.maximum(reach, medial.radii), medial.radii, 0).max(axis=1)
