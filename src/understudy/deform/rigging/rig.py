"""How far a rig can be trusted, joint by joint and as a whole, from 0 to 1, with the reasons in words.

Automatic rigging: a template's skeleton inside a mesh, with a report of how well it fits.

A mesh stands upright (Y up). Which way it faces is found by trying four ways, or given; which template fits, likewise.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from understudy import checks
from understudy.checks import Array
from understudy.deform.rigging.embedding import FOOT_HEIGHT_RATIO, MedialSpheres, ShortestPaths, embed, fit_to_box
from understudy.deform.rigging.refine import refine_joints, unfold_skeleton
from understudy.deform.rigging.surface import VoxelSolid, WeldedSurface
from understudy.deform.rigging.template import TEMPLATES, Template, find_template
from understudy.errors import InvalidInput
from understudy.maths import vector

SAMPLES_PER_BONE = 12  # along a bone
MIN_CONFIDENCE = 0.5  # below this a joint is named
GROUNDED_HEIGHT_RATIO = 0.1  # of the height: the middle of a foot that stands is below
COVERED_RADIUS_RATIO = 1.6  # radii of the limb within which a bone moves it
QUARTER_TURNS = {"+z": 0, "+x": 1, "-z": 2, "-x": 3}
MIN_SYMMETRY_RATIO = 0.85  # of the cubes have their mirror image inside as well
CLOSING_VOXEL_TRIALS = (1, 2, 4)  # cubes, tried until the mesh has an inside
MIN_INSIDE_PER_SHELL_VOXEL = 1.3  # inside cubes for each of the shell, below which a mesh counts as open
FACING_TRIALS = ("+z", "-z", "+x", "-x")
RIG_VOXELS_PER_SIDE = 48  # cubes along the longest side: the limbs of a person are three cubes wide
FORWARD_FACING_PRIOR = 1.4  # front and back of a person differ little in shape: the convention decides
PROPORTION_PENALTIES = np.array(
    [0.25, 0.5]
)  # what a score loses for a width or depth e times the typical one; some sprawl
EMBEDDING_COST_PENALTY = 3.0  # what a cost of embedding takes from a score: 0.1 takes a quarter
MAX_REFINED_CANDIDATES = 4
MIN_SPHERES = 4  # spheres, below which a mesh has no limbs to speak of


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

    def subset(self, which: Array) -> Confidence:
        """Of some of the joints."""
        return replace(self, joints=self.joints[which])


def confidence_of(template: Template, places: Array, medial: MedialSpheres, wanted: Array, cost: float) -> Confidence:
    """Of joints at `places` (J, 3), of which the template's box has them at `wanted` (J, 3)."""
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
    if overall < MIN_CONFIDENCE:
        notes.append(f"confidence {overall:.2f} is low; another template or facing may fit better")
    return Confidence(overall, joints, inside, covered, likeness, distinct, standing, tuple(notes))


def distinctness(template: Template, places: Array, medial: MedialSpheres) -> float:
    """The share of the limbs' outer halves that no other limb runs through: two legs in one are no two legs."""
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
    """(n, 3) the places at shares (n,) of the length of a line through corners (k, 3)."""
    gone = np.concatenate([[0], np.cumsum(vector.length(np.diff(corners, axis=0)))])
    return np.stack([np.interp(shares * gone[-1], gone, corners[:, i]) for i in range(3)], axis=1)


def stance(template: Template, places: Array, medial: MedialSpheres) -> float:
    """1 where all feet are on the ground, less by how much of the height they miss it; 1 for what has no feet."""
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


