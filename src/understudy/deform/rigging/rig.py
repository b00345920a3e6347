"""Automatic rigging: a template's skeleton inside a mesh, with a confidence.

Feet are counted first: what the mesh stands on in pairs speaks for templates with as many feet, and tells where along
the body their legs are, which necks and tails hide. A mesh is upright (Y up). Its facing is found by trying four
directions, or given; its template likewise. The confidence, joint by joint and as a whole, is from 0 to 1, and notes
give the reasons.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from understudy import checks
from understudy.checks import Array
from understudy.deform.rigging.embedding import MedialSpheres, ShortestPaths, embed, fit_to_box
from understudy.deform.rigging.refine import refine_joints, unfold_skeleton
from understudy.deform.rigging.surface import VoxelSolid, WeldedSurface
from understudy.deform.rigging.template import FOOT_HEIGHT_RATIO, TEMPLATES, Template, find_template
from understudy.errors import InvalidInput
from understudy.maths import vector

SAMPLES_PER_BONE = 12
MIN_CONFIDENCE = 0.5  # below this a note names the joint
# Below this a note warns of the whole. Of the 35 real meshes that it was chosen on, all 17 above have the right kind;
# of the 18 below half do, and the others are of a kind without a template or got another.
WARNED_CONFIDENCE = 0.65
GROUNDED_HEIGHT_RATIO = 0.1  # of the height: the middle of a foot on the ground is below
COVERED_RADIUS_RATIO = 1.6  # radii of the limb within which a bone moves it
QUARTER_TURNS = {"+z": 0, "+x": 1, "-z": 2, "-x": 3}  # facing -> quarter turns from +z towards +x
MIN_SYMMETRY_RATIO = 0.85  # of the cubes, with their mirror image inside as well: a symmetric mesh
CLOSING_VOXEL_TRIALS = (1, 2, 4)  # gaps to be closed, tried until the mesh has an inside
MIN_INSIDE_PER_SHELL_VOXEL = 1.3  # inside cubes for each of the shell, below which a mesh counts as open
FACING_TRIALS = ("+z", "-z", "+x", "-x")
# Cubes along a cube as large as the box, and limits of the number along the longest side: the limbs of a person are
# three cubes wide, and so are the legs of a long animal.
RIG_VOXELS_PER_CUBE, MIN_RIG_VOXELS, MAX_RIG_VOXELS = 32, 48, 108
FORWARD_FACING_PRIOR = 1.4  # of +z over other facings: front and back of a person differ little in shape
PROPORTION_PENALTIES = np.array([0.25, 0.5])  # exponent of a score for a width or depth e times the typical one
EMBEDDING_COST_PENALTY = 3.0  # exponent of a score for a cost of embedding of 1: a cost of 0.1 takes a quarter
MAX_REFINED_CANDIDATES = 4
SOLE_HEIGHT_RATIO = 0.06  # of the height: what is lower stands on the ground
MIN_FOOT_AREA_RATIO = 0.15  # of the largest: smaller marks on the ground are no feet
MAX_PAIR_OFFSET_RATIO = 0.12  # of the box: two feet of a pair may stand so far apart along it
OTHER_FEET_PRIOR = 0.5  # of templates with another number of feet than the mesh stands on
MIN_SPHERES = 4  # a mesh with fewer has no limbs


@dataclass(frozen=True, eq=False)
class Confidence:
    """Confidence of a rig and of its joints, 0 to 1, and the factors it is made of."""

    overall: float
    joints: Array  # (J,)
    inside: float  # share of the bones' length that is inside the mesh
    covered: float  # share of the mesh that has a bone in its middle
    likeness: float  # how like the template's its directions and lengths are
    distinct: float  # share of the limbs that have their own part of the mesh
    standing: float  # how far feet are on the ground
    notes: tuple[str, ...] = ()

    def subset(self, which: Array) -> Confidence:
        """The confidence of some of the joints."""
        return replace(self, joints=self.joints[which])


@dataclass(frozen=True, eq=False)
class AutomaticRig:
    """A skeleton of J joints, parents first, at `places` (J, 3) in the mesh's space."""

    template: str
    facing: str
    names: tuple[str, ...]
    parents: Array  # (J,)
    places: Array  # (J, 3)
    confidence: Confidence
    notes: tuple[str, ...]

    @property
    def binds(self) -> Array:
        """(J, 4, 4) the joints at rest, with the axes of the world."""
        result = np.tile(np.eye(4), (len(self.names), 1, 1))
        result[:, :3, 3] = self.places
        return result


