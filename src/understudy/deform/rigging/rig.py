"""Automatic rigging: a template's skeleton inside a mesh, with a report of how well it fits.

A mesh stands upright (Y up). Which way it faces is found by trying four ways, or given; which template fits, likewise.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from understudy import checks
from understudy.checks import Array
from understudy.deform.automatic.solid import Solid
from understudy.deform.automatic.surface import Surface
from understudy.deform.rigging.confidence import Confidence, confidence_of
from understudy.deform.rigging.embedding import Ways, boxed, embed
from understudy.deform.rigging.medial import Medial
from understudy.deform.rigging.refining import refined, unfolded
from understudy.deform.rigging.template import TEMPLATES, Template, template
from understudy.errors import InvalidInput

TURNS = {"+z": 0, "+x": 1, "-z": 2, "-x": 3}
"""Which way the mesh faces, and by how many quarters it is turned (from +z towards +x)."""
SYMMETRIC = 0.85  # of the cubes have their mirror image inside as well
CLOSINGS = (1, 2, 4)  # cubes, tried until the mesh has an inside
HOLLOW = 1.3  # inside cubes for each of the shell, below which a mesh counts as open
TRIED = ("+z", "-z", "+x", "-x")
RESOLUTION = 48  # cubes along the longest side: the limbs of a person are three cubes wide
FORWARD = 1.4  # front and back of a person differ little in shape: the convention decides
SHAPE = np.array([0.25, 0.5])  # what a score loses for a width or depth e times the typical one; some sprawl
DEAR = 3.0  # what a cost of embedding takes from a score: 0.1 takes a quarter
FINALISTS = 4
FEWEST = 4  # spheres, below which a mesh has no limbs to speak of


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
    chosen = list(TEMPLATES) if name is None else [template(name).name]
    ways = TRIED if facing is None else (checks.one_of(facing, "facing", TURNS),)
    surface = Surface.of(mesh, faces)
    if len(surface.triangles) < 4 or not surface.size > 0:
        raise InvalidInput(f"a rig needs a mesh with an inside, but this one has {len(surface.triangles)} triangles")
    meshes, found = [], []
    for done, way in enumerate(ways):
        if progress:
            progress(done, len(ways) + 1)
        meshes.append(_Turned.of(surface, way))
        found += [_Candidate.of(meshes[-1], variant) for each in chosen for variant in template(each).variants]
    if progress:
        progress(len(ways), len(ways) + 1)
    ranked = sorted((each.refined() for each in _best(found)), key=lambda each: -each.score)
    words = [f"{ranked[0]} fits best, then {', '.join(map(str, ranked[1:4]))}"] if len(ranked) > 1 else []
    return ranked[0].rig(words)


def _best(found: list[_Candidate]) -> list[_Candidate]:
    """The best of each template and facing that may still win once they are refined."""
    best: dict[tuple[str, str], _Candidate] = {}
    for each in sorted(found, key=lambda each: each.score):
        best[each.template.name, each.mesh.facing] = each
    return sorted(best.values(), key=lambda each: -each.score)[:FINALISTS]


@dataclass(frozen=True, eq=False)
class _Turned:
    """A mesh that faced some way, turned to face +z."""

    facing: str
    points: Array  # (N, 3)
    medial: Medial
    ways: Ways
    bulk: Array  # (3,) width, height and depth of nine tenths of it: swords and whiskers do not count
    plane: float | None  # the x of its plane of symmetry, if it has one
    notes: tuple[str, ...]

    @classmethod
    def of(cls, surface: Surface, facing: str) -> _Turned:
        points = surface.points @ turned(TURNS[facing]).T
        notes: list[str] = []
        medial = Medial.of(_solid(points, surface.triangles, notes))
        if len(medial.centres) < FEWEST:
            raise InvalidInput("a rig needs a mesh with an inside, but this one is too thin or too open to have one")
        if medial.pieces > 1:
            notes.append(f"{medial.pieces} pieces stand apart and were linked over the gaps between them")
        middle = 0.5 * float(points[:, 0].min() + points[:, 0].max())
        plane = middle if symmetry(medial.solid, middle) > SYMMETRIC else None
        ways = Ways.of(medial, float(np.linalg.norm(np.ptp(points, axis=0))))
        cubes = np.argwhere(medial.solid.inside) * medial.solid.step
        bulk = np.ptp(np.percentile(cubes, [5, 95], axis=0), axis=0)
        return cls(facing, points, medial, ways, bulk, plane, tuple(notes))


@dataclass(frozen=True, eq=False)
class _Candidate:
    """One template in one mesh, not yet refined."""

    mesh: _Turned
    template: Template
    places: Array  # (J, 3)
    cost: float
    trust: Confidence

    @classmethod
    def of(cls, mesh: _Turned, chosen: Template) -> _Candidate:
        embedding = embed(chosen, mesh.medial, mesh.points, mesh.ways)
        wanted = boxed(chosen, mesh.points)
        places = unfolded(chosen, embedding, mesh.medial, wanted)
        trust = confidence_of(chosen, places, mesh.medial, wanted, embedding.cost)
        return cls(mesh, chosen, places, embedding.cost, trust)

    @property
    def score(self) -> float:
        """By which candidates are compared: files that keep to the convention of glTF face +z; some kinds are long.

        These are beliefs about meshes in general, and no part of the confidence in this one.
        """
        belief = self.template.belief * (FORWARD if self.mesh.facing == "+z" else 1.0)
        width, height, depth = np.maximum(self.mesh.bulk, 1e-9)
        belief *= self.tapering
        unlike = np.log([width / height / self.template.width, depth / height / self.template.depth])
        return float(self.trust.overall * belief * np.exp(-(SHAPE @ unlike**2) - DEAR * self.cost))

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

    def refined(self) -> _Candidate:
        """The same with its joints where they fit best."""
        places = refined(self.template, self.places, self.mesh.medial, self.mesh.plane)
        wanted = boxed(self.template, self.mesh.points)
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
            checks.freeze(self.places[kept] @ turned(TURNS[mesh.facing])),
            self.trust.only(kept),
            (*words, *mesh.notes, *self.trust.notes),
        )


def _solid(points: Array, triangles: Array, notes: list[str]) -> Solid:
    """The inside, with gaps closed as far as needed."""
    for closing in CLOSINGS:
        solid = Solid.of(points, triangles, RESOLUTION, closing)
        if solid.inside.sum() > HOLLOW * solid.shell.sum():
            break
    else:
        notes.append("the mesh is too open to have an inside; the skeleton follows its skin")
    if closing > CLOSINGS[0]:
        notes.append(f"gaps of up to {2 * closing * solid.step:.3g} m were closed to find the inside")
    return solid


def turned(quarters: int) -> Array:
    """(3, 3) that turns a mesh which faces +z turned by so many quarters towards +x, back to +z."""
    c, s = [(1, 0), (0, 1), (-1, 0), (0, -1)][quarters]
    return np.array([[c, 0, -s], [0, 1, 0], [s, 0, c]], float)


def symmetry(solid: Solid, middle: float) -> float:
    """The share of the inside whose mirror image across the plane x = middle is inside as well."""
    cubes = solid.origin + (np.argwhere(solid.inside) + 0.5) * solid.step
    image = cubes * [-1, 1, 1] + [2 * middle, 0, 0]
    return float(solid.contains(image).mean()) if len(cubes) else 0.0