"""Which way the mesh faces, and by how many quarters it is turned (from +z towards +x)."""


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

    What is not given is tried, and the rig with the greatest confidence wins.
    """
    mesh = checks.array(vertices, "vertices", ("V", 3))
    faces = checks.array(triangles, "triangles", ("T", 3), np.int64)
    checks.indices(faces, "triangles", len(mesh))
    chosen = list(TEMPLATES) if name is None else [find_template(name).name]
    ways = FACING_TRIALS if facing is None else (checks.one_of(facing, "facing", QUARTER_TURNS),)
    surface = WeldedSurface.from_mesh(mesh, faces)
    if len(surface.triangles) < 4 or not surface.size > 0:
        raise InvalidInput(f"a rig needs a mesh with an inside, but this one has {len(surface.triangles)} triangles")
    meshes, found = [], []
    for done, way in enumerate(ways):
        if progress:
            progress(done, len(ways) + 1)
        meshes.append(_TurnedMesh.from_surface(surface, way))
        found += [
            _Candidate.from_template(meshes[-1], variant) for each in chosen for variant in find_template(each).variants
        ]
    if progress:
        progress(len(ways), len(ways) + 1)
    ranked = sorted((each.refine() for each in _best(found)), key=lambda each: -each.score)
    words = [f"{ranked[0]} fits best, then {', '.join(map(str, ranked[1:4]))}"] if len(ranked) > 1 else []
    return ranked[0].rig(words)


def _best(found: list[_Candidate]) -> list[_Candidate]:
    """The best of each template and facing that may still win once they are refined."""
    best: dict[tuple[str, str], _Candidate] = {}
    for each in sorted(found, key=lambda each: each.score):
        best[each.template.name, each.mesh.facing] = each
    return sorted(best.values(), key=lambda each: -each.score)[:MAX_REFINED_CANDIDATES]


@dataclass(frozen=True, eq=False)
class _TurnedMesh:
    """A mesh that faced some way, turned to face +z."""

    facing: str
    points: Array  # (N, 3)
    medial: MedialSpheres
    ways: ShortestPaths
    bulk: Array  # (3,) width, height and depth of nine tenths of it: swords and whiskers do not count
    plane: float | None  # the x of its plane of symmetry, if it has one
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
        ways = ShortestPaths.from_medial(medial, float(np.linalg.norm(np.ptp(points, axis=0))))
        cubes = np.argwhere(medial.solid.inside) * medial.solid.step
        bulk = np.ptp(np.percentile(cubes, [5, 95], axis=0), axis=0)
        return cls(facing, points, medial, ways, bulk, plane, tuple(notes))


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
        embedding = embed(chosen, mesh.medial, mesh.points, mesh.ways)
        wanted = fit_to_box(chosen, mesh.points)
        places = unfold_skeleton(chosen, embedding, mesh.medial, wanted)
        trust = confidence_of(chosen, places, mesh.medial, wanted, embedding.cost)
        return cls(mesh, chosen, places, embedding.cost, trust)

    @property
    def score(self) -> float:
        """By which candidates are compared: files that keep to the convention of glTF face +z; some kinds are long.

        These are beliefs about meshes in general, and no part of the confidence in this one.
        """
        belief = self.template.belief * (FORWARD_FACING_PRIOR if self.mesh.facing == "+z" else 1.0)
        width, height, depth = np.maximum(self.mesh.bulk, 1e-9)
        belief *= self.tapering
        unlike = np.log([width / height / self.template.width, depth / height / self.template.depth])
        return float(
            self.trust.overall
            * belief
            * np.exp(-(PROPORTION_PENALTIES @ unlike**2) - EMBEDDING_COST_PENALTY * self.cost)
        )

    @property
    def tapering(self) -> float:
        """1, or less where a tail ends thicker than the head: then it may be the head."""
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
        """The same with its joints where they fit best."""
        places = refine_joints(self.template, self.places, self.mesh.medial, self.mesh.plane)
        wanted = fit_to_box(self.template, self.mesh.points)
        trust = confidence_of(self.template, places, self.mesh.medial, wanted, self.cost)
        return replace(self, places=places, trust=trust)

    def rig(self, words: list[str]) -> AutomaticRig:
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
            (*words, *mesh.notes, *self.trust.notes),
        )


def _solid(points: Array, triangles: Array, notes: list[str]) -> VoxelSolid:
    """The inside, with gaps closed as far as needed."""
    for closing in CLOSING_VOXEL_TRIALS:
        solid = VoxelSolid.from_surface(points, triangles, RIG_VOXELS_PER_SIDE, closing)
        if solid.inside.sum() > MIN_INSIDE_PER_SHELL_VOXEL * solid.shell.sum():
            break
    else:
        notes.append("the mesh is too open to have an inside; the skeleton follows its skin")
    if closing > CLOSING_VOXEL_TRIALS[0]:
        notes.append(f"gaps of up to {2 * closing * solid.step:.3g} m were closed to find the inside")
    return solid


def quarter_turn_matrix(quarters: int) -> Array:
    """(3, 3) that turns a mesh which faces +z turned by so many quarters towards +x, back to +z."""
    c, s = [(1, 0), (0, 1), (-1, 0), (0, -1)][quarters]
    return np.array([[c, 0, -s], [0, 1, 0], [s, 0, c]], float)


def symmetry(solid: VoxelSolid, middle: float) -> float:
    """The share of the inside whose mirror image across the plane x = middle is inside as well."""
    cubes = solid.origin + (np.argwhere(solid.inside) + 0.5) * solid.step
    image = cubes * [-1, 1, 1] + [2 * middle, 0, 0]
    return float(solid.contains(image).mean()) if len(cubes) else 0.0