def automatic_rig(
    vertices: Any,
    triangles: Any,
    name: str | None = None,
    facing: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> AutomaticRig:
    """The skeleton of template `name` in a mesh (V, 3), (T, 3) that faces `facing` (+z, -z, +x, -x).

    All templates and facings are tried where not given; the rig with the greatest confidence is returned.
    """
    mesh = checks.array(vertices, "vertices", ("V", 3))
    faces = checks.array(triangles, "triangles", ("T", 3), np.int64)
    checks.indices(faces, "triangles", len(mesh))
    chosen = list(TEMPLATES) if name is None else [find_template(name).name]
    facings = FACING_TRIALS if facing is None else (checks.one_of(facing, "facing", QUARTER_TURNS),)
    surface = WeldedSurface.from_mesh(mesh, faces)
    if len(surface.triangles) < 4 or not surface.size > 0:
        raise InvalidInput(f"a rig needs a mesh with an inside, but this one has {len(surface.triangles)} triangles")
    meshes, candidates = [], []
    for done, direction in enumerate(facings):
        if progress:
            progress(done, len(facings) + 1)
        meshes.append(_TurnedMesh.from_surface(surface, direction))
        candidates += [
            _Candidate.from_template(meshes[-1], variant)
            for template in chosen
            for variant in find_template(template).variants_on(meshes[-1].pairs)
        ]
    if progress:
        progress(len(facings), len(facings) + 1)
    refined = (candidate.refine() for candidate in _best_candidates(candidates))
    ranked = sorted(refined, key=lambda candidate: -candidate.score)
    notes = [f"{ranked[0]} fits best, then {', '.join(map(str, ranked[1:4]))}"] if len(ranked) > 1 else []
    return ranked[0].rig(notes)


def _best_candidates(candidates: list[_Candidate]) -> list[_Candidate]:
    """The best of each template and facing that may still be the best once refined."""
    best: dict[tuple[str, str], _Candidate] = {}
    for candidate in sorted(candidates, key=lambda candidate: candidate.score):
        best[candidate.template.name, candidate.mesh.facing] = candidate
    return sorted(best.values(), key=lambda candidate: -candidate.score)[:MAX_REFINED_CANDIDATES]


@dataclass(frozen=True, eq=False)
class _TurnedMesh:
    """A mesh that faced `facing`, rotated to face +z."""

    facing: str
    points: Array  # (N, 3)
    medial: MedialSpheres
    paths: ShortestPaths
    bulk: Array  # (3,) width, height and depth of nine tenths of it: swords and whiskers do not count
    plane: float | None  # the x of its plane of symmetry, if it has one
    pairs: Array  # (P, 2) its pairs of feet in the box: x of the left one, and z, back to front; none if unclear
    notes: tuple[str, ...]

    @classmethod
    def from_surface(cls, surface: WeldedSurface, facing: str) -> _TurnedMesh:
        points = surface.points @ quarter_turn_matrix(QUARTER_TURNS[facing]).T
        notes: list[str] = []
        medial = MedialSpheres.from_solid(_solid(points, surface.triangles, notes))
        if len(medial.centres) < MIN_SPHERES:
            raise InvalidInput("a rig needs a mesh with an inside, but this one is too thin or too open to have one")
        if medial.pieces > 1:
            notes.append(f"{medial.pieces} pieces stand apart and were linked over the gaps between them")
        middle = 0.5 * float(points[:, 0].min() + points[:, 0].max())
        plane = middle if symmetry(medial.solid, middle) > MIN_SYMMETRY_RATIO else None
        paths = ShortestPaths.from_medial(medial, float(np.linalg.norm(np.ptp(points, axis=0))))
        cubes = np.argwhere(medial.solid.inside) * medial.solid.step
        bulk = np.ptp(np.percentile(cubes, [5, 95], axis=0), axis=0)
        return cls(facing, points, medial, paths, bulk, plane, pairs_of_feet(medial.solid, points), tuple(notes))


@dataclass(frozen=True, eq=False)
class _Candidate:
    """One template in one mesh, not yet refined."""

    mesh: _TurnedMesh
    template: Template
    places: Array  # (J, 3)
    cost: float
    trust: Confidence

    @classmethod
    def from_template(cls, mesh: _TurnedMesh, chosen: Template) -> _Candidate:
        embedding = embed(chosen, mesh.medial, mesh.points, mesh.paths)
        wanted = fit_to_box(chosen, mesh.points)
        places = unfold_skeleton(chosen, embedding, mesh.medial, wanted)
        trust = confidence_of(chosen, places, mesh.medial, wanted, embedding.cost)
        return cls(mesh, chosen, places, embedding.cost, trust)

    @property
    def score(self) -> float:
        """The number by which candidates are compared: the confidence times priors.

        The priors are about meshes in general, so they are no part of the confidence: files that follow glTF face +z,
        and each template has typical proportions.
        """
        prior = self.template.belief * (FORWARD_FACING_PRIOR if self.mesh.facing == "+z" else 1.0)
        width, height, depth = np.maximum(self.mesh.bulk, 1e-9)
        prior *= self.tapering
        if len(self.mesh.pairs) and self.template.feet != 2 * len(self.mesh.pairs):
            prior *= OTHER_FEET_PRIOR
        unlike = np.log([width / height / self.template.width, depth / height / self.template.depth])
        return float(
            self.trust.overall
            * prior
            * np.exp(-(PROPORTION_PENALTIES @ unlike**2) - EMBEDDING_COST_PENALTY * self.cost)
        )

    @property
    def tapering(self) -> float:
        """1, or less where the tail ends thicker than the head: then it may be the head."""
        names = self.template.names
        if "TailTip" not in names:
            return 1.0
        ends = self.places[[names.index("HeadTip"), names.index("TailTip")]]
        medial = self.mesh.medial
        nearest = np.linalg.norm(medial.centres[None] - ends[:, None], axis=-1).argmin(axis=1)
        head, tail = medial.radii[nearest]
        return float(min(1.0, head / tail)) ** 0.5

    def __str__(self) -> str:
        return f"{self.template.name} facing {self.mesh.facing} ({self.trust.overall:.2f})"

    def refine(self) -> _Candidate:
        """A copy with its joints moved to where they fit best."""
        places = refine_joints(self.template, self.places, self.mesh.medial, self.mesh.plane)
        wanted = fit_to_box(self.template, self.mesh.points)
        trust = confidence_of(self.template, places, self.mesh.medial, wanted, self.cost)
        return replace(self, places=places, trust=trust)

    def rig(self, notes: list[str]) -> AutomaticRig:
        """The finished rig, in the space of the mesh as it was given."""
        chosen, mesh = self.template, self.mesh
        kept = np.flatnonzero(~chosen.tips)
        number = {int(joint): i for i, joint in enumerate(kept)}
        return AutomaticRig(
            chosen.name,
            mesh.facing,
            tuple(chosen.names[j] for j in kept),
            checks.freeze(np.array([number.get(int(chosen.parents[j]), -1) for j in kept])),
            checks.freeze(self.places[kept] @ quarter_turn_matrix(QUARTER_TURNS[mesh.facing])),
            self.trust.subset(kept),
            (*notes, *mesh.notes, *self.trust.notes),
        )


def pairs_of_feet(solid: VoxelSolid, points: Array) -> Array:
    """(P, 2) places in the box, x of the left foot and z, back to front, of what a mesh stands on in pairs; or none.

    The lowest cubes are projected on the ground; each connected mark is a foot. All of them should have a partner on
    the other side.
    """
    from scipy import ndimage

    low, high = points.min(axis=0), points.max(axis=0)
    middle, half = 0.5 * (low + high), np.maximum(0.5 * (high - low), 1e-9)
    top = int(np.ceil((low[1] + SOLE_HEIGHT_RATIO * 2 * half[1] - solid.origin[1]) / solid.step))
    marks, count = ndimage.label(solid.inside[:, : max(top, 1)].any(axis=1), np.ones((3, 3)))
    numbers = np.arange(1, count + 1)
    area = ndimage.sum_labels(np.ones(marks.shape), marks, numbers)
    centres = np.array(ndimage.center_of_mass(np.ones(marks.shape), marks, numbers)).reshape(-1, 2)
    feet = (solid.origin[[0, 2]] + (centres + 0.5) * solid.step - middle[[0, 2]]) / half[[0, 2]]
    feet = feet[area >= MIN_FOOT_AREA_RATIO * area.max(initial=0.0)]
    left, right = feet[feet[:, 0] > 0], feet[feet[:, 0] <= 0]
    if not 1 <= len(left) == len(right) <= 2:
        return np.zeros((0, 2))
    left, right = left[np.argsort(left[:, 1])], right[np.argsort(right[:, 1])]
    apart = np.abs(left * [1, 1] + right * [1, -1]) * half[[0, 2]] / half.max()
    if (apart > MAX_PAIR_OFFSET_RATIO).any():
        return np.zeros((0, 2))
    return 0.5 * (left + right * [-1, 1])


def _solid(points: Array, triangles: Array, notes: list[str]) -> VoxelSolid:
    """The inside, with gaps closed as far as needed."""
    sides = np.maximum(np.ptp(points, axis=0), 1e-9)
    along = RIG_VOXELS_PER_CUBE * float(sides.max() / np.cbrt(sides.prod()))
    for closing in CLOSING_VOXEL_TRIALS:
        solid = VoxelSolid.from_surface(
            points, triangles, round(np.clip(along, MIN_RIG_VOXELS, MAX_RIG_VOXELS)), closing
        )
        if solid.inside.sum() > MIN_INSIDE_PER_SHELL_VOXEL * solid.shell.sum():
            break
    else:
        notes.append("the mesh is too open to have an inside; the skeleton follows its skin")
    if closing > CLOSING_VOXEL_TRIALS[0]:
        notes.append(f"gaps of up to {2 * closing * solid.step:.3g} m were closed to find the inside")
    return solid


def quarter_turn_matrix(quarters: int) -> Array:
    """(3, 3) rotation to +z of a mesh whose facing is `quarters` quarter turns from +z towards +x."""
    c, s = [(1, 0), (0, 1), (-1, 0), (0, -1)][quarters]
    return np.array([[c, 0, -s], [0, 1, 0], [s, 0, c]], float)


def symmetry(solid: VoxelSolid, middle: float) -> float:
    """The share of the inside whose mirror image across the plane x = middle is inside as well."""
    cubes = solid.origin + (np.argwhere(solid.inside) + 0.5) * solid.step
    image = cubes * [-1, 1, 1] + [2 * middle, 0, 0]
    return float(solid.contains(image).mean()) if len(cubes) else 0.0


def confidence_of(template: Template, places: Array, medial: MedialSpheres, wanted: Array, cost: float) -> Confidence:
    """The confidence of joints at `places` (J, 3), with the template's own positions `wanted` (J, 3)."""
    size = float(np.linalg.norm(np.ptp(wanted, axis=0)))
    child = np.flatnonzero(template.parents >= 0)
    parent = template.parents[child]
    share = (np.arange(SAMPLES_PER_BONE) + 0.5) / SAMPLES_PER_BONE
    bone, ideal = places[child] - places[parent], wanted[child] - wanted[parent]
    length = np.maximum(vector.length(bone), 1e-6 * size)
    samples = places[parent, None] + share[:, None] * bone[:, None]
    within = medial.solid.contains(samples).mean(axis=1)
    cosine = vector.dot(vector.normalise(bone), vector.normalise(ideal))
    usual = np.maximum(vector.length(ideal), 0.03 * size)
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
    doubtful = [template.names[j] for j in np.flatnonzero(joints < MIN_CONFIDENCE) if not template.tips[j]]
    if doubtful:
        shown = ", ".join(doubtful[:6]) + (f" and {len(doubtful) - 6} more" if len(doubtful) > 6 else "")
        notes.append(f"look at {shown}: unlike the template, or not inside the mesh")
    if overall < WARNED_CONFIDENCE:
        notes.append(f"confidence {overall:.2f} is low: the kind or the facing may be wrong; see --template, --facing")
    return Confidence(overall, joints, inside, covered, likeness, distinct, standing, tuple(notes))


def distinctness(template: Template, places: Array, medial: MedialSpheres) -> float:
    """The share of the limbs' outer halves that no other limb runs through."""
    from scipy.spatial import cKDTree

    limbs = []
    for tip in np.flatnonzero([not len(children) for children in template.children]):
        chain = [int(tip)]
        while chain[-1] != template.key_ancestor(int(tip)):
            chain.append(int(template.parents[chain[-1]]))
        limbs.append(sample_polyline(places[chain], np.linspace(0, 0.5, SAMPLES_PER_BONE)))
    if len(limbs) < 2:
        return 1.0
    alone = []
    for i, limb in enumerate(limbs):
        others = np.concatenate([other for k, other in enumerate(limbs) if k != i])
        depth, _ = medial.depth_and_slope(limb)
        alone.append((cKDTree(others).query(limb)[0] > depth + medial.solid.step).mean())
    return float(np.mean(alone))


def sample_polyline(corners: Array, shares: Array) -> Array:
    """(n, 3) the points at shares (n,) of the length of a line through corners (k, 3)."""
    distance = np.concatenate([[0], np.cumsum(vector.length(np.diff(corners, axis=0)))])
    return np.stack([np.interp(shares * distance[-1], distance, corners[:, i]) for i in range(3)], axis=1)


def stance(template: Template, places: Array, medial: MedialSpheres) -> float:
    """1 where all feet are on the ground, less by the share of the height that they miss it; 1 without feet."""
    feet = np.flatnonzero(
        [not len(c) and template.places[j, 1] < FOOT_HEIGHT_RATIO for j, c in enumerate(template.children)]
    )
    if not len(feet):
        return 1.0
    low, high = (medial.centres[:, 1] + sign * medial.radii for sign in (-1, 1))
    height = max(float(high.max() - low.min()), 1e-12)
    missed = np.maximum((places[feet, 1] - low.min()) / height - GROUNDED_HEIGHT_RATIO, 0)
    return float(np.exp(-((missed / GROUNDED_HEIGHT_RATIO) ** 2)).mean())


def coverage(medial: MedialSpheres, samples: Array) -> float:
    """The share of the mesh, by its spheres, that a bone runs through."""
    from scipy.spatial import cKDTree

    far, _ = cKDTree(samples).query(medial.centres)
    weight = medial.radii**2
    return float((weight * (far < COVERED_RADIUS_RATIO * medial.radii + 2 * medial.solid.step)).sum() / weight.sum())
